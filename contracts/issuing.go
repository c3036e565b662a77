package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func issuing() []oncehttp.Contract {
	return []oncehttp.Contract{
		LithicV1, LithicCards, LithicPayments, LithicExternalPayments, LithicBookTransfers,
		MarqetaUsers, MarqetaBusinesses, MarqetaCards, MarqetaGPAOrders, MarqetaPeerTransfers, MarqetaCardTransitions,
		EnfuceIssuer, SolidV1, SolidV2,
	}
}

func lithicHosts() []string { return []string{"api.lithic.com", "sandbox.lithic.com"} }

// LithicV1 creates a financial account. Lithic adds the key to its other POSTs
// one by one; a copy with more Paths covers those that have it.
var LithicV1 = lithic("lithic-v1", "/v1/financial_accounts")

// LithicCards creates a card. A card without a memo is given one by which the
// list of cards finds it, where something is planted: the name that its holder is
// shown.
var LithicCards = func() oncehttp.Contract {
	c := lithic("lithic-cards", "/v1/cards")
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/memo"}
	c.Lookups = []oncehttp.Lookup{{URL: "/v1/cards?memo={id}", Items: "/data", Where: "/memo", Reference: "/token"}}
	return c
}()

// lithic is what the endpoints with the key in a header have in common.
func lithic(name, path string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   lithicHosts(),
			Path:    path,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier:  header("Idempotency-Key"),
		Key:      oncehttp.KeyRule{Min: 36, Max: 36, UUID: oncehttp.UUIDAny},
		Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
		Window:   oncehttp.Window{Length: 24 * hour, After: oncehttp.ExpiryExecutes},
		Stored:   oncehttp.Stored{Failures: oncehttp.KeepingYes},
		Hints:    stainless(),
		Proof:    oncehttp.ProofVendor,
		AsOf:     "2026-11-30",
		Sources: []string{
			"https://docs.lithic.com/docs/idempotent-requests",
			"https://github.com/lithic-com/lithic-go@e6232c690c:card.go",
			"https://github.com/lithic-com/lithic-go@e6232c690c:financialaccount.go",
		},
	}
}

// LithicPayments pays to or collects from an external bank account. The key is
// the payment's own token, so the payment is found by it.
var LithicPayments = lithicToken("lithic-payments", "/v1/payments")

// LithicExternalPayments records a payment that was made elsewhere. The key is
// its token.
var LithicExternalPayments = lithicToken("lithic-external-payments", "/v1/external_payments")

// LithicBookTransfers moves money between financial accounts. The key is the
// transfer's token. One that was declined moved nothing, and is begun again only
// where the caller asks for it, under another token.
var LithicBookTransfers = func() oncehttp.Contract {
	c := lithicToken("lithic-book-transfers", "/v1/book_transfers")
	c.Answers = []oncehttp.Answer{
		{Status: []int{http.StatusOK}, At: []string{"/status"}, Codes: []string{"DECLINED"}, Verdict: oncehttp.VerdictKeySpent},
	}
	c.Sources = append(c.Sources,
		"https://docs.lithic.com/reference/postbooktransfers",
		"https://javadoc.io/static/com.lithic.api/lithic-java/0.118.0/com/lithic/api/models/BookTransferRetryParams.html")
	return c
}()

// lithicToken is the contract of creating what lives at path under a token of
// the caller's. What was declined, canceled, reversed or returned lives there too.
func lithicToken(name, path string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   lithicHosts(),
			Path:    path,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: jsonField("/token"),
		Key:     oncehttp.KeyRule{Min: 36, Max: 36, UUID: oncehttp.UUIDAny},
		Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Hints:   stainless(),
		Lookups: []oncehttp.Lookup{inState(oncehttp.Lookup{URL: path + "/{key}", Reference: "/token"}, "/status", "PENDING", "SETTLED")},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-11-30",
		Sources: []string{
			"https://docs.lithic.com/reference/createpayment",
			"https://github.com/lithic-com/lithic-go@e6232c690c:payment.go",
			"https://github.com/lithic-com/lithic-go@04b3052506:booktransfer.go",
		},
	}
}

// MarqetaUsers creates a user of Marqeta's Core API. As with every resource
// there, the key is the resource's token: a repeat with the same content is a
// success, one with another content a 409, and the resource is found by the key.
var MarqetaUsers = marqeta("marqeta-users", "/v3/users")

// MarqetaBusinesses creates a business. The key is its token.
var MarqetaBusinesses = marqeta("marqeta-businesses", "/v3/businesses")

// MarqetaCards creates a card. The key is its token.
var MarqetaCards = marqeta("marqeta-cards", "/v3/cards")

