package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func paypal() []oncehttp.Contract {
	return []oncehttp.Contract{
		PayPalOrdersV2, PayPalOrdersV1, PayPalPaymentsV2, PayPalPaymentsV1, PayPalPayoutsV1,
		PayPalSubscriptionsV1, PayPalVaultV3, PayPalWebProfilesV1,
		Braintree, BraintreeQueries, BraintreeGateway, BraintreeGatewaySearches,
	}
}

// payPal is what PayPal's REST APIs have in common. How long a key is kept and
// how long it may be differ from one to the next. A repeat tells the present
// state, and of two at once the second may fail; the 409 for that speaks of the
// resource, whatever the key.
func payPal(name string, window oncehttp.Window, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"api-m.paypal.com", "api-m.sandbox.paypal.com", "api.paypal.com", "api.sandbox.paypal.com"},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: header("PayPal-Request-Id"),
		Window:  window,
		Origin:  oncehttp.Marker{Headers: []string{"PayPal-Debug-Id"}},
		Answers: []oncehttp.Answer{
			{At: payPalCodes(), Codes: []string{"PREVIOUS_REQUEST_IN_PROGRESS"}, Verdict: oncehttp.VerdictInProgress},
			{At: payPalCodes(), Codes: []string{"DUPLICATE_REQUEST_ID", "PAYPAL_REQUEST_ID_PREVIOUSLY_USED"}, Verdict: oncehttp.VerdictMismatch},
		},
		Stored: oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
		Proof:  oncehttp.ProofVendor,
		AsOf:   "2026-10-06",
		Sources: []string{
			"https://developer.paypal.com/reference/guidelines/idempotency",
			"https://developer.paypal.com/api/rest/responses",
			"github.com/paypal/paypal-rest-api-specifications@ec4d8f36a6:openapi",
		},
	}
}

func payPalCodes() []string { return []string{"/name", "/details/*/issue"} }

func payPalKeys(c oncehttp.Contract, rule oncehttp.KeyRule) oncehttp.Contract {
	c.Key = rule
	return c
}

// PayPalOrdersV2 is the creation, authorization and capture of orders. Six hours
// are the least; PayPal sets up to 72 for an account. An order created with a
// payment source is refused without a key.
var PayPalOrdersV2 = payPalKeys(payPal("paypal-orders-v2",
	oncehttp.Window{Length: 6 * hour, Kind: oncehttp.WindowAccount},
	"/v2/checkout/orders", "/v2/checkout/orders/*/authorize", "/v2/checkout/orders/*/capture",
), oncehttp.KeyRule{Max: 108, Need: oncehttp.NeedSome})

// PayPalOrdersV1 is the payment of an order of the first version. Creating one
// takes no key.
var PayPalOrdersV1 = payPal("paypal-orders-v1",
	oncehttp.Window{Kind: oncehttp.WindowForever}, "/v1/checkout/orders/*/pay")

// PayPalPaymentsV2 is the capture and reauthorization of authorizations and the
// refund of captures. Voiding takes no key.
var PayPalPaymentsV2 = payPal("paypal-payments-v2",
	oncehttp.Window{Length: 45 * day, Kind: oncehttp.WindowExact},
	"/v2/payments/authorizations/*/capture", "/v2/payments/authorizations/*/reauthorize", "/v2/payments/captures/*/refund")

// PayPalPaymentsV1 is the execution of payments, the refund of sales and
// captures, and voiding, of the first version.
var PayPalPaymentsV1 = payPalKeys(payPal("paypal-payments-v1",
	oncehttp.Window{Length: 30 * day, Kind: oncehttp.WindowExact},
	"/v1/payments/payment/*/execute", "/v1/payments/sale/*/refund", "/v1/payments/capture/*/refund", "/v1/payments/authorization/*/void",
), oncehttp.KeyRule{Max: 78})

// PayPalPayoutsV1 is the creation of batch payouts. A sender_batch_id must be
// unique for thirty days besides.
var PayPalPayoutsV1 = payPalKeys(payPal("paypal-payouts-v1",
	oncehttp.Window{Length: 30 * day, Kind: oncehttp.WindowExact}, "/v1/payments/payouts",
), oncehttp.KeyRule{Max: 1000})

// PayPalSubscriptionsV1 is the creation of plans, subscriptions and catalog
// products, and the capture of what a subscription owes.
var PayPalSubscriptionsV1 = payPal("paypal-subscriptions-v1",
	oncehttp.Window{Length: 72 * hour, Kind: oncehttp.WindowExact},
	"/v1/billing/plans", "/v1/billing/subscriptions", "/v1/billing/subscriptions/*/capture", "/v1/catalogs/products")

// PayPalVaultV3 is the creation of payment and setup tokens, which is refused
// without a key. Three hours is the shortest of PayPal's windows.
var PayPalVaultV3 = payPalKeys(payPal("paypal-vault-v3",
	oncehttp.Window{Length: 3 * hour, Kind: oncehttp.WindowExact}, "/v3/vault/payment-tokens", "/v3/vault/setup-tokens",
), oncehttp.KeyRule{Need: oncehttp.NeedAll})

