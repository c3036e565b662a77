package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oncehttp/oncehttp/torture/scratch"
	"github.com/oncehttp/oncehttp/torture/tally"
)

// A torturer runs parts side by side until its time is over.
type torturer struct {
	parts   []*part
	dir     string // of the module
	bin     string // where the compiled parts are
	files   string // where they keep theirs
	workers int
	log     io.Writer // progress, and all that a broken part said

	mu    sync.Mutex // guards what follows, and writes to log
	spent map[string]time.Duration
	begun map[string]uint64 // processes begun of each part
	done  map[string]bool
	sum   tally.Tally
	bad   []string // commands that found something, or did not end well
}

func newTorturer(parts []*part, dir, bin, files string, workers int, log io.Writer) *torturer {
	return &torturer{
		parts: parts, dir: dir, bin: bin, files: files, workers: workers, log: log,
		spent: map[string]time.Duration{}, begun: map[string]uint64{}, done: map[string]bool{}, sum: tally.Tally{},
	}
}

// compile builds the parts' test binaries.
func (t *torturer) compile(ctx context.Context) error {
	for _, p := range t.parts {
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", filepath.Join(t.bin, p.name+".test"), "./"+p.name)
		cmd.Dir = t.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compiling %s: %w\n%s", p.name, err, out)
		}
	}
	return nil
}

// run works until ctx ends or a process would start after the deadline. Those
// under way then are waited for; those under way when ctx ends are killed.
func (t *torturer) run(ctx context.Context, deadline time.Time) {
	var workers sync.WaitGroup
	for range t.workers {
		workers.Go(func() {
			for ctx.Err() == nil && time.Now().Before(deadline) {
				p, flags := t.take()
				if p == nil {
					return
				}
				start := time.Now()
				t.one(ctx, p, flags)
				t.mu.Lock()
				t.spent[p.name] += time.Since(start)
				t.mu.Unlock()
			}
		})
	}
	workers.Wait()
}

// take is what a free worker does next; nil: nothing is left.
func (t *torturer) take() (*part, []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		p := next(t.parts, t.spent, t.done)
		if p == nil {
			return nil, nil
		}
		if flags, ok := p.args(t.begun[p.name]); ok {
			t.begun[p.name]++
			// What is under way counts a little, so that the workers do not all
			// take the same part.
			t.spent[p.name] += time.Millisecond
			return p, flags
		}
		t.done[p.name] = true
	}
}

// one runs a process of a part to its end and adds what it tells.
func (t *torturer) one(user context.Context, p *part, flags []string) {
	ctx, cancel := context.WithTimeout(user, p.limit)
	defer cancel()
	args := append([]string{"-test.run=^" + p.test + "$", "-test.timeout=0"}, flags...)
	cmd := exec.CommandContext(ctx, filepath.Join(t.bin, p.name+".test"), args...)
	again := fmt.Sprintf("go test ./torture/%s -run '^%s$' %s", p.name, p.test, strings.Join(flags, " "))
	cmd.Dir = filepath.Join(t.dir, p.name) // as go test runs it
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(os.Environ(), scratch.Env+"="+t.files)
	if p.procs > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprint("GOMAXPROCS=", p.procs))
	}
	ownGroup(cmd)
	said := &tail{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		if user.Err() == nil {
			t.broken(again, tally.Tally{}, err, "")
		}
		return
	}
	told := tally.Tally{}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if counts, ok := tally.Parse(line); ok {
			told.Add(counts)
			t.add(counts)
		} else {
			io.WriteString(said, line)
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	switch {
	case user.Err() != nil:
		// An interrupt is nobody's fault.
	case err != nil || !told.OK():
		t.broken(again, told, err, said.String())
	case told[skipped] > 0:
		t.retire(p, said.String())
	}
}

// skipped is told by a part that this machine cannot run.
const skipped = "skipped"

func (t *torturer) add(counts tally.Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Add(counts)
}

// broken keeps and shows a process that found something. One that did not say
// what it found has crashed or hangs.
func (t *torturer) broken(command string, told tally.Tally, err error, said string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if told.OK() && told[survivors] == 0 {
		t.sum[tally.Panics]++
	}
	t.bad = append(t.bad, command)
	fmt.Fprintf(t.log, "\n%s\n%s: %v\n", said, command, err)
}

// survivors is told of deliberate faults that nothing caught.
const survivors = "survivors"

func (t *torturer) retire(p *part, said string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done[p.name] = true
	t.bad = append(t.bad, "this machine cannot run the part "+p.name)
	fmt.Fprintf(t.log, "\n%s\nthis machine cannot run the part %s\n", said, p.name)
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailSize = 32 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > 2*tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.b[max(0, len(t.b)-tailSize):]))
}
