package oncehttp

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// bbolt follows branches by recursion: one above itself overflows the stack,
// which ends the process.
func TestABranchThatLeadsToABranchAgainIsDamaged(t *testing.T) {
	t.Parallel()
	const size = 4096
	file, entries := sampleBolt(t, true)
	meta, err := chooseMeta(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.EqualValues(t, size, meta.pageSize)
	require.NotEqual(t, uint64(noFreelist), meta.freelist, "else all pages are read")
	var branches []uint64
	for id := uint64(2); id < meta.end; id++ {
		page := file[id*size:]
		if binary.NativeEndian.Uint64(page) == id && pageFlags(page) == pageBranch {
			branches = append(branches, id)
		}
	}
	path := filepath.Join(t.TempDir(), "bent.db")
	refused := 0
	for _, from := range branches {
		for _, n := range []int{0, pageCount(file[from*size:]) - 1} {
			for _, to := range branches {
				bent := bytes.Clone(file)
				binary.NativeEndian.PutUint64(bent[from*size+pageHeader+16*uint64(n)+8:], to)
				// A branch that is free is of no account.
				if !tryDamaged(t, path, bent, entries, never) {
					refused++
				}
			}
		}
	}
	assert.Positive(t, refused, "a branch in use was bent")
}

func TestTheBranchesOfAWholeJournalAreInOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	const n = 1500 // branches of two levels
	entries := make([]Entry, n)
	var wait sync.WaitGroup
	for i := range entries {
		entries[i] = Entry{ID: uuid.Must(uuid.NewV7()), Revision: 1, Record: make([]byte, 600)}
		wait.Go(func() {
			if _, err := j.Create(t.Context(), entries[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	require.NoError(t, j.Close())
	again := openTestBolt(t, path)
	require.False(t, again.unsynced, "the shallow check was made")
	height := 0
	require.NoError(t, again.db.View(func(tx *bbolt.Tx) error {
		height = tx.Bucket(boltBuckets[inEntries]).Stats().Depth
		return nil
	}))
	require.Equal(t, 3, height, "two levels of branches, and the leaves")
	sameBolt(t, again, entries)
}
