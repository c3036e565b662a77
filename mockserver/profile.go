package mockserver

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A Profile is how an API keeps its side of the bargain, and how it words its
// answers. The zero value follows the IETF draft of the Idempotency-Key header, with
// raw keys and the usual marker. Profiles are data: see [ParseProfile] and
// [Profiles]. In JSON the fields have the names below with a small first letter,
// durations are strings such as "24h", and answers are
// {"status": 409, "header": {"A": "b"}, "body": "..."}.
//
// In the body and header of every answer here {key} stands for the request's
// key, and {id} for the ID of the key's effect ([Effect].ID).
type Profile struct {
	Name string `json:"name,omitzero"`
	// Source of the facts, for the reader.
	Source string `json:"source,omitzero"`

	// Carrier is where the key travels. Default: the header KeyHeader, which is
	// Idempotency-Key by default, in double quotes if KeyQuoted.
	Carrier   Carrier `json:"carrier,omitzero"`
	KeyHeader string  `json:"keyHeader,omitzero"`
	KeyQuoted bool    `json:"keyQuoted,omitzero"`
	// Companions must travel with a key; a key without them is KeyInvalid.
	Companions []Companion `json:"companions,omitempty"`
	// KeyMin and KeyMax bound the key's length in bytes. Default 1 and 255.
	KeyMin int `json:"keyMin,omitzero"`
	KeyMax int `json:"keyMax,omitzero"`
	// KeyAlphabet lists the bytes allowed in a key. Default: printable ASCII
	// without space and comma.
	KeyAlphabet string `json:"keyAlphabet,omitzero"`
	// KeyUUID demands that a key is a UUID: "any" or "v4".
	KeyUUID UUIDRule `json:"keyUUID,omitzero"`
	// KeyRequired refuses unsafe requests without a key, with KeyMissing.
	// Default: 400 idempotency_key_missing.
	KeyRequired bool   `json:"keyRequired,omitzero"`
	KeyMissing  Answer `json:"keyMissing,omitzero"`
	// KeyInvalid answers a key that breaks a rule. Default: 400
	// invalid_idempotency_key.
	KeyInvalid Answer `json:"keyInvalid,omitzero"`
	// KeyIgnored lists the methods whose key is ignored: each such request
	// executes. "*" is every method.
	KeyIgnored []string `json:"keyIgnored,omitempty"`
	// Scope lists what a key is known together with, besides the tenant and
	// [Config].Operation. Where it is not nil, and does not list the credential, the
	// default of [Config].Tenant is one tenant for all credentials.
	Scope []Scope `json:"scope,omitzero"`
	// Compared says which parts of a request are compared when its key is known.
	Compared Compared `json:"compared,omitzero"`

	// TTL is how long a key is remembered where [Config].TTL is not set. Default
	// 24 h; negative: for ever.
	TTL time.Duration `json:"-"`
	// FromCompletion counts the TTL from the end of the first execution, not from
	// the first request; FromStamp from the time that a companion gives.
	FromCompletion bool `json:"fromCompletion,omitzero"`
	FromStamp      bool `json:"fromStamp,omitzero"`
	// Expired answers a key that has expired, and with FromStamp any request that
	// gives a time older than the TTL. Default: the key counts as new.
	Expired Answer `json:"expired,omitzero"`

	// Success is what an execution answers where [Config].Execute is not set.
	// Default: 201 with {"id": "effect-000001"}.
	Success Answer `json:"success,omitzero"`
	// Released lists the statuses that are not stored where there was no effect:
	// the key then counts as new. "5xx" is a class. Default, when nil: those that
	// speak of the moment and not of the request (401, 403, 408, 409, 423, 425,
	// 429, 5xx). Empty but not nil: every answer is stored.
	Released []string `json:"released,omitzero"`
	// Repeat answers a repeat of what took effect, in place of the stored answer:
	// an error that names what exists, or an empty success. Default: the stored
	// answer; with RepeatCurrent its present state, which has "state": "changed".
	Repeat        Answer `json:"repeat,omitzero"`
	RepeatCurrent bool   `json:"repeatCurrent,omitzero"`
	// Spent answers a repeat of what was stored without an effect. Default: the
	// stored answer.
	Spent Answer `json:"spent,omitzero"`
	// Replayed marks answers to repeats of what is done. Default: the header
	// Marker, which is Idempotent-Replayed by default, with the value "true".
	// NoMarker marks nothing.
	Replayed Mark   `json:"replayed,omitzero"`
	Marker   string `json:"marker,omitzero"`
	NoMarker bool   `json:"noMarker,omitzero"`
	// Ignored marks answers to requests that were carried out as if they had no
	// key (KeyIgnored, MismatchExecutes, InFlightExecutes, KeysDownExecutes).
	// Default: nothing does.
	Ignored Mark `json:"ignored,omitzero"`
	// Origin marks every answer of the API itself, errors too; answers that play
	// something in between never carry it. A body that already has a value at its
	// pointer keeps that. Default: no such mark.
	Origin Mark `json:"origin,omitzero"`

	// InFlight answers a repeat while the first request still runs; a status of
	// 102 is sent as an interim answer, and no final one follows. Default: 409,
	// Retry-After: 1, code idempotency_in_progress. Instead, InFlightWaits lets the
	// repeat wait for the first to end, and InFlightExecutes carries it out as well.
	InFlight         Answer `json:"inFlight,omitzero"`
	InFlightWaits    bool   `json:"inFlightWaits,omitzero"`
	InFlightExecutes bool   `json:"inFlightExecutes,omitzero"`
	// OnMismatch is what the API does with a known key and another request.
	// Mismatch is the answer where that request is refused (default: 422, code
	// idempotency_key_mismatch) or dropped (default: 200 with {}).
	Mismatch   Answer     `json:"mismatch,omitzero"`
	OnMismatch OnMismatch `json:"onMismatch,omitzero"`
	// Indeterminate answers a repeat of a request that was running when the
	// server crashed. Default: 409 idempotency_indeterminate.
	Indeterminate Answer `json:"indeterminate,omitzero"`
	// KeysDown is the answer while keys cannot be looked up ([Fault].KeysDown):
	// nothing is done. Default: 503 idempotency_store_down. KeysDownExecutes carries
	// the request out without its key instead.
	KeysDown         Answer `json:"keysDown,omitzero"`
	KeysDownExecutes bool   `json:"keysDownExecutes,omitzero"`
	// Throttled answers requests beyond [Config].PerSecond. Default: 429,
	// Retry-After: 1, code rate_limited.
	Throttled Answer `json:"throttled,omitzero"`

	// Plant is a field of the request by whose value effects can be found.
	Plant Plant `json:"plant,omitzero"`
	// Finds are the ways to ask for effects. Default: there are none.
	Finds []Find `json:"finds,omitempty"`
}

