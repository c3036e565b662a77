package oncehttp

import (
	"math"
	"slices"
	"sort"
	"time"
)

// gate is the third pure machine: it says who may send to one host. While the
// host answers, everybody may. After failures in a row it shuts, and one
// attempt at a time probes the host, each after full jitter. The first success
// ends the probing: from then on each success lets one more go, and the gate
// opens when a success finds nobody waiting. While it is shut a caller who
// waits and an intent of the journal take turns, callers first; each queue is
// in the order of asking, so that every probe is another intent.
//
// The zero gate is open. A gate is changed in place; time and chance are given.
// Its times are meant to be monotonic: if they go back, waits grow by as much.
type gate struct {
	// fails counts failures in a row that speak of the host; tries is the index
	// of the backoff between probes.
	fails, tries int
	shut         bool
	// probing: shut, and no success since.
	probing bool
	// next: shut, and nobody goes before. wish is what the host asked for; it
	// shuts the gate by itself. wished: next comes of a wish.
	next, wish time.Time
	wished     bool
	// room is how many attempts may be under way while the gate is shut, grown
	// the successes since it grew. steady: it has overshot once, or others were
	// told the same time, and it grows only by one for more than room successes.
	room, grown int
	steady      bool
	// round tells attempts let go since the gate last shut from earlier ones,
	// which are not among those under way.
	round uint64
	under int
	// latest is when somebody last went, or an attempt under way last ended.
	latest time.Time
	// pace is the shortest time between two that go, learned from throttling at
	// throttled. Zero: none.
	pace      time.Duration
	throttled time.Time
	flow      flow
	// told counts those sent away since the gate shut.
	told            int
	callers, parked []asker
	parkedNext      bool // whose turn it is
}

// asker waits at a gate.
type asker struct {
	// id grows from asker to asker.
	id uint64
	// until is the end of its patience. Zero: it has none.
	until time.Time
}

// flow measures how many successes a second the host bears.
type flow struct {
	from   time.Time // start of the measurement
	served int
	rate   float64 // of the last full one
}

type gateEventKind uint8

const (
	gateAsk   gateEventKind = iota // somebody wants to send
	gateLeave                      // who asked does not want to any more, waiting or let go
	gateUp                         // an attempt showed that the host works
	gateDown                       // it showed that the host does not
	gateMute                       // it ended and says nothing of the host
	gateWoke                       // the time that was asked for has come
)

// gateEvent is one flat struct; the comment of a field names the kinds that
// set it.
type gateEvent struct {
	kind gateEventKind
	// id of the asker: ask, leave while waiting.
	id    uint64
	until time.Time // ask: the end of its patience; zero: none
	// parked: ask by an intent of the journal, with no caller.
	parked bool
	// waited (ask) is the end of a wait of the asker's own, jitter and what the
	// host asked of it included; zero: there was none.
	waited time.Time
	// round of the pass: leave once let go, up, down, mute. Zero: it went while
	// the gate was open, or without asking.
	round uint64
	// wish (down): when the host wants to be asked again. throttled: it said that
	// it was asked too often.
	wish      time.Time
	throttled bool
}

// gateDecision is what follows from one event.
type gateDecision struct {
	// pass lists who goes now, and turned who does not: before the end of its
	// patience nobody can go. round goes with the passes.
	pass  []uint64
	round uint64
	// turned are told times to ask again, in the order of the list.
	turned []gateTurned
	// wake is when the gate wants to be woken. Zero: not at all.
	wake           time.Time
	closed, opened bool
}

type gateTurned struct {
	id uint64
	at time.Time
}

// gatePolicy bounds a gate.
type gatePolicy struct {
	// after so many failures in a row the gate shuts.
	after int
	// base and limit of full jitter between probes.
	base, limit time.Duration
	// patience with attempts under way: none ended for so long, and they no
	// longer hold the others back.
	patience time.Duration
	// parked is how many intents of the journal may wait at the gate.
	parked int
}

const (
	flowSpan = time.Second // over which the flow is measured
	// The pace starts at paceShare of the flow that a throttling host bore, but
	// not slower than slowestPace, and gains a paceCareful-th a second. If the
	// host has not throttled for paceTrust it was too slow, and gains a
	// paceBold-th.
	paceShare             = 0.8
	slowestPace           = time.Second
	paceCareful, paceBold = 20, 2
	paceTrust             = 5 * time.Second
	// toldApart spreads those who are sent away, so that not more than 500 a
	// second ask again.
	toldApart = 2 * time.Millisecond
)

