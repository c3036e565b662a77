package oncehttp_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C049
func TestNothingIsSentOnceTheServerMayHaveForgottenTheKey(t *testing.T) {
	t.Parallel()
	server := mockserver.Config{TTL: 24 * time.Hour, Script: []mockserver.Fault{mockserver.Lost()}}
	for _, after := range []time.Duration{25 * time.Hour, 24 * time.Hour, 22 * time.Hour} {
		inBubble(t, server, func(b *bench) {
			first := b.do()
			want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, first)
			time.Sleep(after)
			b.srv.Reap()
			b.reopen()
			outcomes := b.resume()
			require.Len(b, outcomes, 1, "what is due and cannot be sent is yielded")
			want{oncehttp.Pending, oncehttp.KeyExpired, 1, true, false}.check(b, outcomes[0])
			again := b.do()
			want{oncehttp.Pending, oncehttp.KeyExpired, 1, true, false}.check(b, again)
			assert.Equal(b, first.Key, again.Key)
			assert.Contains(b, again.Explain(), "Resolve")
			assert.Empty(b, b.resume(), "it is parked")
			assert.Len(b, b.srv.Requests(), 1)

			// Only a person can end it.
			require.NoError(b, b.c.Resolve(b.Context(), "pay-1", oncehttp.Resolution{State: oncehttp.Confirmed, Reference: "ch_1", By: "ops", Why: "seen"}))
			assert.Equal(b, oncehttp.Confirmed, b.do().State)
			assert.Len(b, b.srv.Requests(), 1)
		}, oneAttempt)
	}
	inBubble(t, server, func(b *bench) {
		b.do()
		time.Sleep(21 * time.Hour)
		b.reopen()
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, outcomes[0])
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	}, oneAttempt)
}

// C050
func TestARetryThatWouldComeTooLateIsNotMade(t *testing.T) {
	t.Parallel()
	waits := func(d time.Duration) func(*oncehttp.Config) {
		return func(cfg *oncehttp.Config) {
			cfg.Retry.AttemptTimeout = 3 * time.Second
			cfg.Retry.BackOff = func() backoff.BackOff { return backoff.NewConstantBackOff(d) }
		}
	}
	server := mockserver.Config{TTL: 10 * time.Second, Script: []mockserver.Fault{mockserver.Lost()}}
	inBubble(t, server, func(b *bench) {
		begun := time.Now()
		o := b.do()
		want{oncehttp.Pending, oncehttp.KeyExpired, 1, true, false}.check(b, o)
		assert.Equal(b, begun.Add(6*time.Second).UnixNano(), o.SafeUntil.UnixNano()) // 0.9 × 10 s − 3 s
		assert.Zero(b, time.Since(begun))
		time.Sleep(time.Minute)
		b.resume()
		assert.Len(b, b.srv.Requests(), 1)
	}, window(10*time.Second), waits(8*time.Second))
	inBubble(t, server, func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.do())
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	}, window(10*time.Second), waits(time.Second))
}

// Later attempts and restarts never move the start of the window.
func TestTheWindowCountsFromTheFirstAttemptThatMayHaveExecuted(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(429), mockserver.Lost(), mockserver.Lost(), mockserver.Lost()), func(b *bench) {
		o := b.do() // 429: it counts for nothing
		assert.True(b, o.SafeUntil.IsZero())
		time.Sleep(50 * time.Hour)
		o = b.do()
		until := o.SafeUntil
		assert.WithinDuration(b, time.Now().Add(time.Hour*24*9/10-time.Second), until, time.Second)
		for range 2 {
			time.Sleep(10 * time.Hour)
			b.reopen()
			o = b.do()
			assert.Equal(b, until.UnixMicro(), o.SafeUntil.UnixMicro())
		}
		assert.Equal(b, 4, o.Attempts)
		time.Sleep(2 * time.Hour)
		want{oncehttp.Pending, oncehttp.KeyExpired, 4, true, false}.check(b, b.do())
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	}, oneAttempt)
}

func TestAnUnsentIntentHasNoWindow(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		_, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		b.reopen()
		time.Sleep(365 * 24 * time.Hour)
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, outcomes[0])
	})
}

func TestTheSmallerOfTwoWindowsCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ begun, now, after time.Duration }{
		{24 * time.Hour, time.Hour, 2 * time.Hour},
		{time.Hour, 24 * time.Hour, 2 * time.Hour},
	} {
		inBubble(t, script(mockserver.Lost()), func(b *bench) {
			b.do()
			b.reopen(window(tt.now))
			time.Sleep(tt.after)
			want{oncehttp.Pending, oncehttp.KeyExpired, 1, true, false}.check(b, b.do())
			assert.Len(b, b.srv.Requests(), 1)
		}, oneAttempt, window(tt.begun))
	}
}

