package oncehttp

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"
)

// A Journal keeps intents durably. One client at a time owns the intents of a
// file; a shared database may serve several. Every method may be called
// concurrently. [github.com/oncehttp/oncehttp/journaltest.Run] checks each
// sentence below that can be checked without a crash.
//
// A write that returns nil is durable: it survives a crash of the process and
// of the machine, the directory entry of a new file included. A write is never
// abandoned half-way because its context ends; a context that has ended before
// the write starts may refuse it. An error says what is known of the write:
//
//   - [ErrExists], [ErrConflict], [ErrNotFound], [ErrClosed], the context's own
//     error: nothing was written.
//   - an error that is [ErrFateUnknown] (it is [ErrJournal] too): the write may
//     or may not be durable. The journal refuses every later call until it is
//     opened again.
//   - any other error (it is ErrJournal): nothing was written. The next write may
//     succeed, unless the journal has stopped: then its text says to open it
//     again.
//
// What a read returns is durable: a read never shows a write that a crash could
// still undo.
//
// Slices and entries returned belong to the caller; those passed in are not
// kept after the call.
type Journal interface {
	// Create stores a new entry, with both bodies, at revision 1. If one of its
	// names is taken it stores nothing and returns the entry that holds the
	// name, without bodies, beside ErrExists. An ID that is taken, by whatever
	// names, is ErrConflict. On success it returns the entry as Get would; its
	// Record may be the slice passed in.
	Create(ctx context.Context, e Entry) (Entry, error)

	// Update replaces the entry with e.ID if its revision is e.Revision, else it
	// is ErrConflict; ErrNotFound if there is none. The revision grows by one.
	// Names never change: e.Names is ignored. A nil body leaves the stored body
	// as it is, an empty one removes it.
	Update(ctx context.Context, e Entry) error

	// Get returns the entry with this ID, Find the one with this name, without
	// bodies; ErrNotFound if there is none. Each sees every write that returned
	// before it was called.
	Get(ctx context.Context, id uuid.UUID) (Entry, error)
	Find(ctx context.Context, name string) (Entry, error)

	// Body returns one body of an entry. An entry without it gives nil and no
	// error; no entry is ErrNotFound.
	Body(ctx context.Context, id uuid.UUID, which Body) ([]byte, error)

	// Due yields the open entries whose Due is set and not after by, earliest
	// first; Open all open entries, Settled those not open with an ID created
	// from one time on and before another, both oldest first. None holds a transaction, a
	// lock or a page while it yields, so the loop may write. An entry that
	// changes meanwhile may be yielded as it was or as it is, or be left out if
	// it does not belong any more; Due may also leave out one whose due time
	// moved. Each is yielded at most once. An error ends the loop.
	Due(ctx context.Context, by time.Time) iter.Seq2[Entry, error]
	Open(ctx context.Context) iter.Seq2[Entry, error]
	Settled(ctx context.Context, from, before time.Time) iter.Seq2[Entry, error]

	// Delete removes an entry that is not open, with its names and bodies, under
	// the same condition on the revision as Update. An open entry is
	// ErrConflict: what is unresolved is never removed.
	Delete(ctx context.Context, id uuid.UUID, revision uint64) error

	// Standing is what the journal knows of itself, without asking a disk or a
	// network. It may be called after Close.
	Standing() Standing

	// Close waits for the write under way, then releases the journal. Later
	// calls are ErrClosed. A second Close returns nil.
	Close() error
}

// A Compacter is a [Journal] that can give space back.
type Compacter interface {
	// Compact keeps every entry as it is and gives back the space that none
	// needs. Other calls wait for it or go on beside it. If ctx ends first, or
	// there is no room, the journal goes on as it was.
	Compact(ctx context.Context) error
}

// Standing is what a journal knows of itself beside its entries.
type Standing struct {
	// Copied: these may be the entries of another journal that is still in use,
	// so nobody may act on them until somebody has said that it is not. A journal
	// that cannot be copied behind its own back never sets it.
	Copied bool
	// Seen is the highest wall time at which the journal was written, by whatever
	// process; when the journal is opened again it may be a second behind. While
	// the clock shows less, nobody knows how old anything is. Zero: it was never
	// written.
	Seen time.Time
}

// An Entry is a record as a journal sees it: opaque bytes, and what it is
// found by.
type Entry struct {
	// ID is a UUIDv7: entries are kept in the order of their creation.
	ID uuid.UUID
	// Names are unique in the journal: the action, and a key that the caller
	// chose. Anonymous intents have none. Get, Find and the iterators leave
	// them nil.
	Names []string
	// Revision counts the writes of this entry, the first included.
	Revision uint64
	// Open entries are unresolved: never deleted, listed by Open.
	Open bool
	// Due is when the intent may next be taken up without a caller. Zero: not by
	// itself. Kept to the microsecond, rounded up.
	Due time.Time
	// Copied is set by reads: the entry was last written by a journal of which
	// this one is a copy. The original may have gone on with it.
	Copied bool
	// Record is the encoded intent.
	Record []byte
	// Request and Response are the bodies, stored apart from the record. They
	// travel in Create and Update only.
	Request, Response []byte
}

// Body names one of the two bodies of an [Entry].
type Body uint8

const (
	RequestBody Body = iota + 1
	ResponseBody
)
