package journaltest

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

var readRules = []rule{
	{"Get and Find return the entry, and ErrNotFound if there is none", func(b *bench) {
		e := b.create(b.newEntry("pay", "key-1"))
		b.stored(e)
		for _, name := range e.Names {
			got, err := b.j.Find(b.Context(), name)
			require.NoError(b, err, "Find finds each name")
			b.same(e, got)
		}
		for _, name := range []string{"", "pa", "pay ", "PAY", "key-10"} {
			_, err := b.j.Find(b.Context(), name)
			require.ErrorIs(b, err, oncehttp.ErrNotFound, "a name is matched whole: %q", name)
		}
		_, err := b.j.Get(b.Context(), b.newEntry().ID)
		require.ErrorIs(b, err, oncehttp.ErrNotFound)
		_, err = b.j.Get(b.Context(), uuid.UUID{})
		require.ErrorIs(b, err, oncehttp.ErrNotFound)
	}},
	{"Names hold any bytes up to a kilobyte", func(b *bench) {
		names := []string{"ß/日本", "a", string(bytes.Repeat([]byte("n"), 1024)), "with space", "\x00\xff"}
		for _, name := range names {
			e := b.create(b.newEntry(name))
			got, err := b.j.Find(b.Context(), name)
			require.NoError(b, err)
			require.Equal(b, e.ID, got.ID)
		}
	}},
	{"Body of an entry without it is nil, of no entry ErrNotFound", func(b *bench) {
		e := b.create(b.newEntry())
		body, err := b.j.Body(b.Context(), e.ID, oncehttp.ResponseBody)
		require.NoError(b, err)
		require.Nil(b, body)
		_, err = b.j.Body(b.Context(), b.newEntry().ID, oncehttp.ResponseBody)
		require.ErrorIs(b, err, oncehttp.ErrNotFound)
	}},
	{"A read sees every write that returned before", func(b *bench) {
		var wait sync.WaitGroup
		for range 8 {
			e := b.newEntry()
			wait.Go(func() {
				if _, err := b.j.Create(b.Context(), e); err != nil {
					b.Errorf("Create: %v", err)
					return
				}
				e.Revision = 1
				for range 20 {
					if err := b.j.Update(b.Context(), e); err != nil {
						b.Errorf("Update: %v", err)
						return
					}
					e.Revision++
					got, err := b.j.Get(b.Context(), e.ID)
					if err != nil || got.Revision != e.Revision {
						b.Errorf("Get after Update to revision %d: revision %d, error %v", e.Revision, got.Revision, err)
						return
					}
				}
			})
		}
		wait.Wait()
	}},
	{"Due is kept to the microsecond and rounded up", func(b *bench) {
		for given, want := range map[time.Duration]time.Duration{
			0:                      0,
			1:                      time.Microsecond,
			999:                    time.Microsecond,
			time.Microsecond:       time.Microsecond,
			time.Microsecond + 1:   2 * time.Microsecond,
			time.Second - 1:        time.Second,
			1500 * time.Nanosecond: 2 * time.Microsecond,
		} {
			e := b.newEntry()
			e.Due = at(0).Add(given)
			e = b.create(e)
			e.Due = at(0).Add(want)
			b.stored(e)
		}
		old := b.newEntry()
		old.Due = time.Date(1931, 5, 6, 7, 8, 9, 1, time.UTC)
		old = b.create(old)
		old.Due = old.Due.Add(999)
		b.stored(old)
	}},
	{"What is returned belongs to the caller", func(b *bench) {
		e := b.create(b.newEntry("pay"))
		spoil := func(p []byte) {
			require.NotEmpty(b, p)
			p[0] = '#'
		}
		got, err := b.j.Get(b.Context(), e.ID)
		require.NoError(b, err)
		spoil(got.Record)
		got, err = b.j.Find(b.Context(), "pay")
		require.NoError(b, err)
		spoil(got.Record)
		got, err = b.j.Create(b.Context(), b.newEntry("pay"))
		require.ErrorIs(b, err, oncehttp.ErrExists)
		spoil(got.Record)
		for _, got := range b.allOpen() {
			spoil(got.Record)
		}
		spoil(b.body(e, oncehttp.RequestBody))
		b.stored(e)
		require.Equal(b, "request 1", string(b.body(e, oncehttp.RequestBody)), "Body returns a copy")
	}},
	{"What is passed in is not kept", func(b *bench) {
		e := b.newEntry("pay")
		e.Response = []byte("response")
		given := e
		given.Record, given.Request, given.Response = bytes.Clone(e.Record), bytes.Clone(e.Request), bytes.Clone(e.Response)
		given.Names = []string{"pay"}
		b.create(given)
		spoil := func() {
			for _, p := range [][]byte{given.Record, given.Request, given.Response} {
				clear(p)
			}
			given.Names[0] = "spoilt"
		}
		spoil()
		e.Revision = 1
		b.stored(e)
		require.Equal(b, "request 1", string(b.body(e, oncehttp.RequestBody)))
		require.Equal(b, "response", string(b.body(e, oncehttp.ResponseBody)))

		given = e
		given.Names = []string{"pay"}
		given.Record, given.Request, given.Response = []byte("second"), []byte("request 2"), []byte("answer 2")
		b.update(given)
		spoil()
		e.Revision, e.Record = 2, []byte("second")
		b.stored(e)
		require.Equal(b, "request 2", string(b.body(e, oncehttp.RequestBody)))
		require.Equal(b, "answer 2", string(b.body(e, oncehttp.ResponseBody)))
	}},
	{"Results stay as they were after later writes", func(b *bench) {
		e := b.newEntry()
		e.Record = bytes.Repeat([]byte("first"), 100)
		e = b.create(e)
		got, err := b.j.Get(b.Context(), e.ID)
		require.NoError(b, err)
		body := b.body(e, oncehttp.RequestBody)
		for range 200 { // enough to use pages of a file again, and to grow it
			other := b.newEntry()
			other.Request = bytes.Repeat([]byte("x"), 10_000)
			other.Open = false
			other = b.create(other)
			require.NoError(b, b.j.Delete(b.Context(), other.ID, other.Revision))
		}
		now := e
		now.Record, now.Request = []byte("second"), []byte("other request")
		b.update(now)
		b.same(e, got)
		require.Equal(b, "request 1", string(body))
	}},
	{"A context that has ended refuses a write or does it whole", func(b *bench) {
		e := b.newEntry("pay")
		_, err := b.j.Create(b.ended(), e)
		_, getErr := b.j.Get(b.Context(), e.ID)
		if err != nil {
			require.ErrorIs(b, err, context.Canceled, "the refusal is the context's error")
			require.ErrorIs(b, getErr, oncehttp.ErrNotFound, "what was refused was not written")
		} else {
			require.NoError(b, getErr, "what was not refused was written")
		}
		b.create(b.newEntry())
	}},
}
