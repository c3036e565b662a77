package mockserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Profile is how an API words its side of the bargain. The zero value is that
// of the IETF draft of the Idempotency-Key header, with raw keys and the usual
// marker. Profiles are data: see [ParseProfile] and [Profiles].
type Profile struct {
	Name string `json:"name,omitzero"`
	// Source of the facts, for the reader.
	Source string `json:"source,omitzero"`

	// TTL is how long a key is remembered where [Config].TTL is not set. In JSON as
	// "24h". Default 24 h; negative: for ever.
	TTL time.Duration `json:"-"`
	// KeyHeader carries the key. Default Idempotency-Key.
	KeyHeader string `json:"keyHeader,omitzero"`
	// KeyMin and KeyMax bound the key's length in bytes. Default 1 and 255.
	KeyMin int `json:"keyMin,omitzero"`
	KeyMax int `json:"keyMax,omitzero"`
	// KeyAlphabet lists the bytes allowed in a key. Default: printable ASCII
	// without space and comma.
	KeyAlphabet string `json:"keyAlphabet,omitzero"`
	// KeyQuoted: the key is a structured-field string (RFC 9651 section 3.3.3), in
	// double quotes; a raw one is refused.
	KeyQuoted bool `json:"keyQuoted,omitzero"`
	// KeyRequired refuses unsafe requests without a key: 400 idempotency_key_missing.
	KeyRequired bool `json:"keyRequired,omitzero"`

	// Marker is the header of a replayed answer, with the value "true". Default
	// Idempotent-Replayed. NoMarker sends none.
	Marker   string `json:"marker,omitzero"`
	NoMarker bool   `json:"noMarker,omitzero"`
	// Repeat answers a repeat of what is done, in place of the stored answer.
	// Default: the stored answer.
	Repeat Answer `json:"repeat,omitzero"`
	// InFlight answers a repeat while the first request still runs. Default:
	// 409, Retry-After: 1, code idempotency_in_progress. InFlightWaits lets the
	// repeat wait for the first to end instead.
	InFlight      Answer `json:"inFlight,omitzero"`
	InFlightWaits bool   `json:"inFlightWaits,omitzero"`
	// Mismatch answers a known key with another payload. Default: 422, code
	// idempotency_key_mismatch. OnMismatch is what the API does beside it.
	Mismatch   Answer     `json:"mismatch,omitzero"`
	OnMismatch OnMismatch `json:"onMismatch,omitzero"`
	// Indeterminate answers a repeat of a request that was running when the
	// server crashed. Default: 409 idempotency_indeterminate.
	Indeterminate Answer `json:"indeterminate,omitzero"`
	// Expired answers a key that has expired. Default: it counts as new.
	Expired Answer `json:"expired,omitzero"`
	// FromCompletion counts the TTL from the end of the first execution, not from
	// the first request.
	FromCompletion bool `json:"fromCompletion,omitzero"`
	// Released lists the statuses that are not stored without an effect: the key
	// counts as new afterwards. "5xx" is a class. Default, when nil: those that
	// speak of the moment and not of the request (401, 403, 408, 409, 423, 425,
	// 429, 5xx). Empty but not nil: every answer is stored.
	Released []string `json:"released,omitzero"`
}

// OnMismatch is what an API does with a known key and another payload.
type OnMismatch string

const (
	// MismatchRefused answers with [Profile].Mismatch, and does nothing.
	MismatchRefused OnMismatch = ""
	// MismatchIgnored compares nothing: the old answer is replayed.
	MismatchIgnored OnMismatch = "ignored"
	// MismatchExecutes takes the request for a new one, without a key.
	MismatchExecutes OnMismatch = "executes"
)

var releasedByDefault = []string{"401", "403", "408", "409", "423", "425", "429", "5xx"}

func (p Profile) withDefaults() Profile {
	setDefault(&p.KeyHeader, "Idempotency-Key")
	p.KeyHeader = http.CanonicalHeaderKey(p.KeyHeader)
	setDefault(&p.TTL, 24*time.Hour)
	setDefault(&p.KeyMin, 1)
	setDefault(&p.KeyMax, 255)
	setDefault(&p.Marker, "Idempotent-Replayed")
	if p.InFlight.Status == 0 {
		p.InFlight = problem(http.StatusConflict, "idempotency_in_progress",
			"a request with this key is still running").with("Retry-After", "1")
	}
	if p.Mismatch.Status == 0 {
		p.Mismatch = problem(http.StatusUnprocessableEntity, "idempotency_key_mismatch",
			"this key was used with another request")
	}
	if p.Indeterminate.Status == 0 {
		p.Indeterminate = problem(http.StatusConflict, "idempotency_indeterminate",
			"nobody knows yet whether the first request with this key took effect")
	}
	if p.Released == nil {
		p.Released = releasedByDefault
	}
	return p
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// stores reports whether an answer without an effect is kept under its key.
func (p Profile) stores(status int) bool {
	return !slices.Contains(p.Released, strconv.Itoa(status)) &&
		!slices.Contains(p.Released, strconv.Itoa(status/100)+"xx")
}

// keyOf takes the key from a header that must be there at most once: a second
// line or a comma would be read as two keys by one hop and as one by the next.
// A key that is not ok is returned as it came, for the ledger.
func (p Profile) keyOf(r *http.Request) (key string, ok bool) {
	var values []string
	for field, v := range r.Header {
		if strings.EqualFold(field, p.KeyHeader) {
			values = append(values, v...)
		}
	}
	if len(values) == 0 {
		return "", true
	}
	key = strings.Join(values, ",")
	if p.KeyQuoted {
		inside, quoted := unquote(key)
		if !quoted {
			return key, false
		}
		key = inside
	}
	return key, len(values) == 1 && len(key) >= p.KeyMin && len(key) <= p.KeyMax &&
		strings.IndexFunc(key, func(c rune) bool { return !p.allows(c) }) < 0
}

func (p Profile) allows(c rune) bool {
	if p.KeyAlphabet != "" {
		return strings.ContainsRune(p.KeyAlphabet, c)
	}
	return c > ' ' && c < 0x7f && c != ','
}

// unquote reads a structured-field string without escapes, which no key needs.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	return s, !strings.ContainsAny(s, `"\`)
}
