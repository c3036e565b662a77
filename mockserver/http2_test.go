package mockserver_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestHTTP2IsSpokenWithAndWithoutTLS(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		for _, cfg := range []mockserver.Config{{HTTP2: true}, {HTTP2: true, TLS: true}, {TLS: true}} {
			s := start(cfg)
			require.NoError(t, pay(t, s, "k", `{}`).err)
			require.NoError(t, pay(t, s, "k", `{}`).err)
			q := s.Requests()
			assert.Equal(t, cfg.HTTP2, q[0].Proto == "HTTP/2.0", q[0].Proto)
			assert.Equal(t, 1, q[1].Conn)
			if cfg.TLS {
				got := sendBy(t.Context(), t, s.Client(), "https://api.example.com", "POST", "/", `{}`)
				assert.NoError(t, got.err, "the certificate serves any host")
			}
		}
	})
}

func TestHTTP2SaysWhatWasNotProcessed(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		for name, c := range map[string]struct {
			fault mockserver.Fault
			text  string
		}{
			"goaway":      {mockserver.Fault{See: mockserver.SeeGoAway}, "GOAWAY"},
			"goaway lies": {mockserver.Fault{See: mockserver.SeeGoAway, Commit: true}, "GOAWAY"},
			"refused":     {mockserver.Fault{See: mockserver.SeeRefused}, "REFUSED_STREAM"},
			"reset":       {mockserver.Lost(), "INTERNAL_ERROR"},
		} {
			for _, tls := range []bool{false, true} {
				s := start(mockserver.Config{HTTP2: true, TLS: tls})
				require.Equal(t, 201, pay(t, s, "before", `{}`).status)
				s.Script(c.fault)
				got := pay(t, s, "k", `{}`)
				require.ErrorContains(t, got.err, c.text, name)
				effects := 0
				if c.fault.Commit {
					effects = 1
				}
				assert.Equal(t, effects, s.Effects("k"), name)
				assert.Equal(t, 201, pay(t, s, "k", `{}`).status, name)
				assert.Equal(t, 1, s.Effects("k"), name)
				requests := s.Requests()
				last := requests[len(requests)-1]
				assert.Equal(t, c.fault.See == mockserver.SeeGoAway, last.Conn == 2, "only GOAWAY ends the connection: %s", name)
			}
		}
	})
}

// What net/http does by itself when it may: the reason why a client counts
// sends and not calls.
func TestNetHTTPResendsWhatGOAWAYCallsUnprocessed(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{HTTP2: true})
	defer s.Close()
	s.Script(mockserver.Fault{See: mockserver.SeeGoAway, Times: 3})
	got := pay(t, s, "k", `{}`, func(r *http.Request) {
		r.GetBody = func() (io.ReadCloser, error) { return http.NoBody, nil }
		r.Body, r.ContentLength = http.NoBody, 0
	})
	require.NoError(t, got.err)
	assert.Equal(t, 201, got.status)
	assert.Len(t, s.Requests(), 4)
}

func TestHTTP2TruncatesAndKeepsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{HTTP2: true, TLS: true})
		defer s.Close()
		s.Script(mockserver.Fault{See: mockserver.SeeTruncated, Keep: 8}, mockserver.Fault{See: mockserver.SeeNothing})
		got := pay(t, s, "k", `{}`)
		assert.Equal(t, 201, got.status)
		assert.Equal(t, `{"id":"e`, got.body)
		require.Error(t, got.cut)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		silent := sendBy(ctx, t, s.Client(), s.URL, "POST", "/", `{}`)
		require.ErrorIs(t, silent.err, context.DeadlineExceeded)
	})
}
