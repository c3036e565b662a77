package judge

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
)

// slack is what may pass between the client's last look at the clock and the
// call of its transport.
const slack = 10 * time.Millisecond

// sendRules look at what was sent, and when.
var sendRules = []Rule{
	{"every send has a save of its own before it", 1, lies, func(v *view, bad report) {
		for i, s := range v.sends {
			if i == 0 {
				if v.savedBetween(0, s.Seq) == 0 {
					bad("the send at %d came before any save", s.Seq)
					return
				}
				for _, o := range v.told {
					if o.Kind == OpRead && o.Return < s.Seq && o.Outcome.Attempts == 0 && v.savedBetween(o.Call, s.Seq) == 0 {
						bad("the send at %d: nothing was saved since the read at %d found no attempt", s.Seq, o.Call)
						return
					}
				}
				continue
			}
			last, need := v.sends[i-1], 1
			if last.Life == s.Life {
				need = 2 // the answer of the last one, and the start of this one
			}
			if n := v.savedBetween(last.Seq, s.Seq); n < need {
				bad("between the sends at %d and %d: %d saves, want %d", last.Seq, s.Seq, n, need)
				return
			}
		}
	}},
	{"one key", 2, lies, func(v *view, bad report) {
		key, first := "", ""
		see := func(k, where string, at int64) bool {
			switch {
			case first == "":
				key, first = k, where
			case k != key:
				bad("%s at %d has the key %q; %s had %q", where, at, k, first, key)
				return false
			}
			return true
		}
		for _, s := range v.sends {
			if s.KeyUnread {
				continue
			}
			if v.Protection == Keyed && s.Key == "" {
				bad("the send at %d has no key", s.Seq)
				return
			}
			if !see(s.Key, "a send", s.Seq) {
				return
			}
		}
		for _, q := range v.requests {
			if v.KeyWithin && q.BodyBytes != q.ContentLength {
				continue
			}
			if !see(q.Key, "a request", int64(q.N)) {
				return
			}
		}
		if v.Items > 0 {
			first = "" // an item's key is made of the one that is told
		}
		for _, o := range v.told {
			if o.Outcome.Reason == oncehttp.NotRecorded {
				continue // the next one may begin anew
			}
			if !see(o.Outcome.Key, "an outcome", o.Return) {
				return
			}
		}
	}},
	{"one payload", 2, lies, func(v *view, bad report) {
		sum := v.BodySHA256
		for _, s := range v.sends {
			if sum == "" {
				sum = s.BodySHA256
			}
			if s.BodySHA256 != sum && s.BodySHA256 != "" {
				bad("the send at %d has the payload %.12s, want %.12s", s.Seq, s.BodySHA256, sum)
				return
			}
		}
		for _, q := range v.requests {
			if q.Done && q.BodyBytes > 0 && q.BodyBytes == q.ContentLength && sum != "" && q.BodySHA256 != sum {
				bad("request %d has the payload %.12s, want %.12s", q.N, q.BodySHA256, sum)
				return
			}
		}
	}},
	{"one driver sends an action at a time", 15, lies, func(v *view, bad report) {
		for i := 1; i < len(v.sends); i++ {
			last, s := v.sends[i-1], v.sends[i]
			if s.Life == last.Life && (last.Ended == 0 || last.Ended > s.Seq) {
				bad("the send at %d began while the one at %d was under way", s.Seq, last.Seq)
				return
			}
		}
	}},
	{"what may have executed is not sent again unprotected", 9, lies, func(v *view, bad report) {
		if v.Protection == Unprotected && v.exposing+1 < len(v.sends) {
			bad("the send at %d may have taken effect; it was sent again at %d", v.sends[v.exposing].Seq, v.sends[v.exposing+1].Seq)
		}
	}},
	{"what may have executed is sent again without a key only by the same call", 9, lies, func(v *view, bad report) {
		if v.Protection != Idempotent || v.exposing == len(v.sends) {
			return
		}
		for _, s := range v.sends[v.exposing+1:] {
			if s.Life != v.sends[v.exposing].Life {
				bad("the send at %d may have taken effect; it was sent again at %d, in another life", v.sends[v.exposing].Seq, s.Seq)
				return
			}
		}
	}},
	{"what is settled is not sent again", 7, lies, func(v *view, bad report) {
		for _, o := range v.told {
			if o.Outcome.State == oncehttp.Pending || v.mayMissBody(o) {
				continue
			}
			for _, s := range v.sends {
				if s.Seq < o.Return || v.savedBetween(o.Return, s.Seq) == 0 {
					continue // its save came before
				}
				if o.Outcome.State == oncehttp.Rejected && (o.Outcome.Reason == oncehttp.Unauthorized && v.asksAgain(o, s.Seq) || v.takenBack(o, s.Seq)) {
					continue
				}
				bad("%s at %d told %s (%s); it was sent at %d", o.Kind, o.Return, o.Outcome.State, o.Outcome.Reason, s.Seq)
				return
			}
		}
	}},
	{"no send sooner than the server asked of the action", 10, lies, func(v *view, bad report) {
		for i, a := range v.sends {
			until, ok := a.asked()
			if !ok {
				continue
			}
			for _, s := range v.sends[i+1:] {
				if s.Time.Before(until) && v.knew(a, s.Seq) {
					bad("the answer to the send at %d asked for %s from %s on; it was sent again at %d, %v too soon", a.Seq, a.RetryAfter, a.EndedTime.Format(time.RFC3339Nano), s.Seq, until.Sub(s.Time))
					return
				}
			}
		}
	}},
	{"no send sooner than the server asked of the host", 10, lies, func(v *view, bad report) {
		if v.Gate == "" {
			return
		}
		for _, other := range v.all {
			if other == v || other.Gate != v.Gate {
				continue
			}
			for _, a := range other.sends {
				if s := v.firstTooSoon(other, a); s != nil {
					bad("the answer %d to the send of %s at %d asked the host's clients for %s; it was sent at %d, %v later", a.Status, other.Name, a.Seq, a.RetryAfter, s.Seq, s.Time.Sub(a.EndedTime))
					return
				}
			}
		}
	}},
	{"a failure that the server has stored is not asked for again", 5, lies, func(v *view, bad report) {
		for i, a := range v.sends[:max(0, len(v.sends)-1)] {
			s := v.sends[i+1]
			stored := v.Marked && a.Replayed && a.Status >= 500 ||
				v.KeepsFailures && !a.Foreign && (a.Status == 500 || a.Status == 507) && a.Again != "true"
			if stored && v.begunBefore(a, s) {
				bad("the send at %d was answered with a stored %d; the same call sent it again at %d", a.Seq, a.Status, s.Seq)
				return
			}
		}
	}},
	{"a call starts no attempt after its time is up", 5, lies, func(v *view, bad report) {
		for _, o := range v.ops {
			if o.Kind != OpDo || o.Return == 0 || v.Budget == 0 || !v.alone(o) {
				continue
			}
			for _, s := range v.sends {
				if late := s.Time.Sub(o.CallTime) - v.Budget; s.Life == o.Life && s.Seq > o.Call && s.Seq < o.Return && late > slack {
					bad("the send at %d came %v after the time of the call at %d was up", s.Seq, late, o.Call)
					return
				}
			}
		}
	}},
	{"attempts are not fewer than sends and requests", 14, lies, func(v *view, bad report) {
		for _, o := range v.told {
			sent, got := 0, 0
			for _, s := range v.sends {
				if s.Seq < o.Call {
					sent++
				}
			}
			for _, q := range v.requests {
				if q.Time.Before(o.CallTime) {
					got++
				}
			}
			if n := o.Outcome.Attempts; n < sent || n < got {
				bad("%s called at %d told %d attempts: there were %d sends, and the server had got %d requests", o.Kind, o.Call, n, sent, got)
				return
			}
		}
	}},
}

