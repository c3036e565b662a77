package contracts

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

const action = "order-42/charge"

// A world is one API that plays a contract, on a network in memory and in
// virtual time, and clients of it.
type world struct {
	t        *testing.T
	contract oncehttp.Contract
	sample   sample
	server   *mockserver.Server
	dir      string
}

// inWorld plays in a bubble. The contract's own hosts are used: the network in
// memory answers to every name.
func inWorld(t *testing.T, c oncehttp.Contract, cfg mockserver.Config, play func(w *world)) {
	t.Helper()
	inWorldWith(t, c, cfg, func(*mockserver.Profile) {}, play)
}

// inWorldWith plays an API that differs from the contract.
func inWorldWith(t *testing.T, c oncehttp.Contract, cfg mockserver.Config, change func(*mockserver.Profile), play func(w *world)) {
	t.Helper()
	if len(c.Match.Hosts) == 0 {
		c = On(c, "api.example.com")
	}
	dir := fastDir(t)
	synctest.Test(t, func(t *testing.T) {
		profile := profileOf(c)
		change(&profile)
		cfg.Profile = profile
		w := &world{t: t, contract: c, sample: sampleOf(c), server: mockserver.Memory(cfg), dir: dir}
		defer w.server.Close()
		play(w)
	})
}

// fastDir is a directory in memory where the system has one: the journal syncs
// often, and here nothing hangs on the disk.
func fastDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "contracts")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// steps doubles the pause, with no chance in it: 200 ms at first, 6 h at most.
type steps struct{ pause time.Duration }

func (s *steps) Reset() { s.pause = 200 * time.Millisecond }

func (s *steps) NextBackOff() time.Duration {
	pause := s.pause
	s.pause = min(2*s.pause, 6*hour)
	return pause
}

// open opens a client with a journal of the given name.
func (w *world) open(name string, change func(*oncehttp.Config)) *oncehttp.Client {
	cfg := oncehttp.Config{
		Transport: w.server.Transport(),
		Contracts: []oncehttp.Contract{w.contract},
		Plant:     true,
		Retry:     oncehttp.Retry{BackOff: func() backoff.BackOff { return &steps{200 * time.Millisecond} }},
		Gate:      oncehttp.Gate{Off: true}, // its probes come by chance
		Authorize: func(req *http.Request, _ bool) error {
			req.Header.Set("Authorization", credential)
			return nil
		},
	}
	if change != nil {
		change(&cfg)
	}
	client, err := oncehttp.Open(filepath.Join(w.dir, name), cfg)
	require.NoError(w.t, err)
	return client
}

func (w *world) request(key string) *http.Request {
	return w.sample.request(w.t.Context(), w.t, w.contract, key)
}

// do drives the action and returns what is known afterwards.
func (w *world) do(c *oncehttp.Client, req *http.Request) *oncehttp.Outcome {
	w.t.Helper()
	o, err := c.Do(action, req)
	var pending *oncehttp.PendingError
	if !errors.As(err, &pending) {
		require.NoError(w.t, err)
	}
	require.NotNil(w.t, o)
	return o
}

// run keeps taking up what is due, for so long or until the action settles.
func (w *world) run(c *oncehttp.Client, d time.Duration) *oncehttp.Outcome {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	for ctx.Err() == nil {
		for _, err := range c.Resume(ctx) {
			if ctx.Err() == nil {
				require.NoError(w.t, err)
			}
		}
		o, err := c.Outcome(w.t.Context(), action)
		require.NoError(w.t, err)
		if o.State != oncehttp.Pending {
			return o
		}
		pause := 10 * day // nothing is due by itself
		if !o.RetryAt.IsZero() {
			pause = max(time.Until(o.RetryAt), time.Second)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	o, err := c.Outcome(w.t.Context(), action)
	require.NoError(w.t, err)
	return o
}

// effects are those that stand in the API's ledger.
func (w *world) effects() int { return len(w.server.EffectLog()) }

// sent are the requests of actions that the API got, look-ups not counted.
func (w *world) sent() int {
	n := 0
	for _, r := range w.server.Requests() {
		if r.Method == w.sample.method {
			n++
		}
	}
	return n
}

// effectsOfOne: each item of a batch is an effect of its own.
func (w *world) effectsOfOne() int {
	if w.contract.Carrier.Kind == oncehttp.CarrierJSON && strings.Contains(w.contract.Carrier.Name, "*") {
		return 2
	}
	return 1
}
