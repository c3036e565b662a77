package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func transfers() []oncehttp.Contract {
	return []oncehttp.Contract{
		PlaidTransferAuthorization, PlaidTransferCreate, PlaidTransferLedger, PlaidConsentPayment, PlaidWallet, PlaidBankTransfer,
		DwollaV2, ModernTreasury, ModernTreasuryPaymentOrders, ModernTreasuryExpectedPayments, ModernTreasuryCounterparties,
		BridgeV0, AkahuPayments, TrueLayerV3,
		MoovTransfers, MoovRefunds, MangopayV2, MangopayTransfers, BVNKV1, BVNKV2,
		Interchecks, IntegratedFinance, CheckbookV3, Nium, NiumTravel,
	}
}

// plaid is what Plaid's endpoints that take a key have in common. Each answer,
// an error too, names its request in the body.
func plaid(name string, key oncehttp.KeyRule, window oncehttp.Window, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"production.plaid.com", "sandbox.plaid.com"},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: jsonField("/idempotency_key"),
		Key:     key,
		Window:  window,
		Origin:  oncehttp.Marker{At: []string{"/request_id"}},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-10-06",
		Sources: []string{"https://github.com/plaid/plaid-openapi@26f1a0588c:2020-09-14.yml"},
	}
}

// PlaidTransferAuthorization asks Plaid to authorize a transfer. A success may
// hold a decision that declines it or asks the user to act; after the latter the
// same key may be used again, under an action of its own.
var PlaidTransferAuthorization = plaid("plaid-transfer-authorization",
	oncehttp.KeyRule{Max: 50},
	oncehttp.Window{Length: 48 * hour, Kind: oncehttp.WindowExact},
	"/transfer/authorization/create")

// PlaidTransferCreate makes the transfer that was authorized. The authorization's
// id is the key, which the caller has to put there: it makes one transfer, and a
// repeat returns it. The field that once held a key is of no use any more. After a
// 500 the transfer may yet be made.
var PlaidTransferCreate = func() oncehttp.Contract {
	c := plaid("plaid-transfer-create",
		oncehttp.KeyRule{Need: oncehttp.NeedAll},
		oncehttp.Window{Kind: oncehttp.WindowUnknown},
		"/transfer/create")
	c.Carrier = jsonField("/authorization_id")
	c.Stored.Repeat = oncehttp.RepeatCurrent
	c.Sources = append(c.Sources, "https://plaid.com/docs/api/products/transfer/initiating-transfers/")
	return c
}()

// PlaidTransferLedger refunds a transfer, makes a recurring one, and moves money
// in and out of a ledger. Nobody says for how long these keys are remembered.
var PlaidTransferLedger = plaid("plaid-transfer-ledger",
	oncehttp.KeyRule{Max: 50, Need: oncehttp.NeedSome},
	oncehttp.Window{Kind: oncehttp.WindowUnknown},
	"/transfer/refund/create", "/transfer/recurring/create",
	"/transfer/ledger/deposit", "/transfer/ledger/withdraw", "/transfer/ledger/distribute")

// PlaidConsentPayment pays under a payment consent (Europe).
var PlaidConsentPayment = plaid("plaid-consent-payment",
	oncehttp.KeyRule{Max: 128, Need: oncehttp.NeedAll},
	oncehttp.Window{Length: 48 * hour, Kind: oncehttp.WindowExact},
	"/payment_initiation/consent/payment/execute")

// PlaidWallet pays from an e-wallet and refunds a payment. Plaid asks for a
// minute's pause before a repeat; the repeat of a payment that was made is
// stopped, not answered anew.
var PlaidWallet = func() oncehttp.Contract {
	c := plaid("plaid-wallet",
		oncehttp.KeyRule{Max: 128, Need: oncehttp.NeedAll},
		oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact},
		"/wallet/transaction/execute", "/payment_initiation/payment/reverse")
	c.Stored.Repeat = oncehttp.RepeatEmpty
	c.Hints.Least = minute
	return c
}()

// PlaidBankTransfer is the old Bank Transfers API. The key identifies a transfer
// only together with the amount, the account, the type and the network: with
// another amount the same key makes a second transfer, and no error tells of it.
var PlaidBankTransfer = func() oncehttp.Contract {
	c := plaid("plaid-bank-transfer",
		oncehttp.KeyRule{Max: 50, Need: oncehttp.NeedAll},
		oncehttp.Window{Length: 7 * day},
		"/bank_transfer/create")
	c.Compared = oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchExecutes}
	c.Pin = oncehttp.PinCredential
	c.Sources = append(c.Sources, "https://plaid.com/docs/bank-transfers/idempotency-and-retries")
	return c
}()

