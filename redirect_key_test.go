package oncehttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// A maze is a server that leads on: each path to where leads says, by the status
// before the colon. It keeps what it got.
type maze struct {
	*httptest.Server
	leads map[string]string
	got   chan *http.Request
}

func newMaze(t *testing.T, leads map[string]string) *maze {
	t.Helper()
	m := &maze{leads: leads, got: make(chan *http.Request, 16)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.got <- r
		var status int
		var to string
		if fmt.Sscanf(m.leads[r.URL.Path], "%d:%s", &status, &to); status != 0 {
			http.Redirect(w, r, to, status)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// keyedBy is a contract for the paths of the maze under one prefix, whose 302
// and 303 say that it was done.
func (m *maze) keyedBy(prefix string, at oncehttp.Carrier) oncehttp.Contract {
	c := oncehttp.IdempotencyKey(strings.TrimPrefix(m.URL, "http://"), 24*time.Hour)
	c.Match.Path, c.Carrier = prefix, at
	c.Answers = append(c.Answers, oncehttp.Answer{Status: []int{http.StatusFound, http.StatusSeeOther}, Verdict: oncehttp.VerdictDone})
	return c
}

func inHeader(name string) oncehttp.Carrier {
	return oncehttp.Carrier{Kind: oncehttp.CarrierHeader, Name: name}
}

// What http.Client makes of a redirect has all headers of the first request: it
// loses the key of the one that was redirected, and nothing else.
func TestARedirectLosesTheKeyOfTheRequestThatItAnswersAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method, path string
		header       http.Header
		// reaches is what of header the last request has.
		reaches http.Header
		hops    int
	}{
		"a GET that no contract speaks of": {
			"GET", "/plain", http.Header{"X-Request-Id": {"r"}, "Request-Id": {"s"}, "Idempotency-Key": {"i"}},
			http.Header{"X-Request-Id": {"r"}, "Request-Id": {"s"}, "Idempotency-Key": {"i"}}, 2,
		},
		"such a GET, led to where a contract speaks": {
			"GET", "/plain/inwards", http.Header{"X-Request-Id": {"r"}}, http.Header{"X-Request-Id": {"r"}}, 2,
		},
		"a GET of the API": {
			"GET", "/pay/list", http.Header{"X-Request-Id": {"r"}}, http.Header{"X-Request-Id": {"r"}}, 2,
		},
		"a payment": {
			"POST", "/pay", http.Header{"X-Request-Id": {"key-1"}, "Request-Id": {"s"}}, http.Header{"X-Request-Id": nil, "Request-Id": {"s"}}, 2,
		},
		"a payment, by a header in another spelling": {
			"POST", "/pay", http.Header{"x-request-id": {"key-1"}}, http.Header{"X-Request-Id": nil}, 2,
		},
		"a payment, by a 302": {
			"POST", "/pay/found", http.Header{"X-Request-Id": {"key-1"}}, http.Header{"X-Request-Id": nil}, 2,
		},
		"a payment, by a chain": {
			"POST", "/pay/chain", http.Header{"X-Request-Id": {"key-1"}, "Request-Id": {"s"}}, http.Header{"X-Request-Id": nil, "Request-Id": {"s"}}, 4,
		},
		"a payment that the intent follows first": {
			"POST", "/pay/moved", http.Header{"X-Request-Id": {"key-1"}, "Request-Id": {"s"}}, http.Header{"X-Request-Id": nil, "Request-Id": {"s"}}, 3,
		},
		"a payment to another API": {
			"POST", "/refund", http.Header{"Request-Id": {"key-2"}, "X-Request-Id": {"r"}}, http.Header{"Request-Id": nil, "X-Request-Id": {"r"}}, 2,
		},
		"a payment whose key has a companion": {
			"POST", "/dated", http.Header{"Repeatability-Request-Id": {"key-3"}, "Repeatability-First-Sent": {"Sun, 01 Mar 2026 13:00:00 GMT"}, "X-Request-Id": {"r"}},
			http.Header{"Repeatability-Request-Id": nil, "Repeatability-First-Sent": nil, "X-Request-Id": {"r"}}, 2,
		},
		"a PUT that no contract speaks of": {
			"PUT", "/plain", http.Header{"X-Request-Id": {"r"}, "Idempotency-Key": {"i"}}, http.Header{"X-Request-Id": {"r"}, "Idempotency-Key": nil}, 2,
		},
	} {
		for _, elsewhere := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, to another host: %v", name, elsewhere), func(t *testing.T) {
				t.Parallel()
				host := ""
				if elsewhere {
					other := newMaze(t, map[string]string{"/hop": "301:/hop2", "/hop2": "302:/end"})
					host = other.URL
					defer func() { checkEnd(t, other, tt.reaches) }()
				}
				m := newMaze(t, map[string]string{
					"/plain": "303:" + host + "/end", "/plain/inwards": "302:" + host + "/pay/end", "/pay/list": "307:" + host + "/end",
					"/pay": "303:" + host + "/end", "/pay/found": "302:" + host + "/end", "/pay/chain": "303:" + host + "/hop", "/hop": "308:/hop2", "/hop2": "301:/end",
					"/pay/moved": "307:/pay", "/refund": "303:" + host + "/end", "/dated": "303:" + host + "/end",
				})
				dated := m.keyedBy("/dated", inHeader("Repeatability-Request-ID"))
				dated.Companions = []oncehttp.Companion{{Kind: oncehttp.CarrierHeader, Name: "Repeatability-First-Sent", Value: oncehttp.CompanionSentIMF}}
				client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{
					m.keyedBy("/pay", inHeader("X-Request-Id")), m.keyedBy("/refund", inHeader("Request-Id")), dated,
				}})
				req, err := http.NewRequestWithContext(t.Context(), tt.method, m.URL+tt.path, strings.NewReader("{}"))
				require.NoError(t, err)
				req.Header = tt.header.Clone()
				if tt.method == http.MethodGet {
					req.Body, req.GetBody, req.ContentLength = nil, nil, 0
				}
				resp, err := client.HTTPClient().Do(req)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, http.StatusOK, resp.StatusCode)
				if !elsewhere {
					require.Len(t, m.got, tt.hops)
					checkEnd(t, m, tt.reaches)
				}
			})
		}
	}
}

