package contracts

import "github.com/oncehttp/oncehttp"

func standards() []oncehttp.Contract {
	return []oncehttp.Contract{IETFIdempotencyKey, OASISRepeatableRequests}
}

// IETFIdempotencyKey is the header of the IETF draft, version 07, which expired in
// April 2026 and is no RFC. It names no host: see [On]. The draft wants the key
// in double quotes; nearly every API in use wants it without, for which
// [oncehttp.IdempotencyKey] is the right contract. How long keys are kept each
// server says for itself: set Window where yours does.
var IETFIdempotencyKey = oncehttp.Contract{
	Name:     "ietf-idempotency-key",
	Match:    oncehttp.Match{Methods: []string{"POST", "PATCH"}},
	Carrier:  oncehttp.Carrier{Kind: oncehttp.CarrierHeader, Name: "Idempotency-Key", Quoted: true},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Answers:  []oncehttp.Answer{{Status: []int{422}, Verdict: oncehttp.VerdictMismatch}},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources: []string{
		"https://www.ietf.org/archive/id/draft-ietf-httpapi-idempotency-key-header-07.txt",
		"github.com/ietf-wg-httpapi/idempotency@dab060c553:draft-ietf-httpapi-idempotency-key-header.md",
	},
}

// OASISRepeatableRequests is Repeatable Requests 1.0, in the reading of the Azure
// REST guidelines, which promise at least five minutes. It names no host: see
// [On], and use it only where the API says that it takes these headers, since
// others answer 501 to them. A request that has grown too old is refused.
var OASISRepeatableRequests = oncehttp.Contract{
	Name:       "oasis-repeatable-requests",
	Match:      oncehttp.Match{Methods: []string{"POST", "PUT", "PATCH", "DELETE"}},
	Carrier:    header("Repeatability-Request-ID"),
	Companions: firstSent(),
	Compared:   oncehttp.Compared{Mismatch: oncehttp.MismatchRejects},
	Window:     oncehttp.Window{Length: 5 * minute, Anchor: oncehttp.AnchorStamp, After: oncehttp.ExpiryRefuses},
	Answers:    repeatabilityRejected(),
	Hints:      azureHints(),
	Proof:      oncehttp.ProofVendor,
	AsOf:       "2026-10-06",
	Sources: []string{
		"https://docs.oasis-open.org/odata/repeatable-requests/v1.0/repeatable-requests-v1.0.html",
		"github.com/microsoft/api-guidelines@011dd3c9d8:azure/Guidelines.md",
		"github.com/Azure/typespec-azure@b6b445f655:packages/typespec-azure-core/lib/models.tsp",
		"github.com/Azure/azure-sdk-for-go/sdk/azcore@v1.24.0",
	},
}