// MarqetaGPAOrders funds a general purpose account. The key is the order's token.
// An order that was declined has one too, and is not believed; its state is that of
// the transaction which funds it.
var MarqetaGPAOrders = func() oncehttp.Contract {
	c := marqeta("marqeta-gpa-orders", "/v3/gpaorders")
	c.Lookups[0] = inState(c.Lookups[0], "/state", "COMPLETION", "PENDING", "CLEARED")
	c.Sources = append(c.Sources,
		"https://github.com/CapitalOnTap/marqeta-csharp-core-abstractions:src/Marqeta.Core.Abstractions/Enums/TranLogTransactionState.cs")
	return c
}()

// MarqetaPeerTransfers moves money from one user or business to another. The key
// is the transfer's token.
var MarqetaPeerTransfers = marqeta("marqeta-peer-transfers", "/v3/peertransfers")

// MarqetaCardTransitions changes the state of a card. The key is the
// transition's token.
var MarqetaCardTransitions = marqeta("marqeta-card-transitions", "/v3/cardtransitions")

// marqeta is the contract of creating what lives at path under a token of the
// caller's. Outside the sandbox each program has a host of its own.
func marqeta(name, path string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"*.marqeta.com"},
			Path:    path,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier:  jsonField("/token"),
		Key:      oncehttp.KeyRule{Max: 36},
		Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
		Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Answers:  []oncehttp.Answer{{Status: []int{http.StatusConflict}, Verdict: oncehttp.VerdictMismatch}},
		Stored:   oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
		Lookups:  []oncehttp.Lookup{{URL: path + "/{key}", Reference: "/token"}},
		Proof:    oncehttp.ProofVendor,
		AsOf:     "2026-11-30",
		Sources: []string{
			"https://www.marqeta.com/docs/core-api/idempotency.md",
			"https://github.com/marqeta/marqeta-openapi@8f386fcff4:yaml/CoreAPI-3.0.15.yaml",
			"https://github.com/marqeta/marqeta-openapi@907edb7d9b:yaml/CoreAPI-3.0.40.yaml",
		},
	}
}

// EnfuceIssuer creates and changes cards in Enfuce's issuing API, at a host that
// each customer is told: [On] sets it, and a copy has the paths below a base of
// the customer's own. Only successes are kept; older editions of the pages said
// that failures are kept as well.
var EnfuceIssuer = oncehttp.Contract{
	Name: "enfuce-issuer",
	Match: oncehttp.Match{
		Paths: []string{
			"/v1/MULTI_APPLICATION_CARD", "/v4/MC_CARD", "/v4/MC_VIRTUAL", "/v4/DEBIT_MC", "/v4/DEBIT_MC_VIRTUAL",
			"/v4/VISA_CARD", "/v4/VISA_VIRTUAL",
		},
		Methods: []string{http.MethodPost, http.MethodPatch},
	},
	Carrier: header("X-Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 64},
	Window:  oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingNo},
	Pin:     oncehttp.PinMethod | oncehttp.PinPath,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://docs.enfuce.com/payment/api/create-card",
		"https://docs.enfuce.com/payment/api/update-card",
	},
}

// SolidV1 is every POST and PATCH of version 1 of Solid's API. Each answer but a
// rate limit is kept and comes again under the key, failures too. What it answers
// while an attempt still runs is not published, so that a refusal settles nothing
// here. One 409, a conflict in Solid's ledger, asks for a new key: the old one is
// spent.
var SolidV1 = solid("solid-v1", "Sd-Idempotency-Key", "/v1", "api.solidfi.com", "test-api.solidfi.com")

// SolidV2 is the same in version 2, where the header has another name. Only its
// sandbox is public: [On] sets the host of a program.
var SolidV2 = solid("solid-v2", "Idempotency-Key", "/v2", "api.sandbox.solidfi.com")

func solid(name, carrier, path string, hosts ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name:    name,
		Match:   oncehttp.Match{Hosts: hosts, Path: path, Methods: []string{http.MethodPost, http.MethodPatch}},
		Carrier: header(carrier),
		Window:  oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact},
		Answers: []oncehttp.Answer{{
			Status: []int{409}, At: []string{"/errorCode", "/code", "/sysMessage"},
			Codes: []string{"EC_QLDB_OCC_ERROR_RETRY", "*qldb occ error*"}, Verdict: oncehttp.VerdictKeySpent,
		}},
		Stored: oncehttp.Stored{Failures: oncehttp.KeepingYes},
		Proof:  oncehttp.ProofVendor,
		AsOf:   "2026-10-06",
		Sources: []string{
			"https://docs.solidfi.com" + path + "/api-reference/getting-started/idempotency",
		},
	}
}
