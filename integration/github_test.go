package integration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-github/v89/github"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// githubAnswers is what GitHub says beside the usual: it takes no key, and a 403
// that names a time is its secondary rate limit, not a refusal.
func githubAnswers() oncehttp.Contract {
	return oncehttp.Contract{
		Name:  "github",
		Match: oncehttp.Match{Hosts: []string{"api.github.com"}},
		Answers: []oncehttp.Answer{
			{Status: []int{http.StatusForbidden}, Header: "Retry-After", Verdict: oncehttp.VerdictThrottled},
		},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-11-29",
		Sources: []string{"go-github v89.0.0: AbuseRateLimitError"},
	}
}

// newGitHub is the recipe. The library has no retries of its own to turn off.
func newGitHub(t *testing.T, httpClient *http.Client) *github.Client {
	t.Helper()
	gh, err := github.NewClient(github.WithHTTPClient(httpClient), github.WithAuthToken("ghp_example"))
	require.NoError(t, err)
	return gh
}

// mark stands in the issue's text, so that a lookup can tell it. The action
// itself stays in the journal.
func mark(action string) string {
	sum := sha256.Sum256([]byte(action))
	return "<!-- " + hex.EncodeToString(sum[:8]) + " -->"
}

func issue(action string) *github.IssueRequest {
	return &github.IssueRequest{Title: github.Ptr("It is broken"), Body: github.Ptr("Since Tuesday.\n" + mark(action))}
}

func startGitHub(t *testing.T) *mockserver.Server {
	t.Helper()
	return startAPI(t, mockserver.Config{
		Unkeyed: func(*http.Request) bool { return true },
		Execute: func(r *http.Request) mockserver.Answer {
			switch {
			case r.Method == http.MethodGet:
				return answer(200, `[{"number":7,"body":"Since Tuesday.\n`+mark("alert-9/issue")+`","html_url":"https://github.com/o/r/issues/7"}]`)
			case strings.HasSuffix(r.URL.Path, "/forks"):
				return answer(202, `{"id":1,"name":"r"}`)
			case r.Method == http.MethodPut:
				return mockserver.Answer{Status: 204}
			}
			return answer(201, `{"number":7}`)
		},
	})
}

func TestALookupFindsTheIssueWhoseAnswerGitHubLost(t *testing.T) {
	t.Parallel()
	api := startGitHub(t)
	client := open(t, api, oncehttp.Config{
		Contracts: []oncehttp.Contract{githubAnswers()},
		Lookup: func(ctx context.Context, in *oncehttp.Intent) (oncehttp.Finding, error) {
			issues, _, err := newGitHub(t, api.Client()).Issues.ListByRepo(ctx, "o", "r", nil)
			if err != nil {
				return oncehttp.Finding{}, err
			}
			for _, found := range issues {
				if strings.Contains(found.GetBody(), mark(in.Action())) {
					return oncehttp.Finding{Kind: oncehttp.Found, Reference: found.GetHTMLURL()}, nil
				}
			}
			return oncehttp.Finding{Kind: oncehttp.NotFound}, nil
		},
	})
	gh := newGitHub(t, client.HTTPClient())

	// The lookup's word has no answer for the library, which gets an error with
	// the outcome, and in that the reference.
	api.Script(mockserver.Lost())
	for range 2 {
		_, _, err := gh.Issues.Create(oncehttp.WithAction(t.Context(), "alert-9/issue"), "o", "r", issue("alert-9/issue"))
		var settled *oncehttp.NoAnswerError
		require.ErrorAs(t, err, &settled)
		require.Equal(t, oncehttp.Confirmed, settled.Outcome.State)
		require.Equal(t, "https://github.com/o/r/issues/7", settled.Outcome.Reference)
	}
	require.Equal(t, 1, api.EffectsTotal())
}

// Without a lookup it stays Pending until somebody resolves it.
func TestGitHubHandsOnAPending(t *testing.T) {
	t.Parallel()
	api := startGitHub(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{githubAnswers()}})
	api.Script(mockserver.Lost())
	for range 2 {
		_, _, err := newGitHub(t, client.HTTPClient()).Issues.Create(oncehttp.WithAction(t.Context(), "alert-9/issue"), "o", "r", issue("alert-9/issue"))
		outcome := pendingOf(t, err)
		require.True(t, outcome.MayHaveExecuted)
		require.True(t, outcome.RetryAt.IsZero(), "it is not sent again by itself")
	}
	require.Len(t, api.Requests(), 1)
}

// A PUT may be repeated as it is (RFC 9110 section 9.2.2), within the call.
func TestAPutOfGitHubIsRepeatedWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	api := startGitHub(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{githubAnswers()}})
	api.Script(mockserver.Lost())
	_, err := newGitHub(t, client.HTTPClient()).Issues.Lock(oncehttp.WithAction(t.Context(), "alert-9/lock"), "o", "r", 7, nil)
	require.NoError(t, err)
	require.Len(t, api.Requests(), 2)
}

func TestGitHubRefusalsKeepTheirType(t *testing.T) {
	t.Parallel()
	api := startGitHub(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{githubAnswers()}})
	api.Script(refusal(422, `{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}`))
	_, _, err := newGitHub(t, client.HTTPClient()).Issues.Create(oncehttp.WithAction(t.Context(), "alert-9/issue"), "o", "r", issue("alert-9/issue"))
	var refused *github.ErrorResponse
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "missing_field", refused.Errors[0].Code)
	outcome, ok := oncehttp.OutcomeOf(refused.Response)
	require.True(t, ok)
	require.Equal(t, oncehttp.Rejected, outcome.State)
}

// The library has an error for a 202. The action was accepted all the same.
func TestGitHubs202IsConfirmed(t *testing.T) {
	t.Parallel()
	api := startGitHub(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{githubAnswers()}})
	_, _, err := newGitHub(t, client.HTTPClient()).Repositories.CreateFork(oncehttp.WithAction(t.Context(), "alert-9/fork"), "o", "r", nil)
	var accepted *github.AcceptedError
	require.ErrorAs(t, err, &accepted)
	outcome, err := client.Outcome(t.Context(), "alert-9/fork")
	require.NoError(t, err)
	require.Equal(t, oncehttp.Confirmed, outcome.State)
}

func TestGitHubsSecondaryRateLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := startGitHub(t)
		client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{githubAnswers()}})
		api.Script(mockserver.Status(403).With("Retry-After", "30"))
		begun := time.Now()
		made, _, err := newGitHub(t, client.HTTPClient()).Issues.Create(oncehttp.WithAction(t.Context(), "alert-9/issue"), "o", "r", issue("alert-9/issue"))
		require.NoError(t, err)
		require.Equal(t, 7, made.GetNumber())
		require.GreaterOrEqual(t, time.Since(begun), 30*time.Second)
		require.Equal(t, 1, api.EffectsTotal())
	})
}

func TestGitHubHidesAPendingBehindTheEndOfAContext(t *testing.T) {
	t.Parallel()
	api, ctx := startLeft(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{githubAnswers()}})
	_, _, err := newGitHub(t, client.HTTPClient()).Issues.Create(oncehttp.WithAction(ctx, "alert-9/issue"), "o", "r", issue("alert-9/issue"))
	requireHidden(t, err, client, "alert-9/issue")
}
