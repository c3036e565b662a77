package oncehttp

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	longestCodeBody = 1 << 20 // bytes of a body that is searched for a code
	longestCode     = 256     // bytes of a code
)

// codePlaces are where APIs put an error's machine code, most telling first:
// the root, an error object (with Google's status), a list of errors (JSON:API),
// AWS's __type, and the type of RFC 9457.
func codePlaces() []string {
	return []string{
		"/code", "/error/code", "/error_code", "/errorCode",
		"/error/error_code", "/error/status", "/error/type", "/error",
		"/errors/0/code", "/errors/0/error_code", "/errors/0/type", "/errors/0/extensions/code",
		"/__type", "/type",
	}
}

// errorCode is the machine code of an error's JSON body, at the first of the
// usual places that holds one; "" if none does. Prose is no code, nor is what
// only says the HTTP status again, as 409 or "Conflict".
func errorCode(body []byte) string {
	if len(body) > longestCodeBody {
		return ""
	}
	doc, ok := readAnswerBody(body)
	if !ok {
		return ""
	}
	for _, place := range codePlaces() {
		if code, ok := doc.textAt(place); ok && isCode(code) {
			return code
		}
	}
	return ""
}

// isCode reports whether the text at a usual place is a code.
func isCode(s string) bool {
	switch {
	case s == "" || len(s) > longestCode || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return false
	case s == "true" || s == "false" || s == "error":
		return false
	case s == "about:blank": // RFC 9457 section 4.2.1: no more than the status
		return false
	case strings.Contains(s, "/rfc7231#section-") || strings.Contains(s, "/rfc9110#section-"): // ASP.NET Core: the section on the status
		return false
	}
	if n, err := strconv.Atoi(s[strings.LastIndexByte(s, '/')+1:]); err == nil {
		return n < 100 || n > 599
	}
	for status := 400; status < 600; status++ {
		if strings.EqualFold(s, http.StatusText(status)) {
			return false
		}
	}
	return true
}

// saysInProgress reports whether the code of a 409 means that an earlier
// attempt under the same key still runs. A code that says it of the request or
// its key counts; one that says it of a thing (email_in_use, account_locked,
// concurrent_modification) or of the past (key_already_used) does not.
func saysInProgress(code string) bool {
	words := codeWords(code)
	says := func(set string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return isWord(set, w) })
	}
	phrase := " " + strings.Join(words, " ") + " "
	switch {
	case says("not no never"):
		return false
	case says("inprogress inflight"):
		return true
	case says("concurrent concurrency concurrently simultaneous"):
		return !says("modification modified modify update updates updated edit edits change changes write writes version mutation limit quota max")
	}
	for _, p := range []string{
		" in progress ", " in flight ", " being processed ", " being executed ",
		" still running ", " still processing ", " still executing ", " still pending ",
	} {
		if strings.Contains(phrase, p) {
			return true
		}
	}
	words = strings.Fields(strings.ReplaceAll(phrase, " in use ", " inuse "))
	return says("processing running executing pending locked inuse") && !slices.ContainsFunc(words, func(w string) bool {
		return !isWord("processing running executing pending locked inuse "+
			"a an the is already currently request requests operation action key idempotency idempotent idempotence exception conflict", w)
	})
}

// isWord reports whether w is one of the words of a list with spaces between.
func isWord(list, w string) bool {
	return slices.Contains(strings.Fields(list), w)
}

// codeWords are the words of a code in lower case: key_in_use, key-in-use,
// keyInUse and https://errors.example.com/key-in-use are the same three.
func codeWords(code string) []string {
	code = strings.TrimRight(code, "/#:")
	code = code[strings.LastIndexAny(code, "/#:")+1:]
	var b strings.Builder
	wasLower := false
	for _, r := range code {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && wasLower:
			b.WriteByte(' ')
			fallthrough
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		wasLower = unicode.IsLower(r)
	}
	return strings.Fields(b.String())
}
