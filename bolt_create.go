package oncehttp

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// boltResolve is path without symbolic links, absolute; the file itself need
// not exist.
func boltResolve(path string) (string, error) {
	if path == "" {
		return "", boltFailed(`""`, "is no path; name a file for the journal", nil)
	}
	next := path
	for range 40 {
		// Split and + do not clean the path: what ".." means depends on the links
		// before it.
		dir, file := filepath.Split(next)
		dir, err := filepath.EvalSymlinks(dir + ".")
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return "", boltFailed(path, "has no directory to be in", err)
		}
		resolved := filepath.Join(dir, file)
		target, err := os.Readlink(resolved)
		if err != nil {
			return resolved, nil // no link, or nothing there
		}
		if next = target; !filepath.IsAbs(target) {
			next = dir + string(filepath.Separator) + target
		}
	}
	return "", boltFailed(path, "has too many symbolic links", nil)
}

// boltPlace refuses a file system on which locks and shared memory do not hold
// between machines, and warns of one that loses its files.
func boltPlace(path, kind string, trust placeTrust, logger *slog.Logger) error {
	switch trust {
	case placeRefused:
		return boltFailed(path, "is on a network file system ("+kind+"), where a journal is not safe; put it on a local disk", nil)
	case placeDoubtful:
		logger.Warn("oncehttp: the journal may not outlive this machine's or container's life; put it on a local disk", "path", path, "filesystem", kind)
	}
	return nil
}

type placeTrust uint8

const (
	placeFine placeTrust = iota
	placeDoubtful
	placeRefused
)

// boltCreate puts a new journal at path, whole. If another came first, that
// one stands. A crash on the way leaves at most a file of another name beside
// it, which nothing reads and sweep removes.
func boltCreate(path string) error {
	failed := func(err error) error { return boltFailed(path, "cannot be made", err) }
	f, err := boltTemp(path, newSuffix)
	if err != nil {
		return failed(err)
	}
	defer os.Remove(f.Name())
	if err := boltBuild(f, boltMeta{Format: boltFormat, Created: time.Now().UTC().Round(0)}, nil); err != nil {
		return failed(err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return failed(err)
	}
	return nil
}

// boltTemp makes a file beside path, that is to become path.
func boltTemp(path, suffix string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+suffix)
	if err != nil {
		return nil, err
	}
	// Whatever the umask: no less, and no more.
	if err := f.Chmod(0o600); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

// boltBuild makes a journal of the empty file f, with what fill puts into its
// buckets if it is not nil; it is synced once, at the end. boltBuild closes f.
func boltBuild(f *os.File, meta boltMeta, fill func(db *bbolt.DB) error) error {
	var err error
	if meta.boltOrigin, _, err = originOf(f); err != nil {
		f.Close()
		return err
	}
	db, err := bbolt.Open(f.Name(), 0o600, &bbolt.Options{
		Timeout:      time.Second,
		FreelistType: bbolt.FreelistMapType,
		NoSync:       true,
		OpenFile:     func(string, int, os.FileMode) (*os.File, error) { return f, nil },
	})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range boltBuckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return tx.Bucket(boltBuckets[inMeta]).Put([]byte(metaKey), meta.encode())
	})
	if err == nil && fill != nil {
		err = fill(db)
	}
	if err == nil {
		err = f.Sync() // its mode too
	}
	return errors.Join(err, db.Close())
}
