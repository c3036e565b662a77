package oncehttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gateTest drives a gate by hand. Chance is u.
type gateTest struct {
	*testing.T
	gate   gate
	policy gatePolicy
	now    time.Time
	u      float64
	lastID uint64
	last   gateDecision
}

func newGateTest(t *testing.T) *gateTest {
	return &gateTest{T: t, now: outageEpoch, u: 0.5,
		policy: gatePolicy{after: 3, base: 200 * time.Millisecond, limit: 20 * time.Second, patience: 30 * time.Second, parked: 3}}
}

func (t *gateTest) step(e gateEvent) gateDecision {
	t.last = t.gate.step(e, t.policy, t.now, t.u)
	return t.last
}

func (t *gateTest) ask(parked bool) gateDecision {
	t.lastID++
	return t.step(gateEvent{kind: gateAsk, id: t.lastID, parked: parked})
}

func (t *gateTest) fail(n int) {
	for range n {
		t.step(gateEvent{kind: gateDown, round: t.last.round})
	}
}

// probe waits for the gate's time and returns who goes then.
func (t *gateTest) probe() []uint64 {
	t.Helper()
	require.False(t, t.last.wake.IsZero(), "nobody waits")
	t.now = t.last.wake
	return t.step(gateEvent{kind: gateWoke}).pass
}

func TestAGateShutsAfterThreeFailuresInARow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		events []gateEventKind
		shut   bool
	}{
		{"two failures", []gateEventKind{gateDown, gateDown}, false},
		{"three", []gateEventKind{gateDown, gateDown, gateDown}, true},
		{"a success between", []gateEventKind{gateDown, gateDown, gateUp, gateDown}, false},
		{"what says nothing of the host does not end the row", []gateEventKind{gateDown, gateMute, gateDown, gateMute, gateDown}, true},
		{"what says nothing of the host, often", []gateEventKind{gateMute, gateMute, gateMute, gateMute}, false},
	} {
		g := newGateTest(t)
		closed := false
		for _, kind := range c.events {
			require.Len(t, g.ask(false).pass, 1, c.name)
			closed = g.step(gateEvent{kind: kind}).closed || closed
		}
		assert.Equal(t, c.shut, closed, c.name)
		assert.Equal(t, c.shut, len(g.ask(false).pass) == 0, c.name)
	}
}

func TestProbesGoOneAtATimeWithGrowingWaitsAndAnotherIntentEachTime(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.u = 1
	g.fail(3)
	for range 3 {
		require.Empty(t, g.ask(false).pass)
	}
	var waits []time.Duration
	var order []uint64
	for range 9 {
		from := g.now
		pass := g.probe()
		require.Len(t, pass, 1)
		require.Empty(t, g.step(gateEvent{kind: gateWoke}).pass)
		order = append(order, pass[0])
		waits = append(waits, g.now.Sub(from).Round(time.Millisecond))
		g.step(gateEvent{kind: gateDown, round: g.last.round})
		g.ask(false) // again, under the next id
	}
	require.Equal(t, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}, order)
	// The third failure in a row has the wait of an intent's third.
	const ms = time.Millisecond
	require.Equal(t, []time.Duration{800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 12800 * ms, 20000 * ms, 20000 * ms, 20000 * ms, 20000 * ms}, waits)
}

func TestEachSuccessLetsOneMoreGo(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.fail(3)
	for range 40 {
		g.ask(false)
	}
	require.Len(t, g.probe(), 1)
	var together []int
	under := 1
	for range 4 {
		n := 0
		for range under {
			n += len(g.step(gateEvent{kind: gateUp, round: g.last.round}).pass)
		}
		under = n
		together = append(together, n)
	}
	require.Equal(t, []int{2, 4, 8, 16}, together)
	// One failure among successes halves the room; it grows by one a round then.
	g.step(gateEvent{kind: gateDown, round: g.last.round})
	require.Equal(t, 8, g.gate.room)
	for range 9 {
		g.step(gateEvent{kind: gateUp, round: g.last.round})
	}
	require.Equal(t, 9, g.gate.room)
	for g.gate.under > 0 {
		require.True(t, g.gate.shut)
		g.step(gateEvent{kind: gateUp, round: g.last.round})
	}
	require.True(t, g.last.opened)
	require.Len(t, g.ask(false).pass, 1)
}

