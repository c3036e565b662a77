package oncehttp_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// at moves the bubble's clock.
func (b *bench) at(clock string) {
	b.Helper()
	t, err := time.Parse(time.RFC3339, clock)
	require.NoError(b, err)
	time.Sleep(time.Until(t))
}

func asks(code int, value string) mockserver.Fault {
	return mockserver.Status(code).With("Retry-After", value)
}

// eachValue runs f for every value of a case.
func eachValue(t *testing.T, id string, f func(t *testing.T, value string)) {
	t.Helper()
	values := fieldCases(t)[id].Input.Values
	require.NotEmpty(t, values)
	for _, value := range values {
		t.Run(fmt.Sprintf("%s %q", id, value), func(t *testing.T) {
			t.Parallel()
			f(t, value)
		})
	}
}

// C011
func TestAWishTooLongForATimerNeverWrapsToAShortOne(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, value string) {
		inBubble(t, script(asks(429, value).Always()), func(b *bench) {
			begun := time.Now()
			o := b.do()
			want{oncehttp.Pending, oncehttp.Throttled, 1, false, false}.check(b, o)
			assert.Less(b, time.Since(begun), 50*time.Millisecond)
			assert.True(b, o.RetryAt.After(begun.AddDate(99, 0, 0)), o.RetryAt)
			assert.Empty(b, b.resume())
			assert.Len(b, b.srv.Requests(), 1)
		})
	}
	eachValue(t, "C011", check)
	check(t, "9223372036")
}

// C012
func TestAWishThatIsNoWishIsIgnored(t *testing.T) {
	t.Parallel()
	eachValue(t, "C012", func(t *testing.T, value string) {
		inBubble(t, script(asks(503, value)), func(b *bench) {
			b.at("2026-10-01T00:00:00Z")
			want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
			assert.LessOrEqual(b, b.firstGap(), 100*time.Millisecond)
		})
	})
}

// C013
func TestAFractionOfASecondIsWaitedFor(t *testing.T) {
	t.Parallel()
	eachValue(t, "C013", func(t *testing.T, value string) {
		asked, err := time.ParseDuration(value + "s")
		require.NoError(t, err)
		inBubble(t, script(asks(429, value)), func(b *bench) {
			begun := time.Now()
			o := b.do()
			if asked > b.cfg.Retry.MaxElapsed {
				want{oncehttp.Pending, oncehttp.Throttled, 1, false, false}.check(b, o)
				assert.False(b, o.RetryAt.Before(begun.Add(asked)))
				return
			}
			want{oncehttp.Confirmed, "", 2, false, false}.check(b, o)
			assert.GreaterOrEqual(b, b.firstGap(), asked)
			assert.LessOrEqual(b, b.firstGap(), asked+100*time.Millisecond)
		})
	})
}

// C014
func TestALongWishIsKeptAndNotCutToTheBudget(t *testing.T) {
	t.Parallel()
	const asked = 10800 * time.Second
	inBubble(t, script(asks(429, "10800")), func(b *bench) {
		begun := time.Now()
		o := b.do()
		want{oncehttp.Pending, oncehttp.Throttled, 1, false, false}.check(b, o)
		assert.Less(b, time.Since(begun), 50*time.Millisecond)
		assert.WithinDuration(b, begun.Add(asked), o.RetryAt, time.Second)
		b.reopen()
		assert.Equal(b, o.RetryAt.UnixMicro(), b.known().RetryAt.UnixMicro())
		assert.Empty(b, b.resume(), "it is not due")
		o = b.do()
		assert.Equal(b, 1, o.Attempts, "whoever asks, the server's wish stands")
		time.Sleep(asked - time.Since(begun) - time.Millisecond)
		assert.Empty(b, b.resume())
		time.Sleep(time.Second)
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, outcomes[0])
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	})
	// With a window that closes before, an intent that may have executed is not
	// sent late, and says so up front.
	inBubble(t, script(asks(503, "10800").Committed()), func(b *bench) {
		o := b.do()
		want{oncehttp.Pending, oncehttp.KeyExpired, 1, true, false}.check(b, o)
		assert.False(b, o.SafeUntil.IsZero())
		time.Sleep(4 * time.Hour)
		b.resume()
		assert.Len(b, b.srv.Requests(), 1)
	}, window(time.Hour))
}

func window(d time.Duration) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		cfg.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("*", d)}
	}
}

