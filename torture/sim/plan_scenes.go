package sim

import (
	"net/http"
	"strconv"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// A scene is a plan that brings about what chance alone seldom does: where
// several things have to come at the right moment after each other.
type scene string

const (
	sceneNone       scene = ""
	sceneWish       scene = "wish"       // of the host, met by other actions
	sceneWindow     scene = "window"     // lost answers all over it
	sceneLateSave   scene = "late save"  // at its end
	sceneLateDial   scene = "late dial"  // at its end
	scenePerson     scene = "person"     // speaks while an attempt runs
	sceneContradict scene = "contradict" // the API breaks its contract
	sceneCopy       scene = "copy"       // the journal is restored from a backup
	scenePrune      scene = "prune"      // what is old is pruned
	sceneKept       scene = "kept"       // evidence in memory, until Close
	sceneHTTP2      scene = "HTTP/2"     // with its own ways to lose a request
)

var scenes = []scene{sceneWish, sceneWindow, sceneLateSave, sceneLateDial, scenePerson, sceneContradict, sceneCopy, scenePrune, sceneKept, sceneHTTP2}

// newScene plans one of them. All faults are off but those that it needs.
func newScene(seed uint64, d, more dice, terms Terms, theirs, kinds dice) Plan {
	p := Plan{Seed: seed, Scene: pick(d, scenes...), sent: map[int]bool{}, more: more, terms: theirs, kinds: kinds}
	p.API.Terms = terms
	p.planClient(d)
	p.planAPI(d)
	p.API.Work, p.API.Tells = 0, p.API.refuses()
	p.Client.Sealed = d.chance(0.2)
	switch p.Scene {
	case sceneWish:
		p.wish(d)
	case sceneWindow:
		p.window(d)
	case sceneLateSave, sceneLateDial:
		p.late(d)
	case scenePerson:
		p.person(d)
	case sceneContradict:
		p.contradict(d)
	case sceneCopy:
		p.restore(d)
	case scenePrune:
		p.prune(d)
	case sceneKept:
		p.kept(d)
	case sceneHTTP2:
		p.http2(d)
	}
	return p
}

// keyed adds an action that the contract protects.
func (p *Plan) keyed(d dice, faults ...mockserver.Fault) { p.act(d, judge.Keyed, faults...) }

func (p *Plan) act(d dice, protection judge.Protection, faults ...mockserver.Fault) {
	a := Action{Name: "a" + string(rune('a'+len(p.Actions))), Protection: protection, Method: http.MethodPost, Status: pick(d, statuses...), Faults: faults}
	if protection == judge.Idempotent {
		a.Method = http.MethodPut
	}
	a.Body = payload(a.Name)
	for range faults {
		a.Kinds = append(a.Kinds, faultScene)
	}
	p.addTerms(&a)
	p.Actions = append(p.Actions, a)
}

// one is a caller that does one thing at a time of its life.
func one(at time.Duration, call Call, action int) []Step {
	return []Step{{After: at, Call: call, Action: action}}
}

func lost(d dice) mockserver.Fault {
	return mockserver.Fault{Commit: true, See: pick(d, mockserver.SeeReset, mockserver.SeeClose)}
}

// wish: the host asks one action to wait, and others come before that is over,
// in the same process and in the next one.
func (p *Plan) wish(d dice) {
	p.Client.GateOff = false
	p.Client.Retry.MaxElapsed = pick(d, time.Second, 10*time.Second)
	wish := time.Minute + d.within(time.Hour)
	for range 3 {
		p.keyed(d)
	}
	first := &p.Actions[0]
	if d.chance(0.3) {
		p.told(first, p.own(mockserver.Status(503)))
	}
	p.told(first, p.own(mockserver.Status(pick(d, 429, 503))).With("Retry-After", strconv.Itoa(int(wish/time.Second))))
	// By then the client's call is over, and whoever was let go has been sent.
	begin := 15*time.Second + p.Client.Retry.AttemptTimeout
	p.Lives = []Life{
		{End: EndQuiet, Callers: [][]Step{one(0, CallDo, 0), one(begin+d.within(wish), CallDo, 1)}},
		{End: EndQuiet, Asleep: d.upTo(wish / 2), Callers: [][]Step{{
			{Call: CallRead, Action: 0}, {After: d.upTo(time.Minute), Call: pick(d, CallDo, CallRoundTrip), Action: 2},
		}}},
	}
	if d.chance(0.5) {
		p.Lives[0].Callers = p.Lives[0].Callers[:1]
	}
}

// told adds what the server does about the next request of an action.
func (p *Plan) told(a *Action, f mockserver.Fault) {
	a.Faults, a.Kinds = append(a.Faults, f), append(a.Kinds, faultScene)
}

// usable is how long a key may be trusted.
func (p *Plan) usable() time.Duration {
	return max(0, time.Duration(p.Client.Share*float64(p.API.trusted()))-p.Client.Retry.AttemptTimeout)
}

func (p *Plan) bounded(d dice) {
	p.API.Window = pick(d, time.Hour, 24*time.Hour)
	p.API.TTL = p.API.Window
	p.Client.GateOff = true
	p.Client.Retry.AttemptTimeout = pick(d, 5*time.Second, 30*time.Second)
}

// window: answers of one action are lost all over its window, the first of them
// late, and it is asked for again on both sides of the window's end.
func (p *Plan) window(d dice) {
	p.bounded(d)
	p.Client.Retry.MaxAttempts = pick(d, 1, 2)
	late := d.within(p.Client.Retry.AttemptTimeout * 4 / 5)
	first := lost(d)
	first.After = late
	p.keyed(d, first, lost(d), lost(d), lost(d))
	usable := p.usable()
	p.Lives = []Life{{End: EndQuiet, Callers: [][]Step{
		one(0, CallDo, 0), one(d.within(usable), CallDo, 0),
		one(usable-d.within(10*time.Second), CallDo, 0), one(usable+d.within(late)+100*time.Millisecond, CallDo, 0),
		one(usable+d.within(usable), CallDo, 0),
	}}}
	for _, steps := range p.Lives[0].Callers[1:] {
		steps[0].Respelled = d.chance(0.5)
	}
	if d.chance(0.2) {
		p.Lives[0].Callers[0][0].Born = d.within(usable * 6 / 5)
	}
	if d.chance(0.5) { // what is left of it comes after a restart
		steps := p.Lives[0].Callers
		split := 1 + d.IntN(len(steps)-1)
		after := steps[split-1][0].After
		p.Lives[0].Callers = steps[:split]
		p.Lives = append(p.Lives, Life{End: EndQuiet, Callers: steps[split:], Longer: d.chance(0.5)})
		for _, s := range steps[split:] {
			s[0].After = max(0, s[0].After-after)
		}
	}
}

// late: a save or a connection that begins inside the window comes after it.
func (p *Plan) late(d dice) {
	p.bounded(d)
	p.Client.Retry.MaxAttempts = 1
	p.keyed(d, lost(d))
	before := time.Second + d.within(2*time.Second)
	slow := map[int]time.Duration{2: before + d.within(time.Second)}
	l := Life{End: EndQuiet, Callers: [][]Step{one(0, CallDo, 0), one(p.usable()-before, CallDo, 0)}}
	if p.Scene == sceneLateDial {
		l.Dials = slow
	} else {
		l.Saves = map[int]time.Duration{3: slow[2]} // of the second attempt's start
	}
	p.Lives = []Life{l}
}

// person: somebody says what became of an action while an attempt of it runs.
func (p *Plan) person(d dice) {
	p.Client.Retry.AttemptTimeout = 30 * time.Second
	f := mockserver.Fault{Before: time.Second + d.within(10*time.Second)}
	p.API.Arrives = max(p.API.Arrives, f.Before)
	if d.chance(0.3) {
		f = mockserver.Fault{After: f.Before}
	}
	p.keyed(d, f)
	if d.chance(0.3) {
		p.Actions[0].Status = 402
	}
	word := Step{After: d.within(f.Before + f.After), Call: CallResolve, Says: pick(d, oncehttp.Rejected, oncehttp.Rejected, oncehttp.Confirmed), Force: d.chance(0.7)}
	over := 12 * time.Second
	p.Lives = []Life{{End: pick(d, EndQuiet, EndShutdown), Callers: [][]Step{
		{{Call: pick(d, CallDo, CallRoundTrip, CallBeginDo)}}, {word},
		{{After: over, Call: CallRead}, {Call: CallPending}, {Call: CallDo}},
	}}}
	if d.chance(0.3) {
		again := word
		again.After, again.Says = over, pick(d, oncehttp.Rejected, oncehttp.Confirmed)
		p.Lives[0].Callers[1] = append(p.Lives[0].Callers[1], again)
	}
	if d.chance(0.2) {
		p.Lives[0].End, p.Lives[0].At = EndCrash, d.within(over)
	}
	if d.chance(0.3) {
		p.Lives[0].Journal = map[int]JournalFault{2 + d.IntN(3): JournalFull}
	}
}

// contradict: the API says that an attempt runs, and then takes the next one for
// a new one. Another action meets what the client makes of that.
func (p *Plan) contradict(d dice) {
	p.API.NoReplay, p.API.Refusals, p.API.Settle = false, false, 0
	p.Client.GateOff = true
	p.Client.Retry.MaxElapsed, p.Client.Retry.MaxAttempts = 10*time.Minute, 4+d.IntN(3)
	running := p.own(mockserver.Code(409, "idempotency_in_progress")).With("Retry-After", "1")
	p.keyed(d, lost(d), running, mockserver.Fault{Forget: true})
	p.Actions[0].Status = pick(d, 200, 201)
	p.keyed(d, lost(d), lost(d))
	p.Lives = []Life{{End: EndQuiet, Callers: [][]Step{
		one(0, CallDo, 0), one(10*time.Minute+d.upTo(time.Minute), CallDo, 1), one(10*time.Minute+d.within(2*time.Minute), CallDo, 1),
	}}}
}

// restore: a process opens a copy of the journal, and then perhaps one that says
// that the original is gone.
func (p *Plan) restore(d dice) {
	p.Client.Retry.MaxElapsed = time.Second
	p.keyed(d, lost(d), lost(d), lost(d))
	p.keyed(d, p.own(mockserver.Status(503)), p.own(mockserver.Status(429)).With("Retry-After", "60"))
	p.keyed(d)
	p.keyed(d)
	p.act(d, pick(d, judge.Idempotent, judge.Unprotected))
	p.Lives = []Life{
		{End: EndQuiet, Callers: [][]Step{one(0, CallDo, 0), one(0, CallDo, 1), one(time.Second, CallBegin, 2), one(time.Second, CallBegin, 4)}},
		{End: pick(d, EndQuiet, EndShutdown), Copied: true, Asleep: d.upTo(time.Minute), Passes: []time.Duration{0, d.upTo(2 * time.Minute)},
			Callers: [][]Step{one(0, CallDo, 0), one(d.within(2*time.Minute), CallDo, 1), one(0, CallBeginDo, 2), one(0, CallDo, 3), one(0, CallRead, 4)}},
		{End: EndQuiet, Callers: [][]Step{one(0, CallDo, 0), one(0, CallDo, 2), one(0, CallDo, 4)}},
	}
}

// prune: what is settled is pruned after some days, and then asked for again.
func (p *Plan) prune(d dice) {
	p.Client.Retry.MaxAttempts = 1
	p.keyed(d)
	p.keyed(d)
	p.Actions[1].Status = 402
	p.keyed(d, lost(d))
	p.act(d, judge.Unprotected, lost(d))
	p.keyed(d, mockserver.Fault{Before: 5 * time.Second})
	all := func(call Call) (callers [][]Step) {
		for i := range p.Actions {
			callers = append(callers, one(0, call, i))
		}
		return callers
	}
	p.Lives = []Life{
		{End: EndQuiet, Callers: append(all(CallDo), []Step{{After: time.Second, Call: CallResolve, Action: 4, Says: oncehttp.Rejected, Force: true}})},
		{End: EndQuiet, Asleep: pick(d, 25*time.Hour, 72*time.Hour), Callers: append(all(pick(d, CallRead, CallDo)), one(0, CallPrune, 0))},
		{End: EndQuiet, Callers: all(pick(d, CallRead, CallDo, CallRoundTrip))},
	}
}

// kept: the journal does not take an answer, and the process ends.
func (p *Plan) kept(d dice) {
	p.act(d, pick(d, judge.Keyed, judge.Idempotent, judge.Unprotected))
	p.Lives = []Life{{End: pick(d, EndQuiet, EndShutdown), Journal: map[int]JournalFault{2: JournalFull},
		Callers: [][]Step{one(0, pick(d, CallDo, CallRoundTrip), 0)}}}
}

// http2: requests are refused, streams reset, connections told to go away; at
// times while others are under way.
func (p *Plan) http2(d dice) {
	p.API.HTTP2 = true
	p.API.Work = d.upTo(p.Client.Retry.AttemptTimeout / 2)
	var steps [][]Step
	for i := range 1 + d.IntN(3) {
		var faults []mockserver.Fault
		for range d.IntN(4) {
			faults = append(faults, pick(d,
				mockserver.Fault{See: mockserver.SeeGoAway}, mockserver.Fault{See: mockserver.SeeRefused},
				mockserver.Fault{See: mockserver.SeeGoAway}, mockserver.Fault{See: mockserver.SeeRefused},
				lost(d), mockserver.Fault{See: mockserver.SeeReset}, p.own(mockserver.Status(503)),
				mockserver.Fault{After: d.upTo(2 * p.Client.Retry.AttemptTimeout)}))
		}
		p.act(d, pick(d, judge.Keyed, judge.Keyed, judge.Idempotent, judge.Unprotected), faults...)
		at := d.upTo(time.Minute) // or over the connection that is there by then
		steps = append(steps, one(at, pick(d, CallDo, CallRoundTrip), i), one(at+d.upTo(time.Minute), CallDo, i))
	}
	p.Lives = []Life{{End: pick(d, EndQuiet, EndClose), At: time.Minute, Callers: steps, Passes: []time.Duration{time.Minute}}}
	if p.Lives[0].End == EndQuiet {
		p.Lives[0].At = 0
	}
}
