package oncehttp

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

func TestAJournalInUseIsLockedAndSaysByWhom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	c := boltChild(t, "hold the lock", path)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewScanner(out)
	for open := false; !open && lines.Scan(); open = lines.Text() == "open" {
	}

	for _, name := range []string{path, link} {
		start := time.Now()
		_, err := OpenBolt(name, 200*time.Millisecond, nil)
		waited := time.Since(start)
		require.ErrorIs(t, err, ErrJournalLocked)
		require.ErrorIs(t, err, ErrJournal)
		require.ErrorIs(t, err, berrors.ErrTimeout)
		require.NotErrorIs(t, err, ErrJournalCorrupt)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, name, "also by the name that was given")
		require.GreaterOrEqual(t, waited, 200*time.Millisecond)
		require.Less(t, waited, 20*time.Second)
		if holder := lockHolderOf(t, path); holder != 0 {
			require.Equal(t, c.Process.Pid, holder)
			require.ErrorContains(t, err, fmt.Sprintf("process %d", holder))
		}
	}

	require.NoError(t, c.Process.Kill())
	c.Wait()
	openTestBolt(t, link)
}

func lockHolderOf(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	return lockHolder(f)
}

func TestAJournalOpenedTwiceInOneProcessIsLockedUntilItIsClosed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	_, err := OpenBolt(path, 0, nil)
	require.ErrorIs(t, err, ErrJournalLocked)
	require.ErrorIs(t, err, berrors.ErrTimeout)

	opened := make(chan error, 1)
	go func() {
		again, err := OpenBolt(path, 10*time.Second, nil)
		if err == nil {
			err = again.Close()
		}
		opened <- err
	}()
	fillBolt(t, j, 1)
	require.NoError(t, j.Close())
	require.NoError(t, <-opened, "whoever waits for the lock gets it")
}

func TestManyWhoMakeOneJournalAllGetTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "intents.db")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			j, err := OpenBolt(path, 10*time.Second, nil)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			if _, err := j.Create(t.Context(), Entry{ID: uuid.Must(uuid.NewV7())}); err != nil {
				t.Errorf("create: %v", err)
			}
			if err := j.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	wait.Wait()
	j := openTestBolt(t, path)
	n := 0
	for _, err := range j.Settled(t.Context(), time.Time{}, time.Now().Add(time.Hour)) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 8, n)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no file of another name stays")
}

func TestANewJournalIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	openTestBolt(t, path).Close()
	mode := func() os.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	require.Equal(t, os.FileMode(0o600), mode())

	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	for _, given := range []os.FileMode{0o644, 0o400, 0o600} {
		log.Reset()
		require.NoError(t, os.Chmod(path, given))
		j, err := OpenBolt(path, 0, logger)
		if err == nil {
			require.NoError(t, j.Close())
		} else { // not root, and not ours to write
			require.ErrorIs(t, err, os.ErrPermission)
			require.NotErrorIs(t, err, ErrJournalCorrupt)
		}
		require.Equal(t, given, mode(), "a mode that was set is left")
		require.Equal(t, given == 0o644, bytes.Contains(log.Bytes(), []byte("chmod")), "a wide mode is warned of: %s", log.String())
	}
}

func TestAStaleOrHalfMadeJournalBesideItIsHarmless(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	require.NoError(t, os.WriteFile(path+".123.new", nil, 0o600))
	require.NoError(t, os.WriteFile(path+".456.new", []byte("half"), 0o600))
	j := openTestBolt(t, path)
	sameBolt(t, j, fillBolt(t, j, 3))
}

func TestADanglingLinkIsFollowedToWhereTheJournalIsMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data", "deep"), 0o700))
	require.NoError(t, os.Symlink("data/deep", filepath.Join(dir, "short")))
	require.NoError(t, os.Symlink("short/../real.db", filepath.Join(dir, "link.db")))
	j := openTestBolt(t, filepath.Join(dir, "link.db"))
	require.FileExists(t, filepath.Join(dir, "data", "real.db"), ".. is taken after the links before it")
	require.NoError(t, j.Close())
	loop := filepath.Join(dir, "loop")
	require.NoError(t, os.Symlink("loop", loop))
	_, err := OpenBolt(loop, 0, nil)
	require.ErrorIs(t, err, ErrJournal)
}

func TestWhatCannotBeOpenedIsNotCalledDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, path := range map[string]string{
		"a directory":  dir,
		"no path":      "",
		"no directory": filepath.Join(dir, "absent", "intents.db"),
	} {
		_, err := OpenBolt(path, 0, nil)
		require.ErrorIs(t, err, ErrJournal, name)
		require.NotErrorIs(t, err, ErrJournalCorrupt, name)
	}
}

func TestAFileSystemThatIsNotToBeTrustedIsRefusedOrWarnedOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trust         placeTrust
		refused, told bool
	}{{placeFine, false, false}, {placeDoubtful, false, true}, {placeRefused, true, false}} {
		var log bytes.Buffer
		err := boltPlace("/data/intents.db", "somefs", c.trust, slog.New(slog.NewTextHandler(&log, nil)))
		require.Equal(t, c.refused, err != nil)
		if c.refused {
			require.ErrorIs(t, err, ErrJournal)
			require.NotErrorIs(t, err, ErrJournalCorrupt)
			require.ErrorContains(t, err, "somefs")
		}
		require.Equal(t, c.told, bytes.Contains(log.Bytes(), []byte("somefs")))
	}
}

func TestAFileThatIsNoJournalIsRefusedAsItIs(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other.db")
	db, err := bbolt.Open(other, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	text := filepath.Join(t.TempDir(), "text.db")
	require.NoError(t, os.WriteFile(text, bytes.Repeat([]byte("not a journal\n"), 1000), 0o600))
	for _, path := range []string{other, text} {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = OpenBolt(path, 0, nil)
		require.ErrorIs(t, err, ErrJournalCorrupt)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}

func TestTheFreelistIsInTheFileAfterACleanClose(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	j.freeLimit = 0
	entries := fillBolt(t, j, 10)
	synced := func() bool {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		meta, err := chooseMeta(f, 1<<40)
		require.NoError(t, err)
		return meta.freelist != noFreelist
	}
	require.False(t, synced(), "a long freelist is not written with each commit")
	require.NoError(t, j.Close())
	require.True(t, synced())
	j = openTestBolt(t, path)
	sameBolt(t, j, entries)
	fillBolt(t, j, 3)
	require.True(t, synced(), "a short one is")
}

func TestTheJournalKnowsWhichFileItWasMadeAs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	origin, names, err := originOf(j.file)
	require.NoError(t, err)
	require.Equal(t, origin, j.meta.boltOrigin)
	require.Equal(t, uint64(1), names)
	require.False(t, j.Standing().Copied)
	require.WithinDuration(t, time.Now(), j.meta.Created, time.Minute)
}
