package oncehttp

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An answerBody is a body known to be one whole JSON text, read in place: a
// look-up walks its bytes and builds nothing. Where a name stands twice in an
// object the last one counts, as in most decoders.
type answerBody []byte

// byteOrderMark may stand in front of JSON (RFC 8259 section 8.1) and of XML; it
// says nothing.
const byteOrderMark = "\ufeff"

// readAnswerBody reports whether body is one JSON text (RFC 8259), at most
// 10,000 levels deep. A body that was cut short is none.
func readAnswerBody(body []byte) (answerBody, bool) {
	body = bytes.TrimPrefix(body, []byte(byteOrderMark))
	if !json.Valid(body) {
		return nil, false
	}
	i := skipSpace(body, 0)
	return body[i:skipJSON(body, i)], true
}

// at returns the JSON text of the value that an RFC 6901 pointer names.
func (b answerBody) at(pointer string) (answerBody, bool) {
	for pointer != "" {
		token, rest, ok := firstToken(pointer)
		if !ok {
			return nil, false
		}
		if b, ok = b.child(token); !ok {
			return nil, false
		}
		pointer = rest
	}
	return b, true
}

// each yields the values that a pointer names, a token * standing for every item
// of an array.
func (b answerBody) each(pointer string) iter.Seq[answerBody] {
	return func(yield func(answerBody) bool) { b.walk(pointer, yield) }
}

func (b answerBody) walk(pointer string, yield func(answerBody) bool) bool {
	if pointer == "" {
		return yield(b)
	}
	token, rest, ok := firstToken(pointer)
	if !ok {
		return true
	}
	if token == "*" && b[0] == '[' {
		for item := range b.items() {
			if !item.walk(rest, yield) {
				return false
			}
		}
		return true
	}
	v, ok := b.child(token)
	return !ok || v.walk(rest, yield)
}

// firstToken parts a pointer, which is not empty, after its first token.
func firstToken(pointer string) (token, rest string, ok bool) {
	if pointer[0] != '/' {
		return "", "", false
	}
	token = pointer[1:]
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token, rest = token[:i], token[i:]
	}
	return token, rest, true
}

// child is what one token, still escaped, names in an object or array.
func (b answerBody) child(token string) (answerBody, bool) {
	switch b[0] {
	case '{':
		return b.member(unescapeToken(token))
	case '[':
		return b.element(token)
	}
	return nil, false
}

// textAt is the value at pointer as text.
func (b answerBody) textAt(pointer string) (string, bool) {
	v, ok := b.at(pointer)
	if !ok {
		return "", false
	}
	return v.text()
}

// text is a string's characters, the digits of a number as they stand, true or
// false. Objects, arrays and null have none.
func (b answerBody) text() (string, bool) {
	switch b[0] {
	case '{', '[', 'n':
		return "", false
	case '"':
		return unquoteJSON(b), true
	}
	return string(b), true
}

// isNull reports whether the value is JSON's null.
func (b answerBody) isNull() bool { return b[0] == 'n' }

// member is the last member of the object b with this name.
func (b answerBody) member(name string) (value answerBody, found bool) {
	for i := skipSpace(b, 1); b[i] != '}'; {
		end := skipJSON(b, i)
		match := sameName(b[i:end], name)
		i = skipSpace(b, end) + 1 // the colon
		i = skipSpace(b, i)
		end = skipJSON(b, i)
		if match {
			value, found = b[i:end], true
		}
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return value, found
}

// element is the element of the array b at an index without leading zeros.
func (b answerBody) element(token string) (answerBody, bool) {
	n, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(n) != token || n < 0 {
		return nil, false
	}
	for item := range b.items() {
		if n == 0 {
			return item, true
		}
		n--
	}
	return nil, false
}

// items yields the elements of the array b.
func (b answerBody) items() iter.Seq[answerBody] {
	return func(yield func(answerBody) bool) {
		for i := skipSpace(b, 1); b[i] != ']'; {
			end := skipJSON(b, i)
			if !yield(b[i:end]) {
				return
			}
			if i = skipSpace(b, end); b[i] == ',' {
				i = skipSpace(b, i+1)
			}
		}
	}
}

// skipSpace is the index of the first byte at or after i that is no white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipJSON is the index after the value that starts at i of valid JSON. It
// counts levels and does not recurse, so no depth can exhaust the stack.
func skipJSON(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			for i < len(b) && strings.IndexByte(" \t\n\r,:]}", b[i]) < 0 {
				i++
			}
			return i
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// sameName compares a quoted JSON name with a plain one.
func sameName(quoted []byte, name string) bool {
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c == '\\' || c >= utf8.RuneSelf {
			return unquoteJSON(quoted) == name
		}
	}
	return string(inner) == name
}

// unquoteJSON decodes a valid JSON string.
func unquoteJSON(quoted []byte) string {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return ""
	}
	return s
}

// unescapeToken undoes the escapes of RFC 6901 section 4, ~1 before ~0.
func unescapeToken(token string) string {
	if strings.IndexByte(token, '~') < 0 {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// pointerProblem says what keeps s from being an RFC 6901 pointer; "" if
// nothing does.
func pointerProblem(s string) string {
	switch {
	case s == "":
		return ""
	case s[0] != '/':
		return `does not start with "/"`
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return `has a "~" that is not written ~0 (for ~) or ~1 (for /)`
		}
	}
	return ""
}
