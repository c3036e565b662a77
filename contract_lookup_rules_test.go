package oncehttp_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// keyedTill is an API that takes keys, and tells what became of one.
func keyedTill() oncehttp.Contract {
	c := oncehttp.IdempotencyKey("legacy.test", 24*time.Hour)
	c.Lookups = []oncehttp.Lookup{{URL: "/charges/by-key/{key}", Reference: "/id", Proof: true}}
	return c
}

func TestALookupHasTheCallsCredentialsAndNeitherKeyNorBody(t *testing.T) {
	t.Parallel()
	api := &till{get: always(200, `{"id":"ch_1"}`)}
	stored := func(n int, _ tilled) *http.Response { return says(500, `{}`, "Idempotent-Replayed", "true") }
	api.post = stored
	atTill(t, api, keyedTill(), func(b *bench) {
		req := b.charge()
		req.URL.RawQuery = "api_key=canary-1&page=2"
		req.Header.Set("Authorization", "Bearer canary-2")
		req.Header.Set("X-Account", "acct_7")
		req.Header.Set("If-Match", `"v1"`)
		req.Header.Set("Accept-Encoding", "br")
		o, err := b.c.Do("pay-1", req)
		require.NoError(b, err)
		assert.Equal(b, "ch_1", o.Reference)
		require.Len(b, api.gets, 1)
		get := api.gets[0]
		assert.Equal(b, "/charges/by-key/"+o.Key, get.URL.Path)
		assert.Equal(b, "api_key=canary-1", get.URL.RawQuery)
		assert.Equal(b, http.Header{"Authorization": {"Bearer canary-2"}, "X-Account": {"acct_7"}, "Cache-Control": {"no-cache"}}, get.Header, "whose account it is about stays")
	})
}

func TestALookupWithoutCredentialsIsNotSentAndCannotTell(t *testing.T) {
	t.Parallel()
	api := &till{get: always(404, `{}`)} // as APIs answer to strangers
	atTill(t, api, keyless(), func(b *bench) {
		req := b.charge()
		req.Header.Set("Authorization", "Bearer canary")
		_, err := b.c.Do("pay-1", req)
		require.Error(b, err)
		require.Len(b, api.gets, 1)
		b.reopen()
		time.Sleep(24 * time.Hour)
		o := b.resume()[0]
		assert.Equal(b, oncehttp.Unknown, o.Reason)
		assert.ErrorContains(b, o.Err, "a lookup needs Authorization")
		assert.False(b, o.RetryAt.IsZero())
		assert.Len(b, api.gets, 1)

		req = b.charge()
		req.Header.Set("Authorization", "Bearer canary")
		_, err = b.c.Do("pay-1", req)
		require.Error(b, err)
		assert.Len(b, api.gets, 2, "whoever brings them is heard at once")
	})
}

// Whoever asks with another credential may not be shown an effect, or be shown
// another one: keys that are not shared between credentials are looked up under
// the first attempt's alone.
func TestAPinnedKeyIsLookedUpOnlyWithTheCredentialsThatItHad(t *testing.T) {
	t.Parallel()
	with := func(token string) func(*oncehttp.Config) {
		return func(cfg *oncehttp.Config) {
			cfg.Authorize = func(req *http.Request, _ bool) error {
				req.Header.Set("Authorization", "Bearer "+token)
				return nil
			}
		}
	}
	pinned := keyedTill()
	pinned.Pin = oncehttp.PinCredential
	api := &till{get: func(_ int, req tilled) *http.Response {
		if req.Header.Get("Authorization") == "Bearer a" {
			return says(200, `{"id":"ch_1"}`)
		}
		return says(404, `{}`)
	}}
	atTill(t, api, pinned, func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		b.reopen(with("b"))
		time.Sleep(25 * time.Hour) // the key is forgotten
		for range 3 {
			for _, o := range b.resume() {
				assert.True(b, o.MayHaveExecuted)
				require.ErrorContains(b, o.Err, "together with the credentials")
				assert.NotContains(b, o.Err.Error(), "Bearer")
			}
			time.Sleep(25 * time.Hour)
		}
		assert.Empty(b, api.gets, "what b is shown is no proof of what a did")
		assert.Len(b, api.posts, 1)
		b.reopen(with("a"))
		o, err := b.c.Do("pay-1", b.charge())
		require.NoError(b, err)
		assert.Equal(b, "ch_1", o.Reference)
		assert.Len(b, api.posts, 1)
	}, oneAttempt, with("a"))
}

