package oncehttp_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestARetryAfterOnASuccessNeitherResendsNorDelays(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 201, 202, 204, 206} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodPut} {
			inBubble(t, script(asks(code, "3600").Always()), func(b *bench) {
				begun := time.Now()
				for i := range 3 {
					resp, err := b.c.RoundTrip(b.request(method, fmt.Sprintf("/payments/%d", i), ""))
					require.NoError(b, err)
					assert.Equal(b, code, resp.StatusCode)
					require.NoError(b, resp.Body.Close())
				}
				assert.Zero(b, time.Since(begun), "nor are other requests to the host held up")
				assert.Len(b, b.srv.Requests(), 3, "%d %s", code, method)
			})
		}
	}
}

// What another try cannot mend.
func TestWhatWaitingDoesNotMendIsAskedOnce(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 404, 405, 413, 422, 431, 501, 505, 510, 511} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodPut} {
			inBubble(t, script(mockserver.Status(code).Always()), func(b *bench) {
				resp, err := b.c.RoundTrip(b.request(method, "/payments", ""))
				require.NoError(b, err)
				require.NoError(b, resp.Body.Close())
				assert.Equal(b, code, resp.StatusCode)
				assert.Len(b, b.srv.Requests(), 1, "%d %s", code, method)
			})
		}
	}
}

// Nobody can repeat it, so nobody cuts a slow success off.
func TestAnAttemptThatNoOtherMayFollowIsWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 10 * time.Minute}, func(b *bench) {
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do())
	}, unprotected)
}

// A write that took effect, and whose answer was lost, meets its own effect when
// it is repeated under a condition.
func TestAConditionThatItsOwnEffectBrokeRejectsNothing(t *testing.T) {
	t.Parallel()
	for _, code := range []int{409, 412, 422, 423} {
		for _, method := range []string{http.MethodPost, http.MethodPut} {
			inBubble(t, script(mockserver.Lost(), mockserver.Code(code, "no")), func(b *bench) {
				req := b.request(method, "/objects/1", payment)
				req.Header.Set("If-None-Match", "*")
				o, err := b.c.Do("pay-1", req)
				b.ruled(o, err)
				assert.Equal(b, oncehttp.Pending, o.State, "%d %s", code, method)
				assert.True(b, o.MayHaveExecuted)
				assert.Equal(b, 2, o.Attempts)
				assert.Len(b, b.srv.Requests(), 2)
				assert.Equal(b, 1, b.srv.EffectsTotal())
			})
		}
	}
}

// A cancellation that is the server's or a proxy's is a lost answer like any
// other.
func TestACancellationThatIsNotTheCallersIsALostAnswer(t *testing.T) {
	t.Parallel()
	for _, foreign := range []error{context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded} {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			tries := 0
			inBubble(t, mockserver.Config{}, func(b *bench) {
				resp, err := b.c.RoundTrip(b.request(method, "/payments", ""))
				require.NoError(b, err)
				require.NoError(b, resp.Body.Close())
				assert.Equal(b, 2, tries)
			}, func(cfg *oncehttp.Config) {
				inner := cfg.Transport
				cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
					if tries++; tries == 1 {
						return nil, fmt.Errorf("stream 1: %w", foreign)
					}
					return inner.RoundTrip(req)
				})
			})
		}
	}
}
