package oncehttp

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnIntentThatGoesWellCostsTwoCommits(t *testing.T) {
	t.Parallel()
	j := newTestBolt(t)
	before := j.commits()
	e := Entry{ID: uuid.Must(uuid.NewV7()), Names: []string{"order-42/charge", "key"}, Open: true, Due: time.Now(),
		Record: []byte("attempt 1 started"), Request: make([]byte, 100_000)}
	_, err := j.Create(t.Context(), e)
	require.NoError(t, err)
	require.EqualValues(t, 1, j.commits()-before)
	require.NoError(t, j.Update(t.Context(), Entry{ID: e.ID, Revision: 1, Record: []byte("confirmed"), Request: []byte{}, Response: []byte("{}")}))
	require.EqualValues(t, 2, j.commits()-before)

	_, err = j.Create(t.Context(), Entry{ID: uuid.Must(uuid.NewV7()), Names: e.Names})
	require.ErrorIs(t, err, ErrExists)
	require.ErrorIs(t, j.Update(t.Context(), Entry{ID: e.ID}), ErrConflict)
	_, err = j.Find(t.Context(), "key")
	require.NoError(t, err)
	require.EqualValues(t, 2, j.commits()-before, "reads and refused writes commit nothing")
}

// A queue that stands while a commit is made is taken whole by the next.
func TestAllThatWaitedGoesIntoTheNextCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opened, err := OpenBolt(filepath.Join(t.TempDir(), "intents.db"), 0, nil)
		require.NoError(t, err)
		j := opened.(*boltJournal)
		defer j.Close()
		create := func() error {
			_, err := j.Create(t.Context(), Entry{ID: uuid.Must(uuid.NewV7())})
			return err
		}
		require.NoError(t, create())

		// As if a commit were under way.
		j.group.mu.Lock()
		j.group.busy = true
		j.group.mu.Unlock()
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() { assert.NoError(t, create()) })
		}
		synctest.Wait()
		before := j.commits()
		j.group.handOver(nil, nil, time.Now())
		wait.Wait()
		require.EqualValues(t, 1, j.commits()-before)
	})
}

func TestALoneCallerNeverLingersAndACrowdNotForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := boltGroup{queue: make([]*boltWrite, 1), last: 1, took: time.Hour}
		linger := func() int {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.linger()
		}
		require.Zero(t, linger(), "the last batch was one")
		g.last = 64
		require.Equal(t, lingerSpins, linger(), "the clock stands still here")
		require.False(t, g.late)
		g.late = true
		require.Zero(t, linger(), "the processors are busy with the crowd's own work")
		require.Equal(t, lingerSpins, linger(), "but once")
		g.queue = make([]*boltWrite, 64)
		require.Zero(t, linger(), "the crowd is here")
		g.queue, g.took = g.queue[:1], 0
		require.Zero(t, linger(), "a commit takes no time here")
	})
}

// bbolt shows a transaction from the moment its meta page is written, before
// the sync that makes it durable.
func TestAReadWaitsForTheSyncOfWhatItSaw(t *testing.T) {
	t.Parallel()
	j := newTestBolt(t)
	e := fillBolt(t, j, 2)[1]
	// As if the last commit were visible and its sync still running.
	j.committing.Lock()
	last := j.durable.Load()
	j.durable.Store(last - 1)
	read := make(chan error, 1)
	go func() {
		_, err := j.Get(t.Context(), e.ID)
		read <- err
	}()
	select {
	case <-read:
		t.Fatal("a read returned what is not on disk")
	case <-time.After(50 * time.Millisecond):
	}
	j.durable.Store(last)
	j.committing.Unlock()
	require.NoError(t, <-read)
}

func TestAReadOfACommitThatIsLostFails(t *testing.T) {
	t.Parallel()
	j := newTestBolt(t)
	e := fillBolt(t, j, 2)[1]
	j.committing.Lock()
	j.durable.Add(-1)
	read := make(chan error, 1)
	go func() {
		_, err := j.Get(t.Context(), e.ID)
		read <- err
	}()
	time.Sleep(10 * time.Millisecond) // more often than not, the read waits by now
	j.lose(fmt.Errorf("the sync failed"))
	j.committing.Unlock()
	require.ErrorIs(t, <-read, ErrJournal)
}

func TestTheJournalWorksUnderAFakeClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "intents.db")
		j, err := OpenBolt(path, 0, nil)
		require.NoError(t, err)
		start := time.Now()
		_, err = OpenBolt(path, time.Hour, nil)
		require.ErrorIs(t, err, ErrJournalLocked)
		require.GreaterOrEqual(t, time.Since(start), time.Hour, "the lock's time-out is on the bubble's clock")
		var wait sync.WaitGroup
		for range 64 {
			wait.Go(func() {
				_, err := j.Create(t.Context(), Entry{ID: uuid.Must(uuid.NewV7())})
				assert.NoError(t, err)
			})
		}
		wait.Wait()
		require.NoError(t, j.Close())
	})
}