// step is total: every state has an answer to every event. u is uniform in
// [0, 1).
func (g *gate) step(e gateEvent, p gatePolicy, now time.Time, u float64) gateDecision {
	var d gateDecision
	mine := e.round != 0 && e.round == g.round
	next := g.next
	if mine && e.kind != gateAsk {
		g.under--
		g.latest = now
	}
	switch e.kind {
	case gateAsk:
		g.ask(&d, e, p, now, u)
	case gateLeave:
		g.callers = leaveQueue(g.callers, e.id)
		g.parked = leaveQueue(g.parked, e.id)
	case gateUp:
		g.up(&d, p, now)
	case gateDown:
		g.down(&d, e, mine, p, now, u)
	case gateMute:
		if mine && g.probing {
			g.probeIn(p, now, u)
		}
	}
	if g.shut && g.under >= g.room && now.Sub(g.latest) >= p.patience {
		g.under, g.latest = 0, now
		g.round++
	}
	if g.next.After(next) {
		g.turnAway(&d, p, now, u)
	}
	g.admit(&d, now)
	d.round, d.wake = g.round, g.wake(p, now)
	if !g.shut {
		d.round = 0
	}
	return d
}

func (g *gate) ask(d *gateDecision, e gateEvent, p gatePolicy, now time.Time, u float64) {
	if g.probing && g.wished && !g.wish.After(now) && !e.waited.Before(g.wish) && now.Before(g.next) {
		g.next = now // its own jitter does for the gate's
	}
	switch {
	case !g.shut:
		d.pass = append(d.pass, e.id)
	case e.parked && len(g.parked) >= p.parked, g.hopeless(asker{e.id, e.until}, now):
		d.turned = append(d.turned, gateTurned{e.id, g.again(p, now, u)})
	case e.parked:
		g.parked = append(g.parked, asker{e.id, e.until})
	default:
		g.callers = append(g.callers, asker{e.id, e.until})
	}
}

// leaveQueue relies on the order of ids.
func leaveQueue(q []asker, id uint64) []asker {
	i := sort.Search(len(q), func(i int) bool { return q[i].id >= id })
	if i == len(q) || q[i].id != id {
		return q
	}
	return slices.Delete(q, i, i+1)
}

func (g *gate) up(d *gateDecision, p gatePolicy, now time.Time) {
	g.flow.count(now)
	g.fails = 0
	if !g.shut || g.wish.After(now) {
		return
	}
	if g.probing {
		g.probing, g.next, g.tries, g.told = false, now, 0, 0
	}
	g.grown++
	if !g.steady || g.grown > g.room {
		g.room, g.grown = min(g.room+1, math.MaxInt32), 0
	}
	gain := g.pace / paceCareful
	if now.Sub(g.throttled) > paceTrust {
		gain = g.pace / paceBold
	}
	g.pace -= time.Duration(float64(gain) * g.pace.Seconds())
	if len(g.callers)+len(g.parked) == 0 && (g.pace == 0 || now.Sub(g.throttled) > p.limit) {
		*g = gate{round: g.round + 1, flow: g.flow} // what is under way is not counted any more
		d.opened = true
	}
}

func (f *flow) count(now time.Time) {
	if span := now.Sub(f.from); f.served == 0 || span < 0 {
		*f = flow{from: now, rate: f.rate}
	} else if span > flowSpan {
		*f = flow{from: now, rate: float64(f.served) / span.Seconds()}
	}
	f.served++
}

// borne is the pace that a host bore which wants no more until wish.
func (f *flow) borne(wish time.Time) time.Duration {
	rate := f.rate
	if f.served > 0 {
		rate = max(rate, float64(f.served)/max(flowSpan, wish.Sub(f.from)).Seconds())
	}
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / (paceShare * rate))
}

