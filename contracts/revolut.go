package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func revolut() []oncehttp.Contract {
	return []oncehttp.Contract{RevolutPay, RevolutTransfers, RevolutPayoutLinks, RevolutCards, RevolutMerchantSubscriptions}
}

// RevolutPay pays a counterparty through Revolut's Business API. A known key is
// refused with 400 and code 3020, which does not say how the first attempt
// ended: the transaction is looked up by the key instead. After two weeks the
// key may pay again.
var RevolutPay = oncehttp.Contract{
	Name: "revolut-pay",
	Match: oncehttp.Match{
		Hosts:   []string{"b2b.revolut.com", "sandbox-b2b.revolut.com"},
		Path:    "/api/1.0/pay",
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: jsonField("/request_id"),
	Key:     oncehttp.KeyRule{Max: 40, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Length: 14 * day, After: oncehttp.ExpiryExecutes},
	Answers: []oncehttp.Answer{
		{Status: []int{400}, At: []string{"/code"}, Codes: []string{"3020"}, Verdict: oncehttp.VerdictUnknown},
	},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Lookups: revolutLookups(),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: revolutBusiness(),
}

// revolutBusiness is where Revolut's Business API is described, and its lookup
// by the key.
func revolutBusiness() []string {
	return []string{
		"https://github.com/revolut-engineering/revolut-openapi@8e8bedc85f:json/business.json",
		"https://developer.revolut.com/docs/guides/manage-accounts/accounts-and-transactions/retrieve-transactions",
	}
}

// revolutLookups find a transaction by its key: in a list, and by the way of old
// that Revolut means to close. A transaction that was declined, failed or reverted
// is kept as well, and is not believed.
func revolutLookups() []oncehttp.Lookup {
	states := []string{"completed", "pending", "created"}
	return []oncehttp.Lookup{
		inState(oncehttp.Lookup{URL: "/api/1.0/transactions?request_id={key}&from={since}", Items: "/*", Where: "/request_id", Reference: "/id"}, "/state", states...),
		inState(oncehttp.Lookup{URL: "/api/1.0/transaction/{key}?id_type=request_id", Reference: "/id"}, "/state", states...),
	}
}

// RevolutTransfers moves money between the accounts of a business, in one
// currency or by an exchange. Nobody says for how long the key is remembered.
var RevolutTransfers = oncehttp.Contract{
	Name: "revolut-transfers",
	Match: oncehttp.Match{
		Hosts:   []string{"b2b.revolut.com", "sandbox-b2b.revolut.com"},
		Paths:   []string{"/api/1.0/transfer", "/api/1.0/exchange"},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: jsonField("/request_id"),
	Key:     oncehttp.KeyRule{Max: 40, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Lookups: revolutLookups(),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: revolutBusiness(),
}

// RevolutPayoutLinks creates a payout link. The link is no transaction until it
// is claimed; the list of links shows the key, while it is among the newest
// hundred.
var RevolutPayoutLinks = oncehttp.Contract{
	Name: "revolut-payout-links",
	Match: oncehttp.Match{
		Hosts:   []string{"b2b.revolut.com", "sandbox-b2b.revolut.com"},
		Path:    "/api/1.0/payout-links",
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: jsonField("/request_id"),
	Key:     oncehttp.KeyRule{Max: 40, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Lookups: []oncehttp.Lookup{inState(oncehttp.Lookup{URL: "/api/1.0/payout-links?limit=100", Items: "/*", Where: "/request_id", Reference: "/id"},
		"/state", "active", "awaiting", "created", "processing", "processed")},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: append(revolutBusiness()[:1],
		"https://developer.revolut.com/docs/business/get-payout-links",
		"https://developer.revolut.com/docs/business/create-payout-link"),
}

// RevolutCards creates a card or a card invitation. A 429 with code 3162 is no
// rate limit: the same key is at work already. A 422 with code 33009 says that
// the first attempt failed and that the key cannot be used again.
var RevolutCards = oncehttp.Contract{
	Name: "revolut-cards",
	Match: oncehttp.Match{
		Hosts:   []string{"b2b.revolut.com"},
		Paths:   []string{"/api/1.0/cards", "/api/1.0/card-invitations"},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: jsonField("/request_id"),
	Key:     oncehttp.KeyRule{Max: 40, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Answers: []oncehttp.Answer{
		{Status: []int{429}, At: []string{"/code"}, Codes: []string{"3162"}, Verdict: oncehttp.VerdictInProgress},
		{Status: []int{422}, At: []string{"/code"}, Codes: []string{"33009"}, Verdict: oncehttp.VerdictKeySpent},
	},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingYes},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: revolutBusiness()[:1],
}

// RevolutMerchantSubscriptions creates a subscription, or reports its usage, in
// Revolut's Merchant API. Its other requests take no key.
var RevolutMerchantSubscriptions = oncehttp.Contract{
	Name: "revolut-merchant-subscriptions",
	Match: oncehttp.Match{
		Hosts:   []string{"merchant.revolut.com", "sandbox-merchant.revolut.com"},
		Paths:   []string{"/api/subscriptions", "/api/subscription-usages"},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: header("Idempotency-Key"),
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://github.com/revolut-engineering/revolut-openapi@8e8bedc85f:json/merchant-2026-04-20.json"},
}
