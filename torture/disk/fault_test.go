//go:build linux

package disk

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oncehttp/oncehttp/torture/tally"
)

// A fault makes the when-th call of a thread fail. The zero value is the job's own
// limit on the size of files, at which a write is cut short and the next fails.
type fault struct {
	call, with string
	when       int
	// only calls that have to do with the journal's path.
	path bool
}

// plannedFaults are all the faults that a run of the job can meet, in an order
// that its seed draws.
func (j job) plannedFaults(t testing.TB) (all []fault) {
	t.Helper()
	dir, done := scratchDir(t)
	defer done()
	j.Path = filepath.Join(dir, journalName)
	counts := map[string]int{"openat": 16, "mmap": 8, "flock": 8}
	for _, e := range j.trace(t).events {
		if !e.end && e.name != "openat" {
			counts[e.name]++
		}
	}
	for _, kind := range faulty {
		for _, with := range kind.with {
			for when := range counts[kind.call] {
				all = append(all, fault{kind.call, with, when + 1, kind.path})
			}
		}
	}
	random := rand.New(rand.NewPCG(j.Seed, 4))
	random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	// By turns: else nearly all would be writes.
	var turns []fault
	for len(all) > 0 {
		seen := map[string]bool{}
		all = slices.DeleteFunc(all, func(f fault) bool {
			kind := f.call + f.with
			if seen[kind] {
				return false
			}
			seen[kind] = true
			turns = append(turns, f)
			return true
		})
	}
	return turns
}

// faulty are the calls, and how each may fail. A write that writes nothing is
// retval=0; one that writes a part is made by a limit on the size of files.
var faulty = []struct {
	call string
	with []string
	path bool
}{
	{call: "pwrite64", with: []string{"error=EIO", "error=ENOSPC", "error=EFBIG", "error=EDQUOT", "error=EROFS", "error=EINTR", "retval=0"}},
	{call: "fdatasync", with: []string{"error=EIO", "error=ENOSPC", "error=EROFS", "error=EINTR"}},
	{call: "fsync", with: []string{"error=EIO", "error=ENOSPC", "error=EROFS", "error=EINTR"}},
	{call: "ftruncate", with: []string{"error=EIO", "error=ENOSPC", "error=EFBIG"}},
	{call: "linkat", with: []string{"error=EIO", "error=ENOSPC", "error=EPERM"}},
	{call: "renameat", with: []string{"error=EIO", "error=ENOSPC"}},
	{call: "unlinkat", with: []string{"error=EIO", "error=EROFS"}},
	{call: "openat", with: []string{"error=EACCES", "error=EMFILE", "error=EIO", "error=EINTR"}, path: true},
	{call: "mmap", with: []string{"error=ENOMEM"}, path: true},
	{call: "flock", with: []string{"error=ENOLCK", "error=EINTR"}, path: true},
}

func (f fault) arguments(path string) []string {
	if f.call == "" {
		return nil
	}
	args := []string{"-e", fmt.Sprintf("inject=%s:%s:when=%d", f.call, f.with, f.when)}
	if f.path {
		args = append(args, "-P", path, "-e", "trace="+f.call)
	}
	return args
}

func (f fault) String() string {
	if f.call == "" {
		return "a limit on the size of the file"
	}
	return fmt.Sprintf("%s:%s:when=%d", f.call, f.with, f.when)
}

// full: the disk has no room, and a write says so.
func (f fault) full() bool {
	return f.call == "" || slices.Contains([]string{"error=ENOSPC", "error=EFBIG", "error=EDQUOT"}, f.with)
}

// faultRun makes one run with a fault. It is false if the call was never made
// so often.
func (s *survey) faultRun(t testing.TB, j job, f fault) bool {
	t.Helper()
	dir, done := scratchDir(t)
	defer done()
	j.Path = filepath.Join(dir, journalName)
	r := j.trace(t, f.arguments(j.Path)...)
	from := slices.IndexFunc(r.events, func(e event) bool { return e.injected })
	if f.call == "" { // a limit
		from = slices.IndexFunc(r.events, func(e event) bool { return e.failed && e.errno == "EFBIG" })
	}
	if from < 0 {
		return false
	}
	s.tally["faults"]++
	where := fmt.Sprintf("%s, seed %d, %s", j.Kind, j.Seed, f)
	found := r.ended()
	switch {
	case j.Kind == "client":
		found = append(found, f.judgeClient(r.events)...)
	case f.path: // what was said is not in the trace
		found = append(found, f.judge(r.said, 0)...)
	default:
		found = append(found, f.judge(r.said, len(r.lines(from)))...)
	}
	s.report(where, found)
	s.leftBehind(where, j, r.said)
	if !f.path {
		s.powerCuts(t, j, r, from)
	}
	return true
}

