package oncehttp

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
)

// recordVersion is the format of encoded records. A record with a greater
// version is refused; smaller ones are read for as long as this module's major
// version lasts.
const recordVersion = 1

// A record is all that the journal keeps of an intent beside its two bodies:
// what was asked, and what is known. It is a value; the machine in intent.go
// makes one from another.
type record struct {
	ID       uuid.UUID `json:"-"`
	Revision uint64    `json:"-"` // zero: not on disk
	// copied: what is on disk was written before the journal was copied.
	copied bool

	Version int    `json:"v"`
	Action  string `json:"action"`
	// Latin is set on disk alone, see latin.go.
	Latin bool `json:"latin,omitzero"`
	// Begun holds what must not change between attempts.
	Begun begun `json:"begun"`

	State  State  `json:"state"`
	Reason Reason `json:"reason,omitzero"`
	// Attempts counts the sends started.
	Attempts int `json:"attempts,omitzero"`
	// Sending is the attempt that was started and not judged yet. After a crash
	// it may have been sent, or not.
	Sending *sending `json:"sending,omitzero"`
	// First is when the first attempt that may have had an effect was started:
	// the window counts from here. Last is the start of the latest attempt, Ended
	// when it was judged, or was found after a crash: what it may have brought
	// about shows a settle time later.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// Exposed: an attempt may have had an effect, and nothing has settled it.
	Exposed bool `json:"exposed,omitzero"`
	// Incomplete: Confirmed, with an answer whose body is missing and which a
	// repeat may bring.
	Incomplete bool `json:"incomplete,omitzero"`
	// Repeated: the evidence allows a second effect.
	Repeated bool `json:"repeated,omitzero"`
	// Running: the last answer said that an attempt still runs.
	Running bool `json:"running,omitzero"`
	// RefusedStatus is the last unmarked refusal seen while exposed, RefusedDate its
	// Date.
	RefusedStatus int       `json:"refused_status,omitzero"`
	RefusedDate   time.Time `json:"refused_date,omitzero"`
	// Looks counts the lookups; Absent is when one that was asked past the settle
	// time did not find the effect, and AbsentDate the Date of what answered. It
	// speaks of the attempts before it alone.
	Looks      int       `json:"looks,omitzero"`
	Absent     time.Time `json:"absent,omitzero"`
	AbsentDate time.Time `json:"absent_date,omitzero"`
	// Waits is the index of the backoff.
	Waits int `json:"waits,omitzero"`
	// NotBefore is the floor of the next send, whoever asks for it; Due is when
	// the intent may be taken up by itself. Zero Due: not by itself.
	NotBefore time.Time `json:"not_before,omitzero"`
	Due       time.Time `json:"due,omitzero"`
	// Wish is until when the API has asked to be left alone, in an answer to an
	// attempt or to a lookup: no lookup of a contract goes before it. HostWish is
	// the same by a 429 or 503, which speak of the whole host.
	Wish     time.Time `json:"wish,omitzero"`
	HostWish time.Time `json:"host_wish,omitzero"`
	// Parked: another attempt cannot help, so none is made unless somebody asks.
	Parked bool `json:"parked,omitzero"`
	// Seen is the highest wall time at which this record was written.
	Seen time.Time `json:"seen,omitzero"`
	// Answer is the final answer, Reference what the effect is called.
	Answer    *answer `json:"answer,omitzero"`
	Reference string  `json:"reference,omitzero"`
	// Overruled: a person has said the contrary of Answer, which is evidence still
	// and is not handed on.
	Overruled bool `json:"overruled,omitzero"`
	// Cause is the text of the last cause.
	Cause string `json:"cause,omitzero"`
	// Words are what people and webhooks said, in order.
	Words []word `json:"words,omitzero"`
	// Tombstone: the record was pruned down to what answers Do.
	Tombstone bool `json:"tombstone,omitzero"`
	// Rival is the state that later evidence spoke for, against State.
	Rival State `json:"rival,omitzero"`
}

