package main

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/PuerkitoBio/rehttp"
	"github.com/avast/retry-go/v5"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/cenkalti/backoff/v4"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/oncehttp/oncehttp"
)

var delays = comparison{
	name:  "delays",
	claim: "Clients that failed together do not come back together, not at the first retry and not at the longest wait.",
	how: "10,000 clients fail at the same moment, and go on failing. Each client's own delay function is called, with its defaults, no clock runs. \"First three\": the fullest 10 ms of all that " +
		"the first three retries send. \"12th retry\": the fullest 10 ms and the middle 90 % of that wait, where most have reached their cap. " +
		"The first figure is above all the length of the first interval: 50 ms in aws-sdk-go-v2, 200 ms here, 0.5 s in cenkalti/backoff; 1 s in rehttp was our choice. A longer one spreads better, and helps " +
		"a caller later. gax-go's delay is documented as full jitter, as ours.",
	heads: []string{"first three: fullest 10 ms", "12th retry: fullest 10 ms", "12th retry: 5 % to 95 %"},
	run: func(scale) []row {
		var rows []row
		for _, d := range delayed() {
			r := row{peer: d.String()}
			if d.client == nil {
				r.cells = []string{"n/a: " + d.why}
			} else {
				h := stampede(d, 10_000)
				r.cells = []string{fmt.Sprint(h.first), fmt.Sprint(h.atCap), fmt.Sprintf("%.1f s to %.1f s", h.from.Seconds(), h.to.Seconds())}
			}
			rows = append(rows, r)
		}
		return rows
	},
}

// A delaying peer has a delay function that can be called.
type delaying struct {
	peer
	// client returns the waits of a new client: of its n-th retry, from 0.
	client func() func(n int) time.Duration
	why    string // there is none
}

func delayed() []delaying {
	named := func(name, module string) peer { return peer{name: name, module: module} }
	same := func(wait func(n int) time.Duration) func() func(int) time.Duration {
		return func() func(int) time.Duration { return wait }
	}
	unseen := "its delay cannot be asked for without waiting it"
	return []delaying{
		{peer: named("go-retryablehttp", "github.com/hashicorp/go-retryablehttp"), client: same(func(n int) time.Duration {
			return retryablehttp.DefaultBackoff(time.Second, 30*time.Second, n, nil) // NewClient's own
		})},
		{peer: named("failsafehttp", "github.com/failsafe-go/failsafe-go"), client: same(failsafeWait())},
		{peer: named("rehttp", "github.com/PuerkitoBio/rehttp"), client: same(func(n int) time.Duration {
			return rehttpWait()(rehttp.Attempt{Index: n})
		})},
		{peer: named("heimdall", "github.com/gojek/heimdall/v7"), client: same(heimdallWait().Next)},
		{peer: named("resty", ""), why: unseen},
		{peer: named("retry-go", "github.com/avast/retry-go/v5"), client: same(func(n int) time.Duration {
			return retry.CombineDelay(retry.BackOffDelay, retry.RandomDelay)(uint(n), nil, retryGoDefaults{})
		})},
		{peer: named("cenkalti/backoff", "github.com/cenkalti/backoff/v4"), client: func() func(int) time.Duration {
			b := backoff.NewExponentialBackOff()
			return func(int) time.Duration { return b.NextBackOff() }
		}},
		{peer: named("aws-sdk-go-v2", "github.com/aws/aws-sdk-go-v2"), client: func() func(int) time.Duration {
			standard := awsretry.NewStandard()
			return func(n int) time.Duration {
				d, err := standard.RetryDelay(n+1, errStatus)
				if err != nil {
					panic(err)
				}
				return d
			}
		}},
		{peer: named("azcore", ""), why: unseen},
		{peer: named(ourName, ""), client: func() func(int) time.Duration {
			b := oncehttp.NewFullJitter(0, 0)
			return func(int) time.Duration { return b.NextBackOff() }
		}},
	}
}

// failsafeWait is what failsafehttp schedules without a Retry-After.
func failsafeWait() func(int) time.Duration {
	var waits []time.Duration
	policy := failsafehttp.NewRetryPolicyBuilder().OnRetryScheduled(func(e failsafe.ExecutionScheduledEvent[*http.Response]) {
		waits = append(waits, e.Delay)
	}).Build()
	_, _ = failsafe.With(policy).Get(func() (*http.Response, error) { return nil, errStatus })
	return func(n int) time.Duration { return waits[min(n, len(waits)-1)] }
}

// retryGoDefaults are the settings of retry.New.
type retryGoDefaults struct{}

func (retryGoDefaults) Delay() time.Duration     { return 100 * time.Millisecond }
func (retryGoDefaults) MaxJitter() time.Duration { return 100 * time.Millisecond }
func (retryGoDefaults) MaxBackOffN() uint        { return 36 }
func (retryGoDefaults) MaxDelay() time.Duration  { return 0 }

type herd struct {
	first, atCap int           // clients in the fullest 10 ms
	from, to     time.Duration // of the 12th wait
}

func stampede(d delaying, clients int) herd {
	first, atCap := map[time.Duration]int{}, map[time.Duration]int{}
	twelfth := make([]time.Duration, 0, clients)
	var h herd
	for range clients {
		wait := d.client()
		at := time.Duration(0)
		for n := range 12 {
			w := wait(n)
			at += w
			if n < 3 {
				slot := at / (10 * time.Millisecond)
				first[slot]++
				h.first = max(h.first, first[slot])
			}
			if n == 11 {
				slot := w / (10 * time.Millisecond)
				atCap[slot]++
				h.atCap = max(h.atCap, atCap[slot])
				twelfth = append(twelfth, w)
			}
		}
	}
	slices.Sort(twelfth)
	h.from, h.to = twelfth[clients/20], twelfth[clients-clients/20]
	return h
}
