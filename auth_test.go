package oncehttp_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// refreshing puts in token t1, and after a refusal the next one.
func refreshing(refreshes *int, tokens ...string) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		cfg.Authorize = func(req *http.Request, stale bool) error {
			if stale {
				*refreshes++
			}
			req.Header.Set("Authorization", "Bearer "+tokens[min(*refreshes, len(tokens)-1)])
			return nil
		}
	}
}

// C047
func TestARefusedTokenIsRenewedOnceACall(t *testing.T) {
	t.Parallel()
	t.Run("renewed", func(t *testing.T) {
		refreshes := 0
		inBubble(t, script(mockserver.Status(503), mockserver.Status(401).With("Connection", "close"), mockserver.Fault{Token: "t2"}), func(b *bench) {
			want{oncehttp.Confirmed, "", 3, false, false}.check(b, b.do())
			var tokens []string
			for _, q := range b.srv.Requests() {
				tokens = append(tokens, q.Header.Get("Authorization"))
			}
			assert.Equal(b, []string{"Bearer t1", "Bearer t1", "Bearer t2"}, tokens)
			assert.Equal(b, 1, refreshes)
			assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
		}, refreshing(&refreshes, "t1", "t2"))
	})
	t.Run("the caller's own", func(t *testing.T) {
		inBubble(t, script(mockserver.Status(401).Always()), func(b *bench) {
			req := b.pay()
			req.Header.Set("Authorization", "Bearer t1")
			o, err := b.c.Do("pay-1", req)
			b.ruled(o, err)
			want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, o)
			assert.Equal(b, 401, o.Response.StatusCode)
		})
	})
	t.Run("never renewed", func(t *testing.T) {
		refreshes := 0
		inBubble(t, script(mockserver.Status(503), mockserver.Status(401).Always()), func(b *bench) {
			want{oncehttp.Pending, oncehttp.Unauthorized, 3, true, false}.check(b, b.do())
			assert.Equal(b, 1, refreshes)
		}, refreshing(&refreshes, "t1"))
	})
	t.Run("never renewed, not exposed", func(t *testing.T) {
		refreshes := 0
		inBubble(t, script(mockserver.Status(401).Always()), func(b *bench) {
			want{oncehttp.Rejected, oncehttp.Unauthorized, 2, false, false}.check(b, b.do())
			assert.Equal(b, 1, refreshes)
		}, refreshing(&refreshes, "t1"))
	})
}

// Who leaves a pass that lacks credentials is told what is known, and does not
// come back.
func TestACallerWhoLeavesAPassWithoutCredentialsIsToldSo(t *testing.T) {
	t.Parallel()
	takes := time.Duration(0)
	inBubble(t, mockserver.Config{}, func(b *bench) {
		want{oncehttp.Pending, oncehttp.NeedsCredentials, 0, false, false}.check(b, b.do())
		takes = 10 * time.Second
		passed := make(chan int, 1)
		go func() { passed <- len(b.resume()) }()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
		b.ruled(o, err)
		require.ErrorIs(b, err, context.DeadlineExceeded)
		want{oncehttp.Pending, oncehttp.NeedsCredentials, 0, false, false}.check(b, o)
		assert.Equal(b, 1, <-passed)
	}, func(cfg *oncehttp.Config) {
		cfg.Authorize = func(*http.Request, bool) error {
			time.Sleep(takes)
			return errors.New("no token")
		}
	})
}

// Rule 7: refused for the moment and never exposed, it is begun again by a new
// Do, and by nothing else.
func TestOnlyANewDoBeginsWhatWasUnauthorizedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(403)), func(b *bench) {
		first := b.do()
		want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, first)
		b.reopen()
		time.Sleep(time.Hour)
		assert.Empty(b, b.resume())
		known, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Rejected, known.Outcome().State)
		assert.Len(b, b.srv.Requests(), 1)
		again := b.do()
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, again)
		assert.Equal(b, first.Key, again.Key)
		b.oneKey()
	})
}

func TestWhatIsBegunAgainWaitsAsLongAsTheServerAsked(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(403).With("Retry-After", "20")), func(b *bench) {
		begun := time.Now()
		want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, b.do())
		b.reopen()
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
		assert.Equal(b, 20*time.Second, time.Since(begun))
	})
}

