package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/oncehttp/oncehttp"
)

const payment = `{"amount":500,"currency":"eur"}`

// A shape is a kind of request: how its repeat is protected, and whether it
// has a body.
type shape struct {
	protection string
	method     string
	body       bool
}

var shapes = []shape{
	{"keyed", http.MethodPost, true}, {"keyed", http.MethodPost, false},
	{"idempotent", http.MethodPut, true}, {"idempotent", http.MethodDelete, false},
	{"unprotected", http.MethodPost, true}, {"unprotected", http.MethodPost, false},
}

func (s shape) String() string {
	if s.body {
		return s.protection + " with a body"
	}
	return s.protection + " without"
}

// once: an attempt of unknown effect is not repeated.
func (s shape) once() bool { return s.protection == "unprotected" }

// told is what a caller is told at the end. The server saw as many sends as
// attempts; or, if any is set, at most as many, and if it saw none then none may
// be told.
type told struct {
	state      oncehttp.State
	reason     oncehttp.Reason
	may        bool
	attempts   int
	incomplete bool
	any        bool
}

// An expect says what is told of a shape.
type expect func(shape) told

const attempts = 4

// unknown: every attempt may have had an effect, and may be repeated only under
// protection.
func unknown(s shape) told {
	w := told{state: oncehttp.Pending, reason: oncehttp.Unknown, may: true, attempts: attempts}
	if s.once() {
		w.attempts = 1
	}
	return w
}

// perhapsSent is unknown where some attempt may not have got to the server.
func perhapsSent(s shape) told {
	w := unknown(s)
	w.any = true
	return w
}

func confirmed(shape) told { return told{state: oncehttp.Confirmed, attempts: 1} }

func rejected(shape) told {
	return told{state: oncehttp.Rejected, reason: oncehttp.Refused, attempts: 1}
}

// cutOff: a success whose body never comes whole, which a key may be asked for
// again.
func cutOff(s shape) told {
	w := told{state: oncehttp.Confirmed, attempts: 1, incomplete: true}
	if s.protection == "keyed" {
		w.attempts = attempts
	}
	return w
}

// tooLong: a success of which no more is kept, and which is not asked for again.
func tooLong(shape) told {
	return told{state: oncehttp.Confirmed, attempts: 1, incomplete: true}
}

// refused: the server's own word, seen by its type, that it did nothing (RFC
// 9113 section 8.7).
func refused(shape) told {
	return told{state: oncehttp.Pending, reason: oncehttp.NotSent, attempts: attempts}
}

// second: the first attempt proves nothing, and the second succeeds.
func second(s shape) told {
	if s.once() {
		return unknown(s)
	}
	return told{state: oncehttp.Confirmed, attempts: 2}
}

// hopeless: of unknown effect, and a repeat cannot help.
func hopeless(shape) told {
	return told{state: oncehttp.Pending, reason: oncehttp.Unknown, may: true, attempts: 1}
}

// withBody tells the shapes with a body from those without.
func withBody(with, without expect) expect {
	return func(s shape) told {
		if s.body {
			return with(s)
		}
		return without(s)
	}
}

// left is want, except that an attempt which may be made only once has no
// time-out of its own, so that its caller leaves without an answer.
func left(want expect) expect {
	return func(s shape) told {
		if s.once() {
			return unknown(s)
		}
		return want(s)
	}
}

// A call is one row's run, in one shape, by one transport.
type call struct {
	shape shape
	want  told
	body  string // of a shape with one; else payment
	base  http.RoundTripper
	url   string
	// timeout of an attempt, and of the caller who may make only one.
	timeout time.Duration
	header  http.Header
}

// timely is a time-out that nothing reaches, on a busy machine either; short is
// for silent servers, brief for those of which the header must come in time.
const (
	timely = time.Minute
	short  = 200 * time.Millisecond
	brief  = time.Second
)

