package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// byHost sends to servers in memory, and counts.
type byHost struct {
	servers         map[string]http.RoundTripper
	calls, now, top atomic.Int64
}

func (b *byHost) RoundTrip(req *http.Request) (*http.Response, error) {
	b.calls.Add(1)
	n := b.now.Add(1)
	defer b.now.Add(-1)
	for top := b.top.Load(); n > top && !b.top.CompareAndSwap(top, n); top = b.top.Load() {
	}
	return b.servers[req.URL.Hostname()].RoundTrip(req)
}

// failingUntil answers 503 until a time, 201 after it.
func failingUntil(end time.Time) mockserver.Config {
	return mockserver.Config{Execute: func(*http.Request) mockserver.Answer {
		if time.Now().Before(end) {
			return mockserver.Answer{Status: http.StatusServiceUnavailable}
		}
		return mockserver.Answer{Status: http.StatusCreated}
	}}
}

// gated opens a client on servers in memory. Usual budgets.
func gated(t *testing.T, path string, cfg oncehttp.Config, hosts map[string]*mockserver.Server) (*oncehttp.Client, *byHost) {
	t.Helper()
	b := &byHost{servers: map[string]http.RoundTripper{}}
	for name, s := range hosts {
		transport := s.Transport()
		t.Cleanup(transport.CloseIdleConnections)
		b.servers[name] = transport
	}
	cfg.Transport = b
	if cfg.Contracts == nil {
		cfg.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("*", 24*time.Hour)}
	}
	c, err := oncehttp.Open(path, cfg)
	require.NoError(t, err)
	return c, b
}

func payAt(ctx context.Context, host string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+host+"/payments", strings.NewReader(`{"amount":500}`))
	if err != nil {
		panic(err)
	}
	return req
}

func TestAnOutageOfAMinuteIsNeitherFeltByTheServerNorLosesAnything(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		end := start.Add(time.Minute)
		s := mockserver.Memory(failingUntil(end))
		defer s.Close()
		var mu sync.Mutex
		events := map[oncehttp.EventKind]int{}
		c, sent := gated(t, path, oncehttp.Config{OnEvent: func(e oncehttp.Event) {
			mu.Lock()
			defer mu.Unlock()
			events[e.Kind]++
			if e.Kind == oncehttp.EventGateClosed || e.Kind == oncehttp.EventGateOpened {
				assert.Equal(t, "api.test:80", e.Host)
			}
		}}, map[string]*mockserver.Server{"api.test": s})
		defer c.Close()

		var callers sync.WaitGroup
		var requests, shut atomic.Int64
		for i := range 64 {
			callers.Go(func() {
				time.Sleep(time.Duration(i) * 50 * time.Millisecond)
				for n := 0; time.Now().Before(end); n++ {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
					o, err := c.Do(fmt.Sprintf("pay-%d-%d", i, n), payAt(ctx, "api.test"))
					cancel()
					requests.Add(1)
					var pending *oncehttp.PendingError
					if errors.As(err, &pending) && o.Reason == oncehttp.GateClosed {
						shut.Add(1)
						assert.False(t, o.RetryAt.Before(time.Now().Add(-time.Millisecond)), "%v", o)
					}
					time.Sleep(2 * time.Second)
				}
			})
		}
		time.Sleep(time.Until(end))
		during := sent.calls.Load()
		callers.Wait()
		t.Logf("%d requests in the outage, %d calls, %d told that the gate is closed", requests.Load(), during, shut.Load())
		require.Less(t, float64(during), 0.3*float64(requests.Load()))
		require.Positive(t, shut.Load())

		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { c.Run(ctx) })
		open := 1
		for open > 0 && time.Since(end) < 10*time.Minute {
			time.Sleep(time.Second)
			open = 0
			for range c.Pending(t.Context()) {
				open++
			}
		}
		cancel()
		run.Wait()
		t.Logf("drained %v after it, by %d calls", time.Since(end), sent.calls.Load()-during)
		require.Zero(t, open)
		require.Less(t, time.Since(end), 90*time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.Positive(t, events[oncehttp.EventGateClosed])
		require.Equal(t, events[oncehttp.EventGateClosed], events[oncehttp.EventGateOpened])
	})
}

func TestALoneCallerGetsItsRetriesThroughAShutGate(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{})
		defer s.Close()
		unavailable := mockserver.Status(http.StatusServiceUnavailable)
		unavailable.Times = 3
		s.Script(unavailable)
		c, _ := gated(t, path, oncehttp.Config{}, map[string]*mockserver.Server{"api.test": s})
		defer c.Close()
		begun := time.Now()
		o, err := c.Do("pay-1", payAt(t.Context(), "api.test"))
		require.NoError(t, err)
		require.Equal(t, 4, o.Attempts)
		require.Less(t, time.Since(begun), 3*time.Second)
	})
}

