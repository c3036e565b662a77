package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

var uploads = comparison{
	name:  "uploads",
	claim: "Every attempt carries the same bytes, also when the server answers before it has read them.",
	how: "8 MiB, five times, by HTTP/1 and HTTP/2. The server answers 503 after 64 KiB of the first two tries and then reads the third to its end. \"Whole\": its SHA-256 is that of what was sent; " +
		"\"cut\": a try after those arrived with fewer or other bytes, and was refused; \"failed\": the caller was told an error. A body's reader that one try still reads while the next one rewinds it " +
		"is a data race: Go's race detector reports it in this comparison for rehttp, heimdall and azcore.",
	heads: []string{"HTTP/1", "HTTP/2"},
	run: func(size scale) []row {
		n := 5
		if size == short {
			n = 1
		}
		return withPeers(func(p peer) row {
			return row{p.String(), []string{earlyAnswers(p, n, false).String(), earlyAnswers(p, n, true).String()}}
		})
	},
}

type arrived struct{ whole, cut, failed int }

func (a arrived) String() string {
	return fmt.Sprintf("%d whole, %d cut, %d failed", a.whole, a.cut, a.failed)
}

func earlyAnswers(p peer, n int, http2 bool) arrived {
	payload := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{1}).Read(payload)
	want := sha256.Sum256(payload)
	var all arrived
	for range n {
		var mu sync.Mutex
		tries, whole, cut := 0, 0, 0
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			tries++
			early := tries <= 2
			mu.Unlock()
			if early {
				io.CopyN(io.Discard, r.Body, 64<<10)
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			hash := sha256.New()
			_, err := io.Copy(hash, r.Body)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || [32]byte(hash.Sum(nil)) != want {
				cut++
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			whole++
		}))
		server.Config.Protocols = only(http2)
		server.Start()
		transport := ownTransport()
		transport.Protocols = only(http2)
		send, done := p.open(setup{base: transport, quick: true})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		resp, err := send(upload(ctx, http.MethodPost, server.URL, payload))
		status := 0
		if resp != nil {
			status = resp.StatusCode
		}
		if finish(resp, err) != nil || status != http.StatusOK {
			all.failed++
		}
		cancel()
		done()
		transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
		mu.Lock()
		all.whole += min(whole, 1)
		all.cut += cut
		mu.Unlock()
	}
	return all
}

func only(http2 bool) *http.Protocols {
	p := &http.Protocols{}
	p.SetHTTP1(!http2)
	p.SetUnencryptedHTTP2(http2)
	return p
}
