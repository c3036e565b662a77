package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// watched makes a bench's connections watched ones, over what wrap makes of
// them.
func watched(wrap func(net.Conn) net.Conn) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		wrapped(wrap)(cfg)
		transport := cfg.Transport.(*http.Transport)
		transport.DialContext = oncehttp.WatchWrites(transport.DialContext)
	}
}

func wrapped(wrap func(net.Conn) net.Conn) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		transport := cfg.Transport.(*http.Transport)
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return wrap(conn), nil
		}
	}
}

// A limitedConn lets so many bytes leave, and is reset then.
type limitedConn struct {
	net.Conn
	mu    sync.Mutex
	limit int
}

func (c *limitedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(p), c.limit)
	c.limit -= n
	written, err := c.Conn.Write(p[:n])
	if err == nil && n < len(p) {
		err = &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}
	}
	return written, err
}

// However many bytes leave before the connection breaks: with none of the
// request's the attempt is NotSent, with one it is not.
func TestAWatchedConnectionProvesThatNothingWasWrittenAndNothingMore(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secure), func(t *testing.T) {
			t.Parallel()
			var last *limitedConn
			limit := 1 << 20
			inBubble(t, mockserver.Config{TLS: secure}, func(b *bench) {
				before := 0 // bytes that leave before the request's, of the handshake
				ctx := httptrace.WithClientTrace(b.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
					last.mu.Lock()
					defer last.mu.Unlock()
					before = limit - last.limit
				}})
				n, whole := 0, 0
				try := func() *oncehttp.Outcome {
					n++
					o, err := b.c.Do(fmt.Sprint("pay-", n), b.pay().WithContext(ctx))
					b.ruled(o, err)
					whole = max(whole, limit-last.limit)
					b.cfg.Transport.(*http.Transport).CloseIdleConnections()
					return o
				}
				want{oncehttp.Confirmed, "", 1, false, false}.check(b, try())
				handshake := before
				assert.Equal(b, secure, handshake > 0)
				transport := b.cfg.Transport.(*http.Transport)
				transport.WriteBufferSize = 2 // of which TLS makes records as short as an alert
				limit = handshake + 2*(2+22)
				want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, try())
				transport.WriteBufferSize = 0
				limits := []int{handshake, handshake + 1, whole - 1}
				for n := 0; n < whole; n += whole / 20 {
					limits = append(limits, n)
				}
				for _, limit = range limits {
					synctest.Wait() // what was cut off before has been noted
					sent := len(b.srv.Requests())
					o := try()
					if limit > handshake {
						want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
					} else {
						want{oncehttp.Pending, oncehttp.NotSent, 1, false, false}.check(b, o)
						assert.Len(b, b.srv.Requests(), sent)
					}
				}
			}, unprotected, oneAttempt, watched(func(conn net.Conn) net.Conn {
				last = &limitedConn{Conn: conn, limit: limit}
				return last
			}))
		})
	}
}

// A stuckConn takes no byte, or one, and then blocks until it is closed.
type stuckConn struct {
	net.Conn
	takes  int
	closed chan struct{}
	once   *sync.Once
}

func (c stuckConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p[:min(c.takes, len(p))])
	<-c.closed
	return n, errors.Join(err, net.ErrClosed)
}

func (c stuckConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func TestAWriteThatBlocksIsNotSentOnlyIfNoByteLeft(t *testing.T) {
	t.Parallel()
	for takes, expect := range map[int]want{
		0: {oncehttp.Pending, oncehttp.NotSent, 4, false, false},
		1: {oncehttp.Pending, oncehttp.Unknown, 4, true, false},
	} {
		stuck := func(conn net.Conn) net.Conn { return stuckConn{conn, takes, make(chan struct{}), new(sync.Once)} }
		inBubble(t, mockserver.Config{}, func(b *bench) {
			expect.check(b, b.do())
			assert.Empty(b, b.srv.Requests())
		}, watched(stuck))
		// Unwatched, nobody can tell.
		inBubble(t, mockserver.Config{}, func(b *bench) {
			want{oncehttp.Pending, oncehttp.Unknown, 4, true, false}.check(b, b.do())
		}, wrapped(stuck))
	}
}

// The server closes a connection that it kept alive just as it is got for the
// next request: net/http sees that, and writes nothing.
func TestAConnectionThatWasClosedWhenItWasGotIsNotSentIfItIsWatched(t *testing.T) {
	t.Parallel()
	as := func(conn net.Conn) net.Conn { return politeConn{conn} }
	for _, server := range []mockserver.Config{{}, {TLS: true}} {
		for name, tt := range map[string]struct {
			change func(*oncehttp.Config)
			want   want
		}{
			"watched":   {watched(as), want{oncehttp.Confirmed, "", 2, false, false}},
			"unwatched": {wrapped(as), want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}},
		} {
			t.Run(fmt.Sprint(name, ", TLS ", server.TLS), func(t *testing.T) {
				t.Parallel()
				inBubble(t, server, func(b *bench) {
					b.do()
					closes := sync.OnceFunc(func() {
						b.srv.Crash()
						synctest.Wait()
					})
					ctx := httptrace.WithClientTrace(b.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
						assert.Equal(b, info.Reused, len(b.srv.Requests()) == 1 && info.WasIdle)
						closes()
					}})
					o, err := b.c.Do("pay-2", b.pay().WithContext(ctx))
					b.ruled(o, err)
					tt.want.check(b, o)
					if tt.want.state == oncehttp.Confirmed {
						assert.Len(b, b.srv.Requests(), 2)
					} else {
						assert.Len(b, b.srv.Requests(), 1)
					}
				}, unprotected, tt.change)
			})
		}
	}
}

