package mockserver

import (
	"net/http"
	"slices"
	"strconv"
)

// A Profile is how an API words its side of the bargain. The zero value is that
// of the IETF draft of the Idempotency-Key header, with the usual marker.
type Profile struct {
	Name string
	// KeyHeader carries the key. Default Idempotency-Key.
	KeyHeader string
	// Marker is the header of a replayed answer, with the value "true". Default
	// Idempotent-Replayed. NoMarker sends none.
	Marker   string
	NoMarker bool
	// InFlight answers a repeat while the first request still runs. Default:
	// 409, Retry-After: 1, code idempotency_in_progress.
	InFlight Answer
	// Mismatch answers a known key with another payload. Default: 422, code
	// idempotency_key_mismatch.
	Mismatch Answer
	// Released lists the statuses that are not stored without an effect: the key
	// counts as new afterwards. "5xx" is a class. Default, when nil: those that
	// speak of the moment and not of the request (401, 403, 408, 409, 423, 425,
	// 429, 5xx). Empty but not nil: every answer is stored.
	Released []string
}

var releasedByDefault = []string{"401", "403", "408", "409", "423", "425", "429", "5xx"}

func (p Profile) withDefaults() Profile {
	if p.KeyHeader == "" {
		p.KeyHeader = "Idempotency-Key"
	}
	p.KeyHeader = http.CanonicalHeaderKey(p.KeyHeader)
	if p.Marker == "" {
		p.Marker = "Idempotent-Replayed"
	}
	if p.InFlight.Status == 0 {
		p.InFlight = problem(http.StatusConflict, "idempotency_in_progress",
			"a request with this key is still running").with("Retry-After", "1")
	}
	if p.Mismatch.Status == 0 {
		p.Mismatch = problem(http.StatusUnprocessableEntity, "idempotency_key_mismatch",
			"this key was used with another request")
	}
	if p.Released == nil {
		p.Released = releasedByDefault
	}
	return p
}

// stores reports whether an answer without an effect is kept under its key.
func (p Profile) stores(status int) bool {
	return !slices.Contains(p.Released, strconv.Itoa(status)) &&
		!slices.Contains(p.Released, strconv.Itoa(status/100)+"xx")
}