// PayPalWebProfilesV1 is the creation of web experience profiles, which is
// refused without a key.
var PayPalWebProfilesV1 = payPalKeys(payPal("paypal-web-profiles-v1",
	oncehttp.Window{Length: 3 * hour, Kind: oncehttp.WindowExact}, "/v1/payment-experience/web-profiles",
), oncehttp.KeyRule{Need: oncehttp.NeedAll})

// Braintree is the mutations of the GraphQL API, without a key: clientMutationId
// is only echoed. What is ambiguous is Pending; search for the order id before
// you charge again. Duplicates are rejected within a time that the merchant
// sets, which is no promise. An error comes with status 200; send one mutation
// a request, since of several some may have been done.
//
// Authorizations, charges, captures, refunds and reversals may have an
// ApiRequestKey, at most once in 30 days, instead of the check for duplicates.
// The guide does not say where in the request it belongs, so that none is
// written here. What such a key refuses is no proof that nothing was done
// before.
var Braintree = oncehttp.Contract{
	Name:   "braintree",
	Match:  oncehttp.Match{Hosts: braintreeHosts(), Path: "/graphql", Exact: true, Methods: []string{http.MethodPost}},
	Origin: oncehttp.Marker{At: []string{"/extensions/requestId"}},
	Answers: []oncehttp.Answer{
		{
			// A key that another request has, one at work, one that failed.
			Status: []int{http.StatusOK}, At: []string{"/errors/*/extensions/legacyCode"}, Verdict: oncehttp.VerdictUnknown,
			Codes: []string{"915232", "915233", "915234"},
		},
		{
			Status: []int{http.StatusOK}, At: braintreeErrors(), Verdict: oncehttp.VerdictUnknown,
			Codes: []string{"AUTHORIZATION", "INTERNAL", "SERVICE_AVAILABILITY", "UNKNOWN"},
		},
		{
			Status: []int{http.StatusOK}, At: braintreeErrors(), Verdict: oncehttp.VerdictRefused,
			Codes: []string{"AUTHENTICATION", "NOT_FOUND", "NOT_IMPLEMENTED", "UNSUPPORTED_CLIENT", "VALIDATION"},
		},
		{Status: []int{http.StatusOK}, At: braintreeErrors(), Codes: []string{"RESOURCE_LIMIT"}, Verdict: oncehttp.VerdictThrottled},
		{Status: []int{http.StatusOK}, At: []string{"/errors/*/message"}, Codes: []string{"*"}, Verdict: oncehttp.VerdictUnknown},
	},
	Proof: oncehttp.ProofSecondary,
	AsOf:  "2026-11-30",
	Sources: []string{
		"github.com/braintree/graphql-api@2252d472d6:CHANGELOG.md, schema.graphql",
		"https://developer.paypal.com/braintree/in-person/guides/graphql-error-handling",
		"https://developer.paypal.com/braintree/graphql/guides/making_api_calls",
		"https://developer.paypal.com/braintree/graphql/integration_guides/idempotency",
		"github.com/api-evangelist/braintree@42cc29e13c:conventions/braintree-conventions.yml",
	},
}

// BraintreeQueries is what the GraphQL API is only asked.
var BraintreeQueries = oncehttp.Contract{
	Name: "braintree-queries",
	Match: oncehttp.Match{
		Hosts: braintreeHosts(), Path: "/graphql", Exact: true, Methods: []string{http.MethodPost},
		Operation: oncehttp.Operation{
			Kind:  oncehttp.OperationGraphQL,
			Names: []string{"clientConfiguration", "idFromLegacyId", "node", "ping", "report", "search", "viewer"},
		},
		Safe: true,
	},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/braintree/graphql-api@2252d472d6:schema.graphql"},
}

// BraintreeGateway is the API behind the server SDKs, which takes no key. Its
// PUT submits a transaction for settlement, or voids it: it is not repeated
// either.
var BraintreeGateway = oncehttp.Contract{
	Name: "braintree-gateway",
	Match: oncehttp.Match{
		Hosts: braintreeGatewayHosts(), Path: "/merchants",
		Methods:    []string{http.MethodPost, http.MethodPut},
		Idempotent: oncehttp.IdempotentNo,
	},
	Proof: oncehttp.ProofSecondary,
	AsOf:  "2026-10-06",
	Sources: []string{
		"github.com/api-evangelist/braintree@42cc29e13c:conventions/braintree-conventions.yml",
	},
}

// BraintreeGatewaySearches is the searches of the API behind the server SDKs,
// which are POSTs that change nothing.
var BraintreeGatewaySearches = oncehttp.Contract{
	Name: "braintree-gateway-searches",
	Match: oncehttp.Match{
		Hosts: braintreeGatewayHosts(), Exact: true, Methods: []string{http.MethodPost}, Safe: true,
		Paths: []string{"/merchants/*/*/advanced_search", "/merchants/*/*/advanced_search_ids"},
	},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/braintree/braintree_php:lib/Braintree/TransactionGateway.php"},
}

func braintreeErrors() []string { return []string{"/errors/*/extensions/errorClass"} }

func braintreeHosts() []string {
	return []string{"payments.braintree-api.com", "payments.sandbox.braintree-api.com"}
}

func braintreeGatewayHosts() []string {
	return []string{"api.braintreegateway.com", "api.sandbox.braintreegateway.com"}
}
