package oncehttp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every state of a small gate with three askers is visited: two callers, and an
// intent of the journal. Time is in seconds and relative to now, so that there
// are finitely many.

type askerState uint8

const (
	askerIdle askerState = iota
	askerWaits
	askerGoes
)

// gateWorld is a gate, and what its askers know.
type gateWorld struct {
	gate  gate
	asker [3]askerState
	id    [3]uint64
	round [3]uint64
	// passed counts the others that went while the one who is watched waits.
	passed, watched int
	// wish is the latest time before which the host wants nobody; wake is what
	// the gate asked for.
	wish, wake time.Time
	now        time.Time
	lastID     uint64
	seconds    int // since somebody waits and nobody went
}

var (
	explorePolicy = gatePolicy{after: 2, base: time.Second, limit: time.Second, patience: 2 * time.Second, parked: 1}
	exploreEpoch  = time.Unix(1_700_000_000, 0)
)

const exploreParked = 2 // the asker that is an intent of the journal

type gateStep func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision

func (w gateWorld) clone() gateWorld {
	w.gate.callers, w.gate.parked = slices.Clone(w.gate.callers), slices.Clone(w.gate.parked)
	return w
}

// normal is the same world in the fewest words.
func (w gateWorld) normal() gateWorld {
	w = w.clone()
	g := &w.gate
	shift := exploreEpoch.Sub(w.now)
	w.now = exploreEpoch
	if g.under < g.room || !g.shut {
		g.latest = time.Time{}
	}
	shifted := func(t *time.Time, least time.Duration) {
		if !t.IsZero() {
			*t = later(t.Add(shift), exploreEpoch.Add(-least))
		}
	}
	shifted(&g.next, time.Second)
	shifted(&g.wish, time.Second)
	shifted(&g.latest, explorePolicy.patience)
	shifted(&w.wish, 0)
	shifted(&w.wake, 0)
	g.flow, g.throttled = flow{}, time.Time{}
	g.fails, g.tries, g.room, g.told = min(g.fails, explorePolicy.after), 0, min(g.room, 3), 0
	for i := range w.asker {
		if w.round[i] != g.round || g.round == 0 || w.asker[i] != askerGoes {
			w.round[i] = 0
		} else {
			w.round[i] = 1
		}
	}
	g.round = min(g.round, 1)
	ids := map[uint64]uint64{}
	next := uint64(0)
	for _, q := range [][]asker{g.callers, g.parked} {
		for i := range q {
			next++
			ids[q[i].id] = next
			q[i].id = next
			if !q[i].until.IsZero() {
				q[i].until = q[i].until.Add(shift)
			}
		}
	}
	for i := range w.asker {
		w.id[i] = ids[w.id[i]]
	}
	w.lastID = next
	return w
}

// key is the same for equal worlds.
func (w gateWorld) key() string {
	g := &w.gate
	seconds := func(t time.Time) time.Duration {
		if t.IsZero() {
			return -time.Hour
		}
		return t.Sub(w.now) / time.Second
	}
	key := fmt.Appendln(nil, w.asker, w.id, w.round, w.passed, seconds(w.wish), seconds(w.wake), w.lastID,
		g.fails, g.shut, g.probing, g.wished, seconds(g.next), seconds(g.wish), g.room, g.grown, g.steady, g.round, g.under, seconds(g.latest), g.parkedNext)
	for _, a := range slices.Concat(g.callers, g.parked) {
		key = fmt.Appendln(key, a.id, seconds(a.until))
	}
	return string(key)
}

