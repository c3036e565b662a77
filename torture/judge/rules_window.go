package judge

import (
	"net/http"
	"slices"
	"time"

	"github.com/oncehttp/oncehttp"
)

// windowRules look at how far a key is relied on: how long, and in which processes.
var windowRules = []Rule{
	{"what may have executed is sent again only inside the window", 8, lies, func(v *view, bad report) {
		if v.Protection != Keyed || v.Window == 0 || v.exposing == len(v.sends) {
			return
		}
		since := v.sends[v.exposing]
		usable := v.usable()
		for _, s := range v.sends[v.exposing+1:] {
			if age := s.Time.Sub(since.Time); age > usable+slack {
				bad("the send at %d came %v after the one at %d, which may have taken effect; the key was safe for %v", s.Seq, age, since.Seq, usable)
				return
			}
		}
	}},
	{"what was begun elsewhere is sent only inside the window from then on", 8, lies, func(v *view, bad report) {
		born := v.born()
		if v.Protection != Keyed || v.Window == 0 || born.IsZero() {
			return
		}
		for _, s := range v.sends {
			if age := s.Time.Sub(born); age > v.usable()+slack {
				bad("the send at %d came %v after the action was born; the key was safe for %v", s.Seq, age, v.usable())
				return
			}
		}
	}},
	{"what may have executed reaches nobody after the window", 8, lies, func(v *view, bad report) {
		if v.Protection != Keyed || v.Window == 0 || v.exposing == len(v.sends) {
			return
		}
		since := v.sends[v.exposing]
		end := since.Time.Add(v.usable() + slack)
		if v.sends[len(v.sends)-1].Time.After(end) {
			return // sent too late
		}
		for _, q := range v.requests {
			if age := q.Time.Sub(since.Time); q.Time.After(end) {
				bad("request %d came %v after the send at %d, which may have taken effect; the key was safe for %v", q.N, age, since.Seq, v.usable())
				return
			}
		}
	}},
	{"what may have executed is not sent while the clock is behind", 8, lies, func(v *view, bad report) {
		for i := v.exposing + 1; i < len(v.sends); i++ {
			if s := v.sends[i]; s.Life < len(v.run.Lives) && s.Time.Before(v.run.Lives[s.Life].Behind) {
				bad("the send at %d came at %s; the journal was last written at %s", s.Seq, s.Time.Format(time.RFC3339Nano), v.run.Lives[s.Life].Behind.Format(time.RFC3339Nano))
				return
			}
		}
	}},
	{"what may have executed is not sent without a contract of today", 9, lies, func(v *view, bad report) {
		for i := v.exposing + 1; i < len(v.sends); i++ {
			if s := v.sends[i]; v.Protection == Keyed && s.Life < len(v.run.Lives) && v.run.Lives[s.Life].NoContract {
				bad("the send at %d may have taken effect; it was sent again at %d, in a life without contracts", v.sends[v.exposing].Seq, s.Seq)
				return
			}
		}
	}},
	{"a copied journal sends nothing until it is adopted", 8, lies, func(v *view, bad report) {
		for _, s := range v.sends {
			if s.Life < len(v.run.Lives) && v.run.Lives[s.Life].Copied {
				bad("the send at %d, from a copy", s.Seq)
				return
			}
		}
	}},
	{"what was unresolved in a copy is not sent again without a contract", 9, lies, func(v *view, bad report) {
		if v.Protection == Keyed || v.Lookups {
			return
		}
		for _, o := range v.told {
			if o.Life >= len(v.run.Lives) || !v.run.Lives[o.Life].Copied || o.Outcome.State != oncehttp.Pending {
				continue
			}
			for _, s := range v.sends {
				if s.Life > o.Life {
					bad("%s at %d, from a copy, told Pending: the original may have sent it; it was sent again at %d", o.Kind, o.Return, s.Seq)
					return
				}
			}
		}
	}},
	{"a contract that was contradicted is not relied on", 8, lies, func(v *view, bad report) {
		if v.Protection != Keyed {
			return
		}
		for _, s := range v.sends[min(len(v.sends), v.exposing+1):] {
			if (v.Method == http.MethodPut || v.Method == http.MethodDelete) && s.Life == v.sends[v.exposing].Life {
				continue // by its method
			}
			for _, other := range v.all {
				if at := other.contradicted(s.Life); other.Protection == Keyed && at != 0 && v.begunSince(at, s) {
					bad("the answer at %d to a send of %s contradicted the contract; the send at %d relied on it", at, other.Name, s.Seq)
					return
				}
			}
		}
	}},
}

// usable is how long the key may be trusted.
func (v *view) usable() time.Duration {
	return max(0, time.Duration(v.Share*float64(v.Window))-v.AttemptTimeout)
}

// born is when the action was begun elsewhere, at the latest: whoever may have put
// it on record said so. Zero: it may have been begun here.
func (v *view) born() (latest time.Time) {
	for _, o := range v.ops {
		if o.Kind != OpDo && o.Kind != OpBegin || len(v.saves) > 0 && o.Call > v.saves[0].Seq {
			continue
		}
		if o.Born.IsZero() || o.Action != v.Name {
			return time.Time{}
		}
		if o.Born.After(latest) {
			latest = o.Born
		}
	}
	return latest
}

// contradicted is when a client of that life was answered as its contract rules
// out: a fresh success for a key that was said to be in use. 0: never.
func (v *view) contradicted(life int) int64 {
	if !v.Marked {
		return 0
	}
	for _, o := range v.told {
		if !o.Outcome.MayHaveRepeated || o.Outcome.Response == nil || o.Life != life {
			continue
		}
		if s := v.freshAfterProgress(o.Outcome.Response.StatusCode, o.Return); s != nil && s.Life == life {
			return o.Return
		}
	}
	return 0
}

// begunSince: every call that may have made the send began after that.
func (v *view) begunSince(at int64, s *Send) bool {
	may := func(o *Op) bool {
		return o.Life == s.Life && o.Call < at && !o.over(s.Seq) && (o.Kind == OpDo || o.Kind == OpResume || o.Kind == OpPass || o.Kind == OpRun)
	}
	return s.Seq > at && !slices.ContainsFunc(v.ops, may) && !slices.ContainsFunc(v.runs, may)
}
