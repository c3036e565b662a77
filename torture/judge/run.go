// Package judge says whether what a client did and told agrees with what it
// promises. It looks from outside: at what callers were told, at what reached
// the server, and at the server's own ledger of effects.
package judge

import (
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A Run is everything that is known of one run. Seq numbers order what happened
// where several things have the same time: they grow over the whole run, over
// processes too.
type Run struct {
	// Name repeats the run: a seed, and the command.
	Name string
	// Actions by name, as the plan has them.
	Actions map[string]Action
	// Ops are calls of the client, in any order.
	Ops []Op
	// Sends are calls of the client's base transport, in any order.
	Sends []Send
	// Lookups are the questions that a contract's lookups asked, in any order.
	Lookups []Lookup
	// Effects are the executions that took effect, in any order.
	Effects []Effect
	// Requests is the server's ledger, in its order.
	Requests []mockserver.Request
	// Saved are the records that the journal has acknowledged, in any order.
	Saved []Save
	// Lives are the client's processes, in order. The life n of an Op, a Send or a
	// Save is Lives[n].
	Lives []Life
	// Secrets are texts that nobody is told: credentials, and marks in bodies.
	Secrets []string
}

// Protection is what allows an action to be sent again.
type Protection string

const (
	Keyed       Protection = "keyed"       // a contract matches
	Idempotent  Protection = "idempotent"  // PUT or DELETE without a contract
	Unprotected Protection = "unprotected" // POST or PATCH without a contract
)

// An Action as the plan has it. Its requests go to the path "/" + Name, so that
// what the server saw can be told apart.
type Action struct {
	Name       string
	Protection Protection
	Method     string
	// BodySHA256 of the payload that is approved first, in hexadecimal as in
	// mockserver.Request. Other wordings are mismatches. Empty: nobody knows which
	// of several came first.
	BodySHA256 string
	// Payload is Op.Payload of the one that is approved first. Empty: BodySHA256.
	Payload string
	// Window of its contract, and the share of it that is usable; zero: for ever.
	Window time.Duration
	Share  float64
	// AttemptTimeout of the client, which the usable part of the window is less.
	AttemptTimeout time.Duration
	// Budget is how long a call goes on starting attempts, with what its saves may
	// take; zero: nobody knows.
	Budget time.Duration
	// Honest: the server keeps the contract, for the whole window. Where it does
	// not, a second effect is not the client's fault.
	Honest bool
	// Spoofed: what answers, or a lookup, says of the effect may be false, and no
	// mark tells: a portal's 200, a refusal or a 429 after the effect, an effect
	// that comes to show later than the contract's settle time.
	Spoofed bool
	// Marked: the contract has a mark for the answers of repeats (its Replay).
	Marked bool
	// Lookups: a lookup may prove that a lost attempt had no effect.
	Lookups bool
	// KeyWithin: its key travels in the body.
	KeyWithin bool
	// Items: so many items of its body have a key each, and an effect each. What
	// travels is their keys with commas between. Zero: the request has one.
	Items int
	// KeyShape is a regular expression that every key on the wire must match whole.
	// Empty: any key will do.
	KeyShape string
	// Held: a lookup shows its effect in a state that proves nothing.
	Held bool
	// Fixed are the names of what must be the same at every attempt beside the key
	// and the body: of headers, and with ? of parameters of the query.
	Fixed []string
	// Pinned: the server knows a key only together with the credentials it came
	// with.
	Pinned bool
	// KeepsFailures: the contract says that a 500 is kept under the key.
	KeepsFailures bool
	// Least is the contract's least pause before a repeat of what may have arrived.
	Least time.Duration
	// Gate names the host gate; actions with the same one share it. Empty: none.
	Gate string
}

// OpKind is a call of the client.
type OpKind string

const (
	OpDo      OpKind = "do"      // Client.Do, Intent.Do or RoundTrip
	OpBegin   OpKind = "begin"   // Client.Begin
	OpResume  OpKind = "resume"  // one outcome that Resume told of, called when the pass began
	OpPass    OpKind = "pass"    // a whole pass of Resume, of no action
	OpRun     OpKind = "run"     // a call of Client.Run, of no action
	OpRead    OpKind = "read"    // Client.Outcome
	OpResolve OpKind = "resolve" // Client.Resolve
	OpPending OpKind = "pending" // a whole pass of Client.Pending
)

// An Op is one call. Return is 0 if its process died before it returned.
type Op struct {
	Kind         OpKind
	Action       string
	Life, Caller int
	Call, Return int64 // Seq
	CallTime     time.Time
	ReturnTime   time.Time
	// Payload sent along by Do and Begin: equal for what counts as one payload, in
	// whatever spelling, and as in Action.BodySHA256 for the plan's own.
	Payload string
	// Born is when the action began, as Do and Begin were told; zero: with them.
	Born time.Time
	// Outcome and Err as returned. Outcome is nil where none was.
	Outcome *oncehttp.Outcome
	Err     error
	// Resolved is what Resolve was told.
	Resolved oncehttp.Resolution
	// Listed by Pending.
	Listed []string
}

// A Send is one call of the base transport for an intent.
type Send struct {
	Seq    int64
	Time   time.Time
	Life   int
	Action string
	Key    string
	// KeyUnread: the key is in the body, which was not read to its end.
	KeyUnread bool
	// Credential that it carries.
	Credential string
	// BodySHA256 of what the transport was given. Empty: it was not read to its end.
	BodySHA256 string
	// Ended is the Seq at which the answer's header or the error came back; 0:
	// never. Status and Header of the answer; 0 without one.
	Ended      int64
	EndedTime  time.Time
	Status     int
	RetryAfter string
	// Foreign: the answer lacks the mark by which the contract tells the API's own.
	Foreign bool
	// Replayed: the answer has the contract's mark for answers of repeats.
	Replayed bool
	// Again and Pause are what the contract's hints in the answer say, as far as
	// they are to be heard: "true" or "false", and how long to wait.
	Again string
	Pause time.Duration
}

// A Lookup is one call of the base transport that asks what became of an intent.
type Lookup struct {
	Seq  int64
	Time time.Time
	Life int
	// Target is the path and query.
	Target string
	// Key that stands where an attempt has it; empty: none.
	Key string
}

// An Effect is one execution that took effect: between the two numbers.
type Effect struct {
	Call, Return int64 // Seq
	Time         time.Time
	Action       string
	Key          string
	ID           string // what the server calls it
}

// A Save is a write that the journal has acknowledged: Seq when it returned.
type Save struct {
	Seq    int64
	Time   time.Time
	Life   int
	Action string
}

// A Life is one process of the client, from Open to its end.
type Life struct {
	Opened, Ended int64 // Seq
	OpenedTime    time.Time
	// Killed: it did not close.
	Killed bool
	// Clean: it closed without an error, and every save succeeded since it began to.
	Clean bool
	// Unsure: a write of it has an unknown fate.
	Unsure bool
	// Copied: its journal is a copy that nobody has adopted.
	Copied bool
	// NoContract: it has no contract, whatever the actions were begun under.
	NoContract bool
	// Behind is the time at which the journal says that it was written last, where
	// the clock of this life began before it.
	Behind time.Time
}

// A Finding is a broken promise.
type Finding struct {
	// Rule names the promise; see Rules.
	Rule string
	// Count is where it counts: a name of package tally.
	Count  string
	Action string
	// Text says what was seen.
	Text string
}