// C015
func TestAWishOfNoTimeDoesNotMakeAHotLoop(t *testing.T) {
	t.Parallel()
	eachValue(t, "C015", func(t *testing.T, value string) {
		inBubble(t, script(asks(429, value).Always()), func(b *bench) {
			b.at("2026-10-01T00:00:05Z")
			o := b.do()
			want{oncehttp.Pending, oncehttp.Throttled, len(b.srv.Requests()), false, false}.check(b, o)
			assert.LessOrEqual(b, o.Attempts, 200)
			for i, gap := range b.gaps() {
				assert.LessOrEqual(b, gap, min(2*time.Second, 100*time.Millisecond<<min(i, 10)))
			}
		}, func(cfg *oncehttp.Config) {
			cfg.Retry.MaxAttempts, cfg.Retry.MaxElapsed = 1000, 2*time.Second
		})
	})
}

// C016
func TestEveryFormOfADateIsRead(t *testing.T) {
	t.Parallel()
	eachValue(t, "C016", func(t *testing.T, value string) {
		inBubble(t, script(asks(503, value)), func(b *bench) {
			b.at("2026-10-01T00:00:00Z")
			want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
			assert.GreaterOrEqual(b, b.firstGap(), 7*time.Second)
			assert.LessOrEqual(b, b.firstGap(), 7100*time.Millisecond)
		})
	})
	inBubble(t, script(asks(503, "Thu, 01 Oct 2026 00:00:60 GMT")), func(b *bench) {
		b.at("2026-10-01T00:00:00Z")
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
	})
}

// C019
func TestJitterOnlyAddsToTheServersWish(t *testing.T) {
	t.Parallel()
	const clients = 100
	for _, asked := range []time.Duration{5 * time.Second, time.Minute} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			b.srv.ScriptEachKey(asks(503, fmt.Sprint(asked.Seconds())))
			var all sync.WaitGroup
			for range clients {
				b.path = journalPath(b.T)
				b.open()
				c := b.c
				all.Go(func() {
					o, err := c.Do("pay-1", b.pay())
					b.ruled(o, err)
				})
			}
			all.Wait()
			first, distinct := map[string]time.Time{}, map[int64]bool{}
			for _, q := range b.srv.Requests() {
				if before, ok := first[q.Key]; ok {
					gap := q.Time.Sub(before)
					assert.GreaterOrEqual(b, gap, asked)
					assert.LessOrEqual(b, gap, asked+100*time.Millisecond)
					distinct[gap.Milliseconds()] = true
				}
				first[q.Key] = q.Time
			}
			assert.Len(b, b.srv.Requests(), 2*clients)
			assert.Equal(b, clients, b.srv.EffectsTotal())
			assert.GreaterOrEqual(b, len(distinct), 20)
		}, func(cfg *oncehttp.Config) { cfg.Retry.MaxElapsed = 2 * time.Minute })
	}
}

// C021. TestEveryWaitIsBetweenZeroAndItsBound has the arithmetic.
func TestABaseAboveTheCapIsRefused(t *testing.T) {
	t.Parallel()
	_, err := oncehttp.Open(journalPath(t), oncehttp.Config{Retry: oncehttp.Retry{Base: time.Hour, Cap: time.Second}})
	require.ErrorContains(t, err, "Retry.Base")
	long := func(cfg *oncehttp.Config) {
		cfg.Retry.MaxAttempts, cfg.Retry.MaxElapsed = 200, math.MaxInt64
		cfg.Retry.Base, cfg.Retry.Cap = time.Nanosecond, math.MaxInt64
	}
	inBubble(t, script(mockserver.Status(429).Always()), func(b *bench) {
		ctx, cancel := context.WithTimeout(b.Context(), 48*time.Hour)
		defer cancel()
		o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
		b.ruled(o, err)
		assert.Less(b, o.Attempts, 200)
		for i, gap := range b.gaps() {
			assert.LessOrEqual(b, gap, time.Nanosecond<<i)
		}
	}, long)
}

// Every status that is asked again, and a redirect too, has its wish heard.
func TestTheWishIsHeardOnEveryAnswerThatIsFollowed(t *testing.T) {
	t.Parallel()
	for _, code := range []int{408, 409, 421, 425, 429, 500, 502, 503, 504, 529} {
		inBubble(t, script(asks(code, "3")), func(b *bench) {
			want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
			assert.GreaterOrEqual(b, b.firstGap(), 3*time.Second, code)
		})
	}
	for _, code := range []int{307, 308} {
		inBubble(t, script(asks(code, "3").With("Location", "/v2/payments")), func(b *bench) {
			want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
			assert.GreaterOrEqual(b, b.firstGap(), 3*time.Second, code)
		})
	}
	// A safe request, which is in no journal, heeds it too.
	inBubble(t, script(asks(503, "3")), func(b *bench) {
		resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		assert.GreaterOrEqual(b, b.firstGap(), 3*time.Second)
	})
}
