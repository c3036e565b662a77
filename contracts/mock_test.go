package contracts

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// profileOf is the server's side of a contract. Where the facts are silent the
// server does what is usual: it keeps successes only, and what it cannot find in
// the contract is the mock server's own default.
func profileOf(c oncehttp.Contract) mockserver.Profile {
	p := mockserver.Profile{
		Name:   c.Name,
		Source: append(c.Sources[:len(c.Sources):len(c.Sources)], "no source: the API's silence")[0],

		Carrier:     mockserver.Carrier{Kind: carrierKind(c.Carrier.Kind), Name: c.Carrier.Name, Quoted: c.Carrier.Quoted},
		KeyMin:      c.Key.Min,
		KeyMax:      c.Key.Max,
		KeyAlphabet: c.Key.Alphabet,
		KeyUUID:     map[oncehttp.UUIDRule]mockserver.UUIDRule{oncehttp.UUIDAny: mockserver.UUIDAny, oncehttp.UUIDRandom: mockserver.UUIDRandom}[c.Key.UUID],
		KeyRequired: c.Key.Need == oncehttp.NeedAll,
		Scope:       scopeOf(c.Pin),
		Compared:    comparedOf(c.Compared),
		OnMismatch: map[oncehttp.MismatchEffect]mockserver.OnMismatch{
			oncehttp.MismatchReplays: mockserver.MismatchIgnored, oncehttp.MismatchExecutes: mockserver.MismatchExecutes,
			oncehttp.MismatchOverwrites: mockserver.MismatchOverwrites, oncehttp.MismatchDrops: mockserver.MismatchDrops,
		}[c.Compared.Mismatch],

		TTL:            ttlOf(c.Window),
		FromCompletion: c.Window.Anchor == oncehttp.AnchorDone,
		FromStamp:      c.Window.Anchor == oncehttp.AnchorStamp,
		Released:       releasedOf(c.Stored),
		RepeatCurrent:  c.Stored.Repeat == oncehttp.RepeatCurrent,
		Replayed:       markOf(c.Replay, "true"),
		NoMarker:       isZero(c.Replay),
		Ignored:        markOf(c.Ignored, "true"),
		Origin:         markOf(c.Origin, ""),
	}
	if c.Plant.Kind != oncehttp.CarrierNone {
		p.Plant = mockserver.Plant{Kind: carrierKind(c.Plant.Kind), Name: c.Plant.Name}
	}
	if c.Carrier.Kind == oncehttp.CarrierNone {
		return mockserver.Profile{Name: p.Name, Source: p.Source, Carrier: p.Carrier, NoMarker: true, Origin: p.Origin, Plant: p.Plant, Finds: findsOf(c)}
	}
	for _, m := range c.Companions {
		p.Companions = append(p.Companions, companionOf(m))
	}
	p.Finds = findsOf(c)
	for _, a := range slices.Backward(c.Answers) {
		answer := answerOf(c, a)
		switch a.Verdict {
		case oncehttp.VerdictInProgress:
			p.InFlight = answer
		case oncehttp.VerdictMismatch:
			p.Mismatch = answer
		case oncehttp.VerdictKeysDown:
			p.KeysDown = answer
		case oncehttp.VerdictThrottled:
			p.Throttled = answer
		case oncehttp.VerdictKeySpent:
			p.Spent = answer
		case oncehttp.VerdictKeyExpired:
			if c.Window.After == oncehttp.ExpiryRefuses {
				p.Expired = answer
			}
		case oncehttp.VerdictDone:
			if c.Stored.Repeat == oncehttp.RepeatError {
				p.Repeat = answer
			}
		case oncehttp.VerdictUnknown:
			// An error to every known key, which does not say how its first request ended.
			if c.Stored.Repeat == oncehttp.RepeatEmpty {
				p.Repeat = answer
			}
		}
	}
	// Where a bare 409 means something else, the usual 409 of a running request
	// would be taken for that.
	p.InFlightWaits = p.InFlight.Status == 0 && slices.ContainsFunc(c.Answers, func(a oncehttp.Answer) bool {
		return slices.Contains(a.Status, http.StatusConflict) && len(a.Codes) == 0
	})
	if c.Window.After == oncehttp.ExpiryRefuses && p.Expired.Status == 0 {
		p.Expired = mockserver.Answer{Status: http.StatusPreconditionFailed}
	}
	if c.Stored.Repeat == oncehttp.RepeatEmpty && p.Repeat.Status == 0 {
		p.Repeat = mockserver.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: "{}\n"}
	}
	return p
}