// run makes the call, and holds what is told against the server's ledger.
func (c call) run(t *testing.T, s *server) {
	cfg := oncehttp.Config{Transport: c.base, MaxResponseBody: 64 << 10, Contracts: []oncehttp.Contract{}, Retry: oncehttp.Retry{
		MaxAttempts: attempts, Base: time.Millisecond, Cap: 2 * time.Millisecond, AttemptTimeout: c.timeout}}
	if c.shape.protection == "keyed" {
		cfg.Contracts = append(cfg.Contracts, oncehttp.IdempotencyKey("*", 24*time.Hour))
	}
	client, err := oncehttp.Open(filepath.Join(scratch(t), "intents.db"), cfg)
	require.NoError(t, err)
	defer client.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 3*timely)
	defer cancel()
	if c.shape.once() {
		go c.leave(ctx, cancel, s)
	}
	var body io.Reader
	if c.shape.body {
		body = strings.NewReader(c.body)
	}
	req, err := http.NewRequestWithContext(ctx, c.shape.method, c.url+"/payments", body)
	require.NoError(t, err)
	for name, values := range c.header {
		req.Header[name] = values
	}
	began := time.Now()
	o, err := client.Do("order-42/charge", req)
	elapsed := time.Since(began)

	require.NotNil(t, o, "%v", err)
	if o.State == oncehttp.Pending {
		require.ErrorAs(t, err, new(*oncehttp.PendingError))
	} else {
		require.NoError(t, err)
	}
	got := told{o.State, o.Reason, o.MayHaveExecuted, o.Attempts, o.Response != nil && o.Response.BodyIncomplete, c.want.any}
	if unreached := got.any && got.reason == oncehttp.NotSent && !got.may; unreached {
		got.reason, got.may = oncehttp.Unknown, true // judged below, by the ledger
	}
	if got.any {
		got.attempts = min(got.attempts, c.want.attempts) // one that got no connection leaves the next free
	}
	assert.Equal(t, c.want, got, "last cause: %v", o.Err)
	assert.LessOrEqual(t, elapsed, time.Duration(o.Attempts)*c.timeout+timely)
	known, err := client.Outcome(t.Context(), "order-42/charge")
	require.NoError(t, err)
	assert.Equal(t, o.Attempts, known.Attempts)

	// What is still under way reaches the server, or not, before its connection
	// ends; then the ledger is complete.
	require.NoError(t, client.Close())
	assert.Eventually(t, func() bool {
		c.base.(interface{ CloseIdleConnections() }).CloseIdleConnections()
		return s.now().conns == 0
	}, timely, 2*time.Millisecond, "connections are left")
	saw := s.now()
	if c.want.any {
		assert.LessOrEqual(t, saw.heads, o.Attempts, "sends and attempts")
	} else {
		assert.Equal(t, o.Attempts, saw.heads, "sends and attempts")
	}
	if saw.heads > 0 {
		assert.Equal(t, []string{o.Key}, saw.keys, "one key on every attempt")
	}
	if saw.heads > 0 && o.State == oncehttp.Pending && c.want.reason != oncehttp.NotSent {
		assert.True(t, o.MayHaveExecuted, "the server has the request")
		assert.NotEqual(t, oncehttp.NotSent, o.Reason)
	}
	if o.State == oncehttp.Confirmed {
		assert.True(t, saw.succeeded, "the server wrote a success")
		assert.Equal(t, 2, o.Response.StatusCode/100)
	}
}

// leave cancels the call a time-out after the server has seen it: an attempt
// that is the only one has no time-out of its own.
func (c call) leave(ctx context.Context, cancel func(), s *server) {
	defer cancel()
	for deadline := time.Now().Add(10 * time.Second); s.now().heads == 0 && time.Now().Before(deadline) && ctx.Err() == nil; {
		time.Sleep(5 * time.Millisecond)
	}
	select {
	case <-ctx.Done():
	case <-time.After(c.timeout):
	}
}

// scratch is a directory in memory where there is one: what a sync costs is no
// matter here.
func scratch(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "oncehttp-wire-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A row is one way of an HTTP/2 server to behave.
type row struct {
	script
	want    expect
	idle    int    // connections, made before
	body    string // else payment
	timeout time.Duration
	ways    []string // else the table's
}

// ways of sending HTTP/2 that are in use.
var ways = []string{"net-http over TLS", "net-http in cleartext", "x-net"}

// headerLimit keeps floods short.
const headerLimit = 64 << 10

func transport(way string) (http.RoundTripper, string) {
	_, pool := identity()
	switch way {
	case "net-http over TLS":
		return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: headerLimit}, "https://"
	case "net-http in cleartext":
		base := &http.Transport{MaxResponseHeaderBytes: headerLimit, Protocols: new(http.Protocols)}
		base.Protocols.SetUnencryptedHTTP2(true)
		return base, "http://"
	}
	return &http2.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxHeaderListSize: headerLimit}, "https://"
}

// each runs every row in every shape, by these ways or the row's own.
func each(t *testing.T, ways []string, rows map[string]row) {
	t.Parallel()
	for name, r := range rows {
		use := r.ways
		if use == nil {
			use = ways
		}
		for _, way := range use {
			for _, sh := range shapes {
				t.Run(fmt.Sprintf("%s/%s/%s", name, way, sh), func(t *testing.T) {
					t.Parallel()
					base, scheme := transport(way)
					s := serveFrames(t, scheme == "https://", r.script)
					warm(t, s, base, scheme+s.addr, r.idle)
					c := call{shape: sh, want: r.want(sh), body: r.body, base: base, url: scheme + s.addr, timeout: r.timeout}
					if c.body == "" {
						c.body = payment
					}
					if c.timeout == 0 || c.want == confirmed(sh) {
						c.timeout = timely
					}
					c.want.any = c.want.any || c.timeout < timely // a busy machine may take as long to connect
					c.run(t, s)
				})
			}
		}
	}
}

// warm leaves idle connections behind: of HTTP/2 one, unless the server allows
// no more than one stream on each.
func warm(t *testing.T, s *server, base http.RoundTripper, url string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/warm", nil)
			if !assert.NoError(t, err) {
				return
			}
			resp, err := base.RoundTrip(req)
			if assert.NoError(t, err) {
				_, err = io.Copy(io.Discard, resp.Body)
				assert.NoError(t, errors.Join(err, resp.Body.Close()))
			}
		})
		select {
		case <-s.arrived:
		case <-time.After(timely):
			require.FailNow(t, "a connection was not made")
		}
	}
	close(s.release)
	all.Wait()
}

// abort ends a connection with a reset.
func abort(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
