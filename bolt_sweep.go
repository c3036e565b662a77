package oncehttp

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The ends of the names of files that are to become the journal: a new one, and
// a compacted one.
const (
	newSuffix     = ".new"
	compactSuffix = ".compact"
)

// staleAfter is when a file that some process makes to become a new journal is
// taken for one that a crash left.
const staleAfter = time.Hour

// sweep removes what crashes have left beside the journal. Whoever compacts it
// holds its lock, which is ours now; a journal that another process makes at
// this moment is young, and locked.
func (j *boltJournal) sweep() {
	listed, err := os.ReadDir(filepath.Dir(j.path))
	if err != nil {
		return
	}
	for _, entry := range listed {
		number, beside := strings.CutPrefix(entry.Name(), filepath.Base(j.path)+".")
		number, compacted := strings.CutSuffix(number, compactSuffix)
		number, made := strings.CutSuffix(number, newSuffix)
		if !beside || compacted == made || number == "" || strings.Trim(number, "0123456789") != "" || !entry.Type().IsRegular() {
			continue
		}
		path := filepath.Join(filepath.Dir(j.path), entry.Name())
		if compacted || j.identity.at(path) == nil || stale(path) {
			os.Remove(path)
		}
	}
}

func stale(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && time.Since(info.ModTime()) > staleAfter && lockFile(f, 0) == nil
}
