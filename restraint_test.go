package oncehttp_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// An API that answers 500 for ever, under a key that it remembers for ever.
func TestAnIntentThatNeverSettlesIsSentEverMoreSeldom(t *testing.T) {
	t.Parallel()
	failing := mockserver.Fault{Origin: true, Commit: true, Status: http.StatusInternalServerError}
	inBubble(t, mockserver.Config{Script: []mockserver.Fault{failing.Always()}}, func(b *bench) {
		o := b.do()
		require.Equal(b, oncehttp.Pending, o.State)
		ctx, cancel := context.WithTimeout(b.Context(), 24*time.Hour)
		defer cancel()
		assert.ErrorIs(b, b.c.Run(ctx), context.DeadlineExceeded)
		o = b.known()
		assert.Equal(b, oncehttp.Pending, o.State)
		assert.Greater(b, o.Attempts, 50, "it is not given up")
		assert.Less(b, o.Attempts, 1000, "with the pauses of a call it would be 8,000")

		before := o.Attempts
		o = b.do()
		assert.Greater(b, o.Attempts, before, "who asks does not wait for that")
	}, func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Window = oncehttp.Window{Kind: oncehttp.WindowForever}
		cfg.Contracts[0].Replay = oncehttp.Marker{}
	})
}

// An outage is a transport that loses every answer until it is over.
type outage struct {
	http.RoundTripper
	over time.Time
}

func (o outage) RoundTrip(req *http.Request) (*http.Response, error) {
	if time.Now().Before(o.over) {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, errors.New("nobody knows")
	}
	return o.RoundTripper.RoundTrip(req)
}

func lasting(d time.Duration) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		cfg.Transport = outage{cfg.Transport, time.Now().Add(d)}
	}
}

// With the pauses of its age alone it would have been let lie for the last hours.
func TestAnIntentIsStillTriedShortlyBeforeItsWindowCloses(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		o := b.do()
		require.Equal(b, oncehttp.Pending, o.State)
		usable := time.Until(o.SafeUntil)
		ctx, cancel := context.WithTimeout(b.Context(), usable+time.Minute)
		defer cancel()
		assert.ErrorIs(b, b.c.Run(ctx), context.DeadlineExceeded)
		assert.Equal(b, oncehttp.Confirmed, b.known().State)
		assert.Less(b, b.known().Attempts, 1000)
	}, lasting(21*time.Hour+34*time.Minute)) // 90 % of 24 hours is 21 and 36 minutes
}

func TestAnIntentWhoseWindowHasClosedIsToldOfSoon(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		o := b.do()
		ctx, cancel := context.WithTimeout(b.Context(), time.Until(o.SafeUntil)+time.Minute)
		defer cancel()
		assert.ErrorIs(b, b.c.Run(ctx), context.DeadlineExceeded)
		assert.Equal(b, oncehttp.KeyExpired, b.known().Reason)
	}, lasting(48*time.Hour))
}

// Its age says nothing where nobody tried.
func TestAnIntentThatWasBegunLongAgoIsNotPutOffByItsFirstFailure(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		in, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		time.Sleep(10 * 24 * time.Hour)
		o, err := in.Do(b.Context())
		b.ruled(o, err)
		require.Equal(b, oncehttp.Pending, o.State)
		assert.Less(b, time.Until(o.RetryAt), time.Minute)
	}, lasting(10*24*time.Hour+time.Minute))
}
