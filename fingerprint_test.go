package oncehttp

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func jsonPayload(body string) payload {
	return payload{
		Method: "POST",
		URL:    "https://api.example.com/v1/charges",
		Host:   "api.example.com",
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   []byte(body),
	}
}

// requireVerdict checks the fingerprint and the list of differences against
// what is expected, and against each other.
func requireVerdict(t *testing.T, a, b payload, id identity, differs ...string) {
	t.Helper()
	assert.Equal(t, len(differs) == 0, fingerprint(a, id) == fingerprint(b, id), "equal fingerprints")
	assert.Equal(t, differs, differences(a, b, id))
	assert.Equal(t, differs, differences(b, a, id), "the other way round")
}

func TestJSONBodiesAreComparedByWhatTheySay(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	deepObject := func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	for _, c := range []struct {
		name, a, b string
		differs    []string
	}{
		{"key order and white space", `{"a":1,"b":{"x":1,"y":2}}`, "{ \"b\": {\"y\":2,\"x\":1}, \"a\":1 }\n", nil},
		{"a float that is whole", `{"n":1}`, `{"n":1.0}`, nil},
		{"an exponent", `{"n":100}`, `{"n":1e2}`, nil},
		{"a negative exponent", `[1]`, `[10e-1]`, nil},
		{"an exponent of nothing", `[1]`, `[1E+00]`, nil},
		{"a small number", `[0.0015]`, `[15e-4]`, nil},
		{"minus zero", `[-0]`, `[0.000e7]`, nil},
		{"zero times anything", `[0]`, `[0e99999999999999999999999999]`, nil},
		{"leading zeros of an exponent", `[1e5]`, `[1e0000000000000000000000000005]`, nil},
		{"huge exponents", `[1e999999999]`, `[10e999999998]`, nil},
		{"jsonEscapes", `["\u0041\/é\n"]`, `["A/\u00e9\u000A"]`, nil},
		{"escaped keys", `{"\u0061":1}`, `{"a":1}`, nil},
		{"surrogate pairs", `["\uD83D\ude00"]`, `["😀"]`, nil},
		{"empty containers", `{"a":[],"b":{}}`, `{"b":{ },"a":[ ]}`, nil},

		{"order of an array", `[1,2]`, `[2,1]`, []string{"/0", "/1"}},
		{"a string and a number", `{"n":"1"}`, `{"n":1}`, []string{"/n"}},
		{"null and absent", `{"n":null}`, `{}`, []string{"/n"}},
		{"null and false", `[null]`, `[false]`, []string{"/0"}},
		{"null and a word", `[null]`, `["n"]`, []string{"/0"}},
		{"an empty array and an empty object", `[[]]`, `[{}]`, []string{"/0"}},
		{"case of a key", `{"amount":1,"Amount":2}`, `{"amount":2,"Amount":1}`, []string{"/Amount", "/amount"}},
		{"numbers that are one float64", `[9007199254740993]`, `[9007199254740992]`, []string{"/0"}},
		{"numbers beyond any float64", `[1e400]`, `[1e401]`, []string{"/0"}},
		{"signs", `[1]`, `[-1]`, []string{"/0"}},
		{"forms of é", `["é"]`, "[\"e\u0301\"]", []string{"/0"}},
		{"values that run together", `["ab","c"]`, `["a","bc"]`, []string{"/0", "/1"}},
		{"keys and values that run together", `{"ab":"c"}`, `{"a":"bc"}`, []string{"/a", "/ab"}},
		{"nesting", `[[1],2]`, `[[1,2]]`, []string{"/0/1", "/1"}},
		{"escaped pointers", `{"a/b":{"m~n":1}}`, `{"a/b":{"m~n":2}}`, []string{"/a~1b/m~0n"}},
		{"the whole value", `1`, `2`, []string{"body"}},
		{"the whole kind", `[]`, `{}`, []string{"body"}},

		{"a key twice", `{"amount":1,"amount":100}`, `{"amount":100}`, []string{"body"}},
		{"a key twice, other order", `{"amount":1,"amount":100}`, `{"amount":100,"amount":1}`, []string{"body"}},
		{"a key twice, white space", `{"a":1,"a":1}`, `{"a":1, "a":1}`, []string{"body"}},
		{"a key twice by escape", `{"a":1,"\u0061":1}`, `{"\u0061":1,"a":1}`, []string{"body"}},
		{"a key twice, deep inside", `[{"x":{"a":1,"b":2,"a":1}}]`, `[{"x":{"a":1,"b":2,"a":1} }]`, []string{"body"}},
		{"a surrogate alone", `["\ud800"]`, `["\uD800"]`, []string{"body"}},
		{"surrogates reversed", `["\ude00\ud83d"]`, `[ "\ude00\ud83d"]`, []string{"body"}},
		{"a surrogate and a letter", `["\ud83d\u0041"]`, `[ "\ud83d\u0041"]`, []string{"body"}},
		{"invalid UTF-8", "[\"\xff\"]", "[ \"\xff\"]", []string{"body"}},
		{"invalid UTF-8 and its replacement", "[\"\xff\"]", "[\"\ufffd\"]", []string{"body"}},
		{"bytes after the value", `{}x`, `{ }x`, []string{"body"}},
		{"two values", `1 2`, `1  2`, []string{"body"}},
		{"a byte order mark", "\ufeff{}", "{}", []string{"body"}},
		{"not JSON", `{a:1}`, `{a: 1}`, []string{"body"}},
		{"nothing and white space", ``, ` `, []string{"body"}},
		{"too deep", deep(maxJSONDepth + 1), deep(maxJSONDepth+1) + " ", []string{"body"}},
		{"objects too deep", deepObject(maxJSONDepth + 1), deepObject(maxJSONDepth+1) + " ", []string{"body"}},
		{"objects as deep as may be", deepObject(maxJSONDepth), deepObject(maxJSONDepth) + " ", nil},
		{"as deep as may be", deep(maxJSONDepth), deep(maxJSONDepth) + " ", nil},
		{"an exponent beyond telling", `[1e1000000000000000000]`, `[10e999999999999999999]`, []string{"body"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireVerdict(t, jsonPayload(c.a), jsonPayload(c.b), identity{}, c.differs...)
			requireVerdict(t, jsonPayload(c.a), jsonPayload(c.a), identity{})
			requireVerdict(t, jsonPayload(c.b), jsonPayload(c.b), identity{})
		})
	}
}

