package oncehttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
)

// WatchWrites wraps a function that dials, for [http.Transport]'s DialContext;
// nil stands for that of a zero [net.Dialer]. An attempt that got such a
// connection and failed before a byte of its request was written on it, is
// [NotSent]; without the wrapping nobody can tell, and it is [Unknown]: net/http
// reports a request as written while it is still in a buffer of its own. The
// bytes of a TLS handshake and of a proxy's CONNECT are not the request's. Over
// HTTP/2, where requests share a connection, it proves nothing. A client whose
// Config.Transport is nil dials so.
//
// What dial returns must tell honestly how much it wrote: a Write that returns 0
// and an error has sent nothing, and will not.
func WatchWrites(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(ctx context.Context, network, addr string) (net.Conn, error) {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &watchedConn{Conn: conn}, nil
	}
}

// A watchedConn knows what may have left by it.
type watchedConn struct {
	net.Conn

	mu sync.Mutex // guards what follows; not held during a write
	// left is how many bytes may have left. A write under way counts whole.
	left     int64
	shared   bool // HTTP/2 by prior knowledge
	notified bool // a TLS alert has left
	sealed   bool // no further byte leaves
}

var errEndedUnsent = &ownError{text: "the attempt that had this connection has ended unsent"}

func (c *watchedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.sealed {
		c.mu.Unlock()
		return 0, errEndedUnsent
	}
	c.shared = c.shared || c.left == 0 && bytes.HasPrefix(p, []byte("PRI * HTTP/2"))
	counts := int64(len(p))
	if !c.notified && isAlert(p) {
		c.notified, counts = true, 0
	}
	c.left += counts
	c.mu.Unlock()
	n, err := c.Conn.Write(p)
	if n == 0 && err != nil {
		c.mu.Lock()
		c.left -= counts
		c.mu.Unlock()
	}
	return n, err
}

// CloseWrite is for an upgraded connection, whose halves may end apart.
func (c *watchedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// isAlert: one TLS record of an alert, which closing a connection writes. TLS
// 1.3 hides the type of a record, not its length (RFC 8446 section 5.2): two
// bytes, their type, and a tag of 16, behind 5. No request is so short, and only
// one such record of a connection is taken for an alert.
func isAlert(p []byte) bool {
	const alert, hidden = 21, 23
	return len(p) > 5 && p[1] == 3 && len(p) == 5+int(p[3])<<8+int(p[4]) && (p[0] == alert || p[0] == hidden && len(p) == 24)
}

// A silence is a connection as an attempt got it.
type silence struct {
	conn *watchedConn // nil: not watched, or shared
	left int64
}

// silenceOf finds the watched connection below TLS, or below what a dial
// function has wrapped around it.
func silenceOf(conn net.Conn) silence {
	for {
		switch c := conn.(type) {
		case *watchedConn:
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.shared {
				return silence{}
			}
			return silence{c, c.left}
		case *tls.Conn:
			if c.ConnectionState().NegotiatedProtocol == "h2" {
				return silence{}
			}
		}
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return silence{}
		}
		conn = outer.NetConn()
	}
}

// seal says that nothing left since the silence began, and sees to it that
// nothing will: net/http may return while its writer has not begun.
func (s silence) seal() bool {
	if s.conn == nil {
		return false
	}
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.conn.left != s.left {
		return false
	}
	s.conn.sealed = true
	return true
}