func TestAuthorizeBringsALookupsCredentialsAndIsToldThatTheyAreStale(t *testing.T) {
	t.Parallel()
	api := &till{}
	api.get = func(n int, req tilled) *http.Response {
		if req.Header.Get("Authorization") == "Bearer new" {
			return says(200, api.listedUnder())
		}
		return says(401, `{}`)
	}
	token := "old"
	atTill(t, api, keyless(), func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.NoError(b, err)
		assert.Equal(b, "ch_1", o.Reference)
		assert.Len(b, api.gets, 2)
	}, func(cfg *oncehttp.Config) {
		cfg.Authorize = func(req *http.Request, stale bool) error {
			if stale {
				token = "new"
			}
			req.Header.Set("Authorization", "Bearer "+token)
			return nil
		}
	})
}

func TestAuthorizeMayAddNothingButCredentialsToALookup(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"another host":   func(req *http.Request) { req.URL.Host = "other.test" },
		"another Host":   func(req *http.Request) { req.Host = "other.test" },
		"another path":   func(req *http.Request) { req.URL.Path += "/x" },
		"another method": func(req *http.Request) { req.Method = http.MethodDelete },
		"no URL":         func(req *http.Request) { req.URL = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &till{}
			atTill(t, api, keyless(), func(b *bench) {
				o, err := b.c.Do("pay-1", b.charge())
				require.ErrorAs(b, err, new(*oncehttp.PendingError))
				assert.ErrorContains(b, o.Err, "Authorize changed more of a lookup")
				assert.Empty(b, api.gets)
			}, func(cfg *oncehttp.Config) {
				cfg.Authorize = func(req *http.Request, _ bool) error {
					if req.Method == http.MethodGet {
						change(req)
					}
					return nil
				}
			})
		})
	}
}

func TestAnExpiredKeyThatTheAPINeverSawIsUsedAfterItsAbsenceIsProved(t *testing.T) {
	t.Parallel()
	api := &till{get: always(404, `{}`)}
	atTill(t, api, keyedTill(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		assert.Empty(b, api.gets, "inside its window it may be sent again, so nobody is asked")
		time.Sleep(25 * time.Hour)
		sent := len(api.posts)
		api.post = always(201, `{"id":"ch_2"}`)
		o := b.resume()[0]
		assert.Equal(b, oncehttp.KeyExpired, o.Reason)
		sleepUntil(o.RetryAt)
		o = b.resume()[0]
		require.Equal(b, oncehttp.Confirmed, o.State)
		assert.Len(b, api.gets, 2)
		require.Len(b, api.posts, sent+1)
		assert.Equal(b, api.posts[0].Header["Idempotency-Key"], api.posts[sent].Header["Idempotency-Key"])
		assert.True(b, o.SafeUntil.After(time.Now().Add(20*time.Hour)), "its window begins anew")
	}, oneAttempt)
}

// What was in progress then has ended without an effect.
func TestASuccessAfterProvedAbsenceContradictsNothingThatWasInProgressBefore(t *testing.T) {
	t.Parallel()
	api := &till{get: always(404, `{}`), post: always(409, `{"error":{"code":"idempotency_in_progress"}}`)}
	contradicted := 0
	atTill(t, api, keyedTill(), func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		require.Equal(b, oncehttp.InProgress, o.Reason)
		time.Sleep(25 * time.Hour)
		api.post = always(201, `{"id":"ch_2"}`)
		sleepUntil(b.resume()[0].RetryAt)
		require.Equal(b, oncehttp.Confirmed, b.resume()[0].State)
		assert.Len(b, api.gets, 2)
		assert.Zero(b, contradicted)
	}, oneAttempt, func(cfg *oncehttp.Config) {
		cfg.OnEvent = func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventContradicted {
				contradicted++
			}
		}
	})
}

// The same key would bring the failure again, whatever became of it.
func TestAStoredFailureThatLeftNoEffectIsADefiniteNo(t *testing.T) {
	t.Parallel()
	api := &till{get: always(404, `{}`), post: always(500, `{}`, "Idempotent-Replayed", "true")}
	atTill(t, api, keyedTill(), func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		assert.Equal(b, oncehttp.StoredFailure, o.Reason)
		for range 3 {
			if o.State != oncehttp.Pending {
				break
			}
			sleepUntil(o.RetryAt)
			o = b.resume()[0]
		}
		assert.Equal(b, oncehttp.Rejected, o.State)
		assert.Equal(b, oncehttp.StoredFailure, o.Reason)
		assert.False(b, o.MayHaveExecuted)
		assert.Len(b, api.posts, 1)
		assert.Len(b, api.gets, 3)
	})
}

func TestWithoutItsContractAnIntentIsNotAskedAboutByIt(t *testing.T) {
	t.Parallel()
	api := &till{}
	atTill(t, api, keyedTill(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		b.reopen(func(cfg *oncehttp.Config) { cfg.Contracts = nil })
		time.Sleep(48 * time.Hour)
		o := b.resume()[0]
		assert.Equal(b, oncehttp.NoContract, o.Reason)
		assert.Empty(b, api.gets)
	})
}

