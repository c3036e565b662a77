package oncehttp

import (
	"bytes"
	"context"
	"fmt"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

func (j *boltJournal) Create(ctx context.Context, e Entry) (Entry, error) {
	for _, name := range e.Names {
		if name == "" || len(name) > bbolt.MaxKeySize {
			return Entry{}, boltFailed(j.path, fmt.Sprintf("takes names of 1 to %d bytes, not of %d", bbolt.MaxKeySize, len(name)), nil)
		}
	}
	held, err := j.write(ctx, writeCreate, e)
	if err != nil {
		return held, err
	}
	return Entry{ID: e.ID, Revision: 1, Open: e.Open, Due: dueTime(dueOrder(e.Due)), Record: e.Record}, nil
}

func (j *boltJournal) Update(ctx context.Context, e Entry) error {
	_, err := j.write(ctx, writeUpdate, e)
	return err
}

func (j *boltJournal) Delete(ctx context.Context, id uuid.UUID, revision uint64) error {
	_, err := j.write(ctx, writeDelete, Entry{ID: id, Revision: revision})
	return err
}

func (j *boltJournal) write(ctx context.Context, kind writeKind, e Entry) (Entry, error) {
	if err := j.enter(ctx); err != nil {
		return Entry{}, err
	}
	defer j.leave()
	w := j.writes.Get().(*boltWrite)
	w.kind, w.entry, w.result = kind, e, writeStored
	w.bodies = [2]boltBody{frameBody(e.Request), frameBody(e.Response)}
	j.submit(w)
	held, err := w.held, w.err
	w.entry, w.bodies, w.held, w.err = Entry{}, [2]boltBody{}, Entry{}, nil
	j.writes.Put(w)
	return held, err
}

// A boltWrite is one write on its way through a group commit. bbolt reads its
// slices until the commit is over, which the caller waits for.
type boltWrite struct {
	kind   writeKind
	entry  Entry
	bodies [2]boltBody

	frame, names []byte // reused
	key          [24]byte

	result writeResult
	held   Entry // of a refused Create
	err    error

	done chan bool // true: take the lead; false: here is the result
}

type writeKind uint8

const (
	writeCreate writeKind = iota
	writeUpdate
	writeDelete
)

type writeResult uint8

const (
	writeStored writeResult = iota
	writeRefused
)

// bytes is about how much the write adds to the file.
func (w *boltWrite) bytes() int64 {
	return int64(len(w.frame) + len(w.names) + len(w.entry.Request) + len(w.entry.Response))
}

// refuse leaves the write out of the transaction, with err for its caller.
func (w *boltWrite) refuse(err error) error {
	w.result, w.err = writeRefused, err
	return nil
}

// boltTx is a transaction with its buckets, each opened when it is needed.
type boltTx struct {
	tx      *bbolt.Tx
	path    string
	epoch   uint64
	copied  bool
	buckets [bucketCount]*bbolt.Bucket
}

func (j *boltJournal) tx(tx *bbolt.Tx) *boltTx {
	return &boltTx{tx: tx, path: j.path, epoch: j.epoch, copied: j.copied}
}

func (t *boltTx) bucket(n int) *bbolt.Bucket {
	if t.buckets[n] == nil {
		b := t.tx.Bucket(boltBuckets[n])
		// Keys mostly ascend, so that pages can be left nearly full.
		b.FillPercent = 0.9
		t.buckets[n] = b
	}
	return t.buckets[n]
}

func (t *boltTx) putMeta(meta boltMeta) error {
	return t.bucket(inMeta).Put([]byte(metaKey), meta.encode())
}

// load returns the frame of an entry; what it holds points into the transaction.
func (t *boltTx) load(id *uuid.UUID) (f boltFrame, found bool, err error) {
	b := t.bucket(inEntries).Get(id[:])
	if b == nil {
		return boltFrame{}, false, nil
	}
	f, err = decodeFrame(t.path, id, b)
	return f, true, err
}

// find returns the entry that holds the name.
func (t *boltTx) find(name []byte) (id uuid.UUID, f boltFrame, found bool, err error) {
	b := t.bucket(inNames).Get(name)
	if b == nil {
		return id, f, false, nil
	}
	if copy(id[:], b) != len(b) || len(b) != len(id) {
		return id, f, true, boltDamaged(t.path, "the index of names cannot be read")
	}
	f, found, err = t.load(&id)
	if err != nil {
		return id, f, true, err
	}
	named := false
	f.eachName(func(n []byte) error { named = named || bytes.Equal(n, name); return nil })
	if !found || !named {
		return id, f, true, boltDamagedEntry(t.path, &id, "does not hold a name that the index gives it")
	}
	return id, f, true, nil
}

// apply puts one write into the transaction, or refuses it. An error says that
// the transaction as a whole has failed.
func (t *boltTx) apply(w *boltWrite) error {
	id := &w.entry.ID
	old, found, err := t.load(id)
	if err != nil {
		return w.refuse(err)
	}
	switch {
	case w.kind == writeCreate && found:
		return w.refuse(ErrConflict)
	case w.kind == writeCreate:
		return t.create(w)
	case !found:
		return w.refuse(ErrNotFound)
	case old.revision != w.entry.Revision, w.kind == writeDelete && old.open:
		return w.refuse(ErrConflict)
	case w.kind == writeUpdate:
		return t.update(w, &old)
	default:
		return t.delete(w, &old)
	}
}

func (t *boltTx) create(w *boltWrite) error {
	id := &w.entry.ID
	for _, name := range w.entry.Names {
		holder, held, found, err := t.find([]byte(name))
		if err != nil {
			return w.refuse(err)
		}
		if found {
			w.held = t.entry(holder, &held)
			return w.refuse(ErrExists)
		}
	}
	w.names = appendFrameNames(w.names[:0], w.entry.Names)
	f := boltFrame{
		revision: 1,
		epoch:    t.epoch,
		open:     w.entry.Open,
		due:      dueOrder(w.entry.Due),
		bodies:   w.bodies,
		names:    w.names,
		record:   w.entry.Record,
	}
	w.frame = f.append(w.frame[:0], id)
	if err := t.bucket(inEntries).Put(id[:], w.frame); err != nil {
		return err
	}
	for _, name := range w.entry.Names {
		if err := t.bucket(inNames).Put([]byte(name), id[:]); err != nil {
			return err
		}
	}
	if f.open {
		if err := t.bucket(inOpen).Put(openKey(w.key[:0], f.due, id), nil); err != nil {
			return err
		}
	}
	for which := range w.bodies {
		if err := t.putBody(w, which); err != nil {
			return err
		}
	}
	return nil
}

func (t *boltTx) update(w *boltWrite, old *boltFrame) error {
	id := &w.entry.ID
	f := boltFrame{
		revision: old.revision + 1,
		epoch:    t.epoch,
		open:     w.entry.Open,
		due:      dueOrder(w.entry.Due),
		bodies:   old.bodies,
		names:    old.names,
		record:   w.entry.Record,
	}
	for which, body := range [2][]byte{w.entry.Request, w.entry.Response} {
		if body == nil {
			continue
		}
		if err := t.deleteBody(w, which, old.bodies[which]); err != nil {
			return err
		}
		if err := t.putBody(w, which); err != nil {
			return err
		}
		f.bodies[which] = w.bodies[which]
	}
	w.frame = f.append(w.frame[:0], id)
	if old.open && !(f.open && old.due == f.due) {
		if err := t.bucket(inOpen).Delete(openKey(w.key[:0], old.due, id)); err != nil {
			return err
		}
	}
	if f.open && !(old.open && old.due == f.due) {
		if err := t.bucket(inOpen).Put(openKey(w.key[:0], f.due, id), nil); err != nil {
			return err
		}
	}
	return t.bucket(inEntries).Put(id[:], w.frame)
}

func (t *boltTx) delete(w *boltWrite, old *boltFrame) error {
	id := &w.entry.ID
	if err := old.eachName(t.bucket(inNames).Delete); err != nil {
		return err
	}
	for which, body := range old.bodies {
		if err := t.deleteBody(w, which, body); err != nil {
			return err
		}
	}
	return t.bucket(inEntries).Delete(id[:])
}

// putBody stores what is too long for the frame, in chunks that point into the
// caller's slice.
func (t *boltTx) putBody(w *boltWrite, which int) error {
	body := w.entry.Request
	if which == 1 {
		body = w.entry.Response
	}
	for n := range w.bodies[which].chunks() {
		chunk := body[:min(len(body), boltChunk)]
		if err := t.bucket(inBodies).Put(chunkKey(w.key[:0], &w.entry.ID, which, n), chunk); err != nil {
			return err
		}
		body = body[len(chunk):]
	}
	return nil
}

func (t *boltTx) deleteBody(w *boltWrite, which int, body boltBody) error {
	for n := range body.chunks() {
		if err := t.bucket(inBodies).Delete(chunkKey(w.key[:0], &w.entry.ID, which, n)); err != nil {
			return err
		}
	}
	return nil
}
