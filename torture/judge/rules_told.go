package judge

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/oncehttp/oncehttp"
)

// toldRules look at what one call told.
var toldRules = []Rule{
	{"no error means settled", 13, lies, func(v *view, bad report) {
		for _, o := range v.ops {
			if o.Kind == OpDo && o.Return != 0 && o.Err == nil && (o.Outcome == nil || o.Outcome.State == oncehttp.Pending) {
				bad("Do at %d told no error, and %v", o.Return, o.Outcome)
			}
		}
	}},
	{"PendingError means Pending", 13, lies, func(v *view, bad report) {
		for _, o := range v.ops {
			var pending *oncehttp.PendingError
			if o.Return != 0 && errors.As(o.Err, &pending) && (o.Outcome == nil || o.Outcome.State != oncehttp.Pending) {
				bad("%s at %d told a PendingError, and %v", o.Kind, o.Return, o.Outcome)
			}
		}
	}},
	{"another error means that nothing was sent", 13, lies, func(v *view, bad report) {
		for _, o := range v.ops {
			var pending *oncehttp.PendingError
			if o.Kind != OpDo || o.Return == 0 || o.Err == nil || errors.As(o.Err, &pending) || !v.alone(o) {
				continue
			}
			for _, s := range v.sends {
				if s.Life == o.Life && s.Seq > o.Call && s.Seq < o.Return && v.savedBetween(o.Call, s.Seq) > 0 {
					bad("Do at %d told %q: it had sent at %d", o.Return, o.Err, s.Seq)
					return
				}
			}
		}
	}},
	{"what was told not to be sent is not begun afterwards", 13, lies, func(v *view, bad report) {
		payload := cmp.Or(v.Payload, v.BodySHA256)
		if payload == "" || len(v.saves) == 0 {
			return
		}
		var gone *Op
		for _, o := range v.ops {
			if o.Kind != OpDo && o.Kind != OpBegin || o.Action != v.Name || o.Payload != payload || o.Call > v.saves[0].Seq {
				continue
			}
			if !o.over(v.saves[0].Seq) || o.Outcome != nil {
				return // it may have begun it
			}
			gone = o
		}
		if gone != nil {
			bad("%s at %d told %q, and by then nothing was saved; its request was recorded at %d all the same", gone.Kind, gone.Return, gone.Err, v.saves[0].Seq)
		}
	}},
	{"another payload is a mismatch", 2, lies, func(v *view, bad report) {
		payload := cmp.Or(v.Payload, v.BodySHA256)
		if payload == "" {
			return
		}
		for _, o := range v.ops {
			if o.Kind != OpDo && o.Kind != OpBegin || o.Return == 0 || o.Payload == "" || o.Action != v.Name {
				continue
			}
			var pending *oncehttp.PendingError
			if o.Outcome != nil && o.Outcome.Reason == oncehttp.NotRecorded {
				continue // it may be that this one was never recorded
			}
			same, mismatch := o.Payload == payload, errors.Is(o.Err, oncehttp.ErrMismatch)
			taken := o.Outcome != nil && (o.Err == nil || errors.As(o.Err, &pending))
			if same && mismatch || !same && taken && !o.Outcome.Reworded {
				bad("%s at %d with the payload %.12s, where the first was %.12s, told %v, error %v", o.Kind, o.Return, o.Payload, payload, o.Outcome, o.Err)
				return
			}
		}
	}},
	{"an outcome is told once it is saved", 6, lies, func(v *view, bad report) {
		for _, o := range v.told {
			if o.Outcome.State == oncehttp.Pending || o.Kind != OpDo && o.Kind != OpResume || v.resolved(o.Return, anyWord) || v.unrecorded(o.Life) {
				continue
			}
			var last *Send
			done := false // a send that follows a success asks for its body only
			for _, s := range v.sends {
				if s.Seq < o.Return {
					done = done || last != nil && last.Status/100 == 2
					last = s
				}
			}
			if last == nil || last.Life != o.Life || done || last.Ended == 0 || last.Ended > o.Return {
				continue
			}
			if v.savedBetween(last.Ended, o.Return) == 0 {
				bad("%s at %d told %s: nothing was saved since the answer at %d", o.Kind, o.Return, o.Outcome.State, last.Ended)
				return
			}
		}
	}},
	{"an outcome makes sense", 5, lies, func(v *view, bad report) {
		for _, o := range v.told {
			if why := nonsense(o.Outcome); why != "" {
				bad("%s at %d told %v: %s", o.Kind, o.Return, o.Outcome, why)
				return
			}
		}
	}},
	{"no text says failed of what is not known", 5, lies, func(v *view, bad report) {
		for _, o := range v.told {
			if o.Outcome.State != oncehttp.Pending {
				continue
			}
			first, _, _ := strings.Cut(o.Outcome.Explain(), "\n")
			var pending *oncehttp.PendingError
			if errors.As(o.Err, &pending) {
				first += "\n" + pending.Error()
			}
			if strings.Contains(strings.ToLower(first), "failed") {
				bad("%s at %d told %q", o.Kind, o.Return, first)
				return
			}
		}
	}},
	{"no text tells a secret", 11, lies, func(v *view, bad report) {
		for _, o := range v.ops {
			if o.Return == 0 || o.Outcome == nil && o.Err == nil {
				continue
			}
			var text string
			secrets := v.run.Secrets
			if o.Err != nil {
				text = o.Err.Error() + "\n"
			}
			if o.Outcome != nil {
				text += o.Outcome.Explain() + "\n" + o.Outcome.String()
				if len(o.Outcome.Key) >= shortKey {
					secrets = append(slices.Clip(secrets), o.Outcome.Key)
				}
			}
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					bad("%s at %d told %q in %q", o.Kind, o.Return, secret, text)
					return
				}
			}
		}
	}},
}

// shortKey is the length of the keys that are looked for in texts: a shorter one
// may be a word.
const shortKey = 12

// alone: no other call of the same life may have driven the action meanwhile.
func (v *view) alone(o *Op) bool {
	others := func(other *Op) bool {
		return other != o && other.Life == o.Life && other.Kind != OpRead && other.Kind != OpPending && other.Kind != OpResolve &&
			other.Call < o.Return && !other.over(o.Call)
	}
	return !slices.ContainsFunc(v.ops, others) && !slices.ContainsFunc(v.runs, func(r *Op) bool { return r.Kind == OpRun && others(r) })
}

// unrecorded: in that life there was a write that nobody knows the fate of.
func (v *view) unrecorded(life int) bool {
	return slices.ContainsFunc(v.told, func(o *Op) bool { return o.Life == life && o.Outcome.Reason == oncehttp.NotRecorded })
}

// nonsense says what contradicts itself in an outcome.
func nonsense(o *oncehttp.Outcome) string {
	switch {
	case o.MayHaveExecuted && o.State != oncehttp.Pending:
		return "MayHaveExecuted, and not Pending"
	case o.MayHaveExecuted && o.Reason == oncehttp.NotSent:
		return "MayHaveExecuted, and NotSent"
	case o.State == oncehttp.Confirmed && o.Reason != "" && o.Reason != oncehttp.Conflict:
		return "Confirmed, with a reason"
	case o.State != oncehttp.Confirmed && o.Reason == "":
		return "no reason"
	case o.State == oncehttp.Pending && o.Reason == oncehttp.Conflict:
		return "a conflict, and Pending"
	case o.State != oncehttp.Pending && !o.RetryAt.IsZero():
		return "settled, and to be sent again"
	}
	return ""
}
