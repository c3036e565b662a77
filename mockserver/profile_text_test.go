package mockserver_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

// fullProfile sets every field; some exclude each other, so it cannot be played.
func fullProfile() mockserver.Profile {
	answer := mockserver.Answer{Status: 409, Header: http.Header{"A": {"b"}, "C": {"d", "e"}}, Body: "{id}"}
	mark := mockserver.Mark{Header: "H", Pointer: "/p", InErrors: "/e", Status: 200, Value: "v", Says: mockserver.MarkKey}
	return mockserver.Profile{
		Name: "full", Source: "test",
		Carrier: mockserver.Carrier{Kind: mockserver.CarrierHeader, Name: "K", Quoted: true}, KeyHeader: "K", KeyQuoted: true,
		Companions: []mockserver.Companion{{Kind: mockserver.CarrierQuery, Name: "at", Value: "v", Stamp: mockserver.StampIMF}},
		KeyMin:     1, KeyMax: 2, KeyAlphabet: "ab", KeyUUID: mockserver.UUIDAny, KeyRequired: true, KeyMissing: answer, KeyInvalid: answer,
		KeyIgnored: []string{"PUT"}, Scope: []mockserver.Scope{}, Compared: mockserver.Compared{Parts: []mockserver.Part{}, Headers: []string{"V"}, Except: []string{"/at"}},
		TTL: time.Hour, FromCompletion: true, FromStamp: true, Expired: answer,
		Success: answer, Released: []string{}, Repeat: answer, RepeatCurrent: true, Spent: answer,
		Replayed: mark, Marker: "M", NoMarker: true, Ignored: mark, Origin: mark,
		InFlight: answer, InFlightWaits: true, InFlightExecutes: true, Mismatch: answer, OnMismatch: mockserver.MismatchDrops,
		Indeterminate: answer, KeysDown: answer, KeysDownExecutes: true, Throttled: answer,
		Plant: mockserver.Plant{Kind: mockserver.CarrierJSON, Name: "/m"},
		Finds: []mockserver.Find{{URL: "/x/{id}", Items: "/i", Where: "/w", State: "/s", Says: "done", Reference: "/r", Stored: true, Absent: answer, Lag: time.Minute}},
	}
}

func TestEveryFieldOfAProfileSurvivesJSON(t *testing.T) {
	t.Parallel()
	p := fullProfile()
	for _, v := range []reflect.Value{
		reflect.ValueOf(p), reflect.ValueOf(p.Carrier), reflect.ValueOf(p.Companions[0]), reflect.ValueOf(p.Compared),
		reflect.ValueOf(p.Replayed), reflect.ValueOf(p.Plant), reflect.ValueOf(p.Finds[0]), reflect.ValueOf(p.Expired),
	} {
		for i := range v.NumField() {
			require.False(t, v.Field(i).IsZero(), "fullProfile must set %s.%s", v.Type(), v.Type().Field(i).Name)
		}
	}
	text, err := json.Marshal(p)
	require.NoError(t, err)
	var again mockserver.Profile
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, p, again)

	text, err = json.Marshal(mockserver.Profile{})
	require.NoError(t, err)
	assert.Equal(t, "{}", string(text))
}

