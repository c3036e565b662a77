package oncehttp

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// created answers every request at once.
func created(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusCreated, Header: http.Header{}, Request: req}, nil
}

func payRequest(t *testing.T) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example.com/payments", strings.NewReader(`{"amount":500}`))
	require.NoError(t, err)
	return req
}

// A fullJournal takes no update while it is full, and then calls a hook before
// each.
type fullJournal struct {
	Journal
	full   bool
	before func()
}

func (j *fullJournal) Update(ctx context.Context, e Entry) error {
	if j.full {
		return ErrJournal
	}
	if j.before != nil {
		j.before()
	}
	return j.Journal.Update(ctx, e)
}

// withEvidence is a client that could not record its only answer.
func withEvidence(t *testing.T, path string) (*Client, *fullJournal) {
	t.Helper()
	j := &fullJournal{Journal: openTestBolt(t, path)}
	c, err := New(j, Config{Transport: roundTrip(created), Contracts: []Contract{IdempotencyKey("*", time.Hour)}})
	require.NoError(t, err)
	j.full = true
	_, err = c.Do("pay", payRequest(t))
	var pending *PendingError
	require.True(t, errors.As(err, &pending), "%v", err)
	require.Equal(t, NotRecorded, pending.Outcome.Reason)
	j.full = false
	return c, j
}

func confirmed(t *testing.T, path string) {
	t.Helper()
	c, err := Open(path, Config{})
	require.NoError(t, err)
	o, err := c.Outcome(t.Context(), "pay")
	require.NoError(t, err)
	assert.Equal(t, Confirmed, o.State)
	require.NoError(t, c.Close())
}

// Close comes when a call has taken over the evidence that the journal could
// not take, and does not drive yet.
func TestEvidenceThatACallTookOverIsWrittenWhenTheClientCloses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	c, _ := withEvidence(t, path)
	f, mine, err := c.flight(t.Context(), "pay")
	require.NoError(t, err)
	require.True(t, mine)
	f.closing(ownClose)
	_, err = c.takeOff(t.Context(), f, &ticket{action: "pay"}, &seating{}, call{}, wallNow())
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, c.Close())
	confirmed(t, path)
}

func TestASecondCloseLeavesTheFirstTimeToWriteItsEvidence(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "intents.db")
	c, j := withEvidence(t, path)
	second := make(chan error, 1)
	j.before = func() {
		j.before = nil
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			second <- c.Close()
		}()
		select {
		case <-ended:
			assert.Fail(t, "the second is done, and the first is not")
		case <-time.After(100 * time.Millisecond):
		}
	}
	require.NoError(t, c.Close())
	require.NoError(t, <-second)
	confirmed(t, path)
}

// The driver has not heard yet that its caller left when another sits down: that
// one is not told that nobody is left.
func TestACallerIsServedWhoComesAsTheLastOneLeaves(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	m := machine{next: s.m.next, dirty: true}
	until := wallNow().Add(time.Hour)
	f := newFlight(t.Context(), "pay")
	f.policy = s.p
	first, second := &seating{}, &seating{}
	require.Equal(t, grantDrive, f.sit(first, ownBegin, until))
	m, cmd := f.advance(m, event{kind: evTaken, call: call{until: until}})
	require.Equal(t, cmdAsk, cmd.kind)
	f.leave(first, context.Canceled, false)
	require.Equal(t, grantSeat, f.sit(second, ownBegin, until))
	_, cmd = f.advance(m, event{kind: evLooked})
	require.Equal(t, cmdAsk, cmd.kind)
}
