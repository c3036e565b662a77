package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oncehttp/oncehttp"
)

var hygiene = comparison{
	name:  "hygiene",
	claim: "Every answer's body is closed, a pool of one connection is enough, and what passes through is not copied.",
	how: "Two answers 503 of 200 KB, then a success: bodies opened and left open, new connections, and whether the call ends at all with MaxConnsPerHost 1 (in 3 s). " +
		"Then what an upload of 64 MiB allocates that succeeds at once, the server's share included. A PUT without an action passes through oncehttp; as an action " +
		"it is read into memory and written to the journal, so there is a limit (8 MiB by default): here oncehttp costs the most of all.",
	heads: []string{"bodies", "left open", "connections", "pool of one", "MiB allocated"},
	run: func(size scale) []row {
		mib := 64
		if size == short {
			mib = 16
		}
		rows := withPeers(func(p peer) row {
			b := bodies(p, 0)
			one := "ends"
			if bodies(p, 1).stuck {
				one = "**stuck**"
			}
			return row{p.String(), []string{fmt.Sprint(b.opened), fmt.Sprint(b.opened - b.closed), fmt.Sprint(b.connections), one, fmt.Sprintf("%.1f", allocated(p, mib))}}
		})
		last := &rows[len(rows)-1]
		last.cells[4] = fmt.Sprintf("PUT %s, action %.0f", last.cells[4], allocated(actionOfAnySize(), mib))
		return rows
	},
}

// actionOfAnySize is our client with every PUT an action.
func actionOfAnySize() peer {
	return peer{name: ourName, open: func(s setup) (sender, func()) {
		c, done := openOurs(oncehttp.Config{MaxRequestBody: 1 << 30}, s)
		return func(req *http.Request) (*http.Response, error) {
			return c.HTTPClient().Do(req.WithContext(oncehttp.WithAction(req.Context(), "upload-1")))
		}, done
	}}
}

type bodyCounts struct {
	opened, closed, connections int
	stuck                       bool
}

func bodies(p peer, maxConns int) bodyCounts {
	large := bytes.Repeat([]byte("x"), 200_000)
	var n, conns atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if n.Add(1) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write(large)
			return
		}
		io.WriteString(w, `{"ok":true}`)
	}))
	server.Config.ConnState = countNew(&conns)
	server.Start()
	defer server.Close()
	defer server.CloseClientConnections()
	transport := ownTransport()
	transport.MaxConnsPerHost = maxConns
	counted := &countingTransport{inner: transport}
	send, done := p.open(setup{base: counted, quick: true})
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := finish(send(post(ctx, server.URL, `{}`)))
	stuck := err != nil && ctx.Err() != nil
	done()
	return bodyCounts{int(counted.opened.Load()), int(counted.closed.Load()), int(conns.Load()), stuck}
}

// countingTransport counts the bodies of answers.
type countingTransport struct {
	inner          http.RoundTripper
	opened, closed atomic.Int64
}

func (t *countingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.inner.RoundTrip(req)
	if err == nil {
		t.opened.Add(1)
		resp.Body = &countedBody{ReadCloser: resp.Body, once: sync.OnceFunc(func() { t.closed.Add(1) })}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	once func()
}

func (b *countedBody) Close() error {
	b.once()
	return b.ReadCloser.Close()
}

// allocated is what one upload allocates, in MiB.
func allocated(p peer, mib int) float64 {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	}))
	defer server.Close()
	transport := ownTransport()
	defer transport.CloseIdleConnections()
	send, done := p.open(setup{base: transport, quick: true})
	defer done()
	payload := make([]byte, mib<<20)
	req := upload(context.Background(), http.MethodPut, server.URL, payload)
	req.Header.Set("Content-Type", "application/octet-stream")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if err := finish(send(req)); err != nil {
		panic(err)
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20)
}