// begun is what an intent was begun with.
type begun struct {
	At time.Time `json:"at"`
	// Born is when the action was begun elsewhere, under the same key.
	Born time.Time `json:"born,omitzero"`
	// Key is the idempotency key and Wire what the carrier holds; empty where
	// no contract matched. Contract, Carrier and Window are the contract's as
	// it was then.
	Key      string  `json:"key,omitzero"`
	Wire     string  `json:"wire,omitzero"`
	Contract string  `json:"contract,omitzero"`
	Carrier  Carrier `json:"carrier,omitzero"`
	// Companions travel with the key. Stamped is the time that they tell; zero:
	// none does, or no attempt has told it yet.
	Companions []Companion `json:"companions,omitzero"`
	Stamped    time.Time   `json:"stamped,omitzero"`
	Window     Window      `json:"window,omitzero"`
	// Credential is the print of the credentials of the first attempt that may
	// have had an effect, where the contract pins them.
	Credential string `json:"credential,omitzero"`
	// Adopted: the key is the caller's, and names the intent too.
	Adopted bool `json:"adopted,omitzero"`
	// Idempotent: the request may be repeated without a key.
	Idempotent bool `json:"idempotent,omitzero"`
	// Planted is where an id was written into the request, and PlantedID what. Zero:
	// nowhere.
	Planted   Plant  `json:"planted,omitzero"`
	PlantedID string `json:"planted_id,omitzero"`

	Method string      `json:"method"`
	URL    string      `json:"url"`
	Host   string      `json:"host,omitzero"`
	Header http.Header `json:"header,omitzero"`
	// Stripped names what was sent and is not kept: header names, query
	// parameters and userinfo, as stripHeader and stripURL name them.
	Stripped []string `json:"stripped,omitzero"`
	// Size of the request's body, and the fingerprint of the whole payload.
	Size        int    `json:"size,omitzero"`
	Fingerprint string `json:"fingerprint"`
	// Sealed: the bodies are encrypted, and the fingerprint is keyed.
	Sealed bool `json:"sealed,omitzero"`
	// Principal is a keyed digest of whose action it is; empty: nobody's.
	Principal string `json:"principal,omitzero"`
}

// sending is an attempt between the save that starts it and its judgement.
type sending struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Stamps: it is the first to tell Begun.Stamped.
	Stamps bool `json:"stamps,omitzero"`
}

// answer is a final answer without its body, which the journal keeps apart.
type answer struct {
	Status     int         `json:"status"`
	Header     http.Header `json:"header,omitzero"`
	Replayed   bool        `json:"replayed,omitzero"`
	Incomplete bool        `json:"incomplete,omitzero"`
	At         time.Time   `json:"at"`
	body       []byte
}

// principalDigest tells principals apart without naming them.
func principalDigest(id uuid.UUID, principal string) string {
	if principal == "" {
		return ""
	}
	return hex.EncodeToString(keyedDigest(id[:], principal))
}

// word is what an operator or a webhook said.
type word struct {
	At        time.Time `json:"at"`
	From      State     `json:"from"`
	To        State     `json:"to"`
	Reference string    `json:"reference,omitzero"`
	By        string    `json:"by,omitzero"`
	Why       string    `json:"why,omitzero"`
}

// open intents are unresolved: Pending, or in conflict.
func (r record) open() bool { return r.State == Pending || r.Reason == Conflict }

// mayHaveExecuted includes the attempt that a crash may have cut off.
func (r record) mayHaveExecuted() bool {
	return r.State == Pending && (r.Exposed || r.Sending != nil)
}

// again: a Rejected that was never exposed and was refused for the moment is
// begun again by a new Do, under the same key and with the same payload.
func (r record) again() bool {
	return r.State == Rejected && r.Reason == Unauthorized && r.First.IsZero() && len(r.Words) == 0 && !r.Tombstone
}

// anonymous intents are found by their ID, not by their action.
func (r record) anonymous() bool { return r.Action == anonymousPrefix+r.ID.String() }

// tombstone is what is left of a record when its time is over.
func (r record) tombstone() record {
	return record{
		ID: r.ID, Revision: r.Revision, Action: r.Action, Tombstone: true,
		Begun: begun{At: r.Begun.At, Key: r.Begun.Key, Contract: r.Begun.Contract, Adopted: r.Begun.Adopted,
			Carrier: r.Begun.Carrier, Companions: r.Begun.Companions, Fingerprint: r.Begun.Fingerprint, Sealed: r.Begun.Sealed, Principal: r.Begun.Principal},
		State: r.State, Reason: r.Reason, Reference: r.Reference, Attempts: r.Attempts, Repeated: r.Repeated, Seen: r.Seen, First: r.First,
	}
}

// entry is the record as the journal keeps it. The bodies are set by whoever
// writes them.
func (r record) entry() (Entry, error) {
	r.Version = recordVersion
	if !r.plain() {
		r.Latin = true
		r.respell(toLatin)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return Entry{}, fmt.Errorf("oncehttp: action %s cannot be recorded: %w", quoteAction(r.Action), err)
	}
	return Entry{ID: r.ID, Revision: r.Revision, Open: r.open(), Due: r.due(), Record: text}, nil
}

// due is when the journal lists the record as due. An attempt that is found
// unjudged is due at once.
func (r record) due() time.Time {
	if r.State == Pending && r.Sending != nil {
		return r.Sending.At
	}
	if r.State != Pending {
		return time.Time{}
	}
	return r.Due
}

