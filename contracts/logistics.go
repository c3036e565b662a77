package contracts

import "github.com/oncehttp/oncehttp"

func logistics() []oncehttp.Contract {
	return []oncehttp.Contract{
		DoorDashDrive, UberDirect, ShippoAutomations, ShippoREST, ShippoTransactions,
		EasyPostV2, EasyPostShipments, EasyPostBuy, Easyship, LobMail,
	}
}

// DoorDashDrive creates a delivery under an id of the caller's, which is the key.
// The id of an existing delivery is refused with a 409 that does not prove whose
// delivery it is; the delivery itself can be asked for, and is not believed where it
// is a quote, cancelled, or on its way back. How long an id stays taken is not
// written down.
var DoorDashDrive = oncehttp.Contract{
	Name: "doordash-drive",
	Match: oncehttp.Match{
		Hosts: []string{"openapi.doordash.com"}, Path: "/drive/v2/deliveries", Exact: true, Methods: []string{"POST"},
	},
	Carrier: jsonField("/external_delivery_id"),
	Key:     oncehttp.KeyRule{Alphabet: azAZ09 + "-._~", Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Lookups: []oncehttp.Lookup{inState(oncehttp.Lookup{URL: "/drive/v2/deliveries/{key}", Reference: "/external_delivery_id"},
		"/delivery_status", "created", "confirmed", "enroute_to_pickup", "arrived_at_*", "picked_up", "enroute_to_dropoff", "delivered")},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
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

// ShippoTransactions buys a label. The answer to one that could not be bought is a
// 201 as well, with the status ERROR, which does not say what the carrier has done.
// Shippo keeps a note of the caller's with the transaction, and only the newest
// hundred that were bought are looked through for it.
var ShippoTransactions = func() oncehttp.Contract {
	c := ShippoREST
	c.Name = "shippo-transactions"
	c.Match.Paths, c.Match.Exact = []string{"/transactions", "/transactions/"}, true
	c.Answers = []oncehttp.Answer{
		{Status: []int{200, 201}, At: []string{"/status"}, Codes: []string{"ERROR"}, Verdict: oncehttp.VerdictUnknown},
	}
	c.Lookups = []oncehttp.Lookup{{
		URL:   "/transactions/?results=100&object_status=SUCCESS",
		Items: "/results", Where: "/metadata", State: "/status", Is: []string{"SUCCESS"}, Reference: "/object_id",
	}}
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata"}
	c.AsOf = "2026-11-30"
	c.Sources = []string{
		"github.com/goshippo/shippo-python-sdk@47df6c4874",
		"https://docs.goshippo.com/api-reference/transactions/create-a-shipping-label",
		"https://docs.goshippo.com/api-reference/transactions/list-all-shipping-labels",
		"https://docs.goshippo.com/docs/API_Concepts/Filtering.md",
	}
	return c
}()

// EasyPostV2 is EasyPost's API, whose client knows of no key either.
var EasyPostV2 = oncehttp.Contract{
	Name:   "easypost-v2",
	Match:  oncehttp.Match{Hosts: []string{"api.easypost.com"}, Path: "/v2", Methods: []string{"POST"}},
	Origin: oncehttp.Marker{Headers: []string{"X-Ep-Request-Uuid"}},
	Proof:  oncehttp.ProofUnknown,
	AsOf:   "2026-11-30",
	Sources: []string{
		"github.com/EasyPost/easypost-go@6e06a90526",
		"github.com/EasyPost/easypost-go@5a5e62ef7a:cassettes/TestErrorInheritance.yaml",
		"github.com/EasyPost/easypost-go@8305aa8f78:cassettes/TestShipmentBuy.yaml",
		"https://docs.easypost.com/docs/shipments",
	},
}

// EasyPostShipments creates a shipment, which may buy its label at once. A reference
// of the caller's can be asked for in place of the shipment's id.
var EasyPostShipments = func() oncehttp.Contract {
	c := EasyPostV2
	c.Name = "easypost-shipments"
	c.Match.Path, c.Match.Exact = "/v2/shipments", true
	c.Lookups = []oncehttp.Lookup{{URL: "/v2/shipments/{id}", Reference: "/id"}}
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/shipment/reference"}
	return c
}()

// EasyPostBuy buys the label of a shipment that exists, which has one label at most:
// the shipment itself says whether it was bought, whoever bought it.
var EasyPostBuy = func() oncehttp.Contract {
	c := EasyPostV2
	c.Name = "easypost-buy"
	c.Match.Path, c.Match.Exact = "/v2/shipments/*/buy", true
	c.Lookups = []oncehttp.Lookup{{
		URL:   "/v2/shipments/{path.3}",
		State: "/postage_label/object", Is: []string{"PostageLabel"}, Reference: "/postage_label/id",
	}}
	return c
}()

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
// fails. What was made is found by its metadata.
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
	Hints:   oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "Ratelimit-Reset", Kind: oncehttp.HintUnix}}},
	Lookups: []oncehttp.Lookup{{
		URL:   "/v1/{path.2}?limit=2&metadata%5Boncehttp%5D={id}",
		Items: "/data", Where: "/metadata/oncehttp", Reference: "/id",
	}},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"},
	Pin:   oncehttp.PinPath,
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"github.com/lob/lob-openapi@539ed451fc:dist/lob-api-bundled.yml",
		"github.com/lob/lob-python@35abe35250:docs/PostcardsApi.md",
		"github.com/lob/lob-openapi@1b56cec2a1:shared/headers/ratelimit.yml",
		"https://support.lob.com/hc/en-us/articles/360005117519-What-can-I-do-to-prevent-duplicate-mailings-from-being-created-",
	},
}
