package sim

import (
	"slices"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// terms are what the contract with keys says beside the usual.
func (w *world) terms(c *oncehttp.Contract) {
	a := w.plan.API
	t := a.Terms
	c.Carrier, _ = t.carrier(a.Quoted)
	c.Companions, _ = t.companions()
	c.Plant, _ = t.plant()
	c.Lookups = t.lookups(true)
	if t.Pinned {
		c.Pin = oncehttp.PinCredential
	}
	if t.Hints {
		c.Hints = oncehttp.Hints{Least: t.Least, Running: t.Running, Headers: []oncehttp.Hint{
			{Header: hintAgain, Kind: oncehttp.HintAgain}, {Header: hintWait, Kind: oncehttp.HintMillis},
		}}
	}
	switch {
	case t.SaysFailures:
		c.Stored.Failures = oncehttp.KeepingYes
	case t.SaysNot:
		c.Stored.Failures = oncehttp.KeepingNo
	}
	switch t.Mark {
	case markStatus:
		c.Replay = oncehttp.Marker{Status: []int{repeated}}
	case markEcho:
		c.Replay = oncehttp.Marker{Headers: []string{keyHeader}, Echo: true}
	}
}

// keyless is the contract of an API that takes no key, and can be asked.
func (w *world) keyless() (c oncehttp.Contract, ok bool) {
	if !slices.ContainsFunc(w.plan.Actions, func(a Action) bool { return a.Keyless }) {
		return c, false
	}
	t := w.plan.API.Terms
	c = oncehttp.Contract{
		Match:   oncehttp.Match{Hosts: []string{keylessHost}, Methods: []string{"POST", "PATCH", "PUT", "DELETE"}},
		Lookups: t.lookups(false), Stored: oncehttp.Stored{Settle: w.plan.API.Settle},
	}
	c.Plant, _ = t.plant()
	if w.plan.API.Origin {
		c.Origin = oncehttp.Marker{Headers: []string{marker}}
	}
	return c, true
}

// profile is the server's side of all that.
func (w *world) profile(p *mockserver.Profile) {
	a := w.plan.API
	t := a.Terms
	_, p.Carrier = t.carrier(a.Quoted)
	_, p.Companions = t.companions()
	_, p.Plant = t.plant()
	p.Finds = t.finds(a.Lag)
	if a.Origin {
		p.Origin = mockserver.Mark{Header: marker, Value: "1"}
	}
	switch {
	case a.Refusals && t.KeepsFailures:
		p.Released = released("408", "425", "429") // every refusal is kept
	case a.Refusals:
		p.Released = []string{"408", "425", "429", "5xx"}
	case t.KeepsFailures:
		p.Released = released("401", "403", "408", "409", "423", "425", "429")
	}
	switch {
	case a.NoReplay:
	case t.Mark == markStatus:
		p.Replayed = mockserver.Mark{Status: repeated}
	case t.Mark == markEcho:
		p.Replayed = mockserver.Mark{Header: keyHeader, Says: mockserver.MarkKey}
	}
}

// released are these, and the failures that an API does not make itself.
func released(more ...string) []string { return append(more, "502", "503", "504") }

var carrierNames = map[oncehttp.CarrierKind]string{
	oncehttp.CarrierNone: "a header", oncehttp.CarrierHeader: "a header", oncehttp.CarrierJSON: "JSON", oncehttp.CarrierForm: "a form",
	oncehttp.CarrierQuery: "the query", oncehttp.CarrierPath: "the path",
}

// countTerms adds what can be seen of the terms in a run at its end.
func (w *world) countTerms() {
	t := w.plan.API.Terms
	for _, s := range w.record.run.Sends {
		a := w.actions[s.Action]
		if a.Protection == judge.Keyed && s.Key != "" {
			w.happened["key in "+carrierNames[t.Carrier]]++
			if t.SentIMF || t.SentMicros || t.SentWithin {
				w.happened["a companion"]++
			}
		}
		if t.Plant != oncehttp.CarrierNone && !a.Ref && (a.Keyless || a.Protection == judge.Keyed) {
			w.happened["an id planted in "+carrierNames[t.Plant]]++
		}
		if s.Replayed {
			what := "a repeat is marked"
			if t.Mark != markHeader {
				what += " by " + string(t.Mark)
			}
			w.happened[what]++
		}
		if s.Again != "" {
			w.happened["a hint says "+s.Again]++
		}
		if s.Pause > 0 {
			w.happened["a hint asks for a pause"]++
		}
		if t.SaysFailures && s.Status == 500 {
			w.happened["a stored failure"]++
		}
	}
	for _, op := range w.record.run.Ops {
		o := op.Outcome
		if o == nil || w.plan.Client.Lookup {
			continue
		}
		if o.Reference != "" {
			w.happened["a contract's lookup found it"]++
		}
		if a := w.actions[op.Action]; a.Keyless && a.Protection == judge.Unprotected && o.MayHaveExecuted && w.sentSince(op) {
			w.happened["a contract's lookup proved that there is none"]++
		}
		if t.Pinned && o.MayHaveExecuted && o.Reason == oncehttp.NeedsCredentials {
			w.happened["not the credentials that it had"]++
		}
	}
}

// sentSince: the action was sent after a call had returned.
func (w *world) sentSince(op judge.Op) bool {
	return slices.ContainsFunc(w.record.run.Sends, func(s judge.Send) bool { return s.Action == op.Action && s.Seq > op.Return })
}
