package oncehttp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// spoil fills the journal, deletes most of it, and returns what is left.
func spoil(t testing.TB, j *boltJournal) []Entry {
	t.Helper()
	var left []Entry
	for i, e := range fillBolt(t, j, 60) {
		if i%10 < 8 {
			if e.Open {
				e.Open = false
				require.NoError(t, j.Update(t.Context(), e))
				e.Revision++
			}
			require.NoError(t, j.Delete(t.Context(), e.ID, e.Revision))
		} else {
			left = append(left, e)
		}
	}
	return left
}

func besideJournal(t testing.TB, path string) (others []string) {
	t.Helper()
	listed, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	for _, entry := range listed {
		if entry.Name() != filepath.Base(path) {
			others = append(others, entry.Name())
		}
	}
	return others
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

func TestACompactedJournalIsSmallAndHoldsTheSame(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	left := spoil(t, j)
	before := fileSize(t, path)
	require.NoError(t, os.Chmod(path, 0o640))
	owned := os.Chown(path, 1234, 1235) == nil // who runs the tests may do that
	require.NoError(t, j.Compact(t.Context()))
	after := fileSize(t, path)
	t.Logf("%d bytes before, %d after", before, after)
	require.Less(t, after, before/2)
	require.Empty(t, besideJournal(t, path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "the mode stays")
	if owned {
		require.Regexp(t, "Uid:0x4d2, Gid:0x4d3", fmt.Sprintf("%#v", info.Sys()), "the owner stays")
	}
	sameBolt(t, j, left)
	more := fillBolt(t, j, 30)
	require.NoError(t, j.Compact(t.Context()))
	require.NoError(t, j.Close())
	checkBolt(t, path)
	j = openTestBolt(t, path)
	require.False(t, j.Standing().Copied, "the new file is the journal")
	sameBolt(t, j, append(left, more...))
}

func TestACompactionInSmallTransactionsEndsWhenItsContextDoes(t *testing.T) {
	t.Parallel()
	j := newTestBolt(t)
	left := fillBolt(t, j, 300)
	big := Entry{ID: uuid.Must(uuid.NewV7()), Open: true, Request: make([]byte, 5<<20), Revision: 1}
	_, err := j.Create(t.Context(), big)
	require.NoError(t, err)
	left = append(left, big)
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	err = j.compact(ctx, func(next string) error {
		if next == "copy" {
			if steps++; steps == 6 {
				cancel()
			}
		}
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 6, steps)
	require.Empty(t, besideJournal(t, j.path))
	sameBolt(t, j, left)
	require.NoError(t, j.Compact(t.Context()))
	sameBolt(t, j, left)
}

// Each step fails before it does anything, the one after the last too.
func TestEveryStepOfACompactionMayFail(t *testing.T) {
	t.Parallel()
	broken := errors.New("injected")
	var steps []string
	for n := 0; n == 0 || n <= len(steps); n++ {
		path := filepath.Join(t.TempDir(), "intents.db")
		j := openTestBolt(t, path)
		left := spoil(t, j)
		var met []string
		err := j.compact(t.Context(), func(next string) error {
			if met = append(met, next); len(met) == n {
				return broken
			}
			return nil
		})
		if n == 0 { // nothing fails
			steps = met
			require.NoError(t, err)
			t.Log(steps)
			require.Equal(t, []string{"create", "copy", "copy", "copy", "copy", "shorten", "rename", "sync directory", "go on"}, steps)
			continue
		}
		failed := steps[n-1]
		require.ErrorIs(t, err, broken, failed)
		require.ErrorIs(t, err, ErrJournal, failed)
		require.Empty(t, besideJournal(t, path), failed)
		_, lockErr := OpenBolt(path, 0, nil)
		require.ErrorIs(t, lockErr, ErrJournalLocked, "%s: the journal stays locked", failed)
		_, err = j.Create(t.Context(), Entry{ID: uuid.Must(uuid.NewV7())})
		if failed == "sync directory" || failed == "go on" {
			// The old file may come back with a crash: nothing may be written.
			require.ErrorIs(t, err, broken, failed)
			require.ErrorContains(t, err, "open it again")
		} else {
			require.NoError(t, err, failed)
			sameBolt(t, j, left)
			require.NoError(t, j.Compact(t.Context()), failed)
		}
		require.NoError(t, j.Close())
		checkBolt(t, path)
		sameBolt(t, openTestBolt(t, path), left)
	}
}

func TestAJournalThatIsCompactedIsLockedAtEveryMoment(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	left := spoil(t, j)
	late := make(chan error, 1)
	require.NoError(t, j.compact(t.Context(), func(next string) error {
		_, err := OpenBolt(path, 0, nil)
		require.ErrorIs(t, err, ErrJournalLocked, next)
		if next == "rename" {
			// It waits for the lock of the file that is about to be replaced.
			go func() {
				again, err := OpenBolt(path, 20*time.Second, nil)
				if err == nil {
					err = wrongEntry(t, again.(*boltJournal), left[0])
					again.Close()
				}
				late <- err
			}()
			time.Sleep(50 * time.Millisecond)
		}
		return nil
	}))
	_, err := OpenBolt(path, 0, nil)
	require.ErrorIs(t, err, ErrJournalLocked, "and afterwards")
	sameBolt(t, j, left)
	require.NoError(t, j.Close())
	require.NoError(t, <-late, "whoever waited for the old file gets the new one")
}

func TestAJournalThatCannotBeReplacedIsNotCompacted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	left := spoil(t, j)
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Link(path, link))
	require.ErrorContains(t, j.Compact(t.Context()), "hard link")
	sameBolt(t, j, left)
	require.NoError(t, os.Remove(link))
	require.NoError(t, j.Compact(t.Context()))

	require.NoError(t, os.Rename(path, path+".away"))
	require.ErrorIs(t, j.Compact(t.Context()), ErrJournal)
	require.NoFileExists(t, path)
}

func TestWhatCrashesLeaveBesideAJournalIsRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	left := fillBolt(t, j, 3)
	require.NoError(t, j.Close())
	old := time.Now().Add(-2 * time.Hour)
	write := func(name string, at time.Time) {
		require.NoError(t, os.WriteFile(path+name, []byte("half"), 0o600))
		require.NoError(t, os.Chtimes(path+name, at, at))
	}
	write(".1.compact", time.Now())
	write(".2.new", old)
	write(".3.new", time.Now())
	write(".4.new", old)
	write(".mine.new", old)
	write(".new", old)
	write(".compact", old)
	require.NoError(t, os.Link(path, path+".5.new"))
	locked, err := os.OpenFile(path+".4.new", os.O_RDWR, 0)
	require.NoError(t, err)
	defer locked.Close()
	require.NoError(t, lockFile(locked, 0))
	stays := []string{"intents.db.3.new", "intents.db.4.new", "intents.db.compact", "intents.db.mine.new", "intents.db.new"}

	j = openTestBolt(t, path)
	require.Equal(t, stays, besideJournal(t, path))
	write(".6.compact", time.Now())
	require.NoError(t, j.Compact(t.Context()))
	require.Equal(t, stays, besideJournal(t, path))
	sameBolt(t, j, left)
}

