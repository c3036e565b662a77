package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func typed(contentType string) option {
	return func(r *http.Request) { r.Header.Set("Content-Type", contentType) }
}

const form = "application/x-www-form-urlencoded"

func TestAKeyIsFoundWhereverItTravels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		carrier                       mockserver.Carrier
		path, body, other, bad, nokey string // the request, with another payload, without a valid key, without one
		badPath, nokeyPath            string
		options                       []option
	}{
		{
			carrier: mockserver.Carrier{Kind: mockserver.CarrierJSON, Name: "/variables/key"},
			path:    "/graphql", body: `{"variables":{"key":"k 1","n":1}}`, other: `{"variables":{"n":2,"key":"k 1"}}`,
			bad: `{"variables":{"key":7}}`, nokey: `{"variables":{"key":null}}`,
		},
		{
			carrier: mockserver.Carrier{Kind: mockserver.CarrierForm, Name: "Token"},
			path:    "/pay", body: `Token=k+1&n=1`, other: `n=2&Token=k%201`, bad: `Token=k+1&Token=k+1`, nokey: `token=k+1`,
			options: []option{typed(form)},
		},
		{
			carrier: mockserver.Carrier{Kind: mockserver.CarrierQuery, Name: "requestid"},
			path:    "/pay?a=b&requestid=k+1", body: `{}`, other: `{"n":1}`, badPath: "/pay?requestid=k+1&requestid=k+1", nokeyPath: "/pay?requestId=k+1",
		},
		{
			carrier: mockserver.Carrier{Kind: mockserver.CarrierPath, Name: "/v1/*/transfers/{key}"},
			path:    "/v1/me/transfers/k%201", body: `{}`, other: `{"n":1}`, badPath: "/v1/me/transfers/k", nokeyPath: "/v1/transfers/k%201",
		},
		{
			carrier: mockserver.Carrier{Kind: mockserver.CarrierXML, Name: "/Request/Reference"},
			path:    "/zones", body: `<r:Request xmlns:r="u"><r:Reference> k 1 </r:Reference><n>1</n></r:Request>`,
			other: `<Request><Reference>k 1</Reference><n>2</n></Request>`, bad: `<Request><Reference>k 1</Reference><Reference>k 1</Reference></Request>`,
			nokey: `<Request><Inner><Reference>k 1</Reference></Inner></Request>`, options: []option{typed("text/xml")},
		},
		{
			carrier: mockserver.Carrier{Kind: mockserver.CarrierHeader, Name: "x-token", Quoted: true},
			path:    "/pay", body: `{}`, other: `{"n":1}`, nokeyPath: "/pay?none",
			options: []option{func(r *http.Request) {
				if r.URL.RawQuery == "" {
					r.Header.Set("X-Token", `"k 1"`)
				}
			}},
		},
	} {
		s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
			Carrier: c.carrier, KeyMin: 2, KeyAlphabet: "k 1", KeyRequired: true,
		}})
		path := func(other string) string {
			if other != "" {
				return other
			}
			return c.path
		}
		name := string(c.carrier.Kind)
		// What travels in another place, or under another carrier's name, is no key.
		options := append([]option{header("Idempotency-Key", "k1")}, c.options...)
		first := send(t, s, "POST", c.path, c.body, options...)
		require.Equal(t, 201, first.status, "%s: %s", name, first.body)
		again := send(t, s, "POST", c.path, c.body, options...)
		assert.Equal(t, first.body, again.body, name)
		assert.Equal(t, "true", again.header.Get("Idempotent-Replayed"), name)
		assert.Equal(t, "idempotency_key_mismatch", send(t, s, "POST", c.path, c.other, options...).code(), name)
		if c.bad != "" || c.badPath != "" {
			assert.Equal(t, "invalid_idempotency_key", send(t, s, "POST", path(c.badPath), c.bad, options...).code(), name)
		}
		assert.Equal(t, "idempotency_key_missing", send(t, s, "POST", path(c.nokeyPath), c.nokey, options...).code(), name)
		assert.Equal(t, 1, s.Effects("k 1"), name)
		assert.Equal(t, 1, s.EffectsTotal(), name)
		assert.Equal(t, "k 1", s.Requests()[0].Key)
		s.Close()
	}
}

