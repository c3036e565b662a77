package contracts

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// secret stands in every bad key and body, and in no error.
const secret = "hush"

// bad is a request that its contract cannot carry.
type bad struct {
	name     string
	contract oncehttp.Contract
	// spoil a good request of the contract.
	spoil func(*http.Request)
	// want is the rule that the error names.
	want string
}

func body(media, text string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Content-Type", media)
		setBody(r, text)
	}
}

func lines(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func in(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.URL.RawQuery = url.Values{name: values}.Encode() }
}

func bads() []bad {
	const jsonType, formType, xmlType = "application/json", "application/x-www-form-urlencoded", "application/xml"
	long := func(n int) string { return secret + strings.Repeat("0", n-len(secret)) }
	item := func(fields string) string { return `{"name":"hush"` + fields + `}` }
	return []bad{
		{"no JSON", SquareTerminal, body(jsonType, `{"amount":"hush`), "JSON field /idempotency_key: the body is not JSON"},
		{"a JSON list", SquareTerminal, body(jsonType, `["hush"]`), "JSON field /idempotency_key"},
		{"no body", SquareTerminal, body(jsonType, ``), "JSON field /idempotency_key: the body is not JSON"},
		{"two texts of JSON", SquareTerminal, body(jsonType, `{"a":"hush"}{}`), "JSON field /idempotency_key: the body is not JSON"},
		{"a form where JSON is due", SquareTerminal, body(formType, "a=hush"), "the Content-Type is not that of JSON"},
		{"JSON in UTF-16", SquareTerminal, body(jsonType+"; charset=utf-16", `{"a":"hush"}`), "not in UTF-8"},
		{"compressed JSON", SquareTerminal, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, "Content-Encoding"},
		{"a key that is a number", SquareTerminal, body(jsonType, `{"idempotency_key":7,"a":"hush"}`), "is not a string"},
		{"a key twice in JSON", SquareTerminal, body(jsonType, `{"idempotency_key":"hush-1","idempotency_key":"hush-2"}`), "JSON field /idempotency_key"},
		{"no variables", ShopifyGraphQL, body(jsonType, `{"query":"mutation M { act @idempotent(key: $k) { id } } # hush"}`), `the object "variables" that it goes into is not there`},
		{"some items with a key", InngestEvents, body(jsonType, `[`+item(`,"id":"hush-1"`)+`,`+item("")+`]`), "1 of 2 items have one"},
		{"an event where a list is due", InngestEvents, body(jsonType, item("")), "JSON field /*/id"},
		{"an empty list", InngestEvents, body(jsonType, `[]`), "JSON field /*/id"},
		{"JSON where a form is due", TwilioPayments, body(jsonType, `{"a":"hush"}`), "the Content-Type is not that of a form"},
		{"a field twice", TwilioPayments, body(formType, "IdempotencyKey=hush-1&IdempotencyKey=hush-2"), "stands 2 times"},
		{"no XML", AWSRoute53, body(xmlType, `<CreateHostedZoneRequest><Name>hush`), "XML element /CreateHostedZoneRequest/CallerReference"},
		{"another root", AWSRoute53, body(xmlType, `<Other><Name>hush</Name></Other>`), "XML element /CreateHostedZoneRequest/CallerReference"},
		{"JSON where XML is due", AWSRoute53, body(jsonType, `{"a":"hush"}`), "the Content-Type is not that of XML"},
		{"a parameter twice", QuickBooks, in("requestid", "hush-1", "hush-2"), "query parameter requestid"},
		{"too long in a query", QuickBooks, in("requestid", long(51)), "the key has 51 bytes; the contract allows 1 to 50"},
		{"too long in JSON", SquarePayments, body(jsonType, `{"idempotency_key":"`+long(46)+`"}`), "the key has 46 bytes; the contract allows 1 to 45"},
		{"too long in a form", AWSEC2, body(formType, "Action=RunInstances&ClientToken="+long(65)), "the key has 65 bytes; the contract allows 1 to 64"},
		{"too long in XML", AWSRoute53, body(xmlType, `<CreateHostedZoneRequest><CallerReference>`+long(129)+`</CallerReference></CreateHostedZoneRequest>`), "the key has 129 bytes; the contract allows 1 to 128"},
		{"too long in a header", StripeV1, lines("Idempotency-Key", long(256)), "the key has 256 bytes; the contract allows 1 to 255"},
		{"too short", MangopayV2, lines("Idempotency-Key", long(15)), "the key has 15 bytes; the contract allows 16 to 36"},
		{"a hyphen where none may be", AWSACM, body(jsonType, `{"IdempotencyToken":"hush-1"}`), "the key's byte 5 is not in the contract's alphabet"},
		{"an underscore where none may be", BlueSnap, lines("Idempotency-Key", "hush_1"), "the key's byte 5 is not in the contract's alphabet"},
		{"a capital where none may be", PaystackTransfers, body(jsonType, `{"reference":"hush-Hush-Hush-Hush"}`), "the key's byte 6 is not in the contract's alphabet"},
		{"a letter beyond ASCII", StripeV1, lines("Idempotency-Key", "hushé"), "the key's byte 5 is not in the contract's alphabet"},
		{"an empty key", StripeV1, lines("Idempotency-Key", ""), "the key has 0 bytes; the contract allows 1 to 255"},
		{"two keys", StripeV1, lines("Idempotency-Key", "hush-1", "hush-2"), "header Idempotency-Key stands 2 times"},
		{"no quotes", IETFIdempotencyKey, lines("Idempotency-Key", "hush"), "not in double quotes"},
		{"quotes that nobody asked for", StripeV1, lines("Idempotency-Key", `"hush"`), "the key's byte 1 is not in the contract's alphabet"},
		{"no UUID", LithicV1, lines("Idempotency-Key", long(36)), "the key is not a UUID"},
		{"a UUID of another version", AdyenCheckout, lines("Idempotency-Key", "8f1f9a5e-1c2d-1e3f-8a4b-5c6d7e8f9a0b"), "the key is not a random UUID"},
		{"a stamp that is none", AzureRooms, lines("Repeatability-First-Sent", "hush"), "header Repeatability-First-Sent goes with the key"},
		{"two stamps", CourierV1, lines("X-Idempotency-Expiration", "hush", "hush"), "header X-Idempotency-Expiration goes with the key: it stands 2 times"},
		{"a digest of the body without its key", SquareTerminal, lines("Content-Digest", "sha-256=:aHVzaA==:"), "Content-Digest"},
	}
}

