package oncehttp

import "time"

// Hints are what an API's answers say of another attempt, beside Retry-After,
// and what is known of its pace.
type Hints struct {
	// Headers in order of precedence: the first that is there and can be read
	// counts.
	Headers []Hint
	// Least is the least pause before a repeat under the same key.
	Least time.Duration
	// Running is for how long an answer that says in progress is believed,
	// counted from the first attempt that may have had an effect; afterwards the
	// intent is Pending and not sent again by itself. Zero: for the whole window.
	Running time.Duration
}

// A Hint is one header.
type Hint struct {
	Header string
	Kind   HintKind
	// AbsentNo: an error answer without the header asks for no other attempt
	// (HintAgain).
	AbsentNo bool
}

// HintKind is what a hint says, and in which unit.
type HintKind uint8

const (
	// HintAgain: true or false, whether another attempt helps. Anything else
	// says nothing.
	HintAgain HintKind = iota
	// HintSeconds: a pause in seconds, whole or not.
	HintSeconds
	// HintMillis: a pause in milliseconds.
	HintMillis
	// HintDuration: a pause as in 6m30s.
	HintDuration
	// HintDate, HintUnix and HintRFC3339: the time of the end of the pause, as an
	// HTTP date (RFC 9110 section 5.6.7), in seconds since 1970, in RFC 3339.
	HintDate
	HintUnix
	HintRFC3339
)