// DwollaV2 is every POST of Dwolla's API. A 409 says that the first attempt is
// still at work. Twice in 2025 a failure left keys at 409 for the whole day, and
// Dwolla's advice was to look the transfer up first and then take a new key: so
// that answer is believed for ten minutes.
var DwollaV2 = oncehttp.Contract{
	Name: "dwolla-v2",
	Match: oncehttp.Match{
		Hosts:   []string{"api.dwolla.com", "api-sandbox.dwolla.com"},
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("Idempotency-Key"),
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody},
	Window:   oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact},
	Answers:  []oncehttp.Answer{{Status: []int{409}, Verdict: oncehttp.VerdictInProgress}},
	Hints:    oncehttp.Hints{Running: 10 * minute},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources: []string{
		"https://developers.dwolla.com/docs/api-reference/api-fundamentals/idempotency-key.md",
		"https://status.dwolla.com/incidents/bkl5393wxlhf",
		"https://status.dwolla.com/incidents/3m5hk53m45kb",
		"https://github.com/Dwolla/dwolla-v2-node@634da6959d:README.md",
	},
}

// ModernTreasury is every POST of Modern Treasury's API. A key belongs to the
// credential, so that another one acts a second time; and it does not belong to
// the route, so that a key of the caller's own that was used for another kind of
// request returns that other request's answer. Only successes are kept.
var ModernTreasury = modernTreasury("modern-treasury", "/api")

// ModernTreasuryPaymentOrders creates a payment order, which can be found by the
// metadata that is planted in it, unless it was cancelled, denied, held, returned
// or has failed.
var ModernTreasuryPaymentOrders = func() oncehttp.Contract {
	c := modernTreasuryPlanted("modern-treasury-payment-orders", "/api/payment_orders")
	c.Lookups[0] = inState(c.Lookups[0], "/status", "approved", "completed", "needs_approval", "pending", "processing", "sent")
	c.Sources = append(c.Sources, "https://github.com/Modern-Treasury/modern-treasury-go@0837524e05:paymentorder.go")
	return c
}()

// ModernTreasuryExpectedPayments creates an expected payment, found as a payment
// order is.
var ModernTreasuryExpectedPayments = modernTreasuryPlanted("modern-treasury-expected-payments", "/api/expected_payments")

// ModernTreasuryCounterparties creates a counterparty, found as a payment order
// is.
var ModernTreasuryCounterparties = modernTreasuryPlanted("modern-treasury-counterparties", "/api/counterparties")

// modernTreasuryPlanted is the contract of creating what is listed at path by its
// metadata.
func modernTreasuryPlanted(name, path string) oncehttp.Contract {
	c := modernTreasury(name, path)
	c.Match.Exact = true
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"}
	c.Lookups = []oncehttp.Lookup{{
		URL: path + "?metadata%5Boncehttp%5D={id}", Items: "/*", Where: "/metadata/oncehttp", Reference: "/id",
	}}
	c.AsOf = "2026-11-30"
	c.Sources = append(c.Sources, "https://github.com/Modern-Treasury/modern-treasury-go@0837524e05:expectedpayment.go")
	return c
}

func modernTreasury(name, path string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"app.moderntreasury.com"},
			Path:    path,
			Methods: []string{http.MethodPost},
		},
		Carrier:  header("Idempotency-Key"),
		Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchReplays},
		Window:   oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact},
		Stored:   oncehttp.Stored{Failures: oncehttp.KeepingNo},
		Hints:    stainless(),
		Pin:      oncehttp.PinCredential,
		Proof:    oncehttp.ProofVendor,
		AsOf:     "2026-10-06",
		Sources: []string{
			"https://docs.moderntreasury.com/reference/idempotent-requests",
			"https://github.com/Modern-Treasury/modern-treasury-go@bddd610c9c:internal/requestconfig/requestconfig.go",
		},
	}
}

