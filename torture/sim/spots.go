package sim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
)

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// carrier of the keys, as the client and the server are told.
func (t Terms) carrier(quoted bool) (oncehttp.Carrier, mockserver.Carrier) {
	switch t.Carrier {
	case oncehttp.CarrierJSON:
		return oncehttp.Carrier{Kind: t.Carrier, Name: "/" + keyField}, mockserver.Carrier{Kind: mockserver.CarrierJSON, Name: "/" + keyField}
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
func (t Terms) companions() (client []oncehttp.Companion, server []mockserver.Companion) {
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

// findPath is where lookups go.
const findPath = "/find"

// lookups of the contract with keys, or of the one without.
func (t Terms) lookups(keyed bool) []oncehttp.Lookup {
	l := oncehttp.Lookup{URL: findPath + "?id={id}", Reference: "/id", Proof: t.Proof}
	if keyed {
		l.URL = findPath + "?key={key}"
	}
	switch t.Find {
	case findNone:
		return nil
	case findList:
		l.URL, l.Items = strings.Replace(l.URL, "?", "?list=1&", 1), "/data"
	case findAll:
		l.URL, l.Items, l.Where = findPath+"?since={since}&limit=1000", "/data", "/about"
	}
	if !keyed && t.Plant == oncehttp.CarrierNone && t.Find != findAll {
		return nil
	}
	return []oncehttp.Lookup{l}
}

// finds are how the server answers them.
func (t Terms) finds(lag time.Duration) (finds []mockserver.Find) {
	for _, keyed := range []bool{true, false} {
		for _, l := range t.lookups(keyed) {
			if t.Find != findAll || keyed { // which is one for both
				finds = append(finds, mockserver.Find{URL: l.URL, Items: l.Items, Where: l.Where, Reference: l.Reference, Lag: lag})
			}
		}
	}
	return finds
}

// fixed are the names of what must be the same at every attempt of an action: of
// headers, and with ? of parameters of the query.
func (t Terms) fixed(a Action) (names []string) {
	if a.Protection == judge.Keyed {
		names = append(names, versionName, sentHeader, "?"+sentQuery)
	}
	return append(names, refHeader)
}

// written is a payload as its caller writes it.
func (p Plan) written(a Action, body string) string {
	t := p.API.Terms
	if body == "" {
		return ""
	}
	adopted := a.Adopted != "" && t.within()
	if p.isForm(a) {
		var members map[string]string
		if err := json.Unmarshal([]byte(body), &members); err != nil {
			panic(err)
		}
		form := url.Values{}
		for name, value := range members {
			form.Set(name, value)
		}
		if adopted {
			form.Set(keyField, a.Adopted)
		}
		if a.Ref {
			form.Set(refField, theirRef)
		}
		return form.Encode()
	}
	more := ""
	if adopted {
		more += `,"` + keyField + `":"` + a.Adopted + `"`
	}
	if a.Ref && t.Plant == oncehttp.CarrierJSON {
		more += `,"` + refObject + `":{"` + refField + `":"` + theirRef + `"}`
	}
	return strings.TrimSuffix(body, "}") + more + "}"
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

// isForm: its body is a form.
func (p Plan) isForm(a Action) bool {
	return p.API.Terms.Carrier == oncehttp.CarrierForm && (a.Protection == judge.Keyed || a.Keyless)
}

// says is what a body says without what the client has written into it: equal
// for what its callers wrote, in any spelling.
func (p Plan) says(a Action, body string) string {
	members := map[string]any{}
	if p.isForm(a) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return body
		}
		for name := range form {
			members[name] = form[name]
		}
	} else if json.Unmarshal([]byte(body), &members) != nil {
		return body
	}
	if a.Protection == judge.Keyed {
		delete(members, keyField)
		delete(members, sentField)
	}
	if !a.Ref {
		delete(members, refObject)
		if p.isForm(a) {
			delete(members, refField)
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(text)
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
	case oncehttp.CarrierJSON:
		var members map[string]any
		if json.Unmarshal(whole, &members) != nil {
			return ""
		}
		key, _ := members[keyField].(string)
		return key
	case oncehttp.CarrierForm:
		form, err := url.ParseQuery(string(whole))
		if err != nil {
			return ""
		}
		return form.Get(keyField)
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

// marked says whether an answer to a request with this key is marked as that to a
// repeat.
func (p Plan) marked(resp *http.Response, key string) bool {
	switch p.API.Terms.Mark {
	case markStatus:
		return resp.StatusCode == repeated
	case markEcho:
		return key != "" && slices.Contains(resp.Header.Values(keyHeader), key)
	}
	return resp.Header.Get("Idempotent-Replayed") == "true"
}
