package contracts

import "github.com/oncehttp/oncehttp"

func azure() []oncehttp.Contract {
	return []oncehttp.Contract{AzureEmail, AzureRooms}
}

// azureHosts are those of Communication Services resources, with or without the
// name of a geography.
func azureHosts() []string {
	return []string{"*.communication.azure.com", "*.*.communication.azure.com"}
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

// AzureEmail sends an e-mail by Azure Communication Services. The service counts
// five minutes from the time in the second header, by its own clock, and then
// refuses: a client whose clock is wrong is refused at once. Accepted stands on
// first answers too, so that nothing marks a repeat.
var AzureEmail = oncehttp.Contract{
	Name:       "azure-communication-email",
	Match:      oncehttp.Match{Hosts: azureHosts(), Path: "/emails:send", Exact: true, Methods: []string{"POST"}},
	Carrier:    header("Repeatability-Request-Id"),
	Companions: firstSent(),
	Key:        oncehttp.KeyRule{UUID: oncehttp.UUIDAny, Need: oncehttp.NeedAll},
	Compared:   oncehttp.Compared{Mismatch: oncehttp.MismatchRejects},
	Window: oncehttp.Window{
		Length: 5 * minute, Kind: oncehttp.WindowExact, Anchor: oncehttp.AnchorStamp, After: oncehttp.ExpiryRefuses,
	},
	Answers: append(repeatabilityRejected(), oncehttp.Answer{Status: []int{409}, Verdict: oncehttp.VerdictInProgress}),
	Stored:  oncehttp.Stored{Refusals: true, Failures: oncehttp.KeepingNo},
	Hints:   azureHints(),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://learn.microsoft.com/en-us/rest/api/communication/repeatable-requests",
		"github.com/Azure/azure-sdk-for-go/sdk/azcore@v1.24.0",
	},
}

// AzureRooms makes a room in Azure Communication Services. It goes by the same
// headers; which answers it keeps is known for e-mail only.
var AzureRooms = oncehttp.Contract{
	Name:       "azure-communication-rooms",
	Match:      oncehttp.Match{Hosts: azureHosts(), Path: "/rooms", Exact: true, Methods: []string{"POST"}},
	Carrier:    header("Repeatability-Request-Id"),
	Companions: firstSent(),
	Key:        oncehttp.KeyRule{UUID: oncehttp.UUIDAny, Need: oncehttp.NeedAll},
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
		"github.com/Azure/azure-sdk-for-go/sdk/azcore@v1.24.0",
	},
}
