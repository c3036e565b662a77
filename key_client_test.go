package oncehttp_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

func TestAContractsUUIDRuleBindsTheCallersKeyAndNewKeys(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 0)
	c := carried(oncehttp.CarrierHeader, "Idempotency-Key")
	c.Key.UUID = oncehttp.UUIDRandom
	client := open(t, journalPath(t), oncehttp.Config{
		Contracts: []oncehttp.Contract{c},
		NewKey:    func(string) (string, error) { return "9073926b-929f-51c2-abc9-fad77ae3e8eb", nil }, // version 5
	})
	for key, want := range map[string]string{
		"own-key": "is not a UUID", "9073926b-929f-51c2-abc9-fad77ae3e8eb": "is not a random UUID",
		"9073926b-929f-41c2-0bc9-fad77ae3e8eb":          "is not a random UUID",
		"urn:uuid:9073926b-929f-41c2-abc9-fad77ae3e8eb": "is not a UUID", "9073926b-929f-41c2-abc9-fad77ae3e8eb": "",
	} {
		req := post(t, srv.URL, "{}")
		req.Header.Set("Idempotency-Key", key)
		_, err := client.HTTPClient().Do(req)
		if want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorIs(t, err, oncehttp.ErrInvalidRequest)
		assert.ErrorContains(t, err, want)
	}
	o, err := client.Do("pay-1", post(t, srv.URL, "{}"))
	require.NoError(t, err)
	require.Equal(t, "9073926b-929f-41c2-abc9-fad77ae3e8eb", o.Key, "respelled")
}

func TestADerivedFormFollowsFromContractAndAction(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 0)
	c := carried(oncehttp.CarrierJSON, "/id")
	c.Key = oncehttp.KeyRule{Form: oncehttp.FormDerived, UUID: oncehttp.UUIDAny}
	for range 2 {
		o, err := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c}}).Do("pay-1", post(t, srv.URL, "{}"))
		require.NoError(t, err)
		require.Equal(t, "d89a25a4-74e1-52dd-9529-2ff1d321ff45", o.Key, "it never changes")
	}
	resp, err := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c}}).HTTPClient().Do(post(t, srv.URL, "{}"))
	require.NoError(t, err)
	o, _ := oncehttp.OutcomeOf(resp)
	id, err := uuid.Parse(o.Key)
	require.NoError(t, err)
	require.Equal(t, uuid.Version(4), id.Version(), "nobody named it")
}

func TestALongFormHasTheBitsTwice(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 0)
	c := carried(oncehttp.CarrierForm, "Token")
	c.Key = oncehttp.KeyRule{Min: 33, Max: 64, Form: oncehttp.FormLong}
	req := carrierCase{contentType: "application/x-www-form-urlencoded"}.request(t, srv.URL, "/", "a=1")
	o, err := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c}}).Do("pay-1", req)
	require.NoError(t, err)
	require.Len(t, o.Key, 64)
	require.Equal(t, o.Key[:32], o.Key[32:])
	require.Equal(t, "a=1&Token="+o.Key, srv.requests()[0].body)
}

func TestAPinnedKeyIsAnotherKeyElsewhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pin                oncehttp.Pin
		method, host, path string // of the second request; the first is a POST to a.test/a
		known              bool
	}{
		{0, "POST", "a.test", "/b", true},
		{0, "PATCH", "a.test", "/a", true},
		{0, "POST", "b.test", "/a", true},
		{oncehttp.PinPath, "POST", "a.test", "/b", false},
		{oncehttp.PinPath, "PATCH", "b.test", "/a?x", true},
		{oncehttp.PinMethod, "PATCH", "a.test", "/a", false},
		{oncehttp.PinMethod, "POST", "b.test", "/b", true},
		{oncehttp.PinHost, "POST", "b.test", "/a", false},
		{oncehttp.PinHost, "PATCH", "A.test", "/b", true},
	} {
		srv := newRecorder(t, 0)
		c := carried(oncehttp.CarrierHeader, "Idempotency-Key")
		c.Pin, c.Match.Methods = tt.pin, []string{"POST", "PATCH"}
		client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c}})
		send := func(method, host, path string) error {
			req := post(t, srv.URL+path, "{}")
			req.Method, req.Host = method, host
			req.Header.Set("Idempotency-Key", "own-key-1")
			_, err := client.HTTPClient().Do(req)
			return err
		}
		require.NoError(t, send("POST", "a.test", "/a"))
		require.NoError(t, send("POST", "a.test", "/a"))
		require.Len(t, srv.requests(), 1)
		err := send(tt.method, tt.host, tt.path)
		if tt.known {
			require.ErrorIs(t, err, oncehttp.ErrMismatch, "%+v: the key is known with another payload", tt)
			require.Len(t, srv.requests(), 1)
		} else {
			require.NoError(t, err)
			require.Len(t, srv.requests(), 2, "%+v", tt)
		}
	}
}

func TestAKeyIsNoProtectionOnceTheAPITakesItElsewhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind oncehttp.CarrierKind
		name string
		sent int
	}{
		{oncehttp.CarrierHeader, "idempotency-key", 2},
		{oncehttp.CarrierHeader, "X-Key", 1},
		{oncehttp.CarrierJSON, "/id", 1},
	} {
		srv, path := newRecorder(t, 1), journalPath(t)
		cfg := oncehttp.Config{Contracts: []oncehttp.Contract{carried(oncehttp.CarrierHeader, "Idempotency-Key")}, Retry: fast}
		cfg.Retry.MaxAttempts = 1
		client, err := oncehttp.Open(path, cfg)
		require.NoError(t, err)
		_, err = client.Do("pay-1", post(t, srv.URL, "{}"))
		require.Error(t, err)
		require.NoError(t, client.Close())

		cfg.Contracts = []oncehttp.Contract{carried(tt.kind, tt.name)}
		o, err := open(t, path, cfg).Do("pay-1", post(t, srv.URL, "{}"))
		require.Len(t, srv.requests(), tt.sent, tt.name)
		if tt.sent == 1 {
			require.ErrorAs(t, err, new(*oncehttp.PendingError))
			require.True(t, o.MayHaveExecuted)
		} else {
			require.NoError(t, err)
			require.Equal(t, o.Key, srv.requests()[1].header.Get("Idempotency-Key"), "it travels as recorded")
		}
	}
}
