package oncehttp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// State is what is known of an intent. The zero value is Pending: what is not
// known is pending.
type State uint8

const (
	// Pending: not settled; [Outcome].Reason says why.
	Pending State = iota
	// Confirmed: the action took effect. A 202 confirms that the request was
	// accepted, no more.
	Confirmed
	// Rejected: a definite no. No attempt took effect, and none will.
	Rejected
)

var stateNames = [...]string{"Pending", "Confirmed", "Rejected"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// MarshalText gives the state's name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name that MarshalText gave.
func (s *State) UnmarshalText(text []byte) error {
	for i, name := range stateNames {
		if name == string(text) {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("oncehttp: no such state: %.32q", text)
}

// Reason says why an intent is Pending or Rejected. It speaks of the whole
// intent, not of the last attempt: one that may have taken effect is never
// NotSent. Empty for Confirmed.
type Reason string

const (
	// NotSent: nothing of it has left this machine.
	NotSent Reason = "NotSent"
	// Unknown: an attempt may have taken effect, and nothing tells.
	Unknown Reason = "Unknown"
	// InProgress: the API says that an earlier attempt still runs.
	InProgress Reason = "InProgress"
	// Throttled: the server asks to come back later.
	Throttled Reason = "Throttled"
	// ServerError: a 5xx, which may stand in front of an effect.
	ServerError Reason = "ServerError"
	// StoredFailure: the server keeps its failure under the key, or has spent
	// the key: asking again under it is futile.
	StoredFailure Reason = "StoredFailure"
	// KeyExpired: the server may have forgotten the key, so a resend could
	// repeat the effect.
	KeyExpired Reason = "KeyExpired"
	// NoContract: the intent was begun with a key, and no contract of the client
	// matches its request any more.
	NoContract Reason = "NoContract"
	// Distrusted: an answer has contradicted the contract ([EventContradicted]), so
	// what may have taken effect is not sent again under it until [Client.Trust].
	Distrusted Reason = "Distrusted"
	// Unauthorized: 401, 403 or 407.
	Unauthorized Reason = "Unauthorized"
	// NeedsCredentials: credentials that the request had are not in the journal,
	// and Config.Authorize did not bring them back.
	NeedsCredentials Reason = "NeedsCredentials"
	// Copied: the journal is a copy of another one, or a restored backup, whose
	// original may have sent the intent or may still. Nothing is sent until
	// Config.AdoptCopy says that the original is gone.
	Copied Reason = "Copied"
	// NotRecorded: the journal could not keep what happened.
	NotRecorded Reason = "NotRecorded"
	// GateClosed: the host is failing, and others probe it.
	GateClosed Reason = "GateClosed"
	// Redirected: redirects led nowhere within ten hops.
	Redirected Reason = "Redirected"
	// Refused: the API said no.
	Refused Reason = "Refused"
	// Conflict: there is evidence both of an effect and of none.
	Conflict Reason = "Conflict"
)

// An Outcome is what is known of an intent, as it stands in the journal.
type Outcome struct {
	// Action is the application's name for the operation, Key the idempotency
	// key it travels under; empty where the API takes none.
	Action string
	Key    string
	// Contract is the name of the contract that it was begun under; empty where
	// none matched. [Client.Trust] takes it.
	Contract string
	State    State
	Reason   Reason
	// MayHaveExecuted: an attempt may have taken effect. False unless Pending.
	MayHaveExecuted bool
	// MayHaveRepeated: the evidence allows a second effect.
	MayHaveRepeated bool
	// Reworded: the answer is to an earlier wording of this action.
	Reworded bool
	// Response is the API's final answer. Nil when there is none, or when it is
	// no longer kept.
	Response *Response
	// Reference is what the API or a person calls the effect.
	Reference string
	// Attempts started, over all calls and restarts; each followed redirect is
	// one.
	Attempts int
	// RetryAt is when Resume takes it up again. Zero: it does not, or the first
	// attempt has not been made. A caller's Do waits no longer than the server
	// asked.
	RetryAt time.Time
	// SafeUntil is the end of the key's usable window: no attempt starts after
	// it. Zero: not bounded, or not begun.
	SafeUntil time.Time
	// FromJournal: this call sent nothing, and tells what the journal has.
	FromJournal bool
	// InFlight: an attempt is under way.
	InFlight bool
	// Err is the last cause, for errors.Is and errors.As. Its own text holds no
	// foreign text.
	Err error
}

// A Response is an API's answer, as it is kept.
type Response struct {
	StatusCode int
	// Header without Set-Cookie, which only RoundTrip hands on.
	Header http.Header
	Body   []byte
	// Replayed: the API marked the answer as a stored one.
	Replayed bool
	// BodyIncomplete: Body is missing or cut short.
	BodyIncomplete bool
}

// A PendingError means that the server may have acted, or still may. It is
// the one error after which an action must not be begun under another name.
type PendingError struct {
	Outcome *Outcome
}

// Error is the first line of [Outcome.Explain].
func (e *PendingError) Error() string {
	line, _, _ := strings.Cut(e.Outcome.Explain(), "\n")
	return "oncehttp: " + line
}

// Unwrap gives the last cause: the caller's context error, ErrClosed, or what
// the last attempt met.
func (e *PendingError) Unwrap() error {
	if e.Outcome == nil {
		return nil // a literal, in a test of whoever handles it
	}
	return e.Outcome.Err
}

// A NoAnswerError is returned by RoundTrip alone, where the action is settled and
// there is no answer to hand back: a lookup or a person has settled it, or the
// answer is no longer kept. Outcome says how; a Reference may be there.
type NoAnswerError struct {
	Outcome *Outcome
}

func (e *NoAnswerError) Error() string {
	return fmt.Sprintf("oncehttp: action %s is settled (%s), and there is no answer to hand back, or it is no longer kept; Outcome has the state", quoteAction(e.Outcome.Action), e.Outcome.State)
}

// Explain says in words what is known, what is not, and what is safe to do
// until when. The first line is a summary; no line holds a key or a payload.
func (o *Outcome) Explain() string {
	if o == nil {
		return "no outcome is known"
	}
	lines := []string{fmt.Sprintf("action %s is %s: %s", quoteAction(o.Action), strings.ToLower(o.State.String()), o.known())}
	if o.MayHaveRepeated {
		lines = append(lines, "The evidence allows a second effect: check with the API before you rely on it.")
	}
	lines = append(lines, o.advice()...)
	if o.Err != nil {
		lines = append(lines, "Last cause: "+o.Err.Error()+".")
	}
	return strings.Join(lines, "\n")
}

func (o *Outcome) known() string {
	attempts := fmt.Sprintf("%d attempts", o.Attempts)
	if o.Attempts == 1 {
		attempts = "1 attempt"
	}
	switch {
	case o.Reason == Conflict:
		return "there is evidence of an effect and of none; a person must decide"
	case o.State == Confirmed:
		return "it took effect" + o.status() + o.named()
	case o.State == Rejected:
		return "a definite no" + o.status() + "; nothing took effect"
	case o.MayHaveExecuted:
		return fmt.Sprintf("the outcome is unknown after %s; it may have taken effect (%s)", attempts, o.Reason)
	case o.Attempts == 0:
		return fmt.Sprintf("nothing was sent (%s)", o.Reason)
	default:
		return fmt.Sprintf("no effect after %s (%s)", attempts, o.Reason)
	}
}

func (o *Outcome) status() string {
	if o.Response == nil {
		return ""
	}
	return fmt.Sprintf(" (status %d)", o.Response.StatusCode)
}

func (o *Outcome) named() string {
	if o.Reference == "" {
		return ""
	}
	return ", as " + quoteAction(o.Reference)
}

func (o *Outcome) advice() []string {
	if o.State != Pending {
		return nil
	}
	lines := []string{"Do not begin it under another name."}
	if o.InFlight && !errors.Is(o.Err, ErrClosed) {
		return append(lines, "The client is at work on it, and records what comes of it.")
	}
	switch o.Reason {
	case KeyExpired:
		lines = append(lines, "The server may have forgotten the key, so nothing is sent any more: look the effect up, then Resolve.")
	case NoContract:
		lines = append(lines, fmt.Sprintf("No contract of this client matches it any more; it was begun under %q: put that back, or look the effect up, then Resolve.", o.Contract))
	case Distrusted:
		lines = append(lines, fmt.Sprintf("An answer has contradicted its contract, so it is not sent again under it: look the effect up, then Resolve; or, if the API does honour keys, Client.Trust(%q).", o.Contract))
	case StoredFailure:
		lines = append(lines, "The server keeps its failure under this key, so asking again is futile: look the effect up, then Resolve.")
	case NeedsCredentials:
		lines = append(lines, "Set Config.Authorize, or repeat Do with the credentials, then Resume.")
	case GateClosed:
		lines = append(lines, "The host fails, or has asked to be left alone: one request at a time probes it.")
	case Copied:
		lines = append(lines, "The journal is a copy: open the original, or set Config.AdoptCopy if it is gone.")
	case NotRecorded:
		lines = append(lines, "The journal could not record: mend it and open it again.")
	default:
		if o.Reason == Unauthorized {
			lines = append(lines, "The credentials were refused: mend them.")
		}
		if o.Attempts == 0 && o.RetryAt.IsZero() {
			lines = append(lines, "Do or Resume sends it.")
		} else if o.RetryAt.IsZero() {
			it := "It"
			if o.Key == "" {
				it = "It was sent without a key, so it"
			}
			lines = append(lines, it+" is not sent again by itself: look the effect up, then Resolve.")
		}
	}
	if !o.RetryAt.IsZero() {
		lines = append(lines, "Resume takes it up again from "+o.RetryAt.Add(time.Second-1).UTC().Format(time.RFC3339)+".")
	}
	if !o.SafeUntil.IsZero() && o.Reason != KeyExpired {
		lines = append(lines, "Nothing is sent after the key's usable window, which ends at "+o.SafeUntil.UTC().Format(time.RFC3339)+".")
	}
	return lines
}

// String is a line for logs: the key's print instead of the key, no bodies.
func (o *Outcome) String() string {
	if o == nil {
		return "<nil>"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "action=%s state=%s", quoteAction(o.Action), o.State)
	if o.Key != "" {
		fmt.Fprintf(&b, " key_print=%s", keyPrint(o.Key))
	}
	if o.Contract != "" {
		fmt.Fprintf(&b, " contract=%q", o.Contract)
	}
	if o.Reason != "" {
		fmt.Fprintf(&b, " reason=%s", o.Reason)
	}
	fmt.Fprintf(&b, " attempts=%d", o.Attempts)
	if o.MayHaveExecuted {
		b.WriteString(" may_have_executed=true")
	}
	if o.MayHaveRepeated {
		b.WriteString(" may_have_repeated=true")
	}
	if o.Response != nil {
		fmt.Fprintf(&b, " status=%d", o.Response.StatusCode)
	}
	if o.Reference != "" {
		fmt.Fprintf(&b, " reference=%s", quoteAction(o.Reference))
	}
	if o.Err != nil {
		fmt.Fprintf(&b, " cause=%q", o.Err)
	}
	return b.String()
}

// GoString keeps keys and bodies out of %#v.
func (o *Outcome) GoString() string { return o.String() }

// LogValue logs what String prints, as attributes.
func (o *Outcome) LogValue() slog.Value {
	if o == nil {
		return slog.Value{}
	}
	attrs := []slog.Attr{slog.String("action", o.Action), slog.String("state", o.State.String()), slog.Int("attempts", o.Attempts)}
	if o.Key != "" {
		attrs = append(attrs, slog.String("key_print", keyPrint(o.Key)))
	}
	if o.Contract != "" {
		attrs = append(attrs, slog.String("contract", o.Contract))
	}
	if o.Reason != "" {
		attrs = append(attrs, slog.String("reason", string(o.Reason)))
	}
	if o.MayHaveExecuted {
		attrs = append(attrs, slog.Bool("may_have_executed", true))
	}
	if o.MayHaveRepeated {
		attrs = append(attrs, slog.Bool("may_have_repeated", true))
	}
	if o.Response != nil {
		attrs = append(attrs, slog.Int("status", o.Response.StatusCode))
	}
	if o.Reference != "" {
		attrs = append(attrs, slog.String("reference", o.Reference))
	}
	if o.Err != nil {
		attrs = append(attrs, slog.String("cause", o.Err.Error()))
	}
	return slog.GroupValue(attrs...)
}

// String hides the body.
func (r *Response) String() string {
	if r == nil {
		return "<nil>"
	}
	return fmt.Sprintf("status=%d body=%d bytes", r.StatusCode, len(r.Body))
}

// GoString hides the body from %#v.
func (r *Response) GoString() string { return r.String() }

// quoteAction shortens an action for a line of text.
func quoteAction(action string) string {
	if len(action) > 96 {
		action = strings.ToValidUTF8(action[:93], "") + "..."
	}
	return fmt.Sprintf("%q", action)
}
