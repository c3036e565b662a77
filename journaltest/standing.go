package journaltest

import (
	"bytes"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

var standingRules = []rule{
	{"A journal that was not copied is no copy", func(b *bench) {
		require.False(b, b.j.Standing().Copied, "a new journal is no copy")
		e := b.create(b.newEntry("pay"))
		b.reopen()
		require.False(b, b.j.Standing().Copied, "a journal that is opened again is no copy")
		b.stored(e)
	}},
	{"Standing has the time of the last write", func(b *bench) {
		require.False(b, b.j.Standing().Seen.After(time.Now()), "a new journal has seen no later time than now")
		before := time.Now().Round(0)
		e := b.create(b.newEntry())
		seen := b.j.Standing().Seen
		require.False(b, seen.Before(before), "Seen is not before the last write: %v, %v", seen, before)
		require.False(b, seen.After(time.Now()), "Seen is not after the last write: %v", seen)
		b.update(e)
		require.False(b, b.j.Standing().Seen.Before(seen), "Seen does not go back")
		require.NoError(b, b.j.Close())
		require.False(b, b.j.Standing().Seen.Before(seen), "Standing may be asked after Close")
		b.reopen()
		seen = b.j.Standing().Seen
		require.False(b, seen.Before(before.Add(-time.Second)), "Seen is kept, to a second: %v, %v", seen, before)
		require.False(b, seen.After(time.Now()), "Seen is not after the last write: %v", seen)
	}},
	{"Compact keeps every entry as it is", func(b *bench) {
		c, ok := b.j.(oncehttp.Compacter)
		if !ok {
			b.Skip("this journal is no Compacter")
		}
		require.ErrorIs(b, c.Compact(b.ended()), b.ended().Err(), "an ended context refuses Compact")
		open := b.newEntry("pay", "key-1")
		open.Due, open.Request = at(7), bytes.Repeat([]byte("big "), 30_000)
		open = b.create(open)
		settled := b.newEntry("settled")
		settled.Open, settled.Response = false, []byte("answer")
		settled = b.create(settled)
		gone := b.newEntry("gone")
		gone.Open = false
		gone = b.create(gone)
		require.NoError(b, b.j.Delete(b.Context(), gone.ID, gone.Revision))

		check := func() {
			b.Helper()
			b.stored(open)
			b.stored(settled)
			require.True(b, bytes.Equal(open.Request, b.body(open, oncehttp.RequestBody)), "a body is kept")
			require.Equal(b, "answer", string(b.body(settled, oncehttp.ResponseBody)))
			_, err := b.j.Find(b.Context(), "gone")
			require.ErrorIs(b, err, oncehttp.ErrNotFound)
			require.Equal(b, ids(open), ids(b.due(at(7))...))
			require.Equal(b, ids(settled), ids(b.settled(at(100))...))
			require.False(b, b.j.Standing().Copied, "a compacted journal is no copy")
		}
		require.NoError(b, c.Compact(b.Context()))
		check()
		open.Record = []byte("after")
		open = b.update(open)
		check()
		b.reopen()
		check()
		require.NoError(b, b.j.(oncehttp.Compacter).Compact(b.Context()))
		check()
		require.NoError(b, b.j.Close())
		require.ErrorIs(b, b.j.(oncehttp.Compacter).Compact(b.Context()), oncehttp.ErrClosed)
	}},
	{"Writes beside Compact are kept", func(b *bench) {
		c, ok := b.j.(oncehttp.Compacter)
		if !ok {
			b.Skip("this journal is no Compacter")
		}
		var wait sync.WaitGroup
		all := make([][]oncehttp.Entry, 8)
		for i := range all {
			for range 40 {
				all[i] = append(all[i], b.newEntry())
			}
		}
		for _, mine := range all {
			wait.Go(func() {
				for i, e := range mine {
					if _, err := b.j.Create(b.Context(), e); err != nil {
						b.Errorf("Create beside Compact: %v", err)
						return
					}
					if _, err := b.j.Get(b.Context(), mine[i/2].ID); err != nil {
						b.Errorf("Get beside Compact: %v", err)
					}
				}
			})
		}
		for range 5 {
			require.NoError(b, c.Compact(b.Context()))
		}
		wait.Wait()
		b.reopen()
		for _, mine := range all {
			for _, e := range mine {
				e.Revision = 1
				b.stored(e)
			}
		}
	}},
}
