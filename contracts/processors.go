package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func processors() []oncehttp.Contract {
	return []oncehttp.Contract{
		WorldpayWPG, WorldlineConnect, WorldlineDirect, PPRO, BlueSnap, Payroc, Finix, FinixAuthorizations, EPay,
		Yuno, MoneyHash, Solidgate, SolidgateLists, Klarna, KlarnaCaptures, KlarnaRefunds, Affirm, Whop,
	}
}

// WorldpayWPG is the XML API of the Worldpay gateway. Its hosts are left out,
// because an account for which the feature is not enabled has every request with
// a key refused: set them with [On], and Window.Length to what was agreed (1 to
// 365 days). Where Worldpay cannot look a key up it carries the request out all
// the same, and only reports the duplicate later.
var WorldpayWPG = oncehttp.Contract{
	Name:    "worldpay-wpg",
	Match:   oncehttp.Match{Path: "/jsp/merchant/xml/paymentService.jsp", Exact: true, Methods: []string{http.MethodPost}},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{UUID: oncehttp.UUIDAny},
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowAccount, After: oncehttp.ExpiryExecutes},
	Answers: []oncehttp.Answer{
		{Status: []int{http.StatusOK}, At: worldpayErrors(), Codes: []string{"Request in progress*"}, Verdict: oncehttp.VerdictInProgress},
		{Status: []int{http.StatusOK}, At: worldpayErrors(), Codes: []string{"Invalid idempotency-key*", "Service not enabled*"}, Verdict: oncehttp.VerdictRefused},
		{Status: []int{http.StatusOK}, At: worldpayErrors(), Codes: []string{"*"}, Verdict: oncehttp.VerdictUnknown},
	},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://developer.worldpay.com/docs/wpg/idempotency/",
		"https://developer.worldpay.com/docs/wpg/troubleshoot/idempotencyerrors/",
	},
}

func worldpayErrors() []string {
	return []string{"/paymentService/reply/orderStatus/error", "/paymentService/reply/error"}
}

// WorldlineConnect is the server API of Worldline Connect. It names no host: the
// vendor's page lists which methods take a key, and the list could not be read. Use
// [On] with api.connect.worldline-solutions.com, and set Path to those that you
// call. A repeat is marked by the time of the first request; what it tells may be
// newer than the first answer.
var WorldlineConnect = oncehttp.Contract{
	Name:    "worldline-connect",
	Match:   oncehttp.Match{Path: "/v1", Methods: []string{http.MethodPost}},
	Carrier: header("X-GCS-Idempotence-Key"),
	Key:     oncehttp.KeyRule{Max: 40},
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Replay:  oncehttp.Marker{Headers: []string{"X-GCS-Idempotence-Request-Timestamp"}},
	Answers: worldlineAnswers(),
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://apireference.connect.worldline-solutions.com/s2sapi/v1/en_US/go/idempotent-requests.html",
		"https://apireference.connect.worldline-solutions.com/fileserviceapi/v1/en_US/go/endpoints.html",
	},
}

// WorldlineDirect is what takes a key of the server API of Worldline Direct:
// payments, what is done with them, payouts. It does not compare: a key that is
// used again for another payload brings the first one's answer.
var WorldlineDirect = oncehttp.Contract{
	Name: "worldline-direct",
	Match: oncehttp.Match{
		Hosts: []string{"payment.direct.worldline-solutions.com", "payment.preprod.direct.worldline-solutions.com"},
		Paths: []string{
			"/v2/*/payments", "/v2/*/payouts",
			"/v2/*/payments/*/cancel", "/v2/*/payments/*/capture", "/v2/*/payments/*/complete",
			"/v2/*/payments/*/refund", "/v2/*/payments/*/subsequent",
		},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("X-GCS-Idempotence-Key"),
	Key:      oncehttp.KeyRule{Max: 40},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchReplays},
	Window:   oncehttp.Window{Length: day},
	Replay:   oncehttp.Marker{Headers: []string{"X-GCS-Idempotence-Request-Timestamp"}},
	Answers:  worldlineAnswers(),
	Stored:   oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-11-30",
	Sources: []string{
		"https://docs.direct.worldline-solutions.com/integration/api-developer-guide/idempotent-requests",
		"https://docs.direct.worldline-solutions.com/de/integration/api-developer-guide/idempotent-requests",
		"https://docs.direct.worldline-solutions.com/fr/integration/api-developer-guide/api",
		"github.com/wl-online-payments-direct/sdk-dotnet@905579a35b:OnlinePayments.Sdk/ExceptionFactory.cs",
	},
}

