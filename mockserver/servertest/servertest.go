// Package servertest checks that an endpoint of yours keeps the server's side of
// the bargain about idempotency keys: the checks that this project's mock server
// passes, turned on your own. Each failure says which rule was broken and what
// usually breaks it.
//
//	func TestChargesAreIdempotent(t *testing.T) {
//		servertest.Run(t, func(t testing.TB) servertest.Target {
//			api := startMyAPI(t)
//			return servertest.Target{
//				NewRequest: func(n int) *http.Request { return chargeRequest(api.URL, n) },
//				Effects:    func() int { return api.countCharges() },
//			}
//		})
//	}
//
// A check that needs a hook which the target does not have is skipped. The
// checks find the usual mistakes; they do not prove that there are none.
package servertest

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"testing"
	"time"
)

// A Target is the endpoint to check.
type Target struct {
	// NewRequest makes a request that has one effect when it succeeds, without a
	// key. Different n are different payloads to the same path, the same n the
	// same payload. It is called from several goroutines. Required.
	NewRequest func(n int) *http.Request
	// Effects counts the effects so far, in the system of record. Required.
	Effects func() int

	// Client sends the requests. Default: one without any resends of its own.
	Client *http.Client
	// KeyHeader carries the key. Default Idempotency-Key.
	KeyHeader string
	// NewKey makes a key. Default: 26 random letters and digits.
	NewKey func() string
	// InFlight tells the answer to a repeat while the first request still runs.
	// Default: status 409. It must not read the body.
	InFlight func(*http.Response) bool
	// AsTenant makes a request that of one of two tenants, 0 and 1.
	AsTenant func(r *http.Request, tenant int)
	// FailNext makes the next execution fail, without an effect, by an error of
	// the server's own.
	FailNext func()
	// CrashNext makes the server crash during the next execution, after its effect
	// and before the record of it, and start again. A server that does both in one
	// transaction crashes before or after it.
	CrashNext func()
	// Patience is how long a repeat may be told that the first request still
	// runs. Default 10 s.
	Patience time.Duration
}

// Run runs the checks as subtests, each on a target of its own.
func Run(t *testing.T, newTarget func(t testing.TB) Target) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.run(start(t, newTarget(t))) })
	}
}

// A subject is a target under a check.
type subject struct {
	testing.TB
	Target
}

func start(t testing.TB, target Target) *subject {
	t.Helper()
	if target.NewRequest == nil || target.Effects == nil {
		t.Fatal("servertest: a Target needs NewRequest and Effects")
	}
	if target.Client == nil {
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		target.Client = &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if target.KeyHeader == "" {
		target.KeyHeader = "Idempotency-Key"
	}
	if target.NewKey == nil {
		target.NewKey = rand.Text
	}
	if target.InFlight == nil {
		target.InFlight = func(r *http.Response) bool { return r.StatusCode == http.StatusConflict }
	}
	if target.Patience == 0 {
		target.Patience = 10 * time.Second
	}
	return &subject{t, target}
}

// An answer is what came back.
type answer struct {
	status   int
	body     string
	inFlight bool
	err      error
}

func (a answer) success() bool { return a.err == nil && a.status >= 200 && a.status <= 299 }
func (a answer) refusal() bool { return a.err == nil && a.status >= 400 && a.status <= 499 }

type edit func(*http.Request)

// send sends request n under a key, once.
func (s *subject) send(ctx context.Context, n int, key string, edits ...edit) answer {
	r := s.NewRequest(n).WithContext(ctx)
	r.GetBody = nil // net/http would resend by itself
	r.Header.Set(s.KeyHeader, key)
	for _, e := range edits {
		e(r)
	}
	resp, err := s.Client.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return answer{resp.StatusCode, string(b), s.InFlight(resp), err}
}

// repeat sends until the answer is not that the first request still runs.
func (s *subject) repeat(n int, key string, edits ...edit) answer {
	s.Helper()
	for end := time.Now().Add(s.Patience); ; time.Sleep(20 * time.Millisecond) {
		a := s.send(s.Context(), n, key, edits...)
		if !a.inFlight {
			return a
		}
		if time.Now().After(end) {
			s.Fatalf("after %s the key still counts as in progress. A claim whose execution ended, by an error or a crash too, must be settled or released.", s.Patience)
		}
	}
}

// first sends a request that must succeed.
func (s *subject) first(n int, key string, edits ...edit) answer {
	s.Helper()
	a := s.send(s.Context(), n, key, edits...)
	if !a.success() {
		s.Fatalf("the first request under a new key must succeed for this check; got %s", a)
	}
	return a
}

// effects fails the check unless there are want effects since before.
func (s *subject) effects(before, want int, explain string) {
	s.Helper()
	if got := s.Effects() - before; got != want {
		s.Errorf("%d effects, want %d. %s", got, want, explain)
	}
}
