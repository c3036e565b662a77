package oncehttp

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const key1 = "5f0c-1"

// spotCase is a request, and what becomes of it when a key is written.
type spotCase struct {
	name, text, want, erased string
	held                     []string // what stands there
	err                      string
}

func (c spotCase) run(t *testing.T, s spot, contentType string) {
	t.Helper()
	b := begun{URL: "https://api.test/v1", Header: http.Header{"Content-Type": {contentType}}}
	body := []byte(c.text)
	if s.inURL() {
		b.URL, body = c.text, nil
	}
	text := func(b begun, body []byte) string {
		if s.inURL() {
			return b.URL
		}
		return string(body)
	}
	bare := func(b begun, body []byte) string {
		body = s.erase(&b, body)
		return text(b, body)
	}
	held, err := s.read(b, body)
	written := b
	out, errWrite := s.write(&written, body, key1)
	if c.err != "" {
		assert.ErrorContains(t, err, c.err, c.name)
		assert.Equal(t, c.text, bare(b, body), "%s: what cannot be read is left alone", c.name)
		return
	}
	require.NoError(t, err, c.name)
	require.NoError(t, errWrite, c.name)
	assert.Equal(t, c.held, held, c.name)
	assert.Equal(t, c.want, text(written, out), c.name)
	assert.Equal(t, c.text, text(b, body), "%s: what was given stays as it is", c.name)
	assert.Equal(t, c.erased, bare(b, body), "%s: erased", c.name)
	if c.held == nil {
		assert.Equal(t, c.erased, bare(written, out), "%s: written and erased", c.name)
		held, err = s.read(written, out)
		require.NoError(t, err, c.name)
		for n, value := range held {
			assert.Equal(t, s.item(key1, n), value, c.name)
		}
		assert.NotEmpty(t, held, c.name)
	}
}

func TestAKeyGoesIntoAJSONBodyAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	for pointer, cases := range map[string][]spotCase{
		"/id": {
			{name: "absent", text: `{"a": 12345678901234567890,  "b":1.0}`, want: `{"id":"5f0c-1","a": 12345678901234567890,  "b":1.0}`, erased: `{"a": 12345678901234567890,  "b":1.0}`},
			{name: "empty", text: "{ }\n", want: "{\"id\":\"5f0c-1\" }\n", erased: "{ }\n"},
			{name: "null", text: ` {"id" : null ,"a":1e400}`, want: ` {"id" : "5f0c-1" ,"a":1e400}`, erased: ` {"a":1e400}`},
			{name: "empty text", text: `{"a":1, "id":""}`, want: `{"a":1, "id":"5f0c-1"}`, erased: `{"a":1}`},
			{name: "own", text: `{"a":[{"id":7}],"id":"own","b":"}"}`, held: []string{"own"}, want: `{"a":[{"id":7}],"id":"own","b":"}"}`, erased: `{"a":[{"id":7}],"b":"}"}`},
			{name: "own, in escapes", text: `{"\u0069d":"\u006fwn"}`, held: []string{"own"}, want: `{"\u0069d":"\u006fwn"}`, erased: `{}`},
			{name: "a number", text: `{"id":7}`, err: "not a string"},
			{name: "an object", text: `{"id":{}}`, err: "not a string"},
			{name: "false", text: `{"id":false}`, err: "not a string"},
			{name: "twice", text: `{"id":"a","i\u0064":null}`, err: "stands 2 times"},
			{name: "an array", text: `[{}]`, err: "the object that it goes into is not there"},
			{name: "text", text: `"id"`, err: "is not there"},
			{name: "nothing", text: ``, err: "not JSON"},
			{name: "cut", text: `{"a":1`, err: "not JSON"},
			{name: "two values", text: `{} {}`, err: "not JSON"},
			{name: "byte order mark", text: "\ufeff{}", err: "not JSON"},
			{name: "a form", text: `id=7`, err: "not JSON"},
		},
		"/a~1b/c~0": {
			{name: "absent", text: `{"a/b":{"c":1}}`, want: `{"a/b":{"c~":"5f0c-1","c":1}}`, erased: `{"a/b":{"c":1}}`},
			{name: "own", text: `{"a/b":{"c~":"own"}}`, held: []string{"own"}, want: `{"a/b":{"c~":"own"}}`, erased: `{"a/b":{}}`},
			{name: "no parent", text: `{"a":{}}`, err: `the object "a/b" that it goes into is not there`},
			{name: "a null parent", text: `{"a/b":null}`, err: "is not there"},
			{name: "two parents", text: `{"a/b":{},"a/b":{}}`, err: `"a/b" stands 2 times`},
		},
		"/e/*/id": {
			{name: "items", text: `{"e":[{"n":1}, {},{"id":null}]}`, want: `{"e":[{"id":"5f0c-1-0","n":1}, {"id":"5f0c-1-1"},{"id":"5f0c-1-2"}]}`, erased: `{"e":[{"n":1}, {},{}]}`},
			{name: "own", text: `{"e":[{"id":"x"},{"id":"y"}]}`, held: []string{"x", "y"}, want: `{"e":[{"id":"x"},{"id":"y"}]}`, erased: `{"e":[{},{}]}`},
			{name: "no items", text: `{"e":[ ]}`, err: "no such item"},
			{name: "no array", text: `{"e":{"*":{}}}`, err: "no array where * stands"},
			{name: "an item that is none", text: `{"e":[{},7]}`, err: "item 1: the object that it goes into is not there"},
		},
		"/*/id":   {{name: "root", text: `[{},{}]`, want: `[{"id":"5f0c-1-0"},{"id":"5f0c-1-1"}]`, erased: `[{},{}]`}},
		"/e/1/id": {{name: "one item", text: `{"e":[{},{}]}`, want: `{"e":[{},{"id":"5f0c-1"}]}`, erased: `{"e":[{},{}]}`}},
	} {
		for _, c := range cases {
			c.name = pointer + ": " + c.name
			c.run(t, spot{kind: CarrierJSON, name: pointer}, "application/json; charset=UTF-8")
		}
	}
}

