//go:build unix

package kill

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/scratch"
	"github.com/oncehttp/oncehttp/torture/tally"
)

// A randomCase is a world in which client and server are killed at random
// moments, in turn. It is the seed; what a process does at a moment is not
// repeated by it, but the faults, the actions and the delays are. With an odd
// seed the server is a process of its own; with an even one it is a mock server,
// which fails in more ways, and whose crash is [mockserver.Server.Crash].
type randomCase uint64

// killsInWorld is how often something is killed in a random world.
const killsInWorld = 10

func (c randomCase) String() string { return fmt.Sprintf("random/%d", uint64(c)) }

func (c randomCase) rng() *rand.Rand { return rand.New(rand.NewPCG(uint64(c), 1)) }

func (c randomCase) world() (*world, error) {
	if c%2 == 1 {
		return newWorld()
	}
	return newMockWorld(c.rng())
}

func (c randomCase) in(w *world) error {
	rng := c.rng()
	if w.mock == nil {
		if err := w.startServer(job{}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(w.Dir+"/journal", 0o700); err != nil {
		return err
	}
	var client *process
	var err error
	for life := range killsInWorld {
		if client == nil {
			if client, err = w.startClient(job{Role: roleWorker, Life: life, Seed: rng.Uint64()}); err != nil {
				return err
			}
			if rng.IntN(4) > 0 { // else it may still be opening the journal
				if err := wait(client.first, client.heard); err != nil {
					w.broken(tally.Panics, "a client does not open its journal: %v", err)
					client.kill()
					return err
				}
			}
		}
		time.Sleep(time.Duration(rng.IntN(30_000)) * time.Microsecond)
		kills := []who{theClient, theClient, theServer, both}[rng.IntN(4)]
		if kills != theServer {
			err := w.kill(client)
			client = nil
			if err != nil {
				return err
			}
		}
		if kills != theClient {
			if err := w.killServer(); err != nil {
				return err
			}
		}
		if client == nil && rng.IntN(3) == 0 {
			if err := w.look(); err != nil {
				return err
			}
		}
	}
	if client != nil {
		if err := w.kill(client); err != nil {
			return err
		}
	}
	if err := w.look(); err != nil {
		return err
	}
	return w.settle()
}

// killServer kills the server and starts it again at once.
func (w *world) killServer() error {
	if w.mock != nil {
		w.mock.Crash()
		w.mock.Reconcile()
		return nil
	}
	if err := w.kill(w.server); err != nil {
		return err
	}
	return w.startServer(job{})
}

// newMockWorld has its server in this process.
func newMockWorld(rng *rand.Rand) (*world, error) {
	dir, err := scratch.Dir()
	if err != nil {
		return nil, err
	}
	w := &world{job: job{Dir: dir}}
	w.init()
	w.mock = mockserver.Start(mockserver.Config{
		Work: time.Duration(rng.IntN(1000)) * time.Microsecond,
		Execute: func(r *http.Request) mockserver.Answer {
			if strings.HasPrefix(r.URL.Path, "/refuse/") {
				return mockserver.Answer{Status: http.StatusPaymentRequired, Body: `{"code":"declined"}`}
			}
			return mockserver.Answer{Status: http.StatusCreated, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"ok":true}`}
		},
		// In progress, without the second's wait that it asks for by default.
		Profile: mockserver.Profile{InFlight: mockserver.Answer{Status: http.StatusConflict, Body: `{"code":"idempotency_in_progress"}`}},
	})
	w.URL = w.mock.URL
	w.ledger = mockLedger{w.mock}
	faults := make([]mockserver.Fault, 4_000)
	for i := range faults {
		f := &faults[i]
		switch rng.IntN(16) {
		case 0, 1, 2:
			*f = mockserver.Lost()
		case 3:
			*f = mockserver.Fault{See: mockserver.SeeReset}
		case 4:
			*f = mockserver.Fault{See: mockserver.SeeTruncated, Keep: rng.IntN(8)}
		case 5:
			*f = mockserver.Gateway(http.StatusBadGateway).Committed()
		default:
			f.After = time.Duration(rng.IntN(3)) * time.Millisecond
		}
		f.Before = time.Duration(rng.IntN(3)) * time.Millisecond
	}
	w.mock.Script(faults...)
	return w, nil
}