func carrierKind(k oncehttp.CarrierKind) mockserver.CarrierKind {
	return []mockserver.CarrierKind{
		oncehttp.CarrierNone: mockserver.CarrierNone, oncehttp.CarrierHeader: mockserver.CarrierHeader,
		oncehttp.CarrierJSON: mockserver.CarrierJSON, oncehttp.CarrierForm: mockserver.CarrierForm,
		oncehttp.CarrierQuery: mockserver.CarrierQuery, oncehttp.CarrierPath: mockserver.CarrierPath,
		oncehttp.CarrierXML: mockserver.CarrierXML,
	}[k]
}

func companionOf(m oncehttp.Companion) mockserver.Companion {
	out := mockserver.Companion{Kind: carrierKind(m.Kind), Name: m.Name, Value: m.Text}
	switch m.Value {
	case oncehttp.CompanionSentIMF:
		out.Stamp = mockserver.StampIMF
	case oncehttp.CompanionSentMicros:
		out.Stamp = mockserver.StampMicros
	case oncehttp.CompanionUntil:
		out.Stamp = mockserver.StampUntil
	}
	return out
}

func scopeOf(pin oncehttp.Pin) []mockserver.Scope {
	scope := []mockserver.Scope{}
	for _, s := range []struct {
		pin   oncehttp.Pin
		scope mockserver.Scope
	}{
		{oncehttp.PinHost, mockserver.ScopeHost}, {oncehttp.PinCredential, mockserver.ScopeCredential},
		{oncehttp.PinMethod, mockserver.ScopeMethod}, {oncehttp.PinPath, mockserver.ScopePath},
	} {
		if pin&s.pin != 0 {
			scope = append(scope, s.scope)
		}
	}
	return scope
}

func comparedOf(c oncehttp.Compared) mockserver.Compared {
	out := mockserver.Compared{Headers: c.Headers, Except: c.Except}
	for _, p := range []struct {
		part oncehttp.Parts
		name mockserver.Part
	}{
		{oncehttp.PartMethod, mockserver.PartMethod}, {oncehttp.PartPath, mockserver.PartPath}, {oncehttp.PartQuery, mockserver.PartQuery},
		{oncehttp.PartBody, mockserver.PartBody}, {oncehttp.PartBytes, mockserver.PartBytes},
	} {
		if c.Parts&p.part != 0 {
			out.Parts = append(out.Parts, p.name)
		}
	}
	return out
}

// ttlOf: where the vendor does not say, keys are forgotten as soon as the
// library ceases to trust them.
func ttlOf(w oncehttp.Window) time.Duration {
	switch w.Kind {
	case oncehttp.WindowForever:
		return -time.Second
	case oncehttp.WindowUnknown:
		return 5 * minute
	}
	return w.Length
}

func releasedOf(s oncehttp.Stored) []string {
	released := []string{}
	if !s.Refusals {
		released = append(released, "4xx")
	}
	if s.Failures != oncehttp.KeepingYes {
		released = append(released, "5xx")
	}
	for _, status := range s.Except {
		if class := strconv.Itoa(status/100) + "xx"; !slices.Contains(released, class) {
			released = append(released, strconv.Itoa(status))
		}
	}
	return released
}

func isZero(m oncehttp.Marker) bool {
	return len(m.Headers) == 0 && len(m.At) == 0 && len(m.Status) == 0
}

// markOf: a mark that may have any value says when (or, for Origin, which). What
// only some of the API's answers are known by, a status, is not put on all. Of the
// places in the body the first is a success's, and the last an error's.
func markOf(m oncehttp.Marker, usual string) mockserver.Mark {
	if isZero(m) {
		return mockserver.Mark{}
	}
	var out mockserver.Mark
	if len(m.At) > 0 {
		out.Pointer = m.At[0]
	}
	if len(m.At) > 1 {
		out.InErrors = m.At[len(m.At)-1]
	}
	if len(m.Headers) > 0 {
		out.Header = m.Headers[0]
	}
	if strings.Contains(out.Pointer, "*") {
		out.Pointer = "" // it stands in errors only, and the header on all
	}
	if len(m.Status) > 0 && (usual != "" || out == mockserver.Mark{}) {
		out.Status = m.Status[0]
	}
	switch {
	case m.Echo:
		out.Says = mockserver.MarkKey
	case len(m.Values) > 0:
		out.Value = m.Values[0]
	case usual == "" && (out.InErrors == "" || out.Header != ""):
		out.Says = mockserver.MarkFresh
	case usual != "" && (out.Header != "" || out.Pointer != ""):
		out.Says = mockserver.MarkTime
	}
	if out.Value == "true" {
		out.Value = ""
	}
	return out
}

