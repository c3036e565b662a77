//go:build unix

package kill

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	killSeed  = flag.Uint64("kill.seed", 0, "which share of the cases is done, and the seed of all that is random; 0: any")
	killKills = flag.Int("kill.kills", 0, "about how many processes TestKills kills")
	killCase  = flag.String("kill.case", "", "the one case that TestKills does, as it was named where it failed")
)

// aCase is one world.
type aCase interface {
	fmt.Stringer
	in(*world) error
}

func worldOf(c aCase) (*world, error) {
	if random, ok := c.(randomCase); ok {
		return random.world()
	}
	return newWorld()
}

// try does a case, and fails the test for what it finds.
func try(t *testing.T, c aCase) *world {
	w, err := worldOf(c)
	if !assert.NoError(t, err) {
		return nil
	}
	err = errors.Join(c.in(w), w.close())
	if errors.Is(err, errNoTrace) && w.untraceable || errors.Is(err, errEnded) && len(w.findings) == 0 {
		t.Logf("skipped: %v: %v", c, err)
		return w
	}
	report(t, w, c.String())
	if !assert.NoError(t, err, c.String()) || len(w.findings) > 0 {
		t.Logf("again: go test ./torture/kill -run '^TestKills$' -kill.case=%q -v", c)
	}
	return w
}

// report fails the test for what was found in a world, and in a long run tells
// what was done.
func report(t *testing.T, w *world, name string) {
	for _, finding := range w.findings {
		t.Errorf("%s: %s", name, finding)
	}
	if *killKills > 0 || *killCase != "" {
		assert.NoError(t, w.tally.Print(os.Stdout))
	}
}

// The small run of the enumeration: every point once with the client killed,
// and a share of the rest.
func TestEveryPointOfAKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts some 200 processes")
	}
	seed := someSeed(t)
	counted := census(t)
	for n, c := range counted.pointCases() {
		if c.kills == theClient && c.on == 1 || (uint64(n)+seed)%share == 0 {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				try(t, c)
			})
		}
	}
	if counted.calls == 0 {
		t.Log("skipped: no process is killed in place of a system call, since they cannot be traced here")
	}
	for c := 1 + int(seed%callShare); c <= counted.calls; c += callShare {
		t.Run(callCase(c).String(), func(t *testing.T) {
			t.Parallel()
			try(t, callCase(c))
		})
	}
}

const (
	share     = 40
	callShare = 40
)

func TestKillsAtRandomMoments(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts some 50 processes")
	}
	seed := someSeed(t)
	for n := range uint64(4) {
		c := randomCase(seed + n)
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			try(t, c)
		})
	}
}

func someSeed(t *testing.T) uint64 {
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	t.Logf("seed: -kill.seed=%d", seed)
	return seed
}

// worldsAtATime is how many worlds TestKills has side by side.
const worldsAtATime = 4

// TestKills is the long run. Runs with seeds that follow one another do cases
// that follow one another, until all were done.
func TestKills(t *testing.T) {
	if *killKills == 0 && *killCase == "" {
		t.Skip("a long run: say -kill.kills=2000")
	}
	counted := census(t)
	if *killCase != "" {
		c, ok := counted.named(*killCase)
		require.True(t, ok, "no such case: %s", *killCase)
		try(t, c)
		return
	}
	if counted.calls == 0 {
		fmt.Println("skipped: no process is killed in place of a system call, since they cannot be traced here")
	}
	cases := make(chan aCase)
	var worlds sync.WaitGroup
	for range worldsAtATime {
		worlds.Go(func() {
			for c := range cases {
				try(t, c)
			}
		})
	}
	for _, c := range counted.plan(someSeed(t), *killKills) {
		cases <- c
	}
	close(cases)
	worlds.Wait()
}

// plan is about so many kills: half of them one by one at the points of the
// enumeration, a quarter in pairs, a quarter at random moments.
func (c counted) plan(seed uint64, kills int) []aCase {
	enumerated := c.all()
	single, paired, random := max(1, kills/2), max(1, kills/4/2), max(1, kills/4/8)
	from := func(n int) uint64 { return seed * uint64(n) }
	var plan []aCase
	for n := range uint64(single) {
		plan = append(plan, enumerated[(from(single)+n)%uint64(len(enumerated))])
	}
	for n := range uint64(paired) {
		plan = append(plan, pairCase{c, from(paired) + n})
	}
	for n := range uint64(random) {
		plan = append(plan, randomCase(from(random)+n))
	}
	rand.New(rand.NewPCG(seed, 3)).Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	return plan
}

// named finds a case by its name.
func (c counted) named(name string) (aCase, bool) {
	for _, one := range c.all() {
		if one.String() == name {
			return one, true
		}
	}
	kind, text, _ := strings.Cut(name, "/")
	seed, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err != nil:
		return nil, false
	case kind == "random":
		return randomCase(seed), true
	default:
		return pairCase{c, seed}, kind == "pair"
	}
}
