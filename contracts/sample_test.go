package contracts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

const credential = "Bearer sk_test"

// a sample is a request that a contract speaks of.
type sample struct {
	method, url string
	header      http.Header
	media       string
	body        any // json: a document; form: url.Values; xml: a document
	xml         bool
}

// sampleOf makes the least request that the contract matches, and in which its
// carrier and its plant have a place.
func sampleOf(c oncehttp.Contract) sample {
	s := sample{method: http.MethodPost, header: http.Header{}, media: "application/json"}
	if len(c.Match.Methods) > 0 {
		s.method = c.Match.Methods[0]
	}
	host := "api.example.com"
	if len(c.Match.Hosts) > 0 {
		host = strings.ReplaceAll(c.Match.Hosts[0], "*", "x1")
	}
	path := c.Match.Path
	if path == "" && len(c.Match.Paths) > 0 {
		path = c.Match.Paths[0]
	}
	if c.Carrier.Kind == oncehttp.CarrierPath {
		path = c.Carrier.Name
	}
	if path == "" {
		path = "/things"
	}
	for _, l := range c.Lookups {
		for _, name := range placeholders(l.URL) {
			for n := range len("123456789") {
				if name == fmt.Sprintf("path.%d", n+1) && strings.Count(path, "/") <= n {
					path += "/x1"
				}
			}
		}
	}
	s.url = "https://" + host + strings.ReplaceAll(path, "*", "x1")
	if h := c.Match.Header; h != "" {
		value := strings.ReplaceAll(c.Match.HeaderValue, "*", "x1")
		if value == "" {
			value = "x1"
		}
		s.header.Set(h, value)
	}
	op := c.Match.Operation
	form := op.Kind == oncehttp.OperationForm || c.Carrier.Kind == oncehttp.CarrierForm || c.Plant.Kind == oncehttp.CarrierForm
	switch {
	case form:
		s.media = "application/x-www-form-urlencoded"
		values := url.Values{"amount": {"100"}}
		if op.Kind == oncehttp.OperationForm {
			values.Set(op.At, op.Names[0])
		}
		s.body = values
	case c.Carrier.Kind == oncehttp.CarrierXML:
		s.media, s.xml = "application/xml", true
		s.body = placed(nil, c.Carrier.Name[:strings.LastIndex(c.Carrier.Name, "/")]+"/Amount", "100")
	default:
		var doc any = map[string]any{"amount": json.Number("12345678901234567890")}
		switch op.Kind {
		case oncehttp.OperationJSON:
			doc = placed(doc, op.At, op.Names[0])
		case oncehttp.OperationGraphQL:
			field, directive := op.Names[0], ""
			if strings.HasPrefix(field, "@") {
				field, directive = "act", " "+op.Names[0]+"(key: $k)"
			}
			doc = placed(doc, "/query", "mutation M($k: String!) { "+field+directive+" { id } }")
		}
		if c.Carrier.Kind == oncehttp.CarrierJSON {
			doc = parents(doc, c.Carrier.Name)
		}
		for _, l := range c.Lookups {
			for _, field := range placeholders(l.URL) {
				if strings.HasPrefix(field, "/") {
					doc = placed(doc, field, "x1")
				}
			}
		}
		s.body = doc
	}
	for _, l := range c.Lookups {
		for _, field := range placeholders(l.URL) {
			if name, ok := strings.CutPrefix(field, "query."); ok {
				s.url += "?" + url.QueryEscape(name) + "=x1"
			}
		}
	}
	return s
}

// placeholders of a lookup's URL.
func placeholders(template string) []string {
	var names []string
	for {
		_, rest, ok := strings.Cut(template, "{")
		if !ok {
			return names
		}
		name, after, _ := strings.Cut(rest, "}")
		names, template = append(names, name), after
	}
}

