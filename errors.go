package oncehttp

import "errors"

// Errors without data, each tested with [errors.Is]. An error of this package
// that is not a [*PendingError] means that the call which returned it sent
// nothing; but a [*NoAnswerError] means that the action is settled.
var (
	// ErrNotFound: the journal has no intent of this action.
	ErrNotFound = errors.New("oncehttp: no such action in the journal")
	// ErrInvalidAction: an action is 1 to 1,024 bytes of valid UTF-8 without
	// control characters.
	ErrInvalidAction = errors.New("oncehttp: invalid action name: want 1 to 1024 bytes of UTF-8 without control characters")
	// ErrInvalidRequest: the request cannot be an intent; the error that wraps
	// it says why. Nothing was written.
	ErrInvalidRequest = errors.New("oncehttp: request cannot be sent")
	// ErrBodyTooLarge: the request's body is longer than Config.MaxRequestBody.
	ErrBodyTooLarge = errors.New("oncehttp: request body is over the limit of Config.MaxRequestBody")
	// ErrMismatch: the action is known with another payload. See [MismatchError].
	ErrMismatch = errors.New("oncehttp: action is already recorded with another payload")
	// ErrClosed: the client, or its journal, is closed or closing.
	ErrClosed = errors.New("oncehttp: client is closed")
	// ErrInFlight: an attempt of this action runs or may still arrive, so it
	// cannot be declared Rejected without [Resolution].Force.
	ErrInFlight = errors.New("oncehttp: an attempt of this action may still arrive; wait for it or set Force")
	// ErrPrincipal: the action belongs to another principal.
	ErrPrincipal = errors.New("oncehttp: action belongs to another principal")
	// ErrUnmatched: no contract matches and Config.Unmatched is Refuse.
	ErrUnmatched = errors.New("oncehttp: no contract matches this request; add one or change Config.Unmatched")
	// ErrTooMany: Config.MaxUnresolved intents are unresolved. Resume or Resolve
	// some.
	ErrTooMany = errors.New("oncehttp: too many unresolved intents (Config.MaxUnresolved)")

	// ErrJournal: the journal could not read or record. Nothing was sent.
	ErrJournal = errors.New("oncehttp: journal error")
	// ErrJournalLocked: another process, or another client of this one, has the
	// journal open.
	ErrJournalLocked = errors.New("oncehttp: journal is in use")
	// ErrJournalCorrupt: the journal, or a record in it, is damaged. The file
	// was left as it is; restore it or move it away.
	ErrJournalCorrupt = errors.New("oncehttp: journal is damaged")
	// ErrCopied: the journal is a copy of another one, or a restored backup, and
	// the original may still be in use: nothing is begun or sent. Open the
	// original, or say with Config.AdoptCopy that it is gone.
	ErrCopied = errors.New("oncehttp: the journal is a copy, so nothing is sent: open the original, or set Config.AdoptCopy if it is gone")
	// ErrFateUnknown: a write to the journal may or may not be durable. A
	// [Journal] returns it; no write is accepted after it.
	ErrFateUnknown = errors.New("oncehttp: the journal cannot tell whether a write is durable; reopen it")
	// ErrExists and ErrConflict are a [Journal]'s refusals of a write.
	ErrExists   = errors.New("oncehttp: the name is taken in the journal")
	ErrConflict = errors.New("oncehttp: the entry was changed meanwhile")
)
