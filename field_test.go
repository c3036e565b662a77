package oncehttp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// fieldRetry is the budget that the cases of testdata/field.jsonl are told
// under.
var fieldRetry = oncehttp.Retry{
	MaxAttempts: 4, MaxElapsed: 30 * time.Second, AttemptTimeout: time.Second,
	Base: 100 * time.Millisecond, Cap: 2 * time.Second,
}

// A fieldCase is a fault that people reported in public: a line of
// testdata/field.jsonl, with the inputs that a table of tests runs over.
type fieldCase struct {
	ID    string
	Input struct {
		Values []string
		Table  []json.RawMessage
	}
}

func fieldCases(t *testing.T) map[string]fieldCase {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "field.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	cases := map[string]fieldCase{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c fieldCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		cases[c.ID] = c
	}
	return cases
}

// codes are the statuses of a case's table.
func (c fieldCase) codes(t *testing.T) (codes []int) {
	t.Helper()
	for _, raw := range c.Input.Table {
		var code int
		require.NoError(t, json.Unmarshal(raw, &code))
		codes = append(codes, code)
	}
	require.NotEmpty(t, codes)
	return codes
}

func TestEveryCaseFromTheFieldIsNamedByATest(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	servers, err := filepath.Glob("mockserver/*_test.go") // the server's side of the bargain
	require.NoError(t, err)
	files = append(files, servers...)
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all.Write(text)
	}
	for id := range fieldCases(t) {
		assert.True(t, strings.Contains(all.String(), id), "no test names %s of testdata/field.jsonl", id)
	}
}

// A bench is a client on a server in memory: for a synctest bubble, where waits
// take no time.
type bench struct {
	*testing.T
	srv  *mockserver.Server
	path string
	cfg  oncehttp.Config
	c    *oncehttp.Client
}

// inBubble runs f in a bubble with a bench whose server follows the script.
func inBubble(t *testing.T, server mockserver.Config, f func(b *bench), changes ...func(*oncehttp.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, srv: mockserver.Memory(server), path: journalPath(t)}
		t.Cleanup(b.srv.Close)
		transport := b.srv.Transport()
		t.Cleanup(transport.CloseIdleConnections)
		b.cfg = oncehttp.Config{
			Transport: transport, Retry: fieldRetry,
			Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", 24*time.Hour)},
		}
		for _, change := range changes {
			change(&b.cfg)
		}
		b.open()
		f(b)
	})
}

// script is a server's configuration that only has a script.
func script(faults ...mockserver.Fault) mockserver.Config {
	return mockserver.Config{Script: faults}
}

func unprotected(cfg *oncehttp.Config) { cfg.Contracts = nil }

func oneAttempt(cfg *oncehttp.Config) { cfg.Retry.MaxAttempts = 1 }

func (b *bench) open() {
	b.Helper()
	c, err := oncehttp.Open(b.path, b.cfg)
	require.NoError(b, err)
	b.c = c
	b.Cleanup(func() { require.NoError(b, c.Close()) })
}

// reopen is a restart of the process, with a changed configuration if that is
// given.
func (b *bench) reopen(changes ...func(*oncehttp.Config)) {
	b.Helper()
	require.NoError(b, b.c.Close())
	for _, change := range changes {
		change(&b.cfg)
	}
	b.open()
}

const payment = `{"amount":500}`

// pay is the payment that the cases speak of.
func (b *bench) pay() *http.Request { return post(b.T, b.srv.URL+"/payments", payment) }

// request has a body unless that is empty.
func (b *bench) request(method, path, body string) *http.Request {
	b.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(b.Context(), method, b.srv.URL+path, r)
	require.NoError(b, err)
	return req
}

// do pays as the action pay-1, and checks the error rule on the way.
func (b *bench) do() *oncehttp.Outcome {
	b.Helper()
	o, err := b.c.Do("pay-1", b.pay())
	b.ruled(o, err)
	return o
}

// ruled checks the rule that the error of an outcome follows: nil if it is
// settled, else a PendingError with the same outcome.
func (b *bench) ruled(o *oncehttp.Outcome, err error) {
	b.Helper()
	require.NotNil(b, o, "error: %v", err)
	if o.State != oncehttp.Pending {
		require.NoError(b, err)
		require.False(b, o.MayHaveExecuted, "only what is pending may have executed")
		return
	}
	var pending *oncehttp.PendingError
	require.ErrorAs(b, err, &pending)
	require.Same(b, o, pending.Outcome)
	if o.MayHaveExecuted {
		require.NotEqual(b, oncehttp.NotSent, o.Reason, "an exposed intent is never NotSent")
	}
}

// resume is one whole pass.
func (b *bench) resume() (outcomes []*oncehttp.Outcome) {
	b.Helper()
	for o, err := range b.c.Resume(b.Context()) {
		require.NoError(b, err)
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// known is what the journal says.
func (b *bench) known() *oncehttp.Outcome {
	b.Helper()
	o, err := b.c.Outcome(b.Context(), "pay-1")
	require.NoError(b, err)
	return o
}

// gaps are the times between the requests that the server received.
func (b *bench) gaps() (gaps []time.Duration) {
	for i, requests := 1, b.srv.Requests(); i < len(requests); i++ {
		gaps = append(gaps, requests[i].Time.Sub(requests[i-1].Time))
	}
	return gaps
}

// firstGap is the wait before the second request.
func (b *bench) firstGap() time.Duration {
	b.Helper()
	gaps := b.gaps()
	require.NotEmpty(b, gaps)
	return gaps[0]
}

// oneKey checks that every request carried the same key and body, and returns
// the key.
func (b *bench) oneKey() string {
	b.Helper()
	requests := b.srv.Requests()
	require.NotEmpty(b, requests)
	for _, q := range requests {
		require.Equal(b, requests[0].Key, q.Key)
		require.Equal(b, requests[0].BodySHA256, q.BodySHA256)
	}
	return requests[0].Key
}

// want is what a case says of an outcome.
type want struct {
	state    oncehttp.State
	reason   oncehttp.Reason
	attempts int
	maybe    bool
	replayed bool
}

func (w want) check(t testing.TB, o *oncehttp.Outcome) {
	t.Helper()
	assert.Equal(t, w.state, o.State, o)
	assert.Equal(t, w.reason, o.Reason, o)
	assert.Equal(t, w.attempts, o.Attempts, o)
	assert.Equal(t, w.maybe, o.MayHaveExecuted, o)
	if w.state == oncehttp.Confirmed {
		if assert.NotNil(t, o.Response) {
			assert.Equal(t, w.replayed, o.Response.Replayed)
		}
	}
}

// A pool runs functions, some at a time.
type pool struct {
	sync.WaitGroup
	slots chan struct{}
}

func newPool(n int) *pool { return &pool{slots: make(chan struct{}, n)} }

func (p *pool) Go(f func()) {
	p.slots <- struct{}{}
	p.WaitGroup.Go(func() {
		defer func() { <-p.slots }()
		f()
	})
}

func readCloser(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }

// sleepUntil includes the microsecond to which a journal rounds times up.
func sleepUntil(at time.Time) { time.Sleep(time.Until(at) + time.Microsecond) }
