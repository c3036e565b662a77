package integration

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// startGuarded is an API that wants a token, and gives one for a form with
// grant_type.
func startGuarded(t *testing.T) *mockserver.Server {
	t.Helper()
	return startAPI(t, mockserver.Config{
		Execute: func(r *http.Request) mockserver.Answer {
			switch {
			case r.URL.Path == "/token":
				return answer(200, `{"access_token":"t-1","token_type":"Bearer","expires_in":3600}`)
			case r.Header.Get("Authorization") != "Bearer t-1":
				return answer(401, `{"code":"unauthorized"}`)
			}
			return answer(201, `{"id":"pay-1"}`)
		},
	})
}

func pay(ctx context.Context, httpClient *http.Client) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example.com/payments", strings.NewReader(`{"amount":500}`))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := httpClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func paymentsMade(api *mockserver.Server) int { return api.EffectsOf("POST /payments") }

var tokens = clientcredentials.Config{ClientID: "id", ClientSecret: "secret", TokenURL: "https://api.example.com/token"}

func payments() []oncehttp.Contract {
	return []oncehttp.Contract{{
		Match:   oncehttp.Match{Hosts: []string{"api.example.com"}, Path: "/payments"}, // not /token
		Carrier: oncehttp.Carrier{Kind: oncehttp.CarrierHeader, Name: "Idempotency-Key"},
		Window:  oncehttp.Window{Length: 24 * time.Hour},
	}}
}

// Above oncehttp: the token is in the request, and is sent and not kept. The
// request for the token goes through oncehttp too, and passes.
func TestOAuth2AboveOncehttp(t *testing.T) {
	t.Parallel()
	api := startGuarded(t)
	cfg := oncehttp.Config{Contracts: payments()}
	cfg.Retry.MaxAttempts = 1
	path := filepath.Join(t.TempDir(), "intents.db")
	above := func(client *oncehttp.Client) *http.Client {
		return tokens.Client(context.WithValue(t.Context(), oauth2.HTTPClient, client.HTTPClient()))
	}

	before := openAt(t, path, api, cfg)
	api.ScriptPath("/payments", mockserver.Lost())
	_, err := pay(oncehttp.WithAction(t.Context(), "order-42/pay"), above(before))
	pendingOf(t, err)
	require.Equal(t, 1, api.EffectsOf("POST /token"))
	require.NoError(t, before.Close())

	after := openAt(t, path, api, cfg)
	told := resumed(t, after)
	require.Len(t, told, 1, "the request for the token is not there")
	require.Equal(t, oncehttp.NeedsCredentials, told[0].Reason)

	// A new call has them.
	text, err := pay(oncehttp.WithAction(t.Context(), "order-42/pay"), above(after))
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"pay-1"}`, text)
	require.Equal(t, 1, paymentsMade(api))
}

// Below oncehttp: the journal never sees a token, and Resume needs nothing more.
// A token that is not to be had must say that nothing was sent, else it counts
// as an answer that was lost.
func TestOAuth2BelowOncehttp(t *testing.T) {
	t.Parallel()
	api := startGuarded(t)
	below := func(source oauth2.TokenSource) oncehttp.Config {
		cfg := oncehttp.Config{Contracts: payments(), Transport: &oauth2.Transport{Source: source, Base: api.Transport()}}
		cfg.Retry.MaxAttempts = 1
		return cfg
	}
	source := tokens.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, api.Client()))
	path := filepath.Join(t.TempDir(), "intents.db")
	before := openAt(t, path, api, below(saysNotSent{source}))
	api.ScriptPath("/payments", mockserver.Lost())
	_, err := pay(oncehttp.WithAction(t.Context(), "order-42/pay"), before.HTTPClient())
	pendingOf(t, err)
	require.NoError(t, before.Close())

	after := openAt(t, path, api, below(saysNotSent{source}))
	told := resumed(t, after)
	require.Len(t, told, 1)
	require.Equal(t, oncehttp.Confirmed, told[0].State)
	require.Equal(t, 1, paymentsMade(api))

	_, err = pay(oncehttp.WithAction(t.Context(), "order-43/pay"), open(t, api, below(noTokens{})).HTTPClient())
	require.Equal(t, oncehttp.Unknown, pendingOf(t, err).Reason, "oncehttp cannot know")
	_, err = pay(oncehttp.WithAction(t.Context(), "order-43/pay"), open(t, api, below(saysNotSent{noTokens{}})).HTTPClient())
	require.Equal(t, oncehttp.NotSent, pendingOf(t, err).Reason)
	require.Equal(t, 1, paymentsMade(api))
}

// saysNotSent marks the errors of a TokenSource: where there is no token nothing
// was sent.
type saysNotSent struct{ oauth2.TokenSource }

func (s saysNotSent) Token() (*oauth2.Token, error) {
	token, err := s.TokenSource.Token()
	if err != nil {
		return nil, notSent{err}
	}
	return token, nil
}

type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }
func (notSent) NotSent() bool   { return true }

type noTokens struct{}

func (noTokens) Token() (*oauth2.Token, error) { return nil, errors.New("the token server is down") }

// In Authorize: as below for what is an action; a token that is not to be had
// costs no attempt, and one that was refused is asked for anew.
func TestOAuth2InAuthorize(t *testing.T) {
	t.Parallel()
	api := startGuarded(t)
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, api.Client())
	source := oauth2.ReuseTokenSource(&oauth2.Token{AccessToken: "revoked", Expiry: time.Now().Add(time.Hour)}, tokens.TokenSource(ctx))
	client := open(t, api, oncehttp.Config{
		Contracts: payments(),
		Authorize: func(req *http.Request, stale bool) error {
			from := source
			if stale { // the source does not know that its token was refused
				from = tokens.TokenSource(ctx)
			}
			token, err := from.Token()
			if err != nil {
				return err
			}
			token.SetAuthHeader(req)
			return nil
		},
	})
	text, err := pay(oncehttp.WithAction(t.Context(), "order-42/pay"), client.HTTPClient())
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"pay-1"}`, text)
	require.Equal(t, 1, paymentsMade(api))
	outcome, err := client.Outcome(t.Context(), "order-42/pay")
	require.NoError(t, err)
	require.Equal(t, 2, outcome.Attempts, "the first was refused: 401")
}
