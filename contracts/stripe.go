package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func stripe() []oncehttp.Contract {
	return []oncehttp.Contract{
		StripeV1, StripeV2, StripePaymentIntents, StripePaymentIntentActions, StripeCharges,
		StripeRefunds, StripeTransfers, StripePayouts, StripeTopUps, StripeCustomers, StripeSubscriptions,
		StripeInvoices, StripeInvoicePay, StripeInvoiceItems, StripeCreditNotes,
	}
}

// StripeV1 is every POST under /v1. Once an endpoint has begun to execute,
// Stripe keeps its answer under the key, a 500 too, and gives it to every
// repeat: such a 500 is Pending and wants reconciling, since another key may act
// twice. Only a 402 is kept for certain: a 400 may be of the validation that
// comes before. A DELETE takes no key here.
var StripeV1 = oncehttp.Contract{
	Name:     "stripe-v1",
	Match:    oncehttp.Match{Hosts: []string{"api.stripe.com"}, Path: "/v1", Methods: []string{http.MethodPost}},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 255},
	Compared: oncehttp.Compared{Parts: oncehttp.PartPath | oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: day, After: oncehttp.ExpiryExecutes},
	Origin:   oncehttp.Marker{Headers: []string{"Request-Id"}},
	Replay:   marked("Idempotent-Replayed", "true"),
	Answers: []oncehttp.Answer{
		{At: []string{"/error/code"}, Codes: []string{"idempotency_key_in_use"}, Verdict: oncehttp.VerdictInProgress},
		{At: []string{"/error/type"}, Codes: []string{"idempotency_error"}, Verdict: oncehttp.VerdictMismatch},
	},
	Stored: oncehttp.Stored{
		Refusals: true,
		Failures: oncehttp.KeepingYes,
		Except:   []int{400, 401, 403, 404, 409, 429, 502, 503, 504},
	},
	Hints: oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "Stripe-Should-Retry", Kind: oncehttp.HintAgain}}},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://docs.stripe.com/api/idempotent_requests",
		"https://docs.stripe.com/error-low-level",
		"https://docs.stripe.com/api/request_ids",
		"https://docs.stripe.com/search",
		"github.com/stripe/stripe-go@a1e3932f68:stripe.go, error.go, event.go",
	},
}

// StripeV2 is every POST and DELETE under /v2. It is the opposite of v1 on the
// same host: work that failed is taken up again under the same key, so that a
// repeat after a 500 helps, and a repeat of a success tells its present state.
var StripeV2 = oncehttp.Contract{
	Name: "stripe-v2",
	Match: oncehttp.Match{
		Hosts:   []string{"api.stripe.com"},
		Path:    "/v2",
		Methods: []string{http.MethodPost, http.MethodDelete},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 255},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: 30 * day, Kind: oncehttp.WindowExact},
	Origin:   oncehttp.Marker{Headers: []string{"Request-Id"}},
	Answers: []oncehttp.Answer{
		{At: []string{"/error/code"}, Codes: []string{"idempotency_key_in_use"}, Verdict: oncehttp.VerdictInProgress},
		{At: []string{"/error/type", "/error/code"}, Codes: []string{"idempotency_error"}, Verdict: oncehttp.VerdictMismatch},
	},
	Stored: oncehttp.Stored{Failures: oncehttp.KeepingNo, Repeat: oncehttp.RepeatCurrent},
	Hints:  oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "Stripe-Should-Retry", Kind: oncehttp.HintAgain}}},
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-10-06",
	Sources: []string{
		"https://docs.stripe.com/api-v2-overview",
		"https://docs.stripe.com/api/idempotent_requests?api-version=2026-09-30.preview",
		"github.com/stripe/stripe-go@a1e3932f68:stripe.go",
		"github.com/stripe/stripe-python@6c6e3736d1:stripe/_api_requestor.py",
	},
}

// StripePaymentIntents is the creation of payment intents. One that still wants
// a payment method is not looked for: it may be a declined card's. Nor is one that
// was canceled or wants something else of the customer.
var StripePaymentIntents = stripeObject("stripe-payment-intents", "/v1/payment_intents",
	stripeEvent("payment_intent.succeeded"),
	inState(stripeSearch("/v1/payment_intents", "%20AND%20-status%3A%27requires_payment_method%27"), "/status", "succeeded", "processing", "requires_capture"))

// StripePaymentIntentActions is what is done with a payment intent that exists:
// confirm, capture, cancel.
var StripePaymentIntentActions = stripeAction("stripe-payment-intent-actions", "/v1/payment_intents",
	stripeEvent("payment_intent.succeeded"), stripeEvent("payment_intent.canceled"))

// StripeCharges is the creation of charges. A failed charge is one too, and is
// not looked for.
var StripeCharges = stripeObject("stripe-charges", "/v1/charges",
	stripeEvent("charge.succeeded"),
	inState(stripeSearch("/v1/charges", "%20AND%20-status%3A%27failed%27"), "/status", "succeeded", "pending"))

// StripeRefunds is the creation of refunds. Only the newest hundred are looked
// through, and of them not those that failed, were canceled, or want something of
// the customer.
var StripeRefunds = stripeObject("stripe-refunds", "/v1/refunds",
	inState(stripeEvent("refund.created"), "/data/object/status", "succeeded", "pending"),
	inState(stripeList("/v1/refunds"), "/status", "succeeded", "pending"))

