package oncehttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C068: a limit on the size of files is what a full disk is, for one process.
func TestAFullDiskSendsNothingAndLosesNothing(t *testing.T) {
	path := os.Getenv(childPath)
	if path == "" {
		t.Parallel()
		cmd := child(t, journalPath(t))
		cmd.Stderr = nil
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	long := strings.Repeat("x", 64<<10)
	srv := mockserver.Memory(mockserver.Config{Execute: func(*http.Request) mockserver.Answer {
		return mockserver.Answer{Status: 201, Body: long} // answers are kept, and fill the journal
	}})
	defer srv.Close()
	cfg := oncehttp.Config{Transport: srv.Transport(), Retry: fast, Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", time.Hour)}}
	c, err := oncehttp.Open(path, cfg)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	var free syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &free))
	full := free
	full.Cur = uint64(info.Size()) + 1<<20
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full))

	body := `{"text":"` + long + `"}`
	confirmed, failed := 0, false
	for n := 0; n < 200 && !failed; n++ {
		sent := len(srv.Requests())
		o, err := c.Do(fmt.Sprintf("pay-%d", n), post(t, srv.URL+"/payments", body))
		switch {
		case err == nil:
			require.Equal(t, oncehttp.Confirmed, o.State)
			confirmed++
		case len(srv.Requests()) == sent:
			failed = true
			require.ErrorIs(t, err, oncehttp.ErrJournal)
		default: // the answer came and could not be recorded
			failed = true
			var pending *oncehttp.PendingError
			require.ErrorAs(t, err, &pending)
			assert.Equal(t, oncehttp.NotRecorded, o.Reason)
			confirmed++
		}
		if failed {
			t.Logf("after %d: %v; %v", n, err, errors.Unwrap(err))
		}
	}
	require.True(t, failed)
	for n := range confirmed {
		_, err := c.Outcome(t.Context(), fmt.Sprintf("pay-%d", n))
		require.NoError(t, err)
	}
	assert.Equal(t, confirmed, srv.EffectsTotal())

	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &free))
	if _, err := c.Do("after", post(t, srv.URL+"/after", body)); err != nil {
		// bbolt could not grow its file and hides why: the journal takes no more
		// writes until it is opened again.
		require.ErrorIs(t, err, oncehttp.ErrJournal)
		assert.Equal(t, 0, srv.EffectsOf("POST /after"))
		require.NoError(t, c.Close())
		c, err = oncehttp.Open(path, cfg)
		require.NoError(t, err)
		o, err := c.Do("after", post(t, srv.URL+"/after", body))
		require.NoError(t, err)
		assert.Equal(t, oncehttp.Confirmed, o.State)
	}
	assert.Equal(t, 1, srv.EffectsOf("POST /after"))
	require.NoError(t, c.Close())
}
