package oncehttp_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// How a request travelled through RoundTrip.
const (
	asIntent = "an intent"
	inMemory = "retried in memory"
	once     = "passed through once"
	refused  = "refused"
)

// travelled sends a request to a server that answers 503 twice (200 ms later a
// third time would do), and says how it travelled.
func travelled(b *bench, req *http.Request) string {
	b.Helper()
	b.srv.Script(mockserver.Status(503), mockserver.Status(503))
	before := len(b.srv.Requests())
	resp, err := b.c.RoundTrip(req)
	sent := len(b.srv.Requests()) - before
	if err == nil {
		_, isIntent := oncehttp.OutcomeOf(resp)
		require.NoError(b, resp.Body.Close())
		switch {
		case isIntent:
			return asIntent
		case sent == 3:
			return inMemory
		case sent == 1:
			return once
		}
	}
	if errors.As(err, new(*oncehttp.PendingError)) {
		return asIntent
	}
	require.Zero(b, sent, "any other error means that nothing was sent")
	return refused
}

func TestRoutesByMethodBodyAndContext(t *testing.T) {
	t.Parallel()
	type change = func(*http.Request) *http.Request
	as := func(action string) change {
		return func(r *http.Request) *http.Request {
			return r.WithContext(oncehttp.WithAction(r.Context(), action))
		}
	}
	header := func(name, value string) change {
		return func(r *http.Request) *http.Request { r.Header.Set(name, value); return r }
	}
	form := func(body string) change {
		return func(r *http.Request) *http.Request {
			r.Body, r.ContentLength = readCloser(body), int64(len(body))
			r.GetBody = func() (io.ReadCloser, error) { return readCloser(body), nil }
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return r
		}
	}
	unread := func(r *http.Request) *http.Request {
		r.Body, r.ContentLength, r.GetBody = readCloser(payment), -1, nil
		return r
	}
	at := func(path string) change {
		return func(r *http.Request) *http.Request { r.URL.Path = path; return r }
	}
	both := func(f, g change) change { return func(r *http.Request) *http.Request { return g(f(r)) } }
	same := func(r *http.Request) *http.Request { return r }
	type configure = func(*oncehttp.Config)
	setting := func(u oncehttp.Unmatched) configure {
		return func(c *oncehttp.Config) { unprotected(c); c.Unmatched = u }
	}
	search := func(cfg *oncehttp.Config) { cfg.Contracts[0].Match.Safe = true }
	all := func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Match.Methods = []string{"GET", "PUT", "POST", "DELETE"}
	}
	moves := func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Match.Methods = []string{"PUT"}
		cfg.Contracts[0].Match.Idempotent = oncehttp.IdempotentNo
		cfg.Contracts[0].Carrier = oncehttp.Carrier{}
		cfg.Contracts[0].Window, cfg.Contracts[0].Replay = oncehttp.Window{}, oncehttp.Marker{}
	}
	named := func(cfg *oncehttp.Config) {
		cfg.PassThrough = func(r *http.Request) bool { return r.URL.Path == "/payments" }
	}
	for name, tt := range map[string]struct {
		method  string
		change  change
		cfg     configure
		travels string
	}{
		"POST under a contract":                  {"POST", same, nil, asIntent},
		"PATCH under a contract":                 {"PATCH", same, nil, asIntent},
		"PUT beside a contract of POST":          {"PUT", same, nil, inMemory},
		"PUT under a contract":                   {"PUT", same, all, asIntent},
		"GET under a contract":                   {"GET", same, all, asIntent},
		"POST that a contract calls safe":        {"POST", same, search, inMemory},
		"PUT that moves money":                   {"PUT", same, moves, asIntent},
		"GET":                                    {"GET", same, unprotected, inMemory},
		"HEAD":                                   {"HEAD", same, unprotected, inMemory},
		"OPTIONS":                                {"OPTIONS", same, unprotected, inMemory},
		"GET, whatever the context names":        {"GET", as("a"), unprotected, inMemory},
		"PUT":                                    {"PUT", same, unprotected, inMemory},
		"DELETE":                                 {"DELETE", same, unprotected, inMemory},
		"PUT with an action":                     {"PUT", as("a"), unprotected, asIntent},
		"DELETE with an action":                  {"DELETE", as("a"), unprotected, asIntent},
		"POST":                                   {"POST", same, unprotected, asIntent},
		"PATCH":                                  {"PATCH", same, unprotected, asIntent},
		"a method of its own":                    {"CHARGE", same, unprotected, asIntent},
		"POST, unmatched passes":                 {"POST", same, setting(oncehttp.PassThrough), once},
		"POST, unmatched refused":                {"POST", same, setting(oncehttp.Refuse), refused},
		"POST with an action, unmatched passes":  {"POST", as("a"), setting(oncehttp.PassThrough), asIntent},
		"POST with an action, unmatched refused": {"POST", as("a"), setting(oncehttp.Refuse), asIntent},
		"GET, unmatched refused":                 {"GET", same, setting(oncehttp.Refuse), inMemory},
		"DELETE, unmatched refused":              {"DELETE", same, setting(oncehttp.Refuse), inMemory},
		"Upgrade":                                {"POST", header("Upgrade", "websocket"), nil, once},
		"gRPC":                                   {"POST", header("Content-Type", "application/grpc"), nil, once},
		"gRPC with a codec":                      {"POST", header("Content-Type", "application/grpc+proto"), nil, once},
		"gRPC-web":                               {"POST", header("Content-Type", "application/grpc-web-text"), nil, once},
		"a token request":                        {"POST", form("grant_type=client_credentials&scope=x"), unprotected, once},
		"a token request of such an action":      {"POST", both(both(form("grant_type=password"), as("a")), at("/oauth2/token")), unprotected, once},
		"a token request beside a contract":      {"POST", both(form("grant_type=client_credentials"), at("/v1/connect/Token")), nil, once},
		"a payment with a grant type":            {"POST", form("amount=5&grant_type=client_credentials"), nil, asIntent},
		"a named payment with a grant type":      {"POST", both(form("amount=5&grant_type=scholarship"), as("a")), unprotected, asIntent},
		"a payment at a path of tokens":          {"POST", at("/v1/tokens"), nil, asIntent},
		"a form of another kind":                 {"POST", form("a=grant_type"), unprotected, asIntent},
		"a body that can be read once":           {"POST", unread, unprotected, once},
		"such a PUT":                             {"PUT", unread, unprotected, once},
		"such a body with an action":             {"POST", both(unread, as("a")), unprotected, asIntent},
		"such a body under a contract":           {"POST", unread, nil, asIntent},
		"what the hook names":                    {"POST", same, named, once},
		"what the hook names, with an action":    {"POST", as("a"), named, once},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := tt.cfg
			if cfg == nil {
				cfg = func(*oncehttp.Config) {}
			}
			inBubble(t, mockserver.Config{}, func(b *bench) {
				req := tt.change(b.request(tt.method, "/payments", payment))
				body := &countedBody{Reader: req.Body}
				req.Body = body
				assert.Equal(b, tt.travels, travelled(b, req))
				assert.EqualValues(b, 1, body.closed.Load(), "the body is closed exactly once")
				if tt.travels != asIntent {
					assert.Empty(b, b.pending())
				}
			}, cfg)
		})
	}
}