func TestABodyThatIsNotJSONIsItsBytes(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`{`, `}`, `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{a:1}`, `{"a":1 "b":2}`, `{1:2}`,
		`01`, `+1`, `.5`, `1.`, `1.e1`, `1e`, `1e+`, `-`, `--1`, `0x1`, `NaN`, `Infinity`, `nul`, `nulll`, `TRUE`,
		`"`, `"\"`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "\"\x00\"", `'a'`, `"a`, `[`, `["a"`, "\v1", "1\x00", `//`, `"\u00ag"`,
	} {
		_, ok := canonicalJSON([]byte(bad), nil)
		assert.False(t, ok, "%q", bad)
	}
}

func TestMethodURLAndHostArePartOfThePayload(t *testing.T) {
	t.Parallel()
	base := jsonPayload(`{}`)
	for _, c := range []struct {
		name    string
		change  func(*payload)
		differs []string
	}{
		{"method", func(p *payload) { p.Method = "PUT" }, []string{"method"}},
		{"case of the method", func(p *payload) { p.Method = "post" }, []string{"method"}},
		{"path", func(p *payload) { p.URL = "https://api.example.com/v1/refunds" }, []string{"url"}},
		{"case of the path", func(p *payload) { p.URL = "https://api.example.com/V1/charges" }, []string{"url"}},
		{"a slash at the end", func(p *payload) { p.URL += "/" }, []string{"url"}},
		{"an escape in the path", func(p *payload) { p.URL = "https://api.example.com/v1/%63harges" }, []string{"url"}},
		{"query", func(p *payload) { p.URL += "?dry_run=1" }, []string{"url"}},
		{"scheme", func(p *payload) { p.URL = "http://api.example.com/v1/charges" }, []string{"url"}},
		{"host", func(p *payload) { p.URL, p.Host = "https://api.example.org/v1/charges", "api.example.org" }, []string{"host", "url"}},
		{"port", func(p *payload) { p.URL = "https://api.example.com:8443/v1/charges" }, []string{"url"}},
		{"another scheme's default port", func(p *payload) { p.URL = "https://api.example.com:80/v1/charges" }, []string{"url"}},
		{"effective host", func(p *payload) { p.Host = "tenant.example.com" }, []string{"host"}},
		{"no URL at all", func(p *payload) { p.URL = "https://api.example.com/%zz" }, []string{"url"}},

		{"case of scheme and host", func(p *payload) { p.URL, p.Host = "HTTPS://API.Example.COM/v1/charges", "Api.Example.Com" }, nil},
		{"default port", func(p *payload) { p.URL, p.Host = "https://api.example.com:443/v1/charges", "api.example.com:443" }, nil},
		{"empty port", func(p *payload) { p.URL = "https://api.example.com:/v1/charges" }, nil},
		{"host left to the URL", func(p *payload) { p.Host = "" }, nil},
		{"fragment", func(p *payload) { p.URL += "#top" }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			changed := base
			c.change(&changed)
			requireVerdict(t, base, changed, identity{}, c.differs...)
		})
	}

	dry := func(v string) payload { p := base; p.URL += "?dry_run=" + v; return p }
	requireVerdict(t, dry("1"), dry("0"), identity{}, "url")
	root, slash := base, base
	root.URL, slash.URL = "https://api.example.com?a=1", "https://api.example.com/?a=1"
	requireVerdict(t, root, slash, identity{})
	get, empty := base, base
	get.Method, empty.Method = "GET", ""
	requireVerdict(t, get, empty, identity{})
}

