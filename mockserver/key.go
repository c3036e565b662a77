package mockserver

import (
	"encoding/xml"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A keyring is what the carrier of a request holds.
type keyring struct {
	// keys is one or none, or, if there are many, one for each item of an array,
	// empty where the item has none.
	keys []string
	many bool
	// broken: it does not hold what a key must be.
	broken bool
}

// String is the keys as the ledger shows them.
func (k keyring) String() string {
	there := slices.DeleteFunc(slices.Clone(k.keys), func(key string) bool { return key == "" })
	return strings.Join(there, ",")
}

// lacks reports whether there is no key, or an item without one.
func (k keyring) lacks() bool { return len(k.keys) == 0 || slices.Contains(k.keys, "") }

// keysOf takes the keys from the carrier. One place holds at most one: a second
// header line, field or element would be read as one key by one hop and as
// another by the next. What is broken is returned as it came, for the ledger.
func (p Profile) keysOf(r *http.Request, body []byte) keyring {
	if p.Carrier.many() {
		return p.itemKeys(body)
	}
	values, ok := valuesAt(p.Carrier.Kind, p.Carrier.Name, r, body)
	ring := keyring{keys: values, broken: !ok || len(values) > 1}
	for i, key := range values {
		if p.Carrier.Quoted {
			inside, quoted := unquote(key)
			if !quoted {
				ring.broken = true
				continue
			}
			values[i], key = inside, inside
		}
		ring.broken = ring.broken || !p.accepts(key)
	}
	return ring
}

// itemKeys takes the keys of an array's items.
func (p Profile) itemKeys(body []byte) (ring keyring) {
	if len(body) == 0 {
		return ring
	}
	v, ok := plainJSON(body)
	ring.broken = !ok
	items, key := p.Carrier.items()
	for _, item := range valuesOf(v, items) {
		texts, ok := textsAt(item, key)
		if !ok || len(texts) > 0 && !p.accepts(texts[0]) {
			ring.broken = true
		}
		ring.many = true
		ring.keys = append(ring.keys, strings.Join(texts, ",")) // one at most
	}
	return ring
}

// accepts reports whether a text is a key by the profile's rules.
func (p Profile) accepts(key string) bool {
	return len(key) >= p.KeyMin && len(key) <= p.KeyMax &&
		strings.IndexFunc(key, func(c rune) bool { return !p.allows(c) }) < 0 && p.KeyUUID.accepts(key)
}

func (p Profile) allows(c rune) bool {
	if p.KeyAlphabet != "" {
		return strings.ContainsRune(p.KeyAlphabet, c)
	}
	return c > ' ' && c < 0x7f && c != ','
}

func (u UUIDRule) accepts(key string) bool {
	if u == UUIDNone {
		return true
	}
	if len(key) != 36 {
		return false
	}
	for i := range len(key) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if key[i] != '-' {
				return false
			}
		} else if !strings.Contains("0123456789abcdefABCDEF", key[i:i+1]) {
			return false
		}
	}
	return u == UUIDAny || key[14] == '4' && strings.Contains("89abAB", key[19:20])
}

// unquote reads a structured-field string without escapes, which no key needs.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	return s, !strings.ContainsAny(s, `"\`)
}

// valuesAt reads the texts at a place of a request. Not ok: the place is there,
// and what stands in it is no text, or the body cannot be read.
func valuesAt(kind CarrierKind, name string, r *http.Request, body []byte) (values []string, ok bool) {
	switch kind {
	case CarrierDefault, CarrierHeader:
		for field, v := range r.Header {
			if strings.EqualFold(field, name) {
				values = append(values, v...)
			}
		}
		return values, true
	case CarrierQuery:
		query, err := url.ParseQuery(r.URL.RawQuery)
		return query[name], err == nil
	case CarrierForm:
		form, ok := formOf(r, body)
		return form[name], ok
	case CarrierPath:
		return pathKey(name, r.URL.EscapedPath())
	case CarrierXML:
		return xmlTexts(body, name)
	case CarrierJSON:
		if len(body) == 0 {
			return nil, true
		}
		v, ok := plainJSON(body)
		if !ok {
			return nil, false
		}
		return textsAt(v, tokens(name))
	}
	return nil, true
}

func formOf(r *http.Request, body []byte) (url.Values, bool) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/x-www-form-urlencoded" {
		return nil, true
	}
	form, err := url.ParseQuery(string(body))
	return form, err == nil
}

// pathKey is the segment of an escaped path at {key} of a template of the same
// length.
func pathKey(template, path string) ([]string, bool) {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, true
	}
	found := ""
	for i, segment := range want {
		switch {
		case segment == "{key}":
			found = got[i]
		case segment != "*" && segment != got[i]:
			return nil, true
		}
	}
	key, err := url.PathUnescape(found)
	if key == "" {
		return nil, true
	}
	return []string{key}, err == nil
}

// xmlTexts are the texts of the elements at a path of local names.
func xmlTexts(body []byte, path string) (texts []string, ok bool) {
	if len(body) == 0 {
		return nil, true
	}
	d := xml.NewDecoder(strings.NewReader(string(body)))
	here, text, depth := "", "", 0
	for {
		t, err := d.Token()
		if t == nil {
			return texts, err == io.EOF
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > 1000 {
				return texts, false
			}
			here += "/" + t.Name.Local
			text = ""
		case xml.CharData:
			text += string(t)
		case xml.EndElement:
			depth--
			if here == path {
				texts = append(texts, strings.TrimSpace(text))
			}
			here = here[:len(here)-len(t.Name.Local)-1]
			text = ""
		}
	}
}
