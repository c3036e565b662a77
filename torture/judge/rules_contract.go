package judge

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// contractRules look at what contracts ask for beside a key and its window.
var contractRules = []Rule{
	{"what goes with the key is the same at every attempt", 2, lies, func(v *view, bad report) {
		for _, name := range v.Fixed {
			first := (*mockserver.Request)(nil)
			for _, q := range v.requests {
				switch {
				case q.Fault.See == mockserver.SeeRefused || q.Fault.See == mockserver.SeeGoAway:
					// The client was told that it was not received.
				case first == nil:
					first = q
				case !slices.Equal(sent(first, name), sent(q, name)):
					bad("%s is %q in request %d, and %q in request %d", name, sent(first, name), first.N, sent(q, name), q.N)
					return
				}
			}
		}
	}},
	{"each item of a batch has a key of its own", 2, lies, func(v *view, bad report) {
		for _, s := range v.sends {
			keys := strings.Split(s.Key, ",")
			if v.Items == 0 || s.KeyUnread {
				continue
			}
			if slices.Sort(keys); len(slices.Compact(keys)) != v.Items || keys[0] == "" {
				bad("the send at %d has the keys %q for %d items", s.Seq, s.Key, v.Items)
				return
			}
		}
	}},
	{"a key has the form that the contract asks for", 2, lies, func(v *view, bad report) {
		if v.KeyShape == "" {
			return
		}
		shape := regexp.MustCompile("^(" + v.KeyShape + ")$")
		for _, s := range v.sends {
			for key := range strings.SplitSeq(s.Key, ",") {
				if !s.KeyUnread && !shape.MatchString(key) {
					bad("the send at %d has the key %q; the contract wants %s", s.Seq, key, v.KeyShape)
					return
				}
			}
		}
	}},
	{"Confirmed has the effect of every item", 3, lies, func(v *view, bad report) {
		for _, o := range v.told {
			if n := len(v.items); o.Outcome.State == oncehttp.Confirmed && n > 0 && n < v.Items {
				bad("%s at %d told Confirmed: %d of %d items had an effect", o.Kind, o.Return, n, v.Items)
				return
			}
		}
	}},
	{"what a lookup shows in another state is no effect", 3, lies, func(v *view, bad report) {
		for _, o := range v.told {
			if v.Held && o.Outcome.Reference != "" && !v.resolved(o.Return, anyWord) {
				bad("%s at %d told the reference %q, which a lookup showed in a state that proves nothing", o.Kind, o.Return, o.Outcome.Reference)
				return
			}
		}
	}},
	{"what may have executed is sent again only with the credentials that it had", 8, lies, func(v *view, bad report) {
		if !v.Pinned || v.exposing == len(v.sends) {
			return
		}
		first := v.sends[v.exposing]
		for _, s := range v.sends[v.exposing+1:] {
			if s.Credential != first.Credential {
				bad("the send at %d may have taken effect; it was sent again with other credentials at %d", first.Seq, s.Seq)
				return
			}
		}
	}},
	{"no send sooner than a hint of the contract asked", 10, lies, func(v *view, bad report) {
		for i, a := range v.sends {
			until := a.EndedTime.Add(a.Pause)
			for _, s := range v.sends[i+1:] {
				if a.Ended != 0 && s.Time.Before(until) && v.knew(a, s.Seq) {
					bad("the answer to the send at %d asked for a pause of %v; it was sent again at %d, %v too soon", a.Seq, a.Pause, s.Seq, until.Sub(s.Time))
					return
				}
			}
		}
	}},
	{"no call asks again that was told not to", 10, lies, func(v *view, bad report) {
		for i, a := range v.sends[:max(0, len(v.sends)-1)] {
			if s := v.sends[i+1]; a.Again == "false" && a.Status != 401 && v.begunBefore(a, s) {
				bad("the answer %d to the send at %d said not to ask again; the same call sent it at %d", a.Status, a.Seq, s.Seq)
				return
			}
		}
	}},
	{"no repeat of what may have arrived sooner than the contract's least pause", 10, lies, func(v *view, bad report) {
		for i, a := range v.sends[:max(0, len(v.sends)-1)] {
			s := v.sends[i+1]
			if i < v.exposing || !v.ambiguous(a.Status) || a.Ended == 0 || !v.knew(a, s.Seq) {
				continue
			}
			if pause := s.Time.Sub(a.EndedTime); pause < v.Least {
				bad("the send at %d may have arrived; it was sent again %v after its answer, at %d; the contract wants %v", a.Seq, pause, s.Seq, v.Least)
				return
			}
		}
	}},
	{"a lookup carries no key where an attempt does", 17, lies, func(v *view, bad report) {
		for _, l := range v.run.Lookups {
			if l.Key != "" && v.hasKey(l.Key) {
				bad("the lookup at %d of %s carries the key", l.Seq, l.Target)
				return
			}
		}
	}},
	{"attempts are not more than sends", 17, lies, func(v *view, bad report) {
		for _, o := range v.told {
			sent := 0
			for _, s := range v.sends {
				if s.Seq < o.Return {
					sent++
				}
			}
			if unsent := o.Outcome.Attempts - sent; unsent > v.unsent(o) {
				bad("%s at %d told %d attempts: there were %d sends, and no more than %d may have ended before", o.Kind, o.Return, o.Outcome.Attempts, sent, v.unsent(o))
				return
			}
		}
	}},
	{"a reference names an effect of the action", 3, lies, func(v *view, bad report) {
		for _, o := range v.told {
			ref := o.Outcome.Reference
			named := func(e *Effect) bool { return e.ID == ref && e.Call < o.Return }
			if ref != "" && !v.resolved(o.Return, anyWord) && !slices.ContainsFunc(v.effects, named) {
				bad("%s at %d told the reference %q; the server knows no such effect of the action", o.Kind, o.Return, ref)
				return
			}
		}
	}},
}

// sent is what a request has under one of Action.Fixed.
func sent(q *mockserver.Request, name string) []string {
	parameter, ofQuery := strings.CutPrefix(name, "?")
	if !ofQuery {
		return q.Header.Values(name)
	}
	u, err := url.ParseRequestURI(q.Path)
	if err != nil {
		return []string{q.Path}
	}
	return u.Query()[parameter]
}

// hasKey: the action was sent under it.
func (v *view) hasKey(key string) bool {
	return slices.ContainsFunc(v.sends, func(s *Send) bool { return s.Key == key }) ||
		slices.ContainsFunc(v.told, func(o *Op) bool { return o.Outcome.Key == key })
}

// unsent is how many attempts on record may never have been sent when an outcome
// was told: one for each life that did not close well or does not know, and one that begins.
func (v *view) unsent(o *Op) int {
	most := 1
	for n, l := range v.run.Lives {
		if n < o.Life && !l.Clean || n <= o.Life && l.Unsure {
			most++
		}
	}
	return most
}