// worldlineAnswers knows the 409 of a key that is in use by its code, as
// Worldline's clients do. Another 409 is about the payment, and final.
func worldlineAnswers() []oncehttp.Answer {
	return []oncehttp.Answer{
		{
			Status: []int{http.StatusConflict}, At: []string{"/errors/*/code", "/errors/*/errorCode"}, Codes: []string{"1409"},
			Verdict: oncehttp.VerdictInProgress,
		},
		{
			Status: []int{http.StatusConflict}, At: []string{"/errors/*/code", "/errors/*/errorCode"}, Codes: []string{"*"},
			Verdict: oncehttp.VerdictRefused,
		},
	}
}

// PPRO is the payment POSTs of the Global API. A key whose request was refused
// with a 4xx is not kept.
var PPRO = oncehttp.Contract{
	Name: "ppro",
	Match: oncehttp.Match{
		Hosts:   []string{"api.eu.ppro.com", "api.sandbox.eu.ppro.com"},
		Path:    "/v1",
		Methods: []string{http.MethodPost},
	},
	Carrier: header("Request-Idempotency-Key"),
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowAccount},
	Replay:  marked("Request-Idempotency", "true"),
	Answers: []oncehttp.Answer{{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictInProgress}},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://developerhub.ppro.com/global-api/reference/api-requests-idempotency",
		"https://developerhub.ppro.com/global-api/reference/api-authentication",
	},
}

// BlueSnap is the JSON API. It says so where it cannot look keys up, and does
// nothing then. Keys are kept for up to 24 hours, which promises no length.
var BlueSnap = oncehttp.Contract{
	Name: "bluesnap",
	Match: oncehttp.Match{
		Hosts:   []string{"ws.bluesnap.com", "sandbox.bluesnap.com"},
		Path:    "/services/2",
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 64, Alphabet: lettersAndDigits + "-"},
	Compared: oncehttp.Compared{Parts: oncehttp.PartQuery | oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers: []oncehttp.Answer{
		{At: []string{"/message/*/code", "/code"}, Codes: []string{"60102"}, Verdict: oncehttp.VerdictInProgress},
		{At: []string{"/message/*/code", "/code"}, Codes: []string{"60101"}, Verdict: oncehttp.VerdictMismatch},
		{At: []string{"/message/*/code", "/code"}, Codes: []string{"60106"}, Verdict: oncehttp.VerdictKeysDown},
	},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://developers.bluesnap.com/v8976-JSON/reference/idempotency-errors",
		"https://developers.bluesnap.com/reference/idempotency",
	},
}

// Payroc is every POST, which is refused without a key. A 409 is no sign that an
// attempt still runs: it means that the key is known with another URL or body.
var Payroc = oncehttp.Contract{
	Name: "payroc",
	Match: oncehttp.Match{
		Hosts:   []string{"api.payroc.com", "api.uat.payroc.com"},
		Path:    "/v1",
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Min: 36, Max: 36, UUID: oncehttp.UUIDRandom, Need: oncehttp.NeedAll},
	Compared: oncehttp.Compared{Parts: oncehttp.PartPath | oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers:  []oncehttp.Answer{{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictMismatch}},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources:  []string{"https://docs.payroc.com/api/idempotency"},
}

// Finix is the creation of transfers and reversals. Of a repeat one of its pages
// says that it brings the first answer, another that it is refused: an error after
// a lost answer settles nothing. A look-up by the key does; a failed transfer has
// one too, and is not taken for an effect.
var Finix = finix("finix", "transfers", "/transfers", "/transfers/*/reversals")

// FinixAuthorizations is the creation of authorizations, under the same rules.
var FinixAuthorizations = finix("finix-authorizations", "authorizations", "/authorizations")

func finix(name, list string, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"finix.live-payments-api.com", "finix.sandbox-payments-api.com"},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier:  jsonField("/idempotency_id"),
		Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
		Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Stored:   oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
		Lookups: []oncehttp.Lookup{inState(oncehttp.Lookup{
			URL: "/" + list + "?idempotency_id={key}", Items: "/_embedded/" + list, Where: "/idempotency_id", Reference: "/id",
		}, "/state", "SUCCEEDED", "PENDING")},
		Proof: oncehttp.ProofVendor,
		AsOf:  "2026-11-30",
		Sources: []string{
			"https://docs.finix.com/additional-resources/developers/authentication-and-api-basics/idempotent-request",
			"https://docs.finix.com/api/section/idempotent-requests",
			"https://docs.finix.com/additional-resources/developers/authentication-and-api-basics/pagination",
			"github.com/finix-payments/finix-python@1e7d0ecd0b:finix/api/transfers_api.py, finix/api/authorizations_api.py",
		},
	}
}

