package oncehttp

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// boltCopyBytes is about how much of a journal one transaction of a copy holds
// in memory.
const boltCopyBytes = 1 << 20

// Compact is as of [Compacter]: what is in the file is written to a new one
// beside it, which takes its place. Reads and writes wait for it.
func (j *boltJournal) Compact(ctx context.Context) error {
	return j.compact(ctx, func(string) error { return nil })
}

// compact tells step what comes next; its error is what comes of that.
func (j *boltJournal) compact(ctx context.Context, step func(next string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.life.Lock()
	defer j.life.Unlock()
	if err := j.refusal(); err != nil {
		return err
	}
	if j.copied {
		return fmt.Errorf("%w: %s", ErrCopied, j.path)
	}
	if !locksFiles {
		return boltFailed(j.path, "cannot be compacted on this system, which does not let an open file be replaced", nil)
	}
	if err := j.identity.at(j.path); err != nil {
		return j.stop(boltFailed(j.path, "was removed or replaced while it was open, and nothing more is written; put it back and open it again", err))
	}
	if err := j.whole(); err != nil {
		return err
	}
	if _, names, err := originOf(j.file); err != nil || names != 1 {
		// Under its other name the file would stay as it is now, and not know that
		// it is a copy.
		return boltFailed(j.path, "cannot be compacted, since the file has another name too (a hard link); remove that", err)
	}
	j.sweep()

	var fresh *boltJournal
	err := j.guard(func() (err error) {
		fresh, err = j.rewritten(ctx, step)
		return err
	})
	if b := j.broken.Load(); b != nil {
		return b
	}
	if err != nil {
		if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
			return ended
		}
		return boltFailed(j.path, "was not compacted and goes on as it was", err)
	}
	return j.replace(fresh, step)
}

// rewritten makes the new file beside the old one, and opens and checks it as
// any other: synced, locked, not in its place yet. A crash leaves the journal as
// it was, and the new file for sweep to remove; an error leaves nothing.
func (j *boltJournal) rewritten(ctx context.Context, step func(string) error) (_ *boltJournal, err error) {
	if err := step("create"); err != nil {
		return nil, err
	}
	f, err := boltTemp(j.path, compactSuffix)
	if err != nil {
		return nil, err
	}
	name := f.Name()
	defer func() {
		if err != nil {
			os.Remove(name)
		}
	}()
	if err := likeFile(f, j.file); err != nil {
		f.Close()
		return nil, fmt.Errorf("the new file cannot get its owner and mode: %w", err)
	}
	fill := func(db *bbolt.DB) error {
		db.NoFreelistSync = true
		if err := j.copyTo(ctx, db, step); err != nil {
			return err
		}
		db.NoFreelistSync = false
		return db.Update(func(*bbolt.Tx) error { return nil })
	}
	if err := boltBuild(f, j.meta, fill); err != nil {
		return nil, err
	}
	if err := step("shorten"); err != nil {
		return nil, err
	}
	if f, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return nil, err
	}
	if err := shortenBolt(f); err != nil {
		f.Close()
		return nil, err
	}
	// Locked before it takes the journal's place, so that nobody comes between.
	fresh, err := boltAttach(f, name, 0)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil && fresh != nil {
		fresh.Close()
	}
	return fresh, err
}

// shortenBolt cuts off what bbolt has not used yet.
func shortenBolt(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	meta, err := chooseMeta(f, info.Size())
	if err != nil {
		return err
	}
	if err := f.Truncate(int64(meta.end) * meta.pageSize); err != nil {
		return err
	}
	return f.Sync()
}

// copyTo copies what is in the buckets, in their order and in transactions of
// bounded size. Nobody writes meanwhile.
func (j *boltJournal) copyTo(ctx context.Context, db *bbolt.DB, step func(string) error) error {
	return j.db.View(func(tx *bbolt.Tx) error {
		for n, name := range boltBuckets {
			if n == inMeta {
				continue
			}
			c := tx.Bucket(name).Cursor()
			for k, v := c.First(); k != nil; {
				if err := step("copy"); err != nil {
					return err
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				err := db.Update(func(to *bbolt.Tx) error {
					b := (&boltTx{tx: to}).bucket(n)
					for size := 0; k != nil && size < boltCopyBytes; k, v = c.Next() {
						if err := b.Put(k, v); err != nil {
							return err
						}
						size += len(k) + len(v)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// replace puts the new file in the old one's place and goes on with it. The
// rename is one step for whoever looks, and for a crash before the directory is
// synced: the name has the old file or the new one, which hold the same. So
// nothing is written until it is synced; if that fails the journal stops.
func (j *boltJournal) replace(fresh *boltJournal, step func(string) error) error {
	name := fresh.path
	err := step("rename")
	if err == nil {
		err = os.Rename(name, j.path)
	}
	if err != nil && j.identity.at(j.path) == nil {
		fresh.Close()
		os.Remove(name)
		return boltFailed(j.path, "was not compacted and goes on as it was", err)
	}
	if err == nil {
		err = step("sync directory")
	}
	if err == nil {
		err = syncDirectory(j.path)
	}
	if err == nil {
		err = step("go on")
	}
	old := j.db
	j.file, j.db, j.identity, j.pageSize = fresh.file, fresh.db, fresh.identity, fresh.pageSize
	j.meta, j.size, j.unsynced = fresh.meta, fresh.size, fresh.unsynced
	j.durable.Store(fresh.durable.Load())
	closed := j.guard(old.Close) // whoever waited for the old file's lock finds the new one's
	switch {
	case err != nil:
		return j.stop(boltFailed(j.path, "was compacted, but it is not known whether that is on disk; open it again", err))
	case closed != nil:
		return boltFailed(j.path, "was compacted, but the file that it was before stays open", closed)
	}
	return nil
}
