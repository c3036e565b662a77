package contracts

import "github.com/oncehttp/oncehttp"

func work() []oncehttp.Contract {
	return []oncehttp.Contract{
		DocuSignEnvelopes, WorkOSAuditLogs, InngestEvent, InngestEvents, CheckPayroll,
		FullStoryV2, DeelV2, MergeUnified, DropboxSignV3, DropboxSignSend, AliyunRPA,
	}
}

// DocuSignEnvelopes creates an envelope. Its transactionId is for asking, within
// seven days, what became of a request whose answer was lost; whether a repeat
// under it is refused nobody says, so that it is no key here. One of the caller's
// own will do, if no other envelope has it.
var DocuSignEnvelopes = oncehttp.Contract{
	Name: "docusign-envelopes",
	Match: oncehttp.Match{
		Hosts: []string{"*.docusign.net"},
		Paths: []string{"/restapi/v2.1/accounts/*/envelopes", "/restapi/v2/accounts/*/envelopes"},
		Exact: true, Methods: []string{"POST"},
	},
	Origin: oncehttp.Marker{Headers: []string{"X-Docusign-Tracetoken"}},
	Hints:  oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "X-Ratelimit-Reset", Kind: oncehttp.HintUnix}}},
	Lookups: []oncehttp.Lookup{{
		URL:   "/restapi/{path.2}/accounts/{path.4}/envelopes?transaction_ids={/transactionId}",
		Items: "/envelopes", Reference: "/envelopeId",
	}},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/transactionId"},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://developers.docusign.com/docs/esign-rest-api/how-to/list-envelope-status-changes",
		"https://docs.oracle.com/en/cloud/paas/integration-cloud/docusign-adapter/invoke-request-page.html",
		"github.com/docusign/docusign-esign-node-client@dea1642b30:docs/EnvelopeTransactionStatus.md",
		"github.com/docusign/docusign-esign-php-client@54a0cbd6e0:test/UnitTests.php",
		"github.com/docusign/code-examples-react@04220a2c55:src/DocuSign.js",
	},
}

// WorkOSAuditLogs records an event in an audit log, the one endpoint of WorkOS that
// is known to take the header.
var WorkOSAuditLogs = oncehttp.Contract{
	Name: "workos-audit-logs",
	Match: oncehttp.Match{
		Hosts: []string{"api.workos.com"}, Path: "/audit_logs/events", Exact: true, Methods: []string{"POST"},
	},
	Carrier: header("Idempotency-Key"),
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://workos.com/docs/reference/audit-logs/event",
		"github.com/workos/workos-go@27a5c270eb:audit_logs.go",
	},
}

// InngestEvent sends one event, as a JSON object. It names no host: one URL takes
// an object or an array, and nothing but the body tells which, so use [On] with
// inn.gs for the shape that your client sends. A repeat is accepted and listed, and
// starts no function again.
var InngestEvent = oncehttp.Contract{
	Name:     "inngest-event",
	Match:    oncehttp.Match{Path: "/e/*", Exact: true, Methods: []string{"POST"}},
	Carrier:  jsonField("/id"),
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchDrops},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Stored:   oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources:  []string{"https://www.inngest.com/docs/durable-execution/guides-and-advanced/idempotency.md"},
}

// InngestEvents sends an array of events, each under a key of its own; otherwise
// it is as [InngestEvent].
var InngestEvents = oncehttp.Contract{
	Name:     "inngest-events",
	Match:    oncehttp.Match{Path: "/e/*", Exact: true, Methods: []string{"POST"}},
	Carrier:  jsonField("/*/id"),
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchDrops},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Stored:   oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources:  []string{"https://www.inngest.com/docs/durable-execution/guides-and-advanced/idempotency.md"},
}

// CheckPayroll is every POST of Check. A 500 is kept under the key as a success
// is. After the day that keys are kept the vendor itself says to look before
// creating.
var CheckPayroll = oncehttp.Contract{
	Name: "check-payroll",
	Match: oncehttp.Match{
		Hosts: []string{"api.checkhq.com", "sandbox.checkhq.com"}, Methods: []string{"POST"},
	},
	Carrier: header("X-Idempotency-Key"),
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingYes},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://docs.checkhq.com/docs/idempotent-requests"},
}

