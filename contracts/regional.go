package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func regional() []oncehttp.Contract {
	return []oncehttp.Contract{
		TossPayments, TossPaymentsConfirm, MercadoPagoPayments, MercadoPagoRefunds, DOKU,
		RazorpayPayouts, RazorpayTransfers, RazorpayRefunds,
		PaystackTransactions, PaystackTransfers, PaystackCharges, Flutterwave, Fintoc,
	}
}

const (
	lowerAndDigits   = "abcdefghijklmnopqrstuvwxyz0123456789"
	lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + lowerAndDigits
)

// TossPayments is every POST. A key is known together with the API key, the URL
// and the method, and the body is not part of it.
var TossPayments = oncehttp.Contract{
	Name:    "toss-payments",
	Match:   oncehttp.Match{Hosts: []string{"api.tosspayments.com"}, Methods: []string{http.MethodPost}},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 300},
	Window:  oncehttp.Window{Length: 15 * day, Kind: oncehttp.WindowExact},
	Answers: []oncehttp.Answer{
		{At: []string{"/code"}, Codes: []string{"IDEMPOTENT_REQUEST_PROCESSING"}, Verdict: oncehttp.VerdictInProgress},
	},
	Pin:   oncehttp.PinCredential | oncehttp.PinMethod | oncehttp.PinPath,
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://docs.tosspayments.com/reference/using-api/authorization",
		"https://docs.tosspayments.com/reference/using-api/idempotency-key",
	},
}

// TossPaymentsConfirm is the confirmation of a payment, which is found by its own
// key once it is done, or waits for a transfer to a virtual account.
var TossPaymentsConfirm = tossPaymentsConfirm()

func tossPaymentsConfirm() oncehttp.Contract {
	c := TossPayments
	c.Name = "toss-payments-confirm"
	c.Match.Path, c.Match.Exact = "/v1/payments/confirm", true
	c.Lookups = []oncehttp.Lookup{inState(oncehttp.Lookup{URL: "/v1/payments/{/paymentKey}", Reference: "/paymentKey"},
		"/status", "DONE", "WAITING_FOR_DEPOSIT")}
	c.AsOf = "2026-11-30"
	c.Sources = append(c.Sources[:len(c.Sources):len(c.Sources)],
		"https://docs.tosspayments.com/reference",
		"github.com/tosspayments/tosspayments-java-sdk@081a4c6127:payments-sdk/src/main/java/com/tosspayments/api/PaymentsApi.java")
	return c
}

// MercadoPagoPayments is the creation of payments, which is refused without a
// key. A repeat tells the present state of the payment.
var MercadoPagoPayments = mercadoPagoPayments()

func mercadoPagoPayments() oncehttp.Contract {
	c := mercadoPago("mercadopago-payments", "/v1/payments")
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/external_reference"}
	c.Lookups = []oncehttp.Lookup{{
		URL:       "/v1/payments/search?external_reference={id}",
		Items:     "/results",
		Where:     "/external_reference",
		State:     "/status",
		Is:        []string{"approved", "authorized", "pending", "in_process", "in_mediation"},
		Reference: "/id",
	}}
	c.Sources = append(c.Sources, "https://mercadopago.com.mx/developers/en/reference/payments/_payments_search/get")
	return c
}

// MercadoPagoRefunds is refunds and wallet payments, under the same rules.
var MercadoPagoRefunds = mercadoPago("mercadopago-refunds", "/v1/advanced_payments", "/v1/payments/*/refunds")

func mercadoPago(name string, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts: []string{"api.mercadopago.com"}, Paths: paths, Exact: true, Methods: []string{http.MethodPost},
		},
		Carrier: header("X-Idempotency-Key"),
		Key:     oncehttp.KeyRule{Need: oncehttp.NeedAll},
		Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-10-06",
		Sources: []string{
			"https://mercadopago.com.br/developers/en/news/2023/01/04/Idempotency-key-usage-will-be-mandatory",
			"https://www.mercadopago.com.br/developers/en/docs/wallet-connect/payment-flow/idempotency/responses",
		},
	}
}

// DOKU answers a repeat with the first answer's body under status 409: it is a
// success where that body is one. The key is part of what is signed, and the SNAP
// interfaces on the same host do not take it: so this applies only where the caller
// has set it.
var DOKU = oncehttp.Contract{
	Name: "doku",
	Match: oncehttp.Match{
		Hosts:   []string{"api.doku.com", "api-sandbox.doku.com"},
		Methods: []string{http.MethodPost},
		Header:  "Request-Id",
	},
	Carrier: header("Request-Id"),
	Key:     oncehttp.KeyRule{Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers: []oncehttp.Answer{
		{
			Status: []int{http.StatusConflict}, At: []string{"/message/0", "/transaction/status"}, Codes: []string{"SUCCESS"},
			Verdict: oncehttp.VerdictDone, Reference: "/response/order/invoice_number",
		},
		{
			Status: []int{http.StatusConflict}, At: []string{"/virtual_account_info/virtual_account_number"}, Codes: []string{"*"},
			Verdict: oncehttp.VerdictDone, Reference: "/virtual_account_info/virtual_account_number",
		},
		{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictUnknown},
	},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatError},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://developers.doku.com/get-started-with-doku-api/idempotency-request"},
}

