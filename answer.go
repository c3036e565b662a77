package oncehttp

import (
	"net/http"
	"slices"
	"strings"
)

// isZero reports whether the marker marks nothing.
func (m Marker) isZero() bool {
	return len(m.Headers) == 0 && m.Pointer == ""
}

// marks reports whether an answer carries the mark.
func (m Marker) marks(h http.Header, body []byte) bool {
	for _, name := range m.Headers {
		if anyLine(h, name, m.Values) {
			return true
		}
	}
	if m.Pointer == "" {
		return false
	}
	doc, ok := readAnswerBody(body)
	if !ok {
		return false
	}
	if len(m.Values) == 0 {
		v, ok := doc.at(m.Pointer)
		return ok && !v.isNull() && string(v) != `""`
	}
	text, ok := doc.textAt(m.Pointer)
	return ok && isOneOf(text, m.Values)
}

// rule returns the first of the contract's rules that matches an answer. Where
// one cannot be tried because its code is in a part of the body that is missing,
// it says verdictUnread.
func (c *Contract) rule(f facts) (Answer, bool) {
	if c == nil {
		return Answer{}, false
	}
	var doc answerBody
	var read, isJSON bool
	for _, a := range c.Answers {
		if len(a.Status) > 0 && !slices.Contains(a.Status, f.status) {
			continue
		}
		if a.Header != "" && !anyLine(f.header, a.Header, a.headerValues()) {
			continue
		}
		if len(a.Codes) > 0 {
			if !read {
				doc, isJSON = readAnswerBody(f.body)
				read = true
			}
			if !isJSON && (f.cut || f.long && f.status/100 != 2) {
				return Answer{Verdict: verdictUnread}, true
			}
			if !isJSON || !a.namesCode(doc) {
				continue
			}
		}
		return a, true
	}
	return Answer{}, false
}

// reference is what the answer's body calls the effect; "" if it does not say.
func (a Answer) reference(body []byte) string {
	if a.Reference == "" {
		return ""
	}
	doc, ok := readAnswerBody(body)
	if !ok {
		return ""
	}
	text, _ := doc.textAt(a.Reference)
	return text
}

func (a Answer) headerValues() []string {
	if a.HeaderValue == "" {
		return nil
	}
	return []string{a.HeaderValue}
}

// namesCode reports whether one of the rule's codes stands at one of its places.
func (a Answer) namesCode(doc answerBody) bool {
	places := a.At
	if len(places) == 0 {
		places = codePlaces()
	}
	for _, place := range places {
		code, ok := doc.textAt(place)
		if ok && slices.ContainsFunc(a.Codes, func(pattern string) bool { return matchesCode(pattern, code) }) {
			return true
		}
	}
	return false
}

// matchesCode compares a code with a pattern, without regard to case; a * at
// either end of the pattern stands for any text.
func matchesCode(pattern, code string) bool {
	pattern, code = strings.ToLower(pattern), strings.ToLower(strings.TrimSpace(code))
	rest, open := strings.CutPrefix(pattern, "*")
	core, openEnd := strings.CutSuffix(rest, "*")
	switch {
	case open && openEnd:
		return strings.Contains(code, core)
	case open:
		return strings.HasSuffix(code, core)
	case openEnd:
		return strings.HasPrefix(code, core)
	}
	return code == core
}

// anyLine reports whether a line of the header has one of the values; with no
// values, whether one is not empty.
func anyLine(h http.Header, name string, values []string) bool {
	return slices.ContainsFunc(h.Values(name), func(line string) bool {
		if len(values) == 0 {
			return strings.TrimSpace(line) != ""
		}
		return isOneOf(line, values)
	})
}

func isOneOf(s string, values []string) bool {
	s = strings.TrimSpace(s)
	return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(s, strings.TrimSpace(v)) })
}
