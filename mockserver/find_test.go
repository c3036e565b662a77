package mockserver_test

import (
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestEffectsAreFoundInTheWaysOfTheProfile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the year is 2000
		s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
			Plant: mockserver.Plant{Kind: mockserver.CarrierJSON, Name: "/metadata/ref"},
			Finds: []mockserver.Find{
				{URL: "/by-key/{key}"},
				{URL: "/v1/pays/{id}/state", Reference: "/pay/name", Absent: mockserver.Answer{Status: 410, Body: `{"code":"never"}`}},
				{URL: "/list?request_id={key}", Items: "/data", Where: "/request_id"},
				{URL: "/search?q=ref%3A{id}&from={since}", Items: "/found/items", Where: "/metadata/ref", Reference: "/name"},
				{URL: "/accounts/{/account}/pays?mode={query.mode}", Items: "/items", Where: "/ref"},
				{URL: "/bare?key={key}", Items: "/*", Where: "/ref"},
				{URL: "/responses/{key}", Stored: true},
				{URL: "/plain?key={key}", Items: "/*", Where: "/key"},
				{URL: "/twice/{key}/of/{key}"},
			},
		}})
		defer s.Close()
		get := func(path string) seen { return send(t, s, "GET", path, ``) }
		made := send(t, s, "POST", "/pays?mode=live", `{"account":7,"metadata":{"ref":"r/1"}}`, header("Idempotency-Key", "k&1"))
		require.Equal(t, 201, made.status)
		require.Equal(t, 201, send(t, s, "POST", "/pays?mode=test", `{"account":"7"}`, header("Idempotency-Key", "k2")).status)
		s.Script(mockserver.Fault{Origin: true, Status: 402, Body: "poor"})
		require.Equal(t, 402, pay(t, s, "refused", `{}`).status)

		for _, c := range []struct {
			path   string
			status int
			body   string
		}{
			{"/by-key/k&1", 200, `{"id":"effect-000001"}` + "\n"},
			{"/by-key/k%261", 200, `{"id":"effect-000001"}` + "\n"},
			{"/by-key/refused", 404, ""},
			{"/by-key/k/1", 200, "{}\n"}, // no way to ask: an ordinary GET
			{"/v1/pays/r%2F1/state", 200, `{"id":"effect-000001","pay":{"name":"effect-000001"}}` + "\n"},
			{"/v1/pays/r1/state", 410, `{"code":"never"}`},
			{"/list?request_id=k%261&limit=9", 200, `{"data":[{"id":"effect-000001","request_id":"k\u00261"}]}` + "\n"},
			{"/list?request_id=none", 200, `{"data":[]}` + "\n"},
			{"/list", 200, "{}\n"},
			{"/search?from=2000-01-01&q=ref:r/1", 200, `{"found":{"items":[{"id":"effect-000001","metadata":{"ref":"r/1"},"name":"effect-000001"}]}}` + "\n"},
			{"/search?from=2000-01-02&q=ref:r/1", 200, `{"found":{"items":[]}}` + "\n"},
			{"/accounts/7/pays?mode=live", 200, `{"items":[{"id":"effect-000001","ref":"r/1"}]}` + "\n"},
			{"/accounts/7/pays?mode=test", 200, `{"items":[{"id":"effect-000002","ref":"k2"}]}` + "\n"},
			{"/accounts/8/pays?mode=live", 200, `{"items":[]}` + "\n"},
			{"/bare?key=k2", 200, `[{"id":"effect-000002","ref":"k2"}]` + "\n"},
			{"/bare?key=none", 200, "[]\n"},
			{"/responses/k2", 201, `{"id":"effect-000002"}` + "\n"},
			{"/responses/none", 404, ""},
			{"/plain?key=k2", 200, `[{"id":"effect-000002","key":"k2"}]` + "\n"},
			{"/plain?key=none", 200, "[]\n"},
			{"/twice/k2/of/k2", 200, `{"id":"effect-000002"}` + "\n"},
			{"/twice/k2/of/k1", 200, "{}\n"},
		} {
			got := get(c.path)
			assert.Equal(t, c.status, got.status, c.path)
			if c.body != "" {
				assert.Equal(t, c.body, got.body, c.path)
			}
		}
		other := send(t, s, "GET", "/by-key/k2", ``, header("Authorization", "B"))
		assert.Equal(t, 404, other.status, "another tenant's")
		assert.Equal(t, 2, s.EffectsTotal(), "asking makes no effect")
		assert.Equal(t, "r/1", s.EffectLog()[0].Planted)
	})
}

