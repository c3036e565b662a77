package oncehttp_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestEveryEventOfAnIntentNamesIt(t *testing.T) {
	t.Parallel()
	var events []oncehttp.Event
	inBubble(t, script(mockserver.Status(503), mockserver.Status(429).With("Retry-After", "1")), func(b *bench) {
		o := b.do()
		require.Equal(b, oncehttp.Confirmed, o.State)
		var longest time.Duration
		for _, e := range events {
			switch e.Kind {
			case oncehttp.EventGateClosed, oncehttp.EventGateOpened:
				assert.NotEmpty(b, e.Host)
				continue
			case oncehttp.EventWaiting:
				longest = max(longest, e.Delay)
			}
			assert.Equal(b, o.Action, e.Action, e.Kind)
			assert.Len(b, e.KeyPrint, 8, e.Kind)
			assert.NotEmpty(b, e.Host, e.Kind)
			assert.NotEmpty(b, e.Contract, e.Kind)
		}
		assert.GreaterOrEqual(b, longest, time.Second)
	}, func(cfg *oncehttp.Config) { cfg.OnEvent = func(e oncehttp.Event) { events = append(events, e) } })
}

// A tardyJournal returns from a write long after it is durable.
type tardyJournal struct {
	oncehttp.Journal
	tardy func(oncehttp.Entry) time.Duration
}

func (j *tardyJournal) Update(ctx context.Context, e oncehttp.Entry) error {
	err := j.Journal.Update(ctx, e)
	time.Sleep(j.tardy(e))
	return err
}

func TestAWordDuringASaveIsToldOnce(t *testing.T) {
	t.Parallel()
	var settled, saves atomic.Int64
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		require.NoError(b, b.c.Close())
		inner, err := oncehttp.OpenBolt(b.path, time.Second, nil)
		require.NoError(b, err)
		b.c, err = oncehttp.New(&tardyJournal{inner, func(oncehttp.Entry) time.Duration {
			if saves.Add(1) == 1 { // the lost answer
				return time.Second
			}
			return 0
		}}, b.cfg)
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, b.c.Close()) })
		_, err = b.c.Begin("pay-2", b.pay())
		require.NoError(b, err)
		var all sync.WaitGroup
		all.Go(func() { assert.Equal(b, oncehttp.Confirmed, b.do().State) })
		time.Sleep(100 * time.Millisecond)
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", sayDone))
		all.Wait()
		assert.Equal(b, int64(1), settled.Load(), "events")
		_, err = b.c.Begin("pay-3", b.pay())
		require.NoError(b, err)
		_, err = b.c.Begin("pay-4", b.pay())
		require.ErrorIs(b, err, oncehttp.ErrTooMany)
	}, oneAttempt, func(cfg *oncehttp.Config) {
		cfg.MaxUnresolved = 2
		cfg.OnEvent = func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventSettled {
				settled.Add(1)
			}
		}
	})
}
