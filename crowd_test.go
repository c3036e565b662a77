package oncehttp_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// isLong: the flag -long, which the tests within the package register.
func isLong() bool { return flag.Lookup("long").Value.String() == "true" }

// memoryPath is for a journal in memory, where there is a place for that: a test
// against a real clock does not measure the disk.
func memoryPath(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "oncehttp-crowd-")
	if err != nil {
		return journalPath(t)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "intents.db")
}

// A crowdEnd is how a crowd's call ended.
type crowdEnd struct {
	o    *oncehttp.Outcome
	err  error
	took time.Duration
}

// TestAnOutageOfAMinuteIsNeitherFeltByTheServerNorLosesAnything, on real
// sockets and a real clock. Without -long all times are a tenth.
func TestACrowdComesThroughARealOutage(t *testing.T) {
	t.Parallel()
	const callers = 64
	unit, drain := 100*time.Millisecond, time.Minute // a slow disk counts ten times as much
	if isLong() {
		unit, drain = time.Second, 90*time.Second
	}
	end := time.Now().Add(60 * unit)
	srv := mockserver.Start(failingUntil(end))
	defer srv.Close()
	transport := srv.Transport()
	defer transport.CloseIdleConnections()
	transport.MaxIdleConnsPerHost = callers
	c := open(t, memoryPath(t), oncehttp.Config{Transport: transport, Retry: oncehttp.Retry{
		Base: unit / 5, Cap: 20 * unit, MaxElapsed: 60 * unit, AttemptTimeout: 30 * unit,
	}})

	var all sync.WaitGroup
	var begun, shut, unrecorded atomic.Int64
	for i := range callers {
		all.Go(func() {
			time.Sleep(time.Duration(i) * unit / 20)
			for n := 0; time.Now().Before(end); n++ {
				ctx, cancel := context.WithTimeout(t.Context(), 10*unit)
				o, err := c.Do(fmt.Sprintf("pay-%d-%d", i, n), post(t, srv.URL+"/payments", payment).WithContext(ctx))
				cancel()
				begun.Add(1)
				if o == nil { // its time was up before it was recorded
					assert.ErrorIs(t, err, context.DeadlineExceeded)
					unrecorded.Add(1)
					continue
				}
				if errors.As(err, new(*oncehttp.PendingError)) && o.Reason == oncehttp.GateClosed {
					shut.Add(1)
				}
				time.Sleep(2 * unit)
			}
		})
	}
	time.Sleep(time.Until(end))
	during := len(srv.Requests())
	all.Wait()
	t.Logf("%d actions in an outage of %v, %d requests at the server (%.3f each), %d told that the gate is closed",
		begun.Load(), 60*unit, during, float64(during)/float64(begun.Load()), shut.Load())
	assert.Less(t, float64(during), 0.3*float64(begun.Load()))
	assert.Positive(t, shut.Load())

	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { assert.ErrorIs(t, c.Run(ctx), context.Canceled) })
	unsettled := func() (n int) {
		for _, err := range c.Pending(t.Context()) {
			require.NoError(t, err)
			n++
		}
		return n
	}
	for unsettled() > 0 && time.Since(end) < drain {
		time.Sleep(unit / 5)
	}
	t.Logf("drained %v after it, by %d requests", time.Since(end).Round(time.Millisecond), len(srv.Requests())-during)
	cancel()
	run.Wait()
	require.Zero(t, unsettled(), "drained")
	assert.EqualValues(t, begun.Load()-unrecorded.Load(), srv.EffectsTotal())
}

