package journaltest

import (
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

var listRules = []rule{
	{"Due lists open entries by due time, not those after by or never due", func(b *bench) {
		var want []oncehttp.Entry
		for _, due := range []int{50, 10, 40, 20, 30} {
			e := b.newEntry()
			e.Due = at(due)
			want = append(want, b.create(e))
		}
		b.create(b.newEntry()) // open, not by itself
		later := b.newEntry()
		later.Due = at(51)
		b.create(later)
		settled := b.newEntry()
		settled.Open, settled.Due = false, at(15)
		b.create(settled)
		slices.SortFunc(want, func(x, y oncehttp.Entry) int { return x.Due.Compare(y.Due) })
		got := b.due(at(50))
		require.Equal(b, ids(want...), ids(got...), "Due: earliest first, by included")
		for i := range got {
			b.same(want[i], got[i])
		}
		require.Equal(b, ids(want[:4]...), ids(b.due(at(50).Add(-time.Microsecond))...), "Due: nothing after by")
		require.Empty(b, b.due(at(9)))
		require.Empty(b, b.due(time.Time{}))
	}},
	{"Due follows an entry that is updated", func(b *bench) {
		e := b.newEntry()
		e.Due = at(10)
		e = b.create(e)
		e.Due = at(20)
		e = b.update(e)
		require.Empty(b, b.due(at(19)), "a due time that was replaced counts no more")
		require.Len(b, b.due(at(20)), 1)
		e.Due = time.Time{}
		e = b.update(e)
		require.Empty(b, b.due(at(1_000_000)), "an entry that is not due by itself is not listed")
		e.Due = at(5)
		e = b.update(e)
		require.Len(b, b.due(at(20)), 1)
		e.Open = false
		e = b.update(e)
		require.Empty(b, b.due(at(20)), "a settled entry is not due")
		require.Empty(b, b.allOpen())
		e.Open = true
		b.update(e)
		require.Len(b, b.due(at(20)), 1, "an entry may be opened again")
		require.Len(b, b.allOpen(), 1)
	}},
	{"Open lists all open entries, oldest first", func(b *bench) {
		var want []oncehttp.Entry
		for n := range 10 {
			e := b.newEntry()
			if e.Open = n%3 != 0; n%2 == 0 {
				e.Due = at(100 - n)
			}
			if e = b.create(e); e.Open {
				want = append(want, e)
			}
		}
		got := b.allOpen()
		require.Equal(b, ids(want...), ids(got...), "Open: in the order of creation, due or not")
		for i := range got {
			b.same(want[i], got[i])
		}
	}},
	{"Settled lists what is not open and created before, oldest first", func(b *bench) {
		var want []oncehttp.Entry
		for n := range 10 {
			e := b.newEntry()
			e.Open = n%3 == 0
			if e = b.create(e); !e.Open {
				want = append(want, e)
			}
		}
		require.Equal(b, ids(want...), ids(b.settled(at(100))...))
		require.Equal(b, ids(want[:3]...), ids(b.settled(at(6))...), "Settled: created before the time, not at it")
		require.Equal(b, ids(want[:4]...), ids(b.settled(at(6).Add(time.Nanosecond))...), "Settled: created in the same millisecond, before the time")
		require.Empty(b, b.settled(at(0)))
		require.Empty(b, b.settled(time.Time{}))
		require.Equal(b, ids(want[2:]...), ids(b.list(b.j.Settled(b.Context(), at(5), at(100)))...), "Settled: created from the time on, at it too")
		require.Equal(b, ids(want[3:]...), ids(b.list(b.j.Settled(b.Context(), at(5).Add(time.Nanosecond), at(100)))...))
		require.Empty(b, b.list(b.j.Settled(b.Context(), at(100), at(6))))
	}},
	{"Lists are whole over many pages", func(b *bench) {
		const n = 700
		var wait sync.WaitGroup
		var all [n]oncehttp.Entry
		for i := range all {
			e := b.newEntry()
			e.Open = i%2 == 0
			e.Due = at(n - i/10) // many with the same time, earliest last created
			all[i] = e
			wait.Go(func() {
				if _, err := b.j.Create(b.Context(), e); err != nil {
					b.Errorf("Create: %v", err)
				}
			})
		}
		wait.Wait()
		require.Len(b, b.allOpen(), n/2)
		require.Len(b, b.settled(at(10*n)), n/2)
		due := b.due(at(10 * n))
		require.Len(b, due, n/2)
		require.True(b, slices.IsSortedFunc(due, func(x, y oncehttp.Entry) int { return x.Due.Compare(y.Due) }), "Due: earliest first over pages")
	}},
	{"The loop over a list may write, read and list", func(b *bench) {
		const n = 300
		for range n {
			e := b.newEntry()
			e.Due = at(10)
			b.create(e)
		}
		count := 0
		for e, err := range b.j.Due(b.Context(), at(10)) {
			require.NoError(b, err)
			count++
			e.Due = at(9 + count%3) // some earlier, some the same, some later
			e = b.updateInLoop(e)
			b.stored(e)
			if count == 1 {
				require.Len(b, b.allOpen(), n)
			}
		}
		require.LessOrEqual(b, count, n, "Due yields each entry at most once")
		require.GreaterOrEqual(b, count, n, "Due yields what was due all along")
		count = 0
		for e, err := range b.j.Open(b.Context()) {
			require.NoError(b, err)
			count++
			e.Open = false
			b.updateInLoop(e)
		}
		require.Equal(b, n, count)
		for e, err := range b.j.Settled(b.Context(), time.Time{}, at(10*n)) {
			require.NoError(b, err)
			require.NoError(b, b.j.Delete(b.Context(), e.ID, e.Revision))
			count--
		}
		require.Zero(b, count)
	}},
	{"Due yields an entry at most once though the loop makes it due again", func(b *bench) {
		const n = 300
		for i := range n {
			e := b.newEntry()
			e.Due = at(i)
			b.create(e)
		}
		yielded := map[string]int{}
		for e, err := range b.j.Due(b.Context(), at(10*n)) {
			require.NoError(b, err)
			yielded[e.ID.String()]++
			require.Equal(b, 1, yielded[e.ID.String()], "Due yields each entry at most once")
			e.Due = e.Due.Add(n * time.Second)
			b.updateInLoop(e)
		}
		require.Len(b, yielded, n)
	}},
	{"Open leaves out none that stays open while its due time moves", func(b *bench) {
		const n = 300
		var entries []oncehttp.Entry
		for i := range n {
			e := b.newEntry()
			e.Due = at(i)
			entries = append(entries, b.create(e))
		}
		count := 0
		for _, err := range b.j.Open(b.Context()) {
			require.NoError(b, err)
			if count < n {
				last := &entries[n-1-count]
				last.Due = last.Due.Add(-2 * n * time.Second)
				*last = b.updateInLoop(*last)
			}
			count++
		}
		require.Equal(b, n, count, "Open yields each entry once")
	}},
	{"A list ends where the loop breaks", func(b *bench) {
		for range 3 {
			e := b.newEntry()
			e.Due = at(1)
			b.create(e)
		}
		for range b.j.Due(b.Context(), at(1)) {
			break
		}
		for range b.j.Open(b.Context()) {
			break
		}
		e := b.allOpen()[0]
		e.Open = false
		b.update(e)
		for range b.j.Settled(b.Context(), time.Time{}, at(10)) {
			break
		}
		require.Len(b, b.allOpen(), 2)
	}},
	{"An error ends the loop", func(b *bench) {
		e := b.newEntry()
		e.Due = at(1)
		b.create(e)
		ctx := b.ended()
		for name, seq := range map[string]func() (int, error){
			"Due":     func() (int, error) { return drain(b.j.Due(ctx, at(1))) },
			"Open":    func() (int, error) { return drain(b.j.Open(ctx)) },
			"Settled": func() (int, error) { return drain(b.j.Settled(ctx, time.Time{}, at(1))) },
		} {
			if turns, err := seq(); err != nil {
				require.Equal(b, 1, turns, "%s: the error is the last thing yielded", name)
			}
		}
	}},
}

// drain counts the turns of a loop up to and with the first error, and goes on
// to see whether there are more.
func drain(seq func(func(oncehttp.Entry, error) bool)) (turns int, first error) {
	for _, err := range seq {
		turns++
		if first == nil {
			first = err
		}
	}
	return turns, first
}

// updateInLoop is update in the body of a loop over a list.
func (b *bench) updateInLoop(e oncehttp.Entry) oncehttp.Entry {
	b.Helper()
	done := make(chan error, 1)
	go func() { done <- b.j.Update(b.Context(), e) }()
	select {
	case err := <-done:
		require.NoError(b, err, "Update in the loop succeeds at the entry's revision")
	case <-time.After(5 * time.Second):
		b.Fatal("Update in the loop does not return: a list holds no transaction, lock or page while it yields")
	}
	e.Revision++
	return e
}