// lines are what was said before event n.
func (r *run) lines(n int) (lines []string) {
	for _, e := range r.events[:n] {
		if e.name == "write" && !e.end && e.args[0] == "1" {
			lines = append(lines, strings.Split(strings.TrimSpace(e.args[1]), "\n")...)
		}
	}
	return lines
}

// ended: by itself, and with all of its work done.
func (r *run) ended() (found findings) {
	if r.died != "" {
		found.add(tally.Panics, "%s", r.died)
	}
	for _, line := range r.said {
		if line == "gave up" {
			found.lie("the journal does not recover")
		}
	}
	return found
}

// leftBehind opens the file that the run has left, in its place: it is no copy.
func (s *survey) leftBehind(where string, j job, said []string) {
	m := j.memory()
	m.learn(said)
	var found findings
	defer func() { s.report(where+", as it was left", found) }()
	defer found.rescue()
	if k, is := m.(*known); is {
		k.inPlace = true
	}
	found = m.check(j.Path, true)
}

// An answer is what the child said of one call.
type answer struct{ what, classes, text string }

// parseAnswer reads "error 3 2 journal,errno:5: ..." and the like.
func parseAnswer(line string) answer {
	what, rest := line, ""
	for _, known := range []string{"error", "again", "read", "not opened", "not closed", "not compacted"} {
		if after, is := strings.CutPrefix(line, known+" "); is {
			what, rest = known, after
			if known == "error" || known == "again" {
				fields := strings.SplitN(after, " ", 3)
				rest = fields[2]
			}
		}
	}
	classes, text, _ := strings.Cut(rest, ": ")
	return answer{what, classes, text}
}

func (a answer) is(class string) bool { return slices.Contains(strings.Split(a.classes, ","), class) }

// judge compares what the journal answered after a fault with what journal.go
// and the design say of it.
func (f fault) judge(said []string, from int) (found findings) {
	stopped := false // until it is opened again
	for n, line := range said {
		a := parseAnswer(line)
		switch a.what {
		case "opened":
			stopped = false
		case "error", "again", "not opened", "not closed", "not compacted":
			if n < from {
				found.lie("before the fault: %s", line)
			}
			found.proper(a, line)
		case "read":
			if stopped && a.classes == "nil" {
				found.lie("a stopped journal shows what may not be on disk: %s", line)
			}
		default:
			if stopped && strings.HasPrefix(line, "ack") {
				found.lie("a stopped journal took a write: %s", line)
			}
		}
		if a.what != "error" {
			continue
		}
		rolledBack := f.full() && (f.call == "pwrite64" || f.call == "" || f.call == "ftruncate" && a.is("fate") == false && strings.Contains(a.classes, "errno"))
		switch {
		case rolledBack && a.is("fate"):
			found.lie("a full disk, told by a write, leaves nothing unknown: %s", line)
		case rolledBack:
			if next := strings.Join(said[n:min(n+4, len(said))], "; "); !strings.Contains(next, "; ack") {
				found.lie("after a full disk the next write does not succeed: %s", next)
			}
		default:
			stopped = true
			if f.call == "fdatasync" && !a.is("fate") {
				found.lie("a failed sync leaves the write's fate unknown: %s", line)
			}
		}
	}
	return found
}

// proper: an error that a fault of the disk may give.
func (f *findings) proper(a answer, line string) {
	if !a.is("journal") {
		f.lie("an error is not ErrJournal: %s", line)
	}
	for _, never := range []string{"corrupt", "locked", "exists", "conflict", "missing", "closed", "copied"} {
		if a.is(never) {
			f.lie("an error is %s: %s", never, line)
		}
	}
	if a.what == "again" {
		if a.is("fate") {
			f.lie("a write that was refused has a fate: %s", line)
		}
		if !strings.Contains(a.text, "open it again") {
			f.lie("a stopped journal does not say what to do: %s", line)
		}
	}
}
