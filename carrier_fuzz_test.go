package oncehttp

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// fuzzedSpots are the kinds that have a text, with a name each.
var fuzzedSpots = []struct {
	spot        spot
	contentType string
}{
	{spot{kind: CarrierJSON, name: "/id"}, "application/json"},
	{spot{kind: CarrierJSON, name: "/e/*/id"}, "application/json"},
	{spot{kind: CarrierJSON, name: "/m/x/id", create: true}, "application/json"},
	{spot{kind: CarrierForm, name: "id"}, "application/x-www-form-urlencoded"},
	{spot{kind: CarrierQuery, name: "id"}, ""},
	{spot{kind: CarrierPath, name: "/v1/{key}"}, ""},
	{spot{kind: CarrierXML, name: "/R/Id"}, "text/xml"},
	{spot{kind: CarrierJSON, name: `/a~1b/0/q"\é~0`}, "application/json"},
	{spot{kind: CarrierForm, name: "a b;&=é"}, "application/x-www-form-urlencoded"},
	{spot{kind: CarrierQuery, name: "a b;&=é"}, ""},
}

// FuzzCarrier: what is written can be read again and erased again, whatever the
// text; every other byte stays, so that it is still what it was; and a payload is
// the same with and without a key.
func FuzzCarrier(f *testing.F) {
	for i, texts := range [][]string{
		{`{"a":12345678901234567890,"b":1.0}`, `{}`, ` {"id":null, "a":"\ud800"}`, `{"id":"own","id":1}`, `{"i\u0064":"own"}`},
		{`{"e":[{},{"id":""},{"n":{"id":7}}]}`, `{"e":[]}`, `{"e":[{"id":"x"},{}]}`},
		{`{"m":null}`, `{"a":1,"m":{"x":{}}}`, `{"m":{"y":2}}`, `{"a":"}","m":{"x":{"id":"own","b":1}}}`},
		{`a=1&b=2`, ``, `id`, `id=&a`, `a;id=1`, `&&`, `%69d=%20own&=`},
		{`?a=1`, `?`, `/x?id=own&b`, `?id=&a=%2f`},
		{`/v1/{key}`, `/v1/%7bkey%7D/x?y`, `/v1/`, `/v1/own`, `/v2`},
		{`<R/>`, `<p:R xmlns:p="u"><A>1.0</A></p:R>`, `<R><Id/></R>`, `<?xml version="1.0"?><R><Id> own </Id></R>`, `<R><!-- <Id/> --><![CDATA[<Id/>]]></R>`},
		{`{"a\/b":[{}]}`, `{"a/b":[{"q\"\\\u00e9~":""},1]}`, `{"a/b":{"0":{"q\"\\é~":"own"}}}`, `{"a/b":[]}`},
		{`a+b%3B%26%3D%C3%A9=own`, `a b;&=é=own`, `a%20b%3b%26%3d%c3%a9=&a=1`, `é`},
		{`?a+b%3B%26%3D%C3%A9=own`, `?a+b;&=é=own`, `?`, `/é?é`},
	} {
		for _, text := range texts {
			f.Add(uint8(i), text, "5f0c-1")
			f.Add(uint8(i), text, "a&b=<c>{key}%41'+")
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text, value string) {
		if len(text) > 1<<12 || value == "" || len(value) > 100 || !utf8.ValidString(value) || strings.TrimSpace(value) != value || strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Skip("no request is like this, or no key")
		}
		c := fuzzedSpots[int(which)%len(fuzzedSpots)]
		s := c.spot
		b, body := begun{URL: "https://api.test/v1", Header: http.Header{"Content-Type": {c.contentType}}}, []byte(text)
		if s.inURL() {
			u, err := url.Parse("https://api.test" + text)
			if err != nil || u.Host != "api.test" {
				t.Skip("no URL")
			}
			b.URL, body = u.String(), nil
		}
		textOf := func(b begun, body []byte) string {
			if s.inURL() {
				return b.URL
			}
			return string(body)
		}
		was := textOf(b, body)
		values, err := s.read(b, body)
		if err != nil {
			return
		}
		written := b
		out, err := s.write(&written, body, value)
		require.NoError(t, err)
		is := textOf(written, out)
		if len(values) > 0 {
			require.Equal(t, was, is, "the caller's own key stays")
		} else if s.kind == CarrierPath && (value == "{key}") {
			return // it reads as no key, and is in no alphabet that has one
		} else {
			back, err := s.read(written, out)
			require.NoError(t, err)
			require.NotEmpty(t, back)
			for n := range back {
				require.Equal(t, s.item(value, n), back[n])
			}
			sameBut(t, s, was, is)
		}
		erased := func(b begun, body []byte) string {
			body = s.erase(&b, body)
			return textOf(b, body)
		}
		require.Equal(t, erased(b, body), erased(written, out))
		b.Carrier, written.Carrier = Carrier{s.kind, s.name, false}, Carrier{s.kind, s.name, false}
		if !s.create {
			require.Equal(t, fingerprint(b.payload(body), identity{}), fingerprint(written.payload(out), identity{}))
			require.Empty(t, differences(b.payload(body), written.payload(out), identity{}))
		}
	})
}

// sameBut: what was written is of the same kind, and nothing else in it changed.
func sameBut(t *testing.T, s spot, was, is string) {
	t.Helper()
	if !s.batch() {
		front := 0
		for front < min(len(was), len(is)) && was[front] == is[front] {
			front++
		}
		back := 0
		for back < min(len(was), len(is))-front && was[len(was)-1-back] == is[len(is)-1-back] {
			back++
		}
		gone := was[front : len(was)-back]
		switch s.kind {
		case CarrierJSON: // of null, at most
			require.LessOrEqual(t, len(gone), len("null"), "%q became %q", was, is)
		case CarrierForm, CarrierQuery:
			require.Empty(t, strings.Trim(gone, "%0123456789abcdefABCDEF+"), "%q became %q", was, is)
		}
	}
	switch s.kind {
	case CarrierJSON:
		require.True(t, json.Valid([]byte(is)))
	case CarrierForm:
		fields := func(text string) (all []string) {
			for piece := range strings.SplitSeq(text, "&") {
				if !isField(piece, s.name) {
					all = append(all, piece)
				}
			}
			return all
		}
		if was != "" {
			require.Equal(t, fields(was), fields(is))
		}
	case CarrierXML:
		d := xml.NewDecoder(bytes.NewReader([]byte(is)))
		for {
			_, err := d.RawToken()
			if err == io.EOF {
				return
			}
			require.NoError(t, err)
		}
	default:
		_, err := url.Parse(is)
		require.NoError(t, err)
	}
}
