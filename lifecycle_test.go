package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
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

// A caller who is cancelled, wherever that is, gets a PendingError at once; the
// attempt under way is finished and recorded by the client. T19
func TestACancelledCallerIsToldAtOnceAndTheAttemptIsFinished(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	slowDial := func(cfg *oncehttp.Config) {
		transport := cfg.Transport.(*http.Transport)
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			time.Sleep(600 * time.Millisecond)
			return dial(ctx, network, addr)
		}
	}
	slowWrite := func(cfg *oncehttp.Config) {
		transport := cfg.Transport.(*http.Transport)
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			return slowWriter{conn}, err
		}
	}
	long := mockserver.Fault{See: mockserver.SeeDrip, Every: 30 * time.Millisecond}
	for name, tt := range map[string]struct {
		server mockserver.Config
		change func(*oncehttp.Config)
	}{
		"dial":            {mockserver.Config{}, slowDial},
		"write":           {mockserver.Config{}, slowWrite},
		"wait for header": {mockserver.Config{Work: 600 * time.Millisecond}, nil},
		"body":            {script(long), nil},
	} {
		for range 5 {
			after := time.Duration(1+chance.IntN(500)) * time.Millisecond
			t.Run(fmt.Sprintf("%s after %v", name, after), func(t *testing.T) {
				t.Parallel()
				change := tt.change
				if change == nil {
					change = func(*oncehttp.Config) {}
				}
				inBubble(t, tt.server, func(b *bench) {
					ctx, cancel := context.WithCancel(b.Context())
					time.AfterFunc(after, cancel)
					begun := time.Now()
					o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
					b.ruled(o, err)
					assert.ErrorIs(b, err, context.Canceled)
					assert.LessOrEqual(b, time.Since(begun), after+50*time.Millisecond)
					want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
					assert.True(b, o.InFlight)
					time.Sleep(time.Minute)
					want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
					assert.Len(b, b.srv.Requests(), 1)
				}, change, func(cfg *oncehttp.Config) { cfg.Retry.AttemptTimeout = 10 * time.Second })
			})
		}
	}
}

type slowWriter struct{ net.Conn }

func (c slowWriter) Write(p []byte) (int, error) {
	time.Sleep(501 * time.Millisecond)
	return c.Conn.Write(p)
}

// C022
func TestAWaitEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	busy := script(mockserver.Status(429).With("Retry-After", "20").Always())
	t.Run("deadline", func(t *testing.T) {
		inBubble(t, busy, func(b *bench) {
			ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
			defer cancel()
			begun := time.Now()
			o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
			b.ruled(o, err)
			want{oncehttp.Pending, oncehttp.Throttled, 1, false, false}.check(b, o)
			assert.Less(b, time.Since(begun), 100*time.Millisecond, "the wait does not fit: Pending at once")
			require.ErrorIs(b, err, context.DeadlineExceeded)
			assert.WithinDuration(b, begun.Add(20*time.Second), o.RetryAt, time.Second)
			b.reopen()
			assert.Equal(b, o.RetryAt.UnixMicro(), b.known().RetryAt.UnixMicro())
		})
	})
	t.Run("cancel", func(t *testing.T) {
		inBubble(t, busy, func(b *bench) {
			ctx, cancel := context.WithCancel(b.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			begun := time.Now()
			o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
			b.ruled(o, err)
			want{oncehttp.Pending, oncehttp.Throttled, 1, false, false}.check(b, o)
			require.ErrorIs(b, err, context.Canceled)
			assert.Less(b, time.Since(begun), 100*time.Millisecond)
			time.Sleep(time.Minute)
			assert.Len(b, b.srv.Requests(), 1, "nobody waits: no further attempt")
			b.reopen()
			assert.Equal(b, 1, b.known().Attempts)
		})
	})
	t.Run("one of two", func(t *testing.T) {
		inBubble(t, script(mockserver.Status(429).With("Retry-After", "20")), func(b *bench) {
			var all sync.WaitGroup
			all.Go(func() {
				ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
				defer cancel()
				begun := time.Now()
				o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
				b.ruled(o, err)
				require.ErrorIs(b, err, context.DeadlineExceeded)
				assert.Less(b, time.Since(begun), 100*time.Millisecond)
			})
			all.Go(func() { want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do()) })
			all.Wait()
		})
	})
}

// T8, T18: http.Client.Timeout is a deadline and req.Cancel.
func TestTheTimeoutOfAnHTTPClientLeavesAPendingError(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]mockserver.Config{
		"in an attempt": {Work: 800 * time.Millisecond},
		"in a wait":     script(mockserver.Status(503), mockserver.Status(503), mockserver.Status(503).With("Retry-After", "20")),
		"wait too long": script(mockserver.Status(503).With("Retry-After", "5").Always()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, server, func(b *bench) {
				client := b.c.HTTPClient()
				client.Timeout = 500 * time.Millisecond
				begun := time.Now()
				_, err := client.Do(b.pay())
				var pending *oncehttp.PendingError
				require.ErrorAs(b, err, &pending)
				assert.ErrorIs(b, err, context.DeadlineExceeded)
				assert.LessOrEqual(b, time.Since(begun), client.Timeout)
				assert.True(b, pending.Outcome.MayHaveExecuted)
				time.Sleep(2 * time.Second)
			})
		})
	}
	inBubble(t, mockserver.Config{Work: 800 * time.Millisecond}, func(b *bench) {
		cancel := make(chan struct{})
		time.AfterFunc(100*time.Millisecond, func() { close(cancel) })
		req := b.pay()
		//lint:ignore SA1019 http.Client.Timeout still sets it
		req.Cancel = cancel
		begun := time.Now()
		_, err := b.c.RoundTrip(req)
		var pending *oncehttp.PendingError
		require.ErrorAs(b, err, &pending)
		assert.Less(b, time.Since(begun), 150*time.Millisecond)
		time.Sleep(2 * time.Second)
	})
}