// OnMismatch is what an API does with a known key and another request.
type OnMismatch string

const (
	// MismatchRefused answers with [Profile].Mismatch, and does nothing.
	MismatchRefused OnMismatch = ""
	// MismatchIgnored compares nothing: the old answer is replayed.
	MismatchIgnored OnMismatch = "ignored"
	// MismatchExecutes takes the request for a new one, without a key.
	MismatchExecutes OnMismatch = "executes"
	// MismatchOverwrites carries the request out in place of the first, once that
	// has ended: the first effect stays in the ledger, marked Overwritten.
	MismatchOverwrites OnMismatch = "overwrites"
	// MismatchDrops reports success, and does nothing.
	MismatchDrops OnMismatch = "drops"
)

// A Scope is something that a key is known together with.
type Scope string

const (
	ScopeHost       Scope = "host"
	ScopeMethod     Scope = "method"
	ScopePath       Scope = "path"
	ScopeCredential Scope = "credential" // the Authorization header
)

var releasedByDefault = []string{"401", "403", "408", "409", "423", "425", "429", "5xx"}

func (p Profile) withDefaults() Profile {
	if p.Carrier.Kind == CarrierDefault {
		setDefault(&p.KeyHeader, "Idempotency-Key")
		p.Carrier = Carrier{Kind: CarrierHeader, Name: p.KeyHeader, Quoted: p.KeyQuoted}
	}
	setDefault(&p.TTL, 24*time.Hour)
	setDefault(&p.KeyMin, 1)
	setDefault(&p.KeyMax, 255)
	if p.Replayed == (Mark{}) && !p.NoMarker {
		setDefault(&p.Marker, "Idempotent-Replayed")
		p.Replayed = Mark{Header: p.Marker}
	}
	if p.Released == nil {
		p.Released = releasedByDefault
	}
	for field, usual := range map[*Answer]Answer{
		&p.KeyMissing: problem(http.StatusBadRequest, "idempotency_key_missing", "this API wants a key"),
		&p.KeyInvalid: problem(http.StatusBadRequest, "invalid_idempotency_key", "send one key, as the API's rule for keys wants it"),
		&p.InFlight: problem(http.StatusConflict, "idempotency_in_progress",
			"a request with this key is still running").with("Retry-After", "1"),
		&p.Mismatch: mismatchByDefault(p.OnMismatch),
		&p.Indeterminate: problem(http.StatusConflict, "idempotency_indeterminate",
			"nobody knows yet whether the first request with this key took effect"),
		&p.KeysDown:  problem(http.StatusServiceUnavailable, "idempotency_store_down", "keys cannot be looked up now"),
		&p.Throttled: problem(http.StatusTooManyRequests, "rate_limited", "").with("Retry-After", "1"),
		&p.Success:   {Status: http.StatusCreated, Header: jsonHeader(), Body: "{\"id\":\"{id}\"}\n"},
	} {
		if field.Status == 0 {
			*field = usual
		}
	}
	return p
}

func mismatchByDefault(on OnMismatch) Answer {
	if on == MismatchDrops {
		return Answer{Status: http.StatusOK, Header: jsonHeader(), Body: "{}\n"}
	}
	return problem(http.StatusUnprocessableEntity, "idempotency_key_mismatch",
		"this key was used with another request")
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

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

// ignores reports whether the key of a method is ignored.
func (p Profile) ignores(method string) bool {
	return slices.Contains(p.KeyIgnored, "*") || slices.Contains(p.KeyIgnored, method)
}