// Callers who loop against a dead host, as soon as they are told that they may,
// add next to nothing to what the host gets.
func TestCallersInALoopDoNotStormADeadHost(t *testing.T) {
	t.Parallel()
	const callers = 256
	dead := mockserver.Config{Execute: func(*http.Request) mockserver.Answer {
		return mockserver.Answer{Status: http.StatusServiceUnavailable}
	}}
	inBubble(t, dead, func(b *bench) {
		end := time.Now().Add(20 * time.Second)
		var calls atomic.Int64
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				for time.Now().Before(end) {
					ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
					o, err := b.c.Do(fmt.Sprintf("pay-%d", i), b.pay().WithContext(ctx))
					cancel()
					calls.Add(1)
					b.ruled(o, err)
					require.True(b, o.RetryAt.After(time.Now()), "a loop that waits for RetryAt does not spin")
					sleepUntil(o.RetryAt)
				}
			})
		}
		all.Wait()
		sent := len(b.srv.Requests())
		t.Logf("%d requests for %d calls in 20 s", sent, calls.Load())
		assert.Less(b, sent, int(calls.Load())/4, "the gate shuts for all, and one at a time probes")
	})
}

// One client serves a thousand at once, and counts for each of them alone.
func TestAThousandCallersShareOneClient(t *testing.T) {
	t.Parallel()
	const callers = 1000
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	srv.ScriptEachKey(mockserver.Status(503), mockserver.Lost())
	transport := srv.Transport()
	defer transport.CloseIdleConnections()
	transport.MaxConnsPerHost, transport.MaxIdleConnsPerHost = 64, 64
	retry := fast
	retry.AttemptTimeout = 30 * time.Second
	c := open(t, journalPath(t), oncehttp.Config{Transport: transport, Retry: retry, Gate: oncehttp.Gate{Off: true}})
	outcomes := make([]*oncehttp.Outcome, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			var err error
			outcomes[i], err = c.Do(fmt.Sprintf("pay-%d", i), post(t, srv.URL+"/payments", fmt.Sprintf(`{"n":%d}`, i)))
			assert.NoError(t, err)
		})
	}
	all.Wait()
	for _, o := range outcomes {
		require.Equal(t, oncehttp.Confirmed, o.State)
		require.Equal(t, 3, o.Attempts, "each counts its own attempts")
		require.Equal(t, 1, srv.Effects(o.Key))
	}
	require.Len(t, srv.Requests(), 3*callers)
}

// Nobody waits for what cannot come in time, and the connections stay.
func TestACrowdWhoseWaitDoesNotFitIsSentAwayAtOnce(t *testing.T) {
	t.Parallel()
	const callers = 64
	srv := mockserver.Start(script(asks(503, "100").Always()))
	defer srv.Close()
	transport := srv.Transport()
	defer transport.CloseIdleConnections()
	transport.MaxIdleConnsPerHost = callers
	retry := fast
	retry.MaxElapsed = 10 * time.Minute // so that the wait for the gate fits
	c := open(t, journalPath(t), oncehttp.Config{Transport: transport, Retry: retry})
	crowd := func(patience time.Duration, cancelled bool) (ends []crowdEnd) {
		ends = make([]crowdEnd, callers)
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if cancelled {
					time.AfterFunc(500*time.Millisecond, cancel)
				}
				begun := time.Now()
				o, err := c.Do(fmt.Sprintf("pay-%d-%v", i, cancelled), post(t, srv.URL+"/payments", payment).WithContext(ctx))
				ends[i] = crowdEnd{o, err, time.Since(begun)}
			})
		}
		all.Wait()
		return ends
	}
	begun := time.Now()
	for _, end := range crowd(80*time.Second, false) {
		require.ErrorAs(t, end.err, new(*oncehttp.PendingError))
		assert.Less(t, end.took, 40*time.Second)
		assert.False(t, end.o.RetryAt.Before(begun.Add(100*time.Second)), end.o)
	}
	sent := len(srv.Requests())
	for _, end := range crowd(5*time.Minute, true) {
		require.Equal(t, context.Canceled, end.err, "nothing was recorded or sent")
		assert.Less(t, end.took, 40*time.Second)
	}
	require.Len(t, srv.Requests(), sent, "who waits at the gate sends nothing")
	opened := 0
	for _, q := range srv.Requests() {
		opened = max(opened, q.Conn)
	}
	for range callers {
		resp, err := transport.RoundTrip(post(t, srv.URL+"/payments", payment))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	for _, q := range srv.Requests()[sent:] {
		require.LessOrEqual(t, q.Conn, opened, "who gave up closed no connection")
	}
}