func TestAllItemsOfABatchHaveAKeyOrNone(t *testing.T) {
	t.Parallel()
	b := begun{Header: http.Header{"Content-Type": {"application/json"}}}
	_, err := spot{kind: CarrierJSON, name: "/e/*/id"}.read(b, []byte(`{"e":[{"id":"x"},{},{"id":""}]}`))
	require.ErrorContains(t, err, "1 of 3 items have one; give all of them one, or none")
}

func TestObjectsAboveAPlantedIDAreWrittenWithIt(t *testing.T) {
	t.Parallel()
	for _, c := range []spotCase{
		{name: "absent", text: `{"a":1}`, want: `{"m":{"x":{"id":"5f0c-1"}},"a":1}`, erased: `{"a":1}`},
		{name: "empty", text: `{}`, want: `{"m":{"x":{"id":"5f0c-1"}}}`, erased: `{}`},
		{name: "half", text: `{"a":1,"m":{"y":2}}`, want: `{"a":1,"m":{"x":{"id":"5f0c-1"},"y":2}}`, erased: `{"a":1,"m":{"y":2}}`},
		{name: "null", text: `{"a":1,"m":null}`, want: `{"a":1,"m":{"x":{"id":"5f0c-1"}}}`, erased: `{"a":1}`},
		{name: "emptied", text: `{"m":{"x":{}},"a":1}`, want: `{"m":{"x":{"id":"5f0c-1"}},"a":1}`, erased: `{"a":1}`},
		{name: "own", text: `{"m":{"x":{"id":"own"},"y":2}}`, held: []string{"own"}, want: `{"m":{"x":{"id":"own"},"y":2}}`, erased: `{"m":{"y":2}}`},
		{name: "no object", text: `{"m":7}`, err: "is not there"},
	} {
		c.run(t, spot{kind: CarrierJSON, name: "/m/x/id", create: true}, "application/vnd.api+json")
	}
}

