package oncehttp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A MismatchError says that an action is recorded with another payload than
// the one it was called with now. Nothing was sent. It is [ErrMismatch].
type MismatchError struct {
	// Action that both payloads were given.
	Action string
	// Differs names what is not the same, sorted: JSON pointers (RFC 6901) into
	// the bodies where both are JSON, else "body"; "method", "url", "host",
	// "content-type", "header X-Tenant". Never a value. At most 100 names, each
	// cut after 128 bytes, control characters escaped. Empty where the first
	// payload is gone.
	Differs []string
	// Outcome of the action as it was recorded first.
	Outcome *Outcome
}

const (
	maxDiffers     = 100 // names in MismatchError.Differs
	maxDiffersText = 8   // of them in its text
	maxNameBytes   = 128 // of a name, in either
)

func (e *MismatchError) Error() string {
	var places string
	if n := len(e.Differs); n > 0 {
		shown := e.Differs[:min(n, maxDiffersText)]
		places = " (it differs at " + strings.Join(shown, ", ")
		switch more := n - len(shown); {
		case n >= maxDiffers:
			places += fmt.Sprintf(" and at least %d more", more)
		case more > 0:
			places += fmt.Sprintf(" and %d more", more)
		}
		places += ")"
	}
	return fmt.Sprintf("oncehttp: action %s is already recorded with another payload%s; nothing was sent:"+
		" use a new action name if this is a new operation, repeat the first payload if it is the same",
		strconv.Quote(shorten(e.Action, maxNameBytes)), places)
}

// Is reports whether target is [ErrMismatch].
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// shorten cuts s to at most n bytes and the mark of it.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// placeName makes a name fit for an error text: a key of the caller's body may
// be of any length and hold anything.
func placeName(s string) string {
	var b strings.Builder
	for _, r := range shorten(s, maxNameBytes) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return shorten(b.String(), maxNameBytes)
}
