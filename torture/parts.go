package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/oncehttp/oncehttp/torture/mutant"
)

// A part is one way to look for a broken promise: a test of a package below,
// run again and again as a process of its own.
type part struct {
	name   string
	test   string
	weight int // share of the time, against the other parts
	// args are the flags of the n-th run, n from 0; ok is false when there is
	// nothing left to do.
	args func(n uint64) (flags []string, ok bool)
	// procs is GOMAXPROCS of its processes; 0: the default.
	procs int
	// limit is when a process counts as hung.
	limit time.Duration
}

// parts of a run that starts at seed. Chunks are short, so that a run ends soon
// after its time is over and a failure loses little.
func parts(seed uint64) []*part {
	numbered := func(format ...string) func(uint64) ([]string, bool) {
		return func(n uint64) ([]string, bool) {
			flags := []string{fmt.Sprintf(format[0], seed+n)}
			return append(flags, format[1:]...), true
		}
	}
	return []*part{
		{
			name: "sim", test: "TestTheClientKeepsItsPromisesUnderEveryPlan", weight: 6, procs: 1, limit: 5 * time.Minute,
			args: func(n uint64) ([]string, bool) {
				return []string{"-sim.from=" + strconv.FormatUint(seed+n*simSeeds, 10), fmt.Sprint("-sim.seeds=", simSeeds)}, true
			},
		},
		{name: "kill", test: "TestKills", weight: 5, limit: 5 * time.Minute, args: numbered("-kill.seed=%d", "-kill.kills=40")},
		{name: "disk", test: "TestImages", weight: 2, limit: 5 * time.Minute, args: numbered("-disk.seed=%d", "-disk.images=400")},
		{
			// A run too short for all of them takes others each time.
			name: "mutant", test: "TestMutants", weight: 7, limit: 5 * time.Minute,
			args: func(n uint64) ([]string, bool) {
				all := uint64(len(mutant.Table()))
				return []string{"-mutant.rotate=1", fmt.Sprintf("-mutant.at=%d", (seed+n)%all)}, n < all
			},
		},
	}
}

// simSeeds is how many seeds one process of the simulation runs.
const simSeeds = 2000

// next is the part that is furthest behind its share, or nil. The first of
// equals wins.
func next(parts []*part, spent map[string]time.Duration, done map[string]bool) *part {
	var best *part
	behind := func(p *part) float64 { return float64(spent[p.name]) / float64(p.weight) }
	for _, p := range parts {
		if !done[p.name] && (best == nil || behind(p) < behind(best)) {
			best = p
		}
	}
	return best
}
