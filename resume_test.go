package oncehttp_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A dueJournal calls a hook before each due entry that it yields.
type dueJournal struct {
	oncehttp.Journal
	before func()
}

func (j *dueJournal) Due(ctx context.Context, by time.Time) iter.Seq2[oncehttp.Entry, error] {
	return func(yield func(oncehttp.Entry, error) bool) {
		for e, err := range j.Journal.Due(ctx, by) {
			j.before()
			if !yield(e, err) {
				return
			}
		}
	}
}

// A pass that ends while it takes a slot gives the slot back: else passes that
// come later wait for ever.
func TestPassesThatEndEarlyLeaveTheLaterOnesTheirSlots(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		_, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		require.NoError(b, b.c.Close())
		inner, err := oncehttp.OpenBolt(b.path, time.Second, nil)
		require.NoError(b, err)
		j := &dueJournal{Journal: inner, before: func() {}}
		c, err := oncehttp.New(j, b.cfg)
		require.NoError(b, err)
		defer c.Close()
		for range 50 { // which of two ready cases a select takes is chance
			ctx, cancel := context.WithCancel(b.Context())
			j.before = cancel
			for _, err := range c.Resume(ctx) {
				require.ErrorIs(b, err, context.Canceled)
			}
		}
		require.Empty(b, b.srv.Requests())
		j.before = func() {}
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		for o, err := range c.Resume(ctx) {
			require.NoError(b, err)
			assert.Equal(b, oncehttp.Confirmed, o.State)
		}
		assert.Len(b, b.srv.Requests(), 1)
	}, func(cfg *oncehttp.Config) { cfg.Concurrency = 2 })
}

// A caller who shares what the pass drives goes on with it alone.
// Begin is over when it returns: nobody drives what it has recorded.
func TestAPassRightAfterBeginTakesUpWhatWasBegun(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		_, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		require.Len(b, b.resume(), 1)
	}, func(cfg *oncehttp.Config) {
		cfg.OnEvent = func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventBegun {
				time.Sleep(time.Millisecond) // whoever need not wait for this goes ahead
			}
		}
	})
}

func TestBreakingOutOfResumeDoesNotWaitForACallersWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		busy := mockserver.Status(503).With("Retry-After", "20")
		busy.After = time.Millisecond // behind the other
		b.srv.ScriptPath("/slow", busy)
		slow := func() *http.Request { return b.request(http.MethodPost, "/slow", payment) }
		_, err := b.c.Begin("slow", slow())
		require.NoError(b, err)
		_, err = b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		var all sync.WaitGroup
		var ended time.Time
		for o, err := range b.c.Resume(b.Context()) {
			require.NoError(b, err)
			require.Equal(b, "pay-1", o.Action)
			all.Go(func() {
				o, err := b.c.Do("slow", slow())
				require.NoError(b, err)
				assert.Equal(b, 2, o.Attempts)
			})
			time.Sleep(time.Second)
			ended = time.Now()
			break
		}
		assert.Zero(b, time.Since(ended))
		all.Wait()
	}, func(cfg *oncehttp.Config) { cfg.Retry.MaxElapsed, cfg.Gate.Off = time.Hour, true })
}

// The bubble ends only when every goroutine has ended.
func TestAPanicInALoopOverResumeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for i := range 5 {
			_, err := b.c.Begin(fmt.Sprintf("pay-%d", i), b.pay())
			require.NoError(b, err)
		}
		require.PanicsWithValue(b, "enough", func() {
			for range b.c.Resume(b.Context()) {
				panic("enough")
			}
		})
		settled := b.srv.EffectsTotal()
		assert.Len(b, b.resume(), 5-settled)
		assert.Equal(b, 5, b.srv.EffectsTotal())
	})
}

func TestARecordThatCannotBeReadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for _, action := range []string{"pay-1", "pay-2"} {
			_, err := b.c.Begin(action, b.pay())
			require.NoError(b, err)
		}
		require.NoError(b, b.c.Close())
		j, err := oncehttp.OpenBolt(b.path, time.Second, nil)
		require.NoError(b, err)
		e, err := j.Find(b.Context(), "pay-1")
		require.NoError(b, err)
		e.Record = []byte("no record")
		require.NoError(b, j.Update(b.Context(), e))
		require.NoError(b, j.Close())

		b.open()
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		require.Equal(b, context.DeadlineExceeded, b.c.Run(ctx), "it goes on until its context ends")
		o, err := b.c.Outcome(b.Context(), "pay-2")
		require.NoError(b, err)
		require.Equal(b, oncehttp.Confirmed, o.State)
		var failed error
		for _, err := range b.c.Resume(b.Context()) {
			failed = err
		}
		require.ErrorIs(b, failed, oncehttp.ErrJournalCorrupt)
	})
}
