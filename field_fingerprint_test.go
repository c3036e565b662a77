package oncehttp_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A payload is what may differ between two calls of one action.
type payload struct {
	method, url, body, kind, tenant, host string
	request                               func(*http.Request)
}

func (p payload) of(b *bench) *http.Request {
	b.Helper()
	method, target, kind := p.method, p.url, p.kind
	if method == "" {
		method = http.MethodPost
	}
	if target == "" {
		target = "/payments"
	}
	if kind == "" {
		kind = "application/json"
	}
	if strings.HasPrefix(target, "/") {
		target = b.srv.URL + target
	}
	req, err := http.NewRequestWithContext(b.Context(), method, target, strings.NewReader(p.body))
	require.NoError(b, err)
	req.Header.Set("Content-Type", kind)
	if p.tenant != "" {
		req.Header.Set("X-Tenant", p.tenant)
	}
	req.Host = p.host
	if p.request != nil {
		p.request(req)
	}
	return req
}

func body(text string) payload { return payload{body: text} }

// C035, C037, C039
func TestTheSamePayloadInAnotherSpellingIsTheSameIntent(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]payload{
		{body(`{"a":1,"b":{"x":1,"y":2}}`), body("{ \"b\": {\"y\":2,\"x\":1}, \"a\":1 }\n")},
		{body(`{"n":1}`), body(`{"n":1.0}`)},
		{body(`{"n":100}`), body(`{"n":1e2}`)},
		{body(`{"n":9007199254740993}`), body(`{"n":9007199254740993.000}`)},
		{payload{request: func(r *http.Request) { r.Body, r.ContentLength = nil, 0 }}, payload{request: func(r *http.Request) { r.Body = http.NoBody }}},
		{payload{request: func(r *http.Request) { r.Body = http.NoBody }}, payload{request: func(r *http.Request) { r.Body = readCloser("") }}},
		{payload{body: `{}`, kind: "application/json"}, payload{body: `{}`, kind: "application/json; charset=utf-8"}},
		{payload{url: "http://API.test/x"}, payload{url: "http://api.test:80/x"}},
		{payload{url: "https://api.test/x"}, payload{url: "HTTPS://api.test:443/x"}},
		{payload{request: func(r *http.Request) { r.Header.Set("X-Trace", "1") }}, payload{request: func(r *http.Request) { r.Header.Set("X-Trace", "2") }}},
	} {
		inBubble(t, script(mockserver.Lost()), func(b *bench) {
			first, err := b.c.Do("pay-1", pair[0].of(b))
			require.Error(b, err)
			second, err := b.c.Do("pay-1", pair[1].of(b))
			b.ruled(second, err)
			assert.Equal(b, oncehttp.Confirmed, second.State, "%+v", pair)
			assert.Equal(b, first.Key, b.oneKey()) // and the first call's bytes travel
			assert.Equal(b, 1, b.srv.Effects(first.Key))
		}, oneAttempt)
	}
}

