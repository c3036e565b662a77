package oncehttp

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// boltIdentity tells a file from every other on the machine.
type boltIdentity struct{ device, inode uint64 }

var errOtherFile = errors.New("another file is there")

func identifyFile(f *os.File) (boltIdentity, error) {
	var s syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &s); err != nil {
		return boltIdentity{}, os.NewSyscallError("fstat", err)
	}
	return boltIdentity{uint64(s.Dev), s.Ino}, nil
}

// at returns an error unless the file is the one at path.
func (i boltIdentity) at(path string) error {
	var s syscall.Stat_t
	if err := syscall.Stat(path, &s); err != nil {
		return os.NewSyscallError("stat", err)
	}
	if i != (boltIdentity{uint64(s.Dev), s.Ino}) {
		return errOtherFile
	}
	return nil
}

// syncDirectory makes the entry of path in its directory durable.
func syncDirectory(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// Numbers of statfs(2), from Linux's include/uapi/linux/magic.h and the file
// systems' own sources.
var fileSystems = map[uint32]struct {
	name  string
	trust placeTrust
}{
	0x6969:     {"nfs", placeRefused},
	0x517B:     {"smb", placeRefused},
	0xFF534D42: {"cifs", placeRefused},
	0xFE534D42: {"smb2", placeRefused},
	0x73757245: {"coda", placeRefused},
	0x5346414F: {"afs", placeRefused},
	0x6B414653: {"afs", placeRefused},
	0x564C:     {"ncp", placeRefused},
	0x01021997: {"9p", placeRefused},
	0x00C36400: {"ceph", placeRefused},
	0x0BD00BD0: {"lustre", placeRefused},
	0x47504653: {"gpfs", placeRefused},
	0x19830326: {"beegfs", placeRefused},
	0x01021994: {"tmpfs", placeDoubtful},
	0x858458F6: {"ramfs", placeDoubtful},
	0x794C7630: {"overlay", placeDoubtful},
	0x65735546: {"fuse", placeDoubtful},
}

func fileSystem(dir string) (string, placeTrust) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", placeFine // opening will say more
	}
	known := fileSystems[uint32(s.Type)]
	return known.name, known.trust
}

// lockHolder is the process that holds the lock on f, or 0 if that is not to be
// known (proc(5), /proc/locks).
func lockHolder(f *os.File) int {
	var s syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &s); err != nil {
		return 0
	}
	// The device number as makedev(3) packs it.
	device := uint64(s.Dev)
	major := device>>8&0xfff | device>>32&^0xfff
	minor := device&0xff | device>>12&^0xff
	file := fmt.Sprintf("%02x:%02x:%d", major, minor, s.Ino)
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer locks.Close()
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF
		field := strings.Fields(lines.Text())
		if len(field) > 5 && field[1] == "FLOCK" && field[5] == file {
			pid, _ := strconv.Atoi(field[4])
			return max(pid, 0)
		}
	}
	return 0
}
