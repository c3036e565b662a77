package oncehttp_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// childPath, when set, makes this test binary the other process of a test.
const childPath = "ONCEHTTP_TEST_CHILD_JOURNAL"

// child is this test in a process of its own.
func child(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childPath+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// C064
func TestASecondProcessIsToldThatTheJournalIsInUse(t *testing.T) {
	if path := os.Getenv(childPath); path != "" {
		c := open(t, path, oncehttp.Config{})
		_, err := c.Begin("pay-1", post(t, "http://api.test/payments", payment))
		require.NoError(t, err)
		fmt.Println("journal is open")
		select {} // until it is killed
	}
	t.Parallel()
	path := journalPath(t)
	cmd := child(t, path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "journal is open"; {
	}
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	cfg := oncehttp.Config{LockTimeout: 200 * time.Millisecond, Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", time.Hour)}}
	for _, name := range []string{path, link} {
		begun := time.Now()
		_, err = oncehttp.Open(name, cfg)
		require.ErrorIs(t, err, oncehttp.ErrJournalLocked)
		assert.ErrorContains(t, err, path)
		assert.GreaterOrEqual(t, time.Since(begun), cfg.LockTimeout)
		assert.Less(t, time.Since(begun), 20*time.Second)
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	c, err := oncehttp.Open(path, cfg)
	require.NoError(t, err)
	o, err := c.Outcome(t.Context(), "pay-1")
	require.NoError(t, err)
	assert.Equal(t, oncehttp.NotSent, o.Reason)
	for _, name := range []string{path, link} { // in one process too
		_, err = oncehttp.Open(name, cfg)
		require.ErrorIs(t, err, oncehttp.ErrJournalLocked)
	}
	require.NoError(t, c.Close())
}

// C071
func TestTheJournalIsNeverHeldAcrossARequest(t *testing.T) {
	t.Parallel()
	const callers, each = 64, 2
	srv := mockserver.Memory(mockserver.Config{Work: 10 * time.Millisecond})
	defer srv.Close()
	transport := srv.Transport()
	j := &hookedJournal{}
	var writes atomic.Int64
	fail := func(oncehttp.Entry) error {
		if writes.Add(1)%10 == 0 {
			return errFull
		}
		return nil
	}
	j.create, j.update = fail, fail
	inner, err := oncehttp.OpenBolt(journalPath(t), time.Second, nil)
	require.NoError(t, err)
	j.Journal = inner
	// Half of the callers' requests are under way before any is answered.
	var under atomic.Int64
	together := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(together) })
	meet := roundTripper(func(req *http.Request) (*http.Response, error) {
		if under.Add(1) == callers/2 {
			goOn()
		}
		select {
		case <-together:
			return transport.RoundTrip(req)
		case <-req.Context().Done():
			assert.Fail(t, "a request waits for others that the journal does not let go")
			goOn()
			return nil, req.Context().Err()
		}
	})
	c, err := oncehttp.New(j, oncehttp.Config{Transport: meet, Retry: fast, Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", time.Hour)}})
	require.NoError(t, err)
	defer c.Close()

	ctx, stop := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	for range 2 {
		beside.Go(func() {
			for ctx.Err() == nil {
				var listed []*oncehttp.Intent
				for in, err := range c.Pending(ctx) {
					if err == nil {
						listed = append(listed, in)
					}
				}
				runtime.Gosched()
				for _, in := range listed { // they stay valid after later writes
					assert.NotEmpty(t, in.Action())
					assert.Len(t, in.Key(), 36)
				}
				for range c.Resume(ctx) {
				}
			}
		})
	}
	var all sync.WaitGroup
	keys := make([]string, callers)
	for i := range callers {
		all.Go(func() {
			for n := range each {
				action := fmt.Sprintf("pay-%d-%d", i, n)
				for range 20 {
					o, err := c.Do(action, post(t, srv.URL+"/payments", fmt.Sprintf(`{"n":"%s"}`, action)))
					if err == nil {
						assert.Equal(t, oncehttp.Confirmed, o.State)
						keys[i] = o.Key
						break
					}
				}
			}
		})
	}
	all.Wait()
	stop()
	beside.Wait()
	assert.Equal(t, callers*each, srv.EffectsTotal())
	for _, key := range keys {
		assert.Equal(t, 1, srv.Effects(key))
	}
}
