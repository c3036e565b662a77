package contracts

import "github.com/oncehttp/oncehttp"

func billing() []oncehttp.Contract {
	return []oncehttp.Contract{
		Xero, QuickBooks, QuickBooksBatch, QuickBooksQuery, ZuoraREST, ZuoraOrders,
		RecurlyV3, RecurlyPurchases, RecurlySubscriptions,
		Chargebee, ChargebeeCustomers, ChargebeeSubscriptions, ChargebeeEstimates, StiggREST,
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
	// Every answer tells what is left of the limits.
	Origin: oncehttp.Marker{Headers: []string{
		"Xero-Correlation-Id", "X-MinLimit-Remaining", "X-DayLimit-Remaining", "X-AppMinLimit-Remaining",
	}},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"github.com/XeroAPI/Xero-OpenAPI@e952d0bda3:xero_accounting.yaml",
		"https://github.com/XeroAPI/Xero-OpenAPI/pull/571",
		"https://developer.xero.com/faq/limits",
		"github.com/XeroAPI/xero-ruby@48ca68da2e:spec/api_error_spec.rb",
	},
}

// quickBooksHosts are QuickBooks Online and its sandbox.
func quickBooksHosts() []string {
	return []string{"quickbooks.api.intuit.com", "sandbox-quickbooks.api.intuit.com"}
}

// quickBooksOrigin is the id that Intuit gives every request, and its clients keep
// of every answer.
func quickBooksOrigin() oncehttp.Marker { return oncehttp.Marker{Headers: []string{"Intuit_tid"}} }

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
	Origin:  quickBooksOrigin(),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://blogs.intuit.com/blog/2015/04/06/15346/",
		"https://developer.intuit.com/hub/blog/2018/09/10/quickbooks-online-api-best-practices",
		"https://intuit.github.io/QuickBooks-V3-PHP-SDK/handle-error.html",
		"github.com/intuit/QuickBooks-V3-PHP-SDK@0c28bc3c45:src/Core/HttpClients/IntuitResponse.php",
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
	Origin:  quickBooksOrigin(),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"https://blogs.intuit.com/blog/2015/04/06/15346/",
		"github.com/intuit/QuickBooks-V3-PHP-SDK@0c28bc3c45:src/Core/HttpClients/IntuitResponse.php",
	},
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
	Origin:   oncehttp.Marker{Headers: []string{"Zuora-Request-Id"}},
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

// ZuoraOrders is the creation of orders, which are found by their number. It is the
// caller's own, or the planted one: else Zuora makes it, and nothing is found.
var ZuoraOrders = zuoraOrders()

func zuoraOrders() oncehttp.Contract {
	c := ZuoraREST
	c.Name = "zuora-orders"
	c.Match.Path, c.Match.Exact, c.Match.Methods = "/v1/orders", true, []string{"POST"}
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/orderNumber"}
	c.Lookups = []oncehttp.Lookup{{
		URL: "/v1/orders/{/orderNumber}", State: "/success", Is: []string{"true"}, Reference: "/order/orderNumber",
	}}
	c.Sources = append(c.Sources[:len(c.Sources):len(c.Sources)],
		"https://developer.zuora.com/v1-api-reference/api/orders/post_order",
		"https://developer.zuora.com/v1-api-reference/api/orders/get_order")
	return c
}

// RecurlyV3 is every POST of Recurly's API v3. What is known comes from its clients:
// the header, where it counts, the mark of a repeat, and what every answer has.
var RecurlyV3 = oncehttp.Contract{
	Name: "recurly-v3",
	Match: oncehttp.Match{
		Hosts: []string{"v3.recurly.com", "v3.eu.recurly.com"}, Methods: []string{"POST"},
	},
	Carrier: header("Idempotency-Key"),
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  oncehttp.Marker{Headers: []string{"X-Request-Id", "Recurly-Version"}},
	Replay:  marked("Idempotency-Prior", "true"),
	Hints:   oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "X-RateLimit-Reset", Kind: oncehttp.HintUnix}}},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"github.com/recurly/recurly-client-go@e35e390759:request_options.go, client_response.go",
		"github.com/recurly/recurly-client-go@019de64def:error.go, purchase_create.go",
		"https://github.com/recurly/recurly-client-ruby/pull/579",
	},
}

// RecurlyPurchases is purchases, found by the number of the customer's order on
// the newest two hundred invoices, unless their payment has failed.
var RecurlyPurchases = recurlyObject("recurly-purchases", "/purchases", "/invoices", "paid", "pending")

// RecurlySubscriptions is the creation of subscriptions, found by the same number
// among the newest two hundred.
var RecurlySubscriptions = recurlyObject("recurly-subscriptions", "/subscriptions", "/subscriptions", "active", "future")

func recurlyObject(name, path, list string, states ...string) oncehttp.Contract {
	c := RecurlyV3
	c.Name, c.Match.Path, c.Match.Exact = name, path, true
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/po_number"}
	c.Lookups = []oncehttp.Lookup{inState(oncehttp.Lookup{
		URL: list + "?limit=200&sort=created_at&order=desc", Items: "/data", Where: "/po_number", Reference: "/id",
	}, "/state", states...)}
	return c
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
	Origin:   oncehttp.Marker{Headers: []string{"Chargebee-Request-Id"}},
	Replay:   marked("Chargebee-Idempotency-Replayed", "true"),
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-11-30",
	Sources: []string{
		"https://apidocs.chargebee.com/docs/api/v1/idempotency?prod_cat_ver=1&lang=node",
		"github.com/chargebee/chargebee-go@2dbd55fa3e:idempotency_constants.go, http_request.go",
		"github.com/chargebee/chargebee-java@b000e1a8a8:src/main/java/com/chargebee/v4/telemetry/SdkTelemetryHeader.java, src/test/java/com/chargebee/v4/telemetry/SdkTelemetryEmitterTest.java",
	},
}

// ChargebeeCustomers is the creation of customers, whose planted id is the
// customer's own, if the request does not set one.
var ChargebeeCustomers = chargebeeObject("chargebee-customers", "/customer/id", "/api/{path.2}/customers/{id}",
	"/api/v2/customers", "/api/v1/customers")

// ChargebeeSubscriptions is the creation of subscriptions, under the same rules.
var ChargebeeSubscriptions = chargebeeObject("chargebee-subscriptions", "/subscription/id", "/api/{path.2}/subscriptions/{id}",
	"/api/v2/subscriptions", "/api/v1/subscriptions",
	"/api/v2/customers/*/subscriptions", "/api/v1/customers/*/subscriptions", "/api/v2/customers/*/subscription_for_items")

func chargebeeObject(name, reference, url string, paths ...string) oncehttp.Contract {
	c := Chargebee
	c.Name, c.Match.Paths, c.Match.Exact = name, paths, true
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierForm, Name: "id"}
	c.Lookups = []oncehttp.Lookup{{URL: url, Reference: reference}}
	c.Sources = append(c.Sources[:len(c.Sources):len(c.Sources)],
		"https://apidocs.chargebee.com/docs/api/customers#create_a_customer",
		"https://apidocs.chargebee.com/docs/api/subscriptions#create_subscription_for_items")
	return c
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