// BridgeV0 is every POST of Bridge's API, none of which goes without a key. After
// a day a known key is refused with 422 instead of acting again, and a changed
// body is refused at any time.
var BridgeV0 = oncehttp.Contract{
	Name: "bridge-v0",
	Match: oncehttp.Match{
		Hosts:   []string{"api.bridge.xyz", "api.sandbox.bridge.xyz"},
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Need: oncehttp.NeedAll},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryRefuses},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources: []string{
		"https://apidocs.bridge.xyz/api-reference/introduction/idempotence.md",
		"https://apidocs.bridge.xyz/reference/idempotence-1",
	},
}

// AkahuPayments creates a payment or a transfer of Akahu. Whatever the first
// attempt was answered is kept and comes again marked, a 500 too: then the same
// key is of no use and the payment has to be looked for. Each answer says in its
// body whether it is a success.
var AkahuPayments = oncehttp.Contract{
	Name: "akahu-payments",
	Match: oncehttp.Match{
		Hosts:   []string{"api.akahu.io"},
		Paths:   []string{"/v1/payments", "/v1/transfers"},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("Idempotency-Key"),
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact},
	Origin:   oncehttp.Marker{At: []string{"/success"}},
	Replay:   marked("Idempotent-Replayed", "true"),
	Answers:  []oncehttp.Answer{{Status: []int{422}, Verdict: oncehttp.VerdictMismatch}},
	Stored:   oncehttp.Stored{Failures: oncehttp.KeepingYes},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-11-30",
	Sources: []string{
		"https://developers.akahu.nz/docs/idempotent-requests",
		"https://developers.akahu.nz/docs/response-formatting",
	},
}

// TrueLayerV3 is TrueLayer's Payments API. Requests are signed together with the
// key, so [oncehttp.Config].Authorize has to sign: the key is in the request by
// then. Keys last 30 days; an older page of TrueLayer said six hours.
var TrueLayerV3 = oncehttp.Contract{
	Name: "truelayer-v3",
	Match: oncehttp.Match{
		Hosts:   []string{"api.truelayer.com", "api.truelayer-sandbox.com"},
		Path:    "/v3",
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Need: oncehttp.NeedSome},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: 30 * day, Kind: oncehttp.WindowExact},
	Origin:   oncehttp.Marker{Headers: []string{"Tl-Trace-Id"}},
	Answers: []oncehttp.Answer{
		{Status: []int{409}, At: []string{"/type"}, Codes: []string{"*idempotency-key-concurrency-conflict*"}, Verdict: oncehttp.VerdictInProgress},
		{Status: []int{409}, At: []string{"/type"}, Codes: []string{"*conflict"}, Verdict: oncehttp.VerdictThrottled},
		{Status: []int{422}, At: []string{"/type"}, Codes: []string{"*idempotency-key-reuse*"}, Verdict: oncehttp.VerdictMismatch},
	},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://docs.truelayer.com/docs/add-idempotency-to-your-payments-requests.md",
		"https://docs.truelayer.com/docs/payments-api-errors",
		"https://github.com/TrueLayer/truelayer-dotnet@00bd21bcb2:src/TrueLayer/ApiClient.cs",
	},
}

// moov is what Moov's endpoints that take a key have in common. Moov asks for a
// key that follows from the action, and never forgets one.
func moov(name string, answers []oncehttp.Answer, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"api.moov.io"},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: header("X-Idempotency-Key"),
		Key:     oncehttp.KeyRule{Max: 36, Form: oncehttp.FormDerived, Need: oncehttp.NeedAll},
		Window:  oncehttp.Window{Kind: oncehttp.WindowForever},
		Origin:  oncehttp.Marker{Headers: []string{"X-Request-Id"}},
		Answers: answers,
		Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-11-30",
		Sources: []string{
			"https://docs.moov.io/guides/money-movement/idempotency",
			"https://docs.moov.io/guides/money-movement/manage-transfers/",
			"https://github.com/moovfinancial/moov-go@0515fbe7af:pkg/moov/http.go",
		},
	}
}

// MoovTransfers creates a transfer. A repeat is answered 409 with the transfer
// that the first attempt made: it is a success.
var MoovTransfers = func() oncehttp.Contract {
	c := moov("moov-transfers", []oncehttp.Answer{
		{Status: []int{409}, At: []string{"/transferID"}, Codes: []string{"*"}, Verdict: oncehttp.VerdictDone, Reference: "/transferID"},
		{Status: []int{409}, Verdict: oncehttp.VerdictUnknown},
	}, "/transfers", "/accounts/*/transfers")
	c.Stored.Repeat = oncehttp.RepeatError
	return c
}()

