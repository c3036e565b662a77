package oncehttp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// boltJournal keeps a [Journal] in one bbolt file. The buckets are written in
// the same transactions:
//
//	meta      what the file is (boltMeta)
//	entries   id -> frame (bolt_frame.go)
//	names     name -> id
//	open      due ‖ id -> nothing, for entries that are open
//	bodies    id ‖ 0 request, 1 response ‖ chunk number -> bytes of a long body
type boltJournal struct {
	path string // absolute, without symbolic links

	// life is held for reading by every call, for writing by Close, Compact and
	// adopt. Those alone change what follows up to broken.
	life     sync.RWMutex
	identity boltIdentity
	file     *os.File // bbolt's own descriptor; it holds the lock
	db       *bbolt.DB
	pageSize int64
	// copied: the file is not the one that its meta record speaks of.
	copied bool
	epoch  uint64 // of meta
	closed bool
	// broken is why no further call is served; set at most once.
	broken atomic.Pointer[boltError]
	// released: the descriptor was given up after a panic; bbolt is not entered
	// again.
	released atomic.Bool

	// committing is held while a transaction is made and synced.
	committing sync.Mutex
	// durable is the last transaction known to be on disk.
	durable atomic.Int64
	count   atomic.Int64
	// seen is the highest wall time of a commit, in nanoseconds since 1970; 0:
	// none.
	seen atomic.Int64
	// Owned by whoever holds committing.
	meta      boltMeta
	size      int64 // of the file, at least
	inCommit  bool  // bbolt's Commit was entered and has not returned
	freeLimit int   // free pages up to which the freelist is written with each commit
	unsynced  bool  // the freelist on disk is missing
	torn      bool  // one of the meta pages was damaged when the file was opened

	group  boltGroup
	writes sync.Pool
}

// boltFreeLimit is how many free pages a commit may list in the file. Listing
// 2,000 takes some 30 µs of a commit, 17,000 more than 200 µs: as much again as
// the commit. Beyond the limit the next open after a crash reads the whole file
// instead.
const boltFreeLimit = 2048

// OpenBolt opens the journal at path that [Open] works on, or makes one if there
// is no file: for a [Journal] of one's own around it, which [New] takes. It waits
// up to lockTimeout for another holder to let go; with zero or less it tries
// once. The logger is told what is risky about the place; nil: nobody is.
//
// Errors: [ErrJournalLocked], [ErrJournalCorrupt], else [ErrJournal]; all are
// ErrJournal. A file that cannot be opened is left as it was.
func OpenBolt(path string, lockTimeout time.Duration, logger *slog.Logger) (Journal, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	resolved, err := boltResolve(path)
	if err != nil {
		return nil, err
	}
	j, err := openBoltAt(resolved, lockTimeout, logger)
	if err != nil && resolved != path {
		err = fmt.Errorf("%w (opened as %s)", err, path)
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}

func openBoltAt(path string, lockTimeout time.Duration, logger *slog.Logger) (*boltJournal, error) {
	kind, trust := fileSystem(filepath.Dir(path))
	if err := boltPlace(path, kind, trust, logger); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lockTimeout); ; {
		f, err := boltFile(path, logger)
		if err != nil {
			return nil, err
		}
		j, err := boltAttach(f, path, time.Until(deadline))
		if errors.Is(err, errOtherFile) && time.Until(deadline) > 0 {
			continue // who held the lock has compacted the journal meanwhile
		}
		if err != nil {
			return nil, err
		}
		if j.torn {
			logger.Warn("oncehttp: one of the journal's two meta pages is not whole, as after a crash in mid-write; without a crash the latest writes may be missing", "path", path)
		}
		j.sweep()
		return j, nil
	}
}

