package oncehttp

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// sampleBolt is a journal's file and what is in it. Unsynced: as a crash leaves
// it while the list of free pages is long.
func sampleBolt(t *testing.T, synced bool) ([]byte, []Entry) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.db")
	j := openTestBolt(t, path)
	if !synced {
		j.freeLimit = 0
	}
	entries := fillBolt(t, j, 60)
	if synced {
		require.NoError(t, j.Close())
	}
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	return file, entries
}

// tryDamaged writes a damaged file and uses all of it. Whatever the damage, no
// panic comes out, every error is ErrJournal, what is read without an error is
// right, a refused file is as it was, and the lock is free afterwards. wrong
// is asked about an entry that is missing, which some damage cannot avoid.
func tryDamaged(t *testing.T, path string, file []byte, entries []Entry, missing func(Entry) bool) (opened bool) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, file, 0o600))
	j, err := OpenBolt(path, 0, nil)
	if err != nil {
		require.ErrorIs(t, err, ErrJournal)
		after, readErr := os.ReadFile(path)
		require.NoError(t, readErr)
		require.True(t, bytes.Equal(file, after), "a refused file is left as it was")
	} else {
		opened = true
		for _, e := range entries {
			err := wrongEntry(t, j.(*boltJournal), e)
			switch {
			case errors.Is(err, ErrNotFound):
				assert.True(t, missing(e), "entry %s is missing", e.ID)
			case err != nil:
				assert.ErrorIs(t, err, ErrJournal)
			}
		}
		for _, list := range []func() error{
			func() error { return lastError(j.Due(t.Context(), time.Unix(1000, 0))) },
			func() error { return lastError(j.Open(t.Context())) },
			func() error { return lastError(j.Settled(t.Context(), time.Time{}, time.Now().Add(time.Hour))) },
		} {
			if err := list(); err != nil {
				assert.ErrorIs(t, err, ErrJournal)
			}
		}
		for _, e := range entries[:4] {
			e.Request, e.Response = nil, nil
			if err := j.Update(t.Context(), e); err != nil && !errors.Is(err, ErrNotFound) {
				assert.ErrorIs(t, err, ErrJournal)
			}
		}
		if err := j.Close(); err != nil {
			assert.ErrorIs(t, err, ErrJournal)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, lockFile(f, 0), "the lock is free again")
	require.NoError(t, f.Close())
	return opened
}

func lastError(seq func(func(Entry, error) bool)) (last error) {
	for _, err := range seq {
		last = err
	}
	return last
}

func never(Entry) bool { return false }

func TestAFileCutShortIsRefusedAndNeverKillsTheProcess(t *testing.T) {
	t.Parallel()
	for _, synced := range []bool{true, false} {
		t.Run(fmt.Sprintf("freelist synced %t", synced), func(t *testing.T) {
			t.Parallel()
			file, entries := sampleBolt(t, synced)
			path := filepath.Join(t.TempDir(), "cut.db")
			meta, err := chooseMeta(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			require.Equal(t, synced, meta.freelist != noFreelist)
			end := int(meta.end) * int(meta.pageSize)
			for cut := 0; cut <= len(file); cut += 2048 {
				for _, length := range []int{cut, cut + 17} {
					if length > len(file) {
						continue
					}
					opened := tryDamaged(t, path, file[:length], entries, never)
					require.Equal(t, length >= end, opened, "%d of %d bytes", length, end)
				}
			}
			require.Equal(t, end <= len(file), tryDamaged(t, path, file, entries, never))
		})
	}
}

func TestAnEmptyFileIsDamagedAndNotANewJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := OpenBolt(path, 0, nil)
	require.ErrorIs(t, err, ErrJournalCorrupt)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Zero(t, info.Size())
}

// Damage that a checksum or bbolt's own checks cannot tell is a flipped bit in
// a key of an index or of the tree: then something is not found. All else is
// noticed.
func TestAFlippedBitNeverGivesAWrongRecord(t *testing.T) {
	t.Parallel()
	const seed, flips = 20260102, 200
	t.Logf("seed %d", seed)
	for _, synced := range []bool{true, false} {
		t.Run(fmt.Sprintf("freelist synced %t", synced), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			file, entries := sampleBolt(t, synced)
			path := filepath.Join(t.TempDir(), "flip.db")
			meta, err := chooseMeta(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			refused := 0
			for n := range flips {
				bit := random.IntN(int(meta.end) * int(meta.pageSize) * 8)
				if n%3 > 0 { // most into what a page is made of
					page := random.IntN(int(meta.end)) * int(meta.pageSize)
					bit = page*8 + random.IntN(200*8)
				}
				damaged := bytes.Clone(file)
				damaged[bit/8] ^= 1 << (bit % 8)
				if !tryDamaged(t, path, damaged, entries, func(Entry) bool { return true }) {
					refused++
				}
				require.False(t, t.Failed(), "bit %d", bit)
			}
			t.Logf("%d of %d refused when opened", refused, flips)
		})
	}
}

