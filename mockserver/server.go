package mockserver

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"sync"
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
	// method is an effect. It is never called twice at once for one key, unless
	// a lease ran out or the key was forgotten. Its request has the body whole,
	// and a context that does not end when the client goes. Default: 201 with a
	// JSON body that has an id of its own, 200 for safe methods.
	Execute func(*http.Request) Answer
	// Authenticate refuses a request with 401 when it returns an error. Default:
	// everybody is welcome. See [BearerToken].
	Authenticate func(*http.Request) error
	// Tenant is whose request it is: tenants do not see each other's keys.
	// Default: a digest of the Authorization header, unless [Profile].Scope says
	// otherwise. It must not read the body.
	Tenant func(*http.Request) string
	// Operation is the part of the API that a key is unique in. Default: there
	// is one, so that a key on another path is a mismatch.
	Operation func(*http.Request) string
	// What names the effect of a request, for [Server.EffectsOf]. Default: method
	// and path, as in "POST /payments".
	What func(*http.Request) string
	// Unkeyed are requests whose key is ignored: each one executes. Default none.
	Unkeyed func(*http.Request) bool
	// TTL is how long a key is remembered, from its first request. Default: what
	// the profile says, which is 24 h if it says nothing; negative: for ever.
	TTL time.Duration
	// MaxKeys is how many keys are remembered; beyond it a new key gets 503
	// idempotency_store_full, and no effect. Default 100,000.
	MaxKeys int
	// MaxBody is the longest body of a request that is accepted, in bytes. Default
	// 64 MiB; a longer one gets 413.
	MaxBody int64
	// Lease is how long an execution holds its key. A repeat after that takes the
	// key over and executes; the late first execution makes no effect. Default: as
	// long as it runs.
	Lease time.Duration
	// PerSecond is how many requests a second reach the workflow; the rest get 429
	// with Retry-After: 1. Default: no limit.
	PerSecond int
	// Lookup lets clients ask for effects. Default: they cannot.
	Lookup Lookup
	// Profile is how the API keeps and words its side of the bargain.
	Profile Profile
	// TLS serves https with a certificate of its own, which the server's
	// transports trust.
	TLS bool
	// HTTP2 serves HTTP/2 instead of HTTP/1, without TLS by prior knowledge. Both
	// apply to [Start] and [Memory].
	HTTP2 bool
	// ErrorLog of the HTTP server. Default: none.
	ErrorLog *log.Logger
}

// A Server is an HTTP API that honours idempotency keys, fails as scripted, and
// keeps a ledger. Every method may be called concurrently.
//
// The workflow of a request is: authenticate, check the key, compare the
// payload, claim the key, execute, store the answer, answer. Under the zero
// [Profile] a repeat gets the stored answer byte for byte, with the marker
// Idempotent-Replayed: true; 409 idempotency_in_progress while the first request
// runs; 422 idempotency_key_mismatch with another payload, running or not. A key
// that comes twice, holds a comma or is empty gets 400 invalid_idempotency_key.
// Safe methods make no effect. Without a key every request executes. Work goes on
// when the client has gone. The ledger keeps every request until the server is
// dropped.
type Server struct {
	// URL to send requests to, without a slash at the end. Empty unless the server
	// was made by [Start] or [Memory].
	URL string

	cfg     Config
	finds   []finding
	handler *http.Server
	dial    func(context.Context) (net.Conn, error)
	client  *http.Client
	roots   *tls.Config    // the client's side of TLS
	serving sync.WaitGroup // the accept loop and the connections

	mu sync.Mutex
	// Guarded by mu.
	life       *life
	store      store
	scripts    scripts
	requests   []*Request
	effects    []Effect
	rate       rate
	lookups    rate
	active     int           // requests being worked on
	idle       chan struct{} // closed when active gets to 0; nil if nobody waits
	behind     []*behind
	conns      int
	open       map[net.Conn]struct{}
	refuse     int // dials to refuse; negative: all
	transports []*http.Transport
}

// New returns a server that is only an [http.Handler], for a listener of yours.
// It panics, as [Start] and [Memory] do, if the profile cannot be played.
func New(cfg Config) *Server {
	if err := cfg.Profile.check(); err != nil {
		panic("mockserver: profile: " + err.Error())
	}
	cfg.Profile = cfg.Profile.withDefaults()
	setDefault(&cfg.TTL, cfg.Profile.TTL)
	setDefault(&cfg.MaxKeys, 100_000)
	setDefault(&cfg.MaxBody, 64<<20)
	if cfg.Tenant == nil {
		cfg.Tenant = authorizationDigest
		if cfg.Profile.Scope != nil {
			cfg.Tenant = func(*http.Request) string { return "" }
		}
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
		cfg:  cfg,
		life: &life{ended: make(chan struct{})},
		store: store{
			records: map[id]*record{}, max: cfg.MaxKeys, ttl: cfg.TTL, lease: cfg.Lease,
			fromStored: cfg.Profile.FromCompletion, overwrites: cfg.Profile.OnMismatch == MismatchOverwrites,
			// A stamp that is too old says by itself that the key has expired.
			keepExpired: cfg.Profile.Expired.Status != 0 && !cfg.Profile.FromStamp,
		},
		finds:   findingsOf(cfg.Profile.Finds),
		scripts: newScripts(cfg.Script),
		open:    map[net.Conn]struct{}{},
	}
}

// Close closes the listener and every connection, abandons work that has not
// made its effect yet, and waits for what was running. The ledger can still be
// read. A second Close does nothing.
func (s *Server) Close() {
	s.mu.Lock()
	if s.life.over() {
		s.mu.Unlock()
		return
	}
	transports := s.transports
	close(s.life.ended) // and no other begins
	s.mu.Unlock()

	if s.handler != nil {
		_ = s.handler.Close()
	}
	s.serving.Wait()
	_ = s.WaitIdle(context.Background()) // never ends early
	for _, t := range transports {
		t.CloseIdleConnections()
	}
}
