package oncehttp

import "slices"

// Compared says what an API compares when it sees a key again, and what it does
// where that differs. The client refuses another payload under one action before
// it is sent, whatever the API does. So only Headers and Except change what the
// client does; the rest says how much depends on that refusal.
type Compared struct {
	// Parts that are compared.
	Parts Parts
	// Headers that are compared too. They count as significant: the same action
	// with another value is another payload.
	Headers []string
	// Except are JSON pointers into the body to what is not compared. They count
	// as ignored, as with Config.IgnoreFields.
	Except []string
	// Mismatch is what the API does with a known key and another request.
	Mismatch MismatchEffect
}

// Parts is a set of parts of a request.
type Parts uint8

const (
	// PartMethod, PartPath and PartQuery are of the request line.
	PartMethod Parts = 1 << iota
	PartPath
	PartQuery
	// PartBody is what the body says, PartBytes how it is written.
	PartBody
	PartBytes
)

// MismatchEffect is what an API does with a known key and another request.
type MismatchEffect uint8

const (
	// MismatchUnknown: it is not known.
	MismatchUnknown MismatchEffect = iota
	// MismatchRejects: it refuses.
	MismatchRejects
	// MismatchReplays: it gives the answer that it gave to the first request.
	MismatchReplays
	// MismatchExecutes: it carries out the other request, as if the key were new.
	MismatchExecutes
	// MismatchOverwrites: it carries out the other request in place of the first.
	MismatchOverwrites
	// MismatchDrops: it reports success, and does nothing.
	MismatchDrops
)

// under adds what a contract says of its requests to what the client says of all.
func (id identity) under(c *Contract) identity {
	if c == nil {
		return id
	}
	return identity{ignore: slices.Concat(id.ignore, c.Compared.Except), significant: slices.Concat(id.significant, c.Compared.Headers)}
}