// C048
func TestEveryAttemptIsSignedAfreshAfterItsWait(t *testing.T) {
	t.Parallel()
	sign := func(req *http.Request) string {
		text, _ := io.ReadAll(req.Body)
		sum := sha256.Sum256(append([]byte(req.Header.Get("X-Date")+req.Header.Get("Idempotency-Key")), text...))
		return hex.EncodeToString(sum[:])
	}
	server := script(mockserver.Status(503).With("Retry-After", "360"))
	server.TTL = 48 * time.Hour
	server.Tenant = func(*http.Request) string { return "" }
	server.Authenticate = func(req *http.Request) error {
		date, err := http.ParseTime(req.Header.Get("X-Date"))
		if err != nil || time.Since(date).Abs() > 300*time.Second {
			return errors.New("signed too long ago")
		}
		if req.Header.Get("X-Signature") != sign(req) {
			return errors.New("wrong signature")
		}
		return nil
	}
	signed := 0
	inBubble(t, server, func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
		assert.Equal(b, 2, signed)
		b.oneKey()
		text, err := os.ReadFile(b.path)
		require.NoError(b, err)
		for _, q := range b.srv.Requests() {
			assert.NotContains(b, string(text), q.Header.Get("X-Signature"))
		}

		// The next day, after a restart, it is signed again.
		b.srv.Script(mockserver.Status(503).With("Retry-After", "86400").Committed())
		b.cfg.Contracts[0].Window.Length = 72 * time.Hour
		b.reopen()
		o, err := b.c.Do("pay-2", b.pay())
		b.ruled(o, err)
		assert.Equal(b, oncehttp.Pending, o.State)
		b.reopen()
		sleepUntil(o.RetryAt)
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, outcomes[0])
		assert.Equal(b, 4, signed)
	}, func(cfg *oncehttp.Config) {
		cfg.Retry.MaxElapsed = 15 * time.Minute
		cfg.Authorize = func(req *http.Request, _ bool) error {
			signed++
			req.Header.Set("X-Date", time.Now().UTC().Format(http.TimeFormat))
			req.Header.Set("X-Signature", sign(req)) // it reads the body
			return nil
		}
	})
}

func TestAnErrorOfAuthorizeCostsNoAttempt(t *testing.T) {
	t.Parallel()
	down := errors.New("the token server is down: s3cr3t")
	inBubble(t, mockserver.Config{}, func(b *bench) {
		o, err := b.c.Do("pay-1", b.pay())
		b.ruled(o, err)
		want{oncehttp.Pending, oncehttp.NeedsCredentials, 0, false, false}.check(b, o)
		require.ErrorIs(b, err, down)
		assert.NotContains(b, err.Error(), "s3cr3t")
		assert.Empty(b, b.srv.Requests())
		outcomes := b.resume()
		require.Len(b, outcomes, 1, "what is due and cannot be sent is yielded")
		assert.Equal(b, oncehttp.NeedsCredentials, outcomes[0].Reason)
		b.reopen(func(cfg *oncehttp.Config) { cfg.Authorize = nil })
		outcomes = b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, outcomes[0])
	}, func(cfg *oncehttp.Config) {
		cfg.Authorize = func(*http.Request, bool) error { return down }
	})
}

func TestAuthorizeMayOnlyAddCredentials(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*http.Request){
		"the method":          func(r *http.Request) { r.Method = http.MethodPut },
		"the URL":             func(r *http.Request) { r.URL.Path = "/refunds" },
		"the URL ":            func(r *http.Request) { r.URL.RawQuery = "x=1" },
		"the URL  ":           func(r *http.Request) { r.URL.Host = "other.test" },
		"the URL   ":          func(r *http.Request) { r.URL = nil },
		"the Host":            func(r *http.Request) { r.Host = "other.test" },
		"the body's length":   func(r *http.Request) { r.Body, r.ContentLength = readCloser("{}"), 2 },
		"the body's framing":  func(r *http.Request) { r.Trailer = http.Header{"X-Sum": {"1"}} },
		"the body's framing ": func(r *http.Request) { r.TransferEncoding = []string{"chunked"} },
		"the key":             func(r *http.Request) { r.Header.Set("Idempotency-Key", "mine") },
		"the key ":            func(r *http.Request) { r.Header.Del("Idempotency-Key") },
		"the key  ":           func(r *http.Request) { r.Header.Add("Idempotency-Key", "mine") },
		"header Content-Type": func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"header X-Frozen":     func(r *http.Request) { r.Header.Add("X-Frozen", "2") },
		"header X-Frozen ":    func(r *http.Request) { r.Header.Del("X-Frozen") },
	} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			req := b.pay()
			req.Header.Set("X-Frozen", "1")
			o, err := b.c.Do("pay-1", req)
			b.ruled(o, err)
			assert.Equal(b, oncehttp.NeedsCredentials, o.Reason)
			assert.ErrorContains(b, o.Err, "changed "+strings.TrimSpace(what))
			assert.Empty(b, b.srv.Requests(), what)
		}, func(cfg *oncehttp.Config) {
			cfg.Authorize = func(r *http.Request, _ bool) error { change(r); return nil }
		})
	}
	// A body that is read, or put back as another, is the frozen one still.
	inBubble(t, mockserver.Config{}, func(b *bench) {
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do())
		sum := sha256.Sum256([]byte(payment))
		assert.Equal(b, hex.EncodeToString(sum[:]), b.srv.Requests()[0].BodySHA256)
	}, func(cfg *oncehttp.Config) {
		cfg.Authorize = func(r *http.Request, _ bool) error {
			_, err := io.Copy(io.Discard, r.Body)
			r.Body = readCloser(strings.Repeat("x", len(payment)))
			r.GetBody = nil
			return err
		}
	})
}

