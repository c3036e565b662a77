package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func cards() []oncehttp.Contract {
	return []oncehttp.Contract{
		SquarePayments, SquareRefunds, SquareTerminal, SquareOrders, SquareCommerce, SquareBookings,
		SquareCustomers, SquareCards, SquarePeople,
		AdyenCheckout, AdyenTransfers,
		CheckoutPayments, CheckoutPaymentActions, CheckoutActions,
		MolliePayments, MollieRefunds, MollieV2,
	}
}

// square is what Square's creating operations have in common: the key is a field
// of the body, and must be new for each kind of operation. How long it may be
// differs, how long it is kept is not published. An empty key counts as none.
func square(name string, key oncehttp.KeyRule, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"connect.squareup.com", "connect.squareupsandbox.com"},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier:  jsonField("/idempotency_key"),
		Key:      key,
		Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
		Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
		// The version is on every success, and every error has a category.
		Origin: oncehttp.Marker{Headers: []string{"Square-Version"}, At: []string{"/errors/*/category"}},
		Answers: []oncehttp.Answer{
			{At: []string{"/errors/*/code"}, Codes: []string{"IDEMPOTENCY_KEY_REUSED"}, Verdict: oncehttp.VerdictMismatch},
			{At: []string{"/errors/*/code"}, Codes: []string{"TEMPORARY_ERROR"}, Verdict: oncehttp.VerdictInProgress},
		},
		Proof: oncehttp.ProofVendor,
		AsOf:  "2026-11-30",
		Sources: []string{
			"https://developer.squareup.com/docs/working-with-apis/idempotency",
			"https://developer.squareup.com/forums/t/how-long-are-idempotency-keys-retained-for-the-createpayment-endpoint/28303",
			"https://developer.squareup.com/forums/t/support-for-api-versions/2896",
			"github.com/square/connect-api-specification@5733f6624e:api.json",
		},
	}
}

// SquarePayments is the creation of payments. Where nothing can be found out, a
// POST of the key to /v2/payments/cancel voids what was made under it, and says
// success too where nothing was. Only the newest hundred payments are looked
// through; declined ones are among them, so that a payment is told by its receipt,
// which completed ones have, and one that is only approved is not told.
var SquarePayments = squarePayments()

func squarePayments() oncehttp.Contract {
	c := square("square-payments", oncehttp.KeyRule{Max: 45, Need: oncehttp.NeedAll}, "/v2/payments")
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/reference_id"}
	c.Lookups = []oncehttp.Lookup{{
		URL:       "/v2/payments?begin_time={since}T00:00:00Z&sort_order=DESC&limit=100",
		Items:     "/payments",
		Where:     "/reference_id",
		Reference: "/receipt_url",
	}}
	c.Sources = append(c.Sources,
		"https://developer.squareup.com/reference/square/payments/ListPayments",
		"https://developer.squareup.com/forums/t/get-v2-payments-api-query-parameters-for-status-completed/14952")
	return c
}

// SquareRefunds is the refund of payments and the evidence against disputes.
var SquareRefunds = square("square-refunds", oncehttp.KeyRule{Max: 45, Need: oncehttp.NeedAll},
	"/v2/refunds", "/v2/disputes/*/evidence-text")

// SquareTerminal is what is asked of a Terminal.
var SquareTerminal = square("square-terminal", oncehttp.KeyRule{Max: 64, Need: oncehttp.NeedAll},
	"/v2/terminals/actions", "/v2/terminals/checkouts", "/v2/terminals/refunds")

// SquareOrders is the creation and payment of orders and of payment links.
var SquareOrders = square("square-orders", oncehttp.KeyRule{Max: 192, Need: oncehttp.NeedSome},
	"/v2/orders", "/v2/orders/clone", "/v2/orders/*/pay", "/v2/online-checkout/payment-links")

// SquareCommerce is the creation of catalog objects, gift cards, loyalty events,
// inventory changes, invoices and shifts.
var SquareCommerce = square("square-commerce", oncehttp.KeyRule{Max: 128, Need: oncehttp.NeedSome},
	"/v2/catalog/object", "/v2/catalog/batch-upsert",
	"/v2/gift-cards", "/v2/gift-cards/activities",
	"/v2/loyalty/accounts", "/v2/loyalty/accounts/*/accumulate", "/v2/loyalty/accounts/*/adjust",
	"/v2/loyalty/rewards", "/v2/loyalty/rewards/*/redeem",
	"/v2/inventory/changes/batch-create",
	"/v2/invoices", "/v2/invoices/*/publish",
	"/v2/labor/break-types", "/v2/labor/shifts")

// SquareBookings is the creation and cancelling of bookings.
var SquareBookings = square("square-bookings", oncehttp.KeyRule{Max: 255}, "/v2/bookings", "/v2/bookings/*/cancel")

// SquareCustomers is the creation of customers, of whose keys no length is
// published. Only the newest hundred are looked through.
var SquareCustomers = squareCustomers()