// boltFile opens the journal's file, after making it if there is none.
func boltFile(path string, logger *slog.Logger) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := boltCreate(path); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, boltFailed(path, "cannot be opened", err)
	case !info.Mode().IsRegular():
		return nil, boltFailed(path, "is not a regular file; name a file for the journal", nil)
	case info.Mode().Perm()&0o077 != 0:
		// Who widened it may have had a reason, so it is not taken back.
		logger.Warn("oncehttp: other users may read the journal; chmod it to 600", "path", path, "mode", info.Mode().Perm().String())
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, boltFailed(path, "cannot be opened", err)
	}
	// Whoever made the file may have died before this.
	if err := syncDirectory(path); err != nil {
		f.Close()
		return nil, boltFailed(path, "is in a directory that cannot be synced", err)
	}
	return f, nil
}

// boltAttach locks f, checks it, and hands it to bbolt. On an error f is
// closed, its lock free, and the file as it was.
func boltAttach(f *os.File, path string, lockTimeout time.Duration) (*boltJournal, error) {
	fail := func(err error) (*boltJournal, error) {
		// Closing alone leaves the lock with a process that was forked meanwhile.
		unlockFile(f)
		f.Close()
		return nil, err
	}
	if err := lockFile(f, lockTimeout); err != nil {
		return fail(boltLockError(f, path, err))
	}
	identity, err := identifyFile(f)
	if err != nil {
		return fail(boltFailed(path, "cannot be examined", err))
	}
	if err := identity.at(path); err != nil {
		return fail(boltFailed(path, "was replaced while it was opened; open it again", err))
	}
	info, err := inspectBolt(f, path)
	if err != nil {
		return fail(err)
	}
	if err := affirmBolt(f, info.meta); err != nil {
		return fail(boltFailed(path, "cannot be synced, so what it shows may not be on disk", err))
	}

	j := &boltJournal{path: path, identity: identity, file: f, freeLimit: boltFreeLimit, size: info.size, unsynced: !info.synced, torn: info.torn}
	j.writes.New = func() any { return &boltWrite{done: make(chan bool, 1)} }
	if err := j.guard(func() error { return j.openDB(lockTimeout) }); err != nil {
		return nil, err
	}
	if err := j.guard(j.readMeta); err != nil {
		j.unsynced = false // Close is to write nothing
		j.Close()
		return nil, err
	}
	return j, nil
}

func (j *boltJournal) openDB(lockTimeout time.Duration) error {
	db, err := bbolt.Open(j.path, 0o600, &bbolt.Options{
		Timeout:      max(lockTimeout, time.Millisecond),
		FreelistType: bbolt.FreelistMapType,
		// A missing freelist is written by the first commit, not by opening.
		NoFreelistSync: true,
		OpenFile:       func(string, int, os.FileMode) (*os.File, error) { return j.file, nil },
	})
	switch {
	case err == nil:
		j.db, j.pageSize = db, int64(db.Info().PageSize)
		return nil
	case errors.Is(err, berrors.ErrTimeout):
		return boltLockError(nil, j.path, err)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return boltDamaged(j.path, err.Error())
	default:
		return boltFailed(j.path, "cannot be opened", err)
	}
}

// readMeta checks that the file is a journal of a known format, and whether it
// is the one that it was made as.
func (j *boltJournal) readMeta() error {
	origin, _, err := originOf(j.file)
	if err != nil {
		return boltFailed(j.path, "cannot be examined", err)
	}
	return j.db.View(func(tx *bbolt.Tx) error {
		j.durable.Store(int64(tx.ID()))
		for _, name := range boltBuckets {
			if tx.Bucket(name) == nil {
				return boltDamaged(j.path, fmt.Sprintf("it has no bucket %q", name))
			}
		}
		var err error
		j.meta, err = decodeBoltMeta(j.path, tx.Bucket(boltBuckets[inMeta]).Get([]byte(metaKey)))
		j.epoch, j.copied = j.meta.Epoch, !j.meta.sameFile(origin)
		if !j.meta.Seen.IsZero() {
			j.seen.Store(j.meta.Seen.UnixNano())
		}
		return err
	})
}

