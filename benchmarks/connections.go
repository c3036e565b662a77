package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/oncehttp/oncehttp"
)

var certificates = comparison{
	name:  "certificates",
	claim: "A certificate that is not trusted is asked for once: it will not be better in a second.",
	how:   "One POST to an https server with a certificate of its own making. Connections that the server saw.",
	heads: []string{"connections"},
	run: func(scale) []row {
		return withPeers(func(p peer) row { return row{p.String(), []string{fmt.Sprint(handshakes(p))}} })
	},
}

func countNew(conns *atomic.Int64) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
}

func handshakes(p peer) int {
	var conns atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = countNew(&conns)
	server.StartTLS()
	defer server.Close()
	transport := ownTransport()
	defer transport.CloseIdleConnections()
	send, done := p.open(setup{base: transport, quick: true})
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_ = finish(send(post(ctx, server.URL, `{}`)))
	return int(conns.Load())
}

var layers = comparison{
	name:  "layers",
	claim: "A client above another does not multiply its tries.",
	how:   "A client whose transport is a second one of the same kind, as when an application retries above a library that does too. Requests of one call to a server that answers 503.",
	heads: []string{"alone", "two layers"},
	run: func(scale) []row {
		return withPeers(func(p peer) row {
			return row{p.String(), []string{fmt.Sprint(nested(p, 1)), fmt.Sprint(nested(p, 2))}}
		})
	},
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func nested(p peer, deep int) int {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		requests.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	transport := ownTransport()
	defer transport.CloseIdleConnections()
	var base http.RoundTripper = transport
	if deep == 2 {
		var done func()
		base, done = below(p, transport)
		defer done()
	}
	send, done := p.open(setup{base: base, quick: true})
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_ = finish(send(post(ctx, server.URL, `{}`)))
	return int(requests.Load())
}

// below makes a transport of a peer, of its client if it is none itself.
func below(p peer, transport http.RoundTripper) (http.RoundTripper, func()) {
	s := setup{base: transport, quick: true}
	switch {
	case p.name == ourName:
		return openOurs(oncehttp.Config{}, s)
	case p.wrap != nil:
		return p.wrap(s), nothing
	}
	send, done := p.open(s)
	return roundTripFunc(send), done
}
