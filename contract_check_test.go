package oncehttp

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAWrongContractIsRefusedWithItsNameItsFieldAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want   string
		change func(c *Contract)
	}{
		{"Name has control characters", func(c *Contract) { c.Name = "a\nb" }},
		{`Match.Hosts is empty; name a host`, func(c *Contract) { c.Match.Hosts = nil }},
		{`Match.Hosts[0] "" is empty`, func(c *Contract) { c.Match.Hosts = hostList("") }},
		{`Match.Hosts[0] ":443" is empty`, func(c *Contract) { c.Match.Hosts = hostList(":443") }},
		{`Match.Hosts[1] "https://a.test" is not a host`, func(c *Contract) { c.Match.Hosts = hostList("a.test", "https://a.test") }},
		{"is not a host", func(c *Contract) { c.Match.Hosts = hostList("a.test/v1") }},
		{"has a * in its last two labels", func(c *Contract) { c.Match.Hosts = hostList("*.test") }},
		{"is not a host", func(c *Contract) { c.Match.Hosts = hostList("user@a.test") }},
		{"is not a host", func(c *Contract) { c.Match.Hosts = hostList("[a.test") }},
		{"is not a host", func(c *Contract) { c.Match.Hosts = hostList("a:b:80") }},
		{"is not a host", func(c *Contract) { c.Match.Hosts = hostList("*:80") }},
		{"is not ASCII; write a host", func(c *Contract) { c.Match.Hosts = hostList("bücher.test") }},
		{"has no valid port", func(c *Contract) { c.Match.Hosts = hostList("a.test:0") }},
		{"has no valid port", func(c *Contract) { c.Match.Hosts = hostList("a.test:65536") }},
		{"has no valid port", func(c *Contract) { c.Match.Hosts = hostList("a.test:http") }},
		{"has no valid port", func(c *Contract) { c.Match.Hosts = hostList("a.test:080") }},
		{`Match.Path "v1" is not an escaped URL path; start it with "/"`, func(c *Contract) { c.Match.Path = "v1" }},
		{"Match.Path", func(c *Contract) { c.Match.Path = "/v1?a=b" }},
		{"Match.Path", func(c *Contract) { c.Match.Path = "/v1#a" }},
		{"Match.Path", func(c *Contract) { c.Match.Path = "/v 1" }},
		{"Match.Path", func(c *Contract) { c.Match.Path = "/v%zz" }},
		{`Match.Methods[0] "post" is not a method; write it in upper case`, func(c *Contract) { c.Match.Methods = []string{"post"} }},
		{`Match.Methods[0] "" is not a method`, func(c *Contract) { c.Match.Methods = []string{""} }},
		{`Match.Methods[1] "PO ST" is not a method`, func(c *Contract) { c.Match.Methods = []string{"POST", "PO ST"} }},
		{"Match.Methods[0] is CONNECT", func(c *Contract) { c.Match.Methods = []string{"CONNECT"} }},
		{`Match.Header "X A" is not a header name`, func(c *Contract) { c.Match.Header = "X A" }},
		{"Match.HeaderValue is set without Header", func(c *Contract) { c.Match.HeaderValue = "v" }},
		{"Match.HeaderValue has control characters", func(c *Contract) { c.Match.Header, c.Match.HeaderValue = "X", "a\r\nb" }},
		{"Match.Header is Host; use Match.Hosts", func(c *Contract) { c.Match.Header = "host" }},
		{"Match.Idempotent is 3", func(c *Contract) { c.Match.Idempotent = IdempotentNo + 1 }},
		{"Match.Safe and IdempotentNo", func(c *Contract) { c.Match.Safe, c.Match.Idempotent = true, IdempotentNo }},
		{"Carrier.Kind is 7", func(c *Contract) { c.Carrier.Kind = CarrierXML + 1 }},
		{`Carrier.Name "" is not a header name`, func(c *Contract) { c.Carrier.Name = "" }},
		{`Carrier.Name "Idempotency Key" is not a header name`, func(c *Contract) { c.Carrier.Name = "Idempotency Key" }},
		{"Carrier.Name is set without a Kind", func(c *Contract) { c.Carrier.Kind = CarrierNone }},
		{"Carrier.Name is content-length, which has a meaning of its own", func(c *Contract) { c.Carrier.Name = "content-length" }},
		{"is not a path of elements", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierXML, Name: "/Request"} }},
		{"is not a path of elements", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierXML, Name: "/Request//Id"} }},
		{"is not a path of elements", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierXML, Name: "/Request/@id"} }},
		{"is not a path of elements", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierXML, Name: "/*/Id"} }},
		{"is not a path of elements", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierXML, Name: "/Request/r:Id"} }},
		{"is not a path of elements", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierXML, Name: "/Request/Id a"} }},
		{"is not a path with a segment {key}", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierPath, Name: "/v1/{key}s"} }},
		{"names no field", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierJSON} }},
		{"is not a JSON pointer", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierJSON, Name: "id"} }},
		{"Carrier.Name is empty; name the field", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierQuery} }},
		{"has a * that is not above a field", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierJSON, Name: "/ids/*"} }},
		{"has more than one *", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierJSON, Name: "/a/*/b/*/c"} }},
		{"Key.Max leaves no room for", func(c *Contract) { c.Carrier = Carrier{Kind: CarrierJSON, Name: "/a/*/c"}; c.Key.Max = 37 }},
		{"Lookups[0].URL has {key} and Carrier.Name a *", func(c *Contract) {
			c.Carrier = Carrier{Kind: CarrierJSON, Name: "/a/*/c"}
			c.Lookups = []Lookup{{URL: "/a/{key}"}}
		}},
		{"Lookups[0].Where is set, Carrier.Name has a * and Plant is not set", func(c *Contract) {
			c.Carrier = Carrier{Kind: CarrierJSON, Name: "/a/*/c"}
			c.Lookups = []Lookup{{URL: "/a", Items: "/data", Where: "/c"}}
		}},
		{"Key.Alphabet lacks '-'", func(c *Contract) {
			c.Carrier = Carrier{Kind: CarrierJSON, Name: "/a/*/c"}
			c.Key = KeyRule{Form: FormHex, Alphabet: "0123456789abcdef"}
		}},
		{"Key.UUID and Carrier.Name with a * agree only as UUIDAny and FormUUID", func(c *Contract) {
			c.Carrier = Carrier{Kind: CarrierJSON, Name: "/a/*/c"}
			c.Key.UUID = UUIDRandom
		}},
		{"Key.UUID asks for a UUID and Key.Form makes none", func(c *Contract) { c.Key.UUID, c.Key.Form = UUIDAny, FormLong }},
		{"Key.UUID asks for a random UUID and Key.Form makes none", func(c *Contract) { c.Key.UUID, c.Key.Form = UUIDRandom, FormDerived }},
		{"has a *; a companion stands once", func(c *Contract) { c.Companions = []Companion{{Kind: CarrierJSON, Name: "/a/*/b", Text: "x"}} }},
		{"is where the key is", func(c *Contract) {
			c.Companions = []Companion{{Kind: c.Carrier.Kind, Name: c.Carrier.Name, Text: "x"}}
		}},
		{"is where the key is", func(c *Contract) {
			c.Companions = []Companion{{Kind: CarrierHeader, Name: strings.ToUpper(c.Carrier.Name), Text: "x"}}
		}},
		{"Companions[0].Text is not UTF-8", func(c *Contract) {
			c.Companions = []Companion{{Kind: CarrierHeader, Name: "X-A", Text: "\xff"}}
		}},
		{"is where another companion is", func(c *Contract) {
			c.Companions = []Companion{{Kind: CarrierHeader, Name: "X-A", Text: "x"}, {Kind: CarrierHeader, Name: "x-a", Text: "y"}}
		}},
		{"Plant is where a companion is", func(c *Contract) {
			c.Companions = []Companion{{Kind: CarrierJSON, Name: "/a", Text: "x"}}
			c.Plant = Plant{Kind: CarrierJSON, Name: "/a"}
		}},
		{"Key.Min is -1", func(c *Contract) { c.Key.Min = -1 }},
		{"Key.Max is -1", func(c *Contract) { c.Key.Max = -1 }},
		{"Key.Min is 40 and Key.Max 39", func(c *Contract) { c.Key.Min, c.Key.Max = 40, 39 }},
		{"Key.Min is 256 and Key.Max 0 (zero means 1 and 255)", func(c *Contract) { c.Key.Min = 256 }},
		{"Key.Form is 4", func(c *Contract) { c.Key.Form = FormLong + 1 }},
		{"Key.Alphabet has the byte \",\"", func(c *Contract) { c.Key.Alphabet = "0123456789abcdef-," }},
		{`Key.Alphabet has the byte "\n"`, func(c *Contract) { c.Key.Alphabet = "0123456789abcdef-\n" }},
		{`Key.Alphabet has the byte "\xc3"`, func(c *Contract) { c.Key.Alphabet = "0123456789abcdef-é" }},
		{"Key.Alphabet lacks '-'", func(c *Contract) { c.Key.Alphabet = "0123456789abcdef" }},
		{"Key.Alphabet lacks '2'", func(c *Contract) { c.Key.Alphabet, c.Key.Form = "01", FormHex }},
		{"a key made by Key.Form has 36 bytes and Key allows 1 to 32", func(c *Contract) { c.Key.Max = 32 }},
		{"a key made by Key.Form has 32 bytes and Key allows 33 to 255", func(c *Contract) { c.Key.Min, c.Key.Form = 33, FormHex }},
		{"Window.Length is -1s; it cannot be negative", func(c *Contract) { c.Window.Length = -time.Second }},
		{"Window.Length is zero; say how long", func(c *Contract) { c.Window.Length = 0 }},
		{"Window.Length is 1h0m0s and Window.Kind says that there is none", func(c *Contract) { c.Window.Kind = WindowForever }},
		{"Window.Length is 1h0m0s and Window.Kind says that there is none", func(c *Contract) { c.Window.Kind = WindowUnknown }},
		{"Window.Kind is 5", func(c *Contract) { c.Window.Kind = WindowAccount + 1 }},
		{`Origin.Headers[0] "" is not a header name`, func(c *Contract) { c.Origin.Headers = []string{""} }},
		{"Replay.Values is set and nothing says where", func(c *Contract) { c.Replay = Marker{Values: []string{"true"}} }},
		{`Ignored.At[1] "a" is not a JSON pointer (RFC 6901): it does not start with "/"`, func(c *Contract) { c.Ignored.At = []string{"/a", "a"} }},
		{`Origin.At[0] names the whole body`, func(c *Contract) { c.Origin.At = []string{""} }},
		{`Answers[1].At[0] "/a~2" is not a JSON pointer (RFC 6901): it has a "~"`, func(c *Contract) {
			c.Answers = []Answer{{Status: []int{409}}, {At: []string{"/a~2"}, Codes: []string{"x"}}}
		}},
		{"Answers[0] matches every answer", func(c *Contract) { c.Answers = []Answer{{Verdict: VerdictDone}} }},
		{"Answers[0].Status has 99", func(c *Contract) { c.Answers = []Answer{{Status: []int{200, 99}}} }},
		{"Answers[0].Status has 1000", func(c *Contract) { c.Answers = []Answer{{Status: []int{1000}}} }},
		{`Answers[0].Header "é" is not a header name`, func(c *Contract) { c.Answers = []Answer{{Header: "é"}} }},
		{"Answers[0].HeaderValue is set without Header", func(c *Contract) { c.Answers = []Answer{{Status: []int{409}, HeaderValue: "x"}} }},
		{"Answers[0].At is set without Codes", func(c *Contract) { c.Answers = []Answer{{Status: []int{409}, At: []string{"/code"}}} }},
		{`Answers[0].Codes[0] "" is empty`, func(c *Contract) { c.Answers = []Answer{{Codes: []string{""}}} }},
		{`Answers[0].Codes[0] "x " has white space around it`, func(c *Contract) { c.Answers = []Answer{{Codes: []string{"x "}}} }},
		{`Answers[0].Codes[0] "a*b" is empty or has a * inside`, func(c *Contract) { c.Answers = []Answer{{Codes: []string{"a*b"}}} }},
		{"Answers[0].Verdict is 10", func(c *Contract) { c.Answers = []Answer{{Status: []int{409}, Verdict: VerdictKeysDown + 1}} }},
		{"Answers[0].Reference is set and the verdict is not VerdictDone", func(c *Contract) { c.Answers = []Answer{{Status: []int{409}, Reference: "/id"}} }},
		{`Answers[0].Reference "id" is not a JSON pointer`, func(c *Contract) {
			c.Answers = []Answer{{Status: []int{409}, Reference: "id", Verdict: VerdictDone}}
		}},
		{"Stored.Settle is -1ns", func(c *Contract) { c.Stored.Settle = -1 }},
		{"Proof is 4", func(c *Contract) { c.Proof = ProofUnknown + 1 }},
		{`AsOf is "2026-13-01"; write the day as 2006-01-02`, func(c *Contract) { c.AsOf = "2026-13-01" }},
		{`AsOf is "May 2026"`, func(c *Contract) { c.AsOf = "May 2026" }},
	} {
		good, bad := IdempotencyKey("good.test", time.Hour), IdempotencyKey("bad.test", time.Hour)
		bad.Name = "bad"
		tt.change(&bad)
		set, err := newContractSet([]Contract{good, bad})
		require.ErrorContains(t, err, tt.want, tt.want)
		assert.Nil(t, set)
		assert.ErrorContains(t, err, "#1")
		assert.Equal(t, 1, strings.Count(err.Error(), "\n")+1, "one problem, one line: %v", err)
	}
}

