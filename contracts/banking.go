package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func banking() []oncehttp.Contract {
	return []oncehttp.Contract{
		IncreaseV1, IncreaseACHTransfers, IncreaseWireTransfers, IncreaseCheckTransfers,
		IncreaseAccountTransfers, IncreaseRealTimePaymentsTransfers,
		MercuryTransactions, WiseTransfers, WiseBalances, WiseProfiles,
		MonzoPots, MonzoReceipts, BrexV1, RampV1, ColumnV1, ColumnTransfers, QontoTransfers, QontoTransferBatch, OpenBankingUK,
	}
}

// stainless are the hints that the clients made by Stainless read from every
// error answer, before Retry-After.
func stainless() oncehttp.Hints {
	return oncehttp.Hints{Headers: []oncehttp.Hint{
		{Header: "X-Should-Retry", Kind: oncehttp.HintAgain},
		{Header: "Retry-After-Ms", Kind: oncehttp.HintMillis},
	}}
}

// IncreaseV1 is Increase's API but for what has a contract of its own here. An
// object keeps the key that it was made with, and each list can be asked for it;
// what acts on an object that is there already is not found so, nor is what has no
// status, was canceled or rejected, or waits for somebody at Increase. A 409 that names
// the key means that the key belongs to another object; Increase's own generated
// clients repeat it all the same, in vain.
var IncreaseV1 = increase("increase-v1", "")

// IncreaseACHTransfers creates an ACH transfer. Increase keeps the key as a
// property of the object, so that a list filtered by the key finds it.
var IncreaseACHTransfers = increase("increase-ach-transfers", "/ach_transfers")

// IncreaseWireTransfers creates a wire transfer, and finds it by its key.
var IncreaseWireTransfers = increase("increase-wire-transfers", "/wire_transfers")

// IncreaseCheckTransfers creates a check transfer, and finds it by its key.
var IncreaseCheckTransfers = increase("increase-check-transfers", "/check_transfers")

// IncreaseAccountTransfers moves money between accounts at Increase, and finds
// the transfer by its key.
var IncreaseAccountTransfers = increase("increase-account-transfers", "/account_transfers")

// IncreaseRealTimePaymentsTransfers creates a Real-Time Payments transfer, and
// finds it by its key.
var IncreaseRealTimePaymentsTransfers = increase("increase-real-time-payments-transfers", "/real_time_payments_transfers")

// increase is the contract of creating the objects that are listed at path;
// empty: of every POST, looked for in the list that its path begins with.
func increase(name, path string) oncehttp.Contract {
	c := oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"api.increase.com", "sandbox.increase.com"},
			Methods: []string{http.MethodPost},
		},
		Carrier:  header("Idempotency-Key"),
		Key:      oncehttp.KeyRule{Max: 200},
		Compared: oncehttp.Compared{Parts: oncehttp.PartPath | oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
		Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Replay:   marked("Idempotent-Replayed", "true"),
		Answers: []oncehttp.Answer{
			{Status: []int{409}, At: []string{"/type"}, Codes: []string{"idempotency_key_already_used_error"}, Verdict: oncehttp.VerdictMismatch},
		},
		Stored: oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
		Hints:  stainless(),
		Lookups: []oncehttp.Lookup{inState(oncehttp.Lookup{URL: "/{path.1}?idempotency_key={key}", Items: "/data", Where: "/idempotency_key", Reference: "/id"},
			"/status", "pending*", "submitted", "complete", "mailed", "deposited", "active", "open")},
		Proof: oncehttp.ProofVendor,
		AsOf:  "2026-11-30",
		Sources: []string{
			"https://increase.com/documentation/idempotency-keys.md",
			"https://github.com/Increase/increase-go@ca1c95b4c1:internal/apierror/apierror.go",
			"https://github.com/Increase/increase-go@ca1c95b4c1:achtransfer.go",
		},
	}
	if path != "" {
		c.Match.Path, c.Match.Exact = path, true
	}
	return c
}