// TestBadInputIsRefusedBeforeAnythingIsSent, by every way in: nothing is sent,
// nothing is recorded, and the error names the contract and the rule, and holds
// neither key nor body.
func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for _, b := range bads() {
		t.Run(b.name+", "+b.contract.Name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, b.contract, mockserver.Config{}, func(w *world) {
				c := w.open("a", nil)
				defer c.Close()
				request := func() *http.Request {
					r := w.request("")
					b.spoil(r)
					return r
				}
				_, did := c.Do(action, request())
				_, began := c.Begin(action, request())
				_, tripped := c.RoundTrip(request())
				for way, err := range map[string]error{"Do": did, "Begin": began, "RoundTrip": tripped} {
					require.ErrorIs(w.t, err, oncehttp.ErrInvalidRequest, way)
					assert.NotErrorAs(w.t, err, new(*oncehttp.PendingError), way)
					assert.ErrorContains(w.t, err, b.contract.Name, way)
					assert.ErrorContains(w.t, err, b.want, way)
					assert.NotContains(w.t, strings.ToLower(err.Error()), secret, way)
				}
				_, err := c.Outcome(w.t.Context(), action)
				require.ErrorIs(w.t, err, oncehttp.ErrNotFound)
				for in, err := range c.Pending(w.t.Context()) {
					assert.Fail(w.t, "an intent was recorded", "%v %v", in, err)
				}
				assert.Empty(w.t, w.server.Requests())
			})
		})
	}
}

