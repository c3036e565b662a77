package oncehttp

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// A spot is a place in a frozen request where a value of ours stands: the key,
// a companion, a planted id.
type spot struct {
	kind CarrierKind
	name string
	// create: objects that are missing above a JSON string are written too.
	create bool
	// uuids: the values in a batch are UUIDs.
	uuids bool
}

// is reports whether two spots are one place. Names of headers have no case.
func (s spot) is(o spot) bool {
	return s.kind == o.kind && (s.name == o.name || s.kind == CarrierHeader && strings.EqualFold(s.name, o.name))
}

func (c Carrier) spot() spot { return spot{kind: c.Kind, name: c.Name} }

func (s spot) String() string {
	switch s.kind {
	case CarrierHeader:
		return "header " + s.name
	case CarrierJSON:
		return "JSON field " + s.name
	case CarrierForm:
		return "form field " + s.name
	case CarrierQuery:
		return "query parameter " + s.name
	case CarrierPath:
		return "segment {key} of the path " + s.name
	case CarrierXML:
		return "XML element " + s.name
	}
	return "nothing"
}

// A site is where a spot is in a text: once, or once for every item of an array.
type site struct {
	// value that stands there. Empty is as good as absent, since APIs differ in
	// what they make of it.
	value string
	// To write there, text[at:end] gives way to before, the value and after.
	at, end       int
	before, after string
	// To erase it, text[from:to] gives way to rest.
	from, to int
	rest     string
}

// batch: the spot is in every item of an array.
func (s spot) batch() bool {
	return s.kind == CarrierJSON && slices.Contains(strings.Split(s.name, "/"), "*")
}

// item is the value as the n-th site has it, from 0. Where the API wants UUIDs
// it is the UUIDv5 of the number in the name space of the value (RFC 9562 section
// 5.5).
func (s spot) item(value string, n int) string {
	switch {
	case !s.batch():
		return value
	case s.uuids:
		if space, err := uuid.Parse(value); err == nil {
			return uuid.NewSHA1(space, []byte(strconv.Itoa(n))).String()
		}
	}
	return value + "-" + strconv.Itoa(n)
}

// inBody: the text is the request's body. Of a query and a path it is its URL.
func (s spot) inBody() bool {
	return s.kind == CarrierJSON || s.kind == CarrierForm || s.kind == CarrierXML
}

func (s spot) inURL() bool { return s.kind == CarrierQuery || s.kind == CarrierPath }

// isIn reports whether a text is a URL that has something in the spot.
func (s spot) isIn(where string) bool {
	u, err := url.Parse(where)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return false
	}
	values, err := s.read(begun{URL: where}, nil)
	return len(values) > 0 || err != nil && s.kind == CarrierQuery // there, but not once
}

// read returns the values that stand in the spot: none, or one for each site.
// The error says what keeps the spot from being written.
func (s spot) read(b begun, body []byte) ([]string, error) {
	if s.kind == CarrierHeader {
		return headerValues(b.Header, s.name), nil
	}
	sites, err := s.sites(b, body)
	if err != nil {
		return nil, err
	}
	var values []string
	for _, at := range sites {
		if at.value != "" {
			values = append(values, at.value)
		}
	}
	if len(values) > 0 && len(values) < len(sites) {
		return nil, fmt.Errorf("%d of %d items have one; give all of them one, or none", len(values), len(sites))
	}
	return values, nil
}

// write puts the value where nothing stands, into b or the body that it returns.
// Every other byte stays as it is.
func (s spot) write(b *begun, body []byte, value string) ([]byte, error) {
	if s.kind == CarrierHeader {
		if headerValues(b.Header, s.name) == nil {
			if b.Header = b.Header.Clone(); b.Header == nil {
				b.Header = http.Header{}
			}
			b.Header.Set(s.name, value)
		}
		return body, nil
	}
	sites, err := s.sites(*b, body)
	if err != nil {
		return body, err
	}
	var edits []edit
	for n, at := range sites {
		if at.value == "" {
			edits = append(edits, edit{at.at, at.end, at.before + s.escape(s.item(value, n)) + at.after})
		}
	}
	return s.rewrite(b, body, edits), nil
}