func TestAnAPIWithoutKeysExecutesEveryRequest(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{Carrier: mockserver.Carrier{Kind: mockserver.CarrierNone}}})
	defer s.Close()
	for range 3 {
		got := pay(t, s, "k", `{}`)
		assert.Equal(t, 201, got.status)
		assert.Empty(t, got.header.Get("Idempotent-Replayed"))
	}
	assert.Equal(t, 3, s.EffectsTotal())
	assert.Zero(t, s.Effects("k"))
}

func TestEveryItemOfAnArrayHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
		Carrier:  mockserver.Carrier{Kind: mockserver.CarrierJSON, Name: "/events/*/id"},
		Compared: mockserver.Compared{Except: []string{"/events/*/at"}},
	}})
	defer s.Close()
	batch := func(events string) seen { return send(t, s, "POST", "/events", `{"events":[`+events+`]}`) }

	first := batch(`{"id":"a","n":1,"at":1},{"id":"b","n":1},{"id":"a","n":1},{"n":9}`)
	require.Equal(t, 201, first.status)
	assert.Equal(t, []int{1, 1}, []int{s.Effects("a"), s.Effects("b")})
	assert.Equal(t, 3, s.EffectsTotal(), "an item without a key counts too")
	assert.Equal(t, "a,b,a", s.Requests()[0].Key)

	assert.Equal(t, 201, batch(`{"id":"a","n":1,"at":2},{"id":"c","n":1}`).status)
	assert.Equal(t, []int{1, 1}, []int{s.Effects("a"), s.Effects("c")}, "only the new item")

	again := batch(`{"id":"b","n":1},{"id":"a","n":1}`)
	assert.Equal(t, first.body, again.body)
	assert.Equal(t, "true", again.header.Get("Idempotent-Replayed"))

	assert.Equal(t, "idempotency_key_mismatch", batch(`{"id":"d","n":1},{"id":"a","n":2}`).code())
	assert.Zero(t, s.Effects("d"), "all or nothing")
	assert.Equal(t, 201, batch(`{"id":"d","n":2}`).status, "and the key that was refused with another is free")
	assert.Equal(t, "invalid_idempotency_key", batch(`{"id":"e"},{"id":""}`).code())
	assert.Equal(t, "invalid_idempotency_key", batch(`{"id":"e"},{"id":5}`).code())
	assert.Equal(t, 5, s.EffectsTotal())

	strict := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
		Carrier: mockserver.Carrier{Kind: mockserver.CarrierJSON, Name: "/*/id"}, KeyRequired: true,
	}})
	defer strict.Close()
	assert.Equal(t, "idempotency_key_missing", send(t, strict, "POST", "/", `[{"id":"a"},{}]`).code())
	assert.Zero(t, strict.EffectsTotal())

	ids := map[string]bool{}
	for _, e := range s.EffectLog() {
		ids[e.ID] = true
	}
	assert.Len(t, ids, 5, "each effect has a name of its own")
}

func TestALostBatchIsNotCarriedOutTwice(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
		Carrier: mockserver.Carrier{Kind: mockserver.CarrierJSON, Name: "/*/id"},
	}})
	defer s.Close()
	s.Script(mockserver.Lost(), mockserver.Fault{Crash: mockserver.CrashBetween})
	body := `[{"id":"a"},{"id":"b"}]`
	require.Error(t, send(t, s, "POST", "/events", body).err)
	require.Error(t, send(t, s, "POST", "/events", `[{"id":"c"},{"id":"a"}]`).err)
	assert.Equal(t, 201, send(t, s, "POST", "/events", body).status)
	assert.Equal(t, "idempotency_indeterminate", send(t, s, "POST", "/events", `[{"id":"d"},{"id":"c"}]`).code())
	assert.Equal(t, 1, s.Reconcile())
	assert.Equal(t, 201, send(t, s, "POST", "/events", `[{"id":"d"},{"id":"c"}]`).status)
	for _, key := range []string{"a", "b", "c", "d"} {
		assert.Equal(t, 1, s.Effects(key), key)
	}
}

