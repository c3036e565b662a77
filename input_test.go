package oncehttp_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A request that no attempt could send is refused before anything is written,
// and its body is closed.
func TestARequestThatCannotBeSentIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	type change = func(*http.Request)
	target := func(u string) change {
		return func(r *http.Request) { r.URL, _ = url.Parse(u); r.Host = "" }
	}
	header := func(name, value string) change {
		return func(r *http.Request) { r.Header[name] = append(r.Header[name], value) }
	}
	length := func(n int64) change { return func(r *http.Request) { r.ContentLength = n } }
	for name, spoil := range map[string]change{
		"no URL":                    func(r *http.Request) { r.URL = nil },
		"no scheme":                 target("//api.test/payments"),
		"another scheme":            target("ftp://api.test/payments"),
		"a scheme in capitals":      func(r *http.Request) { r.URL.Scheme = "HTTP " },
		"no host":                   target("http:///payments"),
		"only a port":               target("http://:80/payments"),
		"a host with a space":       func(r *http.Request) { r.URL.Host, r.Host = "api test", "" },
		"opaque":                    target("http:payments"),
		"a method with a space":     func(r *http.Request) { r.Method = "PO ST" },
		"a method with a new line":  func(r *http.Request) { r.Method = "POST\r\nX: y" },
		"CONNECT":                   func(r *http.Request) { r.Method = http.MethodConnect },
		"a Host with a path":        func(r *http.Request) { r.Host = "api.test/x" },
		"a Host with a new line":    func(r *http.Request) { r.Host = "api.test\r\nX: y" },
		"a header's name":           header("X Y", "z"),
		"an empty header's name":    header("", "z"),
		"a header's name not ASCII": header("X-É", "z"),
		"a header with a new line":  header("X-Y", "z\r\nInjected: 1"),
		"a header with NUL":         header("X-Y", "\x00"),
		"a header with DEL":         header("X-Y", "\x7f"),
		"a credential with NUL":     header("Authorization", "Bearer \x00"),
		"trailers":                  func(r *http.Request) { r.Trailer = http.Header{"X-Sum": nil} }, // T16
		"a length too long":         length(100),                                                     // T14
		"a length too short":        length(3),
		"one byte too many":         length(int64(len(payment)) - 1),
		"a connection's header":     header("connection", "keep-alive, X-Y"),
		"two connection's headers":  func(r *http.Request) { r.Header["Connection"] = []string{"close", "close"} },
		"another protocol":          header("upgrade", "h2c"), // the transport's only under its canonical name
		"a query with a fragment":   func(r *http.Request) { r.URL.RawQuery = "colour=#fff" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, mockserver.Config{}, func(b *bench) {
				empty := b.journalBytes()
				for _, call := range []func(*http.Request) error{
					func(r *http.Request) error { _, err := b.c.Do("pay-1", r); return err },
					func(r *http.Request) error { _, err := b.c.Begin("pay-1", r); return err },
					func(r *http.Request) error {
						if r.Method == http.MethodConnect {
							return oncehttp.ErrInvalidRequest // passed through: the base's to refuse
						}
						_, err := b.c.RoundTrip(r)
						return err
					},
				} {
					req := b.pay()
					spoil(req)
					body := &countedBody{Reader: req.Body}
					req.Body = body
					err := call(req)
					require.ErrorIs(b, err, oncehttp.ErrInvalidRequest)
					assert.NotErrorAs(b, err, new(*oncehttp.PendingError))
					assert.NotContains(b, err.Error(), "Injected")
					assert.NotContains(b, err.Error(), payment)
					if req.Method != http.MethodConnect {
						assert.EqualValues(b, 1, body.closed.Load())
					}
				}
				assert.Equal(b, empty, b.journalBytes())
				b.nothing()
			})
		})
	}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		_, err := b.c.Do("pay-1", nil)
		require.ErrorIs(b, err, oncehttp.ErrInvalidRequest)
		_, err = b.c.RoundTrip(nil)
		require.ErrorIs(b, err, oncehttp.ErrInvalidRequest)
	})
}

func (b *bench) journalBytes() string {
	b.Helper()
	text, err := os.ReadFile(b.path)
	require.NoError(b, err)
	return string(text)
}

// Something above has read the body, and left nothing in its place.
func TestARequestWhoseBodyIsGoneIsRefused(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]io.ReadCloser{"nil": nil, "none": http.NoBody} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			req := b.pay()
			req.Body = gone
			_, err := b.c.Do("pay-1", req)
			require.ErrorIs(b, err, oncehttp.ErrInvalidRequest, name)
			_, err = b.c.RoundTrip(req)
			require.ErrorIs(b, err, oncehttp.ErrInvalidRequest, name)
			b.nothing()
		})
	}
}

// Headers that net/http takes from the request's fields are not sent beside.
func TestFramingHeadersOfTheCallersAreNotSent(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		req := b.pay()
		for name, value := range map[string]string{"content-length": "3", "Content-Length": "4", "transfer-encoding": "chunked", "host": "other.test"} {
			req.Header[name] = []string{value}
		}
		o, err := b.c.Do("pay-1", req)
		b.ruled(o, err)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
		q := b.srv.Requests()[0]
		assert.EqualValues(b, len(payment), q.ContentLength)
		assert.NotEqual(b, "other.test", q.Host)
	})
}

