package oncehttp_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C053
func TestFiftyCallersOfOneActionMakeOneRequest(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]mockserver.Config{
		"answered": {Work: 200 * time.Millisecond},
		"lost":     {Work: 200 * time.Millisecond, Script: []mockserver.Fault{mockserver.Lost()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, server, func(b *bench) {
				var all sync.WaitGroup
				outcomes := make([]*oncehttp.Outcome, 50)
				for i := range outcomes {
					all.Go(func() { outcomes[i] = b.do() })
				}
				all.Wait()
				for _, o := range outcomes {
					assert.Equal(b, oncehttp.Confirmed, o.State)
					assert.Equal(b, outcomes[0].Response.Body, o.Response.Body)
				}
				outcomes[0].Response.Body[0] = 'x'
				assert.NotEqual(b, outcomes[0].Response.Body, outcomes[1].Response.Body, "each has an answer of its own")
				assert.Len(b, b.srv.Requests(), 1+len(server.Script))
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
			})
		})
	}
}

// C053, cancel_leader
func TestACancelledLeaderLeavesAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 200 * time.Millisecond}, func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		var all sync.WaitGroup
		all.Go(func() {
			o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
			b.ruled(o, err)
			assert.ErrorIs(b, err, context.Canceled)
			want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
			assert.True(b, o.InFlight)
		})
		synctest.Wait()
		for range 49 {
			all.Go(func() { want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do()) })
		}
		time.Sleep(50 * time.Millisecond)
		cancel()
		all.Wait()
		assert.Len(b, b.srv.Requests(), 1)
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	})
}

// C053, a differing payload among them: before the first save, and after it.
func TestACallerWithAnotherPayloadGetsAMismatchAndNoSeat(t *testing.T) {
	t.Parallel()
	for _, saved := range []bool{false, true} {
		inBubble(t, mockserver.Config{Work: 200 * time.Millisecond}, func(b *bench) {
			var all sync.WaitGroup
			all.Go(func() { want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do()) })
			time.Sleep(10 * time.Millisecond)
			if saved {
				time.Sleep(100 * time.Millisecond)
			}
			for range 3 {
				all.Go(func() {
					o, err := b.c.Do("pay-1", post(b.T, b.srv.URL+"/payments", `{"amount":501}`))
					require.ErrorIs(b, err, oncehttp.ErrMismatch)
					require.NotNil(b, o)
				})
			}
			all.Wait()
			assert.Len(b, b.srv.Requests(), 1)
		}, slowToAuthorize(100*time.Millisecond))
	}
}

func slowToAuthorize(d time.Duration) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		cfg.Authorize = withDelay(d)
	}
}

// C054
func TestLiveWorkAndResumeDoNotCollide(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
		var all sync.WaitGroup
		all.Go(func() { want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do()) })
		time.Sleep(100 * time.Millisecond)
		for range 2 {
			all.Go(func() { assert.Empty(b, b.resume(), "it is left to who drives it") })
		}
		all.Go(func() { want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do()) })
		all.Go(func() {
			n := 0
			for in, err := range b.c.Pending(b.Context()) {
				require.NoError(b, err)
				assert.True(b, in.Outcome().InFlight)
				assert.True(b, in.Outcome().MayHaveExecuted)
				n++
			}
			assert.Equal(b, 1, n)
		})
		all.Wait()
		assert.Len(b, b.srv.Requests(), 1)
		assert.False(b, b.known().InFlight)
	})
}

// C055
func TestAPoisonedIntentStarvesNobody(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.srv.ScriptPath("/poisoned", mockserver.Status(503).Always())
		b.srv.ScriptPath("/silent", mockserver.Fault{See: mockserver.SeeNothing}.Always())
		for _, path := range []string{"/poisoned", "/silent"} {
			_, err := b.c.Begin(path, b.request("POST", path, payment))
			require.NoError(b, err)
		}
		for i := range 20 {
			_, err := b.c.Begin(fmt.Sprintf("q%d", i), b.pay())
			require.NoError(b, err)
		}
		b.reopen()
		begun := time.Now()
		var confirmed int
		for o, err := range b.c.Resume(b.Context()) {
			require.NoError(b, err)
			if o.State == oncehttp.Confirmed {
				confirmed++
				assert.Less(b, time.Since(begun), 5*time.Second)
			} else {
				assert.LessOrEqual(b, o.Attempts, 4)
			}
		}
		assert.Equal(b, 20, confirmed)
	})
}

// C023: without a rate of its own, what bounds a pass is its concurrency.
func TestPassesOfResumeShareTheirLimitAndSendEachIntentOnce(t *testing.T) {
	t.Parallel()
	const intents, concurrency = 120, 8
	inBubble(t, mockserver.Config{Work: 10 * time.Millisecond}, func(b *bench) {
		var begun sync.WaitGroup
		for i := range intents {
			begun.Go(func() {
				_, err := b.c.Begin(fmt.Sprintf("pay-%d", i), b.pay())
				assert.NoError(b, err)
			})
		}
		begun.Wait()
		b.reopen()
		var all sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]int{}
		for range 3 {
			all.Go(func() {
				for o, err := range b.c.Resume(b.Context()) {
					assert.NoError(b, err)
					assert.Equal(b, oncehttp.Confirmed, o.State)
					mu.Lock()
					seen[o.Action]++
					mu.Unlock()
				}
			})
		}
		most, stop := 0, make(chan struct{})
		var watch sync.WaitGroup
		watch.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				running := 0
				for _, q := range b.srv.Requests() {
					if !q.Done {
						running++
					}
				}
				most = max(most, running)
			}
		})
		all.Wait()
		close(stop)
		watch.Wait()
		assert.Len(b, seen, intents)
		for action, times := range seen {
			assert.Equal(b, 1, times, action)
		}
		assert.Len(b, b.srv.Requests(), intents)
		assert.Equal(b, intents, b.srv.EffectsTotal())
		assert.LessOrEqual(b, most, concurrency)
		assert.Greater(b, most, 1)
	})
}

func TestBeginAndDoOfOneActionDoNotHoldEachOtherUp(t *testing.T) {
	t.Parallel()
	// Begin while the action is driven: it returns what is recorded.
	inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
		var all sync.WaitGroup
		all.Go(func() { b.do() })
		time.Sleep(100 * time.Millisecond)
		begun := time.Now()
		in, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		assert.Zero(b, time.Since(begun))
		assert.True(b, in.Outcome().InFlight)
		o, err := in.Do(b.Context())
		b.ruled(o, err)
		assert.Equal(b, oncehttp.Confirmed, o.State)
		all.Wait()
		assert.Len(b, b.srv.Requests(), 1)
	})
	// Do while Begin is at its save: it sends.
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.hook(&hookedJournal{create: func(oncehttp.Entry) error {
			time.Sleep(100 * time.Millisecond)
			return nil
		}})
		var all sync.WaitGroup
		all.Go(func() {
			_, err := b.c.Begin("pay-1", b.pay())
			assert.NoError(b, err)
		})
		time.Sleep(50 * time.Millisecond)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do())
		all.Wait()
	})
}

// Intent.Do of an intent that was listed or begun drives it, and follows the
// error rule.
func TestAListedIntentCanBeDriven(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		b.do()
		b.reopen()
		for in, err := range b.c.Pending(b.Context()) {
			require.NoError(b, err)
			assert.Equal(b, "pay-1", in.Action())
			o, err := in.Do(b.Context())
			b.ruled(o, err)
			want{oncehttp.Confirmed, "", 2, false, true}.check(b, o)
			assert.Equal(b, o.Key, in.Key())
		}
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	}, oneAttempt)
}