// dieInCompaction compacts and dies before the step that the number behind the
// path names.
func dieInCompaction(t *testing.T, path string) {
	path, number, _ := strings.Cut(path, "#")
	var at int
	fmt.Sscan(number, &at)
	j := openTestBolt(t, path)
	n := 0
	j.compact(t.Context(), func(next string) error {
		if n++; n == at {
			fmt.Println("dies before", next)
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
		return nil
	})
	fmt.Println("did not die")
}

func TestAKillAtAnyStepOfACompactionLosesNothing(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		path := filepath.Join(t.TempDir(), "intents.db")
		j := openTestBolt(t, path)
		left := spoil(t, j)
		require.NoError(t, j.Close())
		c := boltChild(t, "die in compaction", fmt.Sprintf("%s#%d", path, n))
		out, err := c.Output()
		if strings.Contains(string(out), "did not die") {
			require.Equal(t, 10, n)
			return
		}
		require.Error(t, err)
		t.Logf("%s", out)
		checkBolt(t, path)
		require.Empty(t, besideJournal(t, path))
		j = openTestBolt(t, path)
		require.False(t, j.Standing().Copied)
		sameBolt(t, j, left)
		require.NoError(t, j.Compact(t.Context()))
		sameBolt(t, j, left)
	}
}

// compactUntilKilled writes as writeUntilKilled does, and compacts again and
// again.
func compactUntilKilled(t *testing.T, path string) {
	j := openTestBolt(t, path)
	go func() {
		for n := 0; ; n++ {
			require.NoError(t, j.Compact(t.Context()))
			fmt.Println("compacted", n)
		}
	}()
	writeOn(t, j)
}

func TestWhatWasAcknowledgedSurvivesAKillInACompaction(t *testing.T) {
	t.Parallel()
	halfway := surviveKills(t, "compact until killed", 40)
	require.Greater(t, halfway, 10, "kills that left a file of a compaction")
}

func TestCompactWaitsForCallsAndCallsForIt(t *testing.T) {
	t.Parallel()
	const seed = 3
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	j := newTestBolt(t)
	entries := fillBolt(t, j, 200)
	order := random.Perm(len(entries))
	var wait sync.WaitGroup
	for part := range slices.Chunk(order, 50) {
		wait.Go(func() {
			for _, n := range part {
				if err := wrongEntry(t, j, entries[n]); err != nil {
					t.Errorf("beside a compaction: %v", err)
				}
			}
		})
	}
	for range 3 {
		if err := j.Compact(t.Context()); err != nil {
			t.Errorf("Compact: %v", err)
		}
	}
	n := 0
	for _, err := range j.Open(t.Context()) {
		require.NoError(t, err)
		if n++; n == 5 {
			require.NoError(t, j.Compact(t.Context()), "between the pages of a list")
		}
	}
	wait.Wait()
}