// checkEnd is that the last request has the headers.
func checkEnd(t *testing.T, m *maze, want http.Header) {
	t.Helper()
	var last *http.Request
	for range len(m.got) {
		last = <-m.got
	}
	require.NotNil(t, last)
	assert.Equal(t, http.MethodGet, last.Method)
	for name, values := range want {
		assert.Equal(t, values, last.Header.Values(name), name)
	}
}

// A middleware between http.Client and this client names every request anew.
func TestARedirectKeepsAHeaderThatIsNotTheKeyThough(t *testing.T) {
	t.Parallel()
	m := newMaze(t, map[string]string{"/pay": "303:/end"})
	client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{m.keyedBy("/pay", inHeader("X-Request-Id"))}})
	n := 0
	naming := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		n++
		req.Header.Set("X-Request-Id", fmt.Sprintf("request-%d", n))
		return client.RoundTrip(req)
	})
	resp, err := (&http.Client{Transport: naming}).Post(m.URL+"/pay", "text/plain", nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	checkEnd(t, m, http.Header{"X-Request-Id": {"request-2"}})
}

// Neither what says nothing of the redirected request, nor an operation that only
// its body would tell, lets a key through.
func TestAKeyIsDroppedWhereNobodyCanTellWhoseItIs(t *testing.T) {
	t.Parallel()
	m := newMaze(t, map[string]string{"/pay": "303:/end"})
	byBody := m.keyedBy("/pay", inHeader("X-Request-Id"))
	byBody.Match.Operation = oncehttp.Operation{Kind: oncehttp.OperationForm, At: "Action", Names: []string{"Pay"}}
	client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{byBody}})
	for name, forget := range map[string]func(resp *http.Response){
		"request":  func(resp *http.Response) { resp.Request = nil },
		"contract": func(resp *http.Response) { resp.Request = resp.Request.WithContext(t.Context()) },
	} {
		forgetful := roundTripFunc(func(req *http.Request) (*http.Response, error) {
			resp, err := client.RoundTrip(req)
			if err == nil {
				forget(resp)
			}
			return resp, err
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL+"/pay", strings.NewReader("Action=Pay"))
		require.NoError(t, err)
		req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Request-Id": {name}}
		resp, err := (&http.Client{Transport: forgetful}).Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		checkEnd(t, m, http.Header{"X-Request-Id": nil})
	}
	resp, err := client.HTTPClient().PostForm(m.URL+"/pay", nil)
	var pending *oncehttp.PendingError
	require.ErrorAs(t, err, &pending, "no contract says what its 303 means")
	require.Nil(t, resp)
}

