package oncehttp

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// The first is the intent with its attempt started, the second the answer with
// the outcome.
func TestAnActionThatSucceedsAtOnceCostsTwoCommits(t *testing.T) {
	t.Parallel()
	j, err := OpenBolt(filepath.Join(t.TempDir(), "intents.db"), time.Second, nil)
	require.NoError(t, err)
	c, err := New(j, Config{
		Contracts: []Contract{IdempotencyKey("api.example.com", time.Hour)},
		Transport: transportFunc(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
		}),
	})
	require.NoError(t, err)
	defer c.Close()
	request := func(host string) *http.Request {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+host+"/charges", strings.NewReader(`{"amount":500}`))
		require.NoError(t, err)
		return req
	}
	commits := j.(*boltJournal).commits
	for name, send := range map[string]func() error{
		"under a contract":    func() error { _, err := c.Do("order-1", request("api.example.com")); return err },
		"under none":          func() error { _, err := c.Do("order-2", request("other.example.com")); return err },
		"without a name":      func() error { _, err := c.RoundTrip(request("api.example.com")); return err },
		"in an http.Client's": func() error { _, err := c.HTTPClient().Do(request("other.example.com")); return err },
	} {
		before := commits()
		require.NoError(t, send(), name)
		require.Equal(t, int64(2), commits()-before, name)
	}
	before := commits()
	o, err := c.Do("order-1", request("api.example.com"))
	require.NoError(t, err)
	require.True(t, o.FromJournal)
	require.Zero(t, commits()-before, "an answer from the journal costs none")
}