func decodeRecord(e Entry) (record, error) {
	var head struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(e.Record, &head); err != nil || head.Version < 1 {
		return record{}, fmt.Errorf("%w: entry %s is not a record", ErrJournalCorrupt, e.ID)
	}
	if head.Version > recordVersion {
		return record{}, fmt.Errorf("%w: entry %s has record version %d, this code reads up to %d: use a newer oncehttp", ErrJournal, e.ID, head.Version, recordVersion)
	}
	r := record{ID: e.ID, Revision: e.Revision}
	if err := json.Unmarshal(e.Record, &r); err != nil {
		return record{}, fmt.Errorf("%w: entry %s is not a record", ErrJournalCorrupt, e.ID)
	}
	if r.Latin {
		r.Latin = false
		r.respell(fromLatin)
	}
	r.copied = e.Copied
	r.exposeCopied()
	if r.Sending != nil && r.Sending.At.IsZero() || r.Exposed && r.First.IsZero() {
		// Without the time of an attempt no window would end.
		return record{}, fmt.Errorf("%w: entry %s lacks the time of an attempt", ErrJournalCorrupt, e.ID)
	}
	return r, nil
}

// exposeCopied: the original of a record that was copied unresolved may have
// sent it at any time since it was begun.
func (r *record) exposeCopied() {
	if !r.copied || r.State != Pending {
		return
	}
	r.Exposed, r.First = true, r.Begun.At
	if r.Reason == NotSent || r.Reason == "" {
		r.Reason = Unknown
	}
}

// outcome is what the record says. Bodies are added by the caller.
func (r record) outcome(contract *Contract, share float64, attempt time.Duration) *Outcome {
	o := &Outcome{
		Action: r.Action, Key: r.Begun.Key,
		State: r.State, Reason: r.Reason,
		MayHaveExecuted: r.mayHaveExecuted(), MayHaveRepeated: r.Repeated,
		Reference: r.Reference, Attempts: r.Attempts,
		InFlight: r.Sending != nil,
		Contract: r.Begun.Contract,
	}
	if r.Sending != nil && r.State == Pending && (r.Reason == NotSent || r.Reason == "") {
		o.Reason = Unknown
	}
	if r.State == Pending && (r.Attempts > 0 && r.Reason != Copied || r.Reason == GateClosed) {
		o.RetryAt = r.Due
	}
	if until, bounded := r.safeUntil(r.window(contract), share, attempt); bounded {
		o.SafeUntil = until
	}
	if r.Answer != nil && !r.Overruled {
		o.Response = r.Answer.response()
	}
	if r.Cause != "" {
		o.Err = causeText(r.Cause)
	}
	return o
}

func (a *answer) response() *Response {
	return &Response{StatusCode: a.Status, Header: a.Header.Clone(), Body: a.body, Replayed: a.Replayed, BodyIncomplete: a.Incomplete}
}

// settle merges a settling answer.
func (r *record) settle(state State, e event, at time.Time) {
	j := e.judged
	switch {
	case r.State == Pending:
		r.State, r.Reason, r.Cause = state, "", e.cause
		if state == Rejected {
			r.Reason = j.reason
		}
	case r.State == Confirmed && state == Rejected && !j.settles && !r.First.IsZero():
		return // refused this time, which says nothing of the time it took effect
	case r.State != state:
		r.Reason, r.Rival = Conflict, state
		return
	case r.State == Confirmed && !r.Incomplete && r.Answer != nil && !r.Overruled:
		return // the first whole answer stays
	}
	r.Exposed = false
	if state == Confirmed {
		if r.First.IsZero() {
			r.First = at
		}
		r.Incomplete = j.incomplete && j.again == againNow
		r.Cause = e.cause // the answer that is whole now may have been cut before
	}
	if r.Reference == "" {
		r.Reference = j.reference
	}
	if e.answer != nil {
		r.Answer, r.Overruled = e.answer, false
	}
}

// attest takes a person's or a webhook's word. It may change what was settled.
func (r *record) attest(w word) {
	w.From = r.State
	r.Overruled = r.Answer != nil && r.Overruled != (w.From != w.To)
	r.Words = append(r.Words[:len(r.Words):len(r.Words)], w)
	r.State, r.Exposed, r.Incomplete = w.To, false, false
	r.Reason, r.Rival, r.Cause = "", Pending, ""
	if w.To == Rejected {
		r.Reason = Refused
	}
	if w.Reference != "" {
		r.Reference = w.Reference
	}
	r.NotBefore, r.Due = time.Time{}, time.Time{}
}

// wishes takes note of until when the API wants to be left alone.
func (r *record) wishes(until time.Time, ofHost bool) {
	r.Wish = later(r.Wish, until)
	if ofHost {
		r.HostWish = later(r.HostWish, until)
	}
}

// wholeMicros rounds up to what the journal's index keeps, so that an intent is
// due at the very time that it is told to be.
func wholeMicros(t time.Time) time.Time {
	if rest := t.Nanosecond() % 1000; rest != 0 {
		return t.Add(time.Duration(1000 - rest))
	}
	return t
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