// TestABodyTooLongToBeReadIsRefused: where the operation decides, a body that
// cannot be read whole might ask for it.
func TestABodyTooLongToBeReadIsRefused(t *testing.T) {
	t.Parallel()
	inWorld(t, AWSEC2, mockserver.Config{}, func(w *world) {
		c := w.open("a", func(cfg *oncehttp.Config) { cfg.MaxRequestBody = 8 })
		defer c.Close()
		_, err := c.Do(action, w.request(""))
		require.ErrorIs(w.t, err, oncehttp.ErrBodyTooLarge)
		assert.Empty(w.t, w.server.Requests())
	})
}

// TestAnImpossibleRuleIsRefusedWhenTheClientIsOpened: each is a contract of the
// package with one field spoilt. No client, no journal, and an error that names
// the contract and the field.
func TestAnImpossibleRuleIsRefusedWhenTheClientIsOpened(t *testing.T) {
	t.Parallel()
	for _, b := range []struct {
		name     string
		contract oncehttp.Contract
		spoil    func(*oncehttp.Contract)
		want     string
	}{
		{"a minted key too long", AWSACM, func(c *oncehttp.Contract) { c.Key.Form = oncehttp.FormUUID }, "a key made by Key.Form has 36 bytes and Key allows 1 to 32"},
		{"a minted key outside the alphabet", BlueSnap, func(c *oncehttp.Contract) { c.Key.Alphabet = "0123456789-" }, "Key.Alphabet lacks 'a'"},
		{"least above most", MangopayV2, func(c *oncehttp.Contract) { c.Key.Min = 37 }, "Key.Min is 37 and Key.Max 36"},
		{"an alphabet with a comma", TelnyxV2, func(c *oncehttp.Contract) { c.Key.Alphabet += "," }, `Key.Alphabet has the byte ","`},
		{"random and derived", CircleMint, func(c *oncehttp.Contract) { c.Key.Form = oncehttp.FormDerived }, "Key.UUID asks for a random UUID"},
		{"no room for the number of an item", InngestEvents, func(c *oncehttp.Contract) { c.Key.Max = 36 }, "Key.Max leaves no room for the number of an item"},
		{"a header that HTTP owns", StripeV1, func(c *oncehttp.Contract) { c.Carrier.Name = "Content-Length" }, "Carrier.Name is Content-Length"},
		{"a pointer that is none", SquarePayments, func(c *oncehttp.Contract) { c.Carrier.Name = "idempotency_key" }, `Carrier.Name "idempotency_key"`},
		{"quotes outside a header", QuickBooks, func(c *oncehttp.Contract) { c.Carrier.Quoted = true }, "Carrier.Quoted"},
		{"a path without a key", MarqetaUsers, func(c *oncehttp.Contract) {
			c.Carrier = oncehttp.Carrier{Kind: oncehttp.CarrierPath, Name: "/v3/users"}
		}, "is not a path with a segment {key}"},
		{"no window", Klarna, func(c *oncehttp.Contract) { c.Window.Length = 0 }, "Window.Length is zero"},
		{"a window that runs back", Klarna, func(c *oncehttp.Contract) { c.Window.Length = -time.Hour }, "Window.Length is -1h0m0s"},
		{"for ever, and a day", MoovTransfers, func(c *oncehttp.Contract) { c.Window.Length = day }, "Window.Kind says that there is none"},
		{"a stamp that nothing tells", AzureRooms, func(c *oncehttp.Contract) { c.Companions = nil }, "Window.Anchor is AnchorStamp and no companion tells a time"},
		{"a rule for every answer", ZuoraREST, func(c *oncehttp.Contract) {
			c.Answers = []oncehttp.Answer{{Verdict: oncehttp.VerdictDone}}
		}, "Answers[0] matches every answer"},
		{"places without codes", ZuoraREST, func(c *oncehttp.Contract) {
			c.Answers = []oncehttp.Answer{{Status: []int{409}, At: []string{"/code"}}}
		}, "Answers[0].At is set without Codes"},
		{"an error for a success that no rule knows", GoCardlessPro, func(c *oncehttp.Contract) { c.Answers = nil }, "Stored.Repeat is RepeatError and no rule of Answers has VerdictDone"},
		{"an interim answer that settles", Interchecks, func(c *oncehttp.Contract) {
			c.Answers = []oncehttp.Answer{{Status: []int{102}, Verdict: oncehttp.VerdictDone}}
		}, "Answers[0].Status has an interim status (1xx)"},
		{"a status that is none", ZuoraREST, func(c *oncehttp.Contract) { c.Stored.Except = []int{42} }, "Stored.Except has 42"},
		{"a credential compared", Whop, func(c *oncehttp.Contract) { c.Compared.Headers = []string{"Authorization"} }, "looks like a credential"},
		{"the whole body excepted", GoogleBigQueryQueries, func(c *oncehttp.Contract) { c.Compared.Except = []string{""} }, "Compared.Except[0] names the whole body"},
		{"an echo of no key", OpenAIV1, func(c *oncehttp.Contract) {
			c.Replay = oncehttp.Marker{Headers: []string{"X-Key"}, Echo: true}
		}, "Replay.Echo is set and Carrier is not"},
		{"a wait that runs back", CheckoutPayments, func(c *oncehttp.Contract) { c.Hints.Least = -1 }, "Hints.Least is -1ns"},
		{"absence of what is no yes or no", AWSEFS, func(c *oncehttp.Contract) {
			c.Hints.Headers = []oncehttp.Hint{{Header: "X-Amz-Retry-After", Kind: oncehttp.HintMillis, AbsentNo: true}}
		}, "Hints.Headers[0].AbsentNo is set"},
		{"safe, and not to be repeated", QuickBooksQuery, func(c *oncehttp.Contract) { c.Match.Idempotent = oncehttp.IdempotentNo }, "Match.Safe and IdempotentNo contradict each other"},
		{"a host that is none", StripeV1, func(c *oncehttp.Contract) { c.Match.Hosts = []string{"https://api.stripe.com"} }, "Match.Hosts[0]"},
		{"a day that is none", StripeV1, func(c *oncehttp.Contract) { c.AsOf = "October" }, `AsOf is "October"`},
	} {
		t.Run(b.name+", "+b.contract.Name, func(t *testing.T) {
			t.Parallel()
			c := b.contract
			if len(c.Match.Hosts) == 0 {
				c = On(c, "api.example.com")
			}
			b.spoil(&c)
			path := filepath.Join(t.TempDir(), "intents.db")
			client, err := oncehttp.Open(path, oncehttp.Config{Contracts: []oncehttp.Contract{c}})
			require.Nil(t, client)
			require.ErrorContains(t, err, `contract "`+c.Name+`"`)
			assert.ErrorContains(t, err, b.want)
			assert.NoFileExists(t, path)
		})
	}
}

// TestTwoContractsForOneRequestAreRefusedWhenTheClientIsOpened: which of them
// applied would be chance.
func TestTwoContractsForOneRequestAreRefusedWhenTheClientIsOpened(t *testing.T) {
	t.Parallel()
	twin := StripeV1
	twin.Name = "stripe-twin"
	client, err := oncehttp.Open(filepath.Join(t.TempDir(), "intents.db"), oncehttp.Config{Contracts: []oncehttp.Contract{StripeV1, twin}})
	require.Nil(t, client)
	require.ErrorContains(t, err, "stripe-v1")
	require.ErrorContains(t, err, "stripe-twin")
}
