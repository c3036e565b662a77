package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

var resends = comparison{
	name:  "resends",
	claim: "An attempt is one request on the wire. The server never gets more of them than the client counts.",
	how: "One POST with an Idempotency-Key, to a server that reads it, executes, and closes the connection, always. " +
		"Columns: executions of that one call with so many idle connections in the pool; then the requests of one call in half a second over HTTP/2 " +
		"where each is answered by GOAWAY (\"not processed\"). net/http itself sends a request again that has a key and a body that can be read again, " +
		"once for each idle connection: every client above it inherits that.",
	heads: []string{"tries it is set to", "0 idle", "1 idle", "10 idle", "100 idle", "GOAWAY in 0.5 s"},
	run: func(size scale) []row {
		return withPeers(func(p peer) row {
			cells := []string{tries[p.name]}
			for _, idle := range []int{0, 1, 10, 100} {
				cells = append(cells, fmt.Sprint(executions(p, idle).server))
			}
			return row{p.String(), append(cells, fmt.Sprint(goAways(p).server))}
		})
	},
}

// tries are how often each peer tries by its settings, as in peers.go.
var tries = map[string]string{
	"net/http": "1", "go-retryablehttp": "5", "failsafehttp": "3", "rehttp": "4", "heimdall": "4",
	"resty": "4", "retry-go": "4", "cenkalti/backoff": "4", "azcore": "4", ourName: "4",
}

// counts of one call: what the server got, and what oncehttp counted.
type counts struct{ server, client int }

func executions(p peer, idle int) counts {
	var executed atomic.Int64
	var broken atomic.Bool
	var gathered sync.WaitGroup
	gathered.Add(idle)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if !broken.Load() {
			gathered.Done()
			gathered.Wait() // so that each has a connection of its own
			return
		}
		executed.Add(1)
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	}))
	defer server.Close()
	transport := ownTransport()
	transport.MaxIdleConnsPerHost = max(idle, 2)
	defer transport.CloseIdleConnections()

	var warm sync.WaitGroup
	for range idle {
		warm.Go(func() {
			if err := finish((&http.Client{Transport: transport}).Get(server.URL)); err != nil {
				panic(err)
			}
		})
	}
	warm.Wait()
	time.Sleep(20 * time.Millisecond) // the last connections come back to the pool
	broken.Store(true)

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client := callKeyed(ctx, p, transport, server.URL+"/charges")
	return counts{int(executed.Load()), client}
}

func goAways(p peer) counts {
	server := mockserver.Start(mockserver.Config{HTTP2: true})
	defer server.Close()
	server.Script(mockserver.Fault{See: mockserver.SeeGoAway}.Always())
	transport := server.Transport()
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	client := callKeyed(ctx, p, transport, server.URL+"/charges")
	return counts{len(server.Requests()), client}
}

// callKeyed makes one call under a key, and returns the attempts if the peer
// is ours.
func callKeyed(ctx context.Context, p peer, base http.RoundTripper, url string) int {
	if p.name == ourName {
		c, done := openOurs(oncehttp.Config{}, setup{base: base, quick: true})
		defer done()
		o, _ := c.Do("order-1/charge", post(ctx, url, `{"amount":500}`))
		return o.Attempts
	}
	send, done := p.open(setup{base: base, quick: true})
	defer done()
	req := post(ctx, url, `{"amount":500}`)
	req.Header.Set("Idempotency-Key", uuid.NewString())
	_ = finish(send(req))
	return 0
}
