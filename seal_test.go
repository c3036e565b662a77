package oncehttp_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func gcm(t *testing.T, key byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(bytes.Repeat([]byte{key}, 32))
	require.NoError(t, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(t, err)
	return aead
}

func TestSealedBodiesAreNotInTheFile(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	path := journalPath(t)
	c := open(t, path, oncehttp.Config{Sealer: gcm(t, 1)})
	o, err := c.Do("pay-1", post(t, srv.URL+"/payments", `{"memo":"canary-in-request"}`))
	require.NoError(t, err)
	_, err = c.Begin("pay-2", post(t, srv.URL+"/payments", `{"memo":"canary-in-request"}`))
	require.NoError(t, err)
	again, err := c.Do("pay-1", post(t, srv.URL+"/payments", `{"memo":"canary-in-request"}`))
	require.NoError(t, err)
	assert.Equal(t, o.Response.Body, again.Response.Body)
	var mismatch *oncehttp.MismatchError
	_, err = c.Do("pay-2", post(t, srv.URL+"/payments", `{"memo":"another"}`))
	require.ErrorAs(t, err, &mismatch)
	assert.Equal(t, []string{"/memo"}, mismatch.Differs)
	require.NoError(t, c.Close())

	file, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.False(t, bytes.Contains(file, []byte("canary-in-request")))
	assert.False(t, bytes.Contains(file, o.Response.Body))
}

func TestALostSealingKeyLeavesTheIntentPending(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	path := journalPath(t)
	c := open(t, path, oncehttp.Config{Sealer: gcm(t, 1)})
	_, err := c.Begin("pay-1", post(t, srv.URL+"/payments", `{"amount":5}`))
	require.NoError(t, err)
	_, err = c.Do("pay-2", post(t, srv.URL+"/payments", `{"amount":6}`))
	require.NoError(t, err)
	require.NoError(t, c.Close())

	c = open(t, path, oncehttp.Config{Sealer: gcm(t, 2)})
	o, err := c.Do("pay-1", post(t, srv.URL+"/payments", `{"amount":5}`))
	require.ErrorAs(t, err, new(*oncehttp.PendingError))
	require.ErrorContains(t, o.Err, "sealed with a key")
	o, err = c.Do("pay-2", post(t, srv.URL+"/payments", `{"amount":6}`))
	require.ErrorContains(t, err, "sealed with a key")
	require.Equal(t, oncehttp.Confirmed, o.State)
	for o, err := range c.Resume(t.Context()) {
		require.NoError(t, err)
		assert.Equal(t, oncehttp.Pending, o.State)
		assert.ErrorContains(t, o.Err, "sealed with a key")
	}
	require.NoError(t, c.Close())
	require.Len(t, srv.Requests(), 1)

	c = open(t, path, oncehttp.Config{Sealer: gcm(t, 1)})
	o, err = c.Do("pay-1", post(t, srv.URL+"/payments", `{"amount":5}`))
	require.NoError(t, err)
	assert.Equal(t, oncehttp.Confirmed, o.State)
}

func TestAnotherPrincipalGetsNeitherAnswerNorSeat(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	path := journalPath(t)
	c := open(t, path, oncehttp.Config{Principal: func(r *http.Request) string { return r.Header.Get("Authorization") }})
	as := func(who string) *http.Request {
		req := post(t, srv.URL+"/payments", `{"amount":5}`)
		req.Header.Set("Authorization", who)
		return req
	}
	_, err := c.Do("pay-1", as("Bearer ada-lovelace"))
	require.NoError(t, err)
	o, err := c.Do("pay-1", as("Bearer bob"))
	require.ErrorIs(t, err, oncehttp.ErrPrincipal)
	require.Nil(t, o)
	_, err = c.Do("pay-1", as("Bearer ada-lovelace"))
	require.NoError(t, err)
	require.Len(t, srv.Requests(), 1)
	require.NoError(t, c.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.False(t, bytes.Contains(file, []byte("ada-lovelace")))
}

// Two processes share a journal: between a caller's look and its write another
// principal begins the action.
func TestACallerWithoutAPrincipalGetsNothingOfAnActionThatHasOne(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	shared, err := oncehttp.OpenBolt(journalPath(t), time.Second, nil)
	require.NoError(t, err)
	cfg := oncehttp.Config{Retry: fast, Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", time.Hour)},
		Principal: func(r *http.Request) string { return r.Header.Get("X-User") }}
	ours, err := oncehttp.New(shared, cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, ours.Close()) }()
	late := &hookedJournal{Journal: shared}
	late.create = func(oncehttp.Entry) error {
		late.create = nil
		req := post(t, srv.URL+"/payments", payment)
		req.Header.Set("X-User", "ada")
		_, err := ours.Do("pay-1", req)
		return err
	}
	theirs, err := oncehttp.New(keptOpen{late}, cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, theirs.Close()) }()
	o, err := theirs.Do("pay-1", post(t, srv.URL+"/payments", payment))
	require.ErrorIs(t, err, oncehttp.ErrPrincipal)
	require.Nil(t, o)
	require.Len(t, srv.Requests(), 1)
}

// keptOpen is a journal that outlives its client.
type keptOpen struct{ oncehttp.Journal }

func (keptOpen) Close() error { return nil }