func TestAStoredRefusalIsFoundUnderItsKey(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{Finds: []mockserver.Find{{URL: "/responses?key={key}", Stored: true}}}})
	defer s.Close()
	s.Script(mockserver.Fault{Origin: true, Status: 402, Body: "poor"}, mockserver.Fault{Origin: true, Status: 503, Body: "later"})
	require.Equal(t, 402, pay(t, s, "refused", `{}`).status)
	require.Equal(t, 503, pay(t, s, "released", `{}`).status)
	got := send(t, s, "GET", "/responses?key=refused", ``)
	assert.Equal(t, 402, got.status)
	assert.Equal(t, "poor", got.body)
	assert.Equal(t, 404, send(t, s, "GET", "/responses?key=released", ``).status)
	assert.Equal(t, 404, send(t, s, "GET", "/responses?key=refused", ``, header("Authorization", "B")).status)
}

func TestAnEffectShowsAfterALag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{TTL: time.Hour, Profile: mockserver.Profile{Finds: []mockserver.Find{
			{URL: "/one/{key}", Lag: time.Minute},
			{URL: "/all?key={key}", Items: "/items", Lag: 2 * time.Minute},
			{URL: "/answer/{key}", Stored: true, Lag: 3 * time.Minute},
		}}})
		defer s.Close()
		require.Equal(t, 201, pay(t, s, "k", `{}`).status)
		for minute, want := range []struct {
			one, answer int
			all         string
		}{
			{404, 404, `{"items":[]}`},
			{200, 404, `{"items":[]}`},
			{200, 404, `{"items":[{"id":"effect-000001"}]}`},
			{200, 201, `{"items":[{"id":"effect-000001"}]}`},
		} {
			assert.Equal(t, want.one, send(t, s, "GET", "/one/k", ``).status, "after %d minutes", minute)
			assert.Equal(t, want.answer, send(t, s, "GET", "/answer/k", ``).status, "after %d minutes", minute)
			assert.Equal(t, want.all+"\n", send(t, s, "GET", "/all?key=k", ``).body, "after %d minutes", minute)
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Hour)
		assert.Equal(t, 200, send(t, s, "GET", "/one/k", ``).status, "the effect outlives its key")
		assert.Equal(t, 404, send(t, s, "GET", "/answer/k", ``).status)
	})
}

func TestTheKeyInAPathNamesWhatCanBeFound(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
		Carrier: mockserver.Carrier{Kind: mockserver.CarrierPath, Name: "/v1/transfers/{key}"},
		Plant:   mockserver.Plant{Kind: mockserver.CarrierForm, Name: "memo"},
		Finds:   []mockserver.Find{{URL: "/v1/transfers/{key}"}, {URL: "/v1/transfers?memo={id}", Items: "/items"}},
	}})
	defer s.Close()
	assert.Equal(t, 404, send(t, s, "GET", "/v1/transfers/k", ``).status)
	made := send(t, s, "PUT", "/v1/transfers/k", url.Values{"memo": {"m 1"}}.Encode(), typed(form))
	require.Equal(t, 201, made.status)
	assert.Equal(t, made.body, send(t, s, "GET", "/v1/transfers/k", ``).body)
	assert.Contains(t, send(t, s, "GET", "/v1/transfers?memo=m+1", ``).body, "effect-000002")
	assert.Equal(t, 1, s.Effects("k"))
}

func TestWhatWasOverwrittenIsNotFound(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
		OnMismatch: mockserver.MismatchOverwrites, Finds: []mockserver.Find{{URL: "/all?key={key}", Items: "/items"}},
	}})
	defer s.Close()
	pay(t, s, "k", `{"n":1}`)
	pay(t, s, "k", `{"n":2}`)
	assert.Equal(t, `{"items":[{"id":"effect-000002"}]}`+"\n", send(t, s, "GET", "/all?key=k", ``).body)
}

func TestAnItemThatIsNoObjectIsListedByItsName(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
		Success: mockserver.Answer{Status: 200, Body: `<Id>{id}</Id>`},
		Finds:   []mockserver.Find{{URL: "/all", Items: "/items", Where: "/key"}},
	}})
	defer s.Close()
	require.Equal(t, "<Id>effect-000001</Id>", pay(t, s, "k", `{}`).body)
	assert.Equal(t, `{"items":[{"id":"effect-000001","key":"k"}]}`+"\n", send(t, s, "GET", "/all", ``).body)
}