// do tells the gate an event, and the askers what it decided. It returns what
// is wrong with that.
func (w *gateWorld) do(step gateStep, e gateEvent, u float64) string {
	probing := w.gate.shut && w.gate.probing && e.kind != gateUp
	d := step(&w.gate, e, explorePolicy, w.now, u)
	w.wake = d.wake
	for _, t := range d.turned {
		i := slices.Index(w.id[:], t.id)
		if i < 0 || w.asker[i] != askerWaits {
			return fmt.Sprintf("turned away %d, which does not wait", t.id)
		}
		if t.at.Before(w.wish) || t.at.Before(w.gate.next) {
			return "one who is sent away is told a time before anybody may go"
		}
		w.asker[i], w.id[i] = askerIdle, 0
	}
	for _, id := range d.pass {
		i := slices.Index(w.id[:], id)
		if i < 0 || w.asker[i] != askerWaits {
			return fmt.Sprintf("let %d go, which does not wait", id)
		}
		if w.wish.After(w.now) {
			return "one went sooner than the host asked"
		}
		w.asker[i], w.id[i], w.round[i], w.seconds = askerGoes, 0, d.round, 0
		if i != w.watched && w.asker[w.watched] == askerWaits {
			w.passed++
		}
		if w.passed > 4 {
			return "one waits while five others go"
		}
	}
	going := 0
	for i := range w.asker {
		if w.asker[i] == askerGoes && w.round[i] == w.gate.round && w.gate.round > 0 {
			going++
		}
	}
	if w.asker[w.watched] != askerWaits {
		w.passed = 0
	}
	if probing && w.gate.probing && going > 1 {
		return "two probes at once"
	}
	if w.gate.under != going && w.gate.shut {
		return fmt.Sprintf("%d are under way, the gate counts %d", going, w.gate.under)
	}
	if !slices.Contains(w.asker[:], askerWaits) {
		w.seconds = 0
	}
	return ""
}

func (w *gateWorld) ask(step gateStep, i, patience int, u float64) string {
	w.lastID++
	e := gateEvent{kind: gateAsk, id: w.lastID, parked: i == exploreParked}
	if i == 1 { // it waits of its own before it asks
		e.waited = w.now
	}
	if patience > 0 {
		e.until = w.now.Add(time.Duration(patience) * time.Second)
	}
	w.asker[i], w.id[i], w.round[i] = askerWaits, e.id, 0
	return w.do(step, e, u)
}

// end ends the attempt of asker i.
func (w *gateWorld) end(step gateStep, i int, kind gateEventKind, wish time.Duration, u float64) string {
	e := gateEvent{kind: kind, round: w.round[i]}
	if wish > 0 {
		e.wish = w.now.Add(wish)
		w.wish = later(w.wish, e.wish)
	}
	w.asker[i], w.round[i] = askerIdle, 0
	return w.do(step, e, u)
}

// pass lets time go on, or back; who wants to be woken is.
func (w *gateWorld) pass(step gateStep, seconds int, u float64) string {
	if !w.wish.After(w.now) {
		w.wish = time.Time{} // it is fulfilled, whatever the clock says next
	}
	w.now = w.now.Add(time.Duration(seconds) * time.Second)
	if slices.Contains(w.asker[:], askerWaits) {
		w.seconds++
	}
	if !w.wake.IsZero() && !w.wake.After(w.now) {
		return w.do(step, gateEvent{kind: gateWoke}, u)
	}
	return ""
}

type gateMove struct {
	name string
	do   func(*gateWorld) string
}

// moves are all that may happen next.
func (w gateWorld) moves(step gateStep) []gateMove {
	var moves []gateMove
	add := func(do func(*gateWorld) string, format string, args ...any) {
		moves = append(moves, gateMove{fmt.Sprintf(format, args...), do})
	}
	for i := range w.asker {
		switch w.asker[i] {
		case askerIdle:
			add(func(w *gateWorld) string { return w.ask(step, i, 0, 0) }, "%d asks", i)
			if i == 0 && w.watched == 0 {
				add(func(w *gateWorld) string { return w.ask(step, i, 1, 0) }, "%d asks, and has a second", i)
			}
		case askerWaits:
			add(func(w *gateWorld) string {
				id := w.id[i]
				w.asker[i], w.id[i] = askerIdle, 0
				return w.do(step, gateEvent{kind: gateLeave, id: id}, 0)
			}, "%d leaves while it waits", i)
		case askerGoes:
			add(func(w *gateWorld) string { return w.end(step, i, gateLeave, 0, 0) }, "%d leaves, let go", i)
			add(func(w *gateWorld) string { return w.end(step, i, gateUp, 0, 0) }, "%d succeeds", i)
			add(func(w *gateWorld) string { return w.end(step, i, gateDown, 0, 0) }, "%d fails", i)
			add(func(w *gateWorld) string { return w.end(step, i, gateDown, 0, 1) }, "%d fails, with a long wait", i)
			add(func(w *gateWorld) string { return w.end(step, i, gateDown, time.Second, 0) }, "%d fails, and is asked to wait", i)
			add(func(w *gateWorld) string { return w.end(step, i, gateMute, 0, 1) }, "%d ends and says nothing", i)
		}
	}
	add(func(w *gateWorld) string { return w.pass(step, 1, 0) }, "a second passes")
	if w.watched == 0 && w.gate.next.Sub(w.now) < 2*time.Second && w.wish.Sub(w.now) < 2*time.Second {
		add(func(w *gateWorld) string { return w.pass(step, -1, 0) }, "the clock goes back a second")
	}
	return moves
}

