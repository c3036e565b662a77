package oncehttp_test

import (
	"crypto/aes"
	"crypto/cipher"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// seenRequest is what a server got.
type seenRequest struct {
	uri, body string
	length    int64
	header    http.Header
}

// recorder answers 200, after it has lost the answers of the first requests.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex
	lose int
	seen []seenRequest
	// redirect leads every request to elsewhere than it, once it is set.
	redirect string
}

func newRecorder(t *testing.T, lose int) *recorder {
	t.Helper()
	s := &recorder{lose: lose}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.seen = append(s.seen, seenRequest{r.RequestURI, string(body), r.ContentLength, r.Header.Clone()})
	s.lose--
	lost := s.lose >= 0
	to := s.redirect
	s.mu.Unlock()
	switch {
	case lost:
		panic(http.ErrAbortHandler)
	case to != "" && !strings.HasPrefix(r.RequestURI, to):
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusPermanentRedirect)
	default:
		io.WriteString(w, "done")
	}
}

func (s *recorder) requests() []seenRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seenRequest(nil), s.seen...)
}

// carried is the contract of a carrier for every host, method and path.
func carried(kind oncehttp.CarrierKind, name string) oncehttp.Contract {
	c := oncehttp.IdempotencyKey("*", 24*time.Hour)
	c.Name = "test"
	c.Carrier = oncehttp.Carrier{Kind: kind, Name: name}
	return c
}

// carrierCase is a request before and after the key was put in.
type carrierCase struct {
	name        string
	contract    oncehttp.Contract
	contentType string
	uri, body   string
	// wantURI and wantBody have KEY where the key is.
	wantURI, wantBody string
	// own is the same request with a key of the caller's, own-key-1.
	ownURI, ownBody string
}

func carrierCases() []carrierCase {
	return []carrierCase{
		{
			name: "JSON", contract: carried(oncehttp.CarrierJSON, "/idempotency_key"), contentType: "application/json",
			uri: "/v1", body: `{ "amount":12345678901234567890,  "rate":1.0,"b":[ 1e2 ] }`,
			wantURI: "/v1", wantBody: `{"idempotency_key":"KEY", "amount":12345678901234567890,  "rate":1.0,"b":[ 1e2 ] }`,
			ownURI: "/v1", ownBody: `{"rate":1.0,"amount":12345678901234567890,"idempotency_key":"own-key-1","b":[100]}`,
		},
		{
			name: "batch", contract: carried(oncehttp.CarrierJSON, "/*/id"), contentType: "application/json",
			uri: "/e/inn", body: `[{"n":1},{"n":2}]`,
			wantURI: "/e/inn", wantBody: `[{"id":"KEY-0","n":1},{"id":"KEY-1","n":2}]`,
			ownURI: "/e/inn", ownBody: `[{"id":"own-key-1","n":1},{"id":"own-key-2","n":2}]`,
		},
		{
			name: "form", contract: carried(oncehttp.CarrierForm, "ClientToken"), contentType: "application/x-www-form-urlencoded; charset=utf-8",
			uri: "/", body: `Action=RunInstances&n=1.0`,
			wantURI: "/", wantBody: `Action=RunInstances&n=1.0&ClientToken=KEY`,
			ownURI: "/", ownBody: `Action=RunInstances&ClientToken=own-key-1&n=1.0`,
		},
		{
			name: "query", contract: carried(oncehttp.CarrierQuery, "token"), contentType: "text/plain",
			uri: "/v1?b=2&a=%2f", body: `x`,
			wantURI: "/v1?b=2&a=%2f&token=KEY", wantBody: `x`,
			ownURI: "/v1?token=own-key-1&b=2&a=%2f", ownBody: `x`,
		},
		{
			name: "path", contract: carried(oncehttp.CarrierPath, "/v1/transfers/{key}"), contentType: "text/plain",
			uri: "/v1/transfers/%7Bkey%7D?a=1", body: `x`,
			wantURI: "/v1/transfers/KEY?a=1", wantBody: `x`,
			ownURI: "/v1/transfers/own-key-1?a=1", ownBody: `x`,
		},
		{
			name: "XML", contract: carried(oncehttp.CarrierXML, "/Zone/CallerReference"), contentType: "text/xml",
			uri: "/", body: `<Zone xmlns="https://dns.test/"><Name>a.test</Name></Zone>`,
			wantURI: "/", wantBody: `<Zone xmlns="https://dns.test/"><Name>a.test</Name><CallerReference>KEY</CallerReference></Zone>`,
			ownURI: "/", ownBody: `<Zone xmlns="https://dns.test/"><CallerReference>own-key-1</CallerReference><Name>a.test</Name></Zone>`,
		},
	}
}

