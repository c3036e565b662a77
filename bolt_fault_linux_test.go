package oncehttp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A faultyDisk puts another file under the journal's descriptor, so that its
// system calls fail as that file's do: every write to /dev/full is ENOSPC; to
// /dev/null a write succeeds and a sync is EINVAL; to a pipe pwrite is ESPIPE.
// What bbolt has mapped stays mapped.
type faultyDisk struct {
	t     *testing.T
	j     *boltJournal
	saved int
}

func newFaultyDisk(t *testing.T, j *boltJournal) *faultyDisk {
	t.Helper()
	saved, err := syscall.Dup(int(j.file.Fd()))
	require.NoError(t, err)
	t.Cleanup(func() { syscall.Close(saved) })
	// As if the file were long enough: that it is not is another fault.
	j.size, j.pageSize = math.MaxInt64, 0
	return &faultyDisk{t, j, saved}
}

func (d *faultyDisk) become(path string) {
	d.t.Helper()
	fd, err := syscall.Open(path, syscall.O_RDWR, 0)
	require.NoError(d.t, err)
	d.replace(fd)
	require.NoError(d.t, syscall.Close(fd))
}

func (d *faultyDisk) replace(fd int) {
	d.t.Helper()
	require.NoError(d.t, syscall.Dup3(fd, int(d.j.file.Fd()), syscall.O_CLOEXEC))
}

func (d *faultyDisk) mend() { d.replace(d.saved) }

// smallWrite is an update that finds room among the free pages.
func smallWrite(t *testing.T, j *boltJournal, e *Entry) error {
	t.Helper()
	e.Request, e.Response = nil, nil
	err := j.Update(t.Context(), *e)
	if err == nil {
		e.Revision++
	}
	return err
}

func TestAFullDiskRollsBackAndTheNextWriteMaySucceed(t *testing.T) {
	t.Parallel()
	j := newTestBolt(t)
	entries := fillBolt(t, j, 20)
	e := entries[1]
	disk := newFaultyDisk(t, j)
	for range 3 {
		before := j.commits()
		disk.become("/dev/full")
		err := smallWrite(t, j, &e)
		require.ErrorIs(t, err, ErrJournal)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.NotErrorIs(t, err, ErrFateUnknown)
		require.NotErrorIs(t, err, ErrJournalCorrupt)
		sameBolt(t, j, entries[2:])
		got, err := j.Get(t.Context(), e.ID)
		require.NoError(t, err)
		require.Equal(t, e.Revision, got.Revision)
		require.Equal(t, before, j.commits())

		disk.mend()
		require.NoError(t, smallWrite(t, j, &e))
	}
	require.NoError(t, j.Close())
	j = openTestBolt(t, j.path)
	sameBolt(t, j, entries[2:])
	got, err := j.Get(t.Context(), e.ID)
	require.NoError(t, err)
	require.EqualValues(t, 4, got.Revision)
}

func TestAFullDiskWhileTheFreelistIsLongRollsBackToo(t *testing.T) {
	t.Parallel()
	j := newTestBolt(t)
	j.freeLimit = 0
	entries := fillBolt(t, j, 20)
	disk := newFaultyDisk(t, j)
	disk.become("/dev/full")
	require.ErrorIs(t, smallWrite(t, j, &entries[1]), syscall.ENOSPC)
	disk.mend()
	require.NoError(t, smallWrite(t, j, &entries[1]))
	sameBolt(t, j, entries[2:])
}

