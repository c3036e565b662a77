package oncehttp

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// boltPage is how many entries an iterator reads in one transaction.
const boltPage = 128

// view runs read in a transaction. A transaction that another goroutine has
// made visible but not yet synced is waited for: what is read is on disk.
func (j *boltJournal) view(ctx context.Context, read func(t *boltTx) error) error {
	if err := j.enter(ctx); err != nil {
		return err
	}
	defer j.leave()
	if err := j.whole(); err != nil {
		return err
	}
	var seen int64
	err := j.guard(func() error {
		return j.read(func(tx *bbolt.Tx) error {
			seen = int64(tx.ID())
			return read(j.tx(tx))
		})
	})
	if seen > j.durable.Load() {
		j.committing.Lock()
		refused := j.refusal()
		j.committing.Unlock()
		if refused != nil {
			return refused
		}
	}
	return err
}

func (j *boltJournal) Get(ctx context.Context, id uuid.UUID) (e Entry, err error) {
	err = j.view(ctx, func(t *boltTx) error {
		f, found, err := t.load(&id)
		if err != nil {
			return err
		}
		if !found {
			return ErrNotFound
		}
		e = t.entry(id, &f)
		return nil
	})
	return e, err
}

func (j *boltJournal) Find(ctx context.Context, name string) (e Entry, err error) {
	err = j.view(ctx, func(t *boltTx) error {
		id, f, found, err := t.find([]byte(name))
		if err != nil {
			return err
		}
		if !found {
			return ErrNotFound
		}
		e = t.entry(id, &f)
		return nil
	})
	return e, err
}

func (j *boltJournal) Body(ctx context.Context, id uuid.UUID, which Body) (body []byte, err error) {
	if which != RequestBody && which != ResponseBody {
		return nil, boltFailed(j.path, fmt.Sprintf("has no body number %d", which), nil)
	}
	err = j.view(ctx, func(t *boltTx) error {
		f, found, err := t.load(&id)
		if err != nil {
			return err
		}
		if !found {
			return ErrNotFound
		}
		body, err = t.body(&id, int(which-RequestBody), f.bodies[which-RequestBody])
		return err
	})
	return body, err
}

// body copies a body out of the transaction.
func (t *boltTx) body(id *uuid.UUID, which int, b boltBody) ([]byte, error) {
	if b.length == 0 {
		return nil, nil
	}
	if b.length <= boltInline {
		return bytes.Clone(b.inline), nil
	}
	body := make([]byte, 0, b.length)
	var key [24]byte
	for n := range b.chunks() {
		body = append(body, t.bucket(inBodies).Get(chunkKey(key[:0], id, which, n))...)
	}
	if uint64(len(body)) != b.length || crc32.Checksum(body, castagnoli) != b.crc {
		return nil, boltDamagedEntry(t.path, id, "has a body that does not pass its checksum")
	}
	return body, nil
}

func (j *boltJournal) Due(ctx context.Context, by time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		// An entry that the loop makes due again comes up again in the index.
		yielded := make(map[uuid.UUID]struct{})
		last := dueFloor(by)
		var after []byte
		for more := true; more; {
			var page []Entry
			err := j.view(ctx, func(t *boltTx) (err error) {
				page, after, err = t.duePage(after, last)
				return err
			})
			for _, e := range page {
				if _, again := yielded[e.ID]; again {
					continue
				}
				yielded[e.ID] = struct{}{}
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			more = after != nil
		}
	}
}

// duePage reads what follows the key after in the index of open entries; next
// is nil at the end.
func (t *boltTx) duePage(after []byte, last uint64) (page []Entry, next []byte, err error) {
	c := t.bucket(inOpen).Cursor()
	for k, _ := seekPast(c, after); k != nil; k, _ = c.Next() {
		id, due, err := t.openID(k)
		if err != nil {
			return page, nil, err
		}
		if due > last {
			break
		}
		f, _, err := t.load(&id)
		if err != nil {
			return page, nil, err
		}
		if !f.open || f.due != due {
			return page, nil, boltDamagedEntry(t.path, &id, "is not as the index of open entries has it")
		}
		page = append(page, t.entry(id, &f))
		if len(page) == boltPage {
			return page, bytes.Clone(k), nil
		}
	}
	return page, nil, nil
}

func (t *boltTx) openID(key []byte) (id uuid.UUID, due uint64, err error) {
	if len(key) != 8+len(id) {
		return id, 0, boltDamaged(t.path, "the index of open entries cannot be read")
	}
	copy(id[:], key[8:])
	return id, binary.BigEndian.Uint64(key), nil
}

// seekPast is what is first behind the key after; with nil the first of all.
func seekPast(c *bbolt.Cursor, after []byte) (key, value []byte) {
	if after == nil {
		return c.First()
	}
	key, value = c.Seek(after)
	if bytes.Equal(key, after) {
		return c.Next()
	}
	return key, value
}

func (j *boltJournal) Open(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		// The index is ordered by due time. In one transaction, so that no entry
		// is missed whose due time moves meanwhile: 16 bytes for each.
		var ids []uuid.UUID
		err := j.view(ctx, func(t *boltTx) error {
			c := t.bucket(inOpen).Cursor()
			for k, _ := c.First(); k != nil; k, _ = c.Next() {
				id, _, err := t.openID(k)
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return nil
		})
		slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		for err == nil && len(ids) > 0 {
			some := ids[:min(len(ids), boltPage)]
			ids = ids[len(some):]
			page := make([]Entry, 0, len(some))
			err = j.view(ctx, func(t *boltTx) error {
				for i := range some {
					f, found, err := t.load(&some[i])
					if err != nil {
						return err
					}
					if found && f.open {
						page = append(page, t.entry(some[i], &f))
					}
				}
				return nil
			})
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

func (j *boltJournal) Settled(ctx context.Context, from, before time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		after, end := firstIDAt(from), firstIDAt(before) // no entry has the first as its id: it is no UUID
		for more := true; more; {
			var page []Entry
			err := j.view(ctx, func(t *boltTx) (err error) {
				page, after, err = t.settledPage(after, end)
				return err
			})
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			more = after != nil
		}
	}
}

// settledPage reads on behind the key after; next is nil at the end. A page
// covers a bounded stretch of entries, open ones included.
func (t *boltTx) settledPage(after, end []byte) (page []Entry, next []byte, err error) {
	c := t.bucket(inEntries).Cursor()
	read := 0
	for k, v := seekPast(c, after); k != nil && bytes.Compare(k, end) < 0; k, v = c.Next() {
		var id uuid.UUID
		if copy(id[:], k) != len(id) {
			return page, nil, boltDamaged(t.path, "an entry has no id")
		}
		f, err := decodeFrame(t.path, &id, v)
		if err != nil {
			return page, nil, err
		}
		if !f.open {
			page = append(page, t.entry(id, &f))
		}
		if read++; len(page) == boltPage || read == 8*boltPage {
			return page, bytes.Clone(k), nil
		}
	}
	return page, nil, nil
}

// firstIDAt is the least id that was not created before t: a UUIDv7 starts
// with its time in milliseconds (RFC 9562 section 5.7).
func firstIDAt(t time.Time) []byte {
	const most = 1<<48 - 1
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return binary.BigEndian.AppendUint64(nil, uint64(min(max(ms, 0), most))<<16)
}