// MercuryTransactions sends money from an account at Mercury. A repeat of a
// transaction that was made answers 409 with the transaction itself: it is a
// success. Mercury also refuses with 400 the same recipient, account and amount
// within 24 hours under any key, so that two equal payments that are both meant
// need Mercury's consent.
var MercuryTransactions = oncehttp.Contract{
	Name: "mercury-transactions",
	Match: oncehttp.Match{
		Hosts:   []string{"api.mercury.com"},
		Path:    "/api/v1/account/*/transactions",
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: jsonField("/idempotencyKey"),
	Key:     oncehttp.KeyRule{Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers: []oncehttp.Answer{
		{Status: []int{409}, At: []string{"/id"}, Codes: []string{"*"}, Verdict: oncehttp.VerdictDone, Reference: "/id"},
	},
	Stored: oncehttp.Stored{Repeat: oncehttp.RepeatError},
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-10-06",
	Sources: []string{
		"https://docs.mercury.com/reference/transactions-2",
		"https://docs.mercury.com/reference/createtransaction",
	},
}

func wiseHosts() []string {
	return []string{"api.wise.com", "api.wise-sandbox.com", "api.transferwise.com"}
}

// WiseTransfers creates a transfer of Wise's Platform API. The key is a field of
// the transfer, so that the list of transfers shows it: of the user's personal
// profile, since the request names no other. Funding it is another request, which
// this does not cover.
var WiseTransfers = oncehttp.Contract{
	Name: "wise-transfers",
	Match: oncehttp.Match{
		Hosts:   wiseHosts(),
		Path:    "/v1/transfers",
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: jsonField("/customerTransactionId"),
	Key:     oncehttp.KeyRule{UUID: oncehttp.UUIDAny, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  oncehttp.Marker{Headers: []string{"X-Trace-Id"}},
	Lookups: []oncehttp.Lookup{{
		URL:   "/v1/transfers?offset=0&limit=100&createdDateStart={since}T00:00:00.000Z",
		Items: "/*", Where: "/customerTransactionId", Reference: "/id",
		State: "/status", Is: []string{"incoming_payment_*", "processing", "funds_converted", "outgoing_payment_sent"},
	}},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://docs.wise.com/guides/product/send-money/standard-api-transfers",
		"https://docs.wise.com/api-docs/api-reference/transfer",
		"https://github.com/api-evangelist/wise@3c9126afed:openapi/_original/wise-platform-openapi.yml",
		"https://docs.wise.com/guides/product/send-money/tracking/transfer-statuses",
	},
}

// WiseBalances opens a balance, converts and moves money between balances, and
// orders a card. These requests are refused without a key.
var WiseBalances = oncehttp.Contract{
	Name: "wise-balances",
	Match: oncehttp.Match{
		Hosts: wiseHosts(),
		Paths: []string{
			"/v2/profiles/*/balance-movements",
			"/v4/profiles/*/balances",
			"/v3/spend/profiles/*/card-orders",
		},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: header("X-Idempotence-Uuid"),
	Key:     oncehttp.KeyRule{UUID: oncehttp.UUIDAny, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  oncehttp.Marker{Headers: []string{"X-Trace-Id"}},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://github.com/api-evangelist/wise@2bc1823011:openapi/wise-balance-api-openapi.yml",
		"https://github.com/api-evangelist/wise@2bc1823011:openapi/wise-card-order-api-openapi.yml",
	},
}

// WiseProfiles creates a personal or a business profile. Without a key a second
// profile of the same person is a 409.
var WiseProfiles = oncehttp.Contract{
	Name: "wise-profiles",
	Match: oncehttp.Match{
		Hosts:   wiseHosts(),
		Paths:   []string{"/v2/profiles/personal-profile", "/v2/profiles/business-profile"},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: header("X-Idempotence-Uuid"),
	Key:     oncehttp.KeyRule{UUID: oncehttp.UUIDAny},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  oncehttp.Marker{Headers: []string{"X-Trace-Id"}},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://github.com/api-evangelist/wise@2bc1823011:openapi/wise-profile-api-openapi.yml",
	},
}

// MonzoPots moves money into a pot or out of it. The request is a PUT that moves
// money each time it is carried out: only the key in its form keeps it from
// doing so twice.
var MonzoPots = oncehttp.Contract{
	Name: "monzo-pots",
	Match: oncehttp.Match{
		Hosts:      []string{"api.monzo.com"},
		Paths:      []string{"/pots/*/deposit", "/pots/*/withdraw"},
		Exact:      true,
		Methods:    []string{http.MethodPut},
		Idempotent: oncehttp.IdempotentNo,
	},
	Carrier: formField("dedupe_id"),
	Key:     oncehttp.KeyRule{Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://github.com/monzo/docs@58a52e1fa2:source/includes/_pots.md"},
}

// MonzoReceipts attaches a receipt to a transaction. The same key with another
// receipt replaces the first one, and no error tells of it.
var MonzoReceipts = oncehttp.Contract{
	Name: "monzo-receipts",
	Match: oncehttp.Match{
		Hosts:   []string{"api.monzo.com"},
		Path:    "/transaction-receipts",
		Exact:   true,
		Methods: []string{http.MethodPut},
	},
	Carrier:  jsonField("/external_id"),
	Key:      oncehttp.KeyRule{Need: oncehttp.NeedAll},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchOverwrites},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Lookups: []oncehttp.Lookup{
		{URL: "/transaction-receipts?external_id={key}", Reference: "/receipt/id"},
	},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://github.com/monzo/docs@58a52e1fa2:source/includes/_receipts.md"},
}

// BrexV1 is the Payments and the Team API of Brex. The key is demanded where
// money moves or a card is made. Brex says that it ignores a second request with
// a known key, and not what it answers.
var BrexV1 = oncehttp.Contract{
	Name: "brex-v1",
	Match: oncehttp.Match{
		Hosts:   []string{"api.brex.com", "platform.brexapis.com"},
		Methods: []string{http.MethodPost},
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Need: oncehttp.NeedSome},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  oncehttp.Marker{Headers: []string{"X-Brex-Trace-Id"}},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{"https://developer.brex.com/docs/idempotency", "https://developer.brex.com/docs/support"},
}

// RampV1 is Ramp's Developer API. That it takes a key is not proved, so nothing
// ambiguous is sent again. A deferred task names itself in its answer and is
// asked for by that name.
var RampV1 = oncehttp.Contract{
	Name: "ramp-v1",
	Match: oncehttp.Match{
		Hosts: []string{"api.ramp.com", "demo-api.ramp.com"},
		Path:  "/developer/v1",
	},
	Proof:   oncehttp.ProofUnknown,
	AsOf:    "2026-10-06",
	Sources: []string{"https://developer-docs.ramp.com/docs/conventions"},
}

// column is what Column's endpoints that take a key have in common. Only
// successes are kept, and for 30 days at least.
func column(name string, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"api.column.com"},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: header("Idempotency-Key"),
		Key:     oncehttp.KeyRule{Max: 255},
		Window:  oncehttp.Window{Length: 30 * day},
		Stored:  oncehttp.Stored{Failures: oncehttp.KeepingNo},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-11-30",
		Sources: []string{
			"https://docs.column.com/markdown/working-with-the-api/idempotency.md",
			"https://column.com/docs/workingwithapi/idempotency",
		},
	}
}

// ColumnV1 is what takes a key of Column's API: transfers and their reversals,
// accounts, entities, loans, rates.
var ColumnV1 = column("column-v1",
	"/bank-accounts", "/bank-accounts/*/account-numbers",
	"/entities/business", "/entities/person",
	"/interests/configs", "/interests/pivot-rates",
	"/loans", "/loans/disbursements", "/loans/payments", "/loans/*/sales",
	"/transfers/ach/*/reverse", "/transfers/checks/deposit", "/transfers/checks/issue",
	"/transfers/international-wire", "/transfers/international-wire/fx-rate",
	"/transfers/wire", "/transfers/wire/*/reverse")

// ColumnTransfers creates an ACH transfer or moves money between accounts at
// Column. The transfer keeps the key, so that the list of transfers shows it,
// while it is among the newest hundred.
var ColumnTransfers = func() oncehttp.Contract {
	c := column("column-transfers", "/transfers/ach", "/transfers/book")
	c.Lookups = []oncehttp.Lookup{{
		URL:   "/transfers/{path.2}?limit=100&created.gte={since}T00:00:00Z",
		Items: "/transfers", Where: "/idempotency_key", Reference: "/id",
		State: "/status", Is: []string{"initiated", "pending*", "submitted", "acknowledged", "settled", "completed"},
	}}
	c.Sources = append(c.Sources,
		"https://docs.column.com/api/book-transfer/book-transfer-object/",
		"https://docs.column.com/markdown/api/ach-transfer/list-all-ach-transfers.md",
		"https://column.com/docs/workingwithapi/pagination",
		"https://column.com/ach")
	return c
}()

// QontoTransfers is what demands a key in a header of Qonto's Business API. A
// known key gets the first answer even when the request is another one, and half
// an hour later it pays again. External transfers give way to SEPA transfers.
var QontoTransfers = oncehttp.Contract{
	Name: "qonto-transfers",
	Match: oncehttp.Match{
		Hosts: []string{"thirdparty.qonto.com"},
		Paths: []string{
			"/v2/external_transfers", "/v2/internal_transfers",
			"/v2/sepa/transfers", "/v2/sepa/bulk_transfers", "/v2/international/transfers",
		},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("X-Qonto-Idempotency-Key"),
	Key:      oncehttp.KeyRule{Need: oncehttp.NeedAll},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchReplays},
	Window:   oncehttp.Window{Length: 30 * minute, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Stored:   oncehttp.Stored{Failures: oncehttp.KeepingNo},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-11-30",
	Sources: []string{
		"https://docs.qonto.com/get-started/general/idempotent-requests",
		"https://docs.qonto.com/api-reference/business-api/transfers/sepa-transfers/create",
		"https://docs.qonto.com/api-reference/business-api/endpoints/external-transfers/create-an-external-transfer-for-a-trusted-beneficiary",
	},
}

// QontoTransferBatch creates external transfers together with their
// beneficiaries. Each transfer of the list has a key of its own; what Qonto does
// with a known one is not written, so nothing ambiguous is sent again.
var QontoTransferBatch = oncehttp.Contract{
	Name: "qonto-transfer-batch",
	Match: oncehttp.Match{
		Hosts:   []string{"thirdparty.qonto.com"},
		Path:    "/v2/external_transfers/checkout",
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: jsonField("/external_transfers/*/idempotency_key"),
	Key:     oncehttp.KeyRule{UUID: oncehttp.UUIDAny},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofUnknown,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://docs.qonto.com/api-reference/business-api/endpoints/external-transfers/create-external-transfers-with-beneficiaries-data",
	},
}

// OpenBankingUK is the Read/Write API of the United Kingdom's banks, each at a
// host of its own: [On] sets it. A repeat is a 201 like the first answer. A bank
// may take the same key with another order for fraud.
var OpenBankingUK = oncehttp.Contract{
	Name:    "open-banking-uk",
	Match:   oncehttp.Match{Methods: []string{http.MethodPost}},
	Carrier: header("X-Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 40},
	Window:  oncehttp.Window{Length: 24 * hour},
	Origin:  oncehttp.Marker{Headers: []string{"X-Fapi-Interaction-Id"}},
	Proof:   oncehttp.ProofSecondary,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://openbankinguk.github.io/read-write-api-site3/v3.1.6/profiles/read-write-data-api-profile.html",
		"https://openbanking.atlassian.net/wiki/spaces/DZ/pages/641992418/Read+Write+Data+API+Specification+-+v3.0",
		"https://openid.net/specs/openid-financial-api-part-1-1_0.html#section-6.2.1",
	},
}
