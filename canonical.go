package oncehttp

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxJSONDepth is how many arrays and objects may stand in each other.
	maxJSONDepth = 1000
	// maxExponentDigits of a number, less leading zeros: 18 fit an int64.
	maxExponentDigits = 18
	// endOfText ends strings and numbers in the canonical form: no UTF-8 text
	// holds this byte.
	endOfText = 0xFF
)

// canonicalJSON returns one encoding for all spellings of one JSON value: the
// order of keys, white space, escapes in strings and the spelling of numbers
// make no difference, anything else does. Values that ignore names are left
// out, as if their key or element were not there.
//
// It reports false for what has no single meaning or is not JSON (RFC 8259, and
// RFC 7493 for the first three): a key twice in an object, also where ignored;
// a surrogate alone; invalid UTF-8; bytes before or after the value; more than
// maxJSONDepth levels; an exponent of more than maxExponentDigits.
//
// The encoding of a scalar is a tag and its text; that of an array or object a
// tag and the SHA-256 of what is in it, so that no byte is copied or hashed once
// per level. It takes at most eleven bytes of memory a byte of text ("[],").
// Version 1 fingerprints are made of it: it never changes.
func canonicalJSON(text []byte, ignore *pointerSet) ([]byte, bool) {
	if !utf8.Valid(text) {
		return nil, false
	}
	c := canonical{in: text, hash: sha256.New()}
	if !c.value(0, ignore) {
		return nil, false
	}
	c.space()
	return c.out, c.pos == len(text)
}

type canonical struct {
	in      []byte
	pos     int
	out     []byte   // encodings of what is in the open arrays and objects
	members []member // of the open objects
	hash    hash.Hash
}

// member is where an object's member stands in out: the key up to value, its
// value up to end.
type member struct {
	key, value, end int
	ignored         bool
}

func (c *canonical) space() {
	for c.pos < len(c.in) {
		switch c.in[c.pos] {
		case ' ', '\t', '\r', '\n':
			c.pos++
		default:
			return
		}
	}
}

