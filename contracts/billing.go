package contracts

import "github.com/oncehttp/oncehttp"

func billing() []oncehttp.Contract {
	return []oncehttp.Contract{
		Xero, QuickBooks, QuickBooksBatch, QuickBooksQuery, ZuoraREST,
		RecurlyV3, Chargebee, ChargebeeEstimates, StiggREST,
	}
}

// Xero is what writes in Xero's APIs for accounting, payroll, assets, projects,
// files, bank feeds and the app store. A PUT creates there: without its key it may
// not be repeated. How long keys are kept could not be read.
var Xero = oncehttp.Contract{
	Name: "xero",
	Match: oncehttp.Match{
		Hosts: []string{"api.xero.com"},
		Paths: []string{
			"/api.xro", "/payroll.xro", "/assets.xro", "/projects.xro", "/files.xro", "/bankfeeds.xro", "/appstore",
		},
		Methods:    []string{"POST", "PUT", "PATCH"},
		Idempotent: oncehttp.IdempotentNo,
	},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Max: 128},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"github.com/XeroAPI/Xero-OpenAPI@e952d0bda3:xero_accounting.yaml",
		"https://github.com/XeroAPI/Xero-OpenAPI/pull/571",
	},
}

// quickBooksHosts are QuickBooks Online and its sandbox.
func quickBooksHosts() []string {
	return []string{"quickbooks.api.intuit.com", "sandbox-quickbooks.api.intuit.com"}
}

// QuickBooks is what creates, changes and deletes in QuickBooks Online. The key is
// a parameter of the URL, where logs see it, and must be unique within a company.
// Whether sending a document by e-mail, a POST further down, takes one is not
// written, so that it is not matched.
var QuickBooks = oncehttp.Contract{
	Name:    "quickbooks-v3",
	Match:   oncehttp.Match{Hosts: quickBooksHosts(), Path: "/v3/company/*/*", Exact: true, Methods: []string{"POST"}},
	Carrier: query("requestid"),
	Key:     oncehttp.KeyRule{Max: 50},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://blogs.intuit.com/blog/2015/04/06/15346/",
		"https://developer.intuit.com/hub/blog/2018/09/10/quickbooks-online-api-best-practices",
	},
}

// QuickBooksBatch is a batch of such operations: its key has at most 36
// characters, and each bId in it then at most 10. It succeeds though an operation
// in it was refused: look for a Fault among the items of its answer.
var QuickBooksBatch = oncehttp.Contract{
	Name: "quickbooks-v3-batch",
	Match: oncehttp.Match{
		Hosts: quickBooksHosts(), Path: "/v3/company/*/batch", Exact: true, Methods: []string{"POST"},
	},
	Carrier: query("requestid"),
	Key:     oncehttp.KeyRule{Max: 36},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://blogs.intuit.com/blog/2015/04/06/15346/"},
}

// QuickBooksQuery reads by POST, and changes nothing.
var QuickBooksQuery = oncehttp.Contract{
	Name: "quickbooks-v3-query",
	Match: oncehttp.Match{
		Hosts: quickBooksHosts(), Path: "/v3/company/*/query", Exact: true, Methods: []string{"POST"}, Safe: true,
	},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://developer.intuit.com/app/developer/qbo/docs/learn/rest-api-features"},
}

