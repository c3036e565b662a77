package contracts

import "github.com/oncehttp/oncehttp"

func azure() []oncehttp.Contract {
	return []oncehttp.Contract{AzureEmail, AzureEmailOperations, AzureRooms}
}

func azureHints() oncehttp.Hints {
	return oncehttp.Hints{Headers: []oncehttp.Hint{
		{Header: "Retry-After-Ms", Kind: oncehttp.HintMillis},
		{Header: "X-Ms-Retry-After-Ms", Kind: oncehttp.HintMillis},
	}}
}

// firstSent is the header of OASIS Repeatable Requests that tells when a request
// was first sent.
func firstSent() []oncehttp.Companion {
	return []oncehttp.Companion{{
		Kind: oncehttp.CarrierHeader, Name: "Repeatability-First-Sent", Value: oncehttp.CompanionSentIMF,
	}}
}

// repeatabilityRejected knows a request that was turned away because it is too
// old, or because its id is known with another request. Nothing is executed then.
func repeatabilityRejected() []oncehttp.Answer {
	return []oncehttp.Answer{
		{
			Status: []int{412}, Header: "Repeatability-Result", HeaderValue: "rejected",
			Verdict: oncehttp.VerdictKeyExpired,
		},
		{Header: "Repeatability-Result", HeaderValue: "rejected", Verdict: oncehttp.VerdictMismatch},
	}
}

// AzureEmail sends an e-mail by Azure Communication Services. It names no host: the
// vendor's page says that e-mail takes these headers, but the descriptions of the
// API have them in version 2021-10-01-preview and no more in 2023-03-31, so use [On]
// for a version whose answers have Repeatability-Result. The service counts five
// minutes from the time in the second header, by its own clock, and then refuses.
// Accepted stands on first answers too, so that nothing marks a repeat. A refusal is
// kept as well, but one of a proxy looks the same and settles nothing.
var AzureEmail = oncehttp.Contract{
	Name:       "azure-communication-email",
	Match:      oncehttp.Match{Path: "/emails:send", Exact: true, Methods: []string{"POST"}},
	Carrier:    header("Repeatability-Request-Id"),
	Companions: firstSent(),
	Key:        oncehttp.KeyRule{UUID: oncehttp.UUIDAny, Need: oncehttp.NeedAll},
	Compared:   oncehttp.Compared{Mismatch: oncehttp.MismatchRejects},
	Window: oncehttp.Window{
		Length: 5 * minute, Kind: oncehttp.WindowExact, Anchor: oncehttp.AnchorStamp, After: oncehttp.ExpiryRefuses,
	},
	Answers: append(repeatabilityRejected(), oncehttp.Answer{Status: []int{409}, Verdict: oncehttp.VerdictInProgress}),
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingNo},
	Hints:   azureHints(),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://learn.microsoft.com/en-us/rest/api/communication/repeatable-requests",
		"github.com/Azure/azure-rest-api-specs:specification/communication/data-plane/Email/stable/2023-03-31/CommunicationServicesEmail.json",
		"github.com/Azure/azure-sdk-for-go/sdk/azcore@v1.24.0",
	},
}

// AzureEmailOperations sends an e-mail in the versions of the API from 2023-03-31 on.
// They know no key, but an id of the caller's for the operation, by which it can be
// asked for. Whether a repeat under the same id sends again is not written down. Of
// this and [AzureEmail] a client holds one for a host.
var AzureEmailOperations = oncehttp.Contract{
	Name: "azure-communication-email-operations",
	Match: oncehttp.Match{
		Hosts: []string{"*.communication.azure.com", "*.*.communication.azure.com"},
		Path:  "/emails:send", Exact: true, Methods: []string{"POST"},
	},
	Hints: azureHints(),
	Lookups: []oncehttp.Lookup{{
		URL:   "/emails/operations/{id}?api-version={query.api-version}",
		State: "/status", Is: []string{"Succeeded"}, Reference: "/id",
	}},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierHeader, Name: "Operation-Id"},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"github.com/Azure/azure-rest-api-specs@2ad971a004:specification/communication/data-plane/Email/stable/2025-09-01/CommunicationServicesEmail.json",
		"github.com/Azure/azure-sdk-for-go/sdk/azcore@v1.24.0",
	},
}

// AzureRooms makes a room in Azure Communication Services, under the same headers.
// A client whose clock is wrong by more than the five minutes is refused at once.
// Which answers are kept is known for e-mail only.
var AzureRooms = oncehttp.Contract{
	Name: "azure-communication-rooms",
	Match: oncehttp.Match{
		Hosts: []string{"*.communication.azure.com", "*.*.communication.azure.com"},
		Path:  "/rooms", Exact: true, Methods: []string{"POST"},
	},
	Carrier:    header("Repeatability-Request-Id"),
	Companions: firstSent(),
	Key:        oncehttp.KeyRule{UUID: oncehttp.UUIDAny},
	Compared:   oncehttp.Compared{Mismatch: oncehttp.MismatchRejects},
	Window: oncehttp.Window{
		Length: 5 * minute, Kind: oncehttp.WindowExact, Anchor: oncehttp.AnchorStamp, After: oncehttp.ExpiryRefuses,
	},
	Answers: repeatabilityRejected(),
	Hints:   azureHints(),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://learn.microsoft.com/en-us/rest/api/communication/repeatable-requests",
		"github.com/Azure/azure-rest-api-specs:specification/communication/data-plane/Rooms/stable/2024-04-15/communicationservicesrooms.json",
		"github.com/Azure/azure-sdk-for-go/sdk/azcore@v1.24.0",
	},
}
