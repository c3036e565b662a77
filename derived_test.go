package oncehttp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestTwoJournalsThatShareASecretShareAKey(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	secret := []byte("0123456789abcdef")
	one := open(t, journalPath(t), oncehttp.Config{NewKey: oncehttp.DerivedKeys(secret, "shop")})
	two := open(t, journalPath(t), oncehttp.Config{NewKey: oncehttp.DerivedKeys(secret, "shop")})
	first, err := one.Do("order-1/charge", post(t, srv.URL+"/payments", `{"amount":5}`))
	require.NoError(t, err)
	second, err := two.Do("order-1/charge", post(t, srv.URL+"/payments", `{"amount":5}`))
	require.NoError(t, err)
	assert.Equal(t, first.Key, second.Key)
	assert.True(t, second.Response.Replayed)
	assert.Equal(t, 1, srv.EffectsTotal())
}

func TestDerivedKeysDifferByNamespaceActionAndSecret(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, secret := range []string{"0123456789abcdef", "fedcba9876543210"} {
		for _, namespace := range []string{"a", "ab", ""} {
			for _, action := range []string{"b", "bb", "abb"} {
				key, err := oncehttp.DerivedKeys([]byte(secret), namespace)(action)
				require.NoError(t, err)
				assert.False(t, seen[key])
				seen[key] = true
			}
		}
	}
	_, err := oncehttp.DerivedKeys([]byte("short"), "a")("b")
	assert.Error(t, err)
}

func TestAKeyIsSpelledAsItsContractWants(t *testing.T) {
	t.Parallel()
	contract := oncehttp.IdempotencyKey("*", time.Hour)
	contract.Key.Form = oncehttp.FormHex
	contract.Key.Max = 32
	c := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{contract},
		NewKey: oncehttp.DerivedKeys([]byte("0123456789abcdef"), "shop")})
	in, err := c.Begin("order-1", post(t, "http://api.test/payments", `{}`))
	require.NoError(t, err)
	assert.Len(t, in.Key(), 32)
}

func TestAWindowCountsFromTheBirthOfTheAction(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	c := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", time.Hour)}})
	o, err := c.Do("old", post(t, srv.URL+"/payments", `{}`), oncehttp.ActionTime(time.Now().Add(-2*time.Hour)))
	var pending *oncehttp.PendingError
	require.ErrorAs(t, err, &pending)
	assert.Equal(t, oncehttp.KeyExpired, o.Reason)
	assert.Empty(t, srv.Requests())
	_, err = c.Do("young", post(t, srv.URL+"/payments", `{}`), oncehttp.ActionTime(time.Now().Add(-time.Minute)))
	require.NoError(t, err)
}

func TestARewordedPayloadJoinsTheFirst(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	c := open(t, journalPath(t), oncehttp.Config{})
	_, err := c.Do("pay-1", post(t, srv.URL+"/payments", `{"memo":"first"}`))
	require.NoError(t, err)
	o, err := c.Do("pay-1", post(t, srv.URL+"/payments", `{"memo":"second"}`), oncehttp.KeepFirst())
	require.NoError(t, err)
	assert.True(t, o.Reworded)
	assert.Equal(t, oncehttp.Confirmed, o.State)
	same, err := c.Do("pay-1", post(t, srv.URL+"/payments", `{"memo":"first"}`), oncehttp.KeepFirst())
	require.NoError(t, err)
	assert.False(t, same.Reworded)

	req := post(t, srv.URL+"/payments", `{"memo":"second"}`)
	req = req.WithContext(oncehttp.WithAction(req.Context(), "pay-1", oncehttp.KeepFirst()))
	_, err = c.RoundTrip(req)
	require.ErrorIs(t, err, oncehttp.ErrMismatch)
	assert.Len(t, srv.Requests(), 1)
}

// Zones from before 1920 or so are off by seconds, which JSON does not hold.
func TestABirthInAnOddZoneIsTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		born := time.Now().Add(-time.Hour).In(time.FixedZone("LMT", 3600+58))
		o, err := b.c.Do("pay-1", b.pay(), oncehttp.ActionTime(born))
		b.ruled(o, err)
		b.reopen()
		assert.Equal(b, o.SafeUntil, b.known().SafeUntil)
	}, oneAttempt)
}