// take goes over the next byte if it is b.
func (c *canonical) take(b byte) bool {
	if c.pos < len(c.in) && c.in[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

func (c *canonical) value(depth int, ignore *pointerSet) bool {
	c.space()
	if c.pos == len(c.in) {
		return false
	}
	switch c.in[c.pos] {
	case '{':
		return c.object(depth, ignore)
	case '[':
		return c.array(depth, ignore)
	case '"':
		return c.string()
	case 'n':
		return c.word("null")
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	default:
		return c.number()
	}
}

func (c *canonical) word(w string) bool {
	if !bytes.HasPrefix(c.in[c.pos:], []byte(w)) {
		return false
	}
	c.pos += len(w)
	c.out = append(c.out, w[0])
	return true
}

func (c *canonical) array(depth int, ignore *pointerSet) bool {
	if depth == maxJSONDepth {
		return false
	}
	start := len(c.out)
	c.out = append(c.out, '[')
	c.pos++
	c.space()
	for i := 0; !c.take(']'); i++ {
		if i > 0 && !c.take(',') {
			return false
		}
		end, below := len(c.out), ignore.index(i)
		if !c.value(depth+1, below) {
			return false
		}
		if below.here() {
			c.out = c.out[:end]
		}
		c.space()
	}
	sum := sha256.Sum256(c.out[start:])
	c.out = append(c.out[:start+1], sum[:]...)
	return true
}

func (c *canonical) object(depth int, ignore *pointerSet) bool {
	if depth == maxJSONDepth {
		return false
	}
	start, first := len(c.out), len(c.members)
	c.pos++
	c.space()
	for !c.take('}') {
		if len(c.members) > first && !c.take(',') {
			return false
		}
		m := member{key: len(c.out)}
		c.space()
		if c.pos == len(c.in) || c.in[c.pos] != '"' || !c.string() {
			return false
		}
		m.value = len(c.out)
		c.space()
		if !c.take(':') {
			return false
		}
		var below *pointerSet
		if ignore != nil {
			below = ignore.name(string(c.out[m.key+1 : m.value-1]))
		}
		if !c.value(depth+1, below) {
			return false
		}
		if m.ignored = below.here(); m.ignored {
			c.out = c.out[:m.value]
		}
		m.end = len(c.out)
		c.members = append(c.members, m)
		c.space()
	}
	members := c.members[first:]
	slices.SortFunc(members, func(a, b member) int {
		return bytes.Compare(c.out[a.key:a.value], c.out[b.key:b.value])
	})
	c.hash.Reset()
	c.hash.Write([]byte{'{'})
	for i, m := range members {
		if i > 0 && bytes.Equal(c.out[m.key:m.value], c.out[members[i-1].key:members[i-1].value]) {
			return false
		}
		if !m.ignored {
			c.hash.Write(c.out[m.key:m.end])
		}
	}
	c.members = c.members[:first]
	c.out = c.hash.Sum(append(c.out[:start], '{'))
	return true
}

// string reads a string at its opening quote and writes what it says.
func (c *canonical) string() bool {
	c.pos++
	c.out = append(c.out, '"')
	for {
		start := c.pos
		for c.pos < len(c.in) && c.in[c.pos] >= ' ' && c.in[c.pos] != '"' && c.in[c.pos] != '\\' {
			c.pos++
		}
		c.out = append(c.out, c.in[start:c.pos]...)
		switch {
		case c.take('"'):
			c.out = append(c.out, endOfText)
			return true
		case !c.take('\\') || !c.escape():
			return false
		}
	}
}

// escape reads an escape after its backslash.
func (c *canonical) escape() bool {
	if c.pos == len(c.in) {
		return false
	}
	b := c.in[c.pos]
	c.pos++
	switch b {
	case '"', '\\', '/':
	case 'b':
		b = '\b'
	case 'f':
		b = '\f'
	case 'n':
		b = '\n'
	case 'r':
		b = '\r'
	case 't':
		b = '\t'
	case 'u':
		r, ok := c.hex4()
		if utf16.IsSurrogate(r) {
			if !c.take('\\') || !c.take('u') {
				return false
			}
			var low rune
			low, ok = c.hex4()
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return false
			}
		}
		c.out = utf8.AppendRune(c.out, r)
		return ok
	default:
		return false
	}
	c.out = append(c.out, b)
	return true
}

func (c *canonical) hex4() (rune, bool) {
	if len(c.in)-c.pos < 4 {
		return 0, false
	}
	var r rune
	for _, b := range c.in[c.pos : c.pos+4] {
		switch {
		case '0' <= b && b <= '9':
			r = r<<4 | rune(b-'0')
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			r = r<<4 | rune(b|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	c.pos += 4
	return r, true
}

func (c *canonical) digits() []byte {
	start := c.pos
	for c.pos < len(c.in) && '0' <= c.in[c.pos] && c.in[c.pos] <= '9' {
		c.pos++
	}
	return c.in[start:c.pos]
}

// number writes sign, power of ten and digits without zeros at either end, so
// that equal decimal values are equal bytes. Nothing is computed with the value
// itself: 1e999999999 costs no more than 1.
func (c *canonical) number() bool {
	sign := byte('+')
	if c.take('-') {
		sign = '-'
	}
	whole := c.digits()
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	var fraction []byte
	if c.take('.') {
		if fraction = c.digits(); len(fraction) == 0 {
			return false
		}
	}
	var exponent []byte
	negative := false
	if c.take('e') || c.take('E') {
		if negative = c.take('-'); !negative {
			c.take('+')
		}
		if exponent = c.digits(); len(exponent) == 0 {
			return false
		}
	}

	fraction = bytes.TrimRight(fraction, "0")
	power := int64(-len(fraction))
	if len(fraction) == 0 {
		power = int64(len(whole))
		whole = bytes.TrimRight(whole, "0")
		power -= int64(len(whole))
	}
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		fraction = bytes.TrimLeft(fraction, "0")
	}
	if len(whole)+len(fraction) == 0 {
		c.out = append(c.out, '0')
		return true
	}
	exponent = bytes.TrimLeft(exponent, "0")
	if len(exponent) > maxExponentDigits {
		return false
	}
	if len(exponent) > 0 {
		e, err := strconv.ParseInt(string(exponent), 10, 64)
		if err != nil {
			return false
		}
		if negative {
			e = -e
		}
		power += e
	}
	c.out = binary.AppendVarint(append(c.out, sign), power)
	c.out = append(append(append(c.out, whole...), fraction...), endOfText)
	return true
}
