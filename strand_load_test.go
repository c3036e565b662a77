package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// Everything that a program may do with a client at once, on a server and a
// journal that fail, with callers who leave at any time, until it is closed: the
// bubble ends only when every goroutine has ended, and fails when all wait.
func TestWhateverMeetsStrandsNobody(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for round := range 25 {
		chance := rand.New(rand.NewPCG(seed, uint64(round)))
		faults := []mockserver.Fault{{}, {}, {}, mockserver.Lost(), mockserver.Status(503), mockserver.Status(401), mockserver.Status(400),
			mockserver.Status(429).With("Retry-After", "2"), {See: mockserver.SeeNothing}}
		var faulty []mockserver.Fault
		for range 60 {
			faulty = append(faulty, faults[chance.IntN(len(faults))])
		}
		inBubble(t, mockserver.Config{Work: 20 * time.Millisecond, Script: faulty}, func(b *bench) {
			var failing atomic.Bool
			fail := func(oncehttp.Entry) error {
				if failing.Load() {
					return errFull
				}
				return nil
			}
			b.hook(&hookedJournal{create: fail, update: fail})
			var all sync.WaitGroup
			for i := range 24 {
				action := fmt.Sprintf("pay-%d", i%4)
				what, start := chance.IntN(8), time.Duration(chance.IntN(3000))*time.Millisecond
				patience := time.Duration(1+chance.IntN(4000)) * time.Millisecond
				all.Go(func() {
					time.Sleep(start)
					ctx, cancel := context.WithTimeout(b.Context(), patience)
					defer cancel()
					strain(b, ctx, what, action, &failing)
				})
			}
			if chance.IntN(2) == 0 {
				time.Sleep(time.Duration(chance.IntN(6000)) * time.Millisecond)
				failing.Store(chance.IntN(4) == 0)
				all.Go(func() {
					if err := b.c.Close(); err != nil {
						assert.ErrorIs(b, err, oncehttp.ErrJournal, "answers that it did not take")
					}
				})
			}
			all.Wait()
			ctx, cancel := context.WithTimeout(b.Context(), 3*time.Second)
			defer cancel()
			if err := b.c.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				require.ErrorIs(b, err, oncehttp.ErrJournal)
			}
		}, func(cfg *oncehttp.Config) {
			cfg.Concurrency = 2
			cfg.Authorize = func(*http.Request, bool) error { return nil }
			cfg.Lookup = func(context.Context, *oncehttp.Intent) (oncehttp.Finding, error) { return oncehttp.Finding{}, nil }
		})
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

func strain(b *bench, ctx context.Context, what int, action string, failing *atomic.Bool) {
	switch what {
	case 0, 1:
		o, err := b.c.Do(action, b.pay().WithContext(ctx))
		assert.False(b, err == nil && o.State == oncehttp.Pending)
	case 2:
		resp, err := (&http.Client{Transport: b.c, Timeout: time.Second}).Do(b.pay().WithContext(oncehttp.WithAction(ctx, action)))
		if err == nil {
			resp.Body.Close()
		}
	case 3:
		if in, err := b.c.Begin(action, b.pay().WithContext(ctx)); err == nil {
			_, _ = in.Do(ctx) // nobody may be stranded, whatever comes of it
		}
	case 4:
		for range b.c.Resume(ctx) {
			break
		}
	case 5:
		for o := range b.c.Resume(ctx) {
			if o != nil {
				_, _ = b.c.Do(o.Action, b.pay().WithContext(ctx))
			}
		}
	case 6:
		for in, err := range b.c.Pending(ctx) {
			if err == nil {
				_ = b.c.Resolve(ctx, in.Action(), oncehttp.Resolution{State: oncehttp.Confirmed, Force: true})
			}
		}
	case 7:
		failing.Store(true)
		time.Sleep(100 * time.Millisecond)
		failing.Store(false)
		err := b.c.Run(ctx)
		assert.True(b, errors.Is(err, context.DeadlineExceeded) || errors.Is(err, oncehttp.ErrClosed), "%v", err)
	}
}