func TestWhatAuthorizeAddedIsNeededAfterARestart(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503)), func(b *bench) {
		o := b.do()
		assert.Equal(b, oncehttp.Pending, o.State)
		b.sleepUntilDue()
		b.reopen(func(cfg *oncehttp.Config) { cfg.Authorize = nil })
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Pending, oncehttp.NeedsCredentials, 1, true, false}.check(b, outcomes[0])
		assert.Len(b, b.srv.Requests(), 1)
		b.reopen(func(cfg *oncehttp.Config) { cfg.Authorize = withHeader("X-Tenant-Token", "again") })
		outcomes = b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, outcomes[0])
	}, oneAttempt, func(cfg *oncehttp.Config) { cfg.Authorize = withHeader("X-Tenant-Token", "first") })
}

func withHeader(name, value string) func(*http.Request, bool) error {
	return func(req *http.Request, _ bool) error {
		req.Header.Set(name, value)
		return nil
	}
}

// An intent that was begun keeps the credentials of its request, whatever the
// caller does with the request afterwards.
func TestTheCallersRequestIsReadOnlyOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		req := b.request(http.MethodPost, "/payments?api_key=k&x=1", payment)
		req.Header.Set("Authorization", "Bearer s")
		intent, err := b.c.Begin("pay-1", req)
		require.NoError(b, err)
		assert.Empty(b, b.srv.Requests())
		req.Header.Set("Authorization", "Bearer another")
		req.Header.Set("X-Late", "1")
		req.URL.RawQuery = "api_key=another&x=2"
		req.URL.Path = "/refunds"
		o, err := intent.Do(b.Context())
		b.ruled(o, err)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
		q := b.srv.Requests()[0]
		assert.Equal(b, "Bearer s", q.Header.Get("Authorization"))
		assert.Equal(b, "/payments?api_key=k&x=1", q.Path)
		assert.Empty(b, q.Header.Get("X-Late"))
	})
}

// The token is often fetched through the same client, under the request's own
// context.
func TestAuthorizeMaySendThroughTheSameClient(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"application/x-www-form-urlencoded", "application/json"} {
		var client func() *oncehttp.Client
		inBubble(t, mockserver.Config{}, func(b *bench) {
			client = func() *oncehttp.Client { return b.c }
			ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
			defer cancel()
			req := b.pay().WithContext(oncehttp.WithAction(ctx, "pay-1"))
			resp, err := b.c.RoundTrip(req)
			require.NoError(b, err)
			require.NoError(b, resp.Body.Close())
			assert.Equal(b, 1, b.srv.EffectsOf("POST /payments"))
			assert.Equal(b, 1, b.srv.EffectsOf("POST /token"))
		}, func(cfg *oncehttp.Config) {
			cfg.Authorize = func(req *http.Request, _ bool) error {
				token, err := http.NewRequestWithContext(req.Context(), http.MethodPost, "http://"+req.URL.Host+"/token", strings.NewReader("grant_type=x"))
				if err != nil {
					return err
				}
				token.Header.Set("Content-Type", kind)
				resp, err := client().HTTPClient().Do(token)
				if err != nil {
					return err
				}
				return resp.Body.Close()
			}
		})
	}
}

// A caller who leaves while Authorize runs does not take the credentials away
// from those who stay.
func TestACallerWhoLeavesDuringAuthorizeLeavesAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		left := make(chan error)
		go func() {
			_, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
			left <- err
		}()
		time.Sleep(100 * time.Millisecond)
		stayed := make(chan *oncehttp.Outcome)
		go func() { stayed <- b.do() }()
		time.Sleep(100 * time.Millisecond)
		cancel()
		begun := time.Now()
		require.ErrorIs(b, <-left, context.Canceled)
		assert.Less(b, time.Since(begun), 50*time.Millisecond)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, <-stayed)
	}, func(cfg *oncehttp.Config) {
		cfg.Authorize = func(req *http.Request, _ bool) error {
			select {
			case <-time.After(500 * time.Millisecond):
				return nil
			case <-req.Context().Done():
				return fmt.Errorf("no token: %w", req.Context().Err())
			}
		}
	})
}

