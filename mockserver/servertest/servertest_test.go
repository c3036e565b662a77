package servertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func request(url string, n int) *http.Request {
	r, err := http.NewRequest("POST", url+"/payments", strings.NewReader(`{"n":`+strconv.Itoa(n)+`}`))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

func asTenant(r *http.Request, n int) {
	r.Header.Set("Authorization", "tenant "+strconv.Itoa(n))
}

func mockTarget(t testing.TB, cfg mockserver.Config) Target {
	s := mockserver.Start(cfg)
	t.Cleanup(s.Close)
	return Target{
		NewRequest: func(n int) *http.Request { return request(s.URL, n) },
		Effects:    s.EffectsTotal,
		AsTenant:   asTenant,
		FailNext:   func() { s.Script(mockserver.Fault{Origin: true, Status: 500}) },
		CrashNext:  func() { s.Script(mockserver.Fault{Crash: mockserver.CrashBetween}) },
	}
}

func TestTheMockServerPasses(t *testing.T) {
	t.Parallel()
	Run(t, func(t testing.TB) Target { return mockTarget(t, mockserver.Config{Work: 5 * time.Millisecond}) })
}

func TestAMockServerThatStoresFailuresPasses(t *testing.T) {
	t.Parallel()
	Run(t, func(t testing.TB) Target {
		return mockTarget(t, mockserver.Config{Profile: mockserver.Profile{Released: []string{}}})
	})
}

// mistakes is a small endpoint, right but for what is switched on.
type mistakes struct {
	checkThenAct, noStoredAnswer, noFingerprint, noScope   bool
	stuckAfterError, crashForgets, joinsKeys, tiedToClient bool
}

type wrongServer struct {
	mistakes
	mu        sync.Mutex
	known     map[string]*entry
	effects   int
	fail, die bool
}

type entry struct {
	payload string
	answer  string
}

func (s *wrongServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	keys := r.Header.Values("Idempotency-Key")
	if !s.joinsKeys && (len(keys) != 1 || strings.Contains(keys[0], ",")) {
		http.Error(w, "one key", http.StatusBadRequest)
		return
	}
	k := strings.Join(keys, ", ")
	if !s.noScope {
		k = r.Header.Get("Authorization") + "\x00" + k
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[k]
	if e == nil && !s.checkThenAct {
		e = &entry{payload: string(b)}
		s.known[k] = e
		s.execute(w, r, k, e)
		return
	}
	if e == nil {
		e = &entry{payload: string(b)}
		s.mu.Unlock()
		time.Sleep(20 * time.Millisecond) // the work
		s.mu.Lock()
		s.execute(w, r, k, e)
		if e.answer != "" {
			s.known[k] = e
		}
		return
	}
	switch {
	case e.payload != string(b) && !s.noFingerprint:
		http.Error(w, "another payload", http.StatusUnprocessableEntity)
	case e.answer == "":
		http.Error(w, "in progress", http.StatusConflict)
	case s.noStoredAnswer:
		w.WriteHeader(http.StatusOK)
		io.WriteString(w, "done before")
	default:
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, e.answer)
	}
}

// execute holds the lock, but while it works.
func (s *wrongServer) execute(w http.ResponseWriter, r *http.Request, k string, e *entry) {
	if s.fail {
		s.fail = false
		if !s.stuckAfterError {
			delete(s.known, k)
		}
		http.Error(w, "no luck", http.StatusInternalServerError)
		return
	}
	s.mu.Unlock()
	work := 5 * time.Millisecond
	if s.tiedToClient {
		work = 50 * time.Millisecond // enough to notice on a busy machine that the client has gone
	}
	time.Sleep(work)
	s.mu.Lock()
	if s.tiedToClient && r.Context().Err() != nil {
		return
	}
	s.effects++
	if s.die {
		s.die = false
		if s.crashForgets {
			delete(s.known, k)
		}
		panic(http.ErrAbortHandler)
	}
	e.answer = fmt.Sprintf("effect %d", s.effects)
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, e.answer)
}

func (m mistakes) target(t testing.TB) Target {
	s := &wrongServer{mistakes: m, known: map[string]*entry{}}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	locked := func(f func()) { s.mu.Lock(); defer s.mu.Unlock(); f() }
	return Target{
		NewRequest: func(n int) *http.Request { return request(listening.URL, n) },
		Effects:    func() (n int) { locked(func() { n = s.effects }); return n },
		AsTenant:   asTenant,
		FailNext:   func() { locked(func() { s.fail = true }) },
		CrashNext:  func() { locked(func() { s.die = true }) },
		Patience:   200 * time.Millisecond,
	}
}

func TestAServerWithoutMistakesPasses(t *testing.T) {
	t.Parallel()
	Run(t, mistakes{}.target)
}

// Each mistake is found by the checks for it, and by no other.
func TestEachMistakeIsFoundForItsReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mistakes
		want map[string]string // check -> part of its explanation
	}{
		"check then act": {mistakes{checkThenAct: true}, map[string]string{
			"ParallelRequestsMakeOneEffect":  "Claim it in one atomic step",
			"ARequestGoesOnWithoutItsClient": "are one action",
			"ACrashMakesNoSecondEffect":      "in one transaction",
		}},
		"no stored answer": {mistakes{noStoredAnswer: true}, map[string]string{
			"ARepeatGetsTheStoredAnswer":    "Store status and body",
			"ParallelRequestsMakeOneEffect": "different answers",
		}},
		"no fingerprint": {mistakes{noFingerprint: true}, map[string]string{
			"AnotherPayloadIsRefused": "Store a fingerprint",
		}},
		"no scope": {mistakes{noScope: true}, map[string]string{
			"TenantsDoNotShareKeys": "Look keys up under (tenant, key)",
		}},
		"stuck after an error": {mistakes{stuckAfterError: true}, map[string]string{
			"AnErrorDoesNotBlockTheKey": "must be settled or released",
		}},
		"forgets in a crash": {mistakes{crashForgets: true}, map[string]string{
			"ACrashMakesNoSecondEffect": "in one transaction",
		}},
		"joins keys": {mistakes{joinsKeys: true}, map[string]string{
			"AKeySentTwiceIsRefused": "want 400",
		}},
		"tied to the client": {mistakes{tiedToClient: true}, map[string]string{
			"ARequestGoesOnWithoutItsClient": "must be settled or released",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, check := range checks {
				failure := record(t, check, c.target)
				want, ok := c.want[check.name]
				if !ok {
					assert.Empty(t, failure, check.name)
					continue
				}
				assert.Contains(t, failure, want, check.name)
			}
		})
	}
}

func TestATargetNeedsItsTwoFunctions(t *testing.T) {
	t.Parallel()
	failure := record(t, checks[0], func(testing.TB) Target { return Target{} })
	require.Contains(t, failure, "needs NewRequest and Effects")
}

// A recorder is a TB whose failures are wanted.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures strings.Builder
}

func record(t *testing.T, c check, target func(testing.TB) Target) string {
	r := &recorder{TB: t}
	var wg sync.WaitGroup
	wg.Go(func() { c.run(start(r, target(r))) })
	wg.Wait()
	return r.failures.String()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.failures, format+"\n", args...)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures.Len() > 0
}
