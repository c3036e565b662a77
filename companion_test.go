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

// wireScript is a transport that does as its steps say, and then answers 200.
type wireScript struct {
	steps []error
	seen  []seenRequest
}

var errLostAnswer = errors.New("the answer is lost")

// notSentError is of a transport that knows that nothing has left.
type notSentError struct{}

func (notSentError) Error() string { return "nothing was sent" }
func (notSentError) NotSent() bool { return true }

// answered is a step that ends with an answer of this status.
type answered int

func (a answered) Error() string { return http.StatusText(int(a)) }

func (w *wireScript) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	w.seen = append(w.seen, seenRequest{uri: req.URL.RequestURI(), body: string(body), header: req.Header.Clone()})
	if len(w.steps) > 0 {
		err, w.steps = w.steps[0], w.steps[1:]
	}
	status := 200
	if a, ok := err.(answered); ok {
		status, err = int(a), nil
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// accompanied is a contract with a companion in the header, one in the query, and
// if body is set one in the body; each tells the time that the header tells.
func accompanied(body bool) oncehttp.Contract {
	c := carried(oncehttp.CarrierHeader, "Repeatability-Request-ID")
	c.Window.Anchor = oncehttp.AnchorStamp
	c.Companions = []oncehttp.Companion{
		{Kind: oncehttp.CarrierHeader, Name: "Repeatability-First-Sent", Value: oncehttp.CompanionSentIMF},
		{Kind: oncehttp.CarrierHeader, Name: "X-Policy", Text: "reject"},
		{Kind: oncehttp.CarrierQuery, Name: "start_time", Value: oncehttp.CompanionSentMicros},
	}
	if body {
		c.Companions = append(c.Companions, oncehttp.Companion{Kind: oncehttp.CarrierJSON, Name: "/until", Value: oncehttp.CompanionUntil})
	}
	return c
}

// The bubble's clock starts at midnight UTC 2000-01-01.
const (
	midnight, midnightMicros = "Sat, 01 Jan 2000 00:00:00 GMT", "946684800000000"
	tenOClock, tenMicros     = "Sat, 01 Jan 2000 10:00:00 GMT", "946720800000000"
)

func withScript(w *wireScript, contract oncehttp.Contract) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		cfg.Transport, cfg.Contracts, cfg.Retry.MaxAttempts = w, []oncehttp.Contract{contract}, 1
	}
}

func TestCompanionsTellWhenTheFirstAttemptWasRecorded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		steps        []error
		sent, micros string // as the second attempt has it, ten hours after the first
	}{
		{[]error{errLostAnswer}, midnight, midnightMicros},
		{[]error{notSentError{}}, tenOClock, tenMicros},
	} {
		wire := &wireScript{steps: c.steps}
		inBubble(t, mockserver.Config{}, func(b *bench) {
			b.do()
			require.Len(b, wire.seen, 1)
			assert.Equal(b, midnight, wire.seen[0].header.Get("Repeatability-First-Sent"))
			assert.Equal(b, "reject", wire.seen[0].header.Get("X-Policy"))
			assert.Equal(b, "/payments?start_time="+midnightMicros, wire.seen[0].uri)
			assert.Equal(b, payment, wire.seen[0].body)

			b.reopen()
			time.Sleep(10 * time.Hour)
			b.resume()
			require.Len(b, wire.seen, 2)
			assert.Equal(b, c.sent, wire.seen[1].header.Get("Repeatability-First-Sent"))
			assert.Equal(b, "reject", wire.seen[1].header.Get("X-Policy"))
			assert.Equal(b, "/payments?start_time="+c.micros, wire.seen[1].uri)
			assert.Equal(b, oncehttp.Confirmed, b.do().State, "what goes with the key is no part of the payload")
		}, withScript(wire, accompanied(false)))
	}
}

func TestWhatMayHaveExecutedIsNotSentAfterTheTimeThatTheKeyWasToldToEnd(t *testing.T) {
	t.Parallel()
	wire := &wireScript{steps: []error{answered(429), errLostAnswer}}
	contract := carried(oncehttp.CarrierHeader, "Idempotency-Key")
	contract.Companions = []oncehttp.Companion{{Kind: oncehttp.CarrierHeader, Name: "X-Expiration", Value: oncehttp.CompanionUntil}}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for range 3 { // the window is a day
			b.do()
			time.Sleep(12 * time.Hour)
		}
		require.Len(b, wire.seen, 2)
		for _, r := range wire.seen {
			assert.Equal(b, "2000-01-02T00:00:00Z", r.header.Get("X-Expiration"))
		}
		assert.Equal(b, oncehttp.KeyExpired, b.do().Reason)
	}, withScript(wire, contract))
}

