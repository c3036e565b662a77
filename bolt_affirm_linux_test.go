package oncehttp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A watchedFile keeps a list of what is done with it.
type watchedFile struct {
	*os.File
	did     []string
	syncErr error
}

func (f *watchedFile) WriteAt(b []byte, at int64) (int, error) {
	f.did = append(f.did, fmt.Sprintf("write at %d", at))
	return f.File.WriteAt(b, at)
}

func (f *watchedFile) Sync() error {
	f.did = append(f.did, "sync")
	return f.syncErr
}

func TestOpeningWritesTheMetaPageThatCountsAgainAndSyncsIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	for range 2 { // the meta pages take turns
		j := openTestBolt(t, path)
		fillBolt(t, j, 1)
		require.NoError(t, j.Close())
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		info, err := inspectBolt(file, path)
		require.NoError(t, err)
		counts, whole := readPageMeta(file, int64(info.meta.txid%2)*info.meta.pageSize)
		require.True(t, whole)
		require.Equal(t, info.meta, counts)

		f := &watchedFile{File: file}
		require.NoError(t, affirmBolt(f, info.meta))
		require.Equal(t, []string{fmt.Sprintf("write at %d", int64(info.meta.txid%2)*info.meta.pageSize), "sync"}, f.did)
		f.syncErr = syscall.EIO
		require.ErrorIs(t, affirmBolt(f, info.meta), syscall.EIO)
		require.NoError(t, file.Close())
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after, "the file is as it was")
	}
}

func init() {
	boltChildren["open what cannot be written"] = openWhatCannotBeWritten
}

// openWhatCannotBeWritten runs with RLIMIT_FSIZE at 0: every pwrite is EFBIG.
func openWhatCannotBeWritten(t *testing.T, path string) {
	require.NoError(t, openTestBolt(t, path).Close())
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	most := limit.Cur
	limit.Cur = 0
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	_, err := OpenBolt(path, 0, nil)
	limit.Cur = most
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	require.ErrorIs(t, err, ErrJournal)
	require.False(t, errors.Is(err, ErrJournalCorrupt))
	require.ErrorContains(t, err, "may not be on disk")
	openTestBolt(t, path)
	fmt.Println("refused")
}

func TestAJournalThatCannotBeMadeDurableIsNotOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	out, err := boltChild(t, "open what cannot be written", path).Output()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "refused")
}
