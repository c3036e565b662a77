package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oncehttp/oncehttp"
)

var cancels = comparison{
	name:  "cancel",
	claim: "A caller who gives up is let go at once, whatever the client is doing.",
	how: "The context is cancelled 0.15 s after the client has got so far; a cell is how much later the call returned. Dialing: the connection is never made. Writing: 16 MiB to a server that does not read. " +
		"Waiting: for an answer. Reading: an answer whose body stops. Between tries: the server answers 503. \"ended before\": the call was over. For oncehttp also what the journal says afterwards: an attempt that is under way goes on, so that giving up makes no unknown outcome.",
	heads: []string{"dialing", "writing", "waiting", "reading", "between tries"},
	run: func(scale) []row {
		all := append(peers(), ours())
		rows := make([]row, len(all))
		for i, p := range all {
			rows[i] = row{p.String(), make([]string, len(phases))}
			var together sync.WaitGroup
			for k, ph := range phases {
				together.Go(func() { rows[i].cells[k] = giveUp(p, ph).String() })
			}
			together.Wait()
		}
		return rows
	},
}

// A phase is what a client is kept in.
type phase string

const (
	dialing phase = "dialing"
	writing phase = "writing"
	waiting phase = "waiting"
	reading phase = "reading"
	between phase = "between tries"
)

var phases = []phase{dialing, writing, waiting, reading, between}

type release struct {
	after       time.Duration // the cancellation
	endedBefore bool
	outcome     *oncehttp.Outcome // ours, as the journal has it
	requests    int
}

func (r release) String() string {
	text := fmt.Sprintf("%d ms", r.after.Milliseconds())
	if r.endedBefore {
		text = "ended before"
	}
	if r.outcome != nil {
		text += ", " + r.outcome.State.String()
	}
	return text
}

// stuckServer keeps a client in a phase until stop is called.
// reached is called for each connection or request that it gets.
func stuckServer(ph phase, reached func()) (url string, stop func()) {
	if ph == writing {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		var mu sync.Mutex
		var conns []net.Conn
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				reached()
				mu.Lock()
				conns = append(conns, conn)
				mu.Unlock()
			}
		}()
		return "http://" + listener.Addr().String(), func() {
			listener.Close()
			mu.Lock()
			defer mu.Unlock()
			for _, conn := range conns {
				conn.Close()
			}
		}
	}
	stopped := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached()
		io.Copy(io.Discard, r.Body)
		switch ph {
		case waiting:
			<-stopped
		case reading:
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"ok":`)
			w.(http.Flusher).Flush()
			<-stopped
		case between:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	return server.URL, func() {
		close(stopped)
		server.CloseClientConnections()
		server.Close()
	}
}

func giveUp(p peer, ph phase) release {
	var requests atomic.Int64
	reached := make(chan struct{})
	reach := sync.OnceFunc(func() { close(reached) })
	url, stop := stuckServer(ph, func() {
		requests.Add(1)
		reach()
	})
	// Nobody is kept for more than five seconds.
	end := time.AfterFunc(5*time.Second, stop)
	defer func() {
		if end.Stop() {
			stop()
		}
	}()
	transport := ownTransport()
	defer transport.CloseIdleConnections()
	if ph == dialing {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			reach()
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
			}
			return nil, errors.New("no connection was made")
		}
	}
	body := []byte(`{}`)
	if ph == writing {
		body = make([]byte, 16<<20)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req := upload(ctx, http.MethodPost, url, body)

	var call func()
	var c *oncehttp.Client
	if p.name == ourName {
		var done func()
		c, done = openOurs(oncehttp.Config{MaxRequestBody: 1 << 30}, setup{base: transport})
		defer done()
		call = func() { _, _ = c.Do("order-1/charge", req) }
	} else {
		send, done := p.open(setup{base: transport})
		defer done()
		call = func() { _ = finish(send(req)) }
	}
	var cancelled atomic.Pointer[time.Time]
	go func() {
		select {
		case <-reached:
			time.Sleep(150 * time.Millisecond)
		case <-time.After(5 * time.Second):
		}
		now := time.Now()
		cancelled.Store(&now)
		cancel()
	}()
	call()
	var r release
	if at := cancelled.Load(); at != nil {
		r.after = time.Since(*at)
	} else {
		r.endedBefore = true
	}
	r.requests = int(requests.Load())
	if c != nil {
		o, err := c.Outcome(context.Background(), "order-1/charge")
		if err != nil {
			panic(err)
		}
		r.outcome = o
	}
	return r
}