func TestAFailedSyncStopsTheJournal(t *testing.T) {
	t.Parallel()
	for name, breakDisk := range map[string]func(d *faultyDisk){
		"a sync fails": func(d *faultyDisk) { d.become("/dev/null") },
		"a write fails with another error than a full disk": func(d *faultyDisk) {
			r, w, err := os.Pipe()
			require.NoError(d.t, err)
			defer r.Close()
			defer w.Close()
			d.replace(int(w.Fd()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newTestBolt(t)
			entries := fillBolt(t, j, 20)
			disk := newFaultyDisk(t, j)
			breakDisk(disk)
			e := entries[1]
			err := smallWrite(t, j, &e)
			require.ErrorIs(t, err, ErrFateUnknown)
			require.ErrorIs(t, err, ErrJournal)
			var errno syscall.Errno
			require.True(t, errors.As(err, &errno), "the system's error is kept: %v", err)

			disk.mend()
			for range 2 {
				err = smallWrite(t, j, &e)
				require.ErrorIs(t, err, ErrJournal, "a stopped journal takes no write, though the disk is well again")
				require.NotErrorIs(t, err, ErrFateUnknown, "nothing of a later write is written")
				require.ErrorContains(t, err, "open it again")
			}
			queued := &boltWrite{kind: writeUpdate, entry: e, done: make(chan bool, 1)}
			j.commit([]*boltWrite{queued})
			require.ErrorIs(t, queued.err, ErrJournal, "a write that was queued when the journal stopped is not made")
			require.NotErrorIs(t, queued.err, ErrFateUnknown)
			_, err = j.Get(t.Context(), e.ID)
			require.ErrorIs(t, err, ErrJournal, "a stopped journal shows nothing that may not be on disk")
			require.ErrorIs(t, lastError(j.Open(t.Context())), ErrJournal)
			require.NoError(t, j.Close())

			j = openTestBolt(t, j.path)
			sameBolt(t, j, entries[2:])
			got, err := j.Get(t.Context(), e.ID)
			require.NoError(t, err)
			require.Contains(t, []uint64{1, 2}, got.Revision)
		})
	}
}

func TestWhatIsKnownAfterACommitFailed(t *testing.T) {
	t.Parallel()
	write := func(err error) error { return &fs.PathError{Op: "write", Path: "intents.db", Err: err} }
	for _, c := range []struct {
		name    string
		cause   error
		visible bool
		unknown bool
	}{
		{"no space, told by a write", write(syscall.ENOSPC), false, false},
		{"no quota, told by a write", write(syscall.EDQUOT), false, false},
		{"a size limit, told by a write", write(syscall.EFBIG), false, false},
		{"no space for the meta page, which made it", write(syscall.ENOSPC), true, true},
		{"no space, told by a sync", syscall.ENOSPC, false, true},
		{"no space, told by a sync of os", &fs.PathError{Op: "sync", Path: "intents.db", Err: syscall.ENOSPC}, false, true},
		{"an input/output error of a write", write(syscall.EIO), false, true},
		{"an error that hides its reason", errors.New("file resize error"), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := newTestBolt(t)
			id := j.durable.Load() + 1
			if c.visible {
				id--
			}
			err := j.commitFailed(id, c.cause)
			require.ErrorIs(t, err, ErrJournal)
			require.ErrorIs(t, err, c.cause)
			require.Equal(t, c.unknown, errors.Is(err, ErrFateUnknown))
			require.Equal(t, c.unknown, j.broken.Load() != nil)
		})
	}
}

// The whole batch shares the fate of its commit; a write that its own condition
// refused has written nothing whatever became of it.
func TestAFailedCommitIsEachMembersOwnError(t *testing.T) {
	t.Parallel()
	j := newTestBolt(t)
	entries := fillBolt(t, j, 20)
	disk := newFaultyDisk(t, j)
	disk.become("/dev/null")
	good, stale := entries[1], entries[2]
	stale.Revision = 9
	batch := []*boltWrite{
		{kind: writeUpdate, entry: good, done: make(chan bool, 1)},
		{kind: writeUpdate, entry: stale, done: make(chan bool, 1)},
	}
	j.commit(batch)
	for _, w := range batch {
		require.ErrorIs(t, w.err, ErrJournal)
		require.NotErrorIs(t, w.err, ErrConflict, "what a refusal rests on may not be on disk")
		require.Equal(t, w.entry.ID == good.ID, errors.Is(w.err, ErrFateUnknown))
	}
	disk.mend()
}

func TestNoFollowerIsStrandedByAFailedCommit(t *testing.T) {
	t.Parallel()
	for _, device := range []string{"/dev/full", "/dev/null"} {
		j := newTestBolt(t)
		entries := fillBolt(t, j, 64)
		disk := newFaultyDisk(t, j)
		disk.become(device)
		var wait sync.WaitGroup
		for _, e := range entries {
			wait.Go(func() {
				for range 3 {
					if err := smallWrite(t, j, &e); !errors.Is(err, ErrJournal) {
						t.Errorf("want an error that is ErrJournal, got %v", err)
					}
				}
			})
		}
		wait.Wait()
		disk.mend()
		require.NoError(t, j.Close())
	}
}

