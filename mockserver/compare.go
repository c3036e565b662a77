package mockserver

import (
	"crypto/sha256"
	"encoding/json"
	"hash"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// Compared is what is compared of a request whose key is known.
type Compared struct {
	// Parts of the request. Default, when nil: method, path, query and body. Empty
	// but not nil: none.
	Parts []Part `json:"parts,omitzero"`
	// Headers that are compared too.
	Headers []string `json:"headers,omitempty"`
	// Except are JSON pointers (RFC 6901) into a JSON or form body to what is not
	// compared with the part body. A token * stands for every item of an array.
	Except []string `json:"except,omitempty"`
}

// A Part of a request.
type Part string

const (
	PartMethod Part = "method"
	PartPath   Part = "path"
	PartQuery  Part = "query"
	// PartBody is what the body says: order of members and white space do not
	// matter in JSON, order of fields in a form; the rest counts by its bytes.
	PartBody Part = "body"
	// PartBytes is the body byte for byte.
	PartBytes Part = "bytes"
)

// comparedByDefault where [Compared].Parts is nil.
var comparedByDefault = []Part{PartMethod, PartPath, PartQuery, PartBody}

type fingerprint [sha256.Size]byte

// printsOf covers what is compared of a request, once for each of its n parts. Of
// an item of an array the body is the item.
func (c Compared) printsOf(r *http.Request, body []byte, carrier Carrier, n int) []fingerprint {
	prints := make([]fingerprint, n)
	if !carrier.many() {
		prints[0] = c.print(r, c.said(r, body), body)
		return prints
	}
	v, _ := plainJSON(body) // the keys were found in it
	for _, pointer := range c.Except {
		v = without(v, tokens(pointer))
	}
	items, _ := carrier.items()
	for i, item := range valuesOf(v, items) {
		out, err := json.Marshal(item)
		if err != nil || i >= n {
			break
		}
		prints[i] = c.print(r, out, out)
	}
	return prints
}

func (c Compared) print(r *http.Request, said, body []byte) fingerprint {
	parts := c.Parts
	if parts == nil {
		parts = comparedByDefault
	}
	h := sha256.New()
	for _, part := range []struct {
		name Part
		text []byte
	}{
		{PartMethod, []byte(r.Method)},
		{PartPath, []byte(r.URL.EscapedPath())},
		{PartQuery, []byte(r.URL.RawQuery)},
		{PartBody, said},
		{PartBytes, body},
	} {
		if slices.Contains(parts, part.name) {
			add(h, part.text)
		}
	}
	for _, name := range c.Headers {
		add(h, []byte(strings.Join(r.Header.Values(name), "\n")))
	}
	return fingerprint(h.Sum(nil))
}

// add tells parts apart by the digest of each.
func add(h hash.Hash, text []byte) {
	sum := sha256.Sum256(text)
	h.Write(sum[:])
}

// said is what a body says. A JSON body counts by structure, with the spelling of
// its numbers. What is not plain JSON counts byte for byte.
func (c Compared) said(r *http.Request, body []byte) []byte {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media == "application/x-www-form-urlencoded" {
		form, ok := formOf(r, body)
		if !ok {
			return body
		}
		for _, pointer := range c.Except {
			if path := tokens(pointer); len(path) == 1 {
				form.Del(path[0])
			}
		}
		return []byte(form.Encode())
	}
	if !strings.Contains(media, "json") { // as in application/x-amz-json-1.0
		return body
	}
	v, ok := plainJSON(body)
	if !ok {
		return body
	}
	for _, pointer := range c.Except {
		v = without(v, tokens(pointer))
	}
	out, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return out
}