func TestCallersAndParkedIntentsTakeTurnsCallersFirst(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.fail(3)
	for _, parked := range []bool{true, true, false, false, false} {
		g.ask(parked)
	}
	order := g.probe()
	for range 4 {
		order = append(order, g.step(gateEvent{kind: gateUp, round: g.last.round}).pass...)
	}
	require.Equal(t, []uint64{3, 1, 4, 2, 5}, order)
}

func TestAWishBindsTheWholeHostAndJitterOnlyAddsToIt(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	wish := g.now.Add(time.Minute)
	require.True(t, g.step(gateEvent{kind: gateDown, wish: wish}).closed, "one failure is enough")
	require.Empty(t, g.ask(false).pass)
	require.Equal(t, wish.Add(time.Minute/8/2), g.last.wake, "spread over an eighth of the wait")
	g.u = 0
	later := g.now.Add(2 * time.Minute)
	g.step(gateEvent{kind: gateDown, wish: later})
	g.step(gateEvent{kind: gateDown, wish: wish})
	require.Equal(t, later, g.last.wake, "the latest wish counts")
	g.step(gateEvent{kind: gateUp})
	require.Empty(t, g.last.pass, "an earlier attempt's success does not shorten it")
	require.Len(t, g.probe(), 1)
	require.True(t, g.step(gateEvent{kind: gateUp, round: g.last.round}).opened)
}

func TestOneWhoWasToldTheWishItselfNeedsNoMoreJitterThanItsOwn(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	wish := g.now.Add(time.Minute)
	g.step(gateEvent{kind: gateDown, wish: wish})
	g.ask(false)
	g.now = wish.Add(time.Millisecond)
	ask := func(waited time.Time) []uint64 {
		g.lastID++
		return g.step(gateEvent{kind: gateAsk, id: g.lastID, waited: waited}).pass
	}
	require.Empty(t, ask(time.Time{}))
	require.Empty(t, ask(wish.Add(-1)))
	require.Equal(t, []uint64{1}, ask(g.now), "it makes the first in the queue go")
	require.Empty(t, ask(g.now))
	g.step(gateEvent{kind: gateDown, round: g.last.round})
	require.Empty(t, ask(g.now), "a probe has failed since")
}

func TestFailuresOfAttemptsFromBeforeTheGateShutDoNotLengthenTheWait(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.fail(3)
	g.ask(false)
	wake := g.last.wake
	for range 50 {
		g.step(gateEvent{kind: gateDown})
	}
	require.Equal(t, wake, g.last.wake)
}

func TestAProbeWhoseCallerLeavesPassesOn(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.fail(3)
	g.ask(false)
	g.ask(false)
	require.Equal(t, []uint64{1}, g.probe())
	require.Equal(t, []uint64{2}, g.step(gateEvent{kind: gateLeave, round: g.last.round}).pass)
	g.ask(false)
	g.ask(false)
	g.step(gateEvent{kind: gateLeave, id: 3})
	require.Equal(t, []uint64{4}, g.step(gateEvent{kind: gateUp, round: g.last.round}).pass)
}

func TestALostProbeHoldsTheOthersBackForItsPatienceOnly(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.fail(3)
	g.ask(false)
	g.ask(false)
	require.Equal(t, []uint64{1}, g.probe())
	round, went := g.last.round, g.now
	require.Equal(t, []uint64{2}, g.probe())
	require.Equal(t, went.Add(g.policy.patience), g.now)
	g.step(gateEvent{kind: gateDown, round: round})
	require.Equal(t, 1, g.gate.under, "the lost one is not counted any more")
}