// ZuoraREST is every POST and PATCH of Zuora. Whatever the first request was
// answered is kept, failures too, headers included: a repeat's rate limits are
// those of then. A mismatch is said of the tenant, the URL and the method, and not
// of the body. Errors come in a 200 too, with success false: the last two digits of
// a reason's code say of what kind it is, and only of what was not valid, allowed or
// found is it certain that nothing was done.
var ZuoraREST = oncehttp.Contract{
	Name: "zuora-rest",
	Match: oncehttp.Match{
		Hosts: []string{
			"rest.zuora.com", "rest.na.zuora.com", "rest.eu.zuora.com", "rest.ap.zuora.com",
			"rest.apisandbox.zuora.com", "rest.sandbox.na.zuora.com", "rest.sandbox.eu.zuora.com",
			"rest.test.zuora.com", "rest.test.eu.zuora.com", "rest.test.ap.zuora.com",
		},
		Methods: []string{"POST", "PATCH"},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 254},
	Compared: oncehttp.Compared{Parts: oncehttp.PartMethod | oncehttp.PartPath, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Answers: []oncehttp.Answer{
		{Status: []int{409}, Verdict: oncehttp.VerdictInProgress},
		{Status: []int{422}, Verdict: oncehttp.VerdictMismatch},
		{
			Status: []int{200}, At: []string{"/reasons/*/code"}, Codes: []string{"*50", "*60", "*61", "*70", "*99"},
			Verdict: oncehttp.VerdictUnknown,
		},
		{
			Status: []int{200}, At: []string{"/reasons/*/code"},
			Codes:   []string{"*10", "*11", "*20", "*21", "*22", "*23", "*30", "*40"},
			Verdict: oncehttp.VerdictRefused,
		},
		{
			Status: []int{200}, At: []string{"/success", "/Success", "/*/Success"}, Codes: []string{"false"},
			Verdict: oncehttp.VerdictUnknown,
		},
	},
	Stored: oncehttp.Stored{Failures: oncehttp.KeepingYes},
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-11-30",
	Sources: []string{
		"https://developer.zuora.com/docs/guides/idempotent-requests",
		"https://developer.zuora.com/docs/guides/error-handling",
		"https://developer.zuora.com/docs/guides/error-codes",
		"https://developer.zuora.com/v1-api-reference/introduction/",
	},
}

// RecurlyV3 is every POST of Recurly's API v3. What is known comes from its clients:
// the header, where it counts, and the mark of a repeat.
var RecurlyV3 = oncehttp.Contract{
	Name: "recurly-v3",
	Match: oncehttp.Match{
		Hosts: []string{"v3.recurly.com", "v3.eu.recurly.com"}, Methods: []string{"POST"},
	},
	Carrier: header("Idempotency-Key"),
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Replay:  marked("Idempotency-Prior", "true"),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"github.com/recurly/recurly-client-go@e35e390759:request_options.go, client_response.go",
		"https://github.com/recurly/recurly-client-ruby/pull/579",
	},
}

// Chargebee is every POST of it but estimates. Keys are forgotten after half an
// hour; pages that say a day are wrong. The headers of a request may be compared
// too, so let them be the same at every attempt.
var Chargebee = oncehttp.Contract{
	Name: "chargebee",
	Match: oncehttp.Match{
		Hosts: []string{"*.chargebee.com"}, Paths: []string{"/api/v2", "/api/v1"}, Methods: []string{"POST"},
	},
	Carrier:  header("Chargebee-Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 100},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody},
	Window:   oncehttp.Window{Length: 30 * minute, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Replay:   marked("Chargebee-Idempotency-Replayed", "true"),
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources: []string{
		"https://apidocs.chargebee.com/docs/api/v1/idempotency?prod_cat_ver=1&lang=node",
		"github.com/chargebee/chargebee-go@2dbd55fa3e:idempotency_constants.go, http_request.go",
	},
}

// ChargebeeEstimates are worked out and not kept: they take no key and change
// nothing.
var ChargebeeEstimates = oncehttp.Contract{
	Name: "chargebee-estimates",
	Match: oncehttp.Match{
		Hosts: []string{"*.chargebee.com"}, Paths: []string{"/api/v2/estimates", "/api/v1/estimates"},
		Methods: []string{"POST"}, Safe: true,
	},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://apidocs.chargebee.com/docs/api/v1/idempotency?prod_cat_ver=1&lang=node"},
}

// StiggREST is every POST of Stigg's REST API, which is in beta.
var StiggREST = oncehttp.Contract{
	Name:    "stigg-rest",
	Match:   oncehttp.Match{Hosts: []string{"api.stigg.io"}, Path: "/api/v1", Methods: []string{"POST"}},
	Carrier: header("Idempotency-Key"),
	Window:  oncehttp.Window{Length: day, Kind: oncehttp.WindowExact},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://docs.stigg.io/api-and-sdks/api-reference/rest/idempotency",
		"https://docs.stigg.io/api-and-sdks/api-reference/rest/overview",
	},
}
