package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A registry sent the time of day for a number of seconds.
func TestAnEpochForSecondsIsAVeryLongWish(t *testing.T) {
	t.Parallel()
	inBubble(t, script(asks(429, "1743471600").Always()), func(b *bench) {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
		b.ruled(o, err)
		want{oncehttp.Pending, oncehttp.Throttled, 1, false, false}.check(b, o)
		assert.Less(b, time.Since(begun), time.Second)
		assert.WithinDuration(b, begun.Add(1743471600*time.Second), o.RetryAt, time.Second)
	})
}

func TestClientsThatFailTogetherDoNotComeBackTogether(t *testing.T) {
	t.Parallel()
	const callers = 1000
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.srv.ScriptEachKey(mockserver.Status(503))
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				o, err := b.c.Do(fmt.Sprintf("pay-%d", i), b.pay())
				b.ruled(o, err)
				assert.Equal(b, 2, o.Attempts)
			})
		}
		all.Wait()
		first, waits := map[string]time.Time{}, make([]int, 10)
		for _, q := range b.srv.Requests() {
			at, again := first[q.Key]
			if !again {
				first[q.Key] = q.Time
				continue
			}
			waits[int(q.Time.Sub(at)*10/(b.cfg.Retry.Base+1))]++
		}
		for i, n := range waits {
			assert.InDelta(b, callers/len(waits), n, 60, "first retries in tenth %d of the base", i)
		}
	}, func(cfg *oncehttp.Config) { cfg.Gate.Off = true })
}

// A policy with a time limit counts it anew for every wait, so that an old
// intent still has one.
func TestAnIntentOfHoursAgoStillHasAWait(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func() backoff.BackOff{
		"the default":           nil,
		"backoff's own default": func() backoff.BackOff { return backoff.NewExponentialBackOff() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(mockserver.Status(503).Always()), func(b *bench) {
				b.do()
				for range 3 {
					time.Sleep(3 * time.Hour)
					b.reopen()
					before := len(b.srv.Requests())
					outcomes := b.resume()
					require.Len(b, outcomes, 1)
					require.Len(b, b.srv.Requests(), before+2, "the pass waits, and tries again")
					assert.Positive(b, b.gaps()[before])
					assert.True(b, outcomes[0].RetryAt.After(time.Now()))
				}
			}, func(cfg *oncehttp.Config) {
				cfg.Retry.MaxAttempts, cfg.Retry.BackOff = 2, policy
				cfg.Retry.Base, cfg.Retry.Cap, cfg.Retry.MaxElapsed = time.Second, time.Minute, time.Hour
			})
		})
	}
}

// A policy that is set up wrongly, and so gives waits below zero.
func TestAWaitBelowZeroIsNoWaitAtAll(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503).Always()), func(b *bench) {
		begun := time.Now()
		o := b.do()
		assert.Equal(b, 1, o.Attempts, "it ends the call")
		assert.False(b, o.RetryAt.Before(begun.Add(b.cfg.Retry.Cap)))
		resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		assert.Len(b, b.srv.Requests(), 2)
	}, func(cfg *oncehttp.Config) {
		cfg.Retry.BackOff = func() backoff.BackOff { return backoff.NewConstantBackOff(-time.Hour) }
	})
}

// An outer loop of backoff's goes on after any error of ours.
func TestNoErrorStopsAnOuterLoopOfBackoff(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*oncehttp.Config){
		"answered 503":          oneAttempt,
		"refused":               func(cfg *oncehttp.Config) { unprotected(cfg); cfg.Unmatched = oncehttp.Refuse },
		"a body over the limit": func(cfg *oncehttp.Config) { cfg.MaxRequestBody = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(mockserver.Status(503).Always()), func(b *bench) {
				tries := 0
				err := backoff.Retry(func() error {
					tries++
					_, err := b.c.RoundTrip(b.pay().WithContext(b.Context()))
					return err
				}, backoff.WithMaxRetries(backoff.NewConstantBackOff(time.Second), 2))
				require.Error(b, err)
				assert.Equal(b, 3, tries)
			}, change)
		})
	}
}

// Both are in the error: whose time was up, and what the last attempt met.
func TestTheEndOfTheCallersTimeAndTheLastCauseAreBothTold(t *testing.T) {
	t.Parallel()
	broken := &net.OpError{Op: "read", Net: "tcp", Err: errBroken}
	for _, ending := range []error{context.DeadlineExceeded, context.Canceled} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			ctx, cancel := context.WithCancel(b.Context())
			if errors.Is(ending, context.DeadlineExceeded) {
				ctx, cancel = context.WithTimeout(b.Context(), time.Second)
			} else {
				time.AfterFunc(time.Second, cancel)
			}
			defer cancel()
			o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
			b.ruled(o, err)
			require.ErrorIs(b, err, ending)
			require.ErrorIs(b, err, errBroken)
			var op *net.OpError
			require.ErrorAs(b, err, &op)
			assert.Contains(b, o.Explain(), "read tcp")
		}, func(cfg *oncehttp.Config) {
			cfg.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, broken })
			cfg.Retry.BackOff = func() backoff.BackOff { return backoff.NewConstantBackOff(10 * time.Second) }
		})
	}
}

// An attemptLog keeps the numbers of attempts that a logger was given.
type attemptLog struct {
	slog.Handler
	started []int64
	waits   int
}

func (l *attemptLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *attemptLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "attempt" && strings.HasSuffix(r.Message, string(oncehttp.EventAttempt)) {
			l.started = append(l.started, a.Value.Int64())
		}
		return true
	})
	if strings.HasSuffix(r.Message, string(oncehttp.EventWaiting)) {
		l.waits++
	}
	return nil
}

// Attempts count from 1 on every surface, and a wait is told of only where an
// attempt follows it.
func TestAttemptsCountFromOneAndEveryWaitIsFollowedByOne(t *testing.T) {
	t.Parallel()
	long := asks(503, "3600").Always()
	for name, tt := range map[string]struct {
		faults   []mockserver.Fault
		attempts []int64
	}{
		"at once":             {nil, []int64{1}},
		"after two":           {[]mockserver.Fault{mockserver.Status(503), mockserver.Lost()}, []int64{1, 2, 3}},
		"budget spent":        {[]mockserver.Fault{mockserver.Status(500).Always()}, []int64{1, 2, 3, 4}},
		"a wait does not fit": {[]mockserver.Fault{mockserver.Status(503), long}, []int64{1, 2}},
		"refused":             {[]mockserver.Fault{mockserver.Status(404)}, []int64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &attemptLog{}
			var events []oncehttp.Event
			inBubble(t, script(tt.faults...), func(b *bench) {
				o := b.do()
				assert.Equal(b, len(tt.attempts), o.Attempts)
				assert.Equal(b, tt.attempts, log.started)
				assert.Equal(b, len(tt.attempts)-1, log.waits)
				begun, waits := 0, 0
				for i, e := range events {
					switch e.Kind {
					case oncehttp.EventAttempt:
						begun++
						assert.Equal(b, begun, e.Attempt)
					case oncehttp.EventWaiting:
						waits++
						assert.Equal(b, begun, e.Attempt, "of the attempt before")
						require.Less(b, i+1, len(events))
						assert.Equal(b, oncehttp.EventAttempt, events[i+1].Kind)
						assert.Less(b, e.Delay, time.Minute)
					}
				}
				assert.Equal(b, len(tt.attempts)-1, waits)
			}, func(cfg *oncehttp.Config) {
				cfg.Logger = slog.New(log)
				cfg.OnEvent = func(e oncehttp.Event) { events = append(events, e) }
			})
		})
	}
}
