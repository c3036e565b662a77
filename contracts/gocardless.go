package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func goCardless() []oncehttp.Contract {
	return []oncehttp.Contract{GoCardlessPro, GoCardlessPayments, GoCardlessRefunds, GoCardlessSubscriptions}
}

// GoCardlessPro is the creation of things in GoCardless's Pro API. A repeat of a
// creation that succeeded is answered 409 with the id of what was made: it is a
// success, and waiting for the conflict to pass would never end. Updates and
// actions are not covered, though GoCardless's own clients send a key there too.
var GoCardlessPro = goCardlessAt("gocardless-pro", "/*")

// GoCardlessPayments creates a payment. The metadata that is planted in it comes
// back in the list of payments, while it is among the newest 500; GoCardless takes
// three fields of metadata at most, so that a request with three of its own is
// refused where something is planted.
var GoCardlessPayments = goCardlessPlanted("gocardless-payments", "payments",
	"pending_submission", "pending_customer_approval", "submitted", "confirmed", "paid_out")

// GoCardlessRefunds refunds a payment, and finds the refund as a payment is found.
var GoCardlessRefunds = goCardlessPlanted("gocardless-refunds", "refunds",
	"created", "pending_submission", "submitted", "paid")

// GoCardlessSubscriptions creates a subscription, found as a payment is.
var GoCardlessSubscriptions = goCardlessPlanted("gocardless-subscriptions", "subscriptions",
	"active", "pending_customer_approval", "finished", "paused")

// goCardlessAt is the contract of creating things at path. Every answer counts
// the calls left, and an error names its request.
func goCardlessAt(name, path string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"api.gocardless.com", "api-sandbox.gocardless.com"},
			Path:    path,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: header("Idempotency-Key"),
		Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Origin:  oncehttp.Marker{Headers: []string{"RateLimit-Limit"}, At: []string{"/error/request_id"}},
		Answers: []oncehttp.Answer{{
			Status: []int{409}, At: []string{"/error/errors/*/reason"}, Codes: []string{"idempotent_creation_conflict"},
			Verdict: oncehttp.VerdictDone, Reference: "/error/errors/*/links/conflicting_resource_id",
		}},
		Stored: oncehttp.Stored{Repeat: oncehttp.RepeatError},
		Hints:  oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "RateLimit-Reset", Kind: oncehttp.HintDate}}},
		Proof:  oncehttp.ProofVendor,
		AsOf:   "2026-11-30",
		Sources: []string{
			"https://github.com/gocardless/gocardless-pro-go@553b873c5d:retries.go",
			"https://github.com/gocardless/gocardless-pro-go@553b873c5d:gc.go",
			"https://gocardless.com/blog/idempotency-keys",
			"https://developer.gocardless.com/api-reference/#making-requests-rate-limiting",
			"https://gist.github.com/lawrencejones/eed4c2fa4a9a462a0024ae7804848c44",
			"https://github.com/gocardless/gocardless-pro-python@72621f9146:gocardless_pro/rate_limit.py",
		},
	}
}

// goCardlessPlanted is the contract of creating what is listed by this name, with
// metadata, and is found in one of the states: not what failed, was cancelled, or
// went back.
func goCardlessPlanted(name, resource string, states ...string) oncehttp.Contract {
	c := goCardlessAt(name, "/"+resource)
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/" + resource + "/metadata/oncehttp"}
	c.Lookups = []oncehttp.Lookup{{
		URL:   "/" + resource + "?limit=500&created_at%5Bgte%5D={since}T00:00:00Z",
		Items: "/" + resource, Where: "/metadata/oncehttp", Reference: "/id",
		State: "/status", Is: states,
	}}
	c.Sources = append(c.Sources, "https://github.com/gocardless/gocardless-pro-go@00ef376a9d:payment_service.go")
	return c
}