func TestAHostsWishBindsEveryRequestToIt(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{})
		defer s.Close()
		s.Script(mockserver.Status(http.StatusTooManyRequests).With("Retry-After", "20"))
		hosts := map[string]*mockserver.Server{"api.test": s}
		c, _ := gated(t, path, oncehttp.Config{}, hosts)
		begun := time.Now()
		soon := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			t.Cleanup(cancel)
			return ctx
		}
		o, err := c.Do("first", payAt(soon(), "api.test"))
		require.Error(t, err)
		require.Equal(t, oncehttp.Throttled, o.Reason)

		for _, restarted := range []bool{false, true} {
			o, err = c.Do(fmt.Sprint("other ", restarted), payAt(soon(), "api.test"))
			var pending *oncehttp.PendingError
			require.ErrorAs(t, err, &pending)
			require.Equal(t, oncehttp.GateClosed, o.Reason)
			require.Zero(t, o.Attempts)
			require.False(t, o.MayHaveExecuted)
			require.False(t, o.RetryAt.Before(begun.Add(20*time.Second)), "%v", o.RetryAt)
			require.Contains(t, o.Explain(), "nothing was sent (GateClosed)")
			require.Less(t, time.Since(begun), time.Second)
			if !restarted {
				require.NoError(t, c.Close())
				c, _ = gated(t, path, oncehttp.Config{}, hosts)
				defer c.Close()
				_, err = c.Do("first", payAt(soon(), "api.test"))
				require.Error(t, err)
			}
		}
		require.Len(t, s.Requests(), 1)
		_, err = c.Do("patient", payAt(t.Context(), "api.test"))
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(begun), 20*time.Second)
		require.Less(t, time.Since(begun), 25*time.Second)
	})
}

func TestRetriesOfSafeRequestsShareTheGate(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(failingUntil(time.Now().Add(time.Hour)))
		defer s.Close()
		c, sent := gated(t, path, oncehttp.Config{}, map[string]*mockserver.Server{"api.test": s})
		defer c.Close()
		get := func() int {
			resp, err := c.HTTPClient().Get("http://api.test/payments")
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			return resp.StatusCode
		}
		require.Equal(t, 503, get())
		require.EqualValues(t, 4, sent.calls.Load(), "alone it probes")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		time.Sleep(100 * time.Microsecond)
		_, err := c.Do("pay-1", payAt(ctx, "api.test"))
		require.Error(t, err)
		require.EqualValues(t, 4, sent.calls.Load(), "an intent waits for the same gate")
		var many sync.WaitGroup
		for range 50 {
			many.Go(func() { assert.Equal(t, 503, get()) })
		}
		many.Wait()
		t.Logf("%d calls for 50 requests", sent.calls.Load()-4)
		require.Less(t, sent.calls.Load(), int64(4+50+30))
	})
}

func TestWithTheGateOffEveryRequestGoesAsIfAlone(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(failingUntil(time.Now().Add(time.Hour)))
		defer s.Close()
		c, sent := gated(t, path, oncehttp.Config{Gate: oncehttp.Gate{Off: true}}, map[string]*mockserver.Server{"api.test": s})
		defer c.Close()
		for i := range 5 {
			o, err := c.Do(fmt.Sprint("pay-", i), payAt(t.Context(), "api.test"))
			require.Error(t, err)
			require.Equal(t, oncehttp.ServerError, o.Reason)
		}
		require.EqualValues(t, 20, sent.calls.Load())
	})
}

func TestAClientClosesWhileCallersWaitAtTheGate(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(failingUntil(time.Now().Add(time.Hour)))
		defer s.Close()
		c, _ := gated(t, path, oncehttp.Config{}, map[string]*mockserver.Server{"api.test": s})
		for range 2 {
			_, err := c.Do("pay-0", payAt(t.Context(), "api.test"))
			require.Error(t, err)
		}
		var callers sync.WaitGroup
		for i := range 10 {
			callers.Go(func() {
				_, err := c.Do(fmt.Sprint("waiting ", i), payAt(t.Context(), "api.test"))
				assert.ErrorIs(t, err, oncehttp.ErrClosed)
			})
		}
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, c.Close())
		callers.Wait()
		require.Less(t, time.Since(begun), time.Second)
	})
}

func TestAProbeThatIsNotSentPassesOnAtOnce(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		s := mockserver.Memory(failingUntil(begun.Add(time.Microsecond)))
		defer s.Close()
		c, _ := gated(t, path, oncehttp.Config{
			Retry: oncehttp.Retry{MaxAttempts: 3, Base: 2 * time.Second},
			Authorize: func(req *http.Request, _ bool) error {
				if req.URL.Path == "/closed" && time.Since(begun) > 0 {
					return errors.New("no credentials")
				}
				return nil
			},
		}, map[string]*mockserver.Server{"api.test": s})
		defer c.Close()
		var callers sync.WaitGroup
		for i := range 3 {
			callers.Go(func() { c.Do(fmt.Sprint("pay-", i), payAt(t.Context(), "api.test")) })
		}
		synctest.Wait()
		time.Sleep(time.Nanosecond)
		var closed *oncehttp.Outcome
		callers.Go(func() {
			req := payAt(t.Context(), "api.test")
			req.URL.Path = "/closed"
			closed, _ = c.Do("closed", req)
		})
		synctest.Wait()
		o, err := c.Do("open", payAt(t.Context(), "api.test"))
		require.NoError(t, err)
		require.Equal(t, 1, o.Attempts)
		callers.Wait()
		require.Equal(t, oncehttp.NeedsCredentials, closed.Reason)
		require.Less(t, time.Since(begun), 20*time.Second)
	})
}