func TestACompanionInTheBodyIsFixedAtBegin(t *testing.T) {
	t.Parallel()
	wire := &wireScript{steps: []error{notSentError{}}}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		_, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		for range 2 {
			time.Sleep(5 * time.Hour)
			b.do()
		}
		require.Len(b, wire.seen, 2)
		for _, r := range wire.seen {
			assert.Equal(b, `{"until":"2000-01-02T00:00:00Z","amount":500}`, r.body)
			assert.Equal(b, midnight, r.header.Get("Repeatability-First-Sent"), "they tell one time")
			assert.Equal(b, "/payments?start_time="+midnightMicros, r.uri)
		}
	}, withScript(wire, accompanied(true)))
}

func TestTheCallersCompanionsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	wire := &wireScript{steps: []error{errLostAnswer}}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		time.Sleep(10 * time.Hour)
		call := func(at, policy string) {
			req := post(b.T, b.srv.URL+"/payments?a=1", `{"until":"soon","amount":500}`)
			req.Header.Set("repeatability-first-sent", at)
			req.Header.Set("X-Policy", policy)
			b.c.Do("pay-1", req)
		}
		call("yesterday", "allow")
		require.Empty(b, wire.seen)
		call(midnight, "allow")
		call(tenOClock, "refuse")
		require.Len(b, wire.seen, 2)
		for _, r := range wire.seen {
			assert.Equal(b, []string{midnight}, r.header.Values("Repeatability-First-Sent"))
			assert.Equal(b, "allow", r.header.Get("X-Policy"))
			assert.Equal(b, "/payments?a=1&start_time="+midnightMicros, r.uri)
			assert.Equal(b, `{"until":"soon","amount":500}`, r.body)
		}
	}, withScript(wire, accompanied(false)))
}

// The name of a header says that it is a credential; the contract says that it
// goes with the key.
func TestACompanionIsNoCredentialWhateverItsName(t *testing.T) {
	t.Parallel()
	srv, path := newRecorder(t, 4), journalPath(t)
	contract := carried(oncehttp.CarrierHeader, "Idempotency-Key")
	contract.Companions = []oncehttp.Companion{{Kind: oncehttp.CarrierHeader, Name: "X-Token-Date", Value: oncehttp.CompanionSentIMF}}
	cfg := oncehttp.Config{Contracts: []oncehttp.Contract{contract}, Retry: fast}
	client, err := oncehttp.Open(path, cfg)
	require.NoError(t, err)
	req := post(t, srv.URL, "{}")
	req.Header.Set("x-token-date", "Mon, 30 Nov 2020 02:08:42 GMT")
	_, err = client.Do("pay-1", req)
	require.ErrorAs(t, err, new(*oncehttp.PendingError))
	require.NoError(t, client.Close())
	client = open(t, path, cfg)
	require.Eventually(t, func() bool {
		for o, err := range client.Resume(t.Context()) {
			require.NoError(t, err)
			require.NotEqual(t, oncehttp.NeedsCredentials, o.Reason)
		}
		return len(srv.requests()) == 5
	}, time.Minute, 10*time.Millisecond)
	for _, sent := range srv.requests() {
		require.Equal(t, []string{"Mon, 30 Nov 2020 02:08:42 GMT"}, sent.header["X-Token-Date"])
	}
}

func TestARedirectLosesNoCompanion(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 0)
	var authorized []string
	client := open(t, journalPath(t), oncehttp.Config{
		Contracts: []oncehttp.Contract{accompanied(false)},
		Authorize: func(req *http.Request, _ bool) error {
			authorized = append(authorized, req.URL.RequestURI())
			return nil
		},
	})
	srv.redirect = "/v2?a=1"
	_, err := client.Do("pay-1", post(t, srv.URL, "{}"))
	require.NoError(t, err)
	seen := srv.requests()
	require.Len(t, seen, 2)
	_, stamp, _ := strings.Cut(seen[0].uri, "start_time=")
	require.Equal(t, "/v2?a=1&start_time="+stamp, seen[1].uri)
	require.Equal(t, []string{seen[0].uri, seen[1].uri}, authorized)
}

func TestAuthorizeMayNotChangeWhatGoesWithTheKey(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"header Repeatability-First-Sent": func(req *http.Request) { req.Header.Set("Repeatability-First-Sent", midnight) },
		"header X-Policy":                 func(req *http.Request) { req.Header.Del("X-Policy") },
		"the key":                         func(req *http.Request) { req.Header.Set("Repeatability-Request-ID", "another") },
		"the URL":                         func(req *http.Request) { req.URL.RawQuery = "" },
	} {
		srv := newRecorder(t, 0)
		client := open(t, journalPath(t), oncehttp.Config{
			Contracts: []oncehttp.Contract{accompanied(false)},
			Authorize: func(req *http.Request, _ bool) error { change(req); return nil },
		})
		o, err := client.Do("pay-1", post(t, srv.URL, "{}"))
		require.Error(t, err)
		require.ErrorContains(t, o.Err, "Authorize changed "+name)
		require.Empty(t, srv.requests())
	}
}