// RazorpayPayouts is the creation of RazorpayX payouts, refused without a key.
// A payout that ended as failed has spent its key; another one is safe only
// then.
var RazorpayPayouts = oncehttp.Contract{
	Name:     "razorpay-payouts",
	Match:    oncehttp.Match{Hosts: []string{"api.razorpay.com"}, Path: "/v1/payouts", Exact: true, Methods: []string{http.MethodPost}},
	Carrier:  header("X-Payout-Idempotency"),
	Key:      oncehttp.KeyRule{Min: 4, Max: 36, Alphabet: lettersAndDigits + "-_", Need: oncehttp.NeedAll},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers: []oncehttp.Answer{
		{Status: []int{http.StatusOK}, At: []string{"/status"}, Codes: []string{"failed"}, Verdict: oncehttp.VerdictKeySpent},
		{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictInProgress},
	},
	Lookups: []oncehttp.Lookup{razorpayPayouts("processed"), razorpayPayouts("processing"), razorpayPayouts("queued")},
	Plant:   oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/reference_id"},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://razorpay.com/docs/api/x/payout-idempotency/",
		"https://razorpay.com/docs/api/x/payout-idempotency/make-request",
		"https://razorpay.com/docs/api/x/payouts/fetch-all",
	},
}

func razorpayPayouts(status string) oncehttp.Lookup {
	return oncehttp.Lookup{
		URL:       "/v1/payouts?account_number={/account_number}&reference_id={id}&status=" + status,
		Items:     "/items",
		Where:     "/reference_id",
		Reference: "/id",
	}
}

// RazorpayTransfers is direct transfers of Route, whose header is another than
// that of payouts. Only the newest hundred are looked through; one that failed is
// not taken for an effect.
var RazorpayTransfers = oncehttp.Contract{
	Name:     "razorpay-transfers",
	Match:    oncehttp.Match{Hosts: []string{"api.razorpay.com"}, Path: "/v1/transfers", Exact: true, Methods: []string{http.MethodPost}},
	Carrier:  header("X-Transfer-Idempotency"),
	Key:      oncehttp.KeyRule{Min: 4, Max: 36, Alphabet: lettersAndDigits + "-_"},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers:  []oncehttp.Answer{{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictInProgress}},
	Lookups: []oncehttp.Lookup{inState(oncehttp.Lookup{URL: "/v1/transfers?count=100", Items: "/items", Where: "/notes/oncehttp", Reference: "/id"},
		"/status", "created", "pending", "processed", "partially_reversed")},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/notes/oncehttp"},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://razorpay.com/docs/api/payments/route/transfers/direct-transfers-idempotent-request",
		"https://razorpay.com/docs/api/payments/route/transfers/fetch-transfers-payment/",
		"github.com/razorpay/razorpay-node@0049776959:lib/resources/transfers.js",
	},
}

// RazorpayRefunds is the refund of payments, normal or instant, whose header is a
// third one. Only the newest hundred of the payment's are looked through; one that
// failed is not taken for an effect.
var RazorpayRefunds = oncehttp.Contract{
	Name:     "razorpay-refunds",
	Match:    oncehttp.Match{Hosts: []string{"api.razorpay.com"}, Path: "/v1/payments/*/refund", Exact: true, Methods: []string{http.MethodPost}},
	Carrier:  header("X-Refund-Idempotency"),
	Key:      oncehttp.KeyRule{Min: 10, Alphabet: lettersAndDigits + "-_"},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers: []oncehttp.Answer{
		{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictInProgress},
		{
			Status: []int{http.StatusBadRequest}, At: []string{"/error/description"},
			Codes:   []string{"Different request with the same idempotency key*"},
			Verdict: oncehttp.VerdictMismatch,
		},
	},
	Lookups: []oncehttp.Lookup{inState(oncehttp.Lookup{URL: "/v1/payments/{path.3}/refunds?count=100", Items: "/items", Where: "/notes/oncehttp", Reference: "/id"},
		"/status", "pending", "processed")},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/notes/oncehttp"},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://razorpay.com/docs/api/refunds/normal-refunds-idempotent",
		"https://razorpay.com/docs/api/refunds/instant-refunds-idempotent",
		"https://razorpay.com/docs/api/refunds/fetch-multiple-refund-payment/",
		"https://razorpay.com/docs/api/refunds/entity.md",
	},
}