// StripeTransfers is the creation of transfers between accounts. Only the newest
// hundred are looked through.
var StripeTransfers = stripeObject("stripe-transfers", "/v1/transfers",
	stripeEvent("transfer.created"), stripeList("/v1/transfers"))

// StripePayouts is the creation of payouts to a bank. Only the newest hundred
// are looked through, and of them not those that failed or were canceled.
var StripePayouts = stripeObject("stripe-payouts", "/v1/payouts",
	inState(stripeEvent("payout.created"), "/data/object/status", "pending", "in_transit", "paid"),
	inState(stripeList("/v1/payouts"), "/status", "pending", "in_transit", "paid"))

// StripeTopUps is the creation of top-ups of the account's own balance. Only the
// newest hundred are looked through, and of them not those that failed, were
// canceled, or went back.
var StripeTopUps = stripeObject("stripe-topups", "/v1/topups",
	inState(stripeEvent("topup.created"), "/data/object/status", "pending", "succeeded"),
	inState(stripeList("/v1/topups"), "/status", "pending", "succeeded"))

// StripeCustomers is the creation of customers.
var StripeCustomers = stripeObject("stripe-customers", "/v1/customers",
	stripeEvent("customer.created"), stripeSearch("/v1/customers", ""))

// StripeSubscriptions is the creation of subscriptions. One whose first invoice is
// not paid yet, or never was, is known by its event alone.
var StripeSubscriptions = stripeObject("stripe-subscriptions", "/v1/subscriptions",
	stripeEvent("customer.subscription.created"),
	inState(stripeSearch("/v1/subscriptions", ""), "/status", "active", "trialing", "past_due", "unpaid", "paused"))

// StripeInvoices is the creation of invoices, which are drafts at first.
var StripeInvoices = stripeObject("stripe-invoices", "/v1/invoices",
	stripeEvent("invoice.created"), stripeSearch("/v1/invoices", ""))

// StripeInvoicePay pays an invoice, and finalizes a draft before it does. That it was
// finalized is not looked for: the payment may have failed after it.
var StripeInvoicePay = func() oncehttp.Contract {
	c := stripeAction("stripe-invoice-pay", "/v1/invoices/*/pay", stripeEvent("invoice.paid"))
	c.Match.Exact = true
	return c
}()

// StripeInvoiceItems is the creation of the lines of invoices to come. Only the
// newest hundred are looked through.
var StripeInvoiceItems = stripeObject("stripe-invoice-items", "/v1/invoiceitems",
	stripeEvent("invoiceitem.created"), stripeList("/v1/invoiceitems"))

// StripeCreditNotes is the creation of credit notes, which may refund what was paid.
// Only the newest hundred are looked through.
var StripeCreditNotes = stripeObject("stripe-credit-notes", "/v1/credit_notes",
	stripeEvent("credit_note.created"), stripeList("/v1/credit_notes"))

// stripeObject is StripeV1 for the creation of one kind of object, which can be
// looked up by its metadata.
func stripeObject(name, path string, lookups ...oncehttp.Lookup) oncehttp.Contract {
	c := stripeAction(name, path, lookups...)
	c.Match.Exact = true
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierForm, Name: "metadata[oncehttp]"}
	return c
}

func stripeAction(name, path string, lookups ...oncehttp.Lookup) oncehttp.Contract {
	c := StripeV1
	c.Name, c.Match.Path, c.Lookups = name, path, lookups
	c.AsOf = "2026-11-30"
	c.Sources = append(c.Sources[:len(c.Sources):len(c.Sources)], stripeStates()...)
	return c
}

// stripeStates is where Stripe lists the states of what is looked up.
func stripeStates() []string {
	return []string{
		"https://docs.stripe.com/payments/intents",
		"https://stripe.dev/stripe-terminal-android/external/com.stripe.stripeterminal.external.models/-charge/status.html",
		"https://docs.stripe.com/api/refunds/object.md",
		"https://docs.stripe.com/api/topups/object",
		"github.com/stripe/stripe-go@028f007f4c:payout.go",
		"github.com/stripe/stripe-php:lib/Subscription.php",
	}
}

// stripeEvent looks among the newest events of a kind, which carry the key of
// the request that caused them, for thirty days.
func stripeEvent(kind string) oncehttp.Lookup {
	return oncehttp.Lookup{
		URL:       "/v1/events?limit=100&type=" + kind,
		Items:     "/data",
		Where:     "/request/idempotency_key",
		Reference: "/data/object/id",
	}
}

// stripeSearch is as old as Stripe's index: a minute, more in an outage.
func stripeSearch(path, and string) oncehttp.Lookup {
	return oncehttp.Lookup{
		URL:       path + "/search?limit=100&query=metadata%5B%27oncehttp%27%5D%3A%27{id}%27" + and,
		Items:     "/data",
		Where:     "/metadata/oncehttp",
		Reference: "/id",
	}
}

func stripeList(path string) oncehttp.Lookup {
	return oncehttp.Lookup{URL: path + "?limit=100", Items: "/data", Where: "/metadata/oncehttp", Reference: "/id"}
}
