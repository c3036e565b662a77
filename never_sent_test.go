package oncehttp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// "A connection was asked for, none was got, and the body was never read"
// proves that nothing was sent. T9
func TestWhatNeverGotAConnectionWasNeverSent(t *testing.T) {
	t.Parallel()
	dialing := func(err error) func(*oncehttp.Config) {
		return func(cfg *oncehttp.Config) {
			cfg.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, err }
		}
	}
	for name, tt := range map[string]struct {
		change   func(*oncehttp.Config)
		attempts int
		is       error
	}{
		"refused":      {dialing(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}), 4, syscall.ECONNREFUSED},
		"unknown host": {dialing(&net.DNSError{Err: "no such host", Name: "api.test", IsNotFound: true}), 4, nil},
		"proxy": {func(cfg *oncehttp.Config) {
			cfg.Transport.(*http.Transport).Proxy = func(*http.Request) (*url.URL, error) { return nil, errBroken }
		}, 4, errBroken},
		"declared": {func(cfg *oncehttp.Config) {
			cfg.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
				return nil, fmt.Errorf("wrapped: %w", notSent{})
			})
		}, 4, notSent{}},
		"dial time-out": {func(cfg *oncehttp.Config) {
			cfg.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
		}, 4, nil},
	} {
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			for _, contract := range []bool{true, false} {
				if name == "dial time-out" && method == http.MethodPost && !contract {
					continue // an attempt that no other may follow has no time-out of ours
				}
				t.Run(fmt.Sprintf("%s, %s, %v", name, method, contract), func(t *testing.T) {
					t.Parallel()
					body := payment
					if method == http.MethodDelete {
						body = ""
					}
					inBubble(t, mockserver.Config{}, func(b *bench) {
						o, err := b.c.Do("pay-1", b.request(method, "/payments", body))
						b.ruled(o, err)
						want{oncehttp.Pending, oncehttp.NotSent, tt.attempts, false, false}.check(b, o)
						if tt.is != nil {
							require.ErrorIs(b, err, tt.is)
						}
						assert.Empty(b, b.srv.Requests())
						assert.True(b, o.SafeUntil.IsZero(), "no window has begun")
						// A later pass sends it, and that is the first time.
						b.reopen(func(cfg *oncehttp.Config) { cfg.Transport = b.srv.Transport() })
						b.sleepUntilDue()
						outcomes := b.resume()
						require.Len(b, outcomes, 1)
						want{oncehttp.Confirmed, "", tt.attempts + 1, false, false}.check(b, outcomes[0])
						b.cfg.Transport.(*http.Transport).CloseIdleConnections()
					}, func(cfg *oncehttp.Config) {
						cfg.Contracts[0].Match.Methods = []string{http.MethodPost, http.MethodDelete}
						if !contract {
							unprotected(cfg)
						}
						tt.change(cfg)
					})
				})
			}
		}
	}
}

type notSent struct{}

func (notSent) Error() string { return "the breaker is open" }
func (notSent) NotSent() bool { return true }

// Waiting does not mend what is not trusted: later, not now.
func TestAServerThatIsNotTrustedWasSentNothing(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := mockserver.Start(mockserver.Config{})
	defer plain.Close()
	for name, target := range map[string]string{"certificate": secure.URL, "scheme": "https" + plain.URL[len("http"):]} {
		t.Run(name, func(t *testing.T) {
			c := open(t, journalPath(t), oncehttp.Config{Transport: &http.Transport{}})
			o, err := c.Do("pay-1", post(t, target+"/payments", payment))
			var pending *oncehttp.PendingError
			require.ErrorAs(t, err, &pending)
			want{oncehttp.Pending, oncehttp.NotSent, 1, false, false}.check(t, o)
			assert.False(t, o.RetryAt.IsZero())
			if name == "certificate" {
				var cert *tls.CertificateVerificationError
				require.ErrorAs(t, err, &cert)
			} else {
				var record tls.RecordHeaderError
				require.ErrorAs(t, err, &record)
			}
			assert.Empty(t, plain.Requests())
		})
	}
}

// A transport that reports no traces, or one that may have another way, proves
// nothing.
func TestABaseThatReportsNothingProvesNothing(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, base := range map[string]func(inner *http.Transport) http.RoundTripper{
		"no traces": func(*http.Transport) http.RoundTripper {
			return roundTripper(func(*http.Request) (*http.Response, error) { return nil, refused })
		},
		"body read before the dial": func(inner *http.Transport) http.RoundTripper {
			inner.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, refused }
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				if _, err := req.Body.Read(make([]byte, 1)); err != nil {
					return nil, err
				}
				return inner.RoundTrip(req)
			})
		},
		"a time-out without traces": func(*http.Transport) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				time.Sleep(10 * time.Millisecond)
				return nil, errors.New("timeout")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, mockserver.Config{}, func(b *bench) {
				want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.do())
			}, unprotected, func(cfg *oncehttp.Config) { cfg.Transport = base(cfg.Transport.(*http.Transport)) })
		})
	}
	// A body-less request proves it only through net/http itself.
	inBubble(t, mockserver.Config{}, func(b *bench) {
		o, err := b.c.Do("pay-1", b.request(http.MethodPost, "/payments", ""))
		b.ruled(o, err)
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
	}, unprotected, func(cfg *oncehttp.Config) {
		inner := cfg.Transport.(*http.Transport)
		inner.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, refused }
		cfg.Transport = roundTripper(inner.RoundTrip)
	})
}

// C079
func TestWhatIsToldOfAttemptsIsWhatWasMade(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		faults  []mockserver.Fault
		refuse  int
		started int
		sent    int
	}{
		{nil, 0, 1, 1},
		{[]mockserver.Fault{mockserver.Status(503)}, 0, 2, 2},
		{[]mockserver.Fault{mockserver.Status(503).Always()}, 0, 4, 4},
		{nil, -1, 4, 0},
	} {
		var started, answered []oncehttp.Event
		inBubble(t, script(tt.faults...), func(b *bench) {
			b.srv.RefuseDials(tt.refuse)
			o, err := b.c.Do("pay-1", b.pay())
			b.ruled(o, err)
			assert.Equal(b, tt.started, o.Attempts)
			assert.Equal(b, tt.started, b.known().Attempts)
			assert.Len(b, b.srv.Requests(), tt.sent)
			require.Len(b, started, tt.started)
			require.Len(b, answered, tt.started)
			for i, e := range started {
				assert.Equal(b, i+1, e.Attempt)
				assert.Equal(b, i+1, answered[i].Attempt)
				assert.NotEmpty(b, e.AttemptID)
				assert.Equal(b, e.AttemptID, answered[i].AttemptID)
				assert.True(b, answered[i].Status != 0 || answered[i].Cause != "")
				assert.Len(b, e.KeyPrint, 8)
				assert.NotContains(b, o.Key, e.KeyPrint)
			}
			if err != nil {
				assert.ErrorContains(b, err, fmt.Sprintf("after %d attempts", tt.started))
			}
		}, func(cfg *oncehttp.Config) {
			cfg.OnEvent = func(e oncehttp.Event) {
				switch e.Kind {
				case oncehttp.EventAttempt:
					started = append(started, e)
				case oncehttp.EventAnswered:
					answered = append(answered, e)
				}
			}
		})
	}
	inBubble(t, script(mockserver.Status(503).Always()), func(b *bench) {
		assert.Equal(b, 1, b.do().Attempts)
		assert.Len(b, b.srv.Requests(), 1)
	}, oneAttempt)
}
