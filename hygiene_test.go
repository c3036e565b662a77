package oncehttp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// hygieneFaults keep time small.
var hygieneFaults = []mockserver.Fault{
	mockserver.Lost(), {See: mockserver.SeeReset}, {See: mockserver.SeeClose}, {Commit: true, See: mockserver.SeeClose},
	mockserver.Gateway(502).Committed(), mockserver.Gateway(503), mockserver.Gateway(504), mockserver.Status(500).Committed(),
	mockserver.Status(429).With("Retry-After", "0"), mockserver.Status(408), mockserver.Status(409), mockserver.Status(401),
	mockserver.Status(404), mockserver.Redirect(307, "/moved"), mockserver.Redirect(302, "/done"),
	{See: mockserver.SeeTruncated, Keep: 5}, {See: mockserver.SeeTruncated, Keep: 5, Framing: mockserver.FramingChunked},
	{See: mockserver.SeeTruncated, Keep: 5, Framing: mockserver.FramingClose}, {See: mockserver.SeeTruncated, Keep: 5, Gzip: true},
	{See: mockserver.SeeRaw, Body: "HTTP/1.1 20"}, {See: mockserver.SeeEarly, Status: 503}, {See: mockserver.SeeEndless},
	{Status: 503, See: mockserver.SeeEndless}, {Status: 503, Body: strings.Repeat("x", 200<<10)},
	{See: mockserver.SeeDrip, Every: time.Millisecond}, {Informational: []int{102, 103}},
	{Before: 5 * time.Millisecond}, {After: 5 * time.Millisecond}, {Commit: true, See: mockserver.SeeReset, Late: 5 * time.Millisecond},
}

// Every goroutine, answer body and connection is given back, whatever happens
// to three answers of ten. Where 10,000 calls take too long, under the race
// detector say, it makes fewer.
func TestUnderFaultsNothingIsLeftOpen(t *testing.T) {
	t.Parallel()
	calls, longest := 10_000, 15*time.Second
	if testing.Short() {
		calls = 500
	}
	const callers, connections, idle = 32, 16, 8
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	faults := make([]mockserver.Fault, 4*calls)
	for i := range faults {
		if chance.IntN(10) < 3 {
			faults[i] = hygieneFaults[chance.IntN(len(hygieneFaults))]
		}
	}

	begun := time.Now()
	label := pprof.Labels("hygiene", t.Name()) // inherited by every goroutine that is started within
	pprof.Do(t.Context(), label, func(ctx context.Context) {
		srv := mockserver.Start(mockserver.Config{Script: faults, Operation: func(r *http.Request) string { return r.Header.Get("X-Call") }})
		defer srv.Close()
		transport := srv.Transport()
		transport.MaxConnsPerHost, transport.MaxIdleConnsPerHost = connections, idle
		var sockets openCount
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &countedSocket{Conn: conn, closed: sockets.opened()}, nil
		}
		var bodies openCount
		c, err := oncehttp.Open(journalPath(t), oncehttp.Config{
			Transport: bodies.of(transport), MaxResponseBody: 16 << 10, Gate: oncehttp.Gate{Off: true},
			Retry:     oncehttp.Retry{Base: time.Millisecond, Cap: 4 * time.Millisecond, AttemptTimeout: 30 * time.Second},
			Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", time.Hour)},
		})
		require.NoError(t, err)
		var all sync.WaitGroup
		var next, settled, pending atomic.Int64
		for range callers {
			all.Go(func() {
				for i := next.Add(1); i <= int64(calls) && time.Since(begun) < longest; i = next.Add(1) {
					if callOfEveryKind(ctx, c, srv.URL, i) == nil {
						settled.Add(1)
					} else {
						pending.Add(1)
					}
				}
			})
		}
		all.Wait()
		t.Logf("%d calls in %v, %d of them answered; %d answers, %d connections, at most %d at a time",
			settled.Load()+pending.Load(), time.Since(begun).Round(time.Millisecond), settled.Load(), bodies.all.Load(), sockets.all.Load(), sockets.top.Load())
		assert.Less(t, time.Since(begun), longest+time.Minute)
		assert.Greater(t, settled.Load(), pending.Load(), "most calls get an answer")

		require.NoError(t, c.Close())
		soonTrue(t, "every body is closed", func() bool { return bodies.now.Load() == 0 })
		// net/http gives a connection's place away just before it closes it; without
		// the limit there would be as many as callers.
		assert.LessOrEqual(t, sockets.top.Load(), int64((connections+callers)/2))
		soonTrue(t, "only idle connections are left", func() bool { return sockets.now.Load() <= idle })
		transport.CloseIdleConnections()
		soonTrue(t, "no connection is left", func() bool { return sockets.now.Load() == 0 })
	})
	var stacks bytes.Buffer
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stacks.Reset()
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 1))
		if !strings.Contains(stacks.String(), `"hygiene":`) {
			return
		}
		if time.Now().After(deadline) {
			require.Fail(t, "goroutines are left", stacks.String())
		}
	}
}

// callOfEveryKind makes the i-th call, one of every kind in turn.
func callOfEveryKind(ctx context.Context, c *oncehttp.Client, url string, i int64) error {
	method, body := http.MethodPost, fmt.Sprintf(`{"n":%d}`, i)
	if i%4 == 3 {
		method, body = http.MethodGet, ""
	}
	req, err := http.NewRequestWithContext(ctx, method, url+"/payments", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Call", fmt.Sprint(i))
	if i%4 == 0 {
		_, err := c.Do(fmt.Sprintf("pay-%d", i), req)
		return err
	}
	resp, err := c.HTTPClient().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if i%4 == 1 {
		return nil // unread
	}
	if _, err := io.CopyN(io.Discard, resp.Body, 64<<10); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return nil
}

func soonTrue(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			require.Fail(t, "not so: "+what)
		}
	}
}

// An openCount counts what is opened and closed.
type openCount struct{ all, now, top atomic.Int64 }

// opened counts one more, until the function returned is called.
func (n *openCount) opened() func() {
	n.all.Add(1)
	now := n.now.Add(1)
	for top := n.top.Load(); now > top && !n.top.CompareAndSwap(top, now); top = n.top.Load() {
	}
	return sync.OnceFunc(func() { n.now.Add(-1) })
}

// of counts the bodies of a transport's answers.
func (n *openCount) of(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := base.RoundTrip(req)
		if err == nil {
			resp.Body = &watchedBody{ReadCloser: resp.Body, closed: n.opened()}
		}
		return resp, err
	})
}

type countedSocket struct {
	net.Conn
	closed func()
}

func (c *countedSocket) Close() error {
	defer c.closed()
	return c.Conn.Close()
}