func findsOf(c oncehttp.Contract) []mockserver.Find {
	var finds []mockserver.Find
	for _, l := range c.Lookups {
		f := mockserver.Find{URL: l.URL, Items: l.Items, Where: l.Where, Reference: l.Reference, State: l.State}
		if states := statesOf(l); len(states) > 0 {
			f.Says = states[0]
		}
		if settle := max(l.Settle, c.Stored.Settle); settle > 0 {
			f.Lag = settle / 2
		}
		finds = append(finds, f)
	}
	return finds
}

// statesOf are words that the lookup believes.
func statesOf(l oncehttp.Lookup) []string {
	states := slices.Clone(l.Is)
	for i := range states {
		states[i] = strings.ReplaceAll(states[i], "*", "00")
	}
	return states
}

// answerOf is an answer that a rule is made for.
func answerOf(c oncehttp.Contract, a oncehttp.Answer) mockserver.Answer {
	out := mockserver.Answer{Status: usualStatus[a.Verdict]}
	switch {
	case len(a.Status) > 0:
		out.Status = a.Status[0]
	case c.Match.Operation.Kind == oncehttp.OperationGraphQL:
		out.Status = http.StatusOK
	}
	if a.Header != "" {
		value := a.HeaderValue
		if value == "" {
			value = "1"
		}
		out.Header = http.Header{http.CanonicalHeaderKey(a.Header): {value}}
	}
	var doc any
	if len(a.Codes) > 0 {
		place := "/code"
		if len(a.At) > 0 {
			place = a.At[0]
		}
		doc = placed(doc, place, strings.ReplaceAll(a.Codes[0], "*", ""))
	}
	if a.Reference != "" {
		doc = placed(doc, a.Reference, "{id}")
	}
	if doc == nil {
		return out
	}
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if speaksXML(c) {
		out.Header.Set("Content-Type", "application/xml")
		out.Body = xmlOf(doc)
		return out
	}
	out.Header.Set("Content-Type", "application/json")
	text, _ := json.Marshal(doc) // maps, lists and strings always marshal
	out.Body = string(text) + "\n"
	return out
}

// usualStatus is of an answer whose rule goes by its code alone.
var usualStatus = map[oncehttp.Verdict]int{
	oncehttp.VerdictUnknown: http.StatusConflict, oncehttp.VerdictDone: http.StatusConflict,
	oncehttp.VerdictInProgress: http.StatusConflict, oncehttp.VerdictMismatch: http.StatusBadRequest,
	oncehttp.VerdictKeySpent: http.StatusBadRequest, oncehttp.VerdictKeyExpired: http.StatusBadRequest,
	oncehttp.VerdictKeyIgnored: http.StatusBadRequest, oncehttp.VerdictThrottled: http.StatusTooManyRequests,
	oncehttp.VerdictRefused: http.StatusBadRequest, oncehttp.VerdictKeysDown: http.StatusServiceUnavailable,
}

// speaksXML: AWS's Query protocol and what takes XML answer in XML.
func speaksXML(c oncehttp.Contract) bool {
	if c.Carrier.Kind == oncehttp.CarrierXML || c.Match.Operation.Kind == oncehttp.OperationForm {
		return true
	}
	return slices.ContainsFunc(c.Answers, func(a oncehttp.Answer) bool {
		return slices.ContainsFunc(a.At, func(p string) bool { return strings.Contains(p, "/@") })
	})
}

// placed puts a text where a pointer says; a token that is * or a number makes a
// list.
func placed(doc any, pointer, text string) any {
	if pointer == "" {
		return text
	}
	token, rest, more := strings.Cut(pointer[1:], "/")
	if more {
		rest = "/" + rest
	}
	token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	if _, err := strconv.Atoi(token); err == nil || token == "*" {
		list, _ := doc.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = placed(list[0], rest, text)
		return list
	}
	object, _ := doc.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object[token] = placed(object[token], rest, text)
	return object
}

func xmlOf(doc any) string {
	var b bytes.Buffer
	writeXML(&b, doc)
	b.WriteByte('\n')
	return b.String()
}

func writeXML(b *bytes.Buffer, doc any) {
	switch v := doc.(type) {
	case string:
		b.WriteString(v) // codes and {id} need no escapes
	case []any:
		writeXML(b, v[0])
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			if !strings.HasPrefix(name, "@") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			b.WriteString("<" + name)
			if inner, ok := v[name].(map[string]any); ok {
				for attribute, value := range inner {
					if after, ok := strings.CutPrefix(attribute, "@"); ok {
						b.WriteString(" " + after + `="` + value.(string) + `"`)
					}
				}
			}
			b.WriteString(">")
			writeXML(b, v[name])
			b.WriteString("</" + name + ">")
		}
	}
}
