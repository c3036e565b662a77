package mockserver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestCloseAbandonsWorkAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{Work: time.Hour})
		s.Script(mockserver.Fault{}, mockserver.Fault{See: mockserver.SeeNothing}, mockserver.Fault{See: mockserver.SeeEndless},
			mockserver.Fault{See: mockserver.SeeReset, Commit: true, Late: time.Hour}, mockserver.Fault{After: time.Hour, Status: 200},
			mockserver.Fault{See: mockserver.SeeReset, Commit: true, Behind: 9})
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				got := send(t, s, "POST", "/payments", `{}`)
				assert.True(t, got.err != nil || got.cut != nil)
			})
		}
		require.Eventually(t, func() bool { return len(s.Requests()) == 6 }, 5*time.Second, time.Millisecond)
		s.Close()
		s.Close()
		s.Crash() // nothing is left to die
		wg.Wait()
		assert.Equal(t, 0, s.EffectsTotal())
		assert.Error(t, send(t, s, "POST", "/payments", `{}`).err)
	})
}

func TestRefusedDialsReachNobody(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{})
		s.RefuseDials(1)
		got := pay(t, s, "k", `{}`)
		require.ErrorContains(t, got.err, "connection refused")
		assert.Empty(t, s.Requests())
		assert.Equal(t, 201, pay(t, s, "k", `{}`).status)
	})
}

func TestAnyHostAndSchemeReachesTheServer(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	got := sendBy(t.Context(), t, s.Client(), "https://api.example.com", "POST", "/payments", `{}`)
	require.NoError(t, got.err)
	assert.Equal(t, "api.example.com", s.Requests()[0].Host)
}

// What net/http does by itself on connections that were kept alive, because of
// the key alone: the mock must show it, since a careful client must prevent it.
func TestNetHTTPResendsOnceForEveryIdleConnection(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		const idle = 10
		together := make(chan struct{})
		s := start(mockserver.Config{
			Unkeyed: func(*http.Request) bool { return true },
			Execute: func(r *http.Request) mockserver.Answer {
				if r.URL.Path == "/warm" {
					<-together
				}
				return mockserver.Answer{Status: 201}
			},
		})
		transport := s.Transport()
		transport.MaxIdleConnsPerHost = idle
		client := &http.Client{Transport: transport}
		var wg sync.WaitGroup
		for range idle {
			wg.Go(func() { sendBy(t.Context(), t, client, s.URL, "POST", "/warm", `{}`) })
		}
		require.Eventually(t, func() bool { return len(s.Requests()) == idle }, 5*time.Second, time.Millisecond)
		close(together)
		wg.Wait()

		s.Script(mockserver.Fault{Commit: true, See: mockserver.SeeClose}.Always())
		got := sendBy(t.Context(), t, client, s.URL, "POST", "/payments", `{}`, header("Idempotency-Key", "k"), func(r *http.Request) {
			r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(`{}`)), nil }
		})
		require.Error(t, got.err)
		assert.Greater(t, s.Effects("k"), 1, "one call, several executions")
		assert.LessOrEqual(t, s.Effects("k"), idle+1)
		t.Logf("one call made %d effects", s.Effects("k"))
	})
}

func TestCloseWaitsForHooksUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.New(mockserver.Config{Execute: func(*http.Request) mockserver.Answer {
			time.Sleep(time.Hour)
			return mockserver.Answer{Status: 201}
		}})
		var wg sync.WaitGroup
		wg.Go(func() {
			assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
				s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil))
			})
		})
		synctest.Wait()
		begin := time.Now()
		s.Close()
		assert.Equal(t, time.Hour, time.Since(begin))
		assert.Equal(t, 0, s.EffectsTotal())
		wg.Wait()
	})
}
