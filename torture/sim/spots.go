package sim

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// Where what the contract's terms speak of stands.
const (
	keyHeader   = "Idempotency-Key"
	keyField    = "idem" // of a JSON body, a form or the query
	keyPath     = "/*/{key}"
	refHeader   = "X-Ref"
	refField    = "ref" // of a form; in JSON it is in an object
	refObject   = "meta"
	sentHeader  = "X-First-Sent"
	sentField   = "sent"    // of the body
	sentQuery   = "sent-at" // of the query
	versionName = "X-Version"
	versionText = "7"
	hintAgain   = "X-Should-Retry"
	hintWait    = "X-Wait-Ms"
	theirRef    = "theirs"
	repeated    = 208 // the status of a repeat

	itemsField    = "items" // of a body, each with a key
	forField      = "for"   // the name of the action, by which its effect can be found
	keyItems      = "/" + itemsField + "/*/" + keyField
	keyElement    = "/" + xmlRoot + "/" + keyField
	xmlRoot       = "Request"
	untilHeader   = "X-Until"
	untilField    = "until"    // of the body or the query
	markField     = "api"      // of the API's own answers
	replayedField = "replayed" // of answers to repeats
	echoHeader    = "X-Key"    // of the API's own answers
	stateDone     = "done"
	stateHeld     = "held"
)

// carrier of the keys, as the client and the server are told.
func (t Terms) carrier(quoted bool) (oncehttp.Carrier, mockserver.Carrier) {
	switch t.Carrier {
	case oncehttp.CarrierJSON:
		name := "/" + keyField
		if t.Items > 0 {
			name = keyItems
		}
		return oncehttp.Carrier{Kind: t.Carrier, Name: name}, mockserver.Carrier{Kind: mockserver.CarrierJSON, Name: name}
	case oncehttp.CarrierXML:
		return oncehttp.Carrier{Kind: t.Carrier, Name: keyElement}, mockserver.Carrier{Kind: mockserver.CarrierXML, Name: keyElement}
	case oncehttp.CarrierForm:
		return oncehttp.Carrier{Kind: t.Carrier, Name: keyField}, mockserver.Carrier{Kind: mockserver.CarrierForm, Name: keyField}
	case oncehttp.CarrierQuery:
		return oncehttp.Carrier{Kind: t.Carrier, Name: keyField}, mockserver.Carrier{Kind: mockserver.CarrierQuery, Name: keyField}
	case oncehttp.CarrierPath:
		return oncehttp.Carrier{Kind: t.Carrier, Name: keyPath}, mockserver.Carrier{Kind: mockserver.CarrierPath, Name: keyPath}
	}
	return oncehttp.Carrier{Kind: oncehttp.CarrierHeader, Name: keyHeader, Quoted: quoted}, mockserver.Carrier{Kind: mockserver.CarrierHeader, Name: keyHeader, Quoted: quoted}
}

// companions of the keys, likewise.
func (a API) companions() (client []oncehttp.Companion, server []mockserver.Companion) {
	t := a.Terms
	add := func(on bool, c oncehttp.Companion, s mockserver.Companion) {
		if on {
			client, server = append(client, c), append(server, s)
		}
	}
	add(t.SentIMF, oncehttp.Companion{Kind: oncehttp.CarrierHeader, Name: sentHeader, Value: oncehttp.CompanionSentIMF},
		mockserver.Companion{Kind: mockserver.CarrierHeader, Name: sentHeader, Stamp: mockserver.StampIMF})
	add(t.SentMicros, oncehttp.Companion{Kind: oncehttp.CarrierQuery, Name: sentQuery, Value: oncehttp.CompanionSentMicros},
		mockserver.Companion{Kind: mockserver.CarrierQuery, Name: sentQuery, Stamp: mockserver.StampMicros})
	add(t.Version, oncehttp.Companion{Kind: oncehttp.CarrierHeader, Name: versionName, Text: versionText},
		mockserver.Companion{Kind: mockserver.CarrierHeader, Name: versionName, Value: versionText})
	kind, there, name := oncehttp.CarrierJSON, mockserver.CarrierJSON, "/"+sentField
	if t.Carrier == oncehttp.CarrierForm {
		kind, there, name = oncehttp.CarrierForm, mockserver.CarrierForm, sentField
	}
	add(t.SentWithin, oncehttp.Companion{Kind: kind, Name: name, Value: oncehttp.CompanionSentMicros},
		mockserver.Companion{Kind: there, Name: name, Stamp: mockserver.StampMicros})
	kind, there, name = t.untilWhere()
	add(a.until(), oncehttp.Companion{Kind: kind, Name: name, Value: oncehttp.CompanionUntil},
		mockserver.Companion{Kind: there, Name: name, Stamp: mockserver.StampUntil})
	return client, server
}