func TestContentTypesAreComparedByWhatTheyMean(t *testing.T) {
	t.Parallel()
	of := func(contentType, body string) payload {
		p := jsonPayload(body)
		p.Header = http.Header{"Content-Type": {contentType}}
		return p
	}
	for _, same := range []string{
		"application/json; charset=utf-8", "Application/JSON;charset=UTF-8", `application/json ; charset="Utf-8"`, "application/json;",
	} {
		requireVerdict(t, of("application/json", `{"a":1,"b":2}`), of(same, `{"b":2,"a":1}`), identity{})
		requireVerdict(t, of("application/json", `{"a":`), of(same, `{"a":`), identity{})
	}
	for _, structured := range []string{
		"text/json", "application/vnd.api+json", "application/problem+json; profile=x",
		"application/x-amz-json-1.0", "application/x-amz-json-1.1",
	} {
		requireVerdict(t, of(structured, `{"a":1,"b":2}`), of(structured, `{"b":2,"a":1}`), identity{})
		requireVerdict(t, of("application/json", `{}`), of(structured, `{}`), identity{}, "content-type")
	}
	for _, bytewise := range []string{
		"", "text/plain", "application/x-ndjson", "application/jsonx", "application/x-amz-json", "application/json; charset=iso-8859-1",
		"application/json; charset", "application/json, text/plain",
	} {
		requireVerdict(t, of(bytewise, `{"a":1}`), of(bytewise, `{"a": 1}`), identity{}, "body")
		requireVerdict(t, of(bytewise, `{"a":1}`), of(bytewise, `{"a":1}`), identity{})
	}
	requireVerdict(t, of("text/plain", "x"), of("text/plain; charset=utf-8", "x"), identity{}, "content-type")
	requireVerdict(t, of("text/plain; charset=UTF-8; format=flowed", "x"), of("text/plain;format=flowed;charset=utf-8", "x"), identity{})
	requireVerdict(t, of("application/json; v=1", `{}`), of("application/json; v=2", `{}`), identity{}, "content-type")
	requireVerdict(t, of("text/plain", `{}`), of("application/json", `{}`), identity{}, "body", "content-type")

	lower := of("", `{ }`)
	lower.Header = http.Header{"content-type": {"application/json"}}
	requireVerdict(t, of("application/json", `{}`), lower, identity{})
	none := of("", "x")
	none.Header = nil
	requireVerdict(t, of("", "x"), none, identity{})
}

