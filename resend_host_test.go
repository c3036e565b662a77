package oncehttp_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// hosts are spelled in several ways, and one is behind a proxy.
var hosts = map[string]struct{ host, proxy string }{
	"IPv6":               {"[2001:db8::1]", ""},
	"international name": {"bücher.example", ""},
	"upper case, a port": {"API.example.com:80", ""},
	"proxy":              {"api.example.com", "http://proxy.example:3128"},
}

// to is a transport whose connections all go to one server.
func to(t *testing.T, server, proxy string) *http.Transport {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 100, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(server, "http://"))
	}}
	t.Cleanup(transport.CloseIdleConnections)
	if proxy != "" {
		u, err := url.Parse(proxy)
		require.NoError(t, err)
		transport.Proxy = http.ProxyURL(u)
	}
	return transport
}

// What net/http asks for a connection to is not always spelled as the URL is.
func TestASafeIntentIsSentOnceAnAttemptWhateverItsHost(t *testing.T) {
	t.Parallel()
	for name, tt := range hosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, received := dropsPayments(t)
			transport := to(t, server, tt.proxy)
			slowlyClosed(transport)
			getAtOnce(t, transport, "http://"+tt.host, 30)
			contract := oncehttp.IdempotencyKey("other.test", time.Hour)
			c := open(t, journalPath(t), oncehttp.Config{Transport: transport, Contracts: []oncehttp.Contract{contract}})
			req := post(t, "http://"+tt.host+"/payments", "")
			req.Method = http.MethodGet
			o, err := c.Do("pay-1", req)
			require.ErrorAs(t, err, new(*oncehttp.PendingError))
			assert.Equal(t, 4, o.Attempts)
			assert.Len(t, received, 4)
		})
	}
}

func TestABaseThatResendsIsStoppedWhateverTheHost(t *testing.T) {
	t.Parallel()
	for name, tt := range hosts {
		if name == "international name" {
			continue // it stands in the Host header as another
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			received := make(chan struct{}, 100)
			server := serveWire(t, func(conn net.Conn) {
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					received <- struct{}{}
				}
			})
			inner := to(t, server, tt.proxy)
			stubborn := roundTripper(func(req *http.Request) (resp *http.Response, err error) {
				for range 5 {
					again := req.Clone(req.Context())
					again.Body = readCloser(payment)
					if resp, err = inner.RoundTrip(again); err == nil || req.Context().Err() != nil {
						break
					}
				}
				return resp, err
			})
			c := open(t, journalPath(t), oncehttp.Config{Transport: stubborn, Contracts: []oncehttp.Contract{}})
			o, err := c.Do("pay-1", post(t, "http://"+tt.host+"/payments", payment))
			require.ErrorAs(t, err, new(*oncehttp.PendingError))
			assert.Equal(t, 1, o.Attempts)
			assert.Len(t, received, 1)
		})
	}
}

// A transport's Proxy that asks for the proxy, under the attempt's context.
func TestARequestOfATransportsHookIsNoResend(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	transport, asker := to(t, srv.URL, ""), to(t, srv.URL, "")
	transport.Proxy = func(req *http.Request) (*url.URL, error) {
		ask, err := http.NewRequestWithContext(req.Context(), http.MethodGet, "http://wpad.test/wpad.dat", nil)
		if err != nil {
			return nil, err
		}
		resp, err := asker.RoundTrip(ask)
		if err != nil {
			return nil, err
		}
		return nil, resp.Body.Close()
	}
	c := open(t, journalPath(t), oncehttp.Config{Transport: transport, Contracts: []oncehttp.Contract{}})
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		req := post(t, "http://api.example.com/payments", "")
		req.Method = method
		o, err := c.Do("pay by "+method, req)
		require.NoError(t, err)
		assert.Equal(t, 1, o.Attempts, method)
	}
}