func TestEveryProblemOfEveryContractIsTold(t *testing.T) {
	t.Parallel()
	_, err := newContractSet([]Contract{
		IdempotencyKey("", 0),
		IdempotencyKey("good.test", time.Hour),
		{Name: "third", Match: Match{Hosts: hostList("a.test"), Path: "x"}, Key: KeyRule{Min: -1, Max: -1}},
	})
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 5)
	for _, want := range []string{
		"oncehttp: contract #0: Match.Hosts[0]", "oncehttp: contract #0: Window.Length",
		`contract "third" (#2): Match.Path`, `contract "third" (#2): Key.Min`, `contract "third" (#2): Key.Max`,
	} {
		assert.ErrorContains(t, err, want)
	}
}

func TestContractsOfManyShapesAreAccepted(t *testing.T) {
	t.Parallel()
	set, err := newContractSet([]Contract{
		{Match: Match{Hosts: hostList("bare.test")}},
		{Match: Match{Hosts: hostList("127.0.0.1:4711", "::1", "[fe80::1%eth0]:80", "localhost", "under_score.test", "xn--bcher-kva.test")}},
		{Match: Match{Hosts: hostList("safe.test"), Path: "/a%2Fb/c;d=e/~!$&'()+,=:@", Safe: true, Idempotent: IdempotentYes, Methods: []string{"POST", "M-SEARCH"}}},
		{Match: Match{Hosts: hostList("quoted.test")}, Carrier: Carrier{Kind: CarrierHeader, Name: "Idempotency-Key", Quoted: true}, Window: Window{Kind: WindowForever}},
		{Match: Match{Hosts: hostList("hex.test")}, Carrier: Carrier{Kind: CarrierHeader, Name: "x_key"}, Key: KeyRule{Min: 32, Max: 32, Alphabet: "fedcba9876543210", Form: FormHex}, Window: Window{Kind: WindowUnknown}},
		{
			Match: Match{Hosts: hostList("full.test")}, Origin: Marker{Headers: []string{"Request-Id"}}, Replay: Marker{At: []string{"/meta/replayed"}, Values: []string{"true"}},
			Answers: []Answer{{Status: []int{200, 999}, Codes: []string{"*", "a*", "*b", "*c*"}, At: []string{"", "/a~0~1/0"}, Verdict: VerdictDone, Reference: "/id"}},
			Stored:  Stored{Refusals: true, Settle: time.Minute}, Proof: ProofUnknown, AsOf: "2026-11-29",
		},
	})
	require.NoError(t, err)
	require.NotNil(t, set)
}
