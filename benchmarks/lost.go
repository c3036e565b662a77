package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

var lostAnswers = comparison{
	name:  "lost",
	claim: "An action whose answer is lost takes effect once, and no caller is told \"failed\" of one that did.",
	how: "1,000 charges, three answers in ten lost after the effect (the connection is reset). \"No key\" is the client alone; for \"key\" the application makes one for each " +
		"charge and sets it, and the server honours it (net/http then sends again by itself: see resends). An error of another client is what its caller takes for a failure; oncehttp's says that the server may have acted, and is counted as pending.",
	heads: []string{"effects, no key", "charged twice or more", "\"failed\" but charged", "effects, key", "\"failed\" but charged", "pending"},
	run: func(size scale) []row {
		n := 1000
		if size == short {
			n = 200
		}
		return withPeers(func(p peer) row {
			if p.name == ourName {
				k := chargeOurs(n)
				return row{p.String(), []string{"n/a", "n/a", "n/a", fmt.Sprint(k.effects), fmt.Sprint(k.falseFailures), fmt.Sprintf("%d, after Resume %d", k.pending, k.left)}}
			}
			plain, keyed := charge(p, n, false), charge(p, n, true)
			return row{p.String(), []string{fmt.Sprint(plain.effects), fmt.Sprint(plain.repeated), fmt.Sprint(plain.falseFailures),
				fmt.Sprint(keyed.effects), fmt.Sprint(keyed.falseFailures), "0"}}
		})
	},
}

type charged struct {
	effects, repeated, falseFailures int
	pending, confirmed               int // by their calls
	left                             int // pending after one pass of Resume
}

// lossy is a server that loses so many answers, by a fixed seed.
func lossy() *mockserver.Server {
	server := mockserver.Start(mockserver.Config{})
	chance := rand.New(rand.NewPCG(1, 0))
	faults := make([]mockserver.Fault, 10_000)
	for i := range faults {
		if chance.IntN(10) < 3 {
			faults[i] = mockserver.Lost()
		}
	}
	server.Script(faults...)
	return server
}

// crowd calls do for 0 to n-1, 32 at a time.
func crowd(n int, do func(int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	all.Wait()
}

func charge(p peer, n int, keyed bool) charged {
	server := lossy()
	defer server.Close()
	transport := server.Transport()
	defer transport.CloseIdleConnections()
	send, done := p.open(setup{base: transport, quick: true})
	defer done()
	failed := make([]bool, n)
	crowd(n, func(i int) {
		req := post(context.Background(), server.URL+path(i), `{"amount":500}`)
		if keyed {
			req.Header.Set("Idempotency-Key", uuid.NewString())
		}
		failed[i] = finish(send(req)) != nil
	})
	return tally(server, failed)
}

func path(i int) string { return fmt.Sprintf("/charges/%d", i) }

func tally(server *mockserver.Server, failed []bool) charged {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := server.WaitIdle(ctx); err != nil {
		panic(err)
	}
	effects := map[string]int{}
	for _, e := range server.EffectLog() {
		effects[e.What]++
	}
	var c charged
	for i, bad := range failed {
		k := effects["POST "+path(i)]
		c.effects += k
		if k > 1 {
			c.repeated++
		}
		if bad && k > 0 {
			c.falseFailures++
		}
	}
	return c
}

func chargeOurs(n int) charged {
	server := lossy()
	defer server.Close()
	transport := server.Transport()
	defer transport.CloseIdleConnections()
	c, done := openOurs(oncehttp.Config{}, setup{base: transport, quick: true})
	defer done()
	failed := make([]bool, n)
	var pending, confirmed atomic.Int64
	crowd(n, func(i int) {
		o, err := c.Do(fmt.Sprintf("order-%d/charge", i), post(context.Background(), server.URL+path(i), `{"amount":500}`))
		switch {
		case errors.As(err, new(*oncehttp.PendingError)):
			pending.Add(1)
		case err != nil || o.State != oncehttp.Confirmed:
			failed[i] = true
		default:
			confirmed.Add(1)
		}
	})
	for _, err := range c.Resume(context.Background()) {
		if err != nil {
			panic(err)
		}
	}
	k := tally(server, failed)
	for range c.Pending(context.Background()) {
		k.left++
	}
	k.pending, k.confirmed = int(pending.Load()), int(confirmed.Load())
	return k
}
