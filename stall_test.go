package oncehttp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// While a request's body waits for HTTP/2's window, net/http does not end the
// read of an answer that has begun when the request's context ends.
func TestAnAttemptTimesOutAlsoWhileItsBodyIsStalledBehindAnAnswer(t *testing.T) {
	t.Parallel()
	srv := stalledBehind(t, "application/json")
	c := open(t, journalPath(t), oncehttp.Config{Transport: srv.Client().Transport,
		Retry: oncehttp.Retry{MaxAttempts: 2, Base: time.Millisecond, AttemptTimeout: 2 * time.Second}})
	began := time.Now()
	o, err := c.Do("pay-1", post(t, srv.URL, strings.Repeat("x", 4<<20)))
	require.NoError(t, err)
	assert.Less(t, time.Since(began), time.Minute)
	want{oncehttp.Confirmed, "", 2, false, false}.check(t, o)
	assert.True(t, o.Response.BodyIncomplete)
}

func TestAStreamEndsWithItsContextAlsoWhileTheRequestIsStalled(t *testing.T) {
	t.Parallel()
	srv := stalledBehind(t, "text/event-stream")
	c := open(t, journalPath(t), oncehttp.Config{Transport: srv.Client().Transport})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	resp, err := c.RoundTrip(post(t, srv.URL, strings.Repeat("x", 4<<20)).WithContext(ctx))
	require.NoError(t, err)
	defer resp.Body.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(resp.Body)
		ended <- err
	}()
	cancel()
	select {
	case err := <-ended:
		assert.Error(t, err)
	case <-time.After(time.Minute):
		assert.Fail(t, "the read goes on")
	}
}

// stalledBehind is a server over HTTP/2 that begins a success, and neither reads the
// request's body nor goes on until the client gives up.
func stalledBehind(t *testing.T, contentType string) *httptest.Server {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(http.StatusCreated)
		assert.NoError(t, http.NewResponseController(w).Flush())
		<-r.Context().Done()
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}
