package oncehttp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A KeyRule is what the API accepts as a key. Keys are ASCII, so a length in
// bytes is also one in characters; quotes are not counted.
type KeyRule struct {
	// Min and Max length. Zero: 1 and 255.
	Min, Max int
	// Alphabet lists the bytes allowed. Empty: printable ASCII without the
	// space, the comma, the double quote and the backslash, which trimming,
	// lists and quoting break; a list of your own cannot have these either.
	Alphabet string
	// Form the key is minted in. Default FormUUID.
	Form KeyForm
	// UUID says whether a key must be a UUID as well, one that the caller has set
	// included.
	UUID UUIDRule
	// Need says which requests the API refuses without a key. It is there for the
	// reader: the client sends a key with every request that the contract matches.
	Need KeyNeed
}

// KeyForm is the spelling of a minted key.
type KeyForm uint8

const (
	// FormUUID is 36 bytes, lower case with hyphens (RFC 9562), and random.
	FormUUID KeyForm = iota
	// FormHex is the same 128 bits as 32 hexadecimal digits.
	FormHex
	// FormDerived is the UUIDv5 (RFC 9562 section 5.5) of the contract's name and
	// the action, for an API that asks for keys derived from the operation. Whoever
	// knows the action can compute it. The key of an anonymous action is random.
	FormDerived
	// FormLong is the 32 digits of FormHex, twice over: for an API whose keys have
	// at least 33 bytes.
	FormLong
)

// UUIDRule is which UUIDs an API demands.
type UUIDRule uint8

const (
	// UUIDNone: any text.
	UUIDNone UUIDRule = iota
	// UUIDAny: a UUID, of any version.
	UUIDAny
	// UUIDRandom: a UUIDv4, because the API checks the version, or because whoever
	// guesses a key can read another caller's answer.
	UUIDRandom
)

// KeyNeed is which requests an API refuses without a key.
type KeyNeed uint8

const (
	// NeedNone: the key is optional.
	NeedNone KeyNeed = iota
	// NeedSome: some operations refuse.
	NeedSome
	// NeedAll: a request without a key is refused.
	NeedAll
)

const (
	leastKey = 1   // bytes, where KeyRule.Min is zero
	mostKey  = 255 // bytes, where KeyRule.Max is zero
)

// lengths returns the least and most bytes of a key.
func (r KeyRule) lengths() (least, most int) {
	least, most = leastKey, mostKey
	if r.Min != 0 {
		least = r.Min
	}
	if r.Max != 0 {
		most = r.Max
	}
	return least, most
}

// allows reports whether a key may hold the byte.
func (r KeyRule) allows(c byte) bool {
	return safeKeyByte(c) && (r.Alphabet == "" || strings.IndexByte(r.Alphabet, c) >= 0)
}

// safeKeyByte reports whether a byte comes through a header unchanged, alone,
// in a list and in a quoted string.
func safeKeyByte(c byte) bool {
	return c > ' ' && c < 0x7f && c != ',' && c != '"' && c != '\\'
}

// spelling returns the length of a minted key and every byte it may hold.
func (f KeyForm) spelling() (length int, bytes string) {
	switch f {
	case FormHex:
		return 32, "0123456789abcdef"
	case FormLong:
		return 64, "0123456789abcdef"
	}
	return 36, "0123456789abcdef-"
}

// checkKey says which rule of the contract a key breaks. The error never holds
// the key, nor the contract's name.
func (c *Contract) checkKey(key string) error {
	least, most := c.Key.lengths()
	if len(key) < least || len(key) > most {
		return fmt.Errorf("the key has %d bytes; the contract allows %d to %d", len(key), least, most)
	}
	for i := range len(key) {
		if !c.Key.allows(key[i]) {
			return fmt.Errorf("the key's byte %d is not in the contract's alphabet; use only bytes that Key.Alphabet allows", i+1)
		}
	}
	if c.Carrier.Kind == CarrierPath && climbs(key) {
		return errors.New("the key holds a step of a path (. or ..), which servers resolve; use another")
	}
	if c.Key.UUID == UUIDNone {
		return nil
	}
	id, err := uuid.Parse(key)
	switch {
	case err != nil || len(key) != 36 && len(key) != 32: // Parse takes braces and urn:uuid: too
		return errors.New("the key is not a UUID, which the contract asks for (Key.UUID)")
	case c.Key.UUID == UUIDRandom && (id[6]>>4 != 4 || id[8]>>6 != 2):
		return errors.New("the key is not a random UUID (version 4), which the contract asks for (Key.UUID)")
	}
	return nil
}