// settles says what is wrong if from here on only time passes, until everybody
// went; and then, if all that are under way succeed.
func (w gateWorld) settles(step gateStep) string {
	w = w.clone()
	for range 60 {
		waits := slices.Contains(w.asker[:], askerWaits)
		goes := slices.Contains(w.asker[:], askerGoes)
		if !waits && !goes {
			break
		}
		if waits {
			if wrong := w.pass(step, 1, 1); wrong != "" {
				return wrong
			}
			if w.seconds > 20 {
				return "somebody waits, and nobody goes for 20 seconds"
			}
			if w.seconds > 0 {
				continue // what is under way is lost for now
			}
		}
		for i := range w.asker {
			if w.asker[i] == askerGoes {
				if wrong := w.end(step, i, gateUp, 0, 0); wrong != "" {
					return wrong
				}
				break
			}
		}
	}
	if slices.Contains(w.asker[:], askerWaits) {
		return "somebody waits for ever"
	}
	for range 10 { // a wish may stand against the last success
		if wrong := w.pass(step, 1, 0); wrong != "" {
			return wrong
		}
	}
	if wrong := w.ask(step, 0, 0, 0); wrong != "" {
		return wrong
	}
	if w.asker[0] != askerGoes {
		return "one who asks alone, long after, has to wait"
	}
	if wrong := w.end(step, 0, gateUp, 0, 0); wrong != "" {
		return wrong
	}
	if w.gate.shut {
		return "the gate is shut after a success, with nobody waiting"
	}
	return ""
}

// explore visits every state. It returns how many there are, and the shortest
// way to the first that is wrong.
func exploreGate(step gateStep, watched int) (states int, wrong string) {
	type visit struct {
		world gateWorld
		from  int
		move  string
	}
	start := gateWorld{now: exploreEpoch, watched: watched}
	visits := []visit{{world: start.normal(), from: -1}}
	seen := map[string]bool{visits[0].world.key(): true}
	tell := func(at int, move, wrong string) string {
		way := wrong
		for way = move + ": " + wrong; at > 0; at = visits[at].from {
			way = visits[at].move + "\n" + way
		}
		return way
	}
	for at := 0; at < len(visits); at++ {
		w := visits[at].world
		if w.watched == 0 { // who is watched makes no difference to it
			if wrong := w.settles(step); wrong != "" {
				return len(visits), tell(at, "then", wrong)
			}
		}
		for _, m := range w.moves(step) {
			next := w.clone()
			if wrong := m.do(&next); wrong != "" {
				return len(visits), tell(at, m.name, wrong)
			}
			next = next.normal()
			next.seconds = 0
			if key := next.key(); !seen[key] {
				seen[key] = true
				visits = append(visits, visit{next, at, m.name})
			}
			if len(visits) > 200_000 {
				return len(visits), "the states do not end"
			}
		}
	}
	return len(visits), ""
}

func TestEveryStateOfASmallGateKeepsItsPromises(t *testing.T) {
	t.Parallel()
	for _, watched := range []int{0, exploreParked} {
		states, wrong := exploreGate((*gate).step, watched)
		require.Empty(t, wrong)
		t.Logf("%d states, %d watched", states, watched)
	}
}