func TestAPanicInACommitStrandsNobody(t *testing.T) {
	t.Parallel()
	j := openTestBolt(t, filepath.Join(t.TempDir(), "intents.db"))
	entries := fillBolt(t, j, 32)
	require.NoError(t, os.Truncate(j.path, 2*4096))
	var wait sync.WaitGroup
	for _, e := range entries {
		wait.Go(func() {
			if err := smallWrite(t, j, &e); !errors.Is(err, ErrJournalCorrupt) {
				t.Errorf("want an error that is ErrJournalCorrupt, got %v", err)
			}
		})
	}
	wait.Wait()
	require.NoError(t, j.Close())
}

func TestAPanicWithinBboltsCommitLeavesItsFateUnknown(t *testing.T) {
	t.Parallel()
	j := newTestBolt(t)
	entries := fillBolt(t, j, 2)
	// As if the commit had panicked, and the journal stopped for that.
	j.inCommit = true
	j.stop(boltDamaged(j.path, "a page is gone"))
	for _, unknown := range []bool{true, false} {
		w := &boltWrite{kind: writeUpdate, entry: entries[1], done: make(chan bool, 1)}
		j.commit([]*boltWrite{w})
		require.ErrorIs(t, w.err, ErrJournalCorrupt)
		require.Equal(t, unknown, errors.Is(w.err, ErrFateUnknown), "only what was in that commit")
	}
}

func TestARemovedOrReplacedFileIsNoticedAtTheNextWrite(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"moved":   func(t *testing.T, path string) { require.NoError(t, os.Rename(path, path+".old")) },
		"replaced by a copy": func(t *testing.T, path string) {
			file, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".copy", file, 0o600))
			require.NoError(t, os.Rename(path+".copy", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "intents.db")
			j := openTestBolt(t, path)
			entries := fillBolt(t, j, 3)
			harm(t, path)
			before := j.commits()
			err := smallWrite(t, j, &entries[1])
			require.ErrorIs(t, err, ErrJournal)
			require.NotErrorIs(t, err, ErrFateUnknown, "nothing was written")
			require.ErrorContains(t, err, "removed or replaced")
			require.Equal(t, before, j.commits())
			require.ErrorIs(t, smallWrite(t, j, &entries[1]), ErrJournal)
			require.NoError(t, j.Close())
		})
	}
}

func TestTheKindOfAFileSystemIsKnown(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{"/dev/shm": "tmpfs", "/proc": ""} {
		if _, err := os.Stat(dir); err != nil {
			t.Skip(err)
		}
		kind, trust := fileSystem(dir)
		require.Equal(t, want, kind)
		require.Equal(t, want == "tmpfs", trust == placeDoubtful)
	}
	require.Equal(t, placeRefused, fileSystems[0x6969].trust, "NFS_SUPER_MAGIC")
}

func init() {
	boltChildren["outgrow a limit"] = outgrowALimit
}

// outgrowALimit runs with RLIMIT_FSIZE at the file's size: ftruncate and pwrite
// beyond it are EFBIG.
func outgrowALimit(t *testing.T, path string) {
	j := openTestBolt(t, path)
	entries := fillBolt(t, j, 5)
	info, err := os.Stat(path)
	require.NoError(t, err)
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	most := limit.Cur
	limit.Cur = uint64(info.Size())
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))

	body := make([]byte, 64<<10)
	create := func() (Entry, error) {
		e := Entry{ID: uuid.Must(uuid.NewV7()), Open: true, Request: body}
		_, err := j.Create(t.Context(), e)
		e.Revision = 1
		return e, err
	}
	var failed error
	for n := 0; failed == nil; n++ {
		require.Less(t, n, 1000)
		var e Entry
		if e, failed = create(); failed == nil {
			entries = append(entries, e)
		}
	}
	require.ErrorIs(t, failed, ErrJournal)
	require.ErrorIs(t, failed, syscall.EFBIG)
	require.NotErrorIs(t, failed, ErrFateUnknown)
	sameBolt(t, j, entries)

	limit.Cur = 64 << 10
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	require.ErrorContains(t, j.Compact(t.Context()), "goes on as it was")
	require.Empty(t, besideJournal(t, path))
	sameBolt(t, j, entries)

	limit.Cur = most
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	e, err := create()
	require.NoError(t, err, "with room again the next write succeeds, without a new open")
	require.NoError(t, j.Compact(t.Context()))
	sameBolt(t, j, append(entries, e))
	require.NoError(t, j.Close())
	fmt.Println("limit met")
}

func TestAFileAtItsSizeLimitRollsBackAndTheNextWriteMaySucceed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	c := boltChild(t, "outgrow a limit", path)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	text, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, c.Wait(), "%s", text)
	require.Contains(t, string(text), "limit met")
	checkBolt(t, path)
}
