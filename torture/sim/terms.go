package sim

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// terms are what the contract with keys says beside the usual.
func (w *world) terms(c *oncehttp.Contract) {
	a := w.plan.API
	t := a.Terms
	c.Carrier, _ = t.carrier(a.Quoted)
	c.Companions, _ = a.companions()
	c.Plant, _ = t.plant()
	c.Lookups = t.lookups(true)
	c.Key, c.Stored.Except, c.Pin = t.rule(), t.Except, t.Pins
	if t.Pinned {
		c.Pin |= oncehttp.PinCredential
	}
	if t.Hints {
		c.Hints = oncehttp.Hints{Least: t.Least, Running: t.Running, Headers: []oncehttp.Hint{
			{Header: hintAgain, Kind: oncehttp.HintAgain, AbsentNo: t.AbsentNo}, {Header: hintWait, Kind: t.waits()},
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
	case markPointer:
		c.Replay = oncehttp.Marker{At: []string{"/" + replayedField}, Values: []string{"true"}}
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
	if t.Own != ownEcho {
		c.Origin, _ = w.plan.API.origin()
	}
	return c, true
}

// profile is the server's side of all that.
func (w *world) profile(p *mockserver.Profile) {
	a := w.plan.API
	t := a.Terms
	_, p.Carrier = t.carrier(a.Quoted)
	_, p.Companions = a.companions()
	p.FromStamp = t.Stamped
	rule := t.rule()
	p.KeyMin, p.KeyAlphabet = rule.Min, rule.Alphabet
	p.KeyUUID = map[oncehttp.UUIDRule]mockserver.UUIDRule{oncehttp.UUIDAny: mockserver.UUIDAny, oncehttp.UUIDRandom: mockserver.UUIDRandom}[t.UUID]
	p.Scope = t.scope()
	_, p.Plant = t.plant()
	p.Finds = t.finds(a.Lag)
	_, p.Origin = a.origin()
	switch {
	case a.Refusals && t.KeepsFailures:
		p.Released = released("408", "425", "429") // every refusal is kept
	case a.Refusals:
		p.Released = []string{"408", "425", "429", "5xx"}
	case t.KeepsFailures:
		p.Released = released("401", "403", "408", "409", "423", "425", "429")
	case len(t.Except) > 0:
		p.Released = []string{"401", "403", "408", "409", "423", "425", "429", "5xx"}
	}
	for _, status := range t.Except {
		p.Released = append(p.Released, strconv.Itoa(status))
	}
	switch {
	case a.NoReplay:
	case t.Mark == markStatus:
		p.Replayed = mockserver.Mark{Status: repeated}
	case t.Mark == markEcho:
		p.Replayed = mockserver.Mark{Header: keyHeader, Says: mockserver.MarkKey}
	case t.Mark == markPointer:
		p.Replayed = mockserver.Mark{Pointer: "/" + replayedField}
	}
}

// released are these, and the failures that an API does not make itself.
func released(more ...string) []string { return append(more, "502", "503", "504") }

var carrierNames = map[oncehttp.CarrierKind]string{
	oncehttp.CarrierNone: "a header", oncehttp.CarrierHeader: "a header", oncehttp.CarrierJSON: "JSON", oncehttp.CarrierForm: "a form",
	oncehttp.CarrierQuery: "the query", oncehttp.CarrierPath: "the path", oncehttp.CarrierXML: "XML",
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

// countKinds adds what can be seen of their kinds.
func (w *world) countKinds() {
	t, run := w.plan.API.Terms, w.record.run
	met := func(that bool, what string) {
		if that {
			w.happened[what]++
		}
	}
	sent := map[string]string{}
	for _, s := range run.Sends {
		a := w.actions[s.Action]
		if a.Protection != judge.Keyed || s.Key == "" {
			continue
		}
		sent[s.Action] = s.Key
		met(t.Items > 1, "keys in a batch")
		met(t.Items > 1 && t.UUID != oncehttp.UUIDNone, "UUIDs in a batch")
		met(t.Items > 0 && a.Adopted != "", "a caller's keys in a batch")
		met(w.plan.API.until(), "the window's end with the key")
		met(t.shape(a) != "", "a key of form "+formNames[t.Form])
		met(t.UUID == oncehttp.UUIDRandom, "a key that must be random")
		met(s.Pause > 0, "a pause "+pauseNames[t.waits()])
		met(w.plan.API.Origin && !s.Foreign && s.Status/100 == 2, "an answer marked by "+string(cmp.Or(t.Own, "header")))
		met(slices.Contains(t.Except, s.Status) && slices.Contains(a.First, s.Status), "a refusal that is not kept")
		met(t.Pinned && t.Pins != 0, "pinned to more than credentials")
	}
	for name, key := range sent {
		twin := w.actions[name].Twin
		met(twin != "" && sent[twin] == key, "one key is two")
	}
	for _, op := range run.Ops {
		o, a := op.Outcome, w.actions[op.Action]
		if o == nil || w.plan.Client.Lookup {
			continue
		}
		met(o.Reference != "", "found by "+string(t.Find))
		met(o.Reference != "" && t.State != "", "found in its state")
		met(t.State == stateHeld && o.MayHaveExecuted && len(run.Lookups) > 0 && w.server.EffectsOf(op.Action) > 0, "shown in another state")
		met(t.Settle > 0 && t.Proof && a.Keyless && a.Protection == judge.Unprotected && o.MayHaveExecuted && w.sentSince(op), "proved after a lookup's own settle time")
		if a.Protection == judge.Keyed && o.Reason == oncehttp.KeyExpired {
			met(true, "the end of a window "+windowNames[t.Window])
			met(t.Stamped, "the end of a window that a companion began")
			met(w.plan.API.refuses(), "the end of a window that the API tells")
			met(w.plan.API.until(), "the end of a window that a companion told")
		}
	}
}

var (
	formNames = map[oncehttp.KeyForm]string{
		oncehttp.FormUUID: "UUID", oncehttp.FormHex: "hex", oncehttp.FormDerived: "derived", oncehttp.FormLong: "long",
	}
	pauseNames = map[oncehttp.HintKind]string{
		oncehttp.HintMillis: "in milliseconds", oncehttp.HintSeconds: "in seconds", oncehttp.HintDuration: "in words",
		oncehttp.HintDate: "to a date", oncehttp.HintUnix: "to a second", oncehttp.HintRFC3339: "to a time",
	}
	windowNames = map[oncehttp.WindowKind]string{
		oncehttp.WindowFloor: "at least", oncehttp.WindowUnknown: "unknown", oncehttp.WindowExact: "exact", oncehttp.WindowAccount: "of an account",
	}
)

// sentSince: the action was sent after a call had returned.
func (w *world) sentSince(op judge.Op) bool {
	return slices.ContainsFunc(w.record.run.Sends, func(s judge.Send) bool { return s.Action == op.Action && s.Seq > op.Return })
}