// C035, C037, C039, and neighbours
func TestAnotherPayloadOfAnActionIsAMismatchAndSendsNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, second payload
		differs       string
	}{
		"order of a list":                {body(`[1,2]`), body(`[2,1]`), "/0"},
		"text for a number":              {body(`{"n":"1"}`), body(`{"n":1}`), "/n"},
		"null for nothing":               {body(`{"n":null}`), body(`{}`), "/n"},
		"a key twice":                    {body(`{"amount":1,"amount":100}`), body(`{"amount":100}`), "body"},
		"case of keys":                   {body(`{"amount":1,"Amount":2}`), body(`{"amount":2,"Amount":1}`), "/Amount"},
		"invalid JSON":                   {body(`{"amount":`), body(`{"amount": `), "body"},
		"a large number":                 {body(`{"n":9007199254740993}`), body(`{"n":9007199254740992}`), "/n"},
		"text byte for byte":             {payload{body: "a b", kind: "text/plain"}, payload{body: "a  b", kind: "text/plain"}, "body"},
		"path":                           {payload{url: "/accounts/1/close"}, payload{url: "/accounts/2/close"}, "url"},
		"method":                         {payload{method: "PUT"}, payload{method: "POST"}, "method"},
		"query":                          {payload{url: "/p?dry_run=1"}, payload{url: "/p?dry_run=0"}, "url"},
		"scheme":                         {payload{url: "http://api.test/p"}, payload{url: "https://api.test/p"}, "url"},
		"port":                           {payload{url: "http://api.test/p"}, payload{url: "http://api.test:8080/p"}, "url"},
		"host":                           {payload{url: "http://api.test/p"}, payload{url: "http://other.test/p"}, "host"},
		"Host header":                    {payload{url: "http://api.test/p"}, payload{url: "http://api.test/p", host: "other.test"}, "host"},
		"a significant header":           {payload{tenant: "a"}, payload{tenant: "b"}, "header X-Tenant"},
		"a significant header's absence": {payload{tenant: "a"}, payload{}, "header X-Tenant"},
		"content type":                   {payload{body: "{}"}, payload{body: "{}", kind: "text/plain"}, "content-type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, mockserver.Config{}, func(b *bench) {
				first, err := b.c.Do("pay-1", tt.first.of(b))
				b.ruled(first, err)
				for range 2 { // before and after a restart
					o, err := b.c.Do("pay-1", tt.second.of(b))
					var mismatch *oncehttp.MismatchError
					require.ErrorAs(b, err, &mismatch)
					require.ErrorIs(b, err, oncehttp.ErrMismatch)
					assert.Contains(b, mismatch.Differs, tt.differs)
					assert.Equal(b, first.State, o.State)
					assert.Equal(b, first.Response.Body, o.Response.Body)
					assert.Same(b, o, mismatch.Outcome)
					assert.Len(b, b.srv.Requests(), 1)
					b.reopen()
				}
			}, func(cfg *oncehttp.Config) { cfg.SignificantHeaders = []string{"x-tenant"} })
		})
	}
}

// C037
func TestABodyWithAKeyTwiceTravelsUnchanged(t *testing.T) {
	t.Parallel()
	const twice = `{"amount":1,"amount":100}`
	var seen string
	server := mockserver.Config{Execute: func(r *http.Request) mockserver.Answer {
		text, _ := io.ReadAll(r.Body)
		seen = string(text)
		return mockserver.Answer{Status: 201}
	}}
	inBubble(t, server, func(b *bench) {
		o, err := b.c.Do("pay-1", body(twice).of(b))
		b.ruled(o, err)
		assert.Equal(b, twice, seen)
	})
}

// C040, C075
func TestAPayloadThatIsMadeAnewOnEveryTry(t *testing.T) {
	t.Parallel()
	first, second := body(`{"amount":500,"attemptId":"a","ts":1}`), body(`{"amount":500,"attemptId":"b","ts":2}`)
	t.Run("strict", func(t *testing.T) {
		inBubble(t, script(mockserver.Lost()), func(b *bench) {
			o, err := b.c.Do("pay-1", first.of(b))
			b.ruled(o, err)
			assert.True(b, o.MayHaveExecuted)
			_, err = b.c.Do("pay-1", second.of(b))
			var mismatch *oncehttp.MismatchError
			require.ErrorAs(b, err, &mismatch)
			assert.Equal(b, []string{"/attemptId", "/ts"}, mismatch.Differs)
			assert.NotContains(b, err.Error(), `"b"`)
			assert.True(b, mismatch.Outcome.MayHaveExecuted)
			assert.False(b, errors.As(err, new(*oncehttp.PendingError)), "it began nothing")
			b.sleepUntilDue()
			outcomes := b.resume()
			require.Len(b, outcomes, 1)
			want{oncehttp.Confirmed, "", 2, false, true}.check(b, outcomes[0])
			assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
		}, oneAttempt)
	})
	t.Run("ignored", func(t *testing.T) {
		inBubble(t, script(mockserver.Lost()), func(b *bench) {
			_, err := b.c.Do("pay-1", first.of(b))
			require.Error(b, err)
			o, err := b.c.Do("pay-1", second.of(b))
			b.ruled(o, err)
			want{oncehttp.Confirmed, "", 2, false, true}.check(b, o)
			assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
			other, err := b.c.Do("pay-1", body(`{"amount":501,"attemptId":"b","ts":2}`).of(b))
			require.ErrorIs(b, err, oncehttp.ErrMismatch)
			assert.Equal(b, o.State, other.State)
		}, oneAttempt, func(cfg *oncehttp.Config) { cfg.IgnoreFields = []string{"/attemptId", "/ts"} })
	})
}

// sleepUntilDue sleeps until the intent pay-1 may be taken up.
func (b *bench) sleepUntilDue() {
	b.Helper()
	o := b.known()
	require.False(b, o.RetryAt.IsZero(), o)
	sleepUntil(o.RetryAt)
}