func TestWhoCannotGoInTimeIsToldATimeApartFromTheOthers(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.fail(3)
	next := g.gate.next
	seen := map[time.Time]bool{}
	for range 50 {
		g.lastID++
		d := g.step(gateEvent{kind: gateAsk, id: g.lastID, until: next.Add(-1)})
		require.Len(t, d.turned, 1)
		at := d.turned[0].at
		require.False(t, at.Before(next))
		require.False(t, at.After(next.Add(g.policy.limit)))
		seen[at] = true
	}
	require.Greater(t, len(seen), 40)
	for range g.policy.parked {
		require.Empty(t, g.ask(true).turned)
	}
	require.Len(t, g.ask(true).turned, 1, "only so many parked intents wait")
	for _, id := range []uint64{1000, 1001} {
		g.step(gateEvent{kind: gateAsk, id: id, until: next.Add(time.Millisecond)})
		require.Empty(t, g.last.turned)
	}
	require.Equal(t, []uint64{1000}, g.probe())
	g.step(gateEvent{kind: gateDown, round: g.last.round})
	require.Equal(t, uint64(1001), g.last.turned[0].id, "the next probe comes too late for it")
}

func TestAThrottledHostIsAskedAtThePaceThatItBore(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.policy.parked = 1000
	// The host bears 50 in every second, and answers at once.
	begun, n, throttled := g.now, 0, 0
	serve := func(round uint64) {
		if g.now.Sub(begun) >= time.Second {
			begun, n = g.now, 0
		}
		if n++; n <= 50 {
			g.step(gateEvent{kind: gateUp, round: round})
			return
		}
		throttled++
		g.step(gateEvent{kind: gateDown, round: round, wish: g.now.Add(time.Second), throttled: true})
		g.ask(true)
	}
	start, served := g.now, 0
	for range 51 {
		g.ask(true)
		serve(0)
		served++
	}
	for range 500 {
		g.ask(true)
	}
	for len(g.gate.parked) > 0 {
		pass, round := g.probe(), g.last.round
		for len(pass) > 0 {
			before := throttled
			serve(round)
			served += 1 - (throttled - before)
			pass, round = g.last.pass, g.last.round
		}
	}
	require.LessOrEqual(t, throttled, 8)
	took := g.now.Sub(start)
	t.Logf("550 served in %v, throttled %d times", took, throttled)
	require.Less(t, took, 25*time.Second)
}

func TestAHostThatBearsMoreThanThePaceIsSoonAskedFaster(t *testing.T) {
	t.Parallel()
	g := newGateTest(t)
	g.step(gateEvent{kind: gateUp})
	g.step(gateEvent{kind: gateDown, wish: g.now.Add(time.Second), throttled: true})
	require.Equal(t, slowestPace, g.gate.pace)
	start := g.now
	for range 500 {
		g.ask(false)
	}
	for len(g.gate.callers) > 0 {
		for n := len(g.probe()); n > 0; n-- {
			n += len(g.step(gateEvent{kind: gateUp, round: g.gate.round}).pass)
		}
	}
	t.Logf("500 in %v", g.now.Sub(start))
	require.Greater(t, g.now.Sub(start), paceTrust)
	require.Less(t, g.now.Sub(start), 4*paceTrust)
	for !g.last.opened {
		g.now = g.now.Add(time.Second)
		require.Len(t, g.ask(false).pass, 1, "nobody waits for the pace when nobody is there")
		g.step(gateEvent{kind: gateUp, round: g.last.round})
	}
	require.Less(t, g.now.Sub(start), 25*time.Second)
}

func TestAnOpenGateCostsNoAllocation(t *testing.T) {
	g := newGateTest(t)
	g.step(gateEvent{kind: gateUp})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		g.gate.step(gateEvent{kind: gateUp}, g.policy, g.now, g.u)
		g.gate.step(gateEvent{kind: gateMute}, g.policy, g.now, g.u)
	}))
}