func TestAnIntentWhoseContractIsGoneIsNotSent(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		b.do()
		b.sleepUntilDue()
		b.reopen(unprotected)
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Pending, oncehttp.NoContract, 1, true, false}.check(b, outcomes[0])
		assert.Equal(b, "*", outcomes[0].Contract, "it was begun under")
		want{oncehttp.Pending, oncehttp.NoContract, 1, true, false}.check(b, b.do())
		assert.Len(b, b.srv.Requests(), 1)
		b.reopen(window(24 * time.Hour))
		outcomes = b.resume()
		require.Len(b, outcomes, 1, "it was due all along")
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, outcomes[0])
	}, oneAttempt)
}

// The clock went back: every bubble starts at the same time. The first process
// died in mid-attempt, so no wait holds the record back, only its time.
func TestWhileTheClockIsBehindTheRecordNothingExposedIsSent(t *testing.T) {
	t.Parallel()
	path := journalPath(t)
	var key string
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		b.path = path
		time.Sleep(time.Hour)
		b.crashAt(func(oncehttp.Entry) bool { return true })
		key = b.known().Key
	}, oneAttempt)
	inBubble(t, mockserver.Config{}, func(b *bench) { // an hour before
		b.path = path
		b.reopen()
		assert.Empty(b, b.resume(), "it is not due")
		o := b.do()
		assert.Equal(b, key, o.Key)
		assert.Equal(b, oncehttp.Pending, o.State)
		assert.True(b, o.MayHaveExecuted)
		assert.Empty(b, b.srv.Requests())
		time.Sleep(2 * time.Hour)
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		assert.Equal(b, oncehttp.Confirmed, outcomes[0].State)
	}, oneAttempt)
}

// The clock is read again when the connection is got.
func TestAConnectionGotAfterTheWindowCarriesNothing(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		method := []string{http.MethodPost, http.MethodDelete}[i%2]
		server := script(mockserver.Lost())
		server.HTTP2 = i >= 2
		slow := false
		inBubble(t, server, func(b *bench) {
			body := payment
			if method == http.MethodDelete {
				body = ""
			}
			first, err := b.c.Do("pay-1", b.request(method, "/payments", body))
			b.ruled(first, err)
			slow = true
			b.cfg.Transport.(*http.Transport).CloseIdleConnections()
			sleepUntil(first.SafeUntil.Add(-time.Minute))
			again, err := b.c.Do("pay-1", b.request(method, "/payments", body))
			b.ruled(again, err)
			assert.Equal(b, oncehttp.Pending, again.State)
			assert.True(b, again.MayHaveExecuted)
			assert.Equal(b, 2, again.Attempts, "one more was started")
			assert.Len(b, b.srv.Requests(), 1, "and never sent")
			time.Sleep(time.Hour)
			b.resume()
			assert.Len(b, b.srv.Requests(), 1)
			assert.Equal(b, oncehttp.KeyExpired, b.known().Reason)
		}, oneAttempt, func(cfg *oncehttp.Config) {
			cfg.Contracts[0].Match.Methods = []string{http.MethodPost, http.MethodDelete}
			cfg.Retry.AttemptTimeout, cfg.Retry.MaxElapsed = 10*time.Minute, time.Hour
			transport := cfg.Transport.(*http.Transport)
			dial := transport.DialContext
			transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if slow {
					time.Sleep(5 * time.Minute)
				}
				return dial(ctx, network, addr)
			}
		})
	}
}

// The clock is read again after the save, whatever the transport reports.
func TestASaveThatOutlastsTheWindowIsFollowedByNoAttempt(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		first := b.do()
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, first)
		b.hook(&hookedJournal{update: func(oncehttp.Entry) error {
			time.Sleep(5 * time.Minute)
			return nil
		}})
		sleepUntil(first.SafeUntil.Add(-time.Minute))
		want{oncehttp.Pending, oncehttp.KeyExpired, 1, true, false}.check(b, b.do())
		assert.Len(b, b.srv.Requests(), 1)
	}, oneAttempt, func(cfg *oncehttp.Config) {
		base := cfg.Transport
		cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
			return base.RoundTrip(req.WithContext(context.Background())) // it reports no connection
		})
	})
}

// Not from its answer: the server may have kept the key since the first byte.
func TestTheWindowCountsFromTheStartOfAnAttemptThatTakesLong(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 20 * time.Minute, Script: []mockserver.Fault{mockserver.Lost()}}, func(b *bench) {
		begun := time.Now()
		o := b.do()
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
		assert.Equal(b, 20*time.Minute, time.Since(begun))
		assert.Equal(b, begun.Add(24*time.Hour*9/10-30*time.Minute).UnixNano(), o.SafeUntil.UnixNano())
	}, oneAttempt, func(cfg *oncehttp.Config) { cfg.Retry.AttemptTimeout = 30 * time.Minute })
}