// EPay is the creation, refund and voiding of payments at ePay (epay.eu). It names
// no host: only endpoints whose reference says so take the header, so use [On] with
// payments.epay.eu and set Path to yours. A key is known together with the endpoint
// and the method.
var EPay = oncehttp.Contract{
	Name:    "epay",
	Match:   oncehttp.Match{Path: "/public/api", Methods: []string{http.MethodPost}},
	Carrier: header("Idempotency-Key"),
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Replay:  marked("Idempotent-Replayed", "true"),
	Pin:     oncehttp.PinMethod | oncehttp.PinPath,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://docs.epay.eu/guides/idempotency-keys",
		"https://docs.epay.eu/products/age-verification/server-side-initialization",
	},
}

// Yuno is every POST of the Yuno API; the creation of a payment is refused without
// a key. What was refused or failed is not kept. Another body under a known key
// brings the first one's answer. An error that calls the key a duplicate says that
// an operation under it succeeded, and not which.
var Yuno = oncehttp.Contract{
	Name:     "yuno",
	Match:    oncehttp.Match{Hosts: []string{"api.y.uno", "api-sandbox.y.uno"}, Path: "/v1", Methods: []string{http.MethodPost}},
	Carrier:  header("X-Idempotency-Key"),
	Key:      oncehttp.KeyRule{Min: 36, Max: 36, UUID: oncehttp.UUIDRandom, Need: oncehttp.NeedSome},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchReplays},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Answers: []oncehttp.Answer{
		{Codes: []string{"IDEMPOTENCY_DUPLICATED"}, Verdict: oncehttp.VerdictUnknown},
		{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictInProgress},
	},
	Stored: oncehttp.Stored{Failures: oncehttp.KeepingNo},
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-11-30",
	Sources: []string{
		"https://docs.y.uno/docs/basic-concepts/idempotency",
		"https://docs.y.uno/reference/getting-started/authentication",
	},
}

// MoneyHash takes a key on PUT and DELETE too, and brings the first answer again
// even where that was a failure. It names no host: the vendor's page lists which
// endpoints take a key, and the list could not be read. Use [On] with
// web.moneyhash.io, and set Path to those that you call. A key is known only
// together with the API key.
var MoneyHash = oncehttp.Contract{
	Name: "moneyhash",
	Match: oncehttp.Match{
		Path:    "/api",
		Methods: []string{http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete},
	},
	Carrier: header("X-Idempotency-Key"),
	Key:     oncehttp.KeyRule{Min: 36, Max: 36, UUID: oncehttp.UUIDRandom},
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingYes, Except: []int{502, 503, 504}},
	Pin:     oncehttp.PinCredential,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://docs.moneyhash.io/docs/api-idempotency",
		"https://docs.moneyhash.io/docs/programmatic-access",
	},
}

// Solidgate is API v2, all of whose operations are POSTs. It names no host: not
// every endpoint honours a key, and the answer that says so may be the one that is
// lost. Use [On] with api.solidgate.com, and set Path to endpoints whose answers
// have Idempotency-Status without "ignored". Solidgate warns against keys made of
// business identifiers.
var Solidgate = oncehttp.Contract{
	Name:     "solidgate-v2",
	Match:    oncehttp.Match{Path: "/v2", Methods: []string{http.MethodPost}},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 255},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Ignored:  marked("Idempotency-Status", "ignored"),
	Pin:      oncehttp.PinPath,
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources: []string{
		"https://api-docs.solidgate.com/api/v2/idempotent-requests",
		"https://api-docs.solidgate.com/api/v2/get-started",
	},
}

// SolidgateLists is the operations of API v2 that only list.
var SolidgateLists = oncehttp.Contract{
	Name: "solidgate-v2-lists",
	Match: oncehttp.Match{
		Hosts: []string{"api.solidgate.com"}, Path: "/v2/*/list", Exact: true, Methods: []string{http.MethodPost}, Safe: true,
	},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://api-docs.solidgate.com/api/v2/get-started"},
}

