//go:build linux

package disk

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, b, 0o600))
}

// What every image of a power cut is told as, and what is done about it.
func TestAJournalKnowsWhetherItIsACopy(t *testing.T) {
	t.Parallel()
	p := newPlan(1, 1, 30)
	for name, c := range map[string]struct {
		become func(t *testing.T, path, older string) string
		copied bool
	}{
		"copied": {func(t *testing.T, path, _ string) string {
			copyFile(t, path, path+".copy")
			return path + ".copy"
		}, true},
		"a copy renamed over it": {func(t *testing.T, path, _ string) string {
			copyFile(t, path, path+".copy")
			require.NoError(t, os.Rename(path+".copy", path))
			return path
		}, true},
		"an older backup restored": {func(t *testing.T, path, older string) string {
			require.NoError(t, os.Remove(path))
			copyFile(t, older, path)
			return path
		}, true},
		"moved": {func(t *testing.T, path, _ string) string {
			require.NoError(t, os.Rename(path, path+".moved"))
			return path + ".moved"
		}, false},
		"linked": {func(t *testing.T, path, _ string) string {
			require.NoError(t, os.Link(path, path+".linked"))
			return path + ".linked"
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := scratchDir(t)
			path, older := filepath.Join(dir, journalName), filepath.Join(dir, "backup")
			require.NoError(t, p.carryOut(path, true))
			copyFile(t, path, older)
			j, err := openJournal(path, false)
			require.NoError(t, err)
			late := oncehttp.Entry{ID: entryID(9, 1), Record: []byte("late")}
			_, err = j.Create(context.Background(), late)
			require.NoError(t, err)
			require.NoError(t, j.Close())

			path = c.become(t, path, older)
			for range 2 { // a restart changes nothing
				j, err = openJournal(path, false)
				require.NoError(t, err)
				require.Equal(t, c.copied, j.Standing().Copied)
				for e, err := range j.Open(context.Background()) {
					require.NoError(t, err)
					require.Equal(t, c.copied, e.Copied)
				}
				require.NoError(t, j.Close())
			}
			for range 2 {
				j, err = openJournal(path, true)
				require.NoError(t, err)
				require.False(t, j.Standing().Copied)
				require.NoError(t, j.Close())
			}
			j, err = openJournal(path, false)
			require.NoError(t, err)
			require.False(t, j.Standing().Copied, "once adopted it is a journal like any other")
			for e, err := range j.Open(context.Background()) {
				require.NoError(t, err)
				require.Equal(t, c.copied, e.Copied, "until it is written again")
			}
			require.NoError(t, j.Close())
		})
	}
}
