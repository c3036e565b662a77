//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package oncehttp

import (
	"os"
	"time"
)

const locksFiles = false

// Here only bbolt's own lock holds. The file is examined before that, and may
// be refused as damaged if another process writes it at that moment.
func lockFile(*os.File, time.Duration) error { return nil }

func unlockFile(*os.File) {}

func likeFile(f, old *os.File) error { return nil }
