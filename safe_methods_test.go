package oncehttp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestASafeRequestIsRetriedAndItsLastAnswerHandedBack(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503), mockserver.Fault{See: mockserver.SeeReset}, mockserver.Status(429)), func(b *bench) {
		resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
		require.NoError(b, err)
		assert.Equal(b, 200, resp.StatusCode)
		require.NoError(b, resp.Body.Close())
		assert.Len(b, b.srv.Requests(), 4)
	})
	last := mockserver.Status(503)
	last.Body = "the last one"
	inBubble(t, script(mockserver.Status(502), mockserver.Status(502), mockserver.Status(502), last), func(b *bench) {
		resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
		require.NoError(b, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		assert.Equal(b, "the last one", string(text))
		assert.Len(b, b.srv.Requests(), 4)
	})
	// A wish that does not fit ends the call at once, with the answer.
	inBubble(t, script(mockserver.Status(503).With("Retry-After", "3600").Always()), func(b *bench) {
		begun := time.Now()
		resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		assert.Zero(b, time.Since(begun))
		assert.Len(b, b.srv.Requests(), 1)
	})
	for _, code := range []int{400, 401, 404, 409, 302, 304, 501} {
		inBubble(t, script(mockserver.Status(code).Always()), func(b *bench) {
			resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
			require.NoError(b, err)
			require.NoError(b, resp.Body.Close())
			assert.Len(b, b.srv.Requests(), 1, code)
		})
	}
}

func TestASafeRequestThatTimesOutIsRetriedAndASlowBodyIsNot(t *testing.T) {
	t.Parallel()
	silent := mockserver.Fault{See: mockserver.SeeNothing}
	inBubble(t, script(silent, silent), func(b *bench) {
		resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		assert.Len(b, b.srv.Requests(), 3)
	})
	inBubble(t, script(mockserver.Fault{See: mockserver.SeeDrip, Every: 10 * time.Second}), func(b *bench) {
		resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
		require.NoError(b, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(b, err, "no time-out of ours runs inside a body handed on")
		assert.Equal(b, "{}\n", string(text))
		require.NoError(b, resp.Body.Close())
	})
	// The last error says whose time-out it was.
	inBubble(t, script(silent.Always()), func(b *bench) {
		ctx, cancel := context.WithTimeout(b.Context(), 1500*time.Millisecond)
		defer cancel()
		_, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", "").WithContext(ctx))
		require.ErrorIs(b, err, context.DeadlineExceeded)
	})
	inBubble(t, script(silent.Always()), func(b *bench) {
		_, err := b.c.HTTPClient().Do(b.request(http.MethodGet, "/payments", ""))
		var timeout interface{ Timeout() bool }
		require.ErrorAs(b, err, &timeout)
		assert.True(b, timeout.Timeout())
		assert.NotErrorIs(b, err, context.Canceled, "nobody cancelled it")
	}, func(cfg *oncehttp.Config) { cfg.Retry.MaxElapsed = time.Second })
}

func TestASafeRequestsWaitEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	waiting := script(mockserver.Status(503).With("Retry-After", "10").Always())
	for name, end := range map[string]func(*bench, *http.Request) *http.Request{
		"context": func(b *bench, r *http.Request) *http.Request {
			ctx, cancel := context.WithCancel(r.Context())
			time.AfterFunc(time.Second, cancel)
			return r.WithContext(ctx)
		},
		"req.Cancel": func(b *bench, r *http.Request) *http.Request {
			cancel := make(chan struct{})
			time.AfterFunc(time.Second, func() { close(cancel) })
			//lint:ignore SA1019 http.Client.Timeout still sets it
			r.Cancel = cancel
			return r
		},
		"Close": func(b *bench, r *http.Request) *http.Request {
			time.AfterFunc(time.Second, func() { b.c.Close() })
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, waiting, func(b *bench) {
				begun := time.Now()
				resp, err := b.c.RoundTrip(end(b, b.request(http.MethodGet, "/payments", "")))
				require.Error(b, err)
				assert.Nil(b, resp)
				assert.Less(b, time.Since(begun), 1050*time.Millisecond)
			})
		})
	}
}

func TestAnIdempotentBodyIsSentWholeOnEveryTry(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"with GetBody":    func(*http.Request) {},
		"without GetBody": func(r *http.Request) { r.GetBody = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(mockserver.Status(503), mockserver.Status(503)), func(b *bench) {
				req := b.request(http.MethodPut, "/payments/1", payment)
				change(req)
				body := &countedBody{Reader: req.Body}
				req.Body = body
				resp, err := b.c.RoundTrip(req)
				require.NoError(b, err)
				require.NoError(b, resp.Body.Close())
				assert.EqualValues(b, 1, body.closed.Load())
				assert.Len(b, b.srv.Requests(), 3)
				b.oneKey()
				assert.EqualValues(b, len(payment), b.srv.Requests()[2].BodyBytes)
			})
		})
	}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		req := b.request(http.MethodPut, "/payments/1", payment)
		req.GetBody = func() (io.ReadCloser, error) { return nil, errBroken }
		begun := time.Now()
		_, err := b.c.RoundTrip(req)
		require.ErrorIs(b, err, errBroken)
		assert.Zero(b, time.Since(begun))
		assert.Empty(b, b.srv.Requests())
	})
}

// Waiting does not mend a certificate.
func TestASafeRequestToAServerNotTrustedIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, http.ErrSchemeMismatch} {
		tries := 0
		inBubble(t, mockserver.Config{}, func(b *bench) {
			_, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
			require.ErrorIs(b, err, failure)
			assert.Equal(b, 1, tries)
		}, func(cfg *oncehttp.Config) {
			cfg.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
				tries++
				return nil, failure
			})
		})
	}
}

// http.RoundTripper asks for a body that is not nil; not every base knows.
func TestAnAnswerAlwaysHasABody(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			resp, err := b.c.RoundTrip(b.request(method, "/payments", ""))
			require.NoError(b, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(b, err)
			assert.Empty(b, text)
			require.NoError(b, resp.Body.Close())
		}, func(cfg *oncehttp.Config) {
			cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 204, Header: http.Header{}, Request: req}, nil
			})
		})
	}
}
