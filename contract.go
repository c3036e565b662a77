package oncehttp

import (
	"net/http"
	"time"
)

// A Contract says what a receiving API promises about idempotency keys. It is
// data: a provider's facts as a literal, with where they come from. The zero
// value of every field but Match is safe: it promises nothing.
//
// A request that a contract matches is an intent, whatever its method.
type Contract struct {
	// Name identifies the contract in records, events and errors. Empty: made
	// of the first host and the path. Two contracts cannot share one: set it
	// where the names made would be the same.
	Name string
	// Match selects the requests it speaks of.
	Match Match
	// Carrier is where the key travels. The zero value carries none: the API
	// takes no key, and an ambiguous answer is never followed by a resend.
	Carrier Carrier
	// Key says which keys the API accepts.
	Key KeyRule
	// Window is how long the API remembers a key.
	Window Window
	// Origin is a mark that only the API's own answers carry. Where it is set,
	// an answer without it comes from something in between, and its 2xx or 4xx
	// proves nothing. Zero: no such mark is known.
	Origin Marker
	// Replay marks an answer that was stored at an earlier attempt.
	Replay Marker
	// Ignored marks an answer whose request was handled without its key.
	Ignored Marker
	// Answers are rules on answers, tried in order; the first that matches
	// decides before the general table does.
	Answers []Answer
	// Stored says which answers the API keeps under a key.
	Stored Stored
	// Repeats: something between us and the API repeats requests by itself (a
	// mesh's retries, hedging), so that only a refusal which settles counts as
	// no effect.
	Repeats bool
	// Proof is how well the facts are known. Facts weaker than the vendor's own
	// text or code never cause an automatic resend.
	Proof Proof
	// AsOf is the day the facts were read, as 2006-01-02; Sources where.
	AsOf    string
	Sources []string
}

// IdempotencyKey is the contract of an API that takes the header
// Idempotency-Key on POST and PATCH, unquoted, and remembers a key for at least
// window. The host is given with or without a port; "*" is any host, which is a
// promise in every server's name and fit for tests. A repeat returns the stored
// answer, marked with Idempotent-Replayed: true or Idempotent-Replay: true; a
// 422 whose code names the key means that the key is known with another
// payload. What else is stored under a key counts as unknown.
//
// An empty host and a window that is not positive are errors of [Open] and [New].
func IdempotencyKey(host string, window time.Duration) Contract {
	return Contract{
		Match:   Match{Hosts: []string{host}},
		Carrier: Carrier{Kind: CarrierHeader, Name: "Idempotency-Key"},
		Window:  Window{Length: window},
		Replay:  Marker{Headers: []string{"Idempotent-Replayed", "Idempotent-Replay"}, Values: []string{"true"}},
		Answers: []Answer{{Status: []int{http.StatusUnprocessableEntity}, Codes: []string{"*idempoten*"}, Verdict: VerdictMismatch}},
	}
}

// keyed reports whether requests carry a key whose facts are known well enough
// to repeat them. A nil contract promises nothing.
func (c *Contract) keyed() bool {
	return c != nil && c.Carrier.Kind != CarrierNone && c.Proof <= ProofVendor
}

// Match selects requests. Of two contracts that match a request the one with
// the longer host, then the longer path, then more conditions applies; two
// that cannot be told apart are an error when the client is opened.
type Match struct {
	// Hosts that the request's URL and its Host header must both name, with a
	// port or without (then any port); "*" is any host. Case does not matter;
	// international names are written as xn--... A request without a port has
	// that of its scheme, 443 or 80.
	Hosts []string
	// Path is a prefix of the escaped URL path, by whole segments: "/v1", or
	// "/v1/", matches /v1 and /v1/charges, not /v10. Empty: any.
	Path string
	// Methods it applies to. Default POST and PATCH.
	Methods []string
	// Header, when set, names a header that the request must carry; with
	// HeaderValue, its first line must have this value. Case does not matter.
	Header, HeaderValue string
	// Safe marks requests that change nothing though their method may (a search
	// by POST): they pass through like a GET.
	Safe bool
	// Idempotent overrides the method's own promise (RFC 9110 section 9.2.2):
	// IdempotentNo for a PUT that moves money, IdempotentYes for a POST that
	// may be repeated as it is.
	Idempotent Idempotence
}

// Idempotence overrides what a request's method says of repeating it.
type Idempotence uint8

const (
	// IdempotentByMethod: as RFC 9110 section 9.2.2 says of the method.
	IdempotentByMethod Idempotence = iota
	// IdempotentYes: sent twice it has the effect of once.
	IdempotentYes
	// IdempotentNo: sent twice it may act twice.
	IdempotentNo
)

// A Carrier is where the key travels in the request.
type Carrier struct {
	// Kind of the carrier. Zero: none.
	Kind CarrierKind
	// Name of the header.
	Name string
	// Quoted: the value is a structured-field string, in double quotes (RFC
	// 9651 section 3.3.3), as the IETF draft of the header asks; most deployed
	// APIs want it raw.
	Quoted bool
}

