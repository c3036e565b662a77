// Package journaltest checks implementations of [oncehttp.Journal]: [Run] has
// one test for each sentence of the interface's contract. It imports testing,
// so only tests should import it.
package journaltest

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// Run checks the journals that place makes. Each call of place provides for a
// new, empty journal and returns a function that opens it; the function is
// called again only after the journal it returned was closed, and then opens
// the same one.
//
// Every call of the journal must end by itself: a journal that waits for ever
// is told by the test's own time-out.
func Run(t *testing.T, place func(t *testing.T) (open func() (oncehttp.Journal, error))) {
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			b := &bench{T: t, open: place(t)}
			b.reopen()
			t.Cleanup(func() { b.j.Close() })
			rule.check(b)
		})
	}
}

// A rule is one sentence of the contract, and its check.
type rule struct {
	name  string
	check func(b *bench)
}

var rules = concat(writeRules, readRules, listRules, lifeRules, standingRules)

func concat(lists ...[]rule) (all []rule) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// A bench is a journal under test. Its entries are made in the order of their
// ids, with times that the test chooses.
type bench struct {
	*testing.T
	open func() (oncehttp.Journal, error)
	j    oncehttp.Journal
	made uint64
}

func (b *bench) reopen() {
	b.Helper()
	if b.j != nil {
		require.NoError(b, b.j.Close(), "Close of a healthy journal succeeds")
	}
	j, err := b.open()
	require.NoError(b, err, "the journal opens")
	b.j = j
}

// epoch is when the first entry of a bench is created.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// at is the n-th second after the epoch.
func at(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

// idAt is a UUIDv7 of the given millisecond (RFC 9562 section 5.7); n keeps
// those of one millisecond apart, in order.
func idAt(t time.Time, n uint64) uuid.UUID {
	var id uuid.UUID
	ms := uint64(t.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	for i := range 8 {
		id[8+i] = byte(n >> (8 * (7 - i)))
	}
	id[6] = 0x70
	id[8] = 0x80
	return id
}

// newEntry is an open entry, a second younger than the last one.
func (b *bench) newEntry(names ...string) oncehttp.Entry {
	b.made++
	return oncehttp.Entry{
		ID:      idAt(at(int(b.made)), b.made),
		Names:   names,
		Open:    true,
		Record:  fmt.Appendf(nil, "record %d", b.made),
		Request: fmt.Appendf(nil, "request %d", b.made),
	}
}

// create stores e and returns it with its revision.
func (b *bench) create(e oncehttp.Entry) oncehttp.Entry {
	b.Helper()
	_, err := b.j.Create(b.Context(), e)
	require.NoError(b, err, "Create of a new entry succeeds")
	e.Revision = 1
	return e
}

// update stores e over the revision it has, and returns it with the next.
func (b *bench) update(e oncehttp.Entry) oncehttp.Entry {
	b.Helper()
	require.NoError(b, b.j.Update(b.Context(), e), "Update at the entry's revision succeeds")
	e.Revision++
	return e
}

// stored checks that Get returns e as it was written.
func (b *bench) stored(e oncehttp.Entry) {
	b.Helper()
	got, err := b.j.Get(b.Context(), e.ID)
	require.NoError(b, err, "Get finds an entry that was written")
	b.same(e, got)
}

func (b *bench) same(want, got oncehttp.Entry) {
	b.Helper()
	require.Equal(b, want.ID, got.ID, "the entry has the ID asked for")
	require.Equal(b, want.Revision, got.Revision, "Revision counts the writes, the first included")
	require.Equal(b, want.Open, got.Open, "Open is kept")
	require.True(b, want.Due.Equal(got.Due), "Due is kept: want %v, got %v", want.Due, got.Due)
	require.Equal(b, string(want.Record), string(got.Record), "Record is kept byte for byte")
	require.False(b, got.Copied, "nobody has copied the journal")
	require.Nil(b, got.Names, "reads leave Names nil")
	require.Nil(b, got.Request, "reads leave Request nil")
	require.Nil(b, got.Response, "reads leave Response nil")
}

func (b *bench) body(e oncehttp.Entry, which oncehttp.Body) []byte {
	b.Helper()
	body, err := b.j.Body(b.Context(), e.ID, which)
	require.NoError(b, err, "Body of a stored entry succeeds")
	return body
}

// list runs an iterator to its end.
func (b *bench) list(seq iter.Seq2[oncehttp.Entry, error]) []oncehttp.Entry {
	b.Helper()
	var all []oncehttp.Entry
	for e, err := range seq {
		require.NoError(b, err, "the iterator ends without an error")
		all = append(all, e)
	}
	return all
}

func ids(entries ...oncehttp.Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.ID.String()
	}
	return out
}

func (b *bench) due(by time.Time) []oncehttp.Entry {
	b.Helper()
	return b.list(b.j.Due(b.Context(), by))
}

func (b *bench) allOpen() []oncehttp.Entry {
	b.Helper()
	return b.list(b.j.Open(b.Context()))
}

func (b *bench) settled(before time.Time) []oncehttp.Entry {
	b.Helper()
	return b.list(b.j.Settled(b.Context(), time.Time{}, before))
}

// ended is a context that has ended.
func (b *bench) ended() context.Context {
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	return ctx
}