func TestAJournalWhoseFileShrinksUnderItStopsAndFreesTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	entries := fillBolt(t, j, 60)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 3*4096))

	var failed error
	for _, e := range entries {
		if err := wrongEntry(t, j, e); err != nil {
			failed = err
			break
		}
	}
	require.ErrorIs(t, failed, ErrJournalCorrupt)
	_, err = j.Create(t.Context(), Entry{ID: entries[0].ID})
	require.ErrorIs(t, err, ErrJournalCorrupt, "nothing is written after damage was met")
	require.NotErrorIs(t, err, ErrFateUnknown)

	// Without a Close: the lock is free, and the repaired file opens.
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	again := openTestBolt(t, path)
	sameBolt(t, again, entries)
	require.NoError(t, j.Close())
}

// The file is cut between the look at its length and bbolt's look at its meta
// pages, for which bbolt holds locks.
func TestAFaultAtTheBeginningOfAReadStrandsNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	fillBolt(t, j, 1)
	reading, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 3)
	nothing := func(*bbolt.Tx) error { return nil }
	go func() {
		ended <- j.guard(func() error {
			return j.read(func(*bbolt.Tx) error {
				close(reading)
				<-goOn
				return nil
			})
		})
	}()
	<-reading
	require.NoError(t, os.Truncate(path, 0))
	require.ErrorIs(t, j.guard(func() error { return j.read(nothing) }), ErrJournalCorrupt)
	close(goOn)
	go func() { ended <- j.guard(func() error { return j.read(nothing) }) }()
	go func() { ended <- j.guard(func() error { return j.db.Update(nothing) }) }()
	for range 3 {
		select {
		case <-ended:
		case <-time.After(time.Minute):
			require.Fail(t, "a call waits for a lock that nobody lets go of")
		}
	}
}

// Readers and writers together: a fault while bbolt holds a lock must not leave
// the others waiting for it.
func TestAFileThatShrinksUnderManyStrandsNobody(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{0, 4096, 2 * 4096, 3 * 4096} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "intents.db")
			j := openTestBolt(t, path)
			entries := fillBolt(t, j, 30)
			var wait sync.WaitGroup
			for _, e := range entries {
				wait.Go(func() {
					for wrongEntry(t, j, e) == nil {
					}
				})
				wait.Go(func() {
					next := e
					for next.Request, next.Response = nil, nil; j.Update(t.Context(), next) == nil; next.Revision++ {
					}
				})
			}
			require.NoError(t, os.Truncate(path, length))
			wait.Wait()
			err := j.Update(t.Context(), entries[0])
			require.ErrorIs(t, err, ErrJournal)
			require.NotErrorIs(t, err, ErrFateUnknown)
			require.NoError(t, j.Close())
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			require.NoError(t, lockFile(f, 0), "the lock is free again")
			require.NoError(t, f.Close())
		})
	}
}

func TestADamagedRecordIsNamedAndTheOthersAreRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	entries := fillBolt(t, j, 12)
	require.NoError(t, j.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.LastIndex(file, []byte("record 5"))
	for at >= 0 { // older copies of the page too
		file[at] ^= 1
		at = bytes.LastIndex(file, []byte("record 5"))
	}
	at = bytes.LastIndex(file, []byte("response 9"))
	for at >= 0 {
		file[at] ^= 1
		at = bytes.LastIndex(file, []byte("response 9"))
	}
	require.NoError(t, os.WriteFile(path, file, 0o600))

	j = openTestBolt(t, path)
	for i, e := range entries {
		err := wrongEntry(t, j, e)
		if i == 5 || i == 9 {
			require.ErrorIs(t, err, ErrJournalCorrupt)
			require.ErrorContains(t, err, e.ID.String())
		} else {
			require.NoError(t, err)
		}
	}
	e := entries[5]
	require.ErrorIs(t, j.Update(t.Context(), e), ErrJournalCorrupt, "what cannot be read is not written over")
	require.ErrorIs(t, lastError(j.Open(t.Context())), ErrJournalCorrupt)
	sameBolt(t, j, entries[:5])
	e = entries[1]
	require.NoError(t, j.Update(t.Context(), e), "one bad record does not stop the journal")
}
