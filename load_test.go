package oncehttp_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// 500 callers on 50 actions, with a fault on a third of the answers: one effect
// an action, one request at a time for each, and nothing left behind.
func TestManyCallersOfFewActionsMakeOneEffectEach(t *testing.T) {
	const callers, actions = 500, 50
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	before := runtime.NumGoroutine()
	func() {
		srv := mockserver.Start(mockserver.Config{Work: 2 * time.Millisecond})
		defer srv.Close()
		chance := rand.New(rand.NewPCG(seed, 0))
		faults := []mockserver.Fault{
			mockserver.Lost(), mockserver.Gateway(502).Committed(), mockserver.Gateway(503), mockserver.Status(429),
			{See: mockserver.SeeClose}, {See: mockserver.SeeTruncated, Keep: 5}, {Commit: true, After: 300 * time.Millisecond},
		}
		var faulty []mockserver.Fault
		for range 4 * actions {
			f := mockserver.Fault{}
			if chance.IntN(3) == 0 {
				f = faults[chance.IntN(len(faults))]
			}
			faulty = append(faulty, f)
		}
		srv.Script(faulty...)
		running := &watch{busy: map[string]bool{}}
		transport := srv.Transport()
		defer transport.CloseIdleConnections()
		retry := fast
		retry.AttemptTimeout, retry.MaxAttempts = 200*time.Millisecond, 8
		c, err := oncehttp.Open(journalPath(t), oncehttp.Config{
			Transport: running.on(transport), Retry: retry,
			Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", time.Hour)},
		})
		require.NoError(t, err)
		defer c.Close()
		var all sync.WaitGroup
		keys := make([]string, actions)
		var mu sync.Mutex
		for i := range callers {
			all.Go(func() {
				n := i % actions
				action := fmt.Sprintf("pay-%d", n)
				for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
					o, err := c.Do(action, post(t, srv.URL+"/payments", fmt.Sprintf(`{"n":%d}`, n)))
					if errors.As(err, new(*oncehttp.PendingError)) {
						continue
					}
					if assert.NoError(t, err) {
						assert.Equal(t, oncehttp.Confirmed, o.State)
						mu.Lock()
						keys[n] = o.Key
						mu.Unlock()
					}
					return
				}
				assert.Fail(t, "never settled", action)
			})
		}
		all.Wait()
		require.NoError(t, srv.WaitIdle(t.Context()))
		for _, key := range keys {
			assert.Equal(t, 1, srv.Effects(key))
		}
		assert.Equal(t, actions, srv.EffectsTotal())
		assert.Empty(t, running.twice)
	}()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if runtime.NumGoroutine() <= before+5 {
			return
		}
	}
	stacks := make([]byte, 1<<20)
	assert.Fail(t, "goroutines are left", "%d of %d\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// A watch sees whether two requests of one key are under way at once, from the
// send to the end of the answer's body.
type watch struct {
	mu    sync.Mutex
	busy  map[string]bool
	twice []string
}

func (w *watch) set(key string, busy bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if busy && w.busy[key] {
		w.twice = append(w.twice, key)
	}
	w.busy[key] = busy
}

func (w *watch) on(inner http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		key := req.Header.Get("Idempotency-Key")
		w.set(key, true)
		resp, err := inner.RoundTrip(req)
		if err != nil {
			w.set(key, false)
			return nil, err
		}
		resp.Body = &watchedBody{ReadCloser: resp.Body, closed: sync.OnceFunc(func() { w.set(key, false) })}
		return resp, nil
	})
}

type watchedBody struct {
	io.ReadCloser
	closed func()
}

func (b *watchedBody) Close() error {
	defer b.closed()
	return b.ReadCloser.Close()
}
