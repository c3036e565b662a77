package oncehttp_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// net/http sends a request again by itself when a reused connection dies, once
// for each idle one, if a key makes it look replayable (T2).
func TestTheTransportNeverResendsByItself(t *testing.T) {
	t.Parallel()
	deletes := oncehttp.IdempotencyKey("*", 24*time.Hour)
	deletes.Match.Methods = []string{http.MethodPost, http.MethodDelete}
	for name, tt := range map[string]struct {
		method, body string
		contracts    []oncehttp.Contract
		ownKey       string // header that the caller sets
		attempts     int
	}{
		"keyed with a body":                  {http.MethodPost, payment, []oncehttp.Contract{deletes}, "", 4},
		"keyed without a body":               {http.MethodDelete, "", []oncehttp.Contract{deletes}, "", 4},
		"adopted key without a body":         {http.MethodPost, "", []oncehttp.Contract{deletes}, "Idempotency-Key", 4},
		"keyed in the body":                  {http.MethodPost, payment, []oncehttp.Contract{carried(oncehttp.CarrierJSON, "/id")}, "", 4},
		"keyed in the query, no body":        {http.MethodPost, "", []oncehttp.Contract{carried(oncehttp.CarrierQuery, "id")}, "", 4},
		"keyed in the query, a key besides":  {http.MethodPost, "", []oncehttp.Contract{carried(oncehttp.CarrierQuery, "id")}, "Idempotency-Key", 4},
		"no contract, no body":               {http.MethodPost, "", nil, "", 1},
		"no contract, the caller's own key":  {http.MethodPost, "", nil, "Idempotency-Key", 1},
		"no contract, X-Idempotency-Key":     {http.MethodPost, payment, nil, "X-Idempotency-Key", 1},
		"no contract, X-Idempotency-Key too": {http.MethodPost, "", nil, "X-Idempotency-Key", 1},
		"a DELETE that no contract matches":  {http.MethodDelete, "", nil, "", 4},
	} {
		for _, see := range []mockserver.See{mockserver.SeeClose, mockserver.SeeReset} {
			t.Run(name+", "+string(see), func(t *testing.T) {
				t.Parallel()
				srv := mockserver.Start(mockserver.Config{Work: 20 * time.Millisecond})
				defer srv.Close()
				transport := srv.Transport()
				transport.MaxIdleConnsPerHost = 10
				slowlyClosed(transport)
				c, err := oncehttp.Open(journalPath(t), oncehttp.Config{Transport: transport, Contracts: tt.contracts, Retry: fast})
				require.NoError(t, err)
				defer c.Close()
				warm(t, srv, transport, 10)
				srv.ScriptPath("/payments", mockserver.Fault{Commit: true, See: see}.Always())
				req := post(t, srv.URL+"/payments", tt.body)
				req.Method = tt.method
				if tt.ownKey != "" {
					req.Header.Set(tt.ownKey, "k-1")
				}
				o, err := c.Do("pay-1", req)
				require.Error(t, err)
				assert.Equal(t, oncehttp.Pending, o.State)
				assert.True(t, o.MayHaveExecuted)
				assert.Equal(t, tt.attempts, o.Attempts)
				received := 0
				for _, q := range srv.Requests() {
					if strings.HasPrefix(q.Path, "/payments") {
						received++
						if tt.ownKey != "" {
							assert.Equal(t, []string{"k-1"}, q.Header.Values(tt.ownKey), "the header is there once")
						}
					}
				}
				assert.Equal(t, o.Attempts, received)
			})
		}
	}
}

