package oncehttp

import (
	"flag"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var exploreLong = flag.Bool("long", false, "explore deeper: minutes, and gigabytes of memory")

// An exploration visits every state that its worlds can reach, breadth first,
// and stops at the first breach of a check.
type exploration struct {
	name       string
	protection protection
	contract   *Contract
	// changed: the process after a restart has the contract later instead.
	changed bool
	later   *Contract
	// timed: time passes wherever it matters, not only for one who waits.
	timed bool
	left  worldBudget
	rules wrongRules

	breach *breach
	path   []move
	states int
	// met is told of every step of a world, when it is set.
	met func(from, to *world, mv move)
}

// visit is a state as it was reached.
type visit struct {
	parent int32
	move   move
}

func (x *exploration) run() {
	seed := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	seen := map[[2]uint64]int32{}
	var visits []visit
	var edges [][2]int32 // of the moves by which a call goes on
	var done []int32     // states in which nobody drives
	var level, next []world
	var code []byte
	enter := func(w *world, from int32, mv move) int32 {
		code = w.encode(code[:0])
		sum := [2]uint64{maphash.Bytes(seed[0], code), maphash.Bytes(seed[1], code)}
		id, ok := seen[sum]
		if !ok {
			id = int32(len(visits))
			seen[sum] = id
			visits = append(visits, visit{from, mv})
			next = append(next, *w)
			if w.m == nil {
				done = append(done, id)
			}
		}
		return id
	}
	enter(&world{left: x.left}, -1, move{})
	var list []move
	for id := int32(0); len(next) > 0; {
		level, next = next, level[:0]
		for i := range level {
			list = x.moves(&level[i], list[:0])
			for _, mv := range list {
				w := level[i]
				x.apply(&w, mv)
				if x.breach != nil {
					x.trace(visits, id, mv)
					return
				}
				to := enter(&w, id, mv)
				if mv.goesOn() {
					edges = append(edges, [2]int32{to, id})
				}
				if x.met != nil {
					x.met(&level[i], &w, mv)
				}
			}
			id++
		}
		x.states = len(visits)
	}
	x.states = len(visits)
	if stuck := unreached(len(visits), edges, done); stuck >= 0 {
		x.fail(checkEnds, "no way leads to an end of the call")
		x.trace(visits, stuck, move{})
	}
}

// unreached is the first state from which none of done can be reached, or -1.
// Edges point backwards.
func unreached(n int, edges [][2]int32, done []int32) int32 {
	first := make([]int32, n+1)
	for _, e := range edges {
		first[e[0]+1]++
	}
	for i := range n {
		first[i+1] += first[i]
	}
	to := make([]int32, len(edges))
	fill := slices.Clone(first)
	for _, e := range edges {
		to[fill[e[0]]] = e[1]
		fill[e[0]]++
	}
	ends := make([]bool, n)
	queue := done
	for _, id := range done {
		ends[id] = true
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, from := range to[first[id]:first[id+1]] {
			if !ends[from] {
				ends[from] = true
				queue = append(queue, from)
			}
		}
	}
	return int32(slices.Index(ends, false))
}

// trace keeps the way to a state, and the move after it.
func (x *exploration) trace(visits []visit, id int32, last move) {
	x.path = []move{last}
	for ; visits[id].parent >= 0; id = visits[id].parent {
		x.path = append(x.path, visits[id].move)
	}
	slices.Reverse(x.path)
}

// story tells the path to the breach.
func (x *exploration) story() string {
	y := *x
	y.breach = nil
	w := world{left: x.left}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s)\n", x.name, x.breach.check, x.breach.what)
	for i, mv := range x.path {
		if i == len(x.path)-1 && x.breach.check == checkEnds {
			break
		}
		y.apply(&w, mv)
		fmt.Fprintf(&b, "%3d. %-34s %s\n", i+1, mv, &w)
	}
	return b.String()
}

func exploredContract() *Contract {
	c := IdempotencyKey("*", exploredWindow)
	return &c
}

// explorations are the worlds that are visited, each with what may happen in it.
func explorations() []*exploration {
	weak := exploredContract()
	weak.Proof = ProofUnknown
	all := []*exploration{
		{name: "keyed, crashes", protection: keyed, left: worldBudget{calls: [3]int8{1, 0, 2}, faults: 3, crashes: 2}},
		{name: "keyed, window", protection: keyed, timed: true, left: worldBudget{calls: [3]int8{1, 0, 1}, faults: 1, crashes: 1, leaves: 1}},
		{name: "keyed, clock", protection: keyed, timed: true, left: worldBudget{calls: [3]int8{1, 0, 1}, faults: 1, back: 1}},
		{name: "keyed, two callers", protection: keyed, left: worldBudget{calls: [3]int8{1, 1, 0}, faults: 1, leaves: 2}},
		{name: "keyed, journal faults", protection: keyed, left: worldBudget{calls: [3]int8{2, 0, 0}, faults: 1, crashes: 1, saveFaults: 2}},
		{name: "keyed, persons", protection: keyed, left: worldBudget{calls: [3]int8{1, 1, 0}, faults: 1, words: 2, lateAnswers: 1}},
		{name: "keyed, begin", protection: keyed, left: worldBudget{calls: [3]int8{1, 0, 1}, begins: 1, faults: 1, crashes: 1}},
		{name: "keyed, close", protection: keyed, left: worldBudget{calls: [3]int8{1, 1, 1}, faults: 1, closes: 1, leaves: 1}},
		{name: "keyed, credentials", protection: keyed, left: worldBudget{calls: [3]int8{2, 0, 0}, faults: 2, unready: 1, crashes: 1}},
		{name: "keyed, gate", protection: keyed, left: worldBudget{calls: [3]int8{1, 1, 1}, faults: 1, shuts: 2, leaves: 1}},
		{name: "contract gone", protection: keyed, changed: true, left: worldBudget{calls: [3]int8{2, 0, 1}, faults: 2, crashes: 1}},
		{name: "contract weaker", protection: keyed, changed: true, later: weak, left: worldBudget{calls: [3]int8{2, 0, 1}, faults: 2, crashes: 1}},
		{name: "idempotent", protection: idempotent, left: worldBudget{calls: [3]int8{1, 1, 1}, faults: 2, crashes: 1}},
		{name: "unprotected", protection: unprotected, left: worldBudget{calls: [3]int8{2, 0, 1}, faults: 2, crashes: 1, leaves: 1}},
	}
	for _, x := range all {
		if x.protection == keyed {
			x.contract = exploredContract()
		}
		if *exploreLong {
			x.left.faults++
			x.left.leaves++
			x.left.calls[resumer]++
		}
	}
	return all
}

func TestEveryReachableStateKeepsThePromises(t *testing.T) {
	t.Parallel()
	all := explorations()
	drawn := make([]transitions, len(all))
	t.Run("explore", func(t *testing.T) {
		for i, x := range all {
			drawn[i] = transitions{}
			x.met = drawn[i].add
			t.Run(x.name, func(t *testing.T) {
				t.Parallel()
				begun := time.Now()
				x.run()
				if x.breach != nil {
					t.Fatal(x.story())
				}
				t.Logf("%d states in %v", x.states, time.Since(begun).Round(time.Millisecond))
				assert.Greater(t, x.states, 1000)
			})
		}
	})
	if !t.Failed() && !*exploreLong {
		goldenFile(t, "testdata/states.golden", drawStates(drawn))
	}
}