func TestAnUnmatchedRequestThatIsRefusedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		_, err := b.c.RoundTrip(b.pay())
		require.ErrorIs(b, err, oncehttp.ErrUnmatched)
	}, unprotected, func(cfg *oncehttp.Config) { cfg.Unmatched = oncehttp.Refuse })
}

// A key of the caller's own is adopted, and names the intent.
func TestAKeyOfTheCallersOwnIsAdopted(t *testing.T) {
	t.Parallel()
	keyed := func(b *bench, key, action string) *http.Request {
		req := b.pay()
		req.Header.Set("Idempotency-Key", key)
		if action != "" {
			req = req.WithContext(oncehttp.WithAction(req.Context(), action))
		}
		return req
	}
	send := func(b *bench, req *http.Request) *oncehttp.Outcome {
		b.Helper()
		resp, err := b.c.RoundTrip(req)
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		o, ok := oncehttp.OutcomeOf(resp)
		require.True(b, ok)
		return o
	}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		first := send(b, keyed(b, "k-1", ""))
		assert.Equal(b, "k-1", first.Key)
		b.reopen()
		second := send(b, keyed(b, "k-1", ""))
		assert.Equal(b, first.Action, second.Action)
		assert.True(b, second.FromJournal)
		other := send(b, keyed(b, "k-2", ""))
		assert.NotEqual(b, first.Action, other.Action)
		assert.Len(b, b.srv.Requests(), 2)
	})
	// Where the action is already recorded, the recorded key is sent.
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		_, err := b.c.RoundTrip(keyed(b, "k-1", "pay-1"))
		require.Error(b, err)
		o := send(b, keyed(b, "k-2", "pay-1"))
		assert.Equal(b, "k-1", o.Key)
		assert.Equal(b, "k-1", b.oneKey())
		// And a key that belongs to an action takes that action up.
		o = send(b, keyed(b, "k-1", ""))
		assert.Equal(b, "pay-1", o.Action)
		assert.Len(b, b.srv.Requests(), 2)
	}, oneAttempt)
	// Two at once, without an action: one intent.
	inBubble(t, mockserver.Config{Work: 200 * time.Millisecond}, func(b *bench) {
		var actions [8]string
		p := newPool(len(actions))
		for i := range actions {
			p.Go(func() { actions[i] = send(b, keyed(b, "k-1", "")).Action })
		}
		p.Wait()
		for _, action := range actions {
			assert.Equal(b, actions[0], action)
		}
		assert.Len(b, b.srv.Requests(), 1)
	})
	// Another payload under the key is a mismatch.
	inBubble(t, mockserver.Config{}, func(b *bench) {
		send(b, keyed(b, "k-1", ""))
		req := keyed(b, "k-1", "")
		req.Body, req.ContentLength = readCloser("{}"), 2
		_, err := b.c.RoundTrip(req)
		require.ErrorIs(b, err, oncehttp.ErrMismatch)
		assert.Len(b, b.srv.Requests(), 1)
	})
}

