package integration

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// TestMain keeps the environment's own settings of the libraries out: their base
// URLs are the vendors'.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		for _, vendor := range []string{"ANTHROPIC_", "AWS_", "GITHUB_", "GOOGLE_", "OPENAI_", "STORAGE_EMULATOR_", "STRIPE_", "TWILIO_"} {
			if strings.HasPrefix(name, vendor) {
				os.Unsetenv(name)
			}
		}
	}
	os.Exit(m.Run())
}

// startAPI starts a vendor's API in memory. Its transport reaches it whatever
// host a URL names, so that the libraries keep their own base URLs.
func startAPI(t *testing.T, cfg mockserver.Config) *mockserver.Server {
	t.Helper()
	api := mockserver.Memory(cfg)
	t.Cleanup(api.Close)
	return api
}

// answers makes every execution end with this JSON.
func answers(status int, body string) func(*http.Request) mockserver.Answer {
	return func(*http.Request) mockserver.Answer { return answer(status, body) }
}

func answer(status int, body string) mockserver.Answer {
	return mockserver.Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// startLeft starts an API that works at its request when the caller leaves, and
// never answers it. The context to call it with ends then.
func startLeft(t *testing.T) (*mockserver.Server, context.Context) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	api := startAPI(t, mockserver.Config{
		Script: []mockserver.Fault{{Commit: true, See: mockserver.SeeNothing}},
		Execute: func(*http.Request) mockserver.Answer {
			leave()
			return mockserver.Answer{Status: http.StatusCreated}
		},
	})
	return api, ctx
}

// requireHidden: the library has put the context's error in place of a Pending,
// and the journal still has the outcome.
func requireHidden(t *testing.T, err error, client *oncehttp.Client, action string) {
	t.Helper()
	require.True(t, errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded), "%v", err)
	var pending *oncehttp.PendingError
	require.NotErrorAs(t, err, &pending)
	outcome, err := client.Outcome(t.Context(), action)
	require.NoError(t, err)
	require.Equal(t, oncehttp.Pending, outcome.State)
	require.True(t, outcome.MayHaveExecuted)
}

// refusal is the API's own no, behind its look-up of the key.
func refusal(status int, body string) mockserver.Fault {
	return mockserver.Fault{Origin: true, Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// open opens a client below which there is only this API, unless cfg has a
// Transport of its own. It waits milliseconds where a client with the default
// Config.Retry waits seconds.
func open(t *testing.T, api *mockserver.Server, cfg oncehttp.Config) *oncehttp.Client {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "intents.db"), api, cfg)
}

// openAt is open on the journal at a path: with the path of a client that was
// closed it is the start after a crash.
func openAt(t *testing.T, path string, api *mockserver.Server, cfg oncehttp.Config) *oncehttp.Client {
	t.Helper()
	if cfg.Transport == nil {
		cfg.Transport = api.Transport()
	}
	cfg.Retry.Base, cfg.Retry.Cap = time.Millisecond, 5*time.Millisecond
	cfg.Gate.Failures = 1000 // its own tests are elsewhere
	client, err := oncehttp.Open(path, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

// pendingOf finds the PendingError below what a library has wrapped it in.
func pendingOf(t *testing.T, err error) *oncehttp.Outcome {
	t.Helper()
	var pending *oncehttp.PendingError
	require.ErrorAs(t, err, &pending)
	return pending.Outcome
}

// resumed is what the first pass over the journal tells that finds something
// due: a moment after the last attempt nothing may be.
func resumed(t *testing.T, client *oncehttp.Client) []*oncehttp.Outcome {
	t.Helper()
	var told []*oncehttp.Outcome
	require.Eventually(t, func() bool {
		for outcome, err := range client.Resume(t.Context()) {
			if !assert.NoError(t, err) {
				return true
			}
			told = append(told, outcome)
		}
		return len(told) > 0
	}, time.Minute, 2*time.Millisecond)
	return told
}

// keysSent are the different keys of the requests that the API received.
func keysSent(api *mockserver.Server) []string {
	var keys []string
	for _, r := range api.Requests() {
		if !slices.Contains(keys, r.Key) {
			keys = append(keys, r.Key)
		}
	}
	return keys
}