// CarrierKind is the kind of place that a key travels in.
type CarrierKind uint8

const (
	// CarrierNone: the API takes no key.
	CarrierNone CarrierKind = iota
	// CarrierHeader: a header of its own, Carrier.Name.
	CarrierHeader
)

// A KeyRule is what the API accepts as a key. Lengths are in bytes, of the key
// itself without quotes.
type KeyRule struct {
	// Min and Max length. Zero: 1 and 255.
	Min, Max int
	// Alphabet lists the bytes allowed. Empty: printable ASCII without the
	// space, the comma, the double quote and the backslash, which trimming,
	// lists and quoting break; a list of your own cannot have these either.
	Alphabet string
	// Form the key is minted in. Default FormUUID.
	Form KeyForm
}

// KeyForm is the spelling of a minted key.
type KeyForm uint8

const (
	// FormUUID is 36 bytes, lower case with hyphens (RFC 9562).
	FormUUID KeyForm = iota
	// FormHex is the same 128 bits as 32 hexadecimal digits.
	FormHex
)

// A Window is how long a key is remembered, counted from before the first byte
// of the first attempt that may have had an effect.
type Window struct {
	// Length of the window. Zero with WindowUnknown or WindowForever, and where
	// there is no key; else it must be set.
	Length time.Duration
	// Kind says what Length is. Default WindowFloor.
	Kind WindowKind
}

// WindowKind says what the length of a [Window] is.
type WindowKind uint8

const (
	// WindowFloor: at least this long.
	WindowFloor WindowKind = iota
	// WindowUnknown: the API does not say. Keys are trusted for five minutes.
	WindowUnknown
	// WindowForever: keys are never forgotten.
	WindowForever
)

// A Marker is a mark on an answer. It is there when one of the headers, or the
// place in the JSON body that Pointer names, has one of the values; or, with no
// Values, has any value that is not empty (in the body: not null). Values are
// compared without regard to case and to white space around them. The zero
// Marker marks nothing.
type Marker struct {
	Headers []string
	Values  []string
	// Pointer is a JSON pointer (RFC 6901) into the answer's body.
	Pointer string
}

// An Answer is a rule: if status, header and body code all match, Verdict
// tells what the answer means.
type Answer struct {
	// Status codes; empty: any.
	Status []int
	// Header that must be there and not empty; with HeaderValue, one of its
	// lines must have this value, without regard to case.
	Header, HeaderValue string
	// At are JSON pointers (RFC 6901) to codes in the body; with Codes set, one
	// of the values there must match one of them. Empty: the usual places of a
	// code (/code, /error/code, /error, /type ...).
	At []string
	// Codes match without regard to case; a leading or trailing * matches any
	// text. Empty: no condition on the body.
	Codes []string
	// Verdict of the rule.
	Verdict Verdict
	// Reference is a JSON pointer to what the effect is called (VerdictDone).
	Reference string
}

// A Verdict is what an API means by an answer.
type Verdict uint8

const (
	// VerdictUnknown: nobody can tell. Pending, no resend.
	VerdictUnknown Verdict = iota
	// VerdictDone: the effect exists.
	VerdictDone
	// VerdictInProgress: an earlier attempt under this key still runs.
	VerdictInProgress
	// VerdictMismatch: the key is known with another payload.
	VerdictMismatch
	// VerdictKeySpent: the key's action ended without effect and cannot run
	// again under it.
	VerdictKeySpent
	// VerdictKeyExpired: the API knows that it has forgotten the key.
	VerdictKeyExpired
	// VerdictKeyIgnored: the request was handled as if it had no key.
	VerdictKeyIgnored
	// VerdictThrottled: not now; nothing was done.
	VerdictThrottled
	// VerdictRefused: a definite no to this attempt.
	VerdictRefused

	// verdictUnread: a rule cannot be tried, see Contract.rule.
	verdictUnread
)

// Stored says what an API keeps under a key.
type Stored struct {
	// Refusals: the key is looked up before the request is judged, and a 4xx is
	// kept under it, so that a 4xx also speaks of all earlier attempts.
	Refusals bool
	// NoAnswer: a repeat of a success does not return the stored answer.
	NoAnswer bool
	// Settle is how long after an attempt was sent its effect may still come to
	// show. A refusal that is seen again later than this after the last other
	// attempt settles them all. Zero: not known, and no refusal does.
	Settle time.Duration
}

// Proof is how well a contract's facts are known.
type Proof uint8

const (
	// ProofDeclared: whoever wrote the contract vouches for it.
	ProofDeclared Proof = iota
	// ProofVendor: from the vendor's own text or code.
	ProofVendor
	// ProofSecondary: from somebody else's page. Never an automatic resend.
	ProofSecondary
	// ProofUnknown: a guess. Never an automatic resend.
	ProofUnknown
)