// Klarna is the Order Management and Customer Token APIs. Klarna asks for UUIDv5
// keys that follow from the operation. It does not compare: only the key counts.
var Klarna = oncehttp.Contract{
	Name: "klarna",
	Match: oncehttp.Match{
		Hosts: []string{
			"api.klarna.com", "api-na.klarna.com", "api-oc.klarna.com",
			"api.playground.klarna.com", "api-na.playground.klarna.com", "api-oc.playground.klarna.com",
		},
		Paths:   []string{"/customer-token", "/ordermanagement"},
		Methods: []string{http.MethodPost, http.MethodPatch},
	},
	Carrier:  header("Klarna-Idempotency-Key"),
	Key:      oncehttp.KeyRule{Form: oncehttp.FormDerived},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchReplays},
	Window:   oncehttp.Window{Length: day},
	// An error has the id in its body too.
	Origin: oncehttp.Marker{Headers: []string{"Klarna-Correlation-Id"}, At: []string{"/correlation_id"}},
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-11-30",
	Sources: []string{
		"https://docs.klarna.com/api/kn/integration-resilience",
		"https://docs.klarna.com/api/ordermanagement/",
		"https://docs.klarna.com/api/errors",
		"https://docs.klarna.com/acquirer/klarna/get-started/integration-resilience/api-urls/",
		"github.com/klarna/kco_rest_java@25be376ab1:TokensApi.java",
		"github.com/klarna/kco_rest_php@0388dcd891:README.md",
	},
}

// KlarnaCaptures is the capture of an order, found among those of the order by a
// reference that settlement files show too.
var KlarnaCaptures = klarnaOrder("klarna-captures", "captures", oncehttp.Lookup{
	URL: "/ordermanagement/v1/orders/{path.4}/captures", Items: "/*", Where: "/reference", Reference: "/capture_id",
})

// KlarnaRefunds is the refund of an order, found in the order in the same way.
var KlarnaRefunds = klarnaOrder("klarna-refunds", "refunds", oncehttp.Lookup{
	URL: "/ordermanagement/v1/orders/{path.4}", Items: "/refunds", Where: "/reference", Reference: "/refund_id",
})

func klarnaOrder(name, action string, lookup oncehttp.Lookup) oncehttp.Contract {
	c := Klarna
	c.Name = name
	c.Match.Paths, c.Match.Exact = []string{"/ordermanagement/v1/orders/*/" + action}, true
	c.Match.Methods = []string{http.MethodPost}
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/reference"}
	c.Lookups = []oncehttp.Lookup{lookup}
	return c
}

// Affirm is the Transactions API, the global one too. An account with Split
// Capture is refused without a key.
var Affirm = oncehttp.Contract{
	Name: "affirm",
	Match: oncehttp.Match{
		Hosts: []string{
			"api.affirm.com", "sandbox.affirm.com",
			"api.global.affirm.com", "api.global-sandbox.affirm.com", "api.global.sandbox.affirm.com",
		},
		Path:    "/api/v1/transactions",
		Methods: []string{http.MethodPost},
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Need: oncehttp.NeedSome},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://docs.affirm.com/affirm-developers/reference/refund_transaction",
		"https://docs.affirm.com/developers/v1.0-Global-Integration/docs/global-affirm-integration-guide",
		"https://docs.affirm.com/en-GB/developers/v1.0-Global-Integration/reference/capture_transaction",
	},
}

// Whop is every authenticated POST. The version header is part of what is
// compared: keep it the same over an upgrade while an intent is open. A key is
// known only together with the API key. A request that broke off on their side is
// said to run until its key is forgotten, so that this is believed for ten minutes.
var Whop = oncehttp.Contract{
	Name:    "whop",
	Match:   oncehttp.Match{Hosts: []string{"api.whop.com", "sandbox-api.whop.com"}, Path: "/api/v1", Methods: []string{http.MethodPost}},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 255},
	Compared: oncehttp.Compared{
		Parts:    oncehttp.PartMethod | oncehttp.PartPath | oncehttp.PartQuery | oncehttp.PartBytes,
		Headers:  []string{"Api-Version-Date"},
		Mismatch: oncehttp.MismatchRejects,
	},
	Window: oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Replay: marked("Idempotent-Replayed", "true"),
	Answers: []oncehttp.Answer{
		{
			Status: []int{http.StatusConflict}, At: []string{"/error/code"}, Codes: []string{"idempotency_request_in_progress"},
			Verdict: oncehttp.VerdictInProgress,
		},
		{
			Status: []int{http.StatusBadRequest}, At: []string{"/error/code"}, Codes: []string{"idempotency_key_mismatch"},
			Verdict: oncehttp.VerdictMismatch,
		},
	},
	Hints: oncehttp.Hints{Running: 10 * minute},
	Pin:   oncehttp.PinCredential,
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://docs.whop.com/developer/api/idempotency",
		"https://docs.whop.com/developer/api/versioning",
	},
}
