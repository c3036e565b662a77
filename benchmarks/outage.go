package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

var outage = comparison{
	name:  "outage",
	claim: "A server that is down is probed, not beaten: the load decays to one probe at a time.",
	how: "64 callers, each with 30 s for a call and 0.1 s between two, against a server that answers 503 to everything, without Retry-After. Requests are divided by calls begun. " +
		"A caller of oncehttp waits at the host's gate while its time allows, so it begins fewer calls; else it is told at once, Pending, when the next try may be.",
	heads: []string{"seconds", "calls begun", "requests", "requests a call", "requests a second at the end"},
	run: func(size scale) []row {
		lasts := map[scale]time.Duration{short: 2 * time.Second, usual: 10 * time.Second, long: time.Minute}[size]
		all := append(peers(), ours())
		rows := make([]row, len(all))
		var together sync.WaitGroup // most of them wait nearly all the time
		for i, p := range all {
			together.Go(func() {
				l := sufferOutage(p, lasts)
				rows[i] = row{p.String(), []string{fmt.Sprintf("%.0f", lasts.Seconds()), fmt.Sprint(l.calls), fmt.Sprint(l.requests),
					fmt.Sprintf("%.2f", l.perCall()), fmt.Sprintf("%.1f", l.atEnd)}}
			})
		}
		together.Wait()
		return rows
	},
}

type load struct {
	calls, requests int
	atEnd           float64 // requests a second in the last quarter
}

func (l load) perCall() float64 { return float64(l.requests) / float64(max(1, l.calls)) }

func sufferOutage(p peer, lasts time.Duration) load {
	var mu sync.Mutex
	var seen []time.Duration
	start := time.Now()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, time.Since(start))
		mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	transport := ownTransport()
	transport.MaxIdleConnsPerHost = 64
	defer transport.CloseIdleConnections()
	send, done := p.open(setup{base: transport})
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	time.AfterFunc(lasts, cancel)
	var calls atomic.Int64
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for ctx.Err() == nil {
				calls.Add(1)
				// Not the end of the outage, which no client knows.
				within, stop := context.WithTimeout(ctx, 30*time.Second)
				_ = finish(send(post(within, server.URL+"/charges", `{"amount":500}`)))
				stop()
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	callers.Wait()
	mu.Lock()
	defer mu.Unlock()
	seen = slices.DeleteFunc(seen, func(at time.Duration) bool { return at > lasts })
	last := slices.DeleteFunc(slices.Clone(seen), func(at time.Duration) bool { return at < lasts*3/4 })
	return load{int(calls.Load()), len(seen), float64(len(last)) / (lasts / 4).Seconds()}
}