// parents makes what the last member of a pointer stands in; two items of a list.
func parents(doc any, pointer string) any {
	before, after, list := strings.Cut(pointer, "/*")
	if list {
		item := func(n int) any {
			return parents(map[string]any{"amount": json.Number(strconv.Itoa(n))}, after)
		}
		return placedValue(doc, before, []any{item(1), item(2)})
	}
	i := strings.LastIndex(pointer, "/")
	if i <= 0 {
		return doc
	}
	return placedValue(doc, pointer[:i], map[string]any{"x": "1"})
}

// placedValue is for pointers without lists.
func placedValue(doc any, pointer string, value any) any {
	if pointer == "" {
		return value
	}
	token, rest, more := strings.Cut(pointer[1:], "/")
	if more {
		rest = "/" + rest
	}
	object, _ := doc.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object[token] = placedValue(object[token], rest, value)
	return object
}

// withAmount is another payload for the same action.
func (s sample) withAmount(n int) sample {
	switch body := s.body.(type) {
	case url.Values:
		s.body = url.Values{"amount": {strconv.Itoa(n)}}
		for name, values := range body {
			if name != "amount" {
				s.body.(url.Values)[name] = values
			}
		}
	case map[string]any:
		clone := map[string]any{}
		for name, value := range body {
			clone[name] = value
		}
		if s.xml {
			s.header = s.header.Clone()
			for root := range clone {
				clone[root] = map[string]any{"Amount": strconv.Itoa(n)}
			}
		} else {
			clone["amount"] = json.Number(strconv.Itoa(n))
		}
		s.body = clone
	}
	return s
}

// request makes the request, with the key in the carrier where one is given.
func (s sample) request(ctx context.Context, t *testing.T, c oncehttp.Contract, key string) *http.Request {
	t.Helper()
	carrier, target, header := c.Carrier, s.url, s.header.Clone()
	var body string
	switch doc := s.body.(type) {
	case url.Values:
		values := url.Values{}
		for name, v := range doc {
			values[name] = v
		}
		if key != "" && carrier.Kind == oncehttp.CarrierForm {
			values.Set(carrier.Name, key)
		}
		body = values.Encode()
	default:
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		var clone any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		require.NoError(t, d.Decode(&clone))
		if key != "" && (carrier.Kind == oncehttp.CarrierJSON || carrier.Kind == oncehttp.CarrierXML) {
			clone = keyed(clone, c, key)
		}
		if s.xml {
			body = xmlOf(clone)
		} else {
			text, err = json.Marshal(clone)
			require.NoError(t, err)
			body = string(text)
		}
	}
	if key != "" {
		switch carrier.Kind {
		case oncehttp.CarrierHeader:
			if carrier.Quoted {
				key = `"` + key + `"`
			}
			header.Set(carrier.Name, key)
		case oncehttp.CarrierQuery:
			sep := "?"
			if strings.Contains(target, "?") {
				sep = "&"
			}
			target += sep + url.QueryEscape(carrier.Name) + "=" + url.QueryEscape(key)
		case oncehttp.CarrierPath:
			target = strings.Replace(target, "{key}", url.PathEscape(key), 1)
		}
	}
	req, err := http.NewRequestWithContext(ctx, s.method, target, io.Reader(strings.NewReader(body)))
	require.NoError(t, err)
	req.Header = header
	req.Header.Set("Content-Type", s.media)
	req.Header.Set("Authorization", credential)
	return req
}

// keyed puts the key where a pointer says; items of a list get keys of their own,
// as the library numbers them.
func keyed(doc any, c oncehttp.Contract, key string) any {
	before, after, list := strings.Cut(c.Carrier.Name, "/*")
	if !list {
		return placed(doc, c.Carrier.Name, key)
	}
	items := at(doc, before).([]any)
	for i := range items {
		own := fmt.Sprintf("%s-%d", key, i)
		if c.Key.UUID == oncehttp.UUIDAny {
			own = uuid.NewSHA1(uuid.MustParse(key), []byte(strconv.Itoa(i))).String()
		}
		items[i] = placed(items[i], after, own)
	}
	return doc
}

func at(doc any, pointer string) any {
	for _, token := range strings.Split(pointer, "/")[1:] {
		doc = doc.(map[string]any)[token]
	}
	return doc
}
