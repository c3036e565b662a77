package sim

import (
	"strconv"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

const (
	sceneLookup scene = "lookup" // the window has ended, or there is no key
	scenePin    scene = "pin"    // credentials change after a lost answer
	sceneHint   scene = "hint"   // beside Retry-After
	sceneTold   scene = "told"   // the API was told a time before an answer is lost
)

var termsScenes = []scene{sceneLookup, sceneLookup, scenePin, sceneHint}

// newTermsScene plans one of those that need terms of their own.
func newTermsScene(seed uint64, d, more, theirs, kinds dice) Plan {
	p := Plan{Seed: seed, Scene: pick(theirs, termsScenes...), sent: map[int]bool{}, more: more, terms: theirs, kinds: kinds}
	if kinds.chance(0.15) {
		p.Scene = sceneTold
	}
	t := drawTerms(theirs)
	switch p.Scene {
	case sceneLookup:
		t.Find, t.Pinned, t.Hints = pick(theirs, findOne, findList, findAll), theirs.chance(0.3), false
		t.Proof = theirs.chance(0.7)
		if t.Plant == oncehttp.CarrierNone {
			t.Plant = oncehttp.CarrierHeader
		}
	case scenePin:
		t.Find, t.Pinned = findNone, true
	case sceneHint:
		t.Find, t.Pinned, t.Hints = findNone, false, true
	case sceneTold:
		t.Find, t.Pinned, t.Hints = findNone, false, false
	}
	t.vary(kinds)
	if p.Scene == sceneTold {
		t.tell(kinds)
	}
	if p.Scene == sceneHint && kinds.chance(0.5) {
		t.Wait = pick(kinds, waits...)
	}
	p.API.Terms = t
	p.planClient(d)
	p.planAPI(d)
	p.API.Work, p.API.Tells = 0, p.API.refuses()
	switch p.Scene {
	case sceneLookup:
		p.lookup(d)
	case scenePin:
		p.pin(d)
	case sceneHint:
		p.hint(d)
	case sceneTold:
		p.tell(d)
	}
	return p
}

// dropped is a request that reaches nobody, whatever the client sees.
func dropped(d dice) mockserver.Fault {
	if d.chance(0.5) {
		return mockserver.Gateway(pick(d, 502, 504))
	}
	return mockserver.Fault{See: pick(d, mockserver.SeeReset, mockserver.SeeClose)}
}

// lookup: answers are lost with their effects or without, and then nothing but a
// lookup can tell; some effects come late, and others stand beside them.
func (p *Plan) lookup(d dice) {
	p.bounded(d)
	p.Client.Retry.MaxAttempts = 1 + d.IntN(2)
	late := func() mockserver.Fault {
		f := lost(d)
		f.Late = d.upTo(p.API.Arrives)
		return f
	}
	for range 2 + d.IntN(3) {
		protection := pick(d, judge.Keyed, judge.Unprotected, judge.Unprotected, judge.Idempotent)
		f := pick(d, lost(d), dropped(d), dropped(d), late())
		if protection == judge.Keyed { // lost all over its window
			f.Times = 8
		}
		p.act(d, protection, f)
		last := &p.Actions[len(p.Actions)-1]
		last.Keyless, last.Ref = protection != judge.Keyed, d.chance(0.1)
	}
	p.keyed(d)
	var first, later [][]Step
	for i := range p.Actions {
		first = append(first, one(d.upTo(time.Minute), CallDo, i))
		later = append(later, one(p.usable()+d.upTo(2*time.Hour), pick(d, CallDo, CallRead), i))
	}
	p.Lives = []Life{
		{End: EndQuiet, Callers: first, Passes: []time.Duration{2*time.Minute + d.upTo(time.Minute), 2 * time.Minute, 3 * time.Minute, 15 * time.Minute, 15 * time.Minute}},
		{End: pick(d, EndQuiet, EndShutdown), Callers: later, Run: d.chance(0.3)},
	}
	if !p.Lives[1].Run {
		p.Lives[1].Passes = []time.Duration{p.usable() + 2*time.Minute, 2 * time.Minute, 3 * time.Minute, 15 * time.Minute, 15 * time.Minute, time.Hour}
	}
	if d.chance(0.2) {
		p.Lives[1].NoContract = true
		for _, steps := range p.Lives[1].Callers {
			steps[0].Call = CallRead
		}
	}
}

// pin: an answer is lost under one token, and the next call has another.
func (p *Plan) pin(d dice) {
	p.Client.GateOff = true
	p.Client.Retry.MaxAttempts = 1 + d.IntN(3)
	p.Client.Rotates = pick(d, time.Second, time.Minute)
	refused := p.own(mockserver.Status(pick(d, 429, 503, 401)))
	p.keyed(d, pick(d, lost(d), dropped(d), refused), pick(d, lost(d), refused))
	p.keyed(d, refused, lost(d))
	var steps [][]Step
	for i := range p.Actions {
		var all []Step
		for range 4 {
			all = append(all, Step{After: d.within(2 * p.Client.Rotates), Call: pick(d, CallDo, CallRoundTrip), Action: i})
		}
		steps = append(steps, all)
	}
	p.Lives = []Life{
		{End: pick(d, EndQuiet, EndShutdown), Callers: steps},
		{End: EndQuiet, Callers: steps, Passes: []time.Duration{0, p.Client.Rotates, p.Client.Rotates}},
	}
}

// hint: answers ask for a pause in one header and for another one in Retry-After,
// and say whether to ask again.
func (p *Plan) hint(d dice) {
	p.Client.GateOff = d.chance(0.7)
	p.API.Refusals, p.API.Settle = false, 0 // its refusals do not look at the key
	p.Client.Retry.MaxAttempts, p.Client.Retry.MaxElapsed = 3+d.IntN(3), 10*time.Minute
	answer := func() mockserver.Fault {
		status := pick(d, 400, 408, 409, 422, 425, 429, 500, 503, 503)
		if p.API.Terms.Wait >= oncehttp.HintDuration { // heard on fewer
			status = pick(p.kinds, 425, 429, 503)
		}
		f := p.own(mockserver.Code(status, "not_now"))
		if d.chance(0.3) { // kept under the key, with an effect or without
			f = p.own(mockserver.Code(500, "internal_error"))
			f.Origin, f.Commit = true, d.chance(0.7)
		}
		if d.chance(0.6) {
			f = f.With("Retry-After", strconv.Itoa(1+d.IntN(60)))
		}
		return f
	}
	for range 1 + d.IntN(3) {
		p.keyed(d, answer(), answer(), answer())
	}
	var steps [][]Step
	for i := range p.Actions {
		steps = append(steps, []Step{{Call: CallDo, Action: i}, {After: d.upTo(10 * time.Minute), Call: pick(d, CallDo, CallRoundTrip), Action: i}})
	}
	p.Lives = []Life{{End: EndQuiet, Callers: steps, Passes: []time.Duration{time.Minute, 5 * time.Minute}}}
}

// tell: a time travels with the key.
func (t *Terms) tell(d dice) {
	t.Window, t.Own = oncehttp.WindowFloor, ownHeader
	if t.Until == oncehttp.CarrierNone && !t.Stamped {
		t.Until = pick(d, oncehttp.CarrierHeader, oncehttp.CarrierQuery)
	}
}

// tell: the first attempt tells a time and is refused for the moment, so that the
// API's window begins before the client's.
func (p *Plan) tell(d dice) {
	p.bounded(d)
	p.Client.Retry.MaxAttempts = 1
	for range 1 + d.IntN(3) {
		p.keyed(d, p.own(mockserver.Status(pick(d, 425, 429))), lost(d))
	}
	var first, later [][]Step
	for i := range p.Actions {
		lostAt := d.within(p.usable())
		first = append(first, []Step{{Call: CallDo, Action: i}, {After: lostAt, Call: CallDo, Action: i}})
		later = append(later, one(p.usable()-d.within(lostAt), CallDo, i))
	}
	p.Lives = []Life{{End: EndQuiet, Callers: first}, {End: EndQuiet, Callers: later}}
	if d.chance(0.5) {
		p.Lives[1].Callers = nil
		p.Lives[1].Passes = []time.Duration{d.within(p.usable()), d.within(p.usable() / 4), d.within(p.usable() / 4)}
	}
}
