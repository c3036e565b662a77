package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"github.com/oncehttp/oncehttp"
)

var retryAfter = comparison{
	name:  "retry-after",
	claim: "No request comes sooner than the server asked, in each form of Retry-After (RFC 9110, 10.2.3), and no caller is held for a wait that does not fit its time.",
	how: "A 503 with the header, then success; the caller has 7 s. A cell is when the second request came, counted from the answer; bold where that is sooner than was asked. \"held\": the caller " +
		"waited until its time was over. \"returned\": without a second request, after so long. -5 and 1.5 are no valid values: any wait is right. Dates are three to four seconds ahead.",
	heads: []string{"3", "0", "-5", "1.5", "IMF date", "RFC 850 date", "asctime date", "120", "Unix time", "10000000000"},
	run: func(scale) []row {
		all := append(peers(), ours())
		rows := make([]row, len(all))
		var together sync.WaitGroup
		for i, p := range all {
			rows[i] = row{p.String(), make([]string, len(forms))}
			for k, f := range forms {
				together.Go(func() { rows[i].cells[k] = askToWait(p, f).String() })
			}
		}
		together.Wait()
		return rows
	},
}

// A form is a way to ask for a wait.
type form struct {
	value func(now time.Time) string
	// until is the soonest time for the next request; zero: any.
	until func(now time.Time) time.Time
}

func fixed(text string) form {
	return form{func(time.Time) string { return text }, func(now time.Time) time.Time {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds < 0 {
			return time.Time{}
		}
		return now.Add(time.Duration(min(seconds, 1<<32)) * time.Second)
	}}
}

func dated(layout string) form {
	at := func(now time.Time) time.Time { return now.Add(4 * time.Second).UTC().Truncate(time.Second) }
	return form{func(now time.Time) string { return at(now).Format(layout) }, at}
}

var forms = []form{
	fixed("3"), fixed("0"), fixed("-5"), fixed("1.5"),
	dated(http.TimeFormat), dated("Monday, 02-Jan-06 15:04:05 GMT"), dated(time.ANSIC), fixed("120"),
	{func(now time.Time) string { return fmt.Sprint(now.Unix()) }, func(now time.Time) time.Time { return now.Add(1 << 32 * time.Second) }},
	fixed("10000000000"),
}

// A reaction is what a client did about a Retry-After.
type reaction struct {
	again    bool              // a second request came
	gap      time.Duration     // after the answer
	early    bool              // sooner than asked
	returned time.Duration     // after the answer, the call
	held     bool              // until the caller's time was over
	outcome  *oncehttp.Outcome // ours, if it is Pending
}

func (r reaction) String() string {
	switch {
	case r.early:
		return fmt.Sprintf("**%.1f s**", r.gap.Seconds())
	case r.again:
		return fmt.Sprintf("%.1f s", r.gap.Seconds())
	case r.held:
		return "held"
	case r.outcome != nil:
		return fmt.Sprintf("Pending, %.1f s", r.returned.Seconds())
	}
	return fmt.Sprintf("returned, %.1f s", r.returned.Seconds())
}

func askToWait(p peer, f form) reaction {
	var mu sync.Mutex
	var answered, until time.Time
	var r reaction
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		switch {
		case answered.IsZero():
			answered, until = now, f.until(now)
			w.Header().Set("Retry-After", f.value(now))
			w.WriteHeader(http.StatusServiceUnavailable)
		case !r.again:
			r.again, r.gap = true, now.Sub(answered)
			r.early = now.Before(until)
		}
	}))
	defer server.Close()
	transport := ownTransport()
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 7*time.Second)
	defer cancel()
	var pending *oncehttp.PendingError
	if p.name == ourName {
		c, done := openOurs(oncehttp.Config{}, setup{base: transport})
		defer done()
		_, err := c.Do("order-1/charge", post(ctx, server.URL, `{}`))
		errors.As(err, &pending)
	} else {
		send, done := p.open(setup{base: transport})
		defer done()
		_ = finish(send(post(ctx, server.URL, `{}`)))
	}
	mu.Lock()
	defer mu.Unlock()
	r.returned, r.held = time.Since(answered), ctx.Err() != nil
	if pending != nil {
		r.outcome = pending.Outcome
	}
	return r
}