// C061, the client's side
func TestExactlyOneKeyIsOnTheWire(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for spelled, key := range map[string]string{"Idempotency-Key": "caller-1", "idempotency-key": "caller-2", "IDEMPOTENCY-KEY": "caller-3"} {
			req := b.pay()
			req.Header[spelled] = []string{key}
			req.Header.Set("X-Idempotency-Key", "another")
			o, err := b.c.Do("pay "+spelled, req)
			b.ruled(o, err)
			assert.Equal(b, key, o.Key)
			q := b.srv.Requests()
			last := q[len(q)-1]
			assert.Equal(b, []string{key}, last.Header.Values("Idempotency-Key"))
			assert.Equal(b, []string{"another"}, last.Header.Values("X-Idempotency-Key"))
		}
		sent := len(b.srv.Requests())
		for _, bad := range [][]string{{"k, k"}, {"k", "k"}, {"a b"}, {""}, {`"k"`}, {"k\x00"}, {strings.Repeat("k", 256)}, {"schlüssel"}} {
			req := b.pay()
			req.Header["Idempotency-Key"] = bad
			_, err := b.c.Do("pay-bad", req)
			require.ErrorIs(b, err, oncehttp.ErrInvalidRequest, "%q", bad)
			if len(bad[0]) > 2 {
				assert.NotContains(b, err.Error(), bad[0])
			}
		}
		twice := b.pay()
		twice.Header["Idempotency-Key"], twice.Header["idempotency-key"] = []string{"a"}, []string{"b"}
		_, err := b.c.RoundTrip(twice)
		require.ErrorIs(b, err, oncehttp.ErrInvalidRequest)
		assert.Len(b, b.srv.Requests(), sent)
	})
}

