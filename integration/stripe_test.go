package integration

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-mock/embedded"
	stripemock "github.com/stripe/stripe-mock/server"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/contracts"
	"github.com/oncehttp/oncehttp/mockserver"
)

// newStripe is the whole recipe, with contracts.All() in the client of oncehttp:
// that client for an http.Client, and the library's own retries off.
func newStripe(client *oncehttp.Client) *stripe.Client {
	return stripe.NewClient("sk_test_123", stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		HTTPClient:        client.HTTPClient(),
		MaxNetworkRetries: stripe.Int64(0),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
}

func stripePayment() *stripe.PaymentIntentCreateParams {
	return &stripe.PaymentIntentCreateParams{Amount: stripe.Int64(2000), Currency: stripe.String(string(stripe.CurrencyUSD))}
}

// stripeExecute makes the answers of executions with stripe-mock, which checks
// requests against Stripe's OpenAPI description and answers with its fixtures.
// stripe-mock keeps no keys and no state: the server around it does.
var stripeExecute = sync.OnceValue(func() func(*http.Request) mockserver.Answer {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	spec, err := stripemock.LoadSpec(embedded.OpenAPISpec, "")
	must(err)
	fixtures, err := stripemock.LoadFixtures(embedded.OpenAPIFixtures, "")
	must(err)
	stub, err := stripemock.NewStubServer(fixtures, spec, false, false)
	must(err)
	return func(r *http.Request) mockserver.Answer {
		w := httptest.NewRecorder()
		stub.HandleRequest(w, r)
		return mockserver.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
	}
})

func startStripe(t *testing.T) *mockserver.Server {
	t.Helper()
	profile, ok := mockserver.ProfileNamed("stripe-v1")
	require.True(t, ok)
	return startAPI(t, mockserver.Config{Profile: profile, Execute: stripeExecute()})
}

func TestStripeChargesOnceWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	api := startStripe(t)
	client := open(t, api, oncehttp.Config{Contracts: contracts.All()})
	payments := newStripe(client)

	api.Script(mockserver.Lost())
	ctx := oncehttp.WithAction(t.Context(), "order-42/charge")
	first, err := payments.V1PaymentIntents.Create(ctx, stripePayment())
	require.NoError(t, err)
	require.NotEmpty(t, first.ID)
	require.Equal(t, 1, api.EffectsTotal())
	require.Len(t, api.Requests(), 2)
	require.Len(t, keysSent(api), 1)

	// The library mints a key for each call. The action's own is the one that
	// travels, and here none does: the answer is in the journal.
	again, err := payments.V1PaymentIntents.Create(ctx, stripePayment())
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)
	require.Len(t, api.Requests(), 2)
}

func TestStripeRefusalsKeepTheirType(t *testing.T) {
	t.Parallel()
	api := startStripe(t)
	client := open(t, api, oncehttp.Config{Contracts: contracts.All()})
	api.Script(refusal(402, `{"error":{"type":"card_error","code":"card_declined","decline_code":"insufficient_funds","message":"Your card was declined."}}`))

	_, err := newStripe(client).V1PaymentIntents.Create(oncehttp.WithAction(t.Context(), "order-42/charge"), stripePayment())
	var refused *stripe.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, stripe.ErrorCodeCardDeclined, refused.Code)
	require.Equal(t, stripe.DeclineCodeInsufficientFunds, refused.DeclineCode)
	outcome, err := client.Outcome(t.Context(), "order-42/charge")
	require.NoError(t, err)
	require.Equal(t, oncehttp.Rejected, outcome.State)

	// stripe-mock's own: an amount that is no number.
	params := stripePayment()
	params.Amount = nil
	params.AddExtra("amount", "much")
	_, err = newStripe(client).V1PaymentIntents.Create(oncehttp.WithAction(t.Context(), "order-43/charge"), params)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusBadRequest, refused.HTTPStatusCode)
	require.Equal(t, stripe.ErrorTypeInvalidRequest, refused.Type)
	require.Zero(t, api.EffectsTotal())
}

func TestStripeHandsOnAPending(t *testing.T) {
	t.Parallel()
	api := startStripe(t)
	client := open(t, api, oncehttp.Config{Contracts: contracts.All()})
	api.Script(mockserver.Lost().Always())

	_, err := newStripe(client).V1PaymentIntents.Create(oncehttp.WithAction(t.Context(), "order-42/charge"), stripePayment())
	outcome := pendingOf(t, err)
	require.True(t, outcome.MayHaveExecuted)
	require.False(t, outcome.RetryAt.IsZero(), "it is repeated by Resume, under the same key")
	require.Equal(t, 1, api.EffectsTotal())
}

// A 500 is kept under the key: asking again is futile, and a new key may charge
// twice. The library alone tells of an error of the API's.
func TestAStored500OfStripeIsPendingNotAFailure(t *testing.T) {
	t.Parallel()
	api := startStripe(t)
	client := open(t, api, oncehttp.Config{Contracts: contracts.All()})
	failed := refusal(500, `{"error":{"type":"api_error","message":"An unknown error occurred"}}`)
	failed.Commit = true
	api.Script(failed)

	_, err := newStripe(client).V1PaymentIntents.Create(oncehttp.WithAction(t.Context(), "order-42/charge"), stripePayment())
	outcome := pendingOf(t, err)
	require.Equal(t, oncehttp.StoredFailure, outcome.Reason)
	require.True(t, outcome.MayHaveExecuted)
	require.Len(t, api.Requests(), 2)
}

