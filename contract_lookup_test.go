package oncehttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// A till is an API in memory: what it does with a POST and what it says to a GET
// is a test's business.
type till struct {
	mu    sync.Mutex
	posts []tilled
	gets  []tilled
	// post answers the n-th POST, from 1; nil is a lost answer. get answers the
	// n-th GET.
	post, get func(n int, req tilled) *http.Response
}

// tilled is a request that came.
type tilled struct {
	*http.Request
	body string
	at   time.Time
}

func (l *till) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}
	l.mu.Lock()
	came := tilled{Request: req, body: string(body), at: time.Now()}
	list, answer := &l.posts, l.post
	if req.Method == http.MethodGet {
		list, answer = &l.gets, l.get
	}
	*list = append(*list, came)
	n := len(*list)
	l.mu.Unlock()
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if answer != nil {
		if resp := answer(n, came); resp != nil {
			resp.Request = req
			return resp, nil
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return nil, errors.New("connection reset")
}

func (l *till) asked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.gets)
}

// says is an answer in JSON.
func says(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{
		StatusCode: status, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
	}
}

// always gives the same answer, made anew.
func always(status int, body string, headers ...string) func(int, tilled) *http.Response {
	return func(int, tilled) *http.Response { return says(status, body, headers...) }
}

// keyless is an API that takes no key, keeps metadata, and can be searched.
func keyless() oncehttp.Contract {
	return oncehttp.Contract{
		Name:  "legacy",
		Match: oncehttp.Match{Hosts: []string{"legacy.test"}},
		Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"},
		Lookups: []oncehttp.Lookup{{
			URL: "/charges?metadata={id}", Items: "/data", Where: "/metadata/oncehttp", Reference: "/id", Proof: true,
		}},
	}
}

// atTill runs f in a bubble with a client of an API.
func atTill(t *testing.T, api *till, contract oncehttp.Contract, f func(b *bench), changes ...func(*oncehttp.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, path: filepath.Join(t.TempDir(), "intents.db")}
		b.cfg = oncehttp.Config{Transport: api, Contracts: []oncehttp.Contract{contract}, Retry: fieldRetry, Plant: true}
		for _, change := range changes {
			change(&b.cfg)
		}
		b.open()
		f(b)
	})
}

func (b *bench) charge() *http.Request {
	return post(b.T, "https://legacy.test/charges", `{"amount": 500}`)
}

// listedUnder answers with the effect that has what was planted in the first POST.
func (l *till) listedUnder() string {
	_, planted, _ := strings.Cut(l.posts[0].body, `"oncehttp":"`)
	return `{"data":[{"id":"ch_9","metadata":{"oncehttp":"x"}},{"id":"ch_1","metadata":{"oncehttp":"` + planted[:36] + `"}}],"has_more":false}`
}

func TestAContractsLookupFindsWhatWasPlanted(t *testing.T) {
	t.Parallel()
	api := &till{}
	api.get = func(int, tilled) *http.Response { return says(200, api.listedUnder()) }
	atTill(t, api, keyless(), func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Equal(b, "ch_1", o.Reference)
		assert.Nil(b, o.Response)
		assert.Equal(b, 1, o.Attempts, "a lookup is no attempt")
		require.Len(b, api.posts, 1)
		require.Len(b, api.gets, 1)
		get := api.gets[0]
		assert.Equal(b, "https://legacy.test/charges?metadata="+api.posts[0].body[strings.Index(api.posts[0].body, `p":"`)+4:][:36], get.URL.String())
		assert.Empty(b, get.body)
		assert.Empty(b, get.Header.Get("Content-Type"))

		resp, err := b.c.HTTPClient().Do(b.charge().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
		require.ErrorAs(b, err, new(*oncehttp.NoAnswerError))
		assert.Nil(b, resp)
	})
}

func TestAContractsLookupsAreAskedInOrderAndAfterTheConfigurations(t *testing.T) {
	t.Parallel()
	c := keyless()
	c.Lookups = []oncehttp.Lookup{
		{URL: "/lacks/{/missing}"},
		{URL: "/broken"},
		{URL: "/hearsay/{/amount}"}, // 404, and no proof
		{URL: "/charges?metadata={id}", Items: "/data", Reference: "/id"},
		{URL: "/never"},
	}
	api := &till{get: func(n int, req tilled) *http.Response {
		switch req.URL.Path {
		case "/broken":
			return says(500, `{}`)
		case "/hearsay/500":
			return says(404, `{}`)
		}
		return says(200, `{"data":[{"id":"ch_1"}]}`)
	}}
	asked := 0
	atTill(t, api, c, func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.NoError(b, err)
		assert.Equal(b, "ch_1", o.Reference)
		assert.Equal(b, 1, asked)
		var paths []string
		for _, get := range api.gets {
			paths = append(paths, get.URL.Path)
		}
		assert.Equal(b, []string{"/broken", "/hearsay/500", "/charges"}, paths)
	}, answers(&asked, oncehttp.Finding{}))
}