// One call of net/http is at most one send, however many idle connections could
// take it over: the journal never has fewer attempts than the server has
// requests, and as many where each got there. T2, T22
func TestOneAttemptIsAtMostOneRequestOnTheWire(t *testing.T) {
	t.Parallel()
	deletes := oncehttp.IdempotencyKey("*", 24*time.Hour)
	deletes.Match.Methods = []string{http.MethodPost, http.MethodDelete}
	unread := func(req *http.Request) bool { return req.URL.Path == "/payments" }
	for _, idle := range []int{0, 1, 10, 100} {
		for _, body := range []string{payment, ""} {
			for _, contracts := range [][]oncehttp.Contract{{deletes}, {}} {
				for name, end := range map[string]func(conn net.Conn){
					"closed": func(net.Conn) {},
					"reset":  func(conn net.Conn) { conn.(*net.TCPConn).SetLinger(0) },
					"408": func(conn net.Conn) {
						io.WriteString(conn, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
					},
				} {
					t.Run(fmt.Sprint(name, ", idle ", idle, ", body ", body != "", ", keyed ", len(contracts) > 0), func(t *testing.T) {
						t.Parallel()
						received := make(chan struct{}, 100)
						url := serveWire(t, func(conn net.Conn) {
							for r := bufio.NewReader(conn); ; {
								req, err := http.ReadRequest(r)
								if err != nil {
									return
								}
								io.Copy(io.Discard, req.Body)
								if unread(req) {
									received <- struct{}{}
									end(conn)
									return
								}
								io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
							}
						})
						transport := &http.Transport{MaxIdleConnsPerHost: 100, DialContext: new(net.Dialer).DialContext}
						slowlyClosed(transport)
						getAtOnce(t, transport, url, idle)
						c := open(t, journalPath(t), oncehttp.Config{Transport: transport, Contracts: contracts})
						req := post(t, url+"/payments", body)
						if body == "" {
							req.Method = http.MethodDelete
						}
						o, err := c.Do("pay-1", req)
						require.ErrorAs(t, err, new(*oncehttp.PendingError))
						assert.True(t, o.MayHaveExecuted)
						assert.Equal(t, o.Attempts, len(received))
						if len(contracts) > 0 || body == "" {
							assert.Equal(t, 4, o.Attempts)
						} else {
							assert.Equal(t, 1, o.Attempts)
						}
					})
				}
			}
		}
	}
}

// dropsPayments answers everything but a payment, at which it closes the
// connection once it has the request.
func dropsPayments(t *testing.T) (url string, received chan struct{}) {
	received = make(chan struct{}, 100)
	return serveWire(t, func(conn net.Conn) {
		for r := bufio.NewReader(conn); ; {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			if req.URL.Path == "/payments" {
				received <- struct{}{}
				return
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	}), received
}

// Of a request that it takes for safe net/http sends again whatever has no body,
// with or without a key.
func TestASafeIntentIsSentOnceAnAttempt(t *testing.T) {
	t.Parallel()
	for name, contract := range map[string]oncehttp.Contract{
		"header":   carried(oncehttp.CarrierHeader, "Idempotency-Key"),
		"query":    carried(oncehttp.CarrierQuery, "id"),
		"no match": oncehttp.IdempotencyKey("other.test", time.Hour),
	} {
		contract.Match.Methods = []string{http.MethodGet, http.MethodOptions}
		for _, method := range contract.Match.Methods {
			t.Run(name+" "+method, func(t *testing.T) {
				t.Parallel()
				url, received := dropsPayments(t)
				transport := &http.Transport{MaxIdleConnsPerHost: 100, DialContext: new(net.Dialer).DialContext}
				slowlyClosed(transport)
				getAtOnce(t, transport, url, 30)
				c := open(t, journalPath(t), oncehttp.Config{Transport: transport, Contracts: []oncehttp.Contract{contract}})
				req := post(t, url+"/payments", "")
				req.Method = method
				o, err := c.Do("pay-1", req)
				require.ErrorAs(t, err, new(*oncehttp.PendingError))
				assert.Equal(t, 4, o.Attempts)
				assert.Len(t, received, 4)
			})
		}
	}
}

// warm leaves idle connections behind.
func warm(t *testing.T, srv *mockserver.Server, transport *http.Transport, connections int) {
	t.Helper()
	var all, ready sync.WaitGroup
	ready.Add(connections)
	for range connections {
		all.Go(func() {
			ready.Done()
			ready.Wait()
			resp, err := transport.RoundTrip(post(t, srv.URL+"/warm", ""))
			if assert.NoError(t, err) {
				_, err = io.Copy(io.Discard, resp.Body) // else the connection is not used again
				assert.NoError(t, err)
				resp.Body.Close()
			}
		})
	}
	all.Wait()
}

// slowlyClosed makes closing a connection take 20 ms, so that a resend is not
// stopped by chance.
func slowlyClosed(transport *http.Transport) {
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return slowClose{conn}, err
	}
}

type slowClose struct{ net.Conn }

func (c slowClose) Close() error {
	time.Sleep(20 * time.Millisecond)
	return c.Conn.Close()
}

// T3: net/http follows GOAWAY without a limit, and REFUSED_STREAM with
// one of its own.
func TestHTTP2RefusalsAreCountedAndBackedOffHere(t *testing.T) {
	t.Parallel()
	deletes := oncehttp.IdempotencyKey("*", 24*time.Hour)
	deletes.Match.Methods = []string{http.MethodPost, http.MethodDelete}
	for _, see := range []mockserver.See{mockserver.SeeGoAway, mockserver.SeeRefused} {
		for _, tls := range []bool{false, true} {
			for _, method := range []string{http.MethodPost, http.MethodDelete} {
				t.Run(string(see)+" "+method, func(t *testing.T) {
					t.Parallel()
					srv := mockserver.Start(mockserver.Config{HTTP2: true, TLS: tls})
					defer srv.Close()
					srv.Script(mockserver.Fault{See: see}.Always())
					c := open(t, journalPath(t), oncehttp.Config{Transport: srv.Transport(), Contracts: []oncehttp.Contract{deletes}})
					body := payment
					if method == http.MethodDelete {
						body = ""
					}
					req := post(t, srv.URL+"/payments", body)
					req.Method = method
					o, err := c.Do("pay-1", req)
					require.Error(t, err)
					assert.Equal(t, oncehttp.Pending, o.State)
					assert.Equal(t, 4, o.Attempts)
					assert.LessOrEqual(t, len(srv.Requests()), o.Attempts)
					assert.Equal(t, 0, srv.EffectsTotal())
				})
			}
		}
	}
}

// A base transport that resends by itself is stopped.
func TestABaseThatResendsIsStoppedByTheGuard(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body    string
		carrier oncehttp.Contract
	}{
		"with a body":             {payment, carried(oncehttp.CarrierHeader, "Idempotency-Key")},
		"without":                 {"", carried(oncehttp.CarrierHeader, "Idempotency-Key")},
		"with a key in the body":  {payment, carried(oncehttp.CarrierJSON, "/id")},
		"with a key in the query": {"", carried(oncehttp.CarrierQuery, "id")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := tt.body
			srv := mockserver.Start(script(mockserver.Lost().Always()))
			defer srv.Close()
			inner := srv.Transport()
			var resent int
			stubborn := roundTripper(func(req *http.Request) (*http.Response, error) {
				resp, err := inner.RoundTrip(req)
				for range 5 {
					if err == nil || req.Context().Err() != nil {
						break
					}
					resent++
					again := req.Clone(req.Context())
					if body != "" {
						again.Body, again.ContentLength = readCloser(body), int64(len(body))
					}
					resp, err = inner.RoundTrip(again)
				}
				return resp, err
			})
			c := open(t, journalPath(t), oncehttp.Config{Transport: stubborn, Contracts: []oncehttp.Contract{tt.carrier}})
			o, err := c.Do("pay-1", post(t, srv.URL+"/payments", body))
			require.Error(t, err)
			assert.Equal(t, 4, o.Attempts)
			assert.Len(t, srv.Requests(), o.Attempts)
			assert.NotZero(t, resent)
		})
	}
}