// C020
func TestTwoLayersDoNotMultiply(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503).Always()), func(b *bench) {
		outer, err := oncehttp.Open(journalPath(b.T), oncehttp.Config{Transport: b.c, Retry: fieldRetry, Contracts: b.cfg.Contracts})
		require.NoError(b, err)
		defer outer.Close()
		for _, method := range []string{"POST", "GET", "PUT"} {
			before := len(b.srv.Requests())
			req := b.request(method, "/payments", "")
			resp, err := outer.RoundTrip(req)
			if err == nil {
				require.NoError(b, resp.Body.Close())
			}
			assert.Equal(b, 4, len(b.srv.Requests())-before, method)
		}
		assert.Empty(b, b.pending(), "the inner one records nothing")
	})
	// An outer loop: no call sends before the intent's RetryAt, and attempts are
	// numbered on.
	inBubble(t, script(mockserver.Status(503).With("Retry-After", "2").Always()), func(b *bench) {
		for n := range 3 {
			o := b.do()
			assert.Equal(b, 4*(n+1), o.Attempts)
		}
		for _, gap := range b.gaps() {
			assert.GreaterOrEqual(b, gap, 2*time.Second)
		}
		b.oneKey()
	})
}

// Pagers and pollers make the next request under the context of the last
// answer's request.
func TestARequestMadeUnderTheContextOfAnAnswerIsOneOfItsOwn(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		httpClient := b.c.HTTPClient()
		after := func(last *http.Response, method, path, body string) (*http.Response, bool) {
			req := b.request(method, path, body)
			if last != nil {
				req = req.WithContext(last.Request.Context())
			}
			resp, err := httpClient.Do(req)
			require.NoError(b, err)
			b.Cleanup(func() { resp.Body.Close() })
			_, known := oncehttp.OutcomeOf(resp)
			return resp, known
		}
		listed, known := after(nil, http.MethodGet, "/list", "")
		assert.False(b, known)
		paid, known := after(listed, http.MethodPost, "/payments", payment)
		assert.True(b, known)
		shown, known := after(paid, http.MethodGet, "/list", "")
		assert.False(b, known)
		_, known = after(shown, http.MethodPost, "/payments", payment)
		assert.True(b, known)
		assert.Equal(b, 2, b.srv.EffectsTotal())
	})
}

// http.Client follows the redirect of a token endpoint that has moved.
func TestWhatAuthorizeSendsThroughTheSameClientMayBeRedirected(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		base := b.cfg.Transport
		b.reopen(func(cfg *oncehttp.Config) {
			cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
				switch req.URL.Path {
				case "/old":
					return &http.Response{StatusCode: http.StatusPermanentRedirect, Header: http.Header{"Location": {"/token"}}, Body: http.NoBody, Request: req}, nil
				case "/token":
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Token": {req.Method}}, Body: http.NoBody, Request: req}, nil
				}
				return base.RoundTrip(req)
			})
			cfg.Authorize = func(req *http.Request, _ bool) error {
				ask, err := http.NewRequestWithContext(req.Context(), http.MethodPost, b.srv.URL+"/old", strings.NewReader("a"))
				require.NoError(b, err)
				resp, err := b.c.HTTPClient().Do(ask)
				if err != nil {
					return err
				}
				req.Header.Set("Authorization", "Bearer "+resp.Header.Get("Token"))
				return resp.Body.Close()
			}
		})
		o := b.do()
		require.Equal(b, oncehttp.Confirmed, o.State, o.Explain())
		assert.Equal(b, "Bearer POST", b.srv.Requests()[0].Header.Get("Authorization"))
	})
}
