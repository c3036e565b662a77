package oncehttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each wrong rule is planted into the gate; what is wrong must be found, and
// named.
func TestAWrongRuleInTheGateIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step    gateStep
		watched int
		wrong   string
	}{
		"a wish is not heard": {wrong: "sooner than the host asked", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			e.wish = time.Time{}
			return g.step(e, p, now, u)
		}},
		"only the wish of an attempt that was let go counts": {wrong: "sooner than the host asked", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			if e.round != g.round {
				e.wish = time.Time{}
			}
			return g.step(e, p, now, u)
		}},
		"a probe that is not sent is not given back": {wrong: "are under way", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			if e.kind == gateLeave {
				e.round = 0
			}
			return g.step(e, p, now, u)
		}},
		"one who leaves stays in the queue": {wrong: "does not wait", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			if e.kind == gateLeave {
				e.id = 0
			}
			return g.step(e, p, now, u)
		}},
		"an attempt of an earlier round counts": {wrong: "are under way", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			if e.kind != gateAsk && e.round == 0 && g.shut {
				e.round = g.round
			}
			return g.step(e, p, now, u)
		}},
		"two may probe": {wrong: "two probes at once", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			if g.probing {
				g.room = 2
			}
			return g.step(e, p, now, u)
		}},
		"nobody is woken": {wrong: "nobody goes", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			d := g.step(e, p, now, u)
			d.wake = time.Time{}
			return d
		}},
		"a lost probe is waited for": {wrong: "nobody goes", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			p.patience = time.Hour
			return g.step(e, p, now, u)
		}},
		"the last to come is the first to go": {wrong: "while five others go", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			if n := len(g.callers); n > 1 && e.kind != gateLeave {
				g.callers[0], g.callers[n-1] = g.callers[n-1], g.callers[0]
			}
			return g.step(e, p, now, u)
		}},
		"callers always go first": {watched: exploreParked, wrong: "while five others go", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			g.parkedNext = false
			return g.step(e, p, now, u)
		}},
		"a success does not open": {wrong: "shut after a success", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			if e.kind == gateUp {
				e.kind = gateMute
			}
			return g.step(e, p, now, u)
		}},
		"who is sent away may come at once": {wrong: "told a time before", step: func(g *gate, e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
			d := g.step(e, p, now, u)
			for i := range d.turned {
				d.turned[i].at = now
			}
			return d
		}},
	} {
		_, wrong := exploreGate(c.step, c.watched)
		require.Contains(t, wrong, c.wrong, name)
	}
}
