//go:build !linux

package oncehttp

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// boltIdentity tells a file from every other on the machine.
type boltIdentity struct{ info os.FileInfo }

var errOtherFile = errors.New("another file is there")

func identifyFile(f *os.File) (boltIdentity, error) {
	info, err := f.Stat()
	return boltIdentity{info}, err
}

// at returns an error unless the file is the one at path.
func (i boltIdentity) at(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(i.info, info) {
		return errOtherFile
	}
	return nil
}

// syncDirectory makes the entry of path in its directory durable.
func syncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be synced there
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func fileSystem(string) (string, placeTrust) { return "", placeFine }

func lockHolder(*os.File) int { return 0 }
