package oncehttp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func openTestBolt(t testing.TB, path string) *boltJournal {
	t.Helper()
	j, err := OpenBolt(path, time.Second, nil)
	require.NoError(t, err)
	t.Cleanup(func() { j.Close() })
	return j.(*boltJournal)
}

// newTestBolt opens a new journal; when the test ends, the file is opened
// again and checked whole.
func newTestBolt(t *testing.T) *boltJournal {
	t.Helper()
	path := filepath.Join(t.TempDir(), "intents.db")
	t.Cleanup(func() {
		if !t.Failed() {
			checkBolt(t, path)
		}
	})
	return openTestBolt(t, path)
}

// fillBolt makes n entries with names: a third settled, every 20th with a body
// of several chunks.
func fillBolt(t testing.TB, j *boltJournal, n int) []Entry {
	t.Helper()
	var all []Entry
	for i := range n {
		id := uuid.Must(uuid.NewV7())
		e := Entry{ID: id, Names: []string{fmt.Sprintf("%x/%s", id[12:], id)}, Open: true,
			Record: fmt.Appendf(nil, "record %d", i), Request: make([]byte, 100+i%7*250)}
		if i%20 == 1 {
			e.Request = make([]byte, 70_000)
		}
		for k := range e.Request {
			e.Request[k] = byte(i + k)
		}
		if i%2 == 0 {
			e.Due = time.Unix(int64(i), 0)
		}
		_, err := j.Create(t.Context(), e)
		require.NoError(t, err)
		e.Revision = 1
		if i%3 == 0 {
			e.Open, e.Request, e.Response = false, []byte{}, fmt.Appendf(nil, "response %d", i)
			require.NoError(t, j.Update(t.Context(), e))
			e.Revision = 2
		}
		all = append(all, e)
	}
	return all
}

// sameBolt checks that the journal has these entries as they are.
func sameBolt(t testing.TB, j *boltJournal, entries []Entry) {
	t.Helper()
	for _, e := range entries {
		require.NoError(t, wrongEntry(t, j, e))
	}
}

// wrongEntry reads all there is of an entry. Its error is the journal's, or says
// what is not as in e.
func wrongEntry(t testing.TB, j *boltJournal, e Entry) error {
	got, err := j.Get(t.Context(), e.ID)
	if err != nil {
		return err
	}
	if got.Revision != e.Revision || got.Open != e.Open || string(got.Record) != string(e.Record) || !got.Due.Equal(e.Due) {
		return fmt.Errorf("entry %s is wrong: %+v", e.ID, got)
	}
	for _, name := range e.Names {
		if got, err := j.Find(t.Context(), name); err != nil {
			return err
		} else if got.ID != e.ID {
			return fmt.Errorf("name %s finds %s", name, got.ID)
		}
	}
	for which, want := range map[Body][]byte{RequestBody: e.Request, ResponseBody: e.Response} {
		if body, err := j.Body(t.Context(), e.ID, which); err != nil {
			return err
		} else if string(body) != string(want) {
			return fmt.Errorf("body %d of %s is wrong", which, e.ID)
		}
	}
	return nil
}

// checkBolt opens the file and checks every page, every checksum, and that the
// indexes and bodies are those of the entries, no more and no fewer.
func checkBolt(t testing.TB, path string) {
	t.Helper()
	opened, err := OpenBolt(path, time.Second, nil)
	require.NoError(t, err)
	j := opened.(*boltJournal)
	defer j.Close()
	pages := &boltPages{f: j.file, path: path}
	pages.meta, err = chooseMeta(j.file, 1<<40)
	require.NoError(t, err)
	pages.seen = make([]uint64, pages.meta.end/64+1)
	require.NoError(t, pages.checkTree(pages.meta.root, nil, 0))
	require.NoError(t, j.view(context.Background(), checkBuckets)) // at cleanup the test's own is over
}

func checkBuckets(t *boltTx) error {
	names, open, chunks := 0, 0, 0
	err := t.bucket(inEntries).ForEach(func(k, v []byte) error {
		id := uuid.UUID(k)
		f, err := decodeFrame(t.path, &id, v)
		if err != nil {
			return err
		}
		err = f.eachName(func(name []byte) error {
			names++
			_, _, _, err := t.find(name)
			return err
		})
		if err != nil {
			return err
		}
		if f.open {
			open++
			if b := t.bucket(inOpen).Get(openKey(nil, f.due, &id)); b == nil {
				return fmt.Errorf("%s is not in the index of open entries", id)
			}
		}
		for which, body := range f.bodies {
			chunks += body.chunks()
			if _, err := t.body(&id, which, body); err != nil {
				return err
			}
		}
		return nil
	})
	for bucket, want := range map[int]int{inNames: names, inOpen: open, inBodies: chunks} {
		if got := t.bucket(bucket).Inspect().KeyN; got != want {
			err = errors.Join(err, fmt.Errorf("bucket %s has %d keys where the entries have %d", boltBuckets[bucket], got, want))
		}
	}
	return err
}
