package oncehttp

import (
	"net/http"
	"time"
)

// A Contract says what a receiving API promises about idempotency keys. It is
// data: a provider's facts as a literal, with where they come from. The zero
// value of every field but Match is safe: it promises nothing.
//
// A request that a contract matches is an intent, whatever its method, unless
// Match.Safe says that it changes nothing. Package contracts has the facts of many
// APIs.
type Contract struct {
	// Name identifies the contract in records, events and errors. Empty: it is
	// made of the first host and the path. Two contracts of a client cannot share
	// a name: set it where the names so made would be the same.
	Name string
	// Match selects the requests it speaks of.
	Match Match
	// Carrier is where the key travels. The zero value carries none: the API
	// takes no key, and what may have taken effect is sent again only where the
	// request is idempotent without one.
	Carrier Carrier
	// Companions travel with the key, and stay the same as the key does.
	Companions []Companion
	// Key says which keys the API accepts.
	Key KeyRule
	// Compared says what the API compares of a request whose key it knows.
	Compared Compared
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
	// Hints are what the API's answers say of another attempt.
	Hints Hints
	// Lookups are ways to find an effect in the API. Where sending again would
	// not be safe, they are tried in order instead.
	Lookups []Lookup
	// Plant is a field of the request into which the intent's id is written, so
	// that a lookup can find it. It is written only where [Config].Plant is set.
	Plant Plant
	// Pin says what must be the same at every attempt, because the API knows a
	// key only together with it.
	Pin Pin
	// Repeats: something between the client and the API repeats requests by
	// itself (a mesh's retries, hedging). Only a refusal that settles then counts
	// as no effect.
	Repeats bool
	// Proof is how well the facts are known. Facts weaker than the vendor's own
	// text or code never cause an automatic resend of what may have taken effect.
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

// Match selects requests. Of the contracts that match a request the most
// specific applies. Four things decide, in this order:
//
//   - The host: a full name goes before a pattern, a pattern with more literal
//     bytes before one with fewer, "*" last; of equal hosts one with a port goes
//     before one without.
//   - The path: more segments go first, then more literal bytes, then an exact
//     path before a prefix.
//   - The header: a full value goes before the start of one (the longer first),
//     that before a header of any value, that before no header.
//   - The operation: one goes before none.
//
// Opening the client fails if two contracts match the same request and none of
// this decides between them.
type Match struct {
	// Hosts, of which the request's URL must name one, and its Host header one
	// too; with a port, or without (then any port). "*" is any host, and a * inside
	// a name stands for one or more characters of one label: "*.myshopify.com",
	// "dynamodb.*.amazonaws.com". A label may have one *, but the last two labels
	// none. Case does not matter; international names are written as xn--... A
	// request without a port counts as having its scheme's, 443 or 80.
	Hosts []string
	// Path is a prefix of the escaped URL path, by whole segments: "/v1", or
	// "/v1/", matches /v1 and /v1/charges, not /v10; a segment * stands for any
	// one segment that is not empty. Empty: any, if there are no Paths either.
	Path string
	// Paths are further paths: the request must match one of them, or Path.
	Paths []string
	// Exact: Path and Paths are whole paths, not prefixes; a slash at the end
	// then counts.
	Exact bool
	// Methods it applies to. Default POST and PATCH.
	Methods []string
	// Header, when set, names a header that the request must carry; with
	// HeaderValue, its first line must have this value; a * at its end stands for
	// any text. Case does not matter. A header that holds a credential cannot be
	// named, since the journal does not keep those.
	Header, HeaderValue string
	// Operation selects by what the body asks for, where one URL serves many
	// operations.
	Operation Operation
	// Safe marks requests that change nothing though their method may (a search
	// by POST): they pass through like a GET.
	Safe bool
	// Idempotent overrides the method's own promise (RFC 9110 section 9.2.2):
	// IdempotentNo for a PUT that moves money, IdempotentYes for a POST that
	// may be repeated as it is. A request without a key is repeated only inside the
	// call whose attempt may have taken effect.
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

// An Operation names what a request's body asks for. The zero value is any.
//
// Where all else that a contract with an Operation asks for matches, the whole
// body is read before anything else happens. One longer than Config.MaxRequestBody
// is refused with ErrBodyTooLarge, even where an unmatched request would be passed
// through, since nobody can tell whether it asks for the operation. Only a body
// whose Content-Type says that it is a form, or JSON, is read; one with a
// Content-Encoding, or a charset other than UTF-8 and ASCII, asks for no operation.
type Operation struct {
	Kind OperationKind
	// At is the form field (OperationForm) or the JSON pointer (OperationJSON)
	// that holds the name.
	At string
	// Names of the operations, any of which will do; case matters. With GraphQL
	// they are root fields of the operation that is run, or, with a leading @,
	// directives on a root field. Every root field but __typename must be named
	// here or have a directive that is, since a request is sent again as a whole.
	// Names that are all directives are more specific than others.
	Names []string
}

// OperationKind is where an operation's name stands.
type OperationKind uint8

const (
	// OperationAny: the body is not looked at.
	OperationAny OperationKind = iota
	// OperationForm: in a field of a form body that has this field once, as in
	// AWS's Query protocol.
	OperationForm
	// OperationJSON: at a pointer into a JSON body.
	OperationJSON
	// OperationGraphQL: in the query of a GraphQL body, JSON over HTTP; its
	// operationName says which of several operations is run.
	OperationGraphQL
)

// A Carrier is where the key travels in the request. The key is written there
// once, at Begin, unless the caller has put a key there: the recorded request holds
// it, and every attempt sends the recorded request. Nothing else in it changes; a
// body that cannot carry the key is refused with [ErrInvalidRequest]. What stands
// in the carrier is no part of the payload: the same action with another key in it
// is the same action, and the recorded key is sent.
//
// A key in the body, the query or the path changes what a signature covers. The
// order is: the key is written, then [Config].Authorize signs the request as it
// will be sent, then it is sent. A request that was signed before it came to the
// client, without the key or with another than the recorded one, is refused, unless
// Authorize is there to sign it anew. If it has a digest of its body in a header
// (RFC 9530), it is then refused even so, because that header is frozen. Whoever
// signs a request before the client gets it must put the key there first.
type Carrier struct {
	// Kind of the carrier. Zero: none.
	Kind CarrierKind
	// Name says where, by Kind. For a header, a form field and a query parameter it
	// is their name. For JSON it is a pointer (RFC 6901), in which one token may be
	// *, for every item of an array: each item then gets a key of its own, made of
	// the intent's. For a path it is that path with one segment {key}, where the
	// caller's URL has {key} or a key. For XML it is the path of elements.
	Name string
	// Quoted: the value of a header is a structured-field string, in double
	// quotes (RFC 9651 section 3.3.3), as the IETF draft of the header asks; most
	// deployed APIs want it raw.
	Quoted bool
}

// CarrierKind is the kind of place that a key travels in.
type CarrierKind uint8

const (
	// CarrierNone: the API takes no key.
	CarrierNone CarrierKind = iota
	// CarrierHeader: a header of its own.
	CarrierHeader
	// CarrierJSON: a string in a JSON body. The rest of the body stays as it is,
	// byte for byte.
	CarrierJSON
	// CarrierForm: a field of an application/x-www-form-urlencoded body.
	CarrierForm
	// CarrierQuery: a parameter of the URL's query. A redirect to a URL that lacks
	// it is not followed; nor is one to a URL that lacks the segment of CarrierPath.
	CarrierQuery
	// CarrierPath: a segment of the URL's path.
	CarrierPath
	// CarrierXML: an element of an XML body, by a path of local names such as
	// /CreateHostedZoneRequest/CallerReference.
	CarrierXML
)

// A Companion is a value that travels with the key. It is fixed when the first
// attempt is recorded, or at Begin where it is in the body, and is the same at
// every attempt.
type Companion struct {
	// Kind and Name are as of a [Carrier]: a header, a query parameter, a form
	// field or a JSON string.
	Kind CarrierKind
	Name string
	// Value says what is sent; with CompanionText that is Text.
	Value CompanionValue
	Text  string
}

// CompanionValue is what a companion says.
type CompanionValue uint8

const (
	// CompanionText: the text of the contract.
	CompanionText CompanionValue = iota
	// CompanionSentIMF: when the first attempt was recorded, as an HTTP date
	// (RFC 9110 section 5.6.7).
	CompanionSentIMF
	// CompanionSentMicros: the same, in microseconds since 1970.
	CompanionSentMicros
	// CompanionUntil: the end of the window, in RFC 3339. The window then counts
	// from when the first attempt was recorded; an earlier end that the caller has
	// set is kept to.
	CompanionUntil
)

// Pin is a set of the things that an API knows a key together with. A key that
// the caller has set counts as another key where a pinned host, method or path
// differs. Other credentials do not make it another key: where accounts share a
// client, and may use equal keys, set [Config].Principal.
type Pin uint8

const (
	// PinHost: keys are not shared between the API's hosts (regions).
	PinHost Pin = 1 << iota
	// PinCredential: keys are not shared between credentials. What may have taken
	// effect is not sent again with other credentials than its first attempt had:
	// it is Pending, NeedsCredentials. Nor is it looked up with others, to which the
	// API may not show it. What is compared is Basic and Bearer authorization, API
	// keys and tokens in headers and the query, and of signatures (AWS4-HMAC-SHA256
	// and the like) the id of the key. Cookies, and what a transport below this
	// client adds, are not compared. A renewed token is another credential: where
	// tokens are short-lived, leave this out.
	PinCredential
	// PinMethod and PinPath: keys are not shared between methods, or between
	// endpoints. A redirect to another path is then not followed.
	PinMethod
	PinPath
)

// Proof is how well a contract's facts are known.
type Proof uint8

const (
	// ProofDeclared: whoever wrote the contract vouches for it.
	ProofDeclared Proof = iota
	// ProofVendor: from the vendor's own text or code.
	ProofVendor
	// ProofSecondary: from somebody else's page. It protects no repeat.
	ProofSecondary
	// ProofUnknown: a guess. It protects none either.
	ProofUnknown
)