func squareCustomers() oncehttp.Contract {
	c := square("square-customers", oncehttp.KeyRule{Need: oncehttp.NeedSome}, "/v2/customers")
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/reference_id"}
	c.Lookups = []oncehttp.Lookup{{
		URL:       "/v2/customers?sort_field=CREATED_AT&sort_order=DESC&limit=100",
		Items:     "/customers",
		Where:     "/reference_id",
		Reference: "/id",
	}}
	c.Sources = append(c.Sources, "https://developer.squareup.com/reference/square/customers/list-customers")
	return c
}

// SquareCards is the keeping of cards on file.
var SquareCards = squareCards()

func squareCards() oncehttp.Contract {
	c := square("square-cards", oncehttp.KeyRule{Need: oncehttp.NeedSome}, "/v2/cards")
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/card/reference_id"}
	c.Lookups = []oncehttp.Lookup{{URL: "/v2/cards?reference_id={id}", Items: "/cards", Where: "/reference_id", Reference: "/id"}}
	c.Sources = append(c.Sources, "https://developer.squareup.com/explorer/square/cards-api/list-cards")
	return c
}

// SquarePeople is the creation of subscriptions and team members, of whose keys
// no length is published.
var SquarePeople = square("square-people", oncehttp.KeyRule{Need: oncehttp.NeedSome}, "/v2/subscriptions", "/v2/team-members")

// AdyenCheckout is the POSTs of the Checkout API and of the classic Payments
// API. An error marked transient-error: true had no effect and may be sent
// again; no other may. Keys are not shared between regions: a request that fails
// over to another host acts twice. Whoever guesses a key reads the answer under
// it, so that only random ones will do. Older copies of Adyen's page promise 31
// days.
var AdyenCheckout = adyen("adyen-checkout", "", "checkout-test.adyen.com", "*-checkout-live.adyenpayments.com",
	"pal-test.adyen.com", "*-pal-live.adyenpayments.com")

// AdyenTransfers is the POSTs of the Transfers API of balance platforms, under
// the same rules.
var AdyenTransfers = adyen("adyen-transfers", "/btl", "balanceplatform-api-test.adyen.com", "balanceplatform-api-live.adyen.com")

func adyen(name, path string, hosts ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name:    name,
		Match:   oncehttp.Match{Hosts: hosts, Path: path, Methods: []string{http.MethodPost}},
		Carrier: header("Idempotency-Key"),
		Key:     oncehttp.KeyRule{Max: 64, UUID: oncehttp.UUIDRandom},
		Window:  oncehttp.Window{Length: 7 * day},
		Answers: []oncehttp.Answer{
			{At: []string{"/errorCode"}, Codes: []string{"704"}, Verdict: oncehttp.VerdictInProgress},
			{At: []string{"/errorCode"}, Codes: []string{"703"}, Verdict: oncehttp.VerdictKeysDown},
			{Header: "Transient-Error", HeaderValue: "true", Verdict: oncehttp.VerdictThrottled},
		},
		Hints: oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "Transient-Error", Kind: oncehttp.HintAgain, AbsentNo: true}}},
		Pin:   oncehttp.PinHost,
		Proof: oncehttp.ProofVendor,
		AsOf:  "2026-10-06",
		Sources: []string{
			"https://docs.adyen.com/development-resources/api-idempotency",
			"https://docs.adyen.com/development-resources/live-endpoints",
			"github.com/Adyen/adyen-go-api-library@fed7311e5a:src/common/client.go, src/checkout, src/transfers",
		},
	}
}

// CheckoutPayments is the creation of payments and payouts at Checkout.com. Only
// a 2xx is kept under the key, so that a repeat after any error is carried out
// anew. A key lasts a day unless support has set another time for the account.
// Another attempt may still run: wait half a minute. What was declined is a payment
// too, a success whose body says so, since Checkout.com may be set to try it again by
// itself; it is not looked for, nor is what was voided or refunded.
var CheckoutPayments = checkoutPayments()

func checkoutPayments() oncehttp.Contract {
	c := checkout("checkout-payments", "/payments")
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/reference"}
	c.Lookups = []oncehttp.Lookup{inState(oncehttp.Lookup{URL: "/payments?limit=100&reference={id}", Items: "/data", Where: "/reference", Reference: "/id"},
		"/status", "Authorized", "Captured", "Partially Captured", "Card Verified", "Paid", "Pending", "Active")}
	c.AsOf = "2026-11-30"
	c.Sources = append(c.Sources,
		"https://checkout.com/docs/payments/manage-payments/get-a-list-of-payments",
		"https://checkout.com/docs/payments/manage-payments/configure-scheduled-retries",
		"https://checkout.com/docs/resources/codes/response-codes/declined-do-not-honour",
		"github.com/checkout/checkout-sdk-net:src/CheckoutSdk/HandlePaymentsAndPayouts/Payments/POSTPayments/Responses/RequestAPaymentOrPayoutResponseCreated/StatusType.cs")
	return c
}

// CheckoutPaymentActions is what is done with a payment that exists, under the
// same rules. An action is found among those of its payment, declined ones too: a
// success says no more than that it was taken on.
var CheckoutPaymentActions = checkoutPaymentActions()