func TestAKeyGoesIntoAForm(t *testing.T) {
	t.Parallel()
	for _, c := range []spotCase{
		{name: "absent", text: `b=2&a=1+1&a=%20`, want: `b=2&a=1+1&a=%20&id%5Bx%5D=5f0c-1`, erased: `b=2&a=1+1&a=%20`},
		{name: "empty", text: ``, want: `id%5Bx%5D=5f0c-1`, erased: ``},
		{name: "empty pieces", text: `a=1&&`, want: `a=1&&&id%5Bx%5D=5f0c-1`, erased: `a=1&&`},
		{name: "empty text", text: `id[x]=&a=1`, want: `id[x]=5f0c-1&a=1`, erased: `a=1`},
		{name: "bare", text: `a=1&id[x]`, want: `a=1&id[x]=5f0c-1`, erased: `a=1`},
		{name: "own", text: `a=1&id%5bx%5D=o%77n&b=id`, held: []string{"own"}, want: `a=1&id%5bx%5D=o%77n&b=id`, erased: `a=1&b=id`},
		{name: "own first", text: `id[x]=own&a=1`, held: []string{"own"}, want: `id[x]=own&a=1`, erased: `a=1`},
		{name: "twice", text: `id[x]=&id[x]=2`, err: "stands 2 times"},
		{name: "bad escape", text: `id[x]=%`, err: "not escaped well"},
		{name: "behind a semicolon", text: `a=1;id[x]=2`, err: `";"`},
	} {
		c.run(t, spot{kind: CarrierForm, name: "id[x]"}, "application/x-www-form-urlencoded")
	}
}

func TestAKeyGoesIntoAQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []spotCase{
		{name: "absent", text: `https://api.test/v1?b=2&a=%2f`, want: `https://api.test/v1?b=2&a=%2f&id=5f0c-1`, erased: `https://api.test/v1?b=2&a=%2f`},
		{name: "no query", text: `https://api.test`, want: `https://api.test?id=5f0c-1`, erased: `https://api.test`},
		{name: "an empty query", text: `https://api.test/v1?`, want: `https://api.test/v1?id=5f0c-1`, erased: `https://api.test/v1`},
		{name: "null", text: `https://api.test/v1?id=&a=1`, want: `https://api.test/v1?id=5f0c-1&a=1`, erased: `https://api.test/v1?a=1`},
		{name: "own", text: `https://api.test/id=1?id=own`, held: []string{"own"}, want: `https://api.test/id=1?id=own`, erased: `https://api.test/id=1`},
		{name: "twice", text: `https://api.test/v1?id=1&id=1`, err: "stands 2 times"},
	} {
		c.run(t, spot{kind: CarrierQuery, name: "id"}, "")
	}
}

func TestAKeyGoesIntoAPath(t *testing.T) {
	t.Parallel()
	for _, c := range []spotCase{
		{name: "escaped", text: `https://api.test/v1/x%2Fy/t/%7Bkey%7D?a={key}`, want: `https://api.test/v1/x%2Fy/t/5f0c-1?a={key}`, erased: `https://api.test/v1/x%2Fy/t/%7Bkey%7D?a={key}`},
		{name: "plain", text: `https://api.test/v1/c/t/{key}/go`, want: `https://api.test/v1/c/t/5f0c-1/go`, erased: `https://api.test/v1/c/t/%7Bkey%7D/go`},
		{name: "empty", text: `https://api.test/v1/c/t/`, want: `https://api.test/v1/c/t/5f0c-1`, erased: `https://api.test/v1/c/t/%7Bkey%7D`},
		{name: "own", text: `https://api.test/v1/c/t/ow%6E`, held: []string{"own"}, want: `https://api.test/v1/c/t/ow%6E`, erased: `https://api.test/v1/c/t/%7Bkey%7D`},
		{name: "short", text: `https://api.test/v1/c/t?x=/y`, err: "fewer segments"},
		{name: "no path", text: `https://api.test`, err: "fewer segments"},
		{name: "another", text: `https://api.test/v2/c/t/{key}`, err: "another one"},
	} {
		c.run(t, spot{kind: CarrierPath, name: "/v1/*/t/{key}"}, "")
	}
}