func TestAScriptForAKeyFindsItInTheBody(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{MaxBody: 64, Profile: mockserver.Profile{
			Carrier: mockserver.Carrier{Kind: mockserver.CarrierJSON, Name: "/key"},
		}})
		s.ScriptKey("k", mockserver.Fault{See: mockserver.SeeEarly, Read: 3, Status: 418}, mockserver.Lost())
		body := `{"key":"k","n":1}`
		if early := send(t, s, "POST", "/", body); early.err == nil { // a reset may overtake the answer
			assert.Equal(t, 418, early.status)
		}
		assert.Equal(t, int64(3), s.Requests()[0].BodyBytes)
		require.Error(t, send(t, s, "POST", "/", body).err)
		assert.Equal(t, 201, send(t, s, "POST", "/", body).status)
		assert.Equal(t, 1, s.Effects("k"))
		assert.Equal(t, 400, send(t, s, "POST", "/", `{"key":"k"`).status)
		assert.Equal(t, 201, send(t, s, "POST", "/", ``).status, "no body, no key")
		assert.Equal(t, 413, send(t, s, "POST", "/", body+"                                                      ").status)
		assert.Equal(t, 400, send(t, s, "POST", "/", `{"key":"k","key":"k"}`).status, "no reader knows which counts")
	})
}

func TestAKeyMayHaveToBeAUUID(t *testing.T) {
	t.Parallel()
	const v4, v1 = "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	for _, c := range []struct {
		rule mockserver.UUIDRule
		key  string
		ok   bool
	}{
		{mockserver.UUIDNone, "k", true},
		{mockserver.UUIDAny, v1, true},
		{mockserver.UUIDAny, "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", true},
		{mockserver.UUIDAny, v1[:35], false},
		{mockserver.UUIDAny, "6ba7b810-9dad-11d1-80b4_00c04fd430c8", false},
		{mockserver.UUIDAny, "6ba7b810-9dad-11d1-80b4-00c04fd430cg", false},
		{mockserver.UUIDRandom, v4, true},
		{mockserver.UUIDRandom, v1, false},
		{mockserver.UUIDRandom, "6ba7b810-9dad-41d1-c0b4-00c04fd430c8", false},
	} {
		s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
			KeyUUID: c.rule, KeyInvalid: mockserver.Answer{Status: 418, Body: `{"code":"no_uuid"}`},
		}})
		got := pay(t, s, c.key, `{}`)
		if c.ok {
			assert.Equal(t, 201, got.status, "%s %s", c.rule, c.key)
		} else {
			assert.Equal(t, "no_uuid", got.code(), "%s %s", c.rule, c.key)
			assert.Equal(t, 418, got.status)
		}
		s.Close()
	}
}

func TestAnElementThatNobodyWouldNestSoDeepHoldsNoKey(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{Carrier: mockserver.Carrier{Kind: mockserver.CarrierXML, Name: "/a/b"}}})
	defer s.Close()
	for _, body := range []string{strings.Repeat("<a>", 1<<20), "<a><b>k</b>", "<a><b>k</a></b>"} {
		assert.Equal(t, "invalid_idempotency_key", send(t, s, "POST", "/", body).code(), "%.20s", body)
	}
	assert.Equal(t, 201, send(t, s, "POST", "/", "").status)
	assert.Equal(t, 1, s.EffectsTotal())
}