// FullStoryV2 is every POST of FullStory's server API. A refusal and a plain 500
// are kept under the key, a 429 and what lies above 500 are not, nor what was
// refused before it was begun.
var FullStoryV2 = oncehttp.Contract{
	Name: "fullstory-v2",
	Match: oncehttp.Match{
		Hosts: []string{"api.fullstory.com"}, Path: "/v2", Methods: []string{"POST"},
	},
	Carrier:  header("Idempotency-Key"),
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Stored: oncehttp.Stored{
		Failures: oncehttp.KeepingYes,
		Except:   []int{429, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511},
	},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://developer.fullstory.com/server/idempotent-requests"},
}

// DeelV2 is every POST and PATCH of Deel. Only successes are kept, and a repeat of
// one names the request that it repeats. A 429 may mean that the first request
// still runs; one that the caller gave up is held for two minutes.
var DeelV2 = oncehttp.Contract{
	Name: "deel-v2",
	Match: oncehttp.Match{
		Hosts: []string{"api.letsdeel.com", "api-sandbox.demo.deel.com"}, Path: "/rest/v2",
		Methods: []string{"POST", "PATCH"},
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 64},
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Replay:  oncehttp.Marker{Headers: []string{"X-Original-Request-Id"}},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingNo},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://developer.deel.com/api/idempotency",
		"https://developer.deel.com/docs/idempotency",
	},
}

// MergeUnified is every POST of Merge's unified API. It names no host: keys are
// looked at only in accounts for which Merge has turned this on, so use [On] with
// api.merge.dev once it has for yours.
var MergeUnified = oncehttp.Contract{
	Name:     "merge-unified",
	Match:    oncehttp.Match{Path: "/api", Methods: []string{"POST"}},
	Carrier:  header("Idempotency-Key"),
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources: []string{
		"https://docs.merge.dev/merge-unified/writing-data/writes/idempotency",
		"https://help.merge.dev/articles/3428903208-idempotency",
	},
}

// DropboxSignV3 is every POST and PUT of Dropbox Sign. Keys are known in one
// account, and in one app of it.
var DropboxSignV3 = oncehttp.Contract{
	Name: "dropbox-sign-v3",
	Match: oncehttp.Match{
		Hosts: []string{"api.hellosign.com"}, Path: "/v3", Methods: []string{"POST", "PUT"},
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Min: 1, Max: 255},
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Hints:   oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "X-Ratelimit-Reset", Kind: oncehttp.HintUnix}}},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://developers.hellosign.com/api/manual-reference-pages/idempotency",
		"https://developers.hellosign.com/api/reference/operation/signatureRequestList/",
		"github.com/hellosign/dropbox-sign-ruby:docs/SignatureRequestResponse.md",
	},
}

// DropboxSignSend sends a signature request, or makes one to be signed in a page of
// the caller's. It is found by its metadata, among the hundred that are listed first,
// unless it had an error when it was made.
var DropboxSignSend = func() oncehttp.Contract {
	c := DropboxSignV3
	c.Name = "dropbox-sign-send"
	c.Match.Path, c.Match.Paths, c.Match.Exact = "", []string{
		"/v3/signature_request/send", "/v3/signature_request/send_with_template",
		"/v3/signature_request/create_embedded", "/v3/signature_request/create_embedded_with_template",
	}, true
	c.Match.Methods = []string{"POST"}
	c.Lookups = []oncehttp.Lookup{{
		URL:   "/v3/signature_request/list?page_size=100",
		Items: "/signature_requests", Where: "/metadata/oncehttp",
		State: "/has_error", Is: []string{"false"}, Reference: "/signature_request_id",
	}}
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"}
	return c
}()

// AliyunRPA creates a task for a robot. Keys are forgotten after three minutes,
// the shortest time of all here. A request is signed in its URL, over a nonce that
// may be used once: sign in Config.Authorize, with the Timestamp as it stands. An
// answer says in its body whether the call succeeded.
var AliyunRPA = oncehttp.Contract{
	Name: "aliyun-rpa-create-task",
	Match: oncehttp.Match{
		Hosts: []string{"console-rpa.aliyun.com"}, Path: "/rpa/openapi/raas/task/CreateTask", Exact: true,
		Methods: []string{"POST"},
	},
	Carrier: header("X-Idempotent-Request-ID"),
	Key:     oncehttp.KeyRule{Max: 50},
	Window:  oncehttp.Window{Length: 3 * minute, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Answers: []oncehttp.Answer{
		{Status: []int{200}, At: []string{"/success"}, Codes: []string{"false"}, Verdict: oncehttp.VerdictUnknown},
	},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://help.aliyun.com/en/rpa/developer-reference/idempotent-call",
		"https://help.aliyun.com/en/rpa/developer-reference/queryserviceresult",
		"https://help.aliyun.com/document_detail/175450.html",
	},
}
