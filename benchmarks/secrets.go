package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/oncehttp/oncehttp"
)

var secrets = comparison{
	name:  "secrets",
	claim: "No credential is in an error's text or in a log line.",
	how: "A POST with a password in the URL, a key in the query and a token in a header, to a port that nobody listens on. What the error's text and the log, as the client writes it without " +
		"being asked for more, hold of them. net/http's Client wraps every error in one that prints the URL less its password; that no transport can prevent, and it holds for oncehttp below an http.Client too.",
	heads: []string{"error", "log"},
	run: func(scale) []row {
		rows := withPeers(func(p peer) row {
			text, logged := leaks(p)
			return row{p.String(), []string{text, logged}}
		})
		rows[len(rows)-1].peer = ourName + " below http.Client"
		text, logged := ourLeaks()
		return append(rows, row{ourName + ", Do", []string{text, logged}})
	},
}

var canaries = []struct{ what, text string }{
	{"password", "canary-password"}, {"query", "canary-query"}, {"header", "canary-header"},
}

// found names the canaries in a text.
func found(text string) string {
	var all []string
	for _, c := range canaries {
		if strings.Contains(text, c.text) {
			all = append(all, c.what)
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return "**" + strings.Join(all, ", ") + "**"
}

// silentURL is one with credentials, to a port that is closed.
func silentURL() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	return "http://user:canary-password@" + listener.Addr().String() + "/charges?api_key=canary-query"
}

// lockedBuffer is written to from many goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func leaks(p peer) (text, logged string) {
	var log lockedBuffer
	send, done := p.open(setup{base: ownTransport(), quick: true, log: &log})
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	req := post(ctx, silentURL(), `{}`)
	req.Header.Set("Authorization", "Bearer canary-header")
	err := finish(send(req))
	done()
	return found(err.Error()), found(log.String())
}

func ourLeaks() (text, logged string) {
	var log lockedBuffer
	c, done := openOurs(oncehttp.Config{}, setup{base: ownTransport(), quick: true, log: &log})
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	req := post(ctx, silentURL(), `{}`)
	req.Header.Set("Authorization", "Bearer canary-header")
	_, err := c.Do("order-1/charge", req)
	done()
	return found(err.Error()), found(log.String())
}