// erase takes away what stands in the spot. What is left is the same whether
// write has put it there or the caller.
func (s spot) erase(b *begun, body []byte) []byte {
	if s.kind == CarrierHeader {
		if headerValues(b.Header, s.name) != nil {
			b.Header = b.Header.Clone()
			dropHeader(b.Header, s.name)
		}
		return body
	}
	sites, err := s.sites(*b, body)
	if err != nil {
		return body // nothing of ours is in it
	}
	edits := make([]edit, len(sites))
	for n, at := range sites {
		edits[n] = edit{at.from, at.to, at.rest}
	}
	return s.rewrite(b, body, edits)
}

// An edit replaces a stretch of a text.
type edit struct {
	from, to int
	text     string
}

// rewrite makes edits, which are in the order of the text, in the URL or in the
// body. The body that was given stays as it is.
func (s spot) rewrite(b *begun, body []byte, edits []edit) []byte {
	text := body
	if s.inURL() {
		text = []byte(b.URL)
	}
	var out []byte
	done := 0
	for _, e := range edits {
		out = append(append(out, text[done:e.from]...), e.text...)
		done = e.to
	}
	out = append(out, text[done:]...)
	if s.inURL() {
		b.URL = string(out)
		return body
	}
	return out
}

// escape spells a value as the place asks for.
func (s spot) escape(value string) string {
	switch s.kind {
	case CarrierJSON:
		return escapeJSON(value)
	case CarrierForm, CarrierQuery:
		return url.QueryEscape(value)
	case CarrierPath:
		return url.PathEscape(value)
	case CarrierXML:
		return escapeXML(value)
	}
	return value
}

// sites finds the spot, in the order of the text.
func (s spot) sites(b begun, body []byte) ([]site, error) {
	switch s.kind {
	case CarrierJSON:
		if err := bodyIs(b, "JSON", jsonMediaType); err != nil {
			return nil, err
		}
		return jsonSites(body, s.name, s.create)
	case CarrierForm:
		if err := bodyIs(b, "a form", formMediaType); err != nil {
			return nil, err
		}
		return fieldSites(string(body), 0, s.name)
	case CarrierXML:
		if err := bodyIs(b, "XML", xmlMediaType); err != nil {
			return nil, err
		}
		return xmlSites(body, s.name)
	case CarrierQuery:
		return querySites(b.URL, s.name)
	case CarrierPath:
		return pathSites(b.URL, s.name)
	}
	return nil, errors.New("it has no place in a request")
}

// bodyIs refuses a body that its headers say is something else, or compressed.
func bodyIs(b begun, what string, is func(mediaType string) bool) error {
	name, err := plainType(b.Header)
	if err == nil && !is(name) {
		err = fmt.Errorf("the Content-Type is not that of %s; send %s", what, what)
	}
	return err
}

// plainType is the media type of a body that can be read as it stands; empty: its
// header names none.
func plainType(h http.Header) (string, error) {
	for _, coding := range headerValues(h, "Content-Encoding") {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return "", errors.New("the body is compressed (Content-Encoding); send it plain")
		}
	}
	name, params, err := mime.ParseMediaType(strings.Join(headerValues(h, "Content-Type"), ", "))
	if err != nil {
		return "", nil
	}
	switch strings.ToLower(params["charset"]) {
	case "", "utf-8", "us-ascii":
		return name, nil
	}
	return "", errors.New("the body is not in UTF-8 (Content-Type's charset); send it so")
}

func formMediaType(name string) bool { return name == "application/x-www-form-urlencoded" }

func xmlMediaType(name string) bool {
	return name == "application/xml" || name == "text/xml" || strings.HasSuffix(name, "+xml")
}
