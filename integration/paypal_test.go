package integration

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/plutov/paypal/v4"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/contracts"
	"github.com/oncehttp/oncehttp/mockserver"
)

// newPayPal is the whole recipe, with contracts.All() in the client of oncehttp:
// the same header is kept for six hours in Orders v2, for 45 days in Payments v2,
// and for three hours in the vault. The library has no retries to turn off, and its
// request for a token passes through.
func newPayPal(t *testing.T, client *oncehttp.Client) *paypal.Client {
	t.Helper()
	orders, err := paypal.NewClient("id", "secret", paypal.APIBaseLive)
	require.NoError(t, err)
	orders.SetHTTPClient(client.HTTPClient())
	return orders
}

const paypalToken = "POST /v1/oauth2/token"

func startPayPal(t *testing.T) *mockserver.Server {
	t.Helper()
	profile, ok := mockserver.ProfileNamed("paypal-orders-v2")
	require.True(t, ok)
	return startAPI(t, mockserver.Config{
		Profile: profile,
		Execute: func(r *http.Request) mockserver.Answer {
			if r.URL.Path == "/v1/oauth2/token" {
				return answer(200, `{"access_token":"A21","token_type":"Bearer","expires_in":32400}`)
			}
			return answer(201, `{"id":"5O190127TN364715T","status":"CREATED"}`)
		},
	})
}

func createOrder(ctx context.Context, orders *paypal.Client, key string) (*paypal.Order, error) {
	units := []paypal.PurchaseUnitRequest{{Amount: &paypal.PurchaseUnitAmount{Currency: "USD", Value: "20.00"}}}
	return orders.CreateOrderWithPaypalRequestID(ctx, paypal.OrderIntentCapture, units, nil, nil, key)
}

func ordersMade(api *mockserver.Server) int { return api.EffectsOf("POST /v2/checkout/orders") }

func TestPayPalCreatesOneOrderWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	api := startPayPal(t)
	client := open(t, api, oncehttp.Config{Contracts: contracts.All()})
	orders := newPayPal(t, client)

	api.ScriptPath("/v2/checkout/orders", mockserver.Lost())
	ctx := oncehttp.WithAction(t.Context(), "order-42/checkout")
	order, err := createOrder(ctx, orders, "") // without a key the library sends none, and the action's is put in
	require.NoError(t, err)
	require.Equal(t, "5O190127TN364715T", order.ID)
	require.Equal(t, 1, ordersMade(api))
	requests := api.Requests()
	require.Len(t, requests, 3, "one for the token, two for the order")
	require.Empty(t, requests[0].Key)
	require.NotEmpty(t, requests[1].Key)
	require.Equal(t, requests[1].Key, requests[2].Key)
	require.Equal(t, 1, api.EffectsOf(paypalToken))

	again, err := createOrder(ctx, orders, "")
	require.NoError(t, err)
	require.Equal(t, order.ID, again.ID)
	require.Len(t, api.Requests(), 3)
}

func TestPayPalRefusalsKeepTheirType(t *testing.T) {
	t.Parallel()
	api := startPayPal(t)
	client := open(t, api, oncehttp.Config{Contracts: contracts.All()})
	api.ScriptPath("/v2/checkout/orders", refusal(422, `{"name":"UNPROCESSABLE_ENTITY","message":"The requested action could not be performed.","details":[{"issue":"CURRENCY_NOT_SUPPORTED"}]}`))

	_, err := createOrder(oncehttp.WithAction(t.Context(), "order-42/checkout"), newPayPal(t, client), "")
	var refused *paypal.ErrorResponse
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "UNPROCESSABLE_ENTITY", refused.Name)
	require.Equal(t, "CURRENCY_NOT_SUPPORTED", refused.Details[0].Issue)
	outcome, ok := oncehttp.OutcomeOf(refused.Response) // the error has the answer, and that the outcome
	require.True(t, ok)
	require.Equal(t, oncehttp.Rejected, outcome.State)
	require.Zero(t, ordersMade(api))
}

// The key that the application gives the library names the intent: without an
// action, and after a restart.
func TestPayPalHandsOnAPendingAndItsKeyTakesItUpAgain(t *testing.T) {
	t.Parallel()
	api := startPayPal(t)
	cfg := oncehttp.Config{Contracts: contracts.All()}
	path := filepath.Join(t.TempDir(), "intents.db")
	before := openAt(t, path, api, cfg)
	lost := mockserver.Lost()
	lost.Times = 4 // as many as one call makes
	api.ScriptPath("/v2/checkout/orders", lost)
	_, err := createOrder(t.Context(), newPayPal(t, before), "order-42-checkout")
	outcome := pendingOf(t, err)
	require.True(t, outcome.MayHaveExecuted)
	require.Equal(t, 4, outcome.Attempts)
	require.NoError(t, before.Close())

	after := openAt(t, path, api, cfg)
	order, err := createOrder(t.Context(), newPayPal(t, after), "order-42-checkout")
	require.NoError(t, err)
	require.Equal(t, "5O190127TN364715T", order.ID)
	require.Equal(t, 1, ordersMade(api))
	require.Equal(t, 1, api.Effects("order-42-checkout"))
}