// Rule 10: the gate binds lookups too; one of them may be the probe that opens
// it.
func TestALookupWaitsForTheGateAndOpensIt(t *testing.T) {
	t.Parallel()
	api := &till{post: always(503, `{}`, "Retry-After", "7200")}
	api.get = func(int, tilled) *http.Response { return says(200, api.listedUnder()) }
	atTill(t, api, keyless(), func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		asked := time.Now()
		assert.Empty(b, api.gets)
		assert.GreaterOrEqual(b, time.Until(o.RetryAt), 2*time.Hour)
		sleepUntil(o.RetryAt)
		for range 3 {
			if outcomes := b.resume(); len(outcomes) > 0 {
				o = outcomes[0]
			}
			if o.State == oncehttp.Confirmed {
				break
			}
			sleepUntil(o.RetryAt)
		}
		require.Equal(b, oncehttp.Confirmed, o.State)
		require.Len(b, api.gets, 1)
		assert.GreaterOrEqual(b, api.gets[0].at.Sub(asked), 2*time.Hour)
		assert.Less(b, api.gets[0].at.Sub(asked), 2*time.Hour+5*time.Minute)

		api.post = always(201, `{}`)
		start := time.Now()
		_, err = b.c.Do("pay-2", b.charge())
		require.NoError(b, err, "the host works again")
		assert.Zero(b, time.Since(start))
	})
}

func TestALookupThatIsThrottledIsNotRepeatedSoonerThanItsAnswerAsked(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		api := &till{get: always(429, `{}`, "Retry-After", "86400")}
		atTill(t, api, keyless(), func(b *bench) {
			_, err := b.c.Do("pay-1", b.charge())
			require.Error(b, err)
			ctx, stop := context.WithTimeout(b.Context(), 36*time.Hour)
			defer stop()
			require.ErrorIs(b, b.c.Run(ctx), ctx.Err())
			require.Len(b, api.gets, 2)
			assert.GreaterOrEqual(b, api.gets[1].at.Sub(api.gets[0].at), 24*time.Hour)
		}, func(cfg *oncehttp.Config) { cfg.Gate.Off = off })
	}
}

func TestALookupIsBoundedByTheAttemptsTimeOut(t *testing.T) {
	t.Parallel()
	api := &till{}
	api.get = func(_ int, req tilled) *http.Response { <-req.Context().Done(); return nil }
	atTill(t, api, keyless(), func(b *bench) {
		start := time.Now()
		o, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		assert.Equal(b, fieldRetry.AttemptTimeout, time.Since(start))
		assert.ErrorContains(b, o.Err, "timed out")
	})
}

// What the original of a copy does meanwhile, no lookup can prove absent.
func TestACopiedJournalAsksNobodyUntilItIsAdopted(t *testing.T) {
	t.Parallel()
	api := &till{get: always(500, `{}`), post: func(n int, _ tilled) *http.Response {
		if n == 1 {
			return nil
		}
		return says(400, `{}`)
	}}
	atTill(t, api, keyedTill(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		asked := api.asked()
		require.Equal(b, 1, asked, "the refusal says nothing of the lost answer")
		b.another(copied(b.T))
		time.Sleep(48 * time.Hour)
		b.resume()
		assert.Equal(b, oncehttp.Copied, b.known().Reason)
		assert.Equal(b, asked, api.asked())
		b.reopen(adopt)
		time.Sleep(48 * time.Hour)
		b.resume()
		assert.Greater(b, api.asked(), asked)
	})
}

// Its original may have sent it, at times that the copy does not know.
func TestWhatWasOnlyBegunInACopyIsAskedAboutOnceItIsAdopted(t *testing.T) {
	t.Parallel()
	api := &till{get: always(200, `{"id":"ch_1"}`)}
	atTill(t, api, keyedTill(), func(b *bench) {
		_, err := b.c.Begin("pay-1", b.charge())
		require.NoError(b, err)
		b.another(copied(b.T), adopt)
		time.Sleep(48 * time.Hour)
		o := b.resume()[0]
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Empty(b, api.posts)
		assert.Len(b, api.gets, 1)
	})
}

func TestALookupThatIsNotMadeIsNotToldOf(t *testing.T) {
	t.Parallel()
	api := &till{post: always(503, `{}`, "Retry-After", "7200")}
	told := 0
	atTill(t, api, keyless(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		assert.Zero(b, api.asked())
		assert.Zero(b, told)
	}, func(cfg *oncehttp.Config) {
		cfg.OnEvent = func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventLookedUp {
				told++
			}
		}
	})
}
