package contracts

import "github.com/oncehttp/oncehttp"

func commerce() []oncehttp.Contract {
	return []oncehttp.Contract{ShopifyGraphQL, ShopifyRESTPayments}
}

// ShopifyGraphQL is every mutation of the Admin API under the directive
// @idempotent, which refunds and inventory need from version 2026-04 on. The
// key goes into the variable idempotencyKey: write @idempotent(key:
// $idempotencyKey) and send variables, if only {}. A key in the query's text
// protects too, and stays. Errors come in a 200: ask for code and message of
// userErrors, under the mutation's own name and no alias, or a refusal looks like
// a success. The day that keys are kept is the vendor's sentence as others quote
// it.
var ShopifyGraphQL = oncehttp.Contract{
	Name: "shopify-graphql",
	Match: oncehttp.Match{
		Hosts: []string{"*.myshopify.com"}, Path: "/admin/api/*/graphql.json", Exact: true, Methods: []string{"POST"},
		Operation: oncehttp.Operation{Kind: oncehttp.OperationGraphQL, Names: []string{"@idempotent"}},
	},
	Carrier:  jsonField("/variables/idempotencyKey"),
	Key:      oncehttp.KeyRule{Need: oncehttp.NeedSome},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Origin:   shopifyOrigin(),
	Answers: []oncehttp.Answer{
		{
			Status: []int{200}, At: shopifyUserErrors("code"), Codes: []string{"IDEMPOTENCY_CONCURRENT_REQUEST"},
			Verdict: oncehttp.VerdictInProgress,
		},
		{
			Status: []int{200}, At: shopifyUserErrors("code"), Codes: []string{"IDEMPOTENCY_KEY_PARAMETER_MISMATCH"},
			Verdict: oncehttp.VerdictMismatch,
		},
		{
			Status: []int{200}, At: shopifyUserErrors("code"), Codes: []string{"IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED"},
			Verdict: oncehttp.VerdictKeySpent,
		},
		{Status: []int{200}, At: shopifyUserErrors("code"), Codes: []string{"*"}, Verdict: oncehttp.VerdictRefused},
		{Status: []int{200}, At: shopifyUserErrors("message"), Codes: []string{"*"}, Verdict: oncehttp.VerdictRefused},
		{
			Status: []int{200}, At: []string{"/errors/*/extensions/code"}, Codes: []string{"THROTTLED"},
			Verdict: oncehttp.VerdictThrottled,
		},
		{Status: []int{200}, At: []string{"/errors/*/message"}, Codes: []string{"*"}, Verdict: oncehttp.VerdictUnknown},
	},
	Stored: oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-11-30",
	Sources: []string{
		"https://shopify.dev/docs/api/usage/implementing-idempotency.md",
		"https://shopify.dev/docs/api/usage/idempotent-requests",
		"https://shopify.dev/changelog/making-idempotency-mandatory-for-inventory-adjustments-and-refund-mutations",
		"github.com/Shopify/shopify-api-ruby@08e889de3e:lib/shopify_api/clients/http_client.rb",
	},
}

// shopifyOrigin is what Shopify's own clients read from an answer, errors included,
// to report it by.
func shopifyOrigin() oncehttp.Marker { return oncehttp.Marker{Headers: []string{"X-Request-Id"}} }

// shopifyUserErrors are where the mutations that take the directive put one field
// of their errors.
func shopifyUserErrors(field string) []string {
	var places []string
	for _, mutation := range []string{
		"refundCreate",
		"inventoryActivate", "inventoryAdjustQuantities", "inventoryMoveQuantities",
		"inventorySetOnHandQuantities", "inventorySetQuantities",
		"inventoryShipmentAddItems", "inventoryShipmentCreate", "inventoryShipmentCreateInTransit",
		"inventoryShipmentReceive",
		"inventoryTransferCreate", "inventoryTransferCreateAsReadyToShip", "inventoryTransferDuplicate",
		"inventoryTransferSetItems",
		"locationActivate", "locationDeactivate",
	} {
		places = append(places, "/data/"+mutation+"/userErrors/*/"+field)
	}
	return places
}

// ShopifyRESTPayments pays a checkout by the REST Admin API, which is no longer
// developed. How long the token is kept is not written down. A payment is found
// among those of its checkout, which versions from 2025-04 on do not list.
var ShopifyRESTPayments = oncehttp.Contract{
	Name: "shopify-rest-payments",
	Match: oncehttp.Match{
		Hosts: []string{"*.myshopify.com"}, Path: "/admin/api/*/checkouts/*/payments.json", Exact: true,
		Methods: []string{"POST"},
	},
	Carrier: jsonField("/payment/unique_token"),
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  shopifyOrigin(),
	Lookups: []oncehttp.Lookup{{
		URL:   "/admin/api/{path.3}/checkouts/{path.5}/payments.json",
		Items: "/payments", Where: "/unique_token", State: "/transaction/status", Is: []string{"success"}, Reference: "/id",
	}},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://shopify.dev/docs/api/admin-rest/usage/idempotent-requests",
		"https://shopify.dev/docs/api/admin-rest/2024-01/resources/payment",
		"github.com/Shopify/shopify-api-ruby@08e889de3e:lib/shopify_api/clients/http_client.rb",
	},
}
