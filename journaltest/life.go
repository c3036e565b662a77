package journaltest

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

var lifeRules = []rule{
	{"What was written is there when the journal is opened again", func(b *bench) {
		open := b.newEntry("pay", "key-1")
		open.Due = at(7)
		open.Request = bytes.Repeat([]byte("big "), 30_000)
		open = b.create(open)
		settled := b.create(b.newEntry("settled"))
		settled.Open, settled.Request, settled.Response = false, []byte{}, []byte("answer")
		settled = b.update(settled)
		gone := b.newEntry("gone")
		gone.Open = false
		gone = b.create(gone)
		require.NoError(b, b.j.Delete(b.Context(), gone.ID, gone.Revision))

		b.reopen()
		b.stored(open)
		b.stored(settled)
		require.True(b, bytes.Equal(open.Request, b.body(open, oncehttp.RequestBody)), "a body survives")
		require.Nil(b, b.body(settled, oncehttp.RequestBody), "a removed body stays removed")
		require.Equal(b, "answer", string(b.body(settled, oncehttp.ResponseBody)))
		for name, id := range map[string]oncehttp.Entry{"pay": open, "key-1": open, "settled": settled} {
			got, err := b.j.Find(b.Context(), name)
			require.NoError(b, err, "a name survives")
			require.Equal(b, id.ID, got.ID)
		}
		_, err := b.j.Find(b.Context(), "gone")
		require.ErrorIs(b, err, oncehttp.ErrNotFound, "a deleted entry stays deleted")
		require.Equal(b, ids(open), ids(b.due(at(7))...))
		require.Equal(b, ids(open), ids(b.allOpen()...))
		require.Equal(b, ids(settled), ids(b.settled(at(100))...))
		open.Record = []byte("after")
		b.stored(b.update(open))
	}},
	{"After Close every call is ErrClosed and Close is nil", func(b *bench) {
		e := b.create(b.newEntry("pay"))
		require.NoError(b, b.j.Close())
		require.NoError(b, b.j.Close(), "a second Close returns nil")
		_, err := b.j.Create(b.Context(), b.newEntry())
		require.ErrorIs(b, err, oncehttp.ErrClosed, "Create")
		require.ErrorIs(b, b.j.Update(b.Context(), e), oncehttp.ErrClosed, "Update")
		require.ErrorIs(b, b.j.Delete(b.Context(), e.ID, 1), oncehttp.ErrClosed, "Delete")
		_, err = b.j.Get(b.Context(), e.ID)
		require.ErrorIs(b, err, oncehttp.ErrClosed, "Get")
		_, err = b.j.Find(b.Context(), "pay")
		require.ErrorIs(b, err, oncehttp.ErrClosed, "Find")
		_, err = b.j.Body(b.Context(), e.ID, oncehttp.RequestBody)
		require.ErrorIs(b, err, oncehttp.ErrClosed, "Body")
		for name, seq := range map[string]func(func(oncehttp.Entry, error) bool){
			"Due":     b.j.Due(b.Context(), at(1)),
			"Open":    b.j.Open(b.Context()),
			"Settled": b.j.Settled(b.Context(), time.Time{}, at(1)),
		} {
			turns, err := drain(seq)
			require.ErrorIs(b, err, oncehttp.ErrClosed, name)
			require.Equal(b, 1, turns, "%s: the error is the last thing yielded", name)
		}
		b.reopen()
		b.stored(e)
	}},
	{"Close waits for the writes under way", func(b *bench) {
		const callers = 16
		var wait sync.WaitGroup
		written := make([][]oncehttp.Entry, callers)
		started := make(chan struct{}, callers)
		mine := make([][]oncehttp.Entry, callers)
		for i := range mine {
			for range 200 {
				mine[i] = append(mine[i], b.newEntry())
			}
		}
		for i := range callers {
			wait.Go(func() {
				for n, e := range mine[i] {
					_, err := b.j.Create(b.Context(), e)
					if n == 0 {
						started <- struct{}{}
					}
					if err != nil {
						if !errors.Is(err, oncehttp.ErrClosed) {
							b.Errorf("Create while the journal closes: want ErrClosed, got %v", err)
						}
						return
					}
					e.Revision = 1
					written[i] = append(written[i], e)
				}
			})
		}
		for range callers {
			<-started
		}
		require.NoError(b, b.j.Close())
		wait.Wait()
		b.reopen()
		for i := range written {
			require.NotEmpty(b, written[i])
			for n, e := range mine[i] {
				_, err := b.j.Get(b.Context(), e.ID)
				if n < len(written[i]) {
					require.NoError(b, err, "a Create that returned nil was stored")
				} else {
					require.ErrorIs(b, err, oncehttp.ErrNotFound, "a Create that was ErrClosed stored nothing")
				}
			}
		}
	}},
}
