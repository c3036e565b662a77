package judge

import (
	"errors"
	"slices"

	"github.com/oncehttp/oncehttp"
)

// orderRules compare what was told with what was told before.
var orderRules = []Rule{
	{"what is settled stays so", 7, lies, func(v *view, bad report) {
		for i, a := range v.told {
			if a.Outcome.State == oncehttp.Pending {
				continue
			}
			for _, b := range v.told[i+1:] {
				if !before(a, b) || a.Outcome.State == b.Outcome.State || v.reworded(a, b) || v.mayBeginAgain(a, b) {
					continue
				}
				bad("%s at %d told %s (%s); %s at %d told %s (%s)", a.Kind, a.Return, a.Outcome.State, a.Outcome.Reason, b.Kind, b.Return, b.Outcome.State, b.Outcome.Reason)
				return
			}
		}
	}},
	{"what a person said stays so", 7, lies, func(v *view, bad report) {
		for _, a := range v.ops {
			if a.Kind != OpResolve || a.Err != nil || a.Return == 0 {
				continue
			}
			for _, b := range v.told {
				if before(a, b) && b.Outcome.State != a.Resolved.State && !v.reworded(a, b) {
					bad("Resolve at %d said %s; %s at %d told %s (%s)", a.Return, a.Resolved.State, b.Kind, b.Return, b.Outcome.State, b.Outcome.Reason)
					return
				}
			}
		}
	}},
	{"what may have executed is not forgotten", 5, lies, func(v *view, bad report) {
		if v.Lookups {
			return
		}
		for i, a := range v.told {
			// What is not recorded yet may be proof that there was no effect.
			if !v.final(a) || !a.Outcome.MayHaveExecuted || a.Outcome.Reason == oncehttp.NotRecorded {
				continue
			}
			for _, b := range v.told[i+1:] {
				if before(a, b) && b.Outcome.State == oncehttp.Pending && !b.Outcome.MayHaveExecuted {
					bad("%s at %d told that it may have executed (%s); %s at %d that it has not (%s)", a.Kind, a.Return, a.Outcome.Reason, b.Kind, b.Return, b.Outcome.Reason)
					return
				}
			}
		}
	}},
	{"a success that was answered is on record once its process has closed", 13, lost, func(v *view, bad report) {
		for _, s := range v.sends {
			if s.Status/100 != 2 || s.Ended == 0 || s.Foreign || s.Life >= len(v.run.Lives) || !v.run.Lives[s.Life].Clean || s.Ended > v.run.Lives[s.Life].Ended {
				continue
			}
			word := func(o *Op) bool { return o.Kind == OpResolve && !o.over(s.Ended) }
			for _, o := range v.told {
				if o.Life > s.Life && o.Outcome.State != oncehttp.Confirmed && o.Outcome.Reason != oncehttp.Conflict && !slices.ContainsFunc(v.ops, word) {
					bad("the send at %d was answered %d; %s at %d, in a later life, told %s (%s)", s.Seq, s.Status, o.Kind, o.Return, o.Outcome.State, o.Outcome.Reason)
					return
				}
			}
		}
	}},
	{"attempts do not become fewer", 14, lies, func(v *view, bad report) {
		for i, a := range v.told {
			if !v.final(a) {
				continue
			}
			for _, b := range v.told[i+1:] {
				if before(a, b) && b.Outcome.Attempts < a.Outcome.Attempts {
					bad("%s at %d told %d attempts, %s at %d told %d", a.Kind, a.Return, a.Outcome.Attempts, b.Kind, b.Return, b.Outcome.Attempts)
					return
				}
			}
		}
	}},
	{"what is acknowledged is found", 12, lost, func(v *view, bad report) {
		known := v.acknowledged()
		for _, o := range v.ops {
			if o.Kind == OpRead && o.Return != 0 && known != 0 && known < o.Call && errors.Is(o.Err, oncehttp.ErrNotFound) {
				bad("acknowledged at %d, and not found by the read at %d", known, o.Return)
				return
			}
		}
	}},
	{"what is unresolved is listed", 12, lost, func(v *view, bad report) {
		var pass *Op
		for i := range v.run.Ops {
			if o := &v.run.Ops[i]; o.Kind == OpPending && o.Return != 0 && o.Err == nil && (pass == nil || o.Call > pass.Call) {
				pass = o
			}
		}
		if pass == nil || slices.Contains(pass.Listed, v.Name) {
			return
		}
		for _, o := range v.told {
			from, to := min(o.Call, pass.Call), max(o.Return, pass.Return)
			if o.Kind == OpRead && o.Life == pass.Life && o.Err == nil && v.savedBetween(from, to) == 0 && v.acknowledged() < from &&
				(o.Outcome.State == oncehttp.Pending || o.Outcome.Reason == oncehttp.Conflict) {
				bad("the read at %d told %s (%s); the pass at %d does not list it", o.Return, o.Outcome.State, o.Outcome.Reason, pass.Return)
				return
			}
		}
	}},
}

// reworded: a person may have changed the state between two tellings.
func (v *view) reworded(a, b *Op) bool {
	return v.resolved(b.Return, func(o *Op) bool { return o != a && !before(o, a) && o.Resolved.State == b.Outcome.State })
}

// mayBeginAgain: a refusal for the moment, and a Do after it.
func (v *view) mayBeginAgain(a, b *Op) bool {
	return a.Outcome.State == oncehttp.Rejected && a.Outcome.Reason == oncehttp.Unauthorized && v.asksAgain(a, b.Return)
}

// final: told at the end of a call that drove the action or waited for it, when
// no attempt was under way. A read beside an attempt may be of its time only.
func (v *view) final(o *Op) bool {
	var pending *oncehttp.PendingError
	return (o.Kind == OpDo || o.Kind == OpResume) && !o.Outcome.InFlight && (o.Err == nil || errors.As(o.Err, &pending))
}

// acknowledged is the first number by which somebody knew that the action is on
// record; 0: nobody did.
func (v *view) acknowledged() int64 {
	known := int64(0)
	if len(v.saves) > 0 {
		known = v.saves[0].Seq
	}
	for _, o := range v.told {
		if o.Outcome.Reason != oncehttp.NotRecorded && (known == 0 || o.Return < known) {
			known = o.Return
		}
	}
	return known
}
