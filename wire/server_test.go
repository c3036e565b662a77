package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A ledger is what a server saw of the action's requests, from outside.
type ledger struct {
	mu        sync.Mutex
	heads     int // request headers
	whole     int // requests that came to their end
	keys      []string
	succeeded bool // a 2xx was written
	conns     int  // connections open now
	opened    int  // connections ever
}

// head counts a request's header, and says the how manieth it is.
func (l *ledger) head(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heads++
	if !slices.Contains(l.keys, key) {
		l.keys = append(l.keys, key)
	}
	return l.heads
}

func (l *ledger) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.whole++
}

func (l *ledger) success() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.succeeded = true
}

// A sight is a ledger at one moment.
type sight struct {
	heads, whole, conns, opened int
	keys                        []string
	succeeded                   bool
}

func (l *ledger) now() sight {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sight{l.heads, l.whole, l.conns, l.opened, slices.Clone(l.keys), l.succeeded}
}

// A server owns a listener and every connection of it; its end waits for all.
type server struct {
	ledger
	addr string
	// arrived gets a value for each request to /warm, which is answered once
	// release is closed: so idle connections are made, as many as wanted.
	arrived, release chan struct{}
}

// serve starts a server. Each connection is closed when handle returns, and
// all of them at the end of the test.
func serve(t testing.TB, secure *tls.Config, handle func(*server, net.Conn)) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{addr: listener.Addr().String(), arrived: make(chan struct{}), release: make(chan struct{})}
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			raw, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			s.opened++
			s.mu.Unlock()
			all.Go(func() {
				defer func() {
					raw.Close()
					s.mu.Lock()
					s.conns--
					s.mu.Unlock()
				}()
				gone := make(chan struct{})
				all.Go(func() {
					select {
					case <-stop:
						raw.Close()
					case <-gone:
					}
				})
				defer close(gone)
				conn := raw
				if secure != nil {
					tlsConn := tls.Server(raw, secure)
					if tlsConn.Handshake() != nil {
						return
					}
					conn = tlsConn
				}
				handle(s, conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		close(stop)
		all.Wait()
	})
	return s
}

// hangUp ends our side, so that what was written arrives, and lets the other
// side have ten seconds to end.
func hangUp(conn net.Conn) {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
}

// identity is a certificate for 127.0.0.1, and the pool that trusts it.
var identity = sync.OnceValues(func() (tls.Certificate, *x509.CertPool) {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: secret}, pool
})

func securedFor(protocols ...string) *tls.Config {
	cert, _ := identity()
	return &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: protocols}
}
