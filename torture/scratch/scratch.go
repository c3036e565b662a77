// Package scratch is where the parts of the torture run keep files that need not
// outlive them.
package scratch

import "os"

// Env names a directory that whoever starts a part removes after it, however the
// part ends.
const Env = "ONCEHTTP_SCRATCH"

// Dir makes a directory: below the one that Env names, else in memory where there
// is a place for that, since thousands of syncs are not for a disk, else where
// temporary files go. The caller removes it.
func Dir() (string, error) {
	if parent := os.Getenv(Env); parent != "" {
		return os.MkdirTemp(parent, "")
	}
	if dir, err := os.MkdirTemp("/dev/shm", "oncehttp-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "oncehttp-")
}
