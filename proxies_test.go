package oncehttp_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// What stands between may refuse before the request is sent; then it was not.
// What refuses afterwards proves nothing.
func TestARefusalOnTheWayToTheServerIsNotSent(t *testing.T) {
	t.Parallel()
	connect := func(answer string) func(net.Conn) {
		return func(conn net.Conn) {
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				io.WriteString(conn, answer)
			}
		}
	}
	socks := func(code byte) func(net.Conn) {
		return func(conn net.Conn) { // RFC 1928 sections 3 to 6
			io.ReadFull(conn, make([]byte, 3))
			conn.Write([]byte{5, 0})
			io.ReadFull(conn, make([]byte, 10))
			conn.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
			http.ReadRequest(bufio.NewReader(conn))
		}
	}
	notSent := want{oncehttp.Pending, oncehttp.NotSent, 2, false, false}
	unknown := want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}
	for name, tt := range map[string]struct {
		proxy  string
		serve  func(net.Conn)
		target string
		want   want
	}{
		"CONNECT refused":        {"http", connect("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), "https", notSent},
		"CONNECT with garbage":   {"http", connect("no\r\n\r\n"), "https", notSent},
		"CONNECT, closed":        {"http", connect(""), "https", notSent},
		"CONNECT, then no TLS":   {"http", connect("HTTP/1.1 200 OK\r\n\r\n"), "https", notSent},
		"proxy without CONNECT":  {"http", connect(""), "http", unknown},
		"SOCKS refused":          {"socks5", socks(5), "http", notSent},
		"SOCKS, then closed":     {"socks5", socks(0), "http", unknown},
		"a proxy that speaks no": {"https", func(net.Conn) {}, "http", notSent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(serveWire(t, tt.serve))
			require.NoError(t, err)
			u.Scheme = tt.proxy
			c := open(t, journalPath(t), oncehttp.Config{
				Contracts: []oncehttp.Contract{}, Transport: &http.Transport{Proxy: http.ProxyURL(u)},
				Retry: oncehttp.Retry{MaxAttempts: 2, Base: time.Millisecond, Cap: time.Millisecond}, Gate: oncehttp.Gate{Failures: 10},
			})
			for action, body := range map[string]string{"pay-1": payment, "pay-2": ""} {
				o, err := c.Do(action, post(t, tt.target+"://127.0.0.1:1/payments", body))
				require.ErrorAs(t, err, new(*oncehttp.PendingError))
				tt.want.check(t, o)
			}
		})
	}
	t.Run("the proxy cannot be reached", func(t *testing.T) {
		t.Parallel()
		u := &url.URL{Scheme: "http", Host: closedPort(t)}
		c := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{}, Transport: &http.Transport{Proxy: http.ProxyURL(u)},
			Retry: oncehttp.Retry{MaxAttempts: 2, Base: time.Millisecond, Cap: time.Millisecond}})
		o, err := c.Do("pay-1", post(t, "http://api.test/payments", payment))
		require.ErrorAs(t, err, new(*oncehttp.PendingError))
		notSent.check(t, o)
	})
}

// closedPort is an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(nil)
	defer srv.Close()
	return srv.Listener.Addr().String()
}

// All connections that there may be are taken.
func TestAPoolThatIsExhaustedSendsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.srv.ScriptPath("/slow", mockserver.Fault{See: mockserver.SeeNothing}.Always())
		slow, cancel := context.WithCancel(b.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err := b.cfg.Transport.RoundTrip(b.request(http.MethodPost, "/slow", "").WithContext(slow))
			assert.ErrorIs(b, err, context.Canceled)
		}()
		time.Sleep(time.Millisecond)
		want{oncehttp.Pending, oncehttp.NotSent, 4, false, false}.check(b, b.do())
		assert.Len(b, b.srv.Requests(), 1)
		cancel()
		<-ended
		b.sleepUntilDue()
		b.resume()
		want{oncehttp.Confirmed, "", 5, false, false}.check(b, b.known())
	}, func(cfg *oncehttp.Config) { cfg.Transport.(*http.Transport).MaxConnsPerHost = 1 })
}
