//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package oncehttp

import (
	"errors"
	"os"
	"syscall"
	"time"

	berrors "go.etcd.io/bbolt/errors"
)

// locksFiles: lockFile does, and an open file can be replaced.
const locksFiles = true

// lockFile takes the lock that bbolt takes on the same descriptor later, so
// that the file is examined while nobody writes it. It is bbolt's ErrTimeout
// if wait passes first.
func lockFile(f *os.File, wait time.Duration) error {
	for deadline := time.Now().Add(wait); ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return berrors.ErrTimeout
		}
		time.Sleep(min(left, 20*time.Millisecond))
	}
}

// likeFile gives f the owner and the mode of old: whoever changed them may have
// had a reason.
func likeFile(f, old *os.File) error {
	var has, wanted syscall.Stat_t
	if err := errors.Join(syscall.Fstat(int(f.Fd()), &has), syscall.Fstat(int(old.Fd()), &wanted)); err != nil {
		return err
	}
	if has.Uid != wanted.Uid || has.Gid != wanted.Gid {
		if err := f.Chown(int(wanted.Uid), int(wanted.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(os.FileMode(wanted.Mode & 0o777))
}

func unlockFile(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