// begunBefore: every call that may have made the send s began before a.
func (v *view) begunBefore(a, s *Send) bool {
	may := func(o *Op) bool {
		return o.Life == s.Life && o.Call > a.Seq && o.Call < s.Seq && (o.Kind == OpDo || o.Kind == OpResume || o.Kind == OpPass)
	}
	run := func(o *Op) bool { return o.Kind == OpRun }
	return s.Life == a.Life && !slices.ContainsFunc(v.ops, may) && !slices.ContainsFunc(v.runs, may) && !slices.ContainsFunc(v.runs, run)
}

// asksAgain: by then there was another Do than the one that was told, if it was
// one.
func (v *view) asksAgain(told *Op, by int64) bool {
	return slices.ContainsFunc(v.ops, func(o *Op) bool {
		return o != told && o.Kind == OpDo && o.Call < by && !o.over(told.Call)
	})
}

// takenBack: by then a person may have confirmed what was told Rejected, and there
// was a success, whose body may be missing.
func (v *view) takenBack(told *Op, by int64) bool {
	confirmed := func(o *Op) bool {
		return o.Resolved.State == oncehttp.Confirmed && !o.over(told.Call)
	}
	return v.resolved(by, confirmed) && slices.ContainsFunc(v.sends, func(s *Send) bool { return s.Seq < by && s.Status/100 == 2 })
}

