package oncehttp_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// fast is a budget for tests on real sockets, whose time-out no attempt reaches on
// a busy machine either.
var fast = oncehttp.Retry{Base: time.Millisecond, Cap: 5 * time.Millisecond, AttemptTimeout: 30 * time.Second}

func open(t *testing.T, path string, cfg oncehttp.Config) *oncehttp.Client {
	t.Helper()
	if cfg.Retry.Base == 0 {
		cfg.Retry = fast
	}
	if cfg.Contracts == nil {
		cfg.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("*", 24*time.Hour)}
	}
	c, err := oncehttp.Open(path, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func journalPath(t *testing.T) string { return filepath.Join(t.TempDir(), "intents.db") }

func post(t *testing.T, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	return req
}

func TestALostAnswerIsAskedForAgainUnderTheSameKey(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	srv.Script(mockserver.Lost())
	c := open(t, journalPath(t), oncehttp.Config{})
	o, err := c.Do("pay-1", post(t, srv.URL+"/payments", `{"amount":500}`))
	require.NoError(t, err)
	require.Equal(t, oncehttp.Confirmed, o.State)
	require.Equal(t, 2, o.Attempts)
	require.True(t, o.Response.Replayed)
	require.Equal(t, 1, srv.Effects(o.Key))
	require.Len(t, srv.Requests(), 2)
	again, err := c.Do("pay-1", post(t, srv.URL+"/payments", `{"amount":500}`))
	require.NoError(t, err)
	require.True(t, again.FromJournal)
	require.Equal(t, o.Response.Body, again.Response.Body)
	resp, err := c.HTTPClient().Do(post(t, srv.URL+"/payments", `{"amount":500}`))
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NotEmpty(t, text)
	for range c.Pending(context.Background()) {
		t.Fatal("nothing is pending")
	}
}

func TestBeginOfAnActionUnderWayReturnsItsRecord(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 300 * time.Millisecond}, func(b *bench) {
		done := make(chan error, 1)
		go func() {
			_, err := b.c.Do("pay-1", b.pay())
			done <- err
		}()
		time.Sleep(100 * time.Millisecond)
		require.Len(b, b.srv.Requests(), 1)
		start := time.Now()
		in, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		require.Zero(b, time.Since(start))
		require.True(b, in.Outcome().InFlight)
		o, err := in.Do(b.Context())
		require.NoError(b, err)
		require.Equal(b, 1, o.Attempts)
		require.NoError(b, <-done)
		require.Len(b, b.srv.Requests(), 1)
	})
}
