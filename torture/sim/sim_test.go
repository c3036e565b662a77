package sim

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/torture/judge"
	"github.com/oncehttp/oncehttp/torture/scratch"
	"github.com/oncehttp/oncehttp/torture/tally"
)

var (
	from  = flag.Uint64("sim.from", 0, "the first seed")
	seeds = flag.Uint64("sim.seeds", 300, "how many seeds")
	trace = flag.Bool("sim.trace", false, "print what happened in each run")
	only  = flag.Bool("sim.plan", false, "print the plans, run nothing")
)

// One processor makes a seed as repeatable as it can be, and is faster.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	log.SetOutput(io.Discard) // net/http tells of answers that nobody asked for
	os.Exit(m.Run())
}

// What is found goes to the standard output at once: the next seed may be the
// last.
func TestTheClientKeepsItsPromisesUnderEveryPlan(t *testing.T) {
	dir := scratchDir(t)
	for seed := *from; seed < *from+*seeds; seed++ {
		plan := NewPlan(seed)
		if *only {
			fmt.Println(plan)
			continue
		}
		fmt.Printf("seed %d\n", seed)
		r := runSeed(t, plan, dir)
		counts := tally.Tally{"seeds": 1, "virtual_ms": r.Virtual.Milliseconds()}
		findings := append(r.Findings, judge.Check(r.Run)...)
		more, checked := judge.CheckHistory(r.Run)
		findings = append(findings, more...)
		if checked {
			counts["histories"] = 1
		}
		for _, f := range findings {
			counts[f.Count]++
		}
		if *trace || len(findings) > 0 {
			fmt.Printf("%v%s", plan, Trace(r.Run, ""))
		}
		for _, f := range findings {
			t.Fail()
			fmt.Printf("%s: %s: %s: %s\n", f.Count, f.Rule, f.Action, f.Text)
		}
		if len(findings) > 0 {
			fmt.Printf("again: go test ./torture/sim -run %s -sim.from=%d -sim.seeds=1 -v -count=20\n", t.Name(), seed)
		}
		require.NoError(t, counts.Print(os.Stdout))
	}
}

// hang is how long a run may take in real time. Most take a few milliseconds.
const hang = 2 * time.Minute

func runSeed(t *testing.T, p Plan, dir string) (r Result) {
	path := filepath.Join(dir, "intents.db")
	watch := time.AfterFunc(hang, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("seed %d hangs", p.Seed))
	})
	defer watch.Stop()
	synctest.Test(t, func(*testing.T) { r = Run(p, path) })
	require.NoError(t, os.Remove(path))
	r.Run.Name = fmt.Sprintf("seed %d", p.Seed)
	return r
}

func scratchDir(t *testing.T) string {
	dir, err := scratch.Dir()
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