// asked is when the server wants to be asked again. It and the client have one
// clock.
func (s *Send) asked() (time.Time, bool) {
	if s.RetryAfter == "" || s.Ended == 0 {
		return time.Time{}, false
	}
	whole, fraction, dot := strings.Cut(strings.TrimSpace(s.RetryAfter), ".")
	if n, err := strconv.ParseUint(whole, 10, 31); err == nil {
		if _, err := strconv.ParseUint(fraction, 10, 64); dot && err != nil {
			return time.Time{}, false
		}
		return s.EndedTime.Add(time.Duration(n) * time.Second), true // of a fraction the whole part
	}
	date, err := time.Parse(http.TimeFormat, s.RetryAfter)
	return date, err == nil && date.After(s.EndedTime)
}

// knew: the answer was on record by then.
func (v *view) knew(a *Send, by int64) bool {
	return slices.ContainsFunc(v.saves, func(s *Save) bool {
		return s.Life == a.Life && s.Seq > a.Ended && s.Seq < by
	})
}

// firstTooSoon is the first send of v that does not heed what the host asked of
// another action. One that the gate had let go before is left out: it may still
// have had to be authorized and saved. A later life knows what is on record of
// an action that waits.
func (v *view) firstTooSoon(other *view, a *Send) *Send {
	until, ok := a.asked()
	if !ok || a.Status != 503 && a.Status != 429 {
		return nil
	}
	for _, s := range v.sends {
		if s.Seq < a.Ended || !s.Time.Before(until) {
			continue
		}
		if s.Life == a.Life {
			if s.Time.Sub(a.EndedTime) > v.AttemptTimeout+time.Second {
				return s
			}
			continue
		}
		opened := int64(0)
		if s.Life < len(v.run.Lives) {
			opened = v.run.Lives[s.Life].Opened
		}
		if other.waitsOver(a, opened) {
			return s
		}
	}
	return nil
}

// waitsOver: when a life opened, the answer to a was the last that was known of
// an action that is going to be sent again.
func (v *view) waitsOver(a *Send, opened int64) bool {
	if v.Protection != Keyed || !v.knew(a, opened) || v.resolved(math.MaxInt64, anyWord) || v.Lookups {
		return false
	}
	for _, s := range v.sends {
		if s.Seq > a.Seq && s.Seq < opened {
			return false
		}
	}
	for _, o := range v.told {
		if o.Call > opened {
			return o.Outcome.State == oncehttp.Pending && o.Outcome.Reason == oncehttp.Throttled
		}
	}
	return false
}

// mayMissBody: what was told is done, and its answer is cut, or may still turn
// out to be: then it is asked for again.
func (v *view) mayMissBody(o *Op) bool {
	r := o.Outcome.Response
	if o.Outcome.State != oncehttp.Confirmed || r != nil && r.BodyIncomplete {
		return o.Outcome.State == oncehttp.Confirmed
	}
	for _, s := range v.sends {
		if s.Life != o.Life || s.Seq > o.Return || s.Status/100 != 2 {
			continue
		}
		if r == nil {
			return true // a person's word came before the end of the answer
		}
		if s.Ended != 0 && v.savedBetween(s.Ended, o.Return) == 0 {
			return true // it could not be recorded
		}
	}
	return false
}