func TestNoBodyIsNilOrEmpty(t *testing.T) {
	t.Parallel()
	read, err := io.ReadAll(http.NoBody)
	require.NoError(t, err)
	for _, contentType := range []string{"", "application/json", "text/plain", "multipart/form-data; boundary=x"} {
		none := payload{Method: "POST", URL: "https://h/", Header: http.Header{"Content-Type": {contentType}}}
		empty, noBody := none, none
		empty.Body, noBody.Body = []byte{}, read
		requireVerdict(t, none, empty, identity{})
		requireVerdict(t, none, noBody, identity{})
	}
}

func TestOnlySignificantHeadersArePartOfThePayload(t *testing.T) {
	t.Parallel()
	with := func(name string, values ...string) payload {
		p := jsonPayload(`{}`)
		p.Header = p.Header.Clone()
		p.Header[name] = values
		return p
	}
	id := identity{significant: []string{"x-tenant", "X-Region"}}
	requireVerdict(t, with("X-Tenant", "a"), with("X-Tenant", "b"), id, "header X-Tenant")
	requireVerdict(t, with("X-Tenant", "a"), with("X-Tenant", "b"), identity{})
	requireVerdict(t, with("X-Tenant", "a"), jsonPayload(`{}`), id, "header X-Tenant")
	requireVerdict(t, with("X-Tenant", ""), jsonPayload(`{}`), id, "header X-Tenant")
	requireVerdict(t, with("X-Tenant", "a", "b"), with("X-Tenant", "b", "a"), id, "header X-Tenant")
	requireVerdict(t, with("X-Tenant", "a"), with("X-Region", "a"), id, "header X-Region", "header X-Tenant")
	requireVerdict(t, with("X-Tenant", "a"), with("x-tenant", " a "), id)
	assert.Equal(t, fingerprint(jsonPayload(`{}`), identity{}), fingerprint(jsonPayload(`{}`), id),
		"naming an absent header must not change a recorded fingerprint")
}

