//go:build linux

package disk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/oncehttp/oncehttp"
)

// jobEnv makes this test binary a process that does a job: a job as JSON.
const jobEnv = "ONCEHTTP_DISK_JOB"

// A job is what a child process does.
type job struct {
	// Kind: write, client or damage.
	Kind string
	Path string
	// Seed of the plan, for as many writers and about as many writes.
	Seed            uint64
	Writers, Writes int
	// Limit is the most bytes a file may have, for as long as the journal reports
	// nothing; 0: any number.
	Limit uint64
}

func TestMain(m *testing.M) {
	text := os.Getenv(jobEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	// Where one writer works, each system call of the journal is of this thread,
	// so that they can be counted.
	runtime.LockOSThread()
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	jobs[j.Kind](j)
	say("end")
	os.Exit(0)
}

var jobs = map[string]func(job){"write": job.write}

// command of a child, without what it runs under.
func (j job) command(ctx context.Context, under ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		panic(err)
	}
	args := append(under, exe)
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), jobEnv+"="+string(text))
	// What it runs under may end and leave the child: they end together.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

var saying sync.Mutex

// say writes one line in one system call, so that it stands in the trace where
// it was said.
func say(format string, args ...any) {
	saying.Lock()
	defer saying.Unlock()
	os.Stdout.WriteString(fmt.Sprintf(format, args...) + "\n")
}

// write carries out a plan: "ack ENTRY STEP" for each write, when it has
// returned.
func (j job) write() {
	w := &writing{job: j, plan: newPlan(j.Seed, j.Writers, j.Writes)}
	if !w.open() {
		return
	}
	for n, ph := range w.plan.phases {
		if n > 0 {
			if ph.compact {
				w.compact()
			} else {
				w.reopen()
			}
		}
		if len(ph.writes) == 1 {
			w.each(ph.writes[0])
			continue
		}
		var writers sync.WaitGroup
		for _, list := range ph.writes {
			writers.Go(func() { w.each(list) })
		}
		writers.Wait()
	}
	w.close()
}

// writing is a plan under way. Only a plan with one writer goes on after an
// error.
type writing struct {
	job
	plan    *plan
	journal oncehttp.Journal
}

func (w *writing) each(list []write) {
	for _, one := range list {
		err := w.plan.apply(w.journal, one)
		if err == nil {
			say("ack %d %d", one.entry, one.step)
		} else if w.Writers > 1 {
			say("error %d %d %s", one.entry, one.step, classes(err))
			return
		} else if w.recover(one, err); w.journal == nil {
			return
		}
	}
}

// recover finds out what the journal does after an error, and goes on.
func (w *writing) recover(one write, err error) {
	for tries := 0; ; tries++ {
		say("error %d %d %s", one.entry, one.step, classes(err))
		w.lift()
		// The journal goes on at once, or refuses for good.
		_, readErr := w.journal.Get(context.Background(), w.plan.entries[one.entry].id)
		say("read %s", classes(readErr))
		if err = w.again(one); err == nil {
			return
		}
		say("again %d %d %s", one.entry, one.step, classes(err))
		if tries == 3 {
			say("gave up")
			w.close()
			w.journal = nil
			return
		}
		w.reopen()
		if w.journal == nil {
			return
		}
		if w.stands(one) {
			say("ack %d %d", one.entry, one.step)
			return
		}
		if err = w.again(one); err == nil {
			return
		}
	}
}

func (w *writing) again(one write) error {
	say("try %d %d", one.entry, one.step)
	err := w.plan.apply(w.journal, one)
	if err == nil {
		say("ack %d %d", one.entry, one.step)
	}
	return err
}

// stands: the write is in the journal, as a read tells.
func (w *writing) stands(one write) bool {
	e := w.plan.entries[one.entry]
	got, err := w.journal.Get(context.Background(), e.id)
	if after := e.states[one.step]; after != nil {
		return err == nil && got.Revision == after.Revision
	}
	return errors.Is(err, oncehttp.ErrNotFound)
}

func (w *writing) open() bool {
	for range 4 {
		j, err := openJournal(w.Path, false)
		if err == nil {
			w.journal = j
			say("opened")
			w.limit()
			return true
		}
		say("not opened %s", classes(err))
	}
	w.journal = nil
	return false
}

func (w *writing) reopen() {
	w.close()
	w.open()
}

func (w *writing) close() {
	if w.journal == nil {
		return
	}
	if err := w.journal.Close(); err != nil {
		say("not closed %s", classes(err))
	} else {
		say("closed")
	}
}

func (w *writing) compact() {
	if w.journal == nil {
		return
	}
	err := w.journal.(oncehttp.Compacter).Compact(context.Background())
	if err == nil {
		say("compacted")
		return
	}
	say("not compacted %s", classes(err))
	w.lift()
}

// limit and lift the size of files.
func (w *writing) limit() {
	if w.Limit > 0 {
		w.setLimit(w.Limit)
	}
}

func (w *writing) lift() {
	if w.Limit > 0 {
		w.setLimit(^uint64(0))
		w.Limit = 0
	}
}

func (w *writing) setLimit(n uint64) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	if err == nil {
		limit.Cur = min(n, limit.Max)
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if err != nil {
		panic(err)
	}
}

// classes says what an error is, as journal.go has it, and its number.
func classes(err error) string {
	if err == nil {
		return "nil"
	}
	var is []string
	for name, target := range map[string]error{
		"journal": oncehttp.ErrJournal, "fate": oncehttp.ErrFateUnknown, "corrupt": oncehttp.ErrJournalCorrupt,
		"locked": oncehttp.ErrJournalLocked, "exists": oncehttp.ErrExists, "conflict": oncehttp.ErrConflict,
		"missing": oncehttp.ErrNotFound, "closed": oncehttp.ErrClosed, "copied": oncehttp.ErrCopied,
	} {
		if errors.Is(err, target) {
			is = append(is, name)
		}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		is = append(is, fmt.Sprintf("errno:%d", int(errno)))
	}
	return fmt.Sprintf("%s: %s", strings.Join(is, ","), strings.ReplaceAll(err.Error(), "\n", " "))
}