// MoovRefunds refunds a transfer or reverses a card transfer. A repeat is a 409;
// what it holds is not written, so it is told as Pending.
var MoovRefunds = moov("moov-refunds", []oncehttp.Answer{
	{Status: []int{409}, Verdict: oncehttp.VerdictUnknown},
}, "/transfers/*/refunds", "/transfers/*/reversals", "/accounts/*/transfers/*/refunds", "/accounts/*/transfers/*/reversals")

// MangopayV2 is every POST of Mangopay's API. A known key is answered 409
// whatever the first attempt came to, a refusal or a failure too: the 409 proves
// nothing but that there was one. What it was answered is kept for a day at
// /v2.01/CLIENT/responses/KEY. Every answer counts the calls made, and an object
// or an error has an id.
var MangopayV2 = oncehttp.Contract{
	Name: "mangopay-v2",
	Match: oncehttp.Match{
		Hosts:   []string{"api.mangopay.com", "api.sandbox.mangopay.com"},
		Path:    "/v2.01",
		Methods: []string{http.MethodPost},
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Min: 16, Max: 36, Alphabet: "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"},
	Window:  oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact},
	Origin:  oncehttp.Marker{Headers: []string{"X-RateLimit"}, At: []string{"/Id"}},
	Answers: []oncehttp.Answer{
		{Status: []int{409}, At: []string{"/Type"}, Codes: []string{"idempotent_creation_conflict"}, Verdict: oncehttp.VerdictUnknown},
	},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingYes, Repeat: oncehttp.RepeatEmpty},
	Lookups: []oncehttp.Lookup{{URL: "/v2.01/{path.2}/responses/{key}", State: "/StatusCode", Is: []string{"2*"}, Reference: "/Resource/Id"}},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://docs.mangopay.com/api-reference/overview/idempotency",
		"https://docs.mangopay.com/api-reference/overview/rate-limiting",
		"https://docs.mangopay.com/api-reference/api-responses/view-api-response",
	},
}

// MangopayTransfers moves money between wallets. One that failed, as for want of
// funds, is answered like a success and says so by its status: it did not occur, and
// its key is spent. What is kept under the key says the status, too.
var MangopayTransfers = func() oncehttp.Contract {
	c := MangopayV2
	c.Name = "mangopay-transfers"
	c.Match.Path, c.Match.Exact = "/v2.01/*/transfers", true
	c.Answers = append([]oncehttp.Answer{
		{Status: []int{http.StatusOK}, At: []string{"/Status"}, Codes: []string{"FAILED"}, Verdict: oncehttp.VerdictKeySpent},
	}, c.Answers...)
	c.Lookups = []oncehttp.Lookup{inState(
		oncehttp.Lookup{URL: "/v2.01/{path.2}/responses/{key}", Reference: "/Resource/Id"}, "/Resource/Status", "SUCCEEDED", "CREATED")}
	c.Sources = append(c.Sources[:len(c.Sources):len(c.Sources)],
		"https://docs.mangopay.com/api-reference/transfers/transfer-object",
		"https://docs.mangopay.com/errors/codes/001001")
	return c
}()

// bvnk is BVNK's API but for the header's name, which hangs on the version of
// the endpoint.
func bvnk(name, path, carrier string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"api.bvnk.com", "api.sandbox.bvnk.com"},
			Path:    path,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: header(carrier),
		Key:     oncehttp.KeyRule{Min: 36, Max: 36, UUID: oncehttp.UUIDAny},
		Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Stored:  oncehttp.Stored{Failures: oncehttp.KeepingNo, Repeat: oncehttp.RepeatEmpty},
		Pin:     oncehttp.PinCredential,
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-10-06",
		Sources: []string{"https://docs.bvnk.com/bvnk/api-explorer/api-overview/idempotency"},
	}
}

// BVNKV1 creates a wallet at BVNK. The repeat of a success is a 400, told from
// other refusals by its prose alone: it leaves the intent Pending. Some other
// endpoints of version 1 take the key as well; a copy with more Paths covers them.
var BVNKV1 = bvnk("bvnk-v1", "/ledger/v1/wallets", "X-Idempotency-Key")

// BVNKV2 creates a transfer at BVNK, in version 2, where the header has another
// name. The repeat of a success is a 400, as in version 1.
var BVNKV2 = bvnk("bvnk-v2", "/payment/v2/transfers", "Idempotency-Key")