func TestWhatTheConfigurationsLookupKnowsIsNotAskedOfTheAPI(t *testing.T) {
	t.Parallel()
	api := &till{}
	asked := 0
	atTill(t, api, keyless(), func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.NoError(b, err)
		assert.Equal(b, "ch_7", o.Reference)
		assert.Empty(b, api.gets)
	}, answers(&asked, oncehttp.Finding{Kind: oncehttp.Found, Reference: "ch_7"}))
}

func TestProofOfAbsenceIsWorthAResendAfterTheSettleTimeTwice(t *testing.T) {
	t.Parallel()
	c := keyless()
	c.Stored.Settle = time.Second
	c.Lookups[0].Settle = 10 * time.Minute
	api := &till{get: always(200, `{"data":[]}`), post: func(n int, _ tilled) *http.Response {
		if n == 1 {
			return nil
		}
		return says(201, `{"id":"ch_2"}`)
	}}
	atTill(t, api, c, func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		assert.True(b, o.MayHaveExecuted)
		for range 5 {
			if o.State == oncehttp.Confirmed {
				break
			}
			sleepUntil(o.RetryAt)
			o = b.resume()[0]
		}
		require.Equal(b, oncehttp.Confirmed, o.State)
		require.Len(b, api.posts, 2)
		assert.Equal(b, api.posts[0].body, api.posts[1].body)
		require.Len(b, api.gets, 3)
		sent := api.posts[0].at
		assert.GreaterOrEqual(b, api.gets[1].at.Sub(sent), 10*time.Minute)
		assert.GreaterOrEqual(b, api.gets[2].at.Sub(api.gets[1].at), 10*time.Minute)
		assert.LessOrEqual(b, api.posts[1].at.Sub(sent), 22*time.Minute)
	})
}

// The schedule is 5 minutes, an hour, then daily, a minute late at most, and a
// restart does not begin it anew.
func TestAnAPIThatCannotTellIsAskedAfterMinutesAnHourAndThenDaily(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(int, tilled) *http.Response{
		"failure":              always(500, `{}`),
		"cut off":              nil,
		"another page":         always(200, `{"data":[],"has_more":true}`),
		"not found, no proof":  always(200, `{"data":[]}`),
		"refused":              always(403, `{}`),
		"asks to wait a while": always(429, `{}`, "Retry-After", "30"),
	} {
		c := keyless()
		c.Lookups[0].Proof = name != "not found, no proof"
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &till{get: answer}
			atTill(t, api, c, func(b *bench) {
				o, err := b.c.Do("pay-1", b.charge())
				require.Error(b, err)
				assert.Equal(b, oncehttp.Unknown, o.Reason)
				run := func(d time.Duration) {
					ctx, stop := context.WithTimeout(b.Context(), d)
					defer stop()
					require.ErrorIs(b, b.c.Run(ctx), ctx.Err())
				}
				run(3 * 24 * time.Hour)
				b.reopen()
				run(7 * 24 * time.Hour)

				require.Len(b, api.posts, 1, "it is never sent again")
				want := []time.Duration{0, 5 * time.Minute, time.Hour}
				for range 9 {
					want = append(want, 24*time.Hour)
				}
				require.Len(b, api.gets, len(want))
				for i := range api.gets[1:] {
					pause := api.gets[i+1].at.Sub(api.gets[i].at)
					assert.GreaterOrEqual(b, pause, want[i+1], "lookup %d", i+2)
					assert.LessOrEqual(b, pause, want[i+1]+70*time.Second, "lookup %d", i+2)
				}
				o, err = b.c.Outcome(b.Context(), "pay-1")
				require.NoError(b, err)
				assert.Equal(b, oncehttp.Unknown, o.Reason)
				assert.False(b, o.RetryAt.IsZero())
				assert.NotEmpty(b, o.Err)
			}, func(cfg *oncehttp.Config) { cfg.Gate.Off = true })
		})
	}
}

func TestTwoEffectsUnderOneIDAreToldAsRepeated(t *testing.T) {
	t.Parallel()
	c := keyless()
	c.Lookups[0].Where = ""
	api := &till{get: always(200, `{"data":[{"id":"ch_1"},{"id":"ch_2"}]}`)}
	atTill(t, api, c, func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.NoError(b, err)
		assert.Equal(b, "ch_1", o.Reference)
		assert.True(b, o.MayHaveRepeated)
	})
}
