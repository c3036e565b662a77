package oncehttp

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileIsTheSameUnlessWhatIsKnownSaysOtherwise(t *testing.T) {
	t.Parallel()
	made := boltOrigin{Device: 1, Inode: 2, Birth: 3}
	for _, c := range []struct {
		now  boltOrigin
		same bool
	}{
		{made, true},
		{boltOrigin{Device: 1, Inode: 9, Birth: 3}, false},
		{boltOrigin{Device: 1, Inode: 2, Birth: 9}, false},
		{boltOrigin{Device: 9, Inode: 2, Birth: 3}, true},
		{boltOrigin{Device: 1, Inode: 2}, true},
		{boltOrigin{Device: 9, Inode: 2}, false},
		{boltOrigin{}, true},
	} {
		require.Equal(t, c.same, made.sameFile(c.now), c.now)
		require.Equal(t, c.same, c.now.sameFile(made), c.now)
	}
}

func TestATornMetaPageIsToldOf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	j := openTestBolt(t, path)
	fillBolt(t, j, 3)
	pageSize := j.pageSize
	require.NoError(t, j.Close())
	var log bytes.Buffer
	open := func() {
		t.Helper()
		log.Reset()
		j, err := OpenBolt(path, 0, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}
	open()
	require.NotContains(t, log.String(), "meta page")
	for _, at := range []int64{0, pageSize} {
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		torn := bytes.Clone(whole)
		torn[at+40] ^= 1
		require.NoError(t, os.WriteFile(path, torn, 0o600))
		open()
		require.Contains(t, log.String(), "meta page")
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
}