// A politeConn takes what is written to a peer that has closed, as TCP does
// until it hears of it. TLS says good-bye so.
type politeConn struct{ net.Conn }

func (c politeConn) Write(p []byte) (int, error) {
	if _, err := c.Conn.Write(p); err != nil && !errors.Is(err, syscall.EPIPE) {
		return 0, err
	}
	return len(p), nil
}

// Requests share a connection of HTTP/2.
func TestOverHTTP2AWatchedConnectionProvesNothing(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		var last *limitedConn
		inBubble(t, mockserver.Config{HTTP2: true, TLS: secure}, func(b *bench) {
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do())
			synctest.Wait() // the connection is silent
			last.mu.Lock()
			last.limit = 0
			last.mu.Unlock()
			o, err := b.c.Do("pay-2", b.pay())
			b.ruled(o, err)
			want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
		}, unprotected, watched(func(conn net.Conn) net.Conn {
			last = &limitedConn{Conn: conn, limit: 1 << 20}
			return last
		}))
	}
}

// A base that is not net/http's own may have sent what it has read by another
// way, after this one failed.
func TestABaseThatReadTheBodyMayHaveSentItBesideAWatchedConnection(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		base func(inner http.RoundTripper) http.RoundTripper
		want want
	}{
		"net/http": {func(inner http.RoundTripper) http.RoundTripper { return inner }, want{oncehttp.Pending, oncehttp.NotSent, 1, false, false}},
		"around it, another way": {func(inner http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				clone := req.Clone(req.Context())
				clone.Body, clone.ContentLength = http.NoBody, 0
				_, err := inner.RoundTrip(clone)
				_, another := io.Copy(io.Discard, req.Body)
				return nil, errors.Join(err, another)
			})
		}, want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}},
		"around it, the body unread": {func(inner http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				clone := req.Clone(req.Context())
				clone.Body, clone.ContentLength = http.NoBody, 0
				return inner.RoundTrip(clone)
			})
		}, want{oncehttp.Pending, oncehttp.NotSent, 1, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, mockserver.Config{}, func(b *bench) {
				tt.want.check(b, b.do())
			}, unprotected, oneAttempt, watched(func(conn net.Conn) net.Conn { return &limitedConn{Conn: conn} }), func(cfg *oncehttp.Config) {
				cfg.Transport = tt.base(cfg.Transport)
			})
		})
	}
}

// A base may give up while what it began has not ended.
func TestWhatWasToldAsNotSentIsNotSentLaterEither(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(reached func()) *httptrace.ClientTrace{
		"asked for": func(reached func()) *httptrace.ClientTrace {
			return &httptrace.ClientTrace{GetConn: func(string) { go reached() }}
		},
		"as it is got": func(reached func()) *httptrace.ClientTrace {
			return &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached() }}
		},
		"in a buffer": func(reached func()) *httptrace.ClientTrace { return &httptrace.ClientTrace{WroteHeaders: reached} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slow := func(conn net.Conn) net.Conn { time.Sleep(time.Millisecond); return conn }
			inBubble(t, mockserver.Config{}, func(b *bench) {
				want{oncehttp.Pending, oncehttp.NotSent, 1, false, false}.check(b, b.do())
				time.Sleep(2 * time.Second)
				assert.Empty(b, b.srv.Requests())
			}, unprotected, oneAttempt, watched(slow), func(cfg *oncehttp.Config) {
				inner := cfg.Transport
				cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
					reached := make(chan struct{})
					clone := req.Clone(httptrace.WithClientTrace(context.WithoutCancel(req.Context()), at(func() {
						close(reached)
						time.Sleep(time.Second)
					})))
					clone.Body, clone.ContentLength = http.NoBody, 0
					go inner.RoundTrip(clone)
					<-reached
					return nil, errBroken
				})
			})
		})
	}
}

// On real sockets: a server that accepts, and resets at once.
func TestAServerThatResetsWhatItAcceptsIsNeverToldAsSentWithoutAByte(t *testing.T) {
	t.Parallel()
	url := serveWire(t, func(conn net.Conn) {
		conn.(*net.TCPConn).SetLinger(0)
	})
	var mu sync.Mutex
	left := 0
	transport := &http.Transport{DialContext: oncehttp.WatchWrites(func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return countingConn{conn, func(n int) { mu.Lock(); left += n; mu.Unlock() }}, err
	})}
	c := open(t, journalPath(t), oncehttp.Config{Transport: transport, Contracts: []oncehttp.Contract{}, Retry: oncehttp.Retry{MaxAttempts: 1, Base: time.Microsecond}, Gate: oncehttp.Gate{Failures: 1000}})
	seen := map[oncehttp.Reason]int{}
	for i := range 40 {
		mu.Lock()
		left = 0
		mu.Unlock()
		o, err := c.Do(fmt.Sprint("pay-", i), post(t, url+"/payments", payment))
		require.ErrorAs(t, err, new(*oncehttp.PendingError))
		mu.Lock()
		assert.Equal(t, left > 0, o.MayHaveExecuted, "%d bytes left: %v", left, err)
		mu.Unlock()
		seen[o.Reason]++
	}
	t.Log(seen)
}

type countingConn struct {
	net.Conn
	count func(int)
}

func (c countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.count(n)
	return n, err
}
