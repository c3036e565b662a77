package oncehttp_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A stage is where a call is when its caller leaves.
type stage struct {
	server mockserver.Config
	change func(*oncehttp.Config)
	// before brings the client there.
	before func(b *bench, action string)
	scheme string
}

func stages() map[string]stage {
	unanswered := mockserver.Fault{See: mockserver.SeeNothing}.Always()
	busy := mockserver.Status(503).With("Retry-After", "20").Always()
	dials := func(dial func(ctx context.Context) (net.Conn, error)) func(*oncehttp.Config) {
		return func(cfg *oncehttp.Config) {
			transport := cfg.Transport.(*http.Transport)
			transport.DialTLSContext = nil
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
		}
	}
	return map[string]stage{
		"dial": {change: dials(func(ctx context.Context) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() })},
		"TLS handshake": {scheme: "https", change: dials(func(context.Context) (net.Conn, error) {
			conn, _ := net.Pipe()
			return conn, nil
		})},
		"write": {change: dials(func(context.Context) (net.Conn, error) {
			conn, _ := net.Pipe()
			return conn, nil
		})},
		"wait for the header": {server: script(unanswered)},
		"body":                {server: script(mockserver.Fault{See: mockserver.SeeDrip}.Always())},
		"backoff":             {server: script(mockserver.Status(409).With("Retry-After", "20").Always())},
		"gate": {server: script(busy), change: func(cfg *oncehttp.Config) { cfg.Gate.Failures = 1 }, before: func(b *bench, action string) {
			ctx, cancel := context.WithTimeout(b.Context(), time.Second)
			defer cancel()
			_, err := b.c.Do(action+" before", b.pay().WithContext(ctx))
			require.Error(b, err)
			_, err = b.c.Begin(action, b.pay()) // what is not recorded yet leaves with the context's error
			require.NoError(b, err)
		}},
		"look-up": {server: script(mockserver.Fault{See: mockserver.SeeClose}.Always()), change: func(cfg *oncehttp.Config) {
			unprotected(cfg)
			cfg.Lookup = func(ctx context.Context, _ *oncehttp.Intent) (oncehttp.Finding, error) {
				<-ctx.Done()
				return oncehttp.Finding{}, ctx.Err()
			}
		}},
		"another's call": {server: script(unanswered), before: func(b *bench, action string) {
			go b.c.Do(action, b.pay())
			time.Sleep(10 * time.Millisecond)
		}},
	}
}

func (s stage) request(b *bench) *http.Request {
	req := b.pay()
	if s.scheme != "" {
		req.URL.Scheme = s.scheme
	}
	return req
}

// leave cancels a call, and says how long it took to return.
func (s stage) leave(b *bench, action string, after time.Duration) time.Duration {
	b.Helper()
	if s.before != nil {
		s.before(b, action)
	}
	req := s.request(b)
	ctx, cancel := context.WithCancel(b.Context())
	var left time.Time
	var mu sync.Mutex
	time.AfterFunc(after, func() {
		mu.Lock()
		defer mu.Unlock()
		left = time.Now()
		cancel()
	})
	o, err := b.c.Do(action, req.WithContext(ctx))
	mu.Lock()
	took := time.Since(left)
	mu.Unlock()
	require.ErrorAs(b, err, new(*oncehttp.PendingError))
	assert.ErrorIs(b, err, context.Canceled)
	assert.Equal(b, oncehttp.Pending, o.State)
	known, err := b.c.Outcome(b.Context(), action)
	require.NoError(b, err)
	assert.Equal(b, oncehttp.Pending, known.State)
	return took
}

// T19
func TestACallerWhoLeavesIsToldAtOnceWhereverTheCallIs(t *testing.T) {
	t.Parallel()
	slow := func(cfg *oncehttp.Config) { cfg.Retry.AttemptTimeout = time.Minute }
	for name, s := range stages() {
		if s.change == nil {
			s.change = func(*oncehttp.Config) {}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, s.server, func(b *bench) {
				for i := range 3 {
					assert.Zero(b, s.leave(b, fmt.Sprint("pay-", i), 20*time.Millisecond))
				}
				require.NoError(b, b.c.Close())
			}, slow, s.change)
		})
		// On real sockets, where the machine may be slow: a call that nobody ended
		// would take longer, or end well.
		t.Run(name+", on sockets", func(t *testing.T) {
			t.Parallel()
			b := &bench{T: t, srv: mockserver.Start(s.server), path: journalPath(t)}
			t.Cleanup(b.srv.Close)
			transport := b.srv.Transport()
			b.cfg = oncehttp.Config{Transport: transport, Retry: fieldRetry, Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", 24*time.Hour)}}
			slow(&b.cfg)
			s.change(&b.cfg)
			b.open()
			for i := range 3 {
				action := fmt.Sprint("pay-", i)
				_, err := b.c.Begin(action, s.request(b)) // however slow the disk is, it is recorded when its caller leaves
				require.NoError(t, err)
				assert.Less(t, s.leave(b, action, 50*time.Millisecond), 15*time.Second)
			}
		})
	}
}

// Its payload may be another: it waits for the first one's record, until shortly
// before its client's time is over, and not again after that.
func TestACallerLeavesWhoWaitsForTheFirstOnesRecord(t *testing.T) {
	t.Parallel()
	spins := time.AfterFunc(20*time.Second, func() { panic("the caller asks again and again") })
	defer spins.Stop()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		var all sync.WaitGroup
		all.Go(func() { want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do()) })
		time.Sleep(time.Second)
		begun := time.Now()
		client := &http.Client{Transport: b.c, Timeout: 10 * time.Second}
		other := b.request(http.MethodPost, "/payments", `{"amount":501}`)
		_, err := client.Do(other.WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
		require.ErrorIs(b, err, context.DeadlineExceeded)
		assert.Less(b, time.Since(begun), 10*time.Second)
		all.Wait()
		assert.Len(b, b.srv.Requests(), 1)
	}, func(cfg *oncehttp.Config) {
		cfg.Authorize = func(*http.Request, bool) error {
			time.Sleep(time.Minute) // nothing is recorded yet
			return nil
		}
	})
}

// A refusal that is being begun again, and its whole answer, are what is known
// until there is another.
func TestACallerWhoLeavesABeginningAgainIsToldTheWholeRefusal(t *testing.T) {
	t.Parallel()
	refusal := mockserver.Status(401)
	refusal.Body = `{"error":"no"}`
	inBubble(t, script(refusal), func(b *bench) {
		first := b.do()
		want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, first)
		require.NotEmpty(b, first.Response.Body)
		b.reopen(func(cfg *oncehttp.Config) {
			cfg.Authorize = func(req *http.Request, _ bool) error { <-req.Context().Done(); return req.Context().Err() }
		})
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
		defer cancel()
		o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
		b.ruled(o, err)
		assert.Equal(b, first.Response, o.Response)
	})
}