// A base that fetches a token under the attempt's context, or reports what it
// did, is not stopped.
func TestARequestOfTheBasesOwnIsNoResend(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	inner := srv.Transport()
	other := func(ctx context.Context, host string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+host+"/", strings.NewReader("grant_type=x"))
		if err != nil {
			return err
		}
		resp, err := inner.RoundTrip(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	withToken := roundTripper(func(req *http.Request) (*http.Response, error) {
		if err := other(req.Context(), "tokens.test"); err != nil {
			return nil, err
		}
		resp, err := inner.RoundTrip(req)
		if req.Body == http.NoBody && req.Header.Get("Idempotency-Key") == "" {
			err = errors.Join(err, other(req.Context(), "metrics.test"))
		}
		return resp, err
	})
	for _, contracts := range [][]oncehttp.Contract{{oncehttp.IdempotencyKey("*", time.Hour)}, {}} {
		c := open(t, journalPath(t), oncehttp.Config{Transport: withToken, Contracts: contracts})
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			body := payment
			if method == http.MethodDelete {
				body = ""
			}
			req := post(t, srv.URL+"/payments", body)
			req.Method = method
			o, err := c.Do("pay by "+method, req)
			require.NoError(t, err)
			assert.Equal(t, 1, o.Attempts, method)
		}
	}
}

// A base that reads the body before it asks for a connection, to sign or to log
// it, sends once like any other.
func TestABaseThatReadsTheBodyFirstIsNoResend(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	inner := srv.Transport()
	signing := roundTripper(func(req *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
		signed := req.Clone(req.Context())
		signed.Body = readCloser(string(text))
		signed.Header.Set("Signature", fmt.Sprintf("%x", sha256.Sum256(text)))
		return inner.RoundTrip(signed)
	})
	for name, contracts := range map[string][]oncehttp.Contract{"keyed": {oncehttp.IdempotencyKey("*", time.Hour)}, "without a key": {}} {
		c := open(t, journalPath(t), oncehttp.Config{Transport: signing, Contracts: contracts})
		o, err := c.Do("pay, "+name, post(t, srv.URL+"/payments", payment))
		require.NoError(t, err, name)
		assert.Equal(t, oncehttp.Confirmed, o.State)
		assert.Equal(t, 1, o.Attempts)
	}
	assert.Equal(t, 2, srv.EffectsTotal())
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// T7
func TestExpectContinueProvesNothing(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]mockserver.Fault{
		"refused before the body": {See: mockserver.SeeEarly, Status: 417},
		"lost":                    mockserver.Lost(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := mockserver.Start(script(fault))
			defer srv.Close()
			transport := srv.Transport()
			transport.ExpectContinueTimeout = 50 * time.Millisecond
			c := open(t, journalPath(t), oncehttp.Config{Transport: transport})
			req := post(t, srv.URL+"/payments", payment)
			req.Header.Set("Expect", "100-continue")
			o, err := c.Do("pay-1", req)
			require.NoError(t, err)
			if o.State == oncehttp.Rejected {
				assert.Equal(t, 417, o.Response.StatusCode)
				assert.Equal(t, 0, srv.EffectsTotal())
				return
			}
			assert.Equal(t, oncehttp.Confirmed, o.State)
			assert.Equal(t, 1, srv.EffectsTotal())
		})
	}
}
