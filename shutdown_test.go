package oncehttp_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C072
func TestCloseUnderRunningCallsLosesNothing(t *testing.T) {
	t.Parallel()
	const calls = 20
	inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				o, err := b.c.Do(fmt.Sprintf("pay-%d", i), b.pay())
				b.ruled(o, err)
				require.ErrorIs(b, err, oncehttp.ErrClosed)
				assert.True(b, o.MayHaveExecuted)
			})
		}
		time.Sleep(50 * time.Millisecond)
		begun := time.Now()
		require.NoError(b, b.c.Close())
		assert.LessOrEqual(b, time.Since(begun), 150*time.Millisecond)
		require.NoError(b, b.c.Close())
		all.Wait()
		b.closed()
		time.Sleep(2 * time.Second)
		b.open()
		pending := 0
		for range b.c.Pending(b.Context()) {
			pending++
		}
		assert.Equal(b, calls, pending)
		confirmed := 0
		for o, err := range b.c.Resume(b.Context()) {
			require.NoError(b, err)
			assert.Equal(b, oncehttp.Confirmed, o.State)
			assert.True(b, o.Response.Replayed)
			confirmed++
		}
		assert.Equal(b, calls, confirmed)
		assert.Equal(b, calls, b.srv.EffectsTotal())
	})
}

// closed checks that a closed client says so everywhere, and closes bodies.
func (b *bench) closed() {
	b.Helper()
	sent := len(b.srv.Requests())
	for name, call := range map[string]func(*http.Request) error{
		"Do":        func(req *http.Request) error { _, err := b.c.Do("pay-1", req); return err },
		"Begin":     func(req *http.Request) error { _, err := b.c.Begin("pay-1", req); return err },
		"RoundTrip": func(req *http.Request) error { _, err := b.c.RoundTrip(req); return err },
		"GET": func(req *http.Request) error {
			req.Method = http.MethodGet
			_, err := b.c.RoundTrip(req)
			return err
		},
	} {
		req := b.pay()
		body := &countedBody{Reader: req.Body}
		req.Body = body
		assert.ErrorIs(b, call(req), oncehttp.ErrClosed, name)
		assert.EqualValues(b, 1, body.closed.Load(), name)
	}
	for _, err := range b.c.Resume(b.Context()) {
		assert.ErrorIs(b, err, oncehttp.ErrClosed)
	}
	assert.ErrorIs(b, b.c.Run(b.Context()), oncehttp.ErrClosed)
	assert.ErrorIs(b, b.c.Resolve(b.Context(), "pay-1", oncehttp.Resolution{State: oncehttp.Confirmed}), oncehttp.ErrClosed)
	_, err := b.c.Outcome(b.Context(), "pay-1")
	assert.ErrorIs(b, err, oncehttp.ErrClosed)
	assert.Len(b, b.srv.Requests(), sent)
}

func TestShutdownWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
		b.srv.ScriptPath("/waits", mockserver.Status(503).With("Retry-After", "20"))
		var all sync.WaitGroup
		all.Go(func() { want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do()) })
		time.Sleep(50 * time.Millisecond) // the 503 shuts the gate for what comes after it
		all.Go(func() {
			o, err := b.c.Do("waits", b.request(http.MethodPost, "/waits", payment))
			b.ruled(o, err)
			want{oncehttp.Pending, oncehttp.Throttled, 1, true, false}.check(b, o)
			require.ErrorIs(b, err, oncehttp.ErrClosed)
			assert.False(b, o.RetryAt.IsZero())
		})
		time.Sleep(50 * time.Millisecond)
		begun := time.Now()
		require.NoError(b, b.c.Shutdown(b.Context()))
		assert.Equal(b, 400*time.Millisecond, time.Since(begun))
		all.Wait()
		require.NoError(b, b.c.Shutdown(b.Context()), "a second one does nothing")
		b.closed()
		b.open()
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
	})
	// It stops at its own deadline.
	inBubble(t, mockserver.Config{Work: 800 * time.Millisecond}, func(b *bench) {
		var all sync.WaitGroup
		all.Go(func() {
			o := b.do()
			assert.True(b, o.MayHaveExecuted)
			assert.ErrorIs(b, o.Err, oncehttp.ErrClosed)
		})
		time.Sleep(100 * time.Millisecond)
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
		defer cancel()
		require.ErrorIs(b, b.c.Shutdown(ctx), context.DeadlineExceeded)
		all.Wait()
		time.Sleep(time.Second)
		b.open()
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		assert.Equal(b, oncehttp.Confirmed, outcomes[0].State)
		assert.Equal(b, 1, b.srv.EffectsTotal())
	})
}

