package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

var writeRules = []rule{
	{"Create stores an entry with both bodies at revision 1", func(b *bench) {
		e := b.newEntry("pay", "key-1")
		e.Due, e.Response = at(100), []byte("response")
		got, err := b.j.Create(b.Context(), e)
		require.NoError(b, err)
		e.Revision = 1
		b.same(e, got)
		b.stored(e)
		require.Equal(b, "request 1", string(b.body(e, oncehttp.RequestBody)), "Create stores the request")
		require.Equal(b, "response", string(b.body(e, oncehttp.ResponseBody)), "Create stores the response")
	}},
	{"Create under a taken name stores nothing and returns the holder", func(b *bench) {
		holder := b.create(b.newEntry("pay", "key-1"))
		for _, names := range [][]string{{"pay"}, {"key-1"}, {"new", "key-1"}} {
			e := b.newEntry(names...)
			got, err := b.j.Create(b.Context(), e)
			require.ErrorIs(b, err, oncehttp.ErrExists, "a taken name refuses Create")
			b.same(holder, got)
			_, err = b.j.Get(b.Context(), e.ID)
			require.ErrorIs(b, err, oncehttp.ErrNotFound, "a refused Create stores no entry")
			_, err = b.j.Body(b.Context(), e.ID, oncehttp.RequestBody)
			require.ErrorIs(b, err, oncehttp.ErrNotFound, "a refused Create stores no body")
		}
		_, err := b.j.Find(b.Context(), "new")
		require.ErrorIs(b, err, oncehttp.ErrNotFound, "a refused Create takes none of its names")
		require.Len(b, b.allOpen(), 1, "a refused Create lists nothing")
		b.stored(holder)
		require.Equal(b, "request 1", string(b.body(holder, oncehttp.RequestBody)), "a refused Create leaves the holder's bodies")
	}},
	{"Create with a taken ID is ErrConflict whatever its names", func(b *bench) {
		held := b.create(b.newEntry("pay"))
		for _, names := range [][]string{nil, {"other"}, {"pay"}} {
			e := b.newEntry(names...)
			e.ID = held.ID
			_, err := b.j.Create(b.Context(), e)
			require.ErrorIs(b, err, oncehttp.ErrConflict, "an ID is used once")
		}
		b.stored(held)
		_, err := b.j.Find(b.Context(), "other")
		require.ErrorIs(b, err, oncehttp.ErrNotFound, "a refused Create takes no name")
	}},
	{"Entries without names do not meet", func(b *bench) {
		one, two := b.create(b.newEntry()), b.create(b.newEntry())
		b.stored(one)
		b.stored(two)
	}},
	{"Update replaces the entry and the revision grows by one", func(b *bench) {
		e := b.create(b.newEntry("pay"))
		for n := range 5 {
			e.Record = fmt.Appendf(nil, "rewritten %d", n)
			e.Open = n%2 == 1
			e.Due = at(n)
			e = b.update(e)
			b.stored(e)
		}
	}},
	{"Update at another revision is ErrConflict and changes nothing", func(b *bench) {
		e := b.update(b.create(b.newEntry("pay")))
		for _, revision := range []uint64{0, 1, 3} {
			stale := e
			stale.Revision, stale.Record, stale.Open = revision, []byte("stale"), false
			stale.Request, stale.Response = []byte("stale"), []byte("stale")
			require.ErrorIs(b, b.j.Update(b.Context(), stale), oncehttp.ErrConflict, "Update compares the revision")
		}
		b.stored(e)
		require.Equal(b, "request 1", string(b.body(e, oncehttp.RequestBody)), "a refused Update leaves the bodies")
		require.Empty(b, b.body(e, oncehttp.ResponseBody), "a refused Update leaves the bodies")
		require.Equal(b, ids(e), ids(b.allOpen()...), "a refused Update leaves the lists")
	}},
	{"Update of no entry is ErrNotFound and stores nothing", func(b *bench) {
		e := b.newEntry()
		require.ErrorIs(b, b.j.Update(b.Context(), e), oncehttp.ErrNotFound)
		_, err := b.j.Get(b.Context(), e.ID)
		require.ErrorIs(b, err, oncehttp.ErrNotFound, "Update never creates")
	}},
	{"Update never changes names", func(b *bench) {
		e := b.create(b.newEntry("pay"))
		e.Names = []string{"other"}
		e = b.update(e)
		_, err := b.j.Find(b.Context(), "other")
		require.ErrorIs(b, err, oncehttp.ErrNotFound, "Update gives no name")
		got, err := b.j.Find(b.Context(), "pay")
		require.NoError(b, err, "Update takes no name away")
		b.same(e, got)
	}},
	{"Update with a nil body leaves the stored one and with an empty one removes it", func(b *bench) {
		e := b.newEntry()
		e.Response = []byte("response")
		e = b.create(e)
		e.Request, e.Response = nil, nil
		e = b.update(e)
		require.Equal(b, "request 1", string(b.body(e, oncehttp.RequestBody)), "a nil request leaves the stored one")
		require.Equal(b, "response", string(b.body(e, oncehttp.ResponseBody)), "a nil response leaves the stored one")
		e.Request, e.Response = []byte{}, nil
		e = b.update(e)
		require.Nil(b, b.body(e, oncehttp.RequestBody), "an empty request removes the stored one")
		require.Equal(b, "response", string(b.body(e, oncehttp.ResponseBody)), "the other body stays")
		e.Request, e.Response = []byte("again"), []byte{}
		e = b.update(e)
		require.Equal(b, "again", string(b.body(e, oncehttp.RequestBody)), "a body may come back")
		require.Nil(b, b.body(e, oncehttp.ResponseBody), "an empty response removes the stored one")
	}},
	{"Bodies of every size come back whole", func(b *bench) {
		e := b.newEntry()
		e.Request = nil
		e = b.create(e)
		require.Nil(b, b.body(e, oncehttp.RequestBody), "an entry without a body gives nil")
		for _, size := range []int{1, 1024, 1025, 1024, 4095, 32 << 10, 32<<10 + 1, 100_000, 1 << 20, 3, 70_000} {
			e.Request = bytes.Repeat([]byte{byte(size), 'q', 0}, size/3+1)[:size]
			e.Response = bytes.Repeat([]byte{'r', byte(size)}, size/2+1)[:size]
			e = b.update(e)
			require.True(b, bytes.Equal(e.Request, b.body(e, oncehttp.RequestBody)), "a request of %d bytes over another size", size)
			require.True(b, bytes.Equal(e.Response, b.body(e, oncehttp.ResponseBody)), "a response of %d bytes over another size", size)
		}
	}},
	{"Delete removes an entry with its names and bodies", func(b *bench) {
		e := b.create(b.newEntry("pay", "key-1"))
		e.Open, e.Response = false, []byte("response")
		e = b.update(e)
		require.NoError(b, b.j.Delete(b.Context(), e.ID, e.Revision))
		_, err := b.j.Get(b.Context(), e.ID)
		require.ErrorIs(b, err, oncehttp.ErrNotFound)
		_, err = b.j.Body(b.Context(), e.ID, oncehttp.ResponseBody)
		require.ErrorIs(b, err, oncehttp.ErrNotFound, "no entry is ErrNotFound for Body")
		require.Empty(b, b.settled(at(1000)), "a deleted entry is not listed")
		for _, name := range e.Names {
			_, err = b.j.Find(b.Context(), name)
			require.ErrorIs(b, err, oncehttp.ErrNotFound, "a deleted entry holds no name")
		}
		again := b.newEntry(e.Names...)
		again.Request = nil
		b.stored(b.create(again))
		same := again
		same.ID, same.Names = e.ID, nil
		same = b.create(same)
		require.Nil(b, b.body(same, oncehttp.ResponseBody), "a deleted entry leaves no body behind")
	}},
	{"Delete of an open entry is ErrConflict", func(b *bench) {
		e := b.create(b.newEntry("pay"))
		require.ErrorIs(b, b.j.Delete(b.Context(), e.ID, e.Revision), oncehttp.ErrConflict, "what is unresolved is never removed")
		b.stored(e)
		require.Equal(b, ids(e), ids(b.allOpen()...), "an open entry stays listed")
	}},
	{"Delete at another revision is ErrConflict and of no entry ErrNotFound", func(b *bench) {
		e := b.create(b.newEntry("pay"))
		e.Open = false
		e = b.update(e)
		require.ErrorIs(b, b.j.Delete(b.Context(), e.ID, 1), oncehttp.ErrConflict)
		require.ErrorIs(b, b.j.Delete(b.Context(), e.ID, 3), oncehttp.ErrConflict)
		b.stored(e)
		require.ErrorIs(b, b.j.Delete(b.Context(), b.newEntry().ID, 1), oncehttp.ErrNotFound)
	}},
	{"A name is taken once however many create it at the same time", func(b *bench) {
		const callers = 16
		for round := range 8 {
			name := fmt.Sprint("pay ", round)
			var made, refused atomic.Int32
			var winners [callers]oncehttp.Entry
			entries := make([]oncehttp.Entry, callers)
			for i := range entries {
				entries[i] = b.newEntry(name)
			}
			var wait sync.WaitGroup
			for i, e := range entries {
				wait.Go(func() {
					got, err := b.j.Create(b.Context(), e)
					winners[i] = got
					switch {
					case err == nil:
						made.Add(1)
					case errors.Is(err, oncehttp.ErrExists):
						refused.Add(1)
					}
				})
			}
			wait.Wait()
			require.EqualValues(b, 1, made.Load(), "one Create of a name succeeds")
			require.EqualValues(b, callers-1, refused.Load(), "the others are ErrExists")
			for _, got := range winners {
				require.Equal(b, winners[0].ID, got.ID, "all callers are told the same entry")
			}
		}
	}},
	{"Updates at the same time lose none", func(b *bench) {
		const callers, each = 8, 20
		e := b.create(b.newEntry())
		var wait sync.WaitGroup
		for range callers {
			wait.Go(func() {
				for done := 0; done < each; {
					got, err := b.j.Get(b.Context(), e.ID)
					if err != nil {
						b.Errorf("Get while others write: %v", err)
						return
					}
					got.Record = append(got.Record, '.')
					switch err := b.j.Update(b.Context(), got); {
					case err == nil:
						done++
					case !errors.Is(err, oncehttp.ErrConflict):
						b.Errorf("Update while others write: %v", err)
						return
					}
				}
			})
		}
		wait.Wait()
		got, err := b.j.Get(b.Context(), e.ID)
		require.NoError(b, err)
		require.EqualValues(b, 1+callers*each, got.Revision, "each successful Update grows the revision by one")
		require.Len(b, got.Record, len(e.Record)+callers*each, "no successful Update is lost")
	}},
	{"A refused write does not fail those beside it", func(b *bench) {
		taken := b.create(b.newEntry("taken"))
		var wait sync.WaitGroup
		for range 32 {
			good, bad := b.newEntry(), b.newEntry("taken")
			wait.Go(func() {
				if _, err := b.j.Create(b.Context(), good); err != nil {
					b.Errorf("Create beside refused ones: %v", err)
				}
			})
			wait.Go(func() {
				if _, err := b.j.Create(b.Context(), bad); !errors.Is(err, oncehttp.ErrExists) {
					b.Errorf("Create of a taken name: want ErrExists, got %v", err)
				}
			})
			wait.Go(func() {
				stale := taken
				stale.Revision = 9
				if err := b.j.Update(b.Context(), stale); !errors.Is(err, oncehttp.ErrConflict) {
					b.Errorf("stale Update: want ErrConflict, got %v", err)
				}
			})
		}
		wait.Wait()
		require.Len(b, b.allOpen(), 33)
	}},
}
