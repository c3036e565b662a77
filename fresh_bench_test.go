//go:build linux

package oncehttp_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// BenchmarkFresh measures what a connection of its own costs a request, on
// loopback: the round trips of a real network come on top, one for TCP and one
// for TLS 1.3.
//
//	go test -run '^$' -bench Fresh .
func BenchmarkFresh(b *testing.B) {
	for _, secure := range []bool{false, true} {
		var conns, resumed atomic.Int64
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.TLS != nil && r.TLS.DidResume {
				resumed.Add(1)
			}
			io.Copy(io.Discard, r.Body)
		}))
		srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				conns.Add(1)
			}
		}
		trust := &tls.Config{}
		if secure {
			srv.StartTLS()
			trust.RootCAs = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		} else {
			srv.Start()
		}
		b.Cleanup(srv.Close)
		resuming := trust.Clone()
		resuming.ClientSessionCache = tls.NewLRUClientSessionCache(0)
		for _, tt := range []struct {
			name      string
			transport *http.Transport
		}{
			{"kept alive", &http.Transport{TLSClientConfig: trust}},
			{"fresh", &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}},
			{"fresh, TLS resumed", &http.Transport{TLSClientConfig: resuming, DisableKeepAlives: true}},
		} {
			b.Run(fmt.Sprintf("TLS %v/%s", secure, tt.name), func(b *testing.B) {
				conns.Store(0)
				resumed.Store(0)
				b.ReportAllocs()
				before := cpuTime(b)
				for b.Loop() {
					trip(b, tt.transport, benchRequest(http.MethodPost, srv.URL, ""))
				}
				b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
				b.ReportMetric(float64(conns.Load())/float64(b.N), "conns/op")
				b.ReportMetric(float64(resumed.Load())/float64(b.N), "resumed/op")
				tt.transport.CloseIdleConnections()
			})
		}
	}
}
