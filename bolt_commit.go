package oncehttp

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// boltGroup makes many writes share a commit, without a goroutine and without
// a timer: a caller that finds no commit under way commits all that is queued,
// its own write among it, then hands the lead to the oldest write queued
// meanwhile.
type boltGroup struct {
	mu    sync.Mutex
	queue []*boltWrite
	spare []*boltWrite
	busy  bool
	last  int           // writes in the last batch
	took  time.Duration // of the last commit
	// late: the last linger took far longer than it was to, since the callers
	// keep the processors busy. The next does not wait for them: they work while
	// the disk does.
	late bool
}

// lingerSpins bounds the linger where the clock stands still.
const lingerSpins = 1 << 14

// submit returns when w has its result. It is never abandoned.
func (j *boltJournal) submit(w *boltWrite) {
	g := &j.group
	g.mu.Lock()
	g.queue = append(g.queue, w)
	if g.busy {
		g.mu.Unlock()
		if lead := <-w.done; !lead {
			return
		}
		g.mu.Lock()
	}
	g.busy = true
	g.linger()
	batch := g.take()
	g.mu.Unlock()

	// Deferred, so that whatever happens in the commit no follower is stranded.
	defer g.handOver(w, batch, time.Now())
	j.commit(batch)
}

// boltBatch is about how many bytes of records and bodies one commit writes at
// the most: a crowd with long bodies else makes the file twice as long as it
// needs, and waits for one another's bytes.
const boltBatch = 2 << 20

// take removes what the next commit writes from the queue: the leader's write,
// which is the oldest, and those behind it up to boltBatch.
func (g *boltGroup) take() []*boltWrite {
	batch, rest := g.queue, g.spare[:0]
	n, size := 0, int64(0)
	for n < len(batch) && (n == 0 || size < boltBatch) {
		size += batch[n].bytes()
		n++
	}
	g.queue, g.spare = append(rest, batch[n:]...), nil
	clear(batch[n:])
	return batch[:n]
}

// linger waits, for a tenth of the last commit's time at most, for a crowd that
// was served together and comes back together. A lone caller's last batch was
// one, so it goes at once. mu is held, and let go of meanwhile; spins is how
// often.
func (g *boltGroup) linger() (spins int) {
	if g.late {
		g.late = false
		return 0
	}
	start, wait := time.Now(), g.took/10
	for len(g.queue) < g.last && spins < lingerSpins && time.Since(start) < wait {
		g.mu.Unlock()
		runtime.Gosched()
		g.mu.Lock()
		spins++
	}
	g.late = spins > 0 && time.Since(start) > 4*wait
	return spins
}

func (g *boltGroup) handOver(leader *boltWrite, batch []*boltWrite, start time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last, g.took = len(batch), time.Since(start)
	if len(g.queue) > 0 {
		g.queue[0].done <- true
	} else {
		g.busy = false
	}
	for _, w := range batch {
		if w != leader {
			w.done <- false
		}
	}
	clear(batch)
	g.spare = batch[:0]
}

// commit gives every write of the batch its result.
func (j *boltJournal) commit(batch []*boltWrite) {
	err := j.guard(func() error { return j.transact(batch) })
	if err == nil {
		return
	}
	if j.inCommit { // and panicked there
		j.inCommit = false
		err = j.lose(err)
	}
	refused := err
	if errors.Is(err, ErrFateUnknown) {
		refused = j.refusal()
	}
	for _, w := range batch {
		// What a refused write was told rests on a transaction that may be gone,
		// but nothing of that write is in it.
		if w.result == writeStored {
			w.err = err
		} else {
			w.err = refused
		}
		w.held = Entry{}
	}
}

