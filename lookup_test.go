package oncehttp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// answers is a lookup that gives one finding after the other, then the last.
func answers(asked *int, findings ...oncehttp.Finding) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		cfg.Lookup = func(context.Context, *oncehttp.Intent) (oncehttp.Finding, error) {
			n := min(*asked, len(findings)-1)
			*asked++
			return findings[n], nil
		}
	}
}

func TestALookupThatFindsTheEffectConfirmsInsteadOfResending(t *testing.T) {
	t.Parallel()
	asked := 0
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		o, err := b.c.Do("pay-1", post(b.T, "http://api.test/payments", `{"amount":5}`))
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Equal(b, "ch_1", o.Reference)
		assert.Equal(b, 1, o.Attempts)
		assert.Equal(b, 1, asked)
		assert.Len(b, b.srv.Requests(), 1)
	}, unprotected, answers(&asked, oncehttp.Finding{Kind: oncehttp.Found, Reference: "ch_1"}))
}

func TestNotFoundIsProofOnlyWhenItIsSaidTwiceASettleTimeApart(t *testing.T) {
	t.Parallel()
	asked := 0
	lost := mockserver.Fault{See: mockserver.SeeReset}
	inBubble(t, script(lost), func(b *bench) {
		o, err := b.c.Do("pay-1", post(b.T, "http://api.test/payments", `{"amount":5}`))
		var pending *oncehttp.PendingError
		require.ErrorAs(b, err, &pending)
		assert.Equal(b, oncehttp.Unknown, o.Reason)
		assert.Equal(b, 1, asked, "at once it is too early, whatever was found")
		start := time.Now()
		for range 10 {
			if o.State == oncehttp.Confirmed {
				break
			}
			time.Sleep(time.Until(o.RetryAt))
			for o, err = range b.c.Resume(b.Context()) {
				require.NoError(b, err)
			}
		}
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.GreaterOrEqual(b, time.Since(start), 2*time.Minute, "one settle time after the send, another in between")
		assert.Equal(b, 3, asked)
		assert.Equal(b, 2, o.Attempts)
		assert.Equal(b, 1, b.srv.EffectsTotal())
	}, unprotected, answers(&asked, oncehttp.Finding{Kind: oncehttp.NotFound}))
}

// Rule 10: what was proved not to have happened waits as long as the server
// asked.
func TestAnIntentThatIsNowhereFoundIsNotSentSoonerThanTheServerAsked(t *testing.T) {
	t.Parallel()
	asked := 0
	inBubble(t, script(mockserver.Status(503).With("Retry-After", "3600")), func(b *bench) {
		o, err := b.c.Do("pay-1", post(b.T, "http://api.test/payments", `{"amount":5}`))
		require.Error(b, err)
		for range 10 {
			if o.State == oncehttp.Confirmed {
				break
			}
			sleepUntil(o.RetryAt)
			for o, err = range b.c.Resume(b.Context()) {
				require.NoError(b, err)
			}
		}
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Equal(b, 3, asked)
		assert.GreaterOrEqual(b, b.firstGap(), time.Hour)
	}, unprotected, answers(&asked, oncehttp.Finding{Kind: oncehttp.NotFound}), func(cfg *oncehttp.Config) { cfg.Gate.Off = true })
}

func TestAnErrorOfALookupIsNeverNotFound(t *testing.T) {
	t.Parallel()
	asked := 0
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		o, err := b.c.Do("pay-1", post(b.T, "http://api.test/payments", `{"amount":5}`))
		require.Error(b, err)
		for range 5 {
			time.Sleep(time.Until(o.RetryAt))
			for o, err = range b.c.Resume(b.Context()) {
				require.NoError(b, err)
			}
		}
		require.Equal(b, oncehttp.Pending, o.State)
		assert.True(b, o.MayHaveExecuted)
		assert.Equal(b, 6, asked)
		assert.Len(b, b.srv.Requests(), 1)
		assert.NotContains(b, o.Err.Error(), "canary")
	}, unprotected, func(cfg *oncehttp.Config) {
		cfg.Lookup = func(context.Context, *oncehttp.Intent) (oncehttp.Finding, error) {
			asked++
			return oncehttp.Finding{Kind: oncehttp.NotFound}, errors.New("canary")
		}
	})
}

func TestAnExpiredKeyIsLookedUpNotSent(t *testing.T) {
	t.Parallel()
	asked := 0
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		_, err := b.c.Do("pay-1", post(b.T, "http://api.test/payments", `{"amount":5}`))
		require.Error(b, err)
		assert.Zero(b, asked, "inside its window it can be sent again")
		time.Sleep(25 * time.Hour)
		var last *oncehttp.Outcome
		for o, err := range b.c.Resume(b.Context()) {
			require.NoError(b, err)
			last = o
		}
		require.NotNil(b, last)
		assert.Equal(b, oncehttp.Confirmed, last.State)
		assert.Equal(b, "ch_1", last.Reference)
		assert.Len(b, b.srv.Requests(), 1)
	}, oneAttempt, answers(&asked, oncehttp.Finding{Kind: oncehttp.Found, Reference: "ch_1"}))
}
