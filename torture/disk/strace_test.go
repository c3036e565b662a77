//go:build linux

package disk

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"github.com/oncehttp/oncehttp/torture/scratch"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A call is one system call of a child, as strace wrote it down.
type call struct {
	name string
	// args are the words between the brackets; a string is without its quotes,
	// and its bytes are themselves.
	args     []string
	ret      int64
	errno    string
	injected bool
	// failed: it has returned, and not well. ended: it has returned.
	failed, ended bool
}

// An event is a call when it is entered, or when it returns.
type event struct {
	*call
	end bool
}

// traced are the calls that change what is on the disk, or say what was
// acknowledged. The descriptors of other files are followed too.
const traced = "openat,close,pwrite64,write,ftruncate,fallocate,fdatasync,fsync,linkat,renameat,renameat2,unlinkat"

var errNoStrace = sync.OnceValue(func() error {
	out, err := exec.Command("strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
})

// needStrace skips a test where no process can be traced.
func needStrace(t *testing.T) {
	t.Helper()
	if err := errNoStrace(); err != nil {
		t.Skipf("skipped: strace(1) cannot trace a process here: %v", err)
	}
}

// A run is what a child did; events are there if it was traced.
type run struct {
	events []event
	// said are the lines of the child, in order.
	said []string
	// died is how the process ended, if it did not end by itself.
	died string
}

// trace runs a job under strace, which gets more arguments, such as calls that
// are to fail.
func (j job) trace(t testing.TB, more ...string) *run {
	t.Helper()
	dir, done := scratchDir(t)
	defer done()
	out := filepath.Join(dir, "trace")
	under := append([]string{"strace", "-f", "--seccomp-bpf", "-qq", "-xx", "-s", "4000000", "-e", "signal=none", "-o", out}, more...)
	if !strings.Contains(strings.Join(more, " "), "trace=") {
		under = append(under, "-e", "trace="+traced)
	}
	r := j.run(t, under...)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("strace wrote no trace: %v, %s", err, r.died)
	}
	if r.events, err = parseTrace(text); err != nil {
		t.Fatal(err)
	}
	return r
}

// run runs a job, under a command if one is given.
func (j job) run(t testing.TB, under ...string) *run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := j.command(ctx, under...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.Output()
	r := &run{said: strings.Split(strings.TrimSpace(string(stdout)), "\n")}
	if err != nil || r.said[len(r.said)-1] != "end" {
		r.died = fmt.Sprintf("%v: %s", err, head(stderr.String(), 2000))
		if ctx.Err() != nil {
			r.died = "it did not end: " + r.died
		}
	}
	return r
}

func head(s string, n int) string { return s[:min(len(s), n)] }

// scratchDir is removed at the end. Call done to have it removed before.
func scratchDir(t testing.TB) (dir string, done func()) {
	t.Helper()
	dir, err := scratch.Dir()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // as the journal's calls name it
	}
	if err != nil {
		t.Fatal(err)
	}
	done = func() { os.RemoveAll(dir) }
	t.Cleanup(done)
	return dir, done
}

// parseTrace reads what strace -f -xx -o has written.
func parseTrace(text []byte) ([]event, error) {
	var events []event
	open := map[string]*call{} // by thread
	for line := range bytes.Lines(text) {
		pid, rest, found := strings.Cut(string(bytes.TrimRight(line, "\n")), " ")
		rest = strings.TrimLeft(rest, " ")
		if !found || strings.HasPrefix(rest, "+++") || strings.HasPrefix(rest, "---") {
			continue
		}
		if strings.HasPrefix(strings.TrimPrefix(rest, "<... "), "???") {
			continue // its thread ended before strace could ask which call it was
		}
		var c *call
		if after, resumed := strings.CutPrefix(rest, "<... "); resumed {
			if c = open[pid]; c == nil {
				return nil, fmt.Errorf("a call of thread %s goes on that was not begun: %.80s", pid, rest)
			}
			delete(open, pid)
			_, rest, _ = strings.Cut(after, "resumed>")
		} else {
			c = &call{}
			var err error
			if rest, err = c.parse(rest); err != nil {
				return nil, err
			}
			events = append(events, event{c, false})
			if strings.HasSuffix(rest, "<unfinished ...>") {
				open[pid] = c
				continue
			}
		}
		if err := c.parseEnd(rest); err != nil {
			return nil, err
		}
		if c.ended {
			events = append(events, event{c, true})
		}
	}
	return events, nil
}

// parse reads the name and the words, and returns what follows them.
func (c *call) parse(s string) (rest string, err error) {
	name, s, found := strings.Cut(s, "(")
	if !found {
		return "", fmt.Errorf("no call: %.80s", s)
	}
	c.name = name
	for s != "" && s[0] != ')' && s[0] != '<' {
		word := ""
		if s[0] == '"' {
			end := strings.IndexByte(s[1:], '"') + 1
			if end == 0 || strings.HasPrefix(s[end+1:], "...") {
				return "", fmt.Errorf("a string of %s is not whole", name)
			}
			b, err := hex.DecodeString(strings.ReplaceAll(s[1:end], `\x`, ""))
			if err != nil {
				return "", fmt.Errorf("a string of %s: %w", name, err)
			}
			word, s = string(b), s[end+1:]
		} else {
			end := strings.IndexAny(s, ",)<")
			if end < 0 {
				end = len(s)
			}
			word, s = strings.TrimSpace(s[:end]), s[end:]
		}
		if word != "" {
			c.args = append(c.args, word)
		}
		s = strings.TrimLeft(s, ", ")
	}
	return s, nil
}

// parseEnd reads ") = 0", "= -1 EIO (...) (INJECTED)" or "= ?".
func (c *call) parseEnd(s string) error {
	_, s, found := strings.Cut(s, "= ")
	if !found {
		return fmt.Errorf("%s has no result: %.80s", c.name, s)
	}
	word := strings.Fields(s)
	if word[0] == "?" {
		return nil // it never returned
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(word[0], ")"), 0, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.ret, c.ended, c.failed = n, true, n < 0
	if c.failed {
		c.errno = word[1]
	}
	c.injected = strings.Contains(s, "(INJECTED)")
	return nil
}

// number is the n-th word.
func (c *call) number(n int) int64 {
	v, err := strconv.ParseInt(c.args[n], 0, 64)
	if err != nil {
		panic(fmt.Sprintf("%s: word %d of %.40q", c.name, n, c.args))
	}
	return v
}