// A caller of another payload waits beside the first: what that one is told, that
// nothing was begun, stays true.
func TestACallerWithAnotherPayloadDoesNotSendTheFirstOnesInItsPlace(t *testing.T) {
	t.Parallel()
	const second = `{"amount":5000}`
	for name, patience := range map[string]time.Duration{
		"who comes before the first one leaves": 200 * time.Millisecond, "who comes after that": 50 * time.Millisecond,
	} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			ctx, cancel := context.WithTimeout(b.Context(), patience)
			defer cancel()
			left := make(chan error, 1)
			go func() {
				_, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
				left <- err
			}()
			time.Sleep(100 * time.Millisecond)
			other := make(chan *oncehttp.Outcome, 1)
			go func() {
				o, err := b.c.Do("pay-1", b.request("POST", "/payments", second))
				assert.NoError(b, err, name)
				other <- o
			}()
			err := <-left
			require.ErrorIs(b, err, context.DeadlineExceeded)
			var pending *oncehttp.PendingError
			require.False(b, errors.As(err, &pending), name)
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, <-other)
			for _, q := range b.srv.Requests() {
				assert.Equal(b, int64(len(second)), q.BodyBytes, name)
			}
			assert.Equal(b, 1, b.srv.EffectsTotal(), name)
		}, func(cfg *oncehttp.Config) {
			cfg.Authorize = func(*http.Request, bool) error { time.Sleep(500 * time.Millisecond); return nil }
		})
	}
}

// What is told to a caller who left before anything was begun again stays true. Who
// comes first, the caller's leave or the beginning, is the scheduler's choice.
func TestACallerWhoIsGoneBeforeItsActionIsBegunAgainBeginsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(401).Always()), func(b *bench) {
		const rounds = 20
		for n := range rounds {
			o, err := b.c.Do(fmt.Sprint("pay-", n), b.pay(), oncehttp.ActionTime(time.Now()))
			b.ruled(o, err)
			want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, o)
		}
		time.Sleep(48 * time.Hour) // the windows are over, so there is nothing to ask and to wait for
		gone := 0
		for n := range rounds {
			action := fmt.Sprint("pay-", n)
			hasty := b.c.HTTPClient()
			hasty.Timeout = time.Millisecond
			resp, err := hasty.Do(b.pay().WithContext(oncehttp.WithAction(b.Context(), action)))
			synctest.Wait()
			known, knownErr := b.c.Outcome(b.Context(), action)
			require.NoError(b, knownErr)
			if err == nil {
				gone++
				resp.Body.Close()
				require.Equal(b, 401, resp.StatusCode)
				want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, known)
				continue
			}
			var pending *oncehttp.PendingError
			require.ErrorAs(b, err, &pending)
			want{oncehttp.Pending, oncehttp.KeyExpired, 1, false, false}.check(b, known)
		}
		assert.NotZero(b, gone)
	})
}

// The caller's URL has one credential, and Authorize adds another.
func TestCredentialsInTheQueryOfTheCallerAndOfAuthorizeAreSentAtEveryAttempt(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 1)
	c := open(t, journalPath(t), oncehttp.Config{Authorize: func(r *http.Request, _ bool) error {
		q := r.URL.Query()
		q.Set("signature", "s")
		r.URL.RawQuery = q.Encode()
		return nil
	}})
	o, err := c.Do("pay-1", post(t, srv.URL+"/payments?api_key=k&b=1", payment))
	require.NoError(t, err)
	assert.Equal(t, oncehttp.Confirmed, o.State)
	for _, seen := range srv.requests() {
		assert.Equal(t, "/payments?api_key=k&b=1&signature=s", seen.uri)
	}
	assert.Len(t, srv.requests(), 2)
}

// A token as a file holds it, for example. net/http would refuse it without a word
// on what was sent.
func TestAHeaderOfAuthorizeThatCannotBeSentCostsNoAttempt(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]http.Header{
		"value":      {"Authorization": {"Bearer s3cr3t\n"}},
		"name":       {"Api Key": {"s3cr3t"}},
		"connection": {"Connection": {"upgrade"}},
	} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			o, err := b.c.Do("pay-1", b.pay())
			b.ruled(o, err)
			want{oncehttp.Pending, oncehttp.NeedsCredentials, 0, false, false}.check(b, o)
			assert.NotContains(b, err.Error(), "s3cr3t")
			assert.Empty(b, b.srv.Requests(), name)
		}, func(cfg *oncehttp.Config) {
			cfg.Authorize = func(r *http.Request, _ bool) error { maps.Copy(r.Header, add); return nil }
		})
	}
}