// transact makes one transaction of the batch. A write that its own condition
// refuses has that as its result, and the others go on; an error is everyone's.
func (j *boltJournal) transact(batch []*boltWrite) error {
	j.committing.Lock()
	defer j.committing.Unlock()
	if b := j.broken.Load(); b != nil {
		return b
	}
	if err := j.identity.at(j.path); err != nil {
		return j.stop(boltFailed(j.path, "was removed or replaced while it was open, and nothing more is written; put it back and open it again", err))
	}
	if err := j.whole(); err != nil {
		return err
	}
	slices.SortStableFunc(batch, func(a, b *boltWrite) int { return bytes.Compare(a.entry.ID[:], b.entry.ID[:]) })
	j.chooseFreelist()

	tx, err := j.db.Begin(true)
	if err != nil {
		return j.stop(boltFailed(j.path, "cannot begin a transaction; open it again", err))
	}
	defer tx.Rollback() // has no effect after Commit
	t := j.tx(tx)
	stored, need := 0, int64(0)
	for _, w := range batch {
		if err := t.apply(w); err != nil {
			return boltFailed(j.path, "took nothing of this write", err)
		}
		if w.result == writeStored {
			stored++
			need += w.bytes()
		}
	}
	if stored == 0 {
		return nil
	}
	now, meta := time.Now(), j.meta
	if now.Sub(meta.Seen) >= boltSeenEvery {
		meta.Seen = now.UTC().Round(0)
		if err := t.putMeta(meta); err != nil {
			return boltFailed(j.path, "took nothing of this write", err)
		}
	}
	if err := j.grow(tx, stored, need); err != nil {
		return err
	}
	id := int64(tx.ID())
	j.inCommit = true
	err = tx.Commit()
	j.inCommit = false
	if err != nil {
		return j.commitFailed(id, err)
	}
	j.unsynced = j.db.NoFreelistSync
	if err := j.identity.at(j.path); err != nil {
		return j.lose(fmt.Errorf("the file was removed or replaced: %w", err))
	}
	j.meta = meta
	j.seen.Store(max(j.seen.Load(), now.UnixNano()))
	j.durable.Store(id)
	j.count.Add(1)
	return nil
}

// chooseFreelist decides whether the next commit writes the freelist. bbolt
// reads the switch in Commit alone, and no other transaction writes.
func (j *boltJournal) chooseFreelist() {
	s := j.db.Stats()
	j.db.NoFreelistSync = s.FreePageN+s.PendingPageN > j.freeLimit
}

// commitFailed says what is known after bbolt could not commit transaction id.
// A full disk reported by a write leaves the file as it was, unless the page
// that could not be written whole was the one that makes the transaction
// visible. All else, a failed sync above all, leaves it unknown: the kernel
// may have dropped the pages and call them clean.
func (j *boltJournal) commitFailed(id int64, cause error) error {
	var path *fs.PathError
	if errors.As(cause, &path) && path.Op == "write" && diskFull(cause) {
		visible := id
		if err := j.read(func(tx *bbolt.Tx) error { visible = int64(tx.ID()); return nil }); err == nil && visible < id {
			return boltFailed(j.path, "has no room; nothing was written, and the next write may succeed", cause)
		}
	}
	return j.lose(cause)
}

// diskFull: no space, no quota, or over the limit of a file's size.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// boltStep is how a large file grows; a small one doubles.
const boltStep = 16 << 20

// grow makes the file long enough for the transaction, so that bbolt, whose
// errors hide the reason, seldom has to. The estimate may be short: then bbolt
// grows the file itself.
func (j *boltJournal) grow(tx *bbolt.Tx, writes int, bytes int64) error {
	s := j.db.Stats()
	more := bytes + bytes/4 + j.pageSize*int64(4*writes+16) + int64(s.FreelistInuse)
	// Half of the free pages, since they may lie too scattered for what is long.
	need := tx.Size() + max(0, more-j.pageSize*int64(s.FreePageN)/2)
	if need <= j.size {
		return nil
	}
	info, err := j.file.Stat()
	if err != nil {
		return j.stop(boltFailed(j.path, "cannot be examined; open it again", err))
	}
	if j.size = info.Size(); need <= j.size {
		return nil
	}
	size := (need + boltStep - 1) / boltStep * boltStep
	if need < boltStep {
		for size = 64 << 10; size < need; size *= 2 {
		}
	}
	if err := j.file.Truncate(size); err != nil {
		if diskFull(err) {
			return boltFailed(j.path, "has no room; nothing was written, and the next write may succeed", err)
		}
		return j.stop(boltFailed(j.path, "cannot grow; open it again", err))
	}
	if err := j.file.Sync(); err != nil {
		return j.stop(boltFailed(j.path, "cannot be synced; open it again", err))
	}
	j.size = size
	return nil
}

// stop makes err the answer to every later call. Nothing was written.
func (j *boltJournal) stop(err *boltError) *boltError {
	j.broken.CompareAndSwap(nil, err)
	return err
}

// lose stops the journal after a commit whose fate is unknown, and returns the
// error of the writes in it. Later calls, reads too since the file may show
// what is not on disk, fail with an error that is ErrJournal only: nothing of
// them is written.
func (j *boltJournal) lose(cause error) *boltError {
	j.stop(boltFailed(j.path, "is stopped, since it cannot tell whether an earlier write is durable; open it again", cause))
	return (&boltError{
		text: fmt.Sprintf("%v: %s", ErrFateUnknown, j.path),
		is:   []error{ErrFateUnknown, ErrJournal},
	}).because(cause)
}