func (c carrierCase) request(t *testing.T, base, uri, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+uri, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", c.contentType)
	return req
}

// requireSent is that the server got the case's request n times, with the key.
func (c carrierCase) requireSent(t *testing.T, s *recorder, key string, n int) {
	t.Helper()
	seen := s.requests()
	require.Len(t, seen, n)
	for _, r := range seen {
		require.Equal(t, strings.ReplaceAll(c.wantURI, "KEY", key), r.uri)
		require.Equal(t, strings.ReplaceAll(c.wantBody, "KEY", key), r.body)
		require.Equal(t, int64(len(r.body)), r.length)
		for name, values := range r.header {
			require.NotContains(t, strings.Join(values, ""), key, "header %s holds the key too", name)
		}
	}
}

func testSealer(t *testing.T) oncehttp.Sealer {
	t.Helper()
	block, err := aes.NewCipher(make([]byte, 32))
	require.NoError(t, err)
	sealer, err := cipher.NewGCM(block)
	require.NoError(t, err)
	return sealer
}

func TestTheKeyIsInTheRequestOnceAndTheSameAtEveryAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range carrierCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv, path := newRecorder(t, 5), journalPath(t)
			cfg := oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}, Sealer: testSealer(t), Retry: fast}
			client, err := oncehttp.Open(path, cfg)
			require.NoError(t, err)
			o, err := client.Do("pay-1", c.request(t, srv.URL, c.uri, c.body))
			var pending *oncehttp.PendingError
			require.ErrorAs(t, err, &pending)
			require.Equal(t, 4, o.Attempts)
			c.requireSent(t, srv, o.Key, 4)
			require.NoError(t, client.Close())

			client = open(t, path, cfg)
			require.Eventually(t, func() bool {
				for resumed, err := range client.Resume(t.Context()) {
					require.NoError(t, err)
					o = resumed
				}
				return o.State == oncehttp.Confirmed
			}, time.Minute, 10*time.Millisecond)
			c.requireSent(t, srv, o.Key, 6)

			again, err := client.Do("pay-1", c.request(t, srv.URL, c.ownURI, c.ownBody))
			require.NoError(t, err, "another key is the same payload, and the recorded one counts")
			require.Equal(t, o.Key, again.Key)
			require.True(t, again.FromJournal)
		})
	}
}

func TestTheSameActionWithAnotherKeySendsTheRecordedBytes(t *testing.T) {
	t.Parallel()
	for _, c := range carrierCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := newRecorder(t, 0)
			client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}})
			in, err := client.Begin("pay-1", c.request(t, srv.URL, c.uri, c.body))
			require.NoError(t, err)
			o, err := client.Do("pay-1", c.request(t, srv.URL, c.ownURI, c.ownBody))
			require.NoError(t, err)
			require.Equal(t, in.Key(), o.Key)
			c.requireSent(t, srv, o.Key, 1)

			_, err = client.Do("pay-1", c.request(t, srv.URL, c.uri, strings.ReplaceAll(c.body, "1", "7")))
			if strings.Contains(c.body, "1") {
				var mismatch *oncehttp.MismatchError
				require.ErrorAs(t, err, &mismatch)
				for _, name := range mismatch.Differs {
					require.NotContains(t, name, "idempotency_key")
					require.NotContains(t, name, "id")
				}
			}
		})
	}
}

func TestACallersKeyInTheRequestIsAdoptedAndNamesTheIntent(t *testing.T) {
	t.Parallel()
	for _, c := range carrierCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := newRecorder(t, 1)
			client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}})
			for range 2 {
				resp, err := client.HTTPClient().Do(c.request(t, srv.URL, c.ownURI, c.ownBody))
				require.NoError(t, err)
				o, ok := oncehttp.OutcomeOf(resp)
				require.True(t, ok)
				require.Equal(t, "own-key-1", o.Key)
				require.NoError(t, resp.Body.Close())
			}
			seen := srv.requests()
			require.Len(t, seen, 2, "one was lost, and none came of the second call")
			for _, r := range seen {
				require.Equal(t, c.ownURI, r.uri)
				require.Equal(t, c.ownBody, r.body)
			}
		})
	}
}

func TestWhatCannotCarryAKeyIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 256)
	for _, c := range []struct {
		contract                     oncehttp.Contract
		contentType, uri, body, want string
	}{
		{carried(oncehttp.CarrierJSON, "/id"), "application/json", "/", `{"a":`, "JSON field /id: the body is not JSON"},
		{carried(oncehttp.CarrierJSON, "/id"), "application/x-www-form-urlencoded", "/", `a=1`, "the Content-Type is not that of JSON"},
		{carried(oncehttp.CarrierJSON, "/id"), "application/json", "/", `{"id":7}`, "is not a string"},
		{carried(oncehttp.CarrierJSON, "/id"), "application/json", "/", `{"id":"` + long + `"}`, "the key has 256 bytes; the contract allows 1 to 255"},
		{carried(oncehttp.CarrierJSON, "/id"), "application/json", "/", `{"id":"a b"}`, "the key's byte 2 is not in the contract's alphabet"},
		{carried(oncehttp.CarrierJSON, "/m/id"), "application/json", "/", `{"a":1}`, `the object "m" that it goes into is not there`},
		{carried(oncehttp.CarrierJSON, "/e/*/id"), "application/json", "/", `{"e":[{"id":"x"},{}]}`, "1 of 2 items have one"},
		{carried(oncehttp.CarrierForm, "id"), "application/json", "/", `{}`, "form field id: the Content-Type is not that of a form"},
		{carried(oncehttp.CarrierForm, "id"), "multipart/form-data; boundary=x", "/", "--x--", "the Content-Type is not that of a form"},
		{carried(oncehttp.CarrierForm, "id"), "application/x-www-form-urlencoded", "/", `id=1&id=2`, "stands 2 times"},
		{carried(oncehttp.CarrierQuery, "id"), "application/json", "/?id=" + long, `{}`, "query parameter id: "},
		{carried(oncehttp.CarrierPath, "/v1/{key}"), "application/json", "/v2/x", `{}`, "the path is another one"},
		{carried(oncehttp.CarrierXML, "/R/Id"), "text/xml", "/", `<S/>`, "XML element /R/Id: "},
	} {
		srv := newRecorder(t, 0)
		client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}})
		for range 2 {
			_, err := client.Do("pay-1", carrierCase{contentType: c.contentType}.request(t, srv.URL, c.uri, c.body))
			require.ErrorIs(t, err, oncehttp.ErrInvalidRequest, c.want)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, `contract "test"`)
			require.NotContains(t, err.Error(), "kkk")
			require.Equal(t, 1, strings.Count(err.Error(), "request cannot be sent"))
		}
		_, err := client.Outcome(t.Context(), "pay-1")
		require.ErrorIs(t, err, oncehttp.ErrNotFound)
		require.Empty(t, srv.requests())
	}
}

func TestABatchOfMoreItemsThanAKeyHasRoomForIsRefused(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 0)
	contract := carried(oncehttp.CarrierJSON, "/*/id")
	contract.Key.Max = 39 // a UUID, and -99
	client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{contract}})
	items := func(n int) string { return "[" + strings.Repeat("{},", n-1) + "{}]" }
	_, err := client.Do("pay-1", post(t, srv.URL, items(101)))
	require.ErrorIs(t, err, oncehttp.ErrInvalidRequest)
	require.ErrorContains(t, err, "the key has 40 bytes; the contract allows 1 to 39")
	require.Empty(t, srv.requests())
	_, err = client.Do("pay-1", post(t, srv.URL, items(100)))
	require.NoError(t, err)
}

func TestAKeyThatMakesTheBodyTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 0)
	c := carrierCases()[0]
	client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}, MaxRequestBody: int64(len(c.body))})
	_, err := client.Do("pay-1", c.request(t, srv.URL, c.uri, c.body))
	require.ErrorIs(t, err, oncehttp.ErrBodyTooLarge)
	_, err = client.Do("pay-1", c.request(t, srv.URL, c.uri, `{"idempotency_key":"k"}`))
	require.NoError(t, err)
	require.Len(t, srv.requests(), 1)
}

func TestARedirectThatLosesTheKeyIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		at, to string
		follow bool
	}{
		{"query", "/v2?a=1", false},
		{"query", "/v2?token=own-key-1&a=1", true},
		{"query", "/v2?token=other", false},
		{"path", "/v2/transfers", false},
		{"path", "/v2/transfers/own-key-1/now", true},
		{"JSON", "/v2", true},
	} {
		for _, c := range carrierCases() {
			if c.name != tt.at {
				continue
			}
			srv := newRecorder(t, 0)
			srv.redirect = tt.to
			client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}})
			o, err := client.Do("pay-1", c.request(t, srv.URL, c.ownURI, c.ownBody))
			require.NoError(t, err)
			seen := srv.requests()
			if !tt.follow {
				require.Equal(t, oncehttp.Rejected, o.State, tt.to)
				require.Len(t, seen, 1)
				continue
			}
			require.Equal(t, oncehttp.Confirmed, o.State, tt.to)
			require.Len(t, seen, 2)
			require.Equal(t, tt.to, seen[1].uri)
			require.Equal(t, c.ownBody, seen[1].body)
		}
	}
}
