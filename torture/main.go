// Command torture looks for a broken promise of oncehttp for as long as one
// likes: it simulates clients and servers under faults, kills processes, cuts
// the power of journals, and breaks the library on purpose to see that it
// notices. It talks to this machine only.
//
//	go run ./torture -for 10m
//
// Progress goes to standard error. The last line, on standard output, is a
// summary of name=count fields:
//
//	seeds          simulated runs
//	virtual_years  time that passed in them
//	kills          processes killed
//	images         states of a disk after a power cut that were opened and checked
//	histories      runs whose history was searched for an explanation
//	mutants        deliberate faults that were caught
//	duplicates     actions with more effects than their contract allows
//	lost           what was acknowledged and is not there any more
//	lies           other broken promises
//	panics         panics, deadlocks and hangs
//
// It exits with 1 if one of the last four is not 0, if a deliberate fault was
// not caught, or if this machine cannot run a part.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp/torture/scratch"
	"github.com/oncehttp/oncehttp/torture/tally"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := torture(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

func torture(ctx context.Context, args []string, stdout, stderr io.Writer) (ok bool, err error) {
	flags := flag.NewFlagSet("torture", flag.ContinueOnError)
	flags.SetOutput(stderr)
	length := flags.Duration("for", 10*time.Minute, "how long to begin new work")
	seed := flags.Uint64("seed", 0, "first seed; 0: another one each time")
	only := flags.String("parts", "sim,kill,disk,mutant", "what to run")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "processes side by side")
	every := flags.Duration("progress", 10*time.Second, "how often to tell")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if *seed == 0 {
		*seed = rand.Uint64N(1 << 40)
	}
	all := parts(*seed)
	chosen := slices.DeleteFunc(slices.Clone(all), func(p *part) bool {
		return !slices.Contains(strings.Split(*only, ","), p.name)
	})
	if len(chosen) == 0 || *workers < 1 {
		return false, fmt.Errorf("nothing to run: want -parts of sim, kill, disk, mutant and at least one of -workers")
	}
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/oncehttp/oncehttp/torture").Output()
	if err != nil {
		return false, fmt.Errorf("finding the module: %w: run it inside the repository", err)
	}
	bin, err := os.MkdirTemp("", "torture-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(bin)
	files, err := scratch.Dir()
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(files)
	t := newTorturer(chosen, strings.TrimSpace(string(dir)), bin, files, *workers, stderr)
	fmt.Fprintf(stderr, "seed %d (-seed=%d repeats it); compiling\n", *seed, *seed)
	if err := t.compile(ctx); err != nil {
		return false, err
	}
	start := time.Now()
	told := make(chan struct{})
	telling, quiet := context.WithCancel(ctx)
	go func() {
		defer close(told)
		t.tell(telling, start, *length, *every)
	}()
	t.run(ctx, start.Add(*length))
	quiet()
	<-told
	fmt.Fprintln(stdout, summary(t.sum))
	for _, command := range t.bad {
		fmt.Fprintln(stderr, "not well:", command)
	}
	return len(t.bad) == 0 && t.sum.OK() && ctx.Err() == nil, nil
}

// tell prints progress until ctx ends.
func (t *torturer) tell(ctx context.Context, start time.Time, length, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			t.mu.Lock()
			fmt.Fprintln(t.log, progress(t.sum, now.Sub(start), length))
			t.mu.Unlock()
		}
	}
}

func progress(sum tally.Tally, gone, length time.Duration) string {
	return fmt.Sprintf("%s left, %.0f seeds/min, %s", max(0, length-gone).Round(time.Second), float64(sum["seeds"])/gone.Minutes(), summary(sum))
}

const msPerYear = 365.25 * 24 * 60 * 60 * 1000

func summary(sum tally.Tally) string {
	line := fmt.Sprintf("seeds=%d virtual_years=%.1f", sum["seeds"], float64(sum["virtual_ms"])/msPerYear)
	for _, name := range append([]string{"kills", "images", "histories", "mutants"}, tally.Broken...) {
		line += fmt.Sprintf(" %s=%d", name, sum[name])
	}
	return line
}
