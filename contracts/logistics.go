package contracts

import "github.com/oncehttp/oncehttp"

func logistics() []oncehttp.Contract {
	return []oncehttp.Contract{
		DoorDashDrive, UberDirect, ShippoAutomations, ShippoREST, EasyPostV2, Easyship, LobMail,
	}
}

// DoorDashDrive creates a delivery under an id of the caller's, which is the key.
// The id of an existing delivery is refused with a 409 that does not prove whose
// delivery it is; the delivery itself can be asked for. How long an id stays taken
// is not written down.
var DoorDashDrive = oncehttp.Contract{
	Name: "doordash-drive",
	Match: oncehttp.Match{
		Hosts: []string{"openapi.doordash.com"}, Path: "/drive/v2/deliveries", Exact: true, Methods: []string{"POST"},
	},
	Carrier: jsonField("/external_delivery_id"),
	Key:     oncehttp.KeyRule{Alphabet: azAZ09 + "-._~", Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Lookups: []oncehttp.Lookup{{URL: "/drive/v2/deliveries/{key}", Reference: "/external_delivery_id"}},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://developer.doordash.com/en-US/docs/drive/reference/errors/",
		"https://developer.doordash.com/en-US/api/drive",
		"github.com/api-evangelist/doordash@cc57286538:openapi/_original/doordash-drive-openapi.yml",
	},
}

// UberDirect creates a delivery. The field and its hour are known from copies of
// the vendor's reference only, and older ones say six hours. A quote in the
// request expires after a quarter of an hour, which ends the intent sooner.
var UberDirect = oncehttp.Contract{
	Name: "uber-direct",
	Match: oncehttp.Match{
		Hosts: []string{"api.uber.com"}, Path: "/v1/customers/*/deliveries", Exact: true, Methods: []string{"POST"},
	},
	Carrier: jsonField("/idempotency_key"),
	Window:  oncehttp.Window{Length: hour, Kind: oncehttp.WindowExact},
	Proof:   oncehttp.ProofSecondary,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://developer.uber.com/docs/deliveries/faq",
		"github.com/isaacasancheza/uberdirect:src/uberdirect",
		"github.com/robinjonker/uber:src/lib.rs",
	},
}

// ShippoAutomations buys a label by the account's rules, a beta that Shippo turns on
// for an account. The 202 says that the request was taken, not that the label was
// bought, and a repetition points to the request of before. Dry runs start again each
// time, which costs nothing. How long keys are kept is not written down.
var ShippoAutomations = oncehttp.Contract{
	Name: "shippo-automations",
	Match: oncehttp.Match{
		Hosts: []string{"api.goshippo.com"}, Path: "/automations/labels", Exact: true, Methods: []string{"POST"},
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 255, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://docs.goshippo.com/api-reference/automations/buy-a-label-using-your-automation-rules",
		"https://docs.goshippo.com/automations/automations",
	},
}

// ShippoREST is the rest of Shippo's API. Its client knows of no key, which does not
// prove that there is none.
var ShippoREST = oncehttp.Contract{
	Name:    "shippo-rest",
	Match:   oncehttp.Match{Hosts: []string{"api.goshippo.com"}, Methods: []string{"POST"}},
	Proof:   oncehttp.ProofUnknown,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/goshippo/shippo-python-sdk@47df6c4874"},
}

// EasyPostV2 is EasyPost's API, of which the same holds.
var EasyPostV2 = oncehttp.Contract{
	Name:    "easypost-v2",
	Match:   oncehttp.Match{Hosts: []string{"api.easypost.com"}, Path: "/v2", Methods: []string{"POST"}},
	Proof:   oncehttp.ProofUnknown,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/EasyPost/easypost-go@6e06a90526"},
}

// Easyship is every POST of the API of 2023-01. Failures are kept under the key, a
// 500 too. The documentation of 2024-09 was not seen to speak of keys.
var Easyship = oncehttp.Contract{
	Name:    "easyship",
	Match:   oncehttp.Match{Hosts: []string{"api.easyship.com"}, Path: "/2023-01", Methods: []string{"POST"}},
	Carrier: header("Idempotency-Key"),
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingYes},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://developers.easyship.com/v2023.01/reference/idempotent-requests",
		"https://developers.easyship.com/reference/migration-guide-from-2023-01-and-older",
	},
}

// LobMail makes postcards, letters, checks and self mailers. The parameter
// idempotency_key of the URL is another place for a key: a request that has both
// fails.
var LobMail = oncehttp.Contract{
	Name: "lob-mail",
	Match: oncehttp.Match{
		Hosts: []string{"api.lob.com"}, Paths: []string{"/v1/postcards", "/v1/letters", "/v1/checks", "/v1/self_mailers"},
		Exact: true, Methods: []string{"POST"},
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 256},
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Pin:     oncehttp.PinPath,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"github.com/lob/lob-openapi@539ed451fc:dist/lob-api-bundled.yml",
		"https://support.lob.com/hc/en-us/articles/360005117519-What-can-I-do-to-prevent-duplicate-mailings-from-being-created-",
	},
}