// Interchecks creates a payment or a transaction of Interchecks' API, at a host
// that each customer is told: [On] sets it, and a copy has the paths below a base
// of the customer's own. An attempt still at work is answered 102, after which
// net/http waits in vain. A repeat is a 409 with the first answer's body; one
// edition of the page says that refusals are kept as well, so the 409 proves
// nothing.
var Interchecks = oncehttp.Contract{
	Name: "interchecks",
	Match: oncehttp.Match{
		Paths:   []string{"/payments", "/transactions"},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: header("Idempotency-Key"),
	Window:  oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact},
	Answers: []oncehttp.Answer{
		{Status: []int{102}, Verdict: oncehttp.VerdictInProgress},
		{Status: []int{409}, Verdict: oncehttp.VerdictUnknown},
	},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://docs-v2.interchecks.com/docs/idempotent-requests"},
}

// IntegratedFinance is every POST of Integrated Finance's API. A header of the
// answer says whether it was processed or replayed.
var IntegratedFinance = oncehttp.Contract{
	Name: "integrated-finance",
	Match: oncehttp.Match{
		Hosts:   []string{"api.integrated.finance", "sandbox-api.integrated.finance"},
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("X-Idempotency-Key"),
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Replay:   marked("X-Idempotency-Status", "replayed"),
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources: []string{
		"https://developer.integrated.finance/changelog/release-notes-for-idempotency-support",
		"https://developer.integrated.finance/docs/api-overview",
	},
}

// CheckbookV3 creates users, bank accounts, checks and invoices at Checkbook. Its
// pages give a key three minutes or 24 hours, and to these requests or to every
// POST: the less is taken. A known key with another request acts again, and no
// error tells of it.
var CheckbookV3 = oncehttp.Contract{
	Name: "checkbook-v3",
	Match: oncehttp.Match{
		Hosts: []string{"api.checkbook.io", "api.sandbox.checkbook.io", "checkbook.io", "sandbox.checkbook.io"},
		Paths: []string{
			"/v3/check/digital", "/v3/check/multi", "/v3/check/physical",
			"/v3/account/bank", "/v3/invoice", "/v3/user",
		},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 255},
	Compared: oncehttp.Compared{Parts: oncehttp.PartPath | oncehttp.PartBody, Mismatch: oncehttp.MismatchExecutes},
	Window:   oncehttp.Window{Length: 3 * minute, After: oncehttp.ExpiryExecutes},
	Pin:      oncehttp.PinPath,
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-11-30",
	Sources: []string{
		"https://docs.checkbook.io/reference/idempotent-requests",
		"https://docs.checkbook.io/docs/api/idempotent-requests",
	},
}

// Nium is every POST of Nium's API. Its page writes the header with the name of
// another header in the place of the key, and which of the two is read is not
// settled: nothing ambiguous is sent again.
var Nium = oncehttp.Contract{
	Name: "nium",
	Match: oncehttp.Match{
		Hosts:   []string{"gateway.nium.com", "gateway.sandbox.nium.com", "apisandbox.spend.nium.com"},
		Path:    "/api",
		Methods: []string{http.MethodPost},
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 255},
	Window:  oncehttp.Window{Length: 24 * hour, After: oncehttp.ExpiryExecutes},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingYes},
	Proof:   oncehttp.ProofUnknown,
	AsOf:    "2026-10-06",
	Sources: []string{"https://docs.nium.com/apis/reference/idempotency"},
}

// NiumTravel is Nium's balanceless card API for travel, at a host that the
// customer is told. Its page lists which endpoints keep the key: a copy with
// their Paths, and with a Proof of its own, may be repeated. The key is the
// request's id, which tracing may set for purposes of its own: then that is the
// key. A 5xx says in its body whether the same key can still help. Refusals are
// kept too, but nothing tells them from a proxy's.
var NiumTravel = oncehttp.Contract{
	Name:    "nium-travel",
	Match:   oncehttp.Match{Methods: []string{http.MethodPost}},
	Carrier: header("X-Request-Id"),
	Key:     oncehttp.KeyRule{Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers: []oncehttp.Answer{
		{Status: []int{500, 501, 502, 503, 504}, At: []string{"/retryable"}, Codes: []string{"false"}, Verdict: oncehttp.VerdictUnknown},
	},
	Proof:   oncehttp.ProofUnknown,
	AsOf:    "2026-10-06",
	Sources: []string{"https://docs.nium.com/travel/docs/api-idempotency"},
}
