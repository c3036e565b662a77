package oncehttp

import (
	"encoding/binary"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// originOf also says how many names the file has.
func originOf(f *os.File) (o boltOrigin, names uint64, err error) {
	var s syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &s); err != nil {
		return o, 0, os.NewSyscallError("fstat", err)
	}
	return boltOrigin{Device: uint64(s.Dev), Inode: s.Ino, Birth: birthOf(f)}, uint64(s.Nlink), nil
}

// birthOf is 0 where the system does not tell: the kernel is older than 4.11, a
// sandbox keeps statx(2) away, or the file system has no such time.
func birthOf(f *os.File) int64 {
	number, known := statxNumbers[runtime.GOARCH]
	if !known {
		return 0
	}
	// include/uapi/linux/stat.h and fcntl.h: struct statx is 256 bytes, with its
	// mask at 0 and the birth time at 80: seconds 8, nanoseconds 4.
	const emptyPath, wantBirth = 0x1000, 0x800
	var path [1]byte
	var s [256]byte
	_, _, errno := syscall.Syscall6(number, f.Fd(), uintptr(unsafe.Pointer(&path)), emptyPath, wantBirth, uintptr(unsafe.Pointer(&s)), 0)
	if errno != 0 || binary.NativeEndian.Uint32(s[:])&wantBirth == 0 {
		return 0
	}
	return int64(binary.NativeEndian.Uint64(s[80:]))*1e9 + int64(binary.NativeEndian.Uint32(s[88:]))
}

// statxNumbers are those of Linux's system call tables.
var statxNumbers = map[string]uintptr{
	"386": 383, "amd64": 332, "arm": 397, "arm64": 291, "loong64": 291, "ppc64": 383, "ppc64le": 383, "riscv64": 291, "s390x": 379,
}
