package sim

import (
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/oncehttp/oncehttp/torture/judge"
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

func TestTheClientKeepsItsPromisesUnderEveryPlan(t *testing.T) {
	dir := scratch(t)
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
			fmt.Print(Trace(r.Run, ""))
		}
		if err := counts.Print(os.Stdout); err != nil {
			t.Fatal(err)
		}
		if len(findings) > 0 {
			t.Errorf("%v", plan)
			for _, f := range findings {
				t.Errorf("%s: %s: %s: %s", f.Count, f.Rule, f.Action, f.Text)
			}
			t.Errorf("again: go test ./torture/sim -run TestTheClientKeepsItsPromisesUnderEveryPlan -sim.from=%d -sim.seeds=1 -v -count=20", seed)
		}
	}
}

// TestTheFaultsOfThePlansAllHappen also shows, with -v, how often.
func TestEverythingThatIsPlannedHappens(t *testing.T) {
	dir := scratch(t)
	happened := map[string]int{}
	for seed := range *seeds {
		merge(happened, runSeed(t, NewPlan(seed), dir).Happened)
	}
	for _, name := range slices.Sorted(maps.Keys(happened)) {
		t.Logf("%6d %s", happened[name], name)
	}
}

func runSeed(t *testing.T, p Plan, dir string) (r Result) {
	path := filepath.Join(dir, "intents.db")
	synctest.Test(t, func(*testing.T) { r = Run(p, path) })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r.Run.Name = fmt.Sprintf("seed %d", p.Seed)
	return r
}

// scratch is a directory in memory, if there is one.
func scratch(t *testing.T) string {
	if dir, err := os.MkdirTemp("/dev/shm", "sim"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}