func TestWhatATestWritesByHandDoesNotPanic(t *testing.T) {
	t.Parallel()
	handmade := &oncehttp.PendingError{}
	assert.NotEmpty(t, handmade.Error())
	assert.NoError(t, handmade.Unwrap())
	var none *oncehttp.Outcome
	assert.NotEmpty(t, none.Explain())
	inBubble(t, mockserver.Config{}, func(b *bench) {
		o, err := b.c.Do("pay-1", b.pay(), nil)
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Confirmed, o.State)
	})
}

func TestAnInvalidActionIsRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for _, action := range []string{"", strings.Repeat("a", 1025), "a\x00", "a\nb", "a\x7f", "a\u0085", "a\xff", "\xed\xa0\x80"} {
			req := b.pay()
			body := &countedBody{Reader: req.Body}
			req.Body = body
			_, err := b.c.Do(action, req)
			require.ErrorIs(b, err, oncehttp.ErrInvalidAction, "%q", action)
			assert.EqualValues(b, 1, body.closed.Load())
			_, err = b.c.Begin(action, b.pay())
			require.ErrorIs(b, err, oncehttp.ErrInvalidAction)
			_, err = b.c.RoundTrip(b.pay().WithContext(oncehttp.WithAction(b.Context(), action)))
			require.ErrorIs(b, err, oncehttp.ErrInvalidAction)
			_, err = b.c.Outcome(b.Context(), action)
			require.ErrorIs(b, err, oncehttp.ErrInvalidAction)
		}
		b.nothing()
		for _, action := range []string{"a", strings.Repeat("a", 1024), "ørder/42 ✓", "anonymous/x", "key/x"} {
			o, err := b.c.Do(action, b.pay())
			b.ruled(o, err)
			assert.Equal(b, oncehttp.Confirmed, o.State)
			assert.Equal(b, action, o.Action)
		}
	})
}

// C024
func TestABodyOverTheLimitIsRefusedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	const limit = 8 << 20
	inBubble(t, mockserver.Config{}, func(b *bench) {
		empty := b.journalBytes()
		for name, size := range map[string]int64{"declared": 9 << 20, "one more": limit + 1, "unknown": -1, "endless": -1} {
			src := &counter{Reader: zeroes{}}
			body := &countedBody{Reader: src}
			if name == "unknown" {
				body.Reader = io.LimitReader(src, limit+1)
			}
			req := b.request(http.MethodPost, "/payments", "")
			req.Body, req.ContentLength = body, size
			_, err := b.c.Do("pay-1", req)
			require.ErrorIs(b, err, oncehttp.ErrBodyTooLarge, name)
			assert.EqualValues(b, 1, body.closed.Load())
			assert.LessOrEqual(b, src.n, int64(limit+1))
		}
		assert.Equal(b, empty, b.journalBytes())
		b.nothing()
		o, err := b.c.Do("pay-1", b.request(http.MethodPost, "/payments", strings.Repeat("x", limit)))
		b.ruled(o, err)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
	})
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(p), nil }

type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// A body that blocks ends with its caller.
func TestABodyThatBlocksEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		reader, _ := io.Pipe()
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
		defer cancel()
		req := b.request(http.MethodPost, "/payments", "").WithContext(ctx)
		req.Body, req.ContentLength = reader, -1
		begun := time.Now()
		_, err := b.c.Do("pay-1", req)
		require.ErrorIs(b, err, ctx.Err())
		assert.Equal(b, 100*time.Millisecond, time.Since(begun))
		b.nothing()
	})
}

// The contract of http.RoundTripper: the request is as it was, and one of
// response and error is given. T1
func TestRoundTripNeverChangesTheRequest(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]mockserver.Fault{
		"answered":   nil,
		"lost":       {mockserver.Lost(), mockserver.Status(401)},
		"redirected": {mockserver.Redirect(307, "/v2")},
		"refused":    {mockserver.Status(404)},
		"open":       {mockserver.Status(503).Always()},
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			inBubble(t, script(faults...), func(b *bench) {
				req := b.request(method, "/payments?x=1&api_key=k", payment)
				req.URL.User = url.UserPassword("user", "pass")
				req.Header = http.Header{"Authorization": {"Bearer s"}, "x-odd": {"1", "2"}, "Cookie": {"a=b"}}
				before, header, address := *req, maps.Clone(req.Header), *req.URL
				before.Header, before.URL = nil, nil
				resp, err := b.c.RoundTrip(req)
				assert.Equal(b, resp == nil, err != nil, name)
				if resp != nil {
					require.NotNil(b, resp.Body)
					require.NotNil(b, resp.Header)
					_, err := io.Copy(io.Discard, resp.Body)
					require.NoError(b, err)
					require.NoError(b, resp.Body.Close())
					assert.NotZero(b, resp.ProtoMajor)
				}
				after := *req
				after.Header, after.URL = nil, nil
				assert.Equal(b, before.Method, after.Method)
				assert.Equal(b, before.Host, after.Host)
				assert.Equal(b, before.ContentLength, after.ContentLength)
				assert.Equal(b, before.Body, after.Body)
				assert.Equal(b, header, req.Header)
				assert.Equal(b, address, *req.URL)
			}, func(cfg *oncehttp.Config) {
				cfg.Authorize = func(r *http.Request, _ bool) error {
					r.Header.Set("X-Signed-Token", "1")
					r.Header.Add("Authorization", "")
					r.Header.Set("Authorization", "Bearer t")
					return nil
				}
			})
		}
	}
}

