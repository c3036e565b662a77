package mockserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"syscall"
)

// Start returns a server that listens on a port of 127.0.0.1: real sockets, so
// a reset is RST, and time is real. It panics if it cannot listen.
func Start(cfg Config) *Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("mockserver: cannot listen on 127.0.0.1: " + err.Error())
	}
	s := New(cfg)
	addr := listener.Addr().String()
	var dialer net.Dialer
	s.serve(listener, addr, func(ctx context.Context) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", addr)
	})
	return s
}

// Memory returns a server on a network in memory, for fast tests and for
// testing/synctest: call it inside the bubble, and Close before the bubble
// ends. A reset shows as ECONNRESET and a close as EOF, as on TCP, but bytes
// in flight are never lost with the connection, and there are no time-outs,
// half-open connections or system limits to meet.
func Memory(cfg Config) *Server {
	s := New(cfg)
	network := newMemoryNet()
	s.serve(network, hostName, network.dial)
	return s
}

func (s *Server) serve(listener net.Listener, host string, dial func(context.Context) (net.Conn, error)) {
	s.dial = dial
	s.URL = "http://" + host
	protocols := &http.Protocols{}
	protocols.SetHTTP1(!s.cfg.HTTP2)
	protocols.SetUnencryptedHTTP2(s.cfg.HTTP2)
	if s.cfg.TLS {
		s.URL = "https://" + host
		var server *tls.Config
		server, s.roots = newTLS(s.cfg.HTTP2)
		listener = tls.NewListener(listener, server)
	}
	// The listener does TLS, and http.Server sees what is inside: so frames can
	// be changed on both.
	listener = &countingListener{listener, s}
	errorLog := s.cfg.ErrorLog
	if errorLog == nil {
		errorLog = log.New(io.Discard, "", 0)
	}
	s.handler = &http.Server{
		Handler:   s,
		Protocols: protocols,
		ErrorLog:  errorLog,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ConnState: func(conn net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.serving.Add(1)
				if closed := s.track(conn); closed {
					_ = conn.Close() // accepted too late for http.Server.Close to know it
				}
			case http.StateClosed, http.StateHijacked:
				s.untrack(conn)
				s.serving.Done()
			}
		},
	}
	s.client = &http.Client{Transport: s.Transport()}
	s.serving.Go(func() { _ = s.handler.Serve(listener) }) // returns when closed
}

// A serverConn is a connection as the server has it.
type serverConn struct {
	net.Conn
	number int
	life   *life        // the process that accepted it
	frames *frameWriter // nil for HTTP/1
}

func (c *serverConn) Write(b []byte) (int, error) {
	if c.frames == nil {
		return c.Conn.Write(b)
	}
	return c.frames.write(c.Conn, b)
}

// NetConn is what lies below.
func (c *serverConn) NetConn() net.Conn { return c.Conn }

type connKey struct{}

func connOf(r *http.Request) *serverConn {
	c, _ := r.Context().Value(connKey{}).(*serverConn)
	return c
}

type countingListener struct {
	net.Listener
	s *Server
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.conns++
	c := &serverConn{Conn: conn, number: l.s.conns, life: l.s.life}
	if l.s.cfg.HTTP2 {
		c.frames = &frameWriter{}
	}
	return c, nil
}

// Transport returns a new transport that reaches this server whatever host the
// URL names. Without [Config].TLS it answers to https too, with no TLS in it,
// except over HTTP/2. Connections are kept alive. It panics for a server made
// by [New].
func (s *Server) Transport() *http.Transport {
	if s.dial == nil {
		panic("mockserver: a server made by New has no transport; use Start or Memory")
	}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := s.dialOnce(ctx)
		if err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: memoryAddr(addr), Err: err}
		}
		return conn, nil
	}
	t := &http.Transport{DialContext: dial, Protocols: &http.Protocols{}}
	t.Protocols.SetHTTP1(!s.cfg.HTTP2)
	if s.cfg.TLS {
		t.TLSClientConfig = s.roots.Clone()
		t.Protocols.SetHTTP2(s.cfg.HTTP2)
	} else {
		t.DialTLSContext = dial
		t.Protocols.SetUnencryptedHTTP2(s.cfg.HTTP2)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transports = append(s.transports, t)
	return t
}

// Client returns the server's own client, over one transport as [Server.Transport]
// makes them.
func (s *Server) Client() *http.Client {
	if s.client == nil {
		panic("mockserver: a server made by New has no client; use Start or Memory")
	}
	return s.client
}

// RefuseDials makes the server's transports refuse the next n connections, all
// if n is negative, as a closed port does: nothing was sent.
func (s *Server) RefuseDials(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = n
}

func (s *Server) dialOnce(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	refused := s.refuse != 0
	if s.refuse > 0 {
		s.refuse--
	}
	s.mu.Unlock()
	if refused {
		return nil, syscall.ECONNREFUSED
	}
	conn, err := s.dial(ctx)
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err // the transport's dial wraps it again
	}
	return conn, err
}