// plant is where ids are written, likewise.
func (t Terms) plant() (oncehttp.Plant, mockserver.Plant) {
	switch t.Plant {
	case oncehttp.CarrierHeader:
		return oncehttp.Plant{Kind: t.Plant, Name: refHeader}, mockserver.Plant{Kind: mockserver.CarrierHeader, Name: refHeader}
	case oncehttp.CarrierJSON:
		name := "/" + refObject + "/" + refField
		return oncehttp.Plant{Kind: t.Plant, Name: name}, mockserver.Plant{Kind: mockserver.CarrierJSON, Name: name}
	case oncehttp.CarrierForm:
		return oncehttp.Plant{Kind: t.Plant, Name: refField}, mockserver.Plant{Kind: mockserver.CarrierForm, Name: refField}
	}
	return oncehttp.Plant{}, mockserver.Plant{}
}

// findPlace is where lookups go.
const findPlace = "/find"

// lookups of the contract with keys, or of the one without.
func (t Terms) lookups(keyed bool) []oncehttp.Lookup {
	l := oncehttp.Lookup{URL: findPlace + "?key={key}", Reference: "/id", Proof: t.Proof, Settle: t.Settle}
	byID := t.byID(keyed)
	if byID {
		l.URL = findPlace + "?id={id}"
	}
	if t.State != "" {
		l.State, l.Is = "/state", []string{stateDone + "*"}
	}
	switch t.Find {
	case findNone:
		return nil
	case findList:
		l.URL, l.Items = strings.Replace(l.URL, "?", "?list=1&", 1), "/data"
	case findAll:
		l.URL, l.Items, l.Where = findPlace+"?since={since}&limit=1000", "/data", "/about"
		byID = t.Items > 0
	case findBody:
		l.URL = findPlace + "?for={/" + forField + "}"
	case findPath:
		l.URL = findPlace + "/by/{path.1}"
	case findDay:
		l.URL, l.Items = findPlace+"?for={/"+forField+"}&since={since}&limit=1000", "/data"
	}
	if byID && !t.Find.byValue() && t.Plant == oncehttp.CarrierNone {
		return nil
	}
	return []oncehttp.Lookup{l}
}

// finds are how the server answers them.
func (t Terms) finds(lag time.Duration) (finds []mockserver.Find) {
	for _, keyed := range []bool{true, false} {
		for _, l := range t.lookups(keyed) {
			if slices.ContainsFunc(finds, func(f mockserver.Find) bool { return f.URL == l.URL }) {
				continue // one for both
			}
			finds = append(finds, mockserver.Find{URL: l.URL, Items: l.Items, Where: l.Where, State: l.State, Says: t.State, Reference: l.Reference, Lag: lag})
		}
	}
	return finds
}

// fixed are the names of what must be the same at every attempt of an action: of
// headers, and with ? of parameters of the query.
func (t Terms) fixed(a Action) (names []string) {
	if a.Protection == judge.Keyed {
		names = append(names, versionName, sentHeader, "?"+sentQuery, untilHeader, "?"+untilField)
	}
	return append(names, refHeader)
}

// target is the path and query of a request.
func (p Plan) target(a Action) string {
	path := "/" + a.Name
	if a.Protection != judge.Keyed {
		return path
	}
	switch p.API.Terms.Carrier {
	case oncehttp.CarrierPath:
		if a.Adopted == "" {
			return path + "/{key}"
		}
		return path + "/" + a.Adopted
	case oncehttp.CarrierQuery:
		if a.Adopted != "" {
			return path + "?" + keyField + "=" + a.Adopted
		}
	}
	return path
}

// keyOf is the key that a request carries, without quotes. whole is its body, if
// it was read to its end; else a key in it is not known.
func (p Plan) keyOf(req *http.Request, whole []byte) string {
	switch t := p.API.Terms; t.Carrier {
	case oncehttp.CarrierQuery:
		return req.URL.Query().Get(keyField)
	case oncehttp.CarrierPath:
		_, key, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
		return key
	case oncehttp.CarrierJSON, oncehttp.CarrierForm, oncehttp.CarrierXML:
		return p.keyWithin(whole)
	}
	for _, name := range []string{keyHeader, strings.ToLower(keyHeader)} {
		if v := req.Header[name]; len(v) > 0 {
			return strings.Trim(v[0], `"`)
		}
	}
	return ""
}

// first is the first segment of a path: the name of an action.
func first(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "?")
	name, _, _ = strings.Cut(name, "/")
	return name
}