func TestAnInvalidConfigurationNamesItsField(t *testing.T) {
	t.Parallel()
	contract := oncehttp.IdempotencyKey("api.test", time.Hour)
	for field, spoil := range map[string]func(*oncehttp.Config){
		"Retry.MaxAttempts":    func(c *oncehttp.Config) { c.Retry.MaxAttempts = -1 },
		"Retry.MaxElapsed":     func(c *oncehttp.Config) { c.Retry.MaxElapsed = -1 },
		"Retry.AttemptTimeout": func(c *oncehttp.Config) { c.Retry.AttemptTimeout = -1 },
		"Retry.Base":           func(c *oncehttp.Config) { c.Retry.Base = -1 },
		"Retry.Base ":          func(c *oncehttp.Config) { c.Retry.Base, c.Retry.Cap = time.Minute, time.Second },
		"Retry.Cap":            func(c *oncehttp.Config) { c.Retry.Cap = -1 },
		"LockTimeout":          func(c *oncehttp.Config) { c.LockTimeout = -1 },
		"MaxRequestBody":       func(c *oncehttp.Config) { c.MaxRequestBody = -1 },
		"MaxResponseBody":      func(c *oncehttp.Config) { c.MaxResponseBody = -1 },
		"Concurrency":          func(c *oncehttp.Config) { c.Concurrency = -1 },
		"WindowShare":          func(c *oncehttp.Config) { c.WindowShare = 1.1 },
		"WindowShare ":         func(c *oncehttp.Config) { c.WindowShare = -0.1 },
		"Unmatched":            func(c *oncehttp.Config) { c.Unmatched = 9 },
		"IgnoreFields":         func(c *oncehttp.Config) { c.IgnoreFields = []string{"no pointer"} },
		"SignificantHeaders":   func(c *oncehttp.Config) { c.SignificantHeaders = []string{"X Y"} },
		"SignificantHeaders ":  func(c *oncehttp.Config) { c.SignificantHeaders = []string{"Authorization"} },
		"match the same": func(c *oncehttp.Config) {
			other := contract
			other.Name = "other"
			c.Contracts = []oncehttp.Contract{contract, other}
		},
		"Name":          func(c *oncehttp.Config) { c.Contracts = []oncehttp.Contract{contract, contract} },
		"Window.Length": func(c *oncehttp.Config) { c.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("api.test", 0)} },
		"Match.Hosts":   func(c *oncehttp.Config) { c.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("", time.Hour)} },
	} {
		var cfg oncehttp.Config
		spoil(&cfg)
		path := journalPath(t)
		_, err := oncehttp.Open(path, cfg)
		require.ErrorContains(t, err, strings.TrimSpace(field))
		assert.NoFileExists(t, path, "nothing is made for a client that cannot be")
	}
	// All that is wrong is said at once.
	_, err := oncehttp.Open(journalPath(t), oncehttp.Config{Concurrency: -1, WindowShare: 2})
	require.ErrorContains(t, err, "Concurrency")
	require.ErrorContains(t, err, "WindowShare")
	_, err = oncehttp.New(nil, oncehttp.Config{})
	require.Error(t, err)
}

// A key maker of the caller's own is checked, and its error sends nothing.
func TestAKeyThatTheContractDoesNotAllowSendsNothing(t *testing.T) {
	t.Parallel()
	for _, maker := range []func(string) (string, error){
		func(string) (string, error) { return "", errBroken },
		func(string) (string, error) { return "a b", nil },
		func(string) (string, error) { return "", nil },
		func(string) (string, error) { return strings.Repeat("k", 256), nil },
	} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			_, err := b.c.Do("pay-1", b.pay())
			require.Error(b, err)
			assert.NotErrorAs(b, err, new(*oncehttp.PendingError))
			assert.True(b, errors.Is(err, oncehttp.ErrInvalidRequest) || errors.Is(err, errBroken))
			b.nothing()
		}, func(cfg *oncehttp.Config) { cfg.NewKey = maker })
	}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		o := b.do()
		assert.Equal(b, "key-of-pay-1", o.Key)
		assert.Equal(b, o.Key, b.oneKey())
	}, func(cfg *oncehttp.Config) {
		cfg.NewKey = func(action string) (string, error) { return "key-of-" + action, nil }
	})
}
