package oncehttp_test

import (
	"context"
	"fmt"
	"net/http"
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

func TestOneFailingHostDoesNotShutAnother(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		bad := mockserver.Memory(failingUntil(time.Now().Add(time.Hour)))
		defer bad.Close()
		good := mockserver.Memory(mockserver.Config{})
		defer good.Close()
		c, sent := gated(t, path, oncehttp.Config{}, map[string]*mockserver.Server{"bad.test": bad, "good.test": good})
		defer c.Close()
		for i := range 40 {
			_, err := c.Begin(fmt.Sprintf("bad-%d", i), payAt(t.Context(), "bad.test"))
			require.NoError(t, err)
		}
		for i := range 20 {
			_, err := c.Begin(fmt.Sprintf("good-%d", i), payAt(t.Context(), "good.test"))
			require.NoError(t, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { c.Run(ctx) })
		time.Sleep(5 * time.Second)
		require.Equal(t, 20, good.EffectsTotal())
		require.Less(t, len(bad.Requests()), 20)

		// What comes later is taken up too, though others wait.
		_, err := c.Begin("good-late", payAt(t.Context(), "good.test"))
		require.NoError(t, err)
		time.Sleep(25 * time.Second)
		require.Equal(t, 21, good.EffectsTotal())
		cancel()
		run.Wait()
		require.LessOrEqual(t, sent.top.Load(), int64(8))
	})
}

func TestARateLimitedServerIsNotStormedAfterARestart(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{PerSecond: 50})
		defer s.Close()
		c, _ := gated(t, path, oncehttp.Config{}, map[string]*mockserver.Server{"api.test": s})
		for i := range 500 {
			_, err := c.Begin(fmt.Sprintf("pay-%d", i), payAt(t.Context(), "api.test"))
			require.NoError(t, err)
		}
		require.NoError(t, c.Close())
		c, sent := gated(t, path, oncehttp.Config{}, map[string]*mockserver.Server{"api.test": s})
		defer c.Close()
		begun := time.Now()
		var passes sync.WaitGroup
		var confirmed atomic.Int64
		for range 2 {
			passes.Go(func() {
				for o, err := range c.Resume(t.Context()) {
					assert.NoError(t, err)
					if o.State == oncehttp.Confirmed {
						confirmed.Add(1)
					}
				}
			})
		}
		passes.Wait()
		throttled := 0
		for _, r := range s.Requests() {
			if r.Status == http.StatusTooManyRequests {
				throttled++
			}
		}
		t.Logf("500 in %v, throttled %d times, %d at once at most", time.Since(begun), throttled, sent.top.Load())
		require.EqualValues(t, 500, confirmed.Load())
		require.Equal(t, 500, s.EffectsTotal())
		require.Less(t, throttled, 20)
		require.LessOrEqual(t, sent.top.Load(), int64(8))
	})
}

func TestEndingAPassOfResumeDoesNotWaitForAShutGate(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		bad := mockserver.Memory(mockserver.Config{})
		defer bad.Close()
		bad.Script(mockserver.Status(http.StatusServiceUnavailable).With("Retry-After", "30").Always())
		good := mockserver.Memory(mockserver.Config{})
		defer good.Close()
		c, _ := gated(t, path, oncehttp.Config{}, map[string]*mockserver.Server{"bad.test": bad, "good.test": good})
		defer c.Close()
		for i := range 20 {
			_, err := c.Begin(fmt.Sprint("bad ", i), payAt(t.Context(), "bad.test"))
			require.NoError(t, err)
		}
		_, err := c.Begin("good", payAt(t.Context(), "good.test"))
		require.NoError(t, err)
		begun := time.Now()
		for o, err := range c.Resume(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, "good", o.Action)
			break
		}
		require.Less(t, time.Since(begun), time.Second)
		require.LessOrEqual(t, len(bad.Requests()), 8)

		// A whole pass waits for the next probe, within its budget.
		for o, err := range c.Resume(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, oncehttp.Pending, o.State)
			require.False(t, o.RetryAt.IsZero())
		}
		require.InDelta(t, 45, time.Since(begun).Seconds(), 20)
	})
}

func TestWhatWaitedAtAGateIsSentWithinTheConcurrency(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		cfg := failingUntil(begun.Add(3 * time.Second))
		cfg.Work = 100 * time.Millisecond
		s := mockserver.Memory(cfg)
		defer s.Close()
		c, sent := gated(t, path, oncehttp.Config{Concurrency: 4}, map[string]*mockserver.Server{"api.test": s})
		defer c.Close()
		for i := range 100 {
			_, err := c.Begin(fmt.Sprint("pay-", i), payAt(t.Context(), "api.test"))
			require.NoError(t, err)
		}
		confirmed := 0
		for o, err := range c.Resume(t.Context()) {
			require.NoError(t, err)
			if o.State == oncehttp.Confirmed {
				confirmed++
			}
		}
		require.Equal(t, 100, confirmed)
		require.EqualValues(t, 4, sent.top.Load())
		require.Less(t, time.Since(begun), 20*time.Second)
	})
}

// Promise 10: the first who comes after a restart may not be the one who was
// told, and the one who was told may not be sent again by itself.
func TestWhatAHostAskedForBindsNewActionsAfterARestart(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		cfg    oncehttp.Config
	}{
		"by a 429":                           {status: http.StatusTooManyRequests},
		"by a 503 to what is not sent again": {status: http.StatusServiceUnavailable, cfg: oncehttp.Config{Contracts: []oncehttp.Contract{}}},
	} {
		t.Run(name, func(t *testing.T) {
			path := journalPath(t)
			synctest.Test(t, func(t *testing.T) {
				s := mockserver.Memory(mockserver.Config{})
				defer s.Close()
				s.Script(mockserver.Status(row.status).With("Retry-After", "3600"))
				hosts := map[string]*mockserver.Server{"api.test": s}
				c, _ := gated(t, path, row.cfg, hosts)
				asked := time.Now()
				_, err := c.Do("told", payAt(t.Context(), "api.test"))
				require.ErrorAs(t, err, new(*oncehttp.PendingError))
				require.NoError(t, c.Close())

				c, _ = gated(t, path, row.cfg, hosts)
				defer c.Close()
				o, err := c.Do("new", payAt(t.Context(), "api.test"))
				require.ErrorAs(t, err, new(*oncehttp.PendingError))
				require.Equal(t, oncehttp.GateClosed, o.Reason)
				require.False(t, o.RetryAt.Before(asked.Add(time.Hour)))
				require.Len(t, s.Requests(), 1)
			})
		})
	}
}