// A transport that does not heed its context does not hold Close up.
func TestCloseDoesNotWaitForADeafTransport(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		var all sync.WaitGroup
		all.Go(func() {
			o := b.do()
			assert.True(b, o.MayHaveExecuted)
		})
		synctest.Wait()
		begun := time.Now()
		require.NoError(b, b.c.Close())
		assert.LessOrEqual(b, time.Since(begun), 200*time.Millisecond)
		all.Wait()
		time.Sleep(time.Hour)
	}, func(cfg *oncehttp.Config) {
		inner := cfg.Transport
		cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute)
			return inner.RoundTrip(req)
		})
	})
}

// Nor Shutdown, once its time is up.
func TestShutdownDoesNotWaitForADeafTransportForEver(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		var all sync.WaitGroup
		all.Go(func() {
			o := b.do()
			assert.True(b, o.MayHaveExecuted)
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		require.ErrorIs(b, b.c.Shutdown(ctx), context.DeadlineExceeded)
		assert.LessOrEqual(b, time.Since(begun), 1200*time.Millisecond)
		all.Wait()
		time.Sleep(time.Hour)
	}, func(cfg *oncehttp.Config) {
		cfg.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Minute)
			return nil, assert.AnError
		})
	})
}

func TestBreakingOutOfResumeStopsTakingUpAndWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 100 * time.Millisecond}, func(b *bench) {
		for i := range 20 {
			_, err := b.c.Begin(fmt.Sprintf("pay-%d", i), b.pay())
			require.NoError(b, err)
		}
		for o, err := range b.c.Resume(b.Context()) {
			require.NoError(b, err)
			assert.Equal(b, oncehttp.Confirmed, o.State)
			break
		}
		sent := b.srv.Requests()
		assert.LessOrEqual(b, len(sent), 2*3)
		for _, q := range sent {
			assert.True(b, q.Done)
		}
		time.Sleep(time.Minute)
		assert.Len(b, b.srv.Requests(), len(sent), "nothing goes on behind")
		assert.Len(b, b.resume(), 20-len(sent), "and nothing is lost")
		assert.Equal(b, 20, b.srv.EffectsTotal())
	}, func(cfg *oncehttp.Config) { cfg.Concurrency = 3 })
}

func TestAPassEndsWithItsContext(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
		for i := range 4 {
			_, err := b.c.Begin(fmt.Sprintf("pay-%d", i), b.pay())
			require.NoError(b, err)
		}
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		var last error
		for o, err := range b.c.Resume(ctx) {
			if last = err; err == nil {
				assert.True(b, o.MayHaveExecuted)
				assert.ErrorIs(b, o.Err, context.DeadlineExceeded)
			}
		}
		assert.ErrorIs(b, last, context.DeadlineExceeded)
		assert.Equal(b, 100*time.Millisecond, time.Since(begun))
		time.Sleep(time.Second)
		b.resume()
		assert.Equal(b, 4, b.srv.EffectsTotal())
		assert.Len(b, b.srv.Requests(), 4)
	}, func(cfg *oncehttp.Config) { cfg.Concurrency = 2 })
}

func TestRunTakesUpWhatBecomesDue(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(429).With("Retry-After", "3600")), func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error)
		go func() { ended <- b.c.Run(ctx) }()
		want{oncehttp.Pending, oncehttp.Throttled, 1, false, false}.check(b, b.do())
		time.Sleep(59 * time.Minute)
		assert.Len(b, b.srv.Requests(), 1)
		time.Sleep(2 * time.Minute)
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.known())
		_, err := b.c.Begin("later", b.request(http.MethodPost, "/later", payment))
		require.NoError(b, err)
		time.Sleep(5 * time.Second)
		assert.Equal(b, 1, b.srv.EffectsOf("POST /later"), "also what was left behind meanwhile")
		cancel()
		require.Equal(b, context.Canceled, <-ended)
	})
	inBubble(t, mockserver.Config{}, func(b *bench) {
		ended := make(chan error)
		go func() { ended <- b.c.Run(b.Context()) }()
		time.Sleep(time.Second)
		require.NoError(b, b.c.Close())
		require.ErrorIs(b, <-ended, oncehttp.ErrClosed)
	})
}

// What cannot be sent as things are does not make Run spin.
func TestRunDoesNotSpinOnWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	events := 0
	inBubble(t, mockserver.Config{}, func(b *bench) {
		_, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(b, b.c.Run(ctx), context.DeadlineExceeded)
		assert.LessOrEqual(b, events, 2000, "an hour of at most one pass in two seconds, once it has slowed down")
	}, func(cfg *oncehttp.Config) {
		cfg.Authorize = func(*http.Request, bool) error { events++; return assert.AnError }
	})
}

// A transport that was lent keeps its idle connections.
func TestALentTransportIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.do()
		require.NoError(b, b.c.Close())
		resp, err := b.cfg.Transport.RoundTrip(b.request(http.MethodGet, "/after", ""))
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		q := b.srv.Requests()
		assert.Equal(b, q[0].Conn, q[1].Conn)
	})
}