// mint spells 128 random bits as a key in the contract's form. Six of them give
// way to the version and variant of a UUIDv4 (RFC 9562 section 5.4), so that
// one intent's key is the same number in every form.
func (c *Contract) mint(random [16]byte) string {
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	switch digits := hex.EncodeToString(random[:]); c.Key.Form {
	case FormHex:
		return digits
	case FormLong:
		return digits + digits
	}
	return uuid.UUID(random).String()
}

// wire is a valid key as it travels.
func (c *Contract) wire(key string) string {
	if c.Carrier.Quoted {
		return `"` + key + `"`
	}
	return key
}

// adopted returns the key that the caller has set in the carrier's header,
// without quotes. An error, which is ErrInvalidRequest, says why the carrier holds no
// single valid key: sent beside one of ours it would be another key.
func (c *Contract) adopted(h http.Header) (key string, ok bool, err error) {
	if c.Carrier.Kind != CarrierHeader {
		return "", false, nil
	}
	lines := 0
	for name, values := range h {
		if len(values) > 0 && strings.EqualFold(name, c.Carrier.Name) {
			lines += len(values)
			key = values[0]
		}
	}
	if lines == 0 {
		return "", false, nil
	}
	if lines > 1 {
		return "", false, fmt.Errorf("%w: contract %q: header %s stands %d times; set it once", ErrInvalidRequest, c.Name, c.Carrier.Name, lines)
	}
	key = strings.Trim(key, " \t")
	if c.Carrier.Quoted {
		if len(key) < 2 || key[0] != '"' || key[len(key)-1] != '"' {
			return "", false, fmt.Errorf("%w: contract %q: the value of header %s is not in double quotes, which this API asks for (RFC 9651 section 3.3.3)", ErrInvalidRequest, c.Name, c.Carrier.Name)
		}
		key = key[1 : len(key)-1]
	}
	if err := c.checkKey(key); err != nil {
		return "", false, fmt.Errorf("%w: contract %q: header %s: %w; set one that fits, or leave it out", ErrInvalidRequest, c.Name, c.Carrier.Name, err)
	}
	return key, true, nil
}

// adoptedWithin returns what names the key that the caller has put into the body
// or the URL: the key, or for the keys of a batch the first and what tells them
// from others. An error, which is ErrInvalidRequest, says why no key can stand
// there.
func (c *Contract) adoptedWithin(b begun, body []byte) (string, error) {
	at := c.Carrier.spot()
	keys, err := at.read(b, body)
	for _, key := range keys {
		if err != nil {
			break
		}
		if err = c.checkKey(key); err != nil {
			err = fmt.Errorf("%w; set one that fits, or leave it out", err)
		}
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: contract %q has the key in the %s: %w", ErrInvalidRequest, c.Name, at, err)
	case len(keys) == 0:
		return "", nil
	case !at.batch():
		return keys[0], nil
	}
	sum := sha256.Sum256([]byte(strings.Join(keys, "\x00")))
	return keys[0] + "\x00" + hex.EncodeToString(sum[:]), nil
}

// fill writes the key and what goes with it into the body and the URL, once and
// for all attempts. Companions in headers and the query wait for the first one.
func (c *Contract) fill(b *begun, body []byte, now time.Time) ([]byte, error) {
	var err error
	at := c.Carrier.spot()
	at.uuids = c.Key.UUID == UUIDAny
	if at.inBody() || at.inURL() {
		body, err = at.write(b, body, b.Wire)
	}
	var keys []string
	if err == nil && at.batch() {
		keys, err = at.read(*b, body)
	}
	for _, key := range keys { // the number of an item may be too long
		if err == nil {
			err = c.checkKey(key)
		}
	}
	if err == nil {
		body, err = b.accompany(body, now)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: contract %q: %w", ErrInvalidRequest, c.Name, err)
	}
	return body, nil
}
