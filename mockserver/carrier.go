package mockserver

import "slices"

// A Carrier is where a key travels in a request.
type Carrier struct {
	Kind CarrierKind `json:"kind,omitzero"`
	// Name of the header, form field or query parameter; a JSON pointer (RFC
	// 6901), in which a token * stands for every item of an array, each of which
	// has a key of its own; a path with a segment {key}, and * for any one
	// segment, as in /v1/transfers/{key}; a path of local names into an XML body,
	// as in /Request/Reference.
	Name string `json:"name,omitzero"`
	// Quoted: the value of a header is a structured-field string (RFC 9651 section
	// 3.3.3), in double quotes; a raw one is refused.
	Quoted bool `json:"quoted,omitzero"`
}

// CarrierKind is the kind of place that a key travels in.
type CarrierKind string

const (
	// CarrierDefault is the header [Profile].KeyHeader.
	CarrierDefault CarrierKind = ""
	CarrierHeader  CarrierKind = "header"
	// CarrierJSON is a string in a JSON body.
	CarrierJSON CarrierKind = "json"
	// CarrierForm is a field of a form in the body, URL-encoded.
	CarrierForm CarrierKind = "form"
	// CarrierQuery is a parameter of the URL's query.
	CarrierQuery CarrierKind = "query"
	// CarrierPath is a segment of the URL's path.
	CarrierPath CarrierKind = "path"
	// CarrierXML is the text of an element of an XML body.
	CarrierXML CarrierKind = "xml"
	// CarrierNone: the API knows no keys; every request executes.
	CarrierNone CarrierKind = "none"
)

// inBody reports whether the body must be read for what the carrier holds.
func (c Carrier) inBody() bool {
	return c.Kind == CarrierJSON || c.Kind == CarrierForm || c.Kind == CarrierXML
}

// many reports whether the items of an array have keys of their own.
func (c Carrier) many() bool { return c.Kind == CarrierJSON && hasStar(c.Name) }

// items are the path to the items that have keys, and the path from each to its
// key.
func (c Carrier) items() (items, key []string) {
	path := tokens(c.Name)
	for i, token := range slices.Backward(path) {
		if token == "*" {
			return path[:i+1], path[i+1:]
		}
	}
	return nil, path
}

// A Companion is a value that must travel with a key.
type Companion struct {
	// Kind is a header (the default), query, form or json; Name as of a [Carrier].
	Kind CarrierKind `json:"kind,omitzero"`
	Name string      `json:"name,omitzero"`
	// Value is what it must say. Default: anything.
	Value string `json:"value,omitzero"`
	// Stamp is which time it tells. A value that cannot be read is refused.
	Stamp Stamp `json:"stamp,omitzero"`
}

// A Stamp is a time that a companion tells.
type Stamp string

const (
	// StampNone: it tells no time.
	StampNone Stamp = ""
	// StampIMF is when the request was first sent, as an HTTP date (RFC 9110
	// section 5.6.7); StampMicros the same in microseconds since 1970.
	StampIMF    Stamp = "imf"
	StampMicros Stamp = "micros"
	// StampUntil is when the key shall expire, in RFC 3339, in place of the TTL.
	StampUntil Stamp = "until"
)

// UUIDRule is which UUIDs (RFC 9562) are keys.
type UUIDRule string

const (
	// UUIDNone: a key may be any text.
	UUIDNone UUIDRule = ""
	// UUIDAny: 36 bytes with hyphens, of any version.
	UUIDAny UUIDRule = "any"
	// UUIDRandom: version 4.
	UUIDRandom UUIDRule = "v4"
)
