package judge

import (
	"slices"

	"github.com/oncehttp/oncehttp"
)

// effectRules compare what was told with the server's ledger of effects.
var effectRules = []Rule{
	{"a keyed action has at most one effect", 16, duplicates, func(v *view, bad report) {
		if v.Protection != Keyed || !v.Honest {
			return
		}
		for i, e := range v.effects {
			if i > 0 && (!v.Spoofed || v.Window == 0 || e.Time.Sub(v.effects[0].Time) < v.Window) {
				bad("effect %d of %d began at %d under key %q; the first at %d under %q", i+1, len(v.effects), e.Call, e.Key, v.effects[0].Call, v.effects[0].Key)
			}
		}
	}},
	{"an unprotected action has at most one effect", 16, duplicates, func(v *view, bad report) {
		if v.Protection == Unprotected && !v.Spoofed && len(v.effects) > 1 {
			bad("%d effects, the first began at %d, the second at %d", len(v.effects), v.effects[0].Call, v.effects[1].Call)
		}
	}},
	{"a second effect that the answers betray is told", 5, lies, func(v *view, bad report) {
		if !v.Marked || len(v.effects) < 2 {
			return
		}
		for _, o := range v.told {
			if r := o.Outcome.Response; o.Outcome.State == oncehttp.Confirmed && r != nil && !r.Replayed && !o.Outcome.MayHaveRepeated && v.freshAfterProgress(r.StatusCode, o.Return) != nil {
				bad("%s at %d: an attempt was still under way, then the same key gave a fresh %d; there were %d effects, and MayHaveRepeated is not set", o.Kind, o.Return, r.StatusCode, len(v.effects))
				return
			}
		}
	}},
	{"Confirmed has an effect", 3, lies, func(v *view, bad report) {
		if v.Spoofed || v.gone() {
			return
		}
		for _, o := range v.told {
			if o.Outcome.State == oncehttp.Confirmed && !v.effectBefore(o.Return) && !v.resolved(o.Return, saysConfirmed) {
				bad("%s at %d told Confirmed: no effect had begun", o.Kind, o.Return)
				return
			}
		}
	}},
	{"Rejected has no effect, then or later", 4, lies, func(v *view, bad report) {
		if v.Spoofed {
			return
		}
		for _, o := range v.told {
			if o.Outcome.State != oncehttp.Rejected || v.resolved(o.Return, saysRejected) {
				continue
			}
			for _, e := range v.effects {
				if o.Outcome.Reason == oncehttp.Unauthorized && e.Call >= o.Call && v.begunAgain(e.Call) {
					continue
				}
				bad("%s at %d told Rejected (%s): an effect began at %d", o.Kind, o.Return, o.Outcome.Reason, e.Call)
				return
			}
		}
	}},
	{"what is told not to have executed has not", 5, lies, func(v *view, bad report) {
		if v.Spoofed {
			return
		}
		for _, o := range v.told {
			if o.Outcome.State != oncehttp.Pending || o.Outcome.MayHaveExecuted {
				continue
			}
			next := v.firstUncovered(o)
			for _, e := range v.effects {
				if e.Call < o.Call || next == nil || e.Call < next.Seq {
					bad("%s at %d told Pending (%s) that cannot have executed, after %d attempts: an effect began at %d", o.Kind, o.Return, o.Outcome.Reason, o.Outcome.Attempts, e.Call)
					return
				}
			}
		}
	}},
	{"NotSent is not said of what was answered last", 5, lies, func(v *view, bad report) {
		if v.Lookups || slices.ContainsFunc(v.sends, unauthorized) {
			return // begun anew, and what was sent before is known to have done nothing
		}
		for _, o := range v.told {
			if o.Outcome.State != oncehttp.Pending || o.Outcome.Reason != oncehttp.NotSent {
				continue
			}
			next := v.firstUncovered(o)
			var last *Send
			for _, s := range v.sends {
				// One without an answer in the call is spoken of, whatever the count says.
				if next == nil || s.Seq < next.Seq || s.Status == 0 && s.Seq > o.Call && s.Ended != 0 && s.Ended < o.Return {
					last = s
				}
			}
			if last != nil && last.Status != 0 {
				bad("%s at %d told NotSent: the send at %d was answered %d", o.Kind, o.Return, last.Seq, last.Status)
				return
			}
		}
	}},
	{"what may still arrive is not declared Rejected", 4, lies, func(v *view, bad report) {
		for _, o := range v.ops {
			if o.Kind != OpResolve || o.Return == 0 || o.Err != nil || o.Resolved.Force || o.Resolved.State != oncehttp.Rejected {
				continue
			}
			for _, s := range v.sends {
				if s.Life == o.Life && s.Seq < o.Call && (s.Ended == 0 || s.Ended > o.Return) {
					bad("Resolve at %d declared Rejected without Force: the send at %d was under way", o.Return, s.Seq)
					return
				}
			}
		}
	}},
}

func saysConfirmed(o *Op) bool { return o.Resolved.State == oncehttp.Confirmed }
func saysRejected(o *Op) bool  { return o.Resolved.State == oncehttp.Rejected }

func unauthorized(s *Send) bool { return s.Status == 401 || s.Status == 403 || s.Status == 407 }

// gone: the thing to delete is not there, which counts as done even if somebody
// else did it.
func (v *view) gone() bool {
	return v.Method == "DELETE" && slices.ContainsFunc(v.sends, func(s *Send) bool { return s.Status == 410 })
}

func (v *view) effectBefore(seq int64) bool { return len(v.effects) > 0 && v.effects[0].Call < seq }

// begunAgain: by then the action was sent after an answer that asked for other
// credentials.
func (v *view) begunAgain(by int64) bool {
	refused := int64(0)
	for _, s := range v.sends {
		if refused != 0 && s.Seq > refused && s.Seq < by {
			return true
		}
		if refused == 0 && s.Ended != 0 && unauthorized(s) {
			refused = s.Ended
		}
	}
	return false
}

// freshAfterProgress is the send that by then was answered with status right after
// one, in the same life, that was told that an earlier attempt still runs. Nil: none.
func (v *view) freshAfterProgress(status int, by int64) *Send {
	for i := 1; i < len(v.sends); i++ {
		last, s := v.sends[i-1], v.sends[i]
		if s.Life == last.Life && last.Status == 409 && last.RetryAfter != "" && !last.Foreign && s.Status == status && status/100 == 2 && s.Ended < by {
			return s
		}
	}
	return nil
}

// firstUncovered is the first send that an outcome says nothing of: it began
// after the call, and the count of attempts does not include it. Attempts that
// are on record and were not sent make the count say less. Nil: it speaks of all.
func (v *view) firstUncovered(o *Op) *Send {
	most := 0
	for _, other := range v.told {
		most = max(most, other.Outcome.Attempts)
	}
	unsent := max(0, most-len(v.sends))
	for i, s := range v.sends {
		if s.Seq > o.Call && i >= o.Outcome.Attempts-unsent {
			return s
		}
	}
	return nil
}
