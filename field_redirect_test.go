package oncehttp_test

import (
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C042
func TestARedirectIsFollowedOnlyToTheSameOrigin(t *testing.T) {
	t.Parallel()
	paid := func(b *bench) *http.Request {
		req := b.pay()
		req.Header.Set("Authorization", "Bearer s")
		req.Header.Set("X-Api-Key", "z")
		return req
	}
	for _, code := range fieldCases(t)["C042"].codes(t) {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			for _, location := range []string{"/v2/payments", "v2/payments", "http://mock/v2/payments#x", "http://MOCK:80/v2/payments"} {
				inBubble(t, script(mockserver.Redirect(code, location)), func(b *bench) {
					b.srv.URL = "http://mock"
					o, err := b.c.Do("pay-1", paid(b))
					b.ruled(o, err)
					want{oncehttp.Confirmed, "", 2, false, false}.check(b, o)
					q := b.srv.Requests()
					require.Len(b, q, 2, location)
					assert.Equal(b, http.MethodPost, q[1].Method)
					assert.Equal(b, "/v2/payments", q[1].Path)
					assert.Equal(b, "Bearer s", q[1].Header.Get("Authorization"))
					assert.Equal(b, "z", q[1].Header.Get("X-Api-Key"))
					assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
					again, err := b.c.Do("pay-1", paid(b)) // the URL begun with still names it
					b.ruled(again, err)
					assert.True(b, again.FromJournal)
				})
			}
			for _, location := range []string{
				"http://other.test/payments", "https://mock/payments", "https://mock:80/payments", "http://mock:8080/payments", "//other.test/payments",
				"http://user:pass@mock/payments", "", "http://%zz/", "ftp://mock/payments", "mailto:x@mock",
			} {
				inBubble(t, script(mockserver.Redirect(code, location)), func(b *bench) {
					b.srv.URL = "http://mock"
					o, err := b.c.Do("pay-1", paid(b))
					b.ruled(o, err)
					want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, o)
					assert.Len(b, b.srv.Requests(), 1, location)
				})
			}
			inBubble(t, script(mockserver.Redirect(code, "/payments").Always()), func(b *bench) {
				o := b.do()
				assert.Equal(b, oncehttp.Pending, o.State)
				assert.Equal(b, oncehttp.Redirected, o.Reason)
				assert.False(b, o.MayHaveExecuted)
				assert.Equal(b, 11, o.Attempts) // the first, and ten hops
				assert.Len(b, b.srv.Requests(), 11)
			})
		})
	}
}

func TestARedirectThatChangesTheMethodIsNeverFollowed(t *testing.T) {
	t.Parallel()
	for _, code := range []int{301, 302, 303} {
		inBubble(t, script(mockserver.Redirect(code, "/login")), func(b *bench) {
			want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.do())
			assert.Len(b, b.srv.Requests(), 1)
		})
	}
}

func TestAHopThatIsLostIsAskedForAgainWhereItBegan(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Redirect(307, "/v2/payments"), mockserver.Lost(), mockserver.Redirect(307, "/v2/payments")), func(b *bench) {
		want{oncehttp.Confirmed, "", 4, false, true}.check(b, b.do())
		q := b.srv.Requests()
		assert.Equal(b, "/payments", q[2].Path)
		assert.Equal(b, "/v2/payments", q[3].Path)
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	})
}

// T4, T5: http.Client follows redirects by calling RoundTrip again.
func TestWhatHTTPClientMakesOfARedirectIsNeverTheAction(t *testing.T) {
	t.Parallel()
	for _, code := range []int{301, 302, 303} {
		inBubble(t, script(mockserver.Redirect(code, "http://other.test/receipt")), func(b *bench) {
			req := b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1"))
			_, err := b.c.HTTPClient().Do(req)
			var pending *oncehttp.PendingError
			require.ErrorAs(b, err, &pending, "a 302 does not say whether it was done")
			assert.Len(b, b.srv.Requests(), 1)
		})
	}
	// A 307 that the intent did not follow comes back to http.Client, which
	// would follow it: refused.
	inBubble(t, script(mockserver.Redirect(307, "http://other.test/payments")), func(b *bench) {
		req := b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1"))
		_, err := b.c.HTTPClient().Do(req)
		require.ErrorIs(b, err, oncehttp.ErrInvalidRequest)
		assert.Len(b, b.srv.Requests(), 1)
		want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, b.known())
	})
	// The GET of a confirmed 303 is passed on without the key.
	done := func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Answers = append(cfg.Contracts[0].Answers, oncehttp.Answer{Status: []int{303}, Verdict: oncehttp.VerdictDone})
	}
	inBubble(t, script(mockserver.Redirect(303, "/receipt")), func(b *bench) {
		req := b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1"))
		req.Header.Set("Idempotency-Key", "caller-1")
		resp, err := b.c.HTTPClient().Do(req)
		require.NoError(b, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(b, err)
		_, isIntent := oncehttp.OutcomeOf(resp)
		assert.False(b, isIntent)
		q := b.srv.Requests()
		require.Len(b, q, 2)
		assert.Equal(b, http.MethodGet, q[1].Method)
		assert.Empty(b, q[1].Key)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
	}, done)
	inBubble(t, mockserver.Config{}, func(b *bench) {
		req := b.pay()
		req.Response = &http.Response{StatusCode: 307}
		body := &countedBody{Reader: req.Body}
		req.Body = body
		_, err := b.c.RoundTrip(req)
		require.ErrorIs(b, err, oncehttp.ErrInvalidRequest)
		assert.EqualValues(b, 1, body.closed.Load())
		assert.Empty(b, b.srv.Requests())
	})
}

// Under the key that is another one there, the effect could come about twice: an
// answer that is lost is asked for again where the request began.
func TestARedirectToWhereTheKeyIsAnotherIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pin    oncehttp.Pin
		to     string
		follow bool
	}{
		{oncehttp.PinPath, "/payments/", false},
		{oncehttp.PinPath | oncehttp.PinMethod, "/v2/payments", false},
		{oncehttp.PinPath, "/payments?v=2", true},
		{oncehttp.PinHost | oncehttp.PinMethod | oncehttp.PinCredential, "/v2/payments", true},
	} {
		srv := newRecorder(t, 0)
		srv.redirect = tt.to
		contract := oncehttp.IdempotencyKey("*", time.Hour)
		contract.Pin = tt.pin
		client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{contract}})
		o, err := client.Do("pay-1", post(t, srv.URL+"/payments", payment))
		require.NoError(t, err, tt.to)
		if !tt.follow {
			require.Equal(t, oncehttp.Rejected, o.State, tt.to)
			require.Len(t, srv.requests(), 1)
			continue
		}
		require.Equal(t, oncehttp.Confirmed, o.State, tt.to)
		require.Len(t, srv.requests(), 2)
	}
}