// PaystackTransactions is the start of transactions. The key is the caller's own
// reference, by which Paystack finds them; a second use is an error, which says
// that the transaction is there.
var PaystackTransactions = paystack(oncehttp.Contract{
	Name:  "paystack-transactions",
	Match: oncehttp.Match{Path: "/transaction/initialize"},
	Key:   oncehttp.KeyRule{Alphabet: lettersAndDigits + "-.="},
	Answers: []oncehttp.Answer{
		{At: []string{"/code"}, Codes: []string{"duplicate_reference"}, Verdict: oncehttp.VerdictDone},
	},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatError},
	Lookups: []oncehttp.Lookup{{URL: "/transaction/verify/{key}", Reference: "/data/id"}},
})

// PaystackTransfers is the start of transfers, whose references are in lower
// case. A transfer that failed, was reversed, turned away or given up, or that waits
// for a one-time password or the caller's approval, is not looked for.
var PaystackTransfers = paystack(oncehttp.Contract{
	Name:  "paystack-transfers",
	Match: oncehttp.Match{Path: "/transfer"},
	Key:   oncehttp.KeyRule{Min: 16, Alphabet: lowerAndDigits + "-_"},
	Answers: []oncehttp.Answer{
		{At: []string{"/code"}, Codes: []string{"duplicate_reference"}, Verdict: oncehttp.VerdictUnknown},
	},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Lookups: []oncehttp.Lookup{{URL: "/transfer/verify/{key}", State: "/data/status", Is: []string{"success", "pending"}, Reference: "/data/transfer_code"}},
})

// PaystackCharges is direct charges. A declined charge has a reference too, so
// that the error of a second use says nothing of money; a look-up says it, by the
// status.
var PaystackCharges = paystack(oncehttp.Contract{
	Name:  "paystack-charges",
	Match: oncehttp.Match{Path: "/charge"},
	Key:   oncehttp.KeyRule{Alphabet: lettersAndDigits + "-.="},
	Answers: []oncehttp.Answer{
		{At: []string{"/code"}, Codes: []string{"duplicate_reference"}, Verdict: oncehttp.VerdictUnknown},
	},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Lookups: []oncehttp.Lookup{{URL: "/transaction/verify/{key}", State: "/data/status", Is: []string{"success"}, Reference: "/data/id"}},
})

func paystack(c oncehttp.Contract) oncehttp.Contract {
	c.Match.Hosts, c.Match.Exact, c.Match.Methods = []string{"api.paystack.co"}, true, []string{http.MethodPost}
	c.Carrier = jsonField("/reference")
	c.Window = oncehttp.Window{Kind: oncehttp.WindowUnknown}
	c.Origin = oncehttp.Marker{At: []string{"/status"}, Values: []string{"true", "false"}}
	c.Proof, c.AsOf = oncehttp.ProofVendor, "2026-11-30"
	c.Sources = []string{
		"github.com/PaystackOSS/openapi@9678dea922:dist/paystack.yaml, dist/betting.yaml",
		"github.com/PaystackOSS/openapi@41135dff93:default/responses/response.yaml",
		"https://paystack.com/docs/transfers/how-transfers-work/",
	}
	return c
}

// Flutterwave is every POST of v4. The hosts of v3 are others.
var Flutterwave = oncehttp.Contract{
	Name: "flutterwave-v4",
	Match: oncehttp.Match{
		Hosts:   []string{"f4bexperience.flutterwave.com", "developersandbox-api.flutterwave.com"},
		Methods: []string{http.MethodPost},
	},
	Carrier: header("X-Idempotency-Key"),
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  oncehttp.Marker{At: []string{"/status"}, Values: []string{"success", "failed"}},
	Replay:  marked("X-Idempotency-Cache-Hit", "true"),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://developer.flutterwave.com/docs/idempotency",
		"https://developer.flutterwave.com/docs/api-headers",
		"https://developer.flutterwave.com/docs/environments",
	},
}

// Fintoc is every POST. The first answer is kept whatever it is, unless
// authentication failed. What it answers while an attempt still runs is not
// published, so that a refusal settles nothing here.
var Fintoc = oncehttp.Contract{
	Name:     "fintoc",
	Match:    oncehttp.Match{Hosts: []string{"api.fintoc.com"}, Methods: []string{http.MethodPost}},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 255},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: day, After: oncehttp.ExpiryExecutes},
	Origin:   oncehttp.Marker{Headers: []string{"X-Request-Id"}},
	Stored:   oncehttp.Stored{Failures: oncehttp.KeepingYes, Except: []int{502, 503, 504}},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-11-30",
	Sources: []string{
		"https://docs.fintoc.com/api/fintoc-api/idempotent-requests",
		"https://docs.fintoc.com/es/api/fintoc-api/request-ids",
	},
}
