package oncehttp_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C002
func TestAQuotaThatIsGoneIsNotHammered(t *testing.T) {
	t.Parallel()
	final := func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Answers = append(cfg.Contracts[0].Answers,
			oncehttp.Answer{Status: []int{429}, Codes: []string{"insufficient_quota"}, Verdict: oncehttp.VerdictRefused})
	}
	quota := mockserver.Status(429)
	quota.Body = `{"error":{"code":"insufficient_quota"}}`
	inBubble(t, script(quota.Always()), func(b *bench) {
		begun := time.Now()
		want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, b.do())
		assert.Less(b, time.Since(begun), 50*time.Millisecond)
		assert.Equal(b, 0, b.srv.EffectsTotal())
	}, final)
	quota.Body = `{"error":{"code":"rate_limited"}}`
	inBubble(t, script(quota.Always()), func(b *bench) {
		want{oncehttp.Pending, oncehttp.Throttled, 4, false, false}.check(b, b.do())
		for i, gap := range b.gaps() {
			assert.LessOrEqual(b, gap, 100*time.Millisecond<<i)
		}
	}, final)
}

// C003, C029
func TestAnAnswerOfAProxyMayStandInFrontOfAnEffect(t *testing.T) {
	t.Parallel()
	cases := fieldCases(t)
	for _, code := range append(cases["C003"].codes(t), cases["C029"].codes(t)...) {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			proxy := mockserver.Gateway(code)
			inBubble(t, script(proxy.Committed()), func(b *bench) {
				want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.do())
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
			})
			inBubble(t, script(proxy), func(b *bench) {
				want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
			})
			inBubble(t, script(proxy.Committed().Always()), func(b *bench) {
				want{oncehttp.Pending, oncehttp.ServerError, 4, true, false}.check(b, b.do())
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
			})
			inBubble(t, script(proxy.Committed().Always()), func(b *bench) {
				want{oncehttp.Pending, oncehttp.ServerError, 1, true, false}.check(b, b.do())
			}, unprotected)
		})
	}
}

// C005
func TestAnAnswerFromBeforeTheWorkIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, code := range fieldCases(t)["C005"].codes(t) {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			early := mockserver.Status(code).With("Connection", "close")
			inBubble(t, script(early), func(b *bench) {
				want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
				q := b.srv.Requests()
				assert.NotEqual(b, q[0].Conn, q[1].Conn)
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
			})
			repeated := want{oncehttp.Pending, oncehttp.Throttled, 4, false, false}
			once := repeated // without a key
			if code == http.StatusRequestTimeout {
				repeated = want{oncehttp.Pending, oncehttp.Unknown, 4, true, false}
				once = want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}
			}
			inBubble(t, script(early.Always()), func(b *bench) { repeated.check(b, b.do()) })
			inBubble(t, script(early.Always()), func(b *bench) { once.check(b, b.do()) }, unprotected)
		})
	}
	for _, code := range []int{400, 404, 409, 412, 422, 423, 451, 501} {
		inBubble(t, script(mockserver.Code(code, "no").Always()), func(b *bench) {
			want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, b.do())
		})
	}
}

// C006
func TestAConflictIsReadByWhatItSays(t *testing.T) {
	t.Parallel()
	t.Run("in progress", func(t *testing.T) {
		running := mockserver.Code(409, "idempotency_in_progress").With("Retry-After", "1")
		inBubble(t, script(running), func(b *bench) {
			want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
			assert.GreaterOrEqual(b, b.firstGap(), time.Second)
			assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
		})
	})
	t.Run("business", func(t *testing.T) {
		inBubble(t, script(mockserver.Code(409, "sku_sold_out")), func(b *bench) {
			want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, b.do())
		})
	})
	t.Run("never replays", func(t *testing.T) {
		inBubble(t, script(mockserver.Lost(), mockserver.Code(409, "key_already_used").Always()), func(b *bench) {
			o := b.do()
			assert.Equal(b, oncehttp.Pending, o.State)
			assert.True(b, o.MayHaveExecuted)
			assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
		})
	})
	t.Run("bare", func(t *testing.T) {
		inBubble(t, script(mockserver.Status(409).Always()), func(b *bench) {
			want{oncehttp.Pending, oncehttp.InProgress, 4, true, false}.check(b, b.do())
			b.oneKey()
		})
		inBubble(t, script(mockserver.Status(409).Always()), func(b *bench) {
			want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, b.do())
		}, unprotected)
	})
}