func TestAKeyGoesIntoXML(t *testing.T) {
	t.Parallel()
	for _, c := range []spotCase{
		{name: "absent", text: `<?xml version="1.0" encoding="UTF-8"?><R xmlns="u"><A> 1.0 </A></R>`, want: `<?xml version="1.0" encoding="UTF-8"?><R xmlns="u"><A> 1.0 </A><Id>5f0c-1</Id></R>`, erased: `<?xml version="1.0" encoding="UTF-8"?><R xmlns="u"><A> 1.0 </A></R>`},
		{name: "a prefix", text: `<p:R xmlns:p="u"><q:R><Id>x</Id></q:R></p:R>`, want: `<p:R xmlns:p="u"><q:R><Id>x</Id></q:R><p:Id>5f0c-1</p:Id></p:R>`, erased: `<p:R xmlns:p="u"><q:R><Id>x</Id></q:R></p:R>`},
		{name: "an empty parent", text: `<R a="/>"/>`, want: `<R a="/>"><Id>5f0c-1</Id></R>`, erased: `<R a="/>"></R>`},
		{name: "empty", text: `<R><Id/><B/></R>`, want: `<R><Id>5f0c-1</Id><B/></R>`, erased: `<R><B/></R>`},
		{name: "blank", text: `<R><Id x="1"> </Id></R>`, want: `<R><Id x="1">5f0c-1</Id></R>`, erased: `<R></R>`},
		{name: "own", text: `<R><a:Id><![CDATA[o]]>w<!-- - -->&#110;</a:Id></R>`, held: []string{"own"}, want: `<R><a:Id><![CDATA[o]]>w<!-- - -->&#110;</a:Id></R>`, erased: `<R></R>`},
		{name: "twice", text: `<R><Id/><Id>x</Id></R>`, err: "stands twice"},
		{name: "elements", text: `<R><Id><x/></Id></R>`, err: "not text"},
		{name: "another root", text: `<S><Id/></S>`, err: "is not there"},
		{name: "two roots", text: `<R/><R/>`, err: "not XML"},
		{name: "cut", text: `<R><Id>`, err: "not XML"},
		{name: "crossed", text: `<R><Id></R></Id>`, err: "not XML"},
		{name: "text outside", text: `x<R/>`, err: "not XML"},
		{name: "nothing", text: ``, err: "not XML"},
		{name: "JSON", text: `{}`, err: "not XML"},
		{name: "an entity of its own", text: `<R>&x;</R>`, err: "not XML"},
		{name: "a doctype", text: `<!DOCTYPE R [<!ENTITY x "y">]><R/>`, err: "document type"},
		{name: "another encoding", text: `<?xml version="1.0" encoding="latin1"?><R/>`, err: "not XML"},
	} {
		c.run(t, spot{kind: CarrierXML, name: "/R/Id"}, "text/xml")
	}
}

func TestABodyOfAnotherTypeIsRefused(t *testing.T) {
	t.Parallel()
	for kind, texts := range map[CarrierKind]string{CarrierJSON: "{}", CarrierForm: "a=1", CarrierXML: "<R/>"} {
		s := spot{kind: kind, name: "/R/id"}
		for _, c := range []struct {
			header http.Header
			err    string
		}{
			{nil, "Content-Type is not that of"},
			{http.Header{"Content-Type": {"text/plain"}}, "Content-Type is not that of"},
			{http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}, "Content-Type is not that of"},
			{http.Header{"Content-Type": {"application/json", "application/json"}}, "Content-Type is not that of"},
			{http.Header{"Content-Type": {map[CarrierKind]string{CarrierJSON: "text/json", CarrierForm: "application/x-www-form-urlencoded", CarrierXML: "a/b+xml"}[kind] + ";charset=utf-16"}}, "not in UTF-8"},
			{http.Header{"Content-Type": {"application/json"}, "content-encoding": {"gzip"}}, "compressed"},
		} {
			_, err := s.read(begun{Header: c.header}, []byte(texts))
			assert.ErrorContains(t, err, c.err, "%v %v", kind, c.header)
			_, err = s.write(&begun{Header: c.header}, []byte(texts), key1)
			assert.ErrorContains(t, err, c.err, "%v %v", kind, c.header)
		}
	}
}