func checkoutPaymentActions() oncehttp.Contract {
	c := checkout("checkout-payment-actions",
		"/payments/*/authorizations", "/payments/*/captures", "/payments/*/refunds", "/payments/*/voids")
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/reference"}
	c.Lookups = []oncehttp.Lookup{{URL: "/payments/{path.2}/actions", Items: "/*", Where: "/reference", Reference: "/id"}}
	c.AsOf = "2026-11-30"
	c.Sources = append(c.Sources, "https://www.checkout.com/docs/previous/payments/manage-payments/get-payment-actions")
	return c
}

// CheckoutActions is payment contexts, transfers between entities, and the
// cancelling of a payment's retries, under the same rules.
var CheckoutActions = checkout("checkout-actions", "/payment-contexts", "/transfers", "/payments/*/cancellations")

func checkout(name string, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts: []string{
				"api.checkout.com", "api.sandbox.checkout.com", "*.api.checkout.com", "*.api.sandbox.checkout.com",
				"transfers.checkout.com", "transfers.sandbox.checkout.com",
			},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: header("Cko-Idempotency-Key"),
		Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowAccount, After: oncehttp.ExpiryExecutes},
		// Checkout.com's own clients allow for answers without the headers; the
		// links are in every success.
		Origin:  oncehttp.Marker{Headers: []string{"Cko-Request-Id", "Cko-Version"}, At: []string{"/_links"}},
		Answers: []oncehttp.Answer{{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictInProgress}},
		Stored:  oncehttp.Stored{Failures: oncehttp.KeepingNo},
		Hints:   oncehttp.Hints{Least: minute / 2},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-10-06",
		Sources: []string{
			"https://checkout.com/docs/payments/manage-payments/retry-a-payment",
			"https://support.checkout.com/hc/en-us/articles/24570669653010",
			"https://www.checkout.com/docs/developer-resources/api/api-endpoints",
			"github.com/checkout/checkout-sdk-go@012b500e1e:client/client.go, configuration/environment.go",
		},
	}
}

// MolliePayments is the creation of payments. Only the newest 250 are looked
// through, and of them not those that failed, expired or were canceled.
var MolliePayments = molliePayments()

func molliePayments() oncehttp.Contract {
	c := mollieObject("mollie-payments", "/v2/payments", "/v2/payments?limit=250", "/_embedded/payments", "open", "pending", "authorized", "paid")
	c.Sources = append(c.Sources, "https://docs.mollie.com/reference/list-payments")
	return c
}

// MollieRefunds is the refund of payments, found among the refunds of its payment.
var MollieRefunds = mollieRefunds()

func mollieRefunds() oncehttp.Contract {
	c := mollieObject("mollie-refunds", "/v2/payments/*/refunds", "/v2/payments/{path.3}/refunds?limit=250", "/_embedded/refunds", "queued", "pending", "processing", "refunded")
	c.Sources = append(c.Sources, "https://docs.mollie.com/reference/list-payment-refunds")
	return c
}

// mollieObject is MollieV2 for the creation of one kind of object. Its answers
// have links, to the object or to what documents the error; not so all of the
// rest of the API's, some of which are empty.
func mollieObject(name, path, list, items string, states ...string) oncehttp.Contract {
	c := mollie(name)
	c.Match.Path, c.Match.Exact = path, true
	c.Origin = oncehttp.Marker{At: []string{"/_links"}}
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"}
	c.Lookups = []oncehttp.Lookup{inState(oncehttp.Lookup{
		URL: list, Items: items, Where: "/metadata/oncehttp", Reference: "/id",
	}, "/status", states...)}
	c.AsOf = "2026-11-30"
	c.Sources = append(c.Sources, "https://docs.mollie.com/reference/handling-errors")
	return c
}

// MollieV2 is every other POST. PATCH and DELETE ignore a key. An hour is the
// shortest time that is told of a key; Mollie's older page says a day.
var MollieV2 = mollie("mollie-v2")

func mollie(name string) oncehttp.Contract {
	return oncehttp.Contract{
		Name:     name,
		Match:    oncehttp.Match{Hosts: []string{"api.mollie.com"}, Path: "/v2", Methods: []string{http.MethodPost}},
		Carrier:  header("Idempotency-Key"),
		Compared: oncehttp.Compared{Parts: oncehttp.PartPath | oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
		Window:   oncehttp.Window{Length: hour, After: oncehttp.ExpiryExecutes},
		Replay:   marked("Idempotent-Replayed", "true"),
		Proof:    oncehttp.ProofVendor,
		AsOf:     "2026-10-06",
		Sources: []string{
			"https://docs.mollie.com/reference/api-idempotency",
			"github.com/mollie/api-documentation@3088762dda:source/overview/api-idempotency.rst",
			"github.com/mollie/mollie-api-php@53e49e71dc:src/Http/Middleware/ApplyIdempotencyKey.php",
			"github.com/api-evangelist/mollie@b988c06063:conventions/mollie-conventions.yml",
		},
	}
}