// adopt makes a copy a journal of its own, for good: its file stands in the
// meta record, and in a new epoch what was written before stays [Entry].Copied
// until it is written again. A crash before the commit is on disk leaves a copy,
// after it an adopted one.
func (j *boltJournal) adopt() error {
	j.life.Lock()
	defer j.life.Unlock()
	if err := j.refusal(); err != nil || !j.copied {
		return err
	}
	origin, _, err := originOf(j.file)
	if err != nil {
		return boltFailed(j.path, "cannot be examined", err)
	}
	meta := j.meta
	meta.boltOrigin, meta.Epoch, meta.Adopted = origin, meta.Epoch+1, time.Now().UTC().Round(0)
	var id int
	err = j.guard(func() error {
		j.chooseFreelist()
		return j.db.Update(func(tx *bbolt.Tx) error {
			id = tx.ID()
			return j.tx(tx).putMeta(meta)
		})
	})
	if err != nil {
		return j.lose(err)
	}
	j.durable.Store(int64(id))
	j.unsynced = j.db.NoFreelistSync
	j.meta, j.epoch, j.copied = meta, meta.Epoch, false
	return nil
}

// Standing is as of [Journal].
func (j *boltJournal) Standing() Standing {
	j.life.RLock()
	defer j.life.RUnlock()
	s := Standing{Copied: j.copied}
	if seen := j.seen.Load(); seen != 0 {
		s.Seen = time.Unix(0, seen)
	}
	return s
}

// enter admits a call; the caller runs leave when it ends without error.
func (j *boltJournal) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.life.RLock()
	err := j.refusal()
	if err != nil {
		j.life.RUnlock()
	}
	return err
}

func (j *boltJournal) leave() { j.life.RUnlock() }

// refusal is why the journal serves no call now, or nil.
func (j *boltJournal) refusal() error {
	if j.closed {
		return ErrClosed
	}
	if b := j.broken.Load(); b != nil {
		return b
	}
	return nil
}

func (j *boltJournal) Close() error {
	j.life.Lock()
	defer j.life.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	if j.released.Load() {
		return nil
	}
	return j.guard(func() error {
		var err error
		if j.unsynced && j.broken.Load() == nil && j.identity.at(j.path) == nil {
			// With the freelist in the file the next open need not read it all.
			// Failing that, nothing is lost but time.
			j.db.NoFreelistSync = false
			err = j.db.Update(func(*bbolt.Tx) error { return nil })
		}
		if closeErr := j.db.Close(); closeErr != nil {
			err = closeErr
		}
		if err != nil {
			return boltFailed(j.path, "was not closed cleanly; what was acknowledged is safe", err)
		}
		return nil
	})
}

// A boltError is all the errors in is; its text stands for theirs.
type boltError struct {
	text string
	is   []error
}

func (e *boltError) Error() string   { return e.text }
func (e *boltError) Unwrap() []error { return e.is }

// boltFailed: the journal could not do it, and nothing was written.
func boltFailed(path, what string, cause error) *boltError {
	e := &boltError{text: fmt.Sprintf("%v: %s %s", ErrJournal, path, what), is: []error{ErrJournal}}
	return e.because(cause)
}

// boltDamaged: the bytes in the file are not what was written.
func boltDamaged(path, what string) *boltError {
	return &boltError{
		text: fmt.Sprintf("%v: %s: %s; it was left as it is: restore a copy or move it away", ErrJournalCorrupt, path, what),
		is:   []error{ErrJournalCorrupt, ErrJournal},
	}
}

func (e *boltError) because(cause error) *boltError {
	if cause != nil {
		e.text += ": " + cause.Error()
		e.is = append(e.is, cause)
	}
	return e
}

func boltLockError(f *os.File, path string, cause error) *boltError {
	if !errors.Is(cause, berrors.ErrTimeout) {
		return boltFailed(path, "cannot be locked", cause)
	}
	holder := "another process or another client of this one"
	if f != nil {
		if pid := lockHolder(f); pid == os.Getpid() {
			holder = "another client of this process"
		} else if pid > 0 {
			holder = fmt.Sprintf("process %d", pid)
		}
	}
	return &boltError{
		text: fmt.Sprintf("%v: %s is held by %s; close that one or name another file", ErrJournalLocked, path, holder),
		is:   []error{ErrJournalLocked, ErrJournal, cause},
	}
}