// What the call itself is about to change is told when it is changed.
func TestACallerWhoLeavesWhileItsActionIsBegunAgainIsNotToldTheOldRefusal(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(403)), func(b *bench) {
		want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, b.do())
		b.hook(&hookedJournal{update: func(oncehttp.Entry) error {
			time.Sleep(time.Second)
			return nil
		}})
		ctx, cancel := context.WithTimeout(oncehttp.WithAction(b.Context(), "pay-1"), 500*time.Millisecond)
		defer cancel()
		req := b.pay().WithContext(ctx)
		//lint:ignore SA1019 http.Client.Timeout still sets it
		req.Cancel = make(chan struct{})
		_, err := b.c.RoundTrip(req)
		var pending *oncehttp.PendingError
		require.ErrorAs(b, err, &pending)
		want{oncehttp.Pending, oncehttp.NotSent, 1, false, false}.check(b, pending.Outcome)
		time.Sleep(time.Minute)
		want{oncehttp.Pending, oncehttp.NotSent, 1, false, false}.check(b, b.known())
		assert.Len(b, b.srv.Requests(), 1)
	})
}

func TestCancelledBeforeItsFirstSaveThereIsNoRecord(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
		require.Equal(b, context.Canceled, err)
		assert.Nil(b, o)
		_, err = b.c.RoundTrip(b.pay().WithContext(oncehttp.WithAction(ctx, "pay-1")))
		require.Equal(b, context.Canceled, err)
		_, err = b.c.Begin("pay-1", b.pay().WithContext(ctx))
		require.Equal(b, context.Canceled, err)
		b.nothing()
	})
	// During Authorize, which comes before the first save; it may fail later.
	for _, failure := range []error{nil, errors.New("no token")} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
			defer cancel()
			o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
			require.Equal(b, context.DeadlineExceeded, err)
			assert.Nil(b, o)
			time.Sleep(time.Second)
			b.nothing()
		}, func(cfg *oncehttp.Config) {
			cfg.Authorize = func(*http.Request, bool) error {
				time.Sleep(200 * time.Millisecond)
				return failure
			}
		})
	}
}

// nothing checks that the journal is empty and nothing was sent.
func (b *bench) nothing() {
	b.Helper()
	for in, err := range b.c.Pending(b.Context()) {
		require.NoError(b, err)
		assert.Fail(b, "recorded", in)
	}
	_, err := b.c.Outcome(b.Context(), "pay-1")
	assert.ErrorIs(b, err, oncehttp.ErrNotFound)
	assert.Empty(b, b.resume())
	assert.Empty(b, b.srv.Requests())
}

// Whoever is told a context's error, and no outcome, left no record behind; and
// nobody is left without an answer, however leaving and sitting down meet.
func TestLeavingAndJoiningAtTheSameMomentStrandsNobody(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	srv := mockserver.Memory(mockserver.Config{})
	defer srv.Close()
	const rounds = 150
	type leaveKey struct{}
	c := open(t, journalPath(t), oncehttp.Config{Transport: srv.Transport(), Authorize: func(req *http.Request, _ bool) error {
		if leave, ok := req.Context().Value(leaveKey{}).(func()); ok {
			leave()
		}
		return nil
	}})
	for i := range rounds {
		action := fmt.Sprintf("pay-%d", i)
		pause := time.Duration(chance.IntN(60)) * time.Microsecond
		ctx, cancel := context.WithCancel(t.Context())
		ctx = context.WithValue(ctx, leaveKey{}, func() {
			go cancel()
			time.Sleep(pause)
		})
		joins := i%2 == 0
		var all sync.WaitGroup
		var left error
		var leftWith *oncehttp.Outcome
		all.Go(func() { leftWith, left = c.Do(action, post(t, srv.URL+"/payments", payment).WithContext(ctx)) })
		if joins {
			all.Go(func() {
				o, err := c.Do(action, post(t, srv.URL+"/payments", payment))
				if assert.NoError(t, err) {
					assert.Equal(t, oncehttp.Confirmed, o.State)
				}
			})
		}
		all.Wait()
		if !joins && leftWith == nil && left != nil {
			time.Sleep(time.Millisecond)
			_, err := c.Outcome(t.Context(), action)
			require.ErrorIs(t, err, oncehttp.ErrNotFound, "round %d", i)
		}
		cancel()
	}
}

func TestEverythingIsGivenBack(t *testing.T) {
	t.Parallel()
	// The bubble ends only when every goroutine has ended: of calls that settled,
	// were cancelled, wait, stream and were closed.
	faults := []mockserver.Fault{mockserver.Lost(), mockserver.Status(503), {See: mockserver.SeeEndless}, {See: mockserver.SeeNothing}, {}}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for i, fault := range faults {
			b.srv.ScriptPath(fmt.Sprintf("/%d", i), fault)
			ctx, cancel := context.WithTimeout(b.Context(), 1500*time.Millisecond)
			resp, err := b.c.RoundTrip(b.request(http.MethodPost, fmt.Sprintf("/%d", i), payment).WithContext(ctx))
			if err == nil {
				require.NoError(b, resp.Body.Close())
			}
			cancel()
		}
		synctest.Wait()
	})
}