func TestIgnoredFieldsAreOutsideThePayload(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, a, b string
		ignore     []string
		differs    []string
	}{
		{"strict", `{"amount":500,"attemptId":"a","ts":1}`, `{"amount":500,"attemptId":"b","ts":2}`, nil, []string{"/attemptId", "/ts"}},
		{"ignored", `{"amount":500,"attemptId":"a","ts":1}`, `{"amount":500,"attemptId":"b","ts":2}`, []string{"/attemptId", "/ts"}, nil},
		{"ignored is absent", `{"amount":500,"ts":1}`, `{"amount":500}`, []string{"/ts"}, nil},
		{"the rest still counts", `{"amount":500,"ts":1}`, `{"amount":501,"ts":2}`, []string{"/ts"}, []string{"/amount"}},
		{"deep", `{"meta":{"ts":1,"v":[1]}}`, `{"meta":{"ts":[{}],"v":[1]}}`, []string{"/meta/ts"}, nil},
		{"the parent counts", `{"meta":{"ts":1}}`, `{}`, []string{"/meta/ts"}, []string{"/meta"}},
		{"all under it", `{"meta":{"ts":1}}`, `{"meta":[2]}`, []string{"/meta"}, nil},
		{"inside an array", `{"l":[{"t":1,"v":1},{"t":1}]}`, `{"l":[{"t":2,"v":1},{"t":1}]}`, []string{"/l/0/t"}, nil},
		{"another index", `{"l":[{"t":1},{"t":1}]}`, `{"l":[{"t":1},{"t":2}]}`, []string{"/l/0/t"}, []string{"/l/1/t"}},
		{"an element", `[1,2,3]`, `[1,9,3]`, []string{"/1"}, nil},
		{"elements after it keep their place", `[1,2,3]`, `[1,2,4]`, []string{"/1"}, []string{"/2"}},
		{"a number as a key", `{"1":1}`, `{"1":2}`, []string{"/1"}, nil},
		{"no index", `[[1],2]`, `[[1],3]`, []string{"/01", "/-"}, []string{"/1"}},
		{"escaped", `{"a/b":1,"m~n":1,"~1":1}`, `{"a/b":2,"m~n":2,"~1":2}`, []string{"/a~1b", "/m~0n", "/~01"}, nil},
		{"the empty key", `{"":1}`, `{"":2}`, []string{"/"}, nil},
		{"a key twice where ignored", `{"ts":1,"ts":2}`, `{"ts":2,"ts":1}`, []string{"/ts"}, []string{"body"}},
		{"not JSON", `{"ts":1`, `{"ts":2`, []string{"/ts"}, []string{"body"}},
		{"a pointer and one below", `{"a":{"b":1}}`, `{"a":{"b":2}}`, []string{"/a", "/a/b"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, validIgnore(c.ignore))
			requireVerdict(t, jsonPayload(c.a), jsonPayload(c.b), identity{ignore: c.ignore}, c.differs...)
		})
	}
	text := func(body string) payload {
		return payload{Method: "POST", URL: "http://h/", Body: []byte(body), Header: http.Header{"Content-Type": {"text/plain"}}}
	}
	requireVerdict(t, text(`{"ts":1}`), text(`{"ts":2}`), identity{ignore: []string{"/ts"}}, "body")
}

func TestAnIgnoredFieldMustBeAJSONPointer(t *testing.T) {
	t.Parallel()
	require.NoError(t, validIgnore([]string{"/", "/a", "/a~0b/~1/0", "/é"}))
	for _, bad := range []string{"", "ts", "$.ts", "/a~", "/a~2", "/~~1"} {
		err := validIgnore([]string{"/ok", bad})
		require.Error(t, err, "%q", bad)
		assert.Contains(t, err.Error(), `"`+bad+`"`)
		assert.Contains(t, err.Error(), "IgnoreFields")
	}
}

func TestThePartsOfAPayloadDoNotRunTogether(t *testing.T) {
	t.Parallel()
	p := func(method, where, host, contentType, body string, headers ...string) payload {
		h := http.Header{"Content-Type": {contentType}}
		if headers != nil {
			h["X-A"] = headers
		}
		return payload{Method: method, URL: where, Host: host, Header: h, Body: []byte(body)}
	}
	id := identity{significant: []string{"X-A"}}
	seen := map[string]int{}
	for i, p := range []payload{
		p("POST", "http://h/", "h", "text/plain", ""),
		p("POSTh", "ttp://h/", "h", "text/plain", ""),
		p("POST", "http://h/text", "h", "/plain", ""),
		p("POST", "http://h/", "h", "text/plai", "n"),
		p("POST", "http://h/", "h", "text/plain", "", ""),
		p("POST", "http://h/", "h", "text/plain", "", "", ""),
		p("POST", "http://h/", "h", "text/plain", "", "a", "b"),
		p("POST", "http://h/", "h", "text/plain", "", "ab"),
		p("POST", "http://h/", "h", "text/plain", "a", "b"),
		p("POST", "http://h/", "h", "text/plain", "X-A"),
	} {
		sum := fingerprint(p, id)
		earlier, taken := seen[sum]
		assert.False(t, taken, "payloads %d and %d have one fingerprint", earlier, i)
		seen[sum] = i
	}
}
