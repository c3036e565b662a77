package mockserver

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Config of a [Server]. The zero value works. It is read once, by [New], [Start]
// or [Memory].
type Config struct {
	// Script is the first of what [Server.Script] appends.
	Script []Fault
	// Work is how long an execution takes; the effect happens at its end.
	// Default none.
	Work time.Duration
	// Execute makes the answer of an execution. A status below 400 of an unsafe
	// method is an effect. It is never called twice at once for one key, and
	// its request's context does not end when the client goes. Default: 201
	// with a JSON body that has an id of its own, 200 for safe methods.
	Execute func(*http.Request) Answer
	// Authenticate refuses a request with 401 when it returns an error. Default:
	// everybody is welcome. See [BearerToken].
	Authenticate func(*http.Request) error
	// Tenant is whose request it is: tenants do not see each other's keys.
	// Default: a digest of the Authorization header.
	Tenant func(*http.Request) string
	// Operation is the part of the API that a key is unique in. Default: there
	// is one, so that a key on another path is a mismatch.
	Operation func(*http.Request) string
	// What names the effect of a request, for [Server.EffectsOf]. Default: method
	// and path, as in "POST /payments".
	What func(*http.Request) string
	// Unkeyed are requests whose key is ignored: each one executes. Default none.
	Unkeyed func(*http.Request) bool
	// TTL is how long a key is remembered, from its first request. Default 24 h;
	// negative: for ever.
	TTL time.Duration
	// MaxKeys is how many keys are remembered; beyond it a new key gets 503
	// idempotency_store_full, and no effect. Default 100,000.
	MaxKeys int
	// MaxBody is the longest body of a request that is accepted, in bytes. Default
	// 64 MiB; a longer one gets 413.
	MaxBody int64
	// Profile is how the API words its answers.
	Profile Profile
	// ErrorLog of the HTTP server. Default: none.
	ErrorLog *log.Logger
}

// A Server is an HTTP API that honours idempotency keys, fails as scripted, and
// keeps a ledger. Every method may be called concurrently.
//
// The workflow of a request is: authenticate, check the key, compare the
// payload, claim the key, execute, store the answer, answer. A repeat gets the
// stored answer byte for byte, with the marker Idempotent-Replayed: true; 409
// idempotency_in_progress while the first request runs; 422
// idempotency_key_mismatch with another payload, running or not. A key that
// comes twice, holds a comma or is empty gets 400 invalid_idempotency_key. Safe
// methods make no effect. Without a key every request executes. Work goes on
// when the client has gone.
type Server struct {
	// URL to send requests to, without a slash at the end. Empty unless the server
	// was made by [Start] or [Memory].
	URL string

	cfg     Config
	handler *http.Server
	dial    func(context.Context) (net.Conn, error)
	client  *http.Client
	serving sync.WaitGroup // the accept loop and the connections
	done    chan struct{}  // closed by Close

	mu sync.Mutex
	// Guarded by mu.
	store      store
	scripts    scripts
	requests   []*Request
	effects    []Effect
	active     int           // requests being worked on
	idle       chan struct{} // closed when active gets to 0; nil if nobody waits
	conns      int
	refuse     int // dials to refuse; negative: all
	closed     bool
	transports []*http.Transport
}

// New returns a server that is only an [http.Handler], for a listener of yours.
func New(cfg Config) *Server {
	cfg.Profile = cfg.Profile.withDefaults()
	if cfg.TTL == 0 {
		cfg.TTL = 24 * time.Hour
	}
	if cfg.MaxKeys == 0 {
		cfg.MaxKeys = 100_000
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = 64 << 20
	}
	if cfg.Tenant == nil {
		cfg.Tenant = authorizationDigest
	}
	if cfg.Operation == nil {
		cfg.Operation = func(*http.Request) string { return "" }
	}
	if cfg.What == nil {
		cfg.What = func(r *http.Request) string { return r.Method + " " + r.URL.Path }
	}
	if cfg.Unkeyed == nil {
		cfg.Unkeyed = func(*http.Request) bool { return false }
	}
	return &Server{
		cfg:     cfg,
		done:    make(chan struct{}),
		store:   store{records: map[id]*record{}, max: cfg.MaxKeys, ttl: cfg.TTL},
		scripts: newScripts(cfg.Script),
	}
}

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
	s.serve(listener, "http://"+addr, func(ctx context.Context) (net.Conn, error) {
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
	s.serve(network, "http://mockserver.test", network.dial)
	return s
}

type connKey struct{}

func (s *Server) serve(listener net.Listener, url string, dial func(context.Context) (net.Conn, error)) {
	s.URL = url
	s.dial = dial
	errorLog := s.cfg.ErrorLog
	if errorLog == nil {
		errorLog = log.New(io.Discard, "", 0)
	}
	s.handler = &http.Server{
		Handler:  s,
		ErrorLog: errorLog,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.conns++
			return context.WithValue(ctx, connKey{}, s.conns)
		},
		ConnState: func(conn net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.serving.Add(1)
				select {
				case <-s.done: // accepted too late for http.Server.Close to know it
					_ = conn.Close()
				default:
				}
			case http.StateClosed, http.StateHijacked:
				s.serving.Done()
			}
		},
	}
	s.client = &http.Client{Transport: s.Transport()}
	s.serving.Go(func() { _ = s.handler.Serve(listener) }) // returns when closed
}

// Transport returns a new transport that reaches this server whatever host the
// URL names, by http and by https (there is no TLS in it). Connections are kept
// alive. It panics for a server made by [New].
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
	t := &http.Transport{DialContext: dial, DialTLSContext: dial}
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

// Close closes the listener and every connection, abandons work that has not
// made its effect yet, and waits for what was running. The ledger can still be
// read. A second Close does nothing.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	transports := s.transports
	s.mu.Unlock()

	close(s.done)
	if s.handler != nil {
		_ = s.handler.Close()
	}
	s.serving.Wait()
	_ = s.WaitIdle(context.Background()) // never ends early
	for _, t := range transports {
		t.CloseIdleConnections()
	}
}