func (g *gate) down(d *gateDecision, e gateEvent, mine bool, p gatePolicy, now time.Time, u float64) {
	wishes := e.wish.After(now)
	if e.wish.After(g.wish) {
		g.wish = e.wish
	}
	if wishes && e.throttled && (mine || !g.shut) {
		if pace := g.flow.borne(e.wish); pace > 0 {
			g.pace, g.throttled = min(pace, slowestPace), now
		}
	}
	switch {
	case g.shut && !mine:
		// It went before the others were stopped: only the wish is news.
		if wishes && g.next.Before(g.wish) {
			g.probe(p, now, u)
		}
	case g.shut && g.probing:
		g.fails++
		g.probeIn(p, now, u)
	default:
		g.fails++
		switch {
		case g.fails >= p.after || wishes:
			d.closed = !g.shut
			g.tries = g.fails - 1
			g.probe(p, now, u)
		case g.shut:
			g.room, g.grown, g.steady = max(1, g.room/2), 0, true
		}
	}
}

// probe shuts the gate, or goes back to one attempt at a time.
func (g *gate) probe(p gatePolicy, now time.Time, u float64) {
	if !g.shut {
		g.parkedNext = false
	}
	g.shut, g.probing = true, true
	g.room, g.under, g.grown = 1, 0, 0
	g.round++
	g.next = g.jittered(p, now, u)
	g.steady = g.wished
	g.latest = now
}

func (g *gate) probeIn(p gatePolicy, now time.Time, u float64) {
	g.tries++
	g.next = g.jittered(p, now, u)
	g.steady = g.steady || g.wished
}

// jittered is the time of the next probe: not before the wish, and after a long
// one spread over an eighth of it, since others were told the same time. Who
// was told so itself, and comes after jitter of its own, need not wait for it.
func (g *gate) jittered(p gatePolicy, now time.Time, u float64) time.Time {
	from, spread := now, longestWait(g.tries, p.base, p.limit)
	if g.wished = g.wish.After(now); g.wished {
		from = g.wish
		spread = max(spread, min(p.limit, g.wish.Sub(now)/8))
	}
	return from.Add(fullJitter(u, 0, spread, spread))
}

// again is when one who is sent away may ask again: after the next probe, and
// apart from the others.
func (g *gate) again(p gatePolicy, now time.Time, u float64) time.Time {
	g.told++
	_, u = math.Modf(u + float64(g.told)*0.6180339887498949) // one chance serves many
	spread := max(longestWait(g.tries, p.base, p.limit), time.Duration(g.told)*toldApart)
	return later(g.next, now).Add(fullJitter(u, 0, spread, spread))
}

// hopeless: the end of its patience comes before the next may go.
func (g *gate) hopeless(a asker, now time.Time) bool {
	return !a.until.IsZero() && g.next.After(now) && a.until.Before(g.next)
}

// turnAway tells those who cannot go any more.
func (g *gate) turnAway(d *gateDecision, p gatePolicy, now time.Time, u float64) {
	turn := func(a asker) bool {
		hopeless := g.hopeless(a, now)
		if hopeless {
			d.turned = append(d.turned, gateTurned{a.id, g.again(p, now, u)})
		}
		return hopeless
	}
	g.callers = slices.DeleteFunc(g.callers, turn)
	g.parked = slices.DeleteFunc(g.parked, turn)
}

// admit lets go who may.
func (g *gate) admit(d *gateDecision, now time.Time) {
	for g.shut && g.under < g.room && !g.next.After(now) && len(g.callers)+len(g.parked) > 0 {
		q := &g.callers
		if len(g.callers) == 0 || g.parkedNext && len(g.parked) > 0 {
			q = &g.parked
		}
		d.pass = append(d.pass, (*q)[0].id)
		*q = (*q)[1:]
		g.parkedNext = q == &g.callers
		g.under++
		g.latest = now
		if g.pace > 0 {
			g.next = later(g.next, now.Add(-g.pace)).Add(g.pace)
		}
	}
}

func (g *gate) wake(p gatePolicy, now time.Time) time.Time {
	switch {
	case !g.shut || len(g.callers)+len(g.parked) == 0:
		return time.Time{}
	case g.under >= g.room:
		return later(g.next, g.latest.Add(p.patience))
	}
	return g.next
}

// idle gates can be forgotten: nobody waits or is under way, and what is known
// is old.
func (g *gate) idle(p gatePolicy, now time.Time) bool {
	if len(g.callers)+len(g.parked) > 0 {
		return false
	}
	old := now.Add(-p.limit - p.patience)
	return g.latest.Before(old) && g.next.Before(old) && g.wish.Before(old) && g.flow.from.Before(old)
}