// A PUT that is no action is redirected as http.Client does it, with all that it
// has; what it is led to may be one.
func TestAPutThatPassesThroughIsRedirected(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		other := newMaze(t, nil)
		m := newMaze(t, map[string]string{
			"/file": fmt.Sprintf("%d:%s/file", status, other.URL), "/pay": fmt.Sprintf("%d:%s/file", status, other.URL),
			"/in": fmt.Sprintf("%d:%s/pay", status, other.URL),
		})
		paid, led := m.keyedBy("/pay", inHeader("Idempotency-Key")), other.keyedBy("/pay", inHeader("Idempotency-Key"))
		paid.Match.Methods, led.Match.Methods = []string{"PUT"}, []string{"PUT"}
		client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{paid, led}})
		put := func(path string) (*http.Response, error) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, m.URL+path, strings.NewReader("text"))
			require.NoError(t, err)
			req.Header.Set("Idempotency-Key", "own-key-1")
			resp, err := client.HTTPClient().Do(req)
			if err == nil {
				require.NoError(t, resp.Body.Close())
			}
			return resp, err
		}
		resp, err := put("/file")
		require.NoError(t, err)
		_, isIntent := oncehttp.OutcomeOf(resp)
		require.False(t, isIntent)
		require.Len(t, other.got, 1)
		got := <-other.got
		require.Equal(t, []any{http.MethodPut, int64(4), "own-key-1"}, []any{got.Method, got.ContentLength, got.Header.Get("Idempotency-Key")})

		_, err = put("/pay")
		require.ErrorIs(t, err, oncehttp.ErrInvalidRequest, "an intent is not")
		require.Empty(t, other.got)

		resp, err = put("/in")
		require.NoError(t, err)
		_, isIntent = oncehttp.OutcomeOf(resp)
		require.True(t, isIntent)
		require.Len(t, other.got, 1)
	}
}

// http.Client names the URL that it comes from, key and all, to wherever a 303
// leads.
func TestNoKeyIsToldToWhereA303Leads(t *testing.T) {
	t.Parallel()
	for _, c := range carrierCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- fmt.Sprint(r.RequestURI, r.Header) }))
			t.Cleanup(other.Close)
			srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusSeeOther))
			t.Cleanup(srv.Close)
			c.contract.Answers = append(c.contract.Answers, oncehttp.Answer{Status: []int{http.StatusSeeOther}, Verdict: oncehttp.VerdictDone})
			client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}})
			resp, err := client.HTTPClient().Do(c.request(t, srv.URL, c.ownURI, c.ownBody))
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.NotContains(t, <-got, "own-key-1")
		})
	}
}

// A Referer is the business of its own API's contract.
func TestARefererStaysWhereOnlyAnotherApiWouldSeeAKeyInIt(t *testing.T) {
	t.Parallel()
	m := newMaze(t, map[string]string{"/search": "302:/end"})
	client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{
		m.keyedBy("/pay", oncehttp.Carrier{Kind: oncehttp.CarrierQuery, Name: "token"}),
	}})
	resp, err := client.HTTPClient().Get(m.URL + "/search?token=next")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	checkEnd(t, m, http.Header{"Referer": {m.URL + "/search?token=next"}})
}
