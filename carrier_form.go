package oncehttp

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// fieldSites finds a field of a form, or of a query, in the text from an index
// on. Fields keep their order and their spelling; one that is missing goes to the
// end.
func fieldSites(text string, from int, name string) ([]site, error) {
	s := site{at: len(text), end: len(text), before: "&" + url.QueryEscape(name) + "=", from: len(text), to: len(text)}
	if from == len(text) {
		s.before = s.before[1:]
	}
	times := 0
	for at := from; at <= len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '&'); i >= 0 {
			end = at + i
		}
		piece := text[at:end]
		if isField(piece, name) {
			times++
			if strings.Contains(piece, ";") {
				return nil, errors.New(`there is a ";" in it, which some servers take for "&"; escape it as %3B`)
			}
			key, raw, _ := strings.Cut(piece, "=")
			value, err := url.QueryUnescape(raw)
			if err != nil {
				return nil, errors.New("what stands there is not escaped well; escape it as in %2F")
			}
			s = site{value: value, at: at + len(key), end: end, before: "=", from: at, to: end}
			switch {
			case at > from:
				s.from--
			case end < len(text):
				s.to++
			}
		}
		at = end + 1
	}
	if times > 1 {
		return nil, fmt.Errorf("it stands %d times; set it once", times)
	}
	return []site{s}, nil
}

// isField reports whether a piece of a form is the field, or hides one of that
// name behind a ";".
func isField(piece, name string) bool {
	for part := range strings.SplitSeq(piece, ";") {
		key, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(key); err == nil && plain == name {
			return true
		}
	}
	return false
}

// querySites finds a parameter of a URL's query. Without it nothing is left of a
// query that had no other.
func querySites(where, name string) ([]site, error) {
	start := strings.IndexByte(where, '?')
	if start < 0 {
		return []site{{at: len(where), end: len(where), before: "?" + url.QueryEscape(name) + "=", from: len(where), to: len(where)}}, nil
	}
	sites, err := fieldSites(where, start+1, name)
	if err != nil {
		return nil, err
	}
	if s := &sites[0]; s.from == start+1 && s.to == len(where) {
		s.from = start
	}
	return sites, nil
}

// emptySegment stands for the key where the caller leaves it to us.
const emptySegment = "%7Bkey%7D"

// pathSites finds the segment {key} of a template in a URL's path, where other
// segments are as they are or *, and more may follow.
func pathSites(where, template string) ([]site, error) {
	at := strings.Index(where, "://") + len("://")
	at += strings.IndexByte(where[at:]+"/", '/')
	end := len(where)
	if i := strings.IndexByte(where, '?'); i >= 0 {
		end = i
	}
	for want := range strings.SplitSeq(strings.TrimPrefix(template, "/"), "/") {
		if at >= end {
			return nil, errors.New("the path has fewer segments; send one with a key, or {key} in its place")
		}
		at++ // the slash
		next := end
		if i := strings.IndexByte(where[at:end], '/'); i >= 0 {
			next = at + i
		}
		segment := where[at:next]
		if want == "{key}" {
			s := site{at: at, end: next, from: at, to: next, rest: emptySegment}
			plain, err := url.PathUnescape(segment)
			if err != nil {
				return nil, errors.New("the path is not escaped well")
			}
			if plain != "{key}" {
				s.value = plain
			}
			return []site{s}, nil
		}
		if want != segment && want != "*" {
			return nil, errors.New("the path is another one")
		}
		at = next
	}
	return nil, errors.New("the path has no place for a key")
}
