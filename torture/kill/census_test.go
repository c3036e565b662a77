//go:build unix

package kill

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("kill.update", false, "write testdata/points.txt anew")

// pointsFile says how often a run that nobody disturbs reaches each point. The
// numbers differ a little from run to run, the names do not.
const pointsFile = "testdata/points.txt"

// counted is how often such a run reaches what can be killed.
type counted struct {
	points map[Point]int
	calls  int // that can change the journal; 0 if they cannot be traced
}

// census runs the program once, and once more under a tracer, and counts. It
// fails the test if a point was not reached, or if the client does something to
// its journal that is no point.
func census(t *testing.T) counted {
	w, err := newWorld()
	require.NoError(t, err)
	defer w.close()
	require.NoError(t, w.startServer(job{}))
	p, err := w.startClient(job{Role: roleClient})
	require.NoError(t, err)
	require.NoError(t, p.end(), w.findings)
	require.NoError(t, bookkeeper{w.job}.ask("/reached"))
	require.NoError(t, w.server.kill())
	require.NoError(t, w.startServer(job{}))
	require.NoError(t, w.settle())
	report(t, w, "a run that nobody disturbs")

	points := slices.Concat(ClientPoints, ServerPoints)
	var text strings.Builder
	for _, point := range points {
		require.GreaterOrEqual(t, w.reached[point], 2, "the run does not come twice to %q", point)
		fmt.Fprintf(&text, "%4d %s\n", w.reached[point], point)
	}
	require.Len(t, points, len(w.reached), "a point is in no list: %v", slices.Collect(maps.Keys(w.reached)))

	traced := try(t, callCase(0))
	if traced == nil || traced.untraceable {
		return counted{points: w.reached}
	}
	var calls strings.Builder
	for _, name := range Changing {
		if n := traced.touched[name]; n > 0 {
			fmt.Fprintf(&calls, "%4d system call: %s\n", n, name)
		}
		delete(traced.touched, name)
	}
	for _, name := range Reading {
		delete(traced.touched, name)
	}
	require.Empty(t, traced.touched, "system calls touch the journal and are in no list")
	if *update {
		require.NoError(t, os.WriteFile(pointsFile, []byte(text.String()+calls.String()), 0o644))
	}
	golden, err := os.ReadFile(pointsFile)
	require.NoError(t, err)
	require.Equal(t, names(string(golden)), names(text.String()+calls.String()), "the run reaches other points than before: -kill.update")
	return counted{points: w.reached, calls: traced.traced}
}

// names are the lines without their numbers.
func names(text string) (all []string) {
	for line := range strings.Lines(text) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, name)
	}
	return all
}

// pointCases are the cases of the named points: the client is killed each time
// that it comes to one, so in every kind of action; the server, and both, the
// first and the second time.
func (c counted) pointCases() []pointCase {
	var all []pointCase
	for _, point := range slices.Concat(ClientPoints, ServerPoints) {
		for on := range c.points[point] {
			all = append(all, pointCase{point, on + 1, theClient})
			if on < 2 {
				all = append(all, pointCase{point, on + 1, theServer}, pointCase{point, on + 1, both})
			}
		}
	}
	return all
}

// all are the enumerated cases in an order that mixes them, always the same.
func (c counted) all() []aCase {
	var all []aCase
	for _, one := range c.pointCases() {
		all = append(all, one)
	}
	for n := range c.calls {
		all = append(all, callCase(n+1))
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
