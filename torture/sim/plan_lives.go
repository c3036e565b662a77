package sim

import (
	"time"

	"github.com/oncehttp/oncehttp/torture/judge"
)

// newLife plans one process: its callers, what else runs in it, and its end.
func (p *Plan) newLife(d dice, callers int) (l Life) {
	l.Asleep = d.upTo(10 * time.Second)
	if p.On.has(faultLong) && d.chance(0.5) {
		l.Asleep = pick(d, time.Minute, time.Hour, 25*time.Hour, 72*time.Hour)
	}
	l.Run = d.chance(0.25)
	l.NoContract = p.On.has(faultNoContract) && d.chance(0.3)
	for range callers {
		var steps []Step
		for range 1 + d.IntN(3) {
			s := p.newStep(d)
			if p.On.has(faultLong) && !l.Run && d.chance(0.1) { // Run makes a pass every few seconds
				s.After = pick(d, time.Hour, 25*time.Hour)
			}
			if l.NoContract && s.Call != CallPending && s.Call != CallResolve {
				s.Call = CallRead
			}
			steps = append(steps, s)
		}
		l.Callers = append(l.Callers, steps)
	}
	if !l.Run && d.chance(0.6) {
		for range 1 + d.IntN(3) {
			l.Passes = append(l.Passes, d.upTo(time.Hour))
		}
		l.Break = d.chance(0.2)
	}
	if p.On.has(faultRestart) || p.On.has(faultDials) {
		for range d.IntN(3) {
			l.Outages = append(l.Outages, p.newOutage(d))
		}
	}
	if p.On.has(faultClock) && d.chance(0.4) {
		l.Ahead = pick(d, time.Hour, 5*time.Hour)
	}
	l.Journal = map[int]JournalFault{}
	if p.On.has(faultFull) {
		for range d.IntN(3) {
			l.Journal[1+d.IntN(15)] = JournalFull
		}
	}
	if p.On.has(faultUnknown) && d.chance(0.3) {
		l.Journal[1+d.IntN(15)] = pick(d, JournalLost, JournalKept)
	}
	l.End = pick(d, EndShutdown, EndQuiet)
	switch {
	case p.On.has(faultCrash) && d.chance(0.3):
		l.End, l.At = EndCrash, d.upTo(2*time.Minute)
	case p.On.has(faultCrashWrite) && d.chance(0.5):
		l.End = EndCrash
		l.Journal[1+d.IntN(12)] = pick(d, JournalCrashBefore, JournalCrashAfter)
	case p.On.has(faultClose) && d.chance(0.4):
		l.End, l.At = EndClose, d.upTo(2*time.Minute)
	}
	return l
}

func (p *Plan) newStep(d dice) Step {
	s := Step{After: d.upTo(time.Minute), Action: d.IntN(len(p.Actions))}
	a := p.Actions[s.Action]
	s.Call = pick(d, CallDo, CallDo, CallDo, CallDo, CallBegin, CallBeginDo, CallRoundTrip, CallClient, CallRead, CallPending)
	if p.On.has(faultPerson) && d.chance(0.2) {
		s.Call = CallResolve
		s.Force = p.On.has(faultForce) && d.chance(0.5)
		return s
	}
	if a.Anonymous && s.Call != CallRead && s.Call != CallPending {
		s.Call = pick(d, CallRoundTrip, CallClient)
		if a.Adopted == "" && p.sent[s.Action] {
			s.Call = CallRead // a second call would be another action
		}
		p.sent[s.Action] = true
	}
	if s.Call == CallClient || p.On.has(faultPatience) && d.chance(0.3) {
		s.Patience = d.upTo(time.Minute)
	}
	if p.On.has(faultReworded) && a.Body != "" && !a.Anonymous && d.chance(0.2) {
		s.Reworded, s.KeepFirst = true, d.chance(0.4)
	}
	if a.Body != "" && !a.Anonymous && !s.Reworded {
		s.Respelled = p.more.chance(0.4)
	}
	if p.On.has(faultBorn) && a.Protection == judge.Keyed && d.chance(0.3) {
		s.Born = d.upTo(2 * max(p.API.Window, time.Hour))
	}
	return s
}

func (p *Plan) newOutage(d dice) Outage {
	o := Outage{After: d.upTo(time.Minute)}
	o.Crash = p.On.has(faultRestart) && d.chance(0.6)
	if p.On.has(faultDials) {
		if d.chance(0.5) {
			o.Refuse = 1 + d.IntN(5)
		} else {
			o.RefuseFor = d.upTo(10 * time.Minute)
		}
	}
	return o
}