// C007
func TestAnAcceptedRequestIsNotPostedAgain(t *testing.T) {
	t.Parallel()
	accepted := mockserver.Status(202).Committed().With("Retry-After", "0").With("Location", "/jobs/7")
	inBubble(t, script(accepted.Always()), func(b *bench) {
		o := b.do()
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
		assert.Equal(b, 202, o.Response.StatusCode)
		assert.Equal(b, "/jobs/7", o.Response.Header.Get("Location"))
		assert.Equal(b, "0", o.Response.Header.Get("Retry-After"))
		time.Sleep(time.Hour)
		assert.Empty(b, b.resume())
		assert.Len(b, b.srv.Requests(), 1)
	})
}

// A refusal by something in between says nothing of an earlier attempt.
func TestARefusalAfterALostAnswerLeavesTheIntentPending(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 401, 403, 404, 407, 409, 410, 413, 422} {
		inBubble(t, script(mockserver.Lost(), mockserver.Code(code, "no").Always()), func(b *bench) {
			o := b.do()
			assert.Equal(b, oncehttp.Pending, o.State, code)
			assert.True(b, o.MayHaveExecuted, code)
			assert.Equal(b, 2, o.Attempts, code)
			assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
		})
	}
	// Where the API keeps its refusals under the key, it speaks of all attempts.
	inBubble(t, script(mockserver.Status(503), mockserver.Code(404, "no")), func(b *bench) {
		want{oncehttp.Rejected, oncehttp.Refused, 2, false, false}.check(b, b.do())
	}, func(cfg *oncehttp.Config) { cfg.Contracts[0].Stored.Refusals = true })
}

func TestAStoredFailureIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	stored := mockserver.Status(500).With("Idempotent-Replayed", "true")
	inBubble(t, script(mockserver.Status(500), stored.Always()), func(b *bench) {
		want{oncehttp.Pending, oncehttp.StoredFailure, 2, true, false}.check(b, b.do())
		time.Sleep(time.Hour)
		assert.Empty(b, b.resume())
		assert.Len(b, b.srv.Requests(), 2)
	})
}

func TestAReplayedRefusalSettles(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost(), mockserver.Code(402, "card_declined").With("Idempotent-Replayed", "true")), func(b *bench) {
		o := b.do()
		want{oncehttp.Rejected, oncehttp.Refused, 2, false, false}.check(b, o)
		require.NotNil(b, o.Response)
		assert.True(b, o.Response.Replayed)
	})
}

func TestDeletingWhatIsGoneConfirmsOnlyAnExposedDelete(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost(), mockserver.Status(410)), func(b *bench) {
		o, err := b.c.Do("pay-1", b.request(http.MethodDelete, "/payments/1", ""))
		b.ruled(o, err)
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, o)
	})
	inBubble(t, script(mockserver.Status(410)), func(b *bench) {
		o, err := b.c.Do("pay-1", b.request(http.MethodDelete, "/payments/1", ""))
		b.ruled(o, err)
		want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, o)
	})
}

func TestAnAnswerThatContradictsTheContractIsAnEvent(t *testing.T) {
	t.Parallel()
	var said []string
	ignored := mockserver.Status(201).Committed().With("Key-Ignored", "true")
	inBubble(t, script(mockserver.Lost(), ignored), func(b *bench) {
		o := b.do()
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, o)
		assert.True(b, o.MayHaveRepeated)
		assert.Equal(b, []string{"the API says that it did not honour the key"}, said)
		b.reopen()
		assert.True(b, b.known().MayHaveRepeated)
	}, func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Ignored = oncehttp.Marker{Headers: []string{"Key-Ignored"}}
		cfg.OnEvent = func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventContradicted {
				said = append(said, e.Cause)
			}
		}
	})
}