// Left on, the library's retries repeat its request with the key that it made,
// which names the intent where no action does: more requests, no second charge.
func TestStripeOwnRetriesJoinTheIntentOfTheirKey(t *testing.T) {
	t.Parallel()
	api := startStripe(t)
	cfg := oncehttp.Config{Contracts: contracts.All()}
	cfg.Retry.MaxAttempts = 1
	client := open(t, api, cfg)
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		HTTPClient:        client.HTTPClient(),
		MaxNetworkRetries: stripe.Int64(2), // the library's default
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	backend.(*stripe.BackendImplementation).SetNetworkRetriesSleep(false) // it would sleep half a second and more
	payments := stripe.NewClient("sk_test_123", stripe.WithBackends(&stripe.Backends{API: backend}))

	api.Script(mockserver.Lost(), mockserver.Gateway(502))
	_, err := payments.V1PaymentIntents.Create(t.Context(), stripePayment())
	require.NoError(t, err)
	require.Equal(t, 1, api.EffectsTotal())
	require.Len(t, api.Requests(), 3)
	require.Len(t, keysSent(api), 1)
	for in, err := range client.Pending(t.Context()) {
		require.NoError(t, err)
		require.Fail(t, "an intent is left open", in.Action())
	}
}

func TestAStripeKeyMadeAnewNamesANewIntentAfterARestart(t *testing.T) {
	t.Parallel()
	named := func(ctx context.Context) (context.Context, *stripe.PaymentIntentCreateParams) {
		return oncehttp.WithAction(ctx, "order-42/charge"), stripePayment()
	}
	ownKey := func(ctx context.Context) (context.Context, *stripe.PaymentIntentCreateParams) {
		params := stripePayment()
		params.SetIdempotencyKey("order-42-charge")
		return ctx, params
	}
	neither := func(ctx context.Context) (context.Context, *stripe.PaymentIntentCreateParams) {
		return ctx, stripePayment()
	}
	for name, test := range map[string]struct {
		call    func(context.Context) (context.Context, *stripe.PaymentIntentCreateParams)
		charges int
	}{
		"an action in the context":            {named, 1},
		"a key of the application's own":      {ownKey, 1},
		"neither, and the library made a key": {neither, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := startStripe(t)
			cfg := oncehttp.Config{Contracts: contracts.All()}
			cfg.Retry.MaxAttempts = 1
			path := filepath.Join(t.TempDir(), "intents.db")
			before := openAt(t, path, api, cfg)
			api.Script(mockserver.Lost())
			ctx, params := test.call(t.Context())
			_, err := newStripe(before).V1PaymentIntents.Create(ctx, params)
			pendingOf(t, err)
			require.NoError(t, before.Close())

			after := openAt(t, path, api, cfg)
			ctx, params = test.call(t.Context())
			_, err = newStripe(after).V1PaymentIntents.Create(ctx, params)
			require.NoError(t, err)
			require.Equal(t, test.charges, api.EffectsTotal())
			require.Len(t, keysSent(api), test.charges)
		})
	}
}

// The journal does not keep the API key. Resume needs it from Authorize.
func TestResumeFinishesAStripeCallOnceAuthorizeBringsTheAPIKey(t *testing.T) {
	t.Parallel()
	api := startStripe(t)
	cfg := oncehttp.Config{Contracts: contracts.All()}
	cfg.Retry.MaxAttempts = 1
	path := filepath.Join(t.TempDir(), "intents.db")
	before := openAt(t, path, api, cfg)
	api.Script(mockserver.Lost())
	_, err := newStripe(before).V1PaymentIntents.Create(oncehttp.WithAction(t.Context(), "order-42/charge"), stripePayment())
	pendingOf(t, err)
	require.NoError(t, before.Close())

	bare := openAt(t, path, api, cfg)
	told := resumed(t, bare)
	require.Len(t, told, 1)
	require.Equal(t, oncehttp.NeedsCredentials, told[0].Reason)
	require.NoError(t, bare.Close())

	cfg.Authorize = func(req *http.Request, _ bool) error {
		req.Header.Set("Authorization", "Bearer sk_test_123")
		return nil
	}
	after := openAt(t, path, api, cfg)
	told = resumed(t, after)
	require.Len(t, told, 1)
	require.Equal(t, oncehttp.Confirmed, told[0].State)
	assert.True(t, told[0].Response.Replayed)
	require.Equal(t, 1, api.EffectsTotal())

	// And the application's next run gets the library's own type.
	made, err := newStripe(after).V1PaymentIntents.Create(oncehttp.WithAction(t.Context(), "order-42/charge"), stripePayment())
	require.NoError(t, err)
	require.NotEmpty(t, made.ID)
}

// A Pending outlives the end of the context, too.
func TestStripeHandsOnAPendingWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	api, ctx := startLeft(t)
	client := open(t, api, oncehttp.Config{Contracts: contracts.All()})
	_, err := newStripe(client).V1PaymentIntents.Create(oncehttp.WithAction(ctx, "order-42/charge"), stripePayment())
	require.True(t, pendingOf(t, err).MayHaveExecuted)
}