func TestAProfileThatCannotBePlayedSaysWhy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"keyMni": 3}`: `unknown field "keyMni"`,
		`{"name": "x", "carrier": {"knid": "header"}}`:                                               `unknown field "knid"`,
		`{"finds": [{"url": "/", "lga": "1s"}]}`:                                                     `unknown field "lga"`,
		`{"ttl": "1 day"}`:                                                                           `unknown unit`,
		`{"name": "x", "onMismatch": "rejects"}`:                                                     `profile "x": onMismatch: there is no "rejects" (it takes ignored, executes, overwrites, drops)`,
		`{"carrier": {"kind": "cookie", "name": "k"}}`:                                               `carrier.kind: there is no "cookie"`,
		`{"carrier": {"name": "k"}}`:                                                                 `carrier: it has no kind`,
		`{"carrier": {"kind": "header"}}`:                                                            `carrier.name: it is empty`,
		`{"carrier": {"kind": "json", "name": "key"}}`:                                               `"key" is no JSON pointer to a member`,
		`{"carrier": {"kind": "path", "name": "/a/{k}"}}`:                                            `no path with one segment {key}`,
		`{"carrier": {"kind": "path", "name": "/a{key}"}}`:                                           `no path with one segment {key}`,
		`{"carrier": {"kind": "path", "name": "{key}"}}`:                                             `no path with one segment {key}`,
		`{"carrier": {"kind": "path"}}`:                                                              `no path with one segment {key}`,
		`{"carrier": {"kind": "xml", "name": "A/B"}}`:                                                `no path of names`,
		`{"carrier": {"kind": "none", "name": "k"}}`:                                                 `no carrier to name`,
		`{"carrier": {"kind": "none"}, "keyRequired": true, "companions": [{"name": "x"}]}`:          `companions: there is no carrier`,
		`{"carrier": {"kind": "query", "name": "k", "quoted": true}}`:                                `only headers are`,
		`{"carrier": {"kind": "query", "name": "k"}, "keyHeader": "K"}`:                              `say it there`,
		`{"companions": [{"kind": "xml", "name": "/a"}]}`:                                            `companions[0].kind: there is no "xml"`,
		`{"companions": [{"kind": "json", "name": "/a/*"}]}`:                                         `no JSON pointer to one member`,
		`{"companions": [{"name": "a", "stamp": "unix"}]}`:                                           `stamp: there is no "unix"`,
		`{"companions": [{"name": "a", "stamp": "imf", "value": "x"}]}`:                              `only one can be`,
		`{"fromStamp": true, "companions": [{"name": "a", "stamp": "until"}]}`:                       `no companion tells the time`,
		`{"fromStamp": true, "fromCompletion": true, "companions": [{"name": "a", "stamp": "imf"}]}`: `fromCompletion and fromStamp`,
		`{"keyMin": 300}`:                                                `keyMin: 300 is more than keyMax, which is 255`,
		`{"keyMax": -1}`:                                                 `never negative`,
		`{"keyUUID": "v5"}`:                                              `keyUUID: there is no "v5"`,
		`{"keyIgnored": ["post"]}`:                                       `no method in capitals`,
		`{"scope": ["region"]}`:                                          `scope: there is no "region"`,
		`{"compared": {"parts": ["params"]}}`:                            `compared.parts: there is no "params"`,
		`{"compared": {"except": ["a"]}}`:                                `compared.except: "a" is no JSON pointer`,
		`{"compared": {"except": [""]}}`:                                 `an empty pointer is the whole body`,
		`{"replayed": {"header": "a", "says": "id"}}`:                    `replayed.says: there is no "id"`,
		`{"origin": {"pointer": "a"}}`:                                   `origin.pointer: "a" is no JSON pointer`,
		`{"origin": {"pointer": "/a", "inErrors": "b"}}`:                 `origin.inErrors: "b" is no JSON pointer`,
		`{"origin": {"header": "A", "inErrors": "/b"}}`:                  `origin.inErrors: pointer is not set`,
		`{"ignored": {"status": 102}}`:                                   `ignored.status: 102 is no final status`,
		`{"ignored": {"value": "x"}}`:                                    `it has a value and no place`,
		`{"released": ["6x"]}`:                                           `"6x" is no status`,
		`{"repeat": {"body": "x"}}`:                                      `repeat: it has no status`,
		`{"repeat": {"status": 102}}`:                                    `repeat.status: 102 is no final status`,
		`{"inFlight": {"status": 103}}`:                                  `inFlight.status: 103 is no final status`,
		`{"success": {"status": 400}}`:                                   `success.status: 400 is an error`,
		`{"repeat": {"status": 409}, "repeatCurrent": true}`:             `repeat and repeatCurrent`,
		`{"inFlightWaits": true, "inFlightExecutes": true}`:              `inFlightWaits and inFlightExecutes`,
		`{"keysDown": {"status": 503}, "keysDownExecutes": true}`:        `keysDown and keysDownExecutes`,
		`{"plant": {"kind": "query", "name": "a"}}`:                      `plant.kind: there is no "query"`,
		`{"plant": {"name": "a"}}`:                                       `plant.kind: there is no ""`,
		`{"finds": [{}]}`:                                                `finds[0].url: "" is no path`,
		`{"finds": [{"url": "/{ref}"}]}`:                                 `there is no {ref}`,
		`{"finds": [{"url": "/{key"}]}`:                                  `cannot be read`,
		`{"finds": [{"url": "/%zz"}]}`:                                   `cannot be read`,
		`{"finds": [{"url": "/?%zz=1"}]}`:                                `its query cannot be read`,
		`{"finds": [{"url": "/?a=1&a=2"}]}`:                              `parameter "a" stands twice`,
		`{"finds": [{"url": "/{key}", "where": "/a"}]}`:                  `where is set without items`,
		`{"finds": [{"url": "/", "stored": true}]}`:                      `what is stored is asked for by {key}`,
		`{"finds": [{"url": "/", "lag": "-1s"}]}`:                        `it is negative`,
		`{"finds": [{"url": "/{key}", "absent": {"status": 42}}]}`:       `finds[0].absent.status: 42`,
		`{"finds": [{"url": "/{key}", "items": "a", "reference": "b"}]}`: `"b" is no JSON pointer`,
	} {
		_, err := mockserver.ParseProfile([]byte(text))
		if assert.Error(t, err, text) {
			assert.ErrorContains(t, err, want, text)
			assert.True(t, strings.HasPrefix(err.Error(), "mockserver: profile"), "%v", err)
		}
	}
	assert.PanicsWithValue(t, `mockserver: profile: scope: there is no "region" (it takes host, method, path, credential)`, func() {
		mockserver.New(mockserver.Config{Profile: mockserver.Profile{Scope: []mockserver.Scope{"region"}}})
	})
}

// FuzzParseProfile: a profile that is taken is written and read again as it was,
// and can be played; no two requests that are the same take effect twice unless
// it says so.
func FuzzParseProfile(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"ttl": "24h", "keyQuoted": true, "released": []}`,
		`{"carrier": {"kind": "json", "name": "/*/key"}, "origin": {"pointer": "/a/b", "says": "fresh"}}`,
		`{"carrier": {"kind": "form", "name": "a"}, "compared": {"parts": ["body"], "except": ["/a/*/0"]}}`,
		`{"carrier": {"kind": "xml", "name": "/a/b"}, "repeat": {"status": 409, "header": {"A": ["b", "c"]}, "body": "<a>{id}{key}</a>"}}`,
		`{"carrier": {"kind": "path", "name": "/pay/{key}"}, "finds": [{"url": "/pay/{key}?a={/b}&c={query.d}", "items": "/x", "lag": "1s"}]}`,
		`{"companions": [{"kind": "query", "name": "q", "stamp": "micros"}], "fromStamp": true, "expired": {"status": 412}}`,
		`{"scope": ["host", "credential"], "onMismatch": "overwrites", "inFlight": {"status": 102}, "replayed": {"header": "A", "says": "time"}}`,
		`{"plant": {"kind": "header", "name": "P"}, "finds": [{"url": "/{id}", "reference": "/id/x", "stored": false}], "repeatCurrent": true}`,
	} {
		f.Add([]byte(text), "/pay/k?q=1", `{"a":[{"key":"k"}]}`, "application/json")
		f.Add([]byte(text), "/pay/k", `a=k&b=1`, "application/x-www-form-urlencoded")
		f.Add([]byte(text), "/", `<a><b>k</b></a>`, "")
	}
	f.Fuzz(func(t *testing.T, text []byte, path, body, contentType string) {
		if len(text) > 4<<10 || len(body) > 4<<10 {
			t.Skip("longer ones show nothing new")
		}
		p, err := mockserver.ParseProfile(text)
		if err != nil {
			return
		}
		once, err := json.Marshal(p)
		require.NoError(t, err)
		again, err := mockserver.ParseProfile(once)
		require.NoError(t, err, string(once))
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		synctest.Test(t, func(t *testing.T) {
			s := mockserver.Memory(mockserver.Config{Profile: p, TTL: -1})
			defer s.Close()
			for _, method := range []string{"POST", "POST", "GET"} {
				r, err := http.NewRequestWithContext(t.Context(), method, s.URL, strings.NewReader(body))
				require.NoError(t, err)
				r.GetBody = nil
				r.URL.Path = path
				r.Header["Content-Type"] = []string{contentType}
				r.Header.Set("Idempotency-Key", "k")
				if resp, err := s.Client().Do(r); err == nil {
					resp.Body.Close()
				}
			}
			ignored := slices.Contains(p.KeyIgnored, "*") || slices.Contains(p.KeyIgnored, "POST") || p.FromStamp
			for _, q := range s.Requests() {
				keyed := q.Key != "" && p.Carrier.Kind != mockserver.CarrierJSON // of which items may lack keys
				assert.True(t, ignored || !keyed || s.Effects(q.Key) <= 1, "%d effects of one key", s.Effects(q.Key))
			}
		})
	})
}
