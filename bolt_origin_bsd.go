//go:build darwin || freebsd || netbsd

package oncehttp

import (
	"os"
	"syscall"
)

// originOf also says how many names the file has.
func originOf(f *os.File) (o boltOrigin, names uint64, err error) {
	var s syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &s); err != nil {
		return o, 0, os.NewSyscallError("fstat", err)
	}
	return boltOrigin{Device: uint64(s.Dev), Inode: uint64(s.Ino), Birth: s.Birthtimespec.Nano()}, uint64(s.Nlink), nil
}
