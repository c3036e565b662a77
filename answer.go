package oncehttp

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Marker is a mark on an answer. It is there when one of the headers, or one of
// the places in the body, has one of the values; or, with no Values, has any
// value that is not empty (in the body: not null); or when the answer has one of
// the statuses. Values are compared without regard to case and to white space
// around them. The zero Marker marks nothing.
type Marker struct {
	Headers []string
	Values  []string
	// Echo: the value is the key that was sent, in place of Values.
	Echo bool
	// At are places in the answer's body, as in [Answer].At. Where successes and
	// errors have no member in common, name one of each. An answer whose body is
	// empty or cannot be read has none of them.
	At []string
	// Status: one of these is mark enough.
	Status []int
}

// An Answer is a rule: if status, header and body code all match, Verdict
// tells what the answer means.
type Answer struct {
	// Status codes. Empty: any from 400 on, so that a success needs no body to be
	// one; an API that reports errors in a 200 needs a rule that names 200. A 1xx
	// other than 101 stands for an interim answer after which no final one came
	// (102: RFC 2518 section 10.1); of several the last counts.
	Status []int
	// Header that must be there and not empty; with HeaderValue, one of its
	// lines must have this value, without regard to case.
	Header, HeaderValue string
	// At are JSON pointers (RFC 6901) to codes in the body, a token * standing
	// for every item of an array; with Codes set, one of the values there must
	// match one of them. In an XML body they are paths of local names from the
	// root on, * standing for any; @name at the end is an attribute. Empty: the
	// usual places of a code (/code, /error/code, /error, /type ...; in XML
	// /ErrorResponse/Error/Code, /Error/Code ...).
	//
	// A rule with Codes for a status of success, in which GraphQL reports errors,
	// makes the body decide, unless its verdict is VerdictDone: a success whose body
	// is cut, longer than Config.MaxResponseBody, still compressed or damaged is
	// then Pending, since nobody can tell. So is a refusal that is cut, longer than
	// is read of one (64 KiB) or still compressed. An event stream holds no code, and
	// is confirmed by its header.
	At []string
	// Codes match without regard to case; a leading or trailing * matches any
	// text. Empty: no condition on the body.
	Codes []string
	// Verdict of the rule.
	Verdict Verdict
	// Reference is a pointer, as in At, to what the effect is called
	// (VerdictDone).
	Reference string
}

// A Verdict is what an API means by an answer. Of those that say that nothing was
// done, VerdictThrottled and VerdictKeysDown ask for another attempt; after the
// others the intent is Rejected, or Pending where an earlier attempt may have taken
// effect.
type Verdict uint8

const (
	// VerdictUnknown: nobody can tell. Pending, no resend.
	VerdictUnknown Verdict = iota
	// VerdictDone: the effect exists. Confirmed.
	VerdictDone
	// VerdictInProgress: an earlier attempt under this key still runs. The request
	// is sent again to ask for its answer: see Hints.Running.
	VerdictInProgress
	// VerdictMismatch: the key is known with another payload.
	VerdictMismatch
	// VerdictKeySpent: the key's action ended without effect and cannot run
	// again under it.
	VerdictKeySpent
	// VerdictKeyExpired: the API knows that it has forgotten the key.
	VerdictKeyExpired
	// VerdictKeyIgnored: the request was handled as if it had no key. The general
	// table says what became of it, and the contract is not trusted any more until
	// [Client.Trust].
	VerdictKeyIgnored
	// VerdictThrottled: not now; nothing was done.
	VerdictThrottled
	// VerdictRefused: a definite no to this attempt.
	VerdictRefused
	// VerdictKeysDown: the API cannot look keys up now, and did nothing. The
	// intent is Throttled.
	VerdictKeysDown

	// verdictUnread: a rule cannot be tried, see Contract.rule.
	verdictUnread
)

// Stored says what an API keeps under a key.
type Stored struct {
	// Refusals: the key is looked up before the request is judged, and a 4xx is
	// kept under it, so that a 4xx also speaks of all earlier attempts.
	Refusals bool
	// Failures says whether the API keeps a 5xx of its own: a 500 or 507, since
	// the others come from something in front of it, or say that nothing was done;
	// where Origin is set, only one with its mark. With KeepingYes nothing is sent
	// again after the first of them: it may have had an effect, and the same key
	// would bring the same answer, whether a mark of Replay says so or not. The
	// intent is Pending, StoredFailure, unless a hint asks for another attempt.
	Failures Keeping
	// Except lists statuses that are not kept, whatever Refusals and Failures say.
	Except []int
	// Repeat is the answer to a repeat of a success.
	Repeat RepeatAnswer
	// Settle is how long after an attempt was sent its effect may still come to
	// show. A refusal that is seen again, later than this after the last other
	// attempt, by the Dates of both too, settles all earlier ones. Zero: not known,
	// and no refusal settles them in this way.
	Settle time.Duration
}

// Keeping is whether an API keeps an answer under the key.
type Keeping uint8

const (
	// KeepingUnknown: it is not known.
	KeepingUnknown Keeping = iota
	// KeepingYes: the same answer comes again; the same key is futile.
	KeepingYes
	// KeepingNo: a repeat is carried out anew.
	KeepingNo
)

// RepeatAnswer is how an API answers a repeat of a success.
type RepeatAnswer uint8

const (
	// RepeatStored: with the stored answer.
	RepeatStored RepeatAnswer = iota
	// RepeatCurrent: with the present state of what was made, which is then the
	// answer that is kept.
	RepeatCurrent
	// RepeatEmpty: with a success that does not hold the first answer.
	RepeatEmpty
	// RepeatError: with an error, which a rule with VerdictDone recognises. As with
	// RepeatEmpty, nothing is sent again to get a missing body of an answer.
	RepeatError
)

// bringsAnswer reports whether a repeat of a success brings what its first
// answer held.
func (s Stored) bringsAnswer() bool { return s.Repeat == RepeatStored || s.Repeat == RepeatCurrent }

// isZero reports whether the marker marks nothing.
func (m Marker) isZero() bool {
	return len(m.Headers) == 0 && len(m.At) == 0 && len(m.Status) == 0
}

// marks reports whether an answer carries the mark.
func (m Marker) marks(f facts) bool {
	if slices.Contains(m.Status, f.status) {
		return true
	}
	values := m.Values
	if m.Echo {
		if f.wire == "" {
			return false
		}
		values = []string{f.wire, strings.Trim(f.wire, `"`)}
	}
	for _, name := range m.Headers {
		if anyLine(f.header, name, values) {
			return true
		}
	}
	if len(m.At) == 0 {
		return false
	}
	doc, ok := readDocument(f.body)
	if !ok {
		return false
	}
	for _, place := range m.At {
		if len(values) == 0 && doc.holds(place) {
			return true
		}
		for text := range doc.texts(place) {
			if isOneOf(text, values) {
				return true
			}
		}
	}
	return false
}

// rule returns the first of the contract's rules that matches an answer, or,
// where none came, the interim answer that did. Where one cannot be tried
// because its code is in a part of the body that is missing, it says
// verdictUnread; but not of a success that the rule would not doubt.
func (c *Contract) rule(f facts) (Answer, bool) {
	if c == nil {
		return Answer{}, false
	}
	interim := f.status == 0
	var doc document
	var tried, readable bool
	for _, a := range c.Answers {
		switch {
		case interim && !slices.Contains(a.Status, f.interim),
			!interim && !a.speaksOf(f.status):
			continue
		}
		if a.Header != "" && !anyLine(f.header, a.Header, a.headerValues()) {
			continue
		}
		if len(a.Codes) > 0 {
			if !tried {
				doc, readable = readDocument(f.body)
				tried = true
			}
			if !readable && f.bodyMissing() && (f.status/100 != 2 || a.Verdict != VerdictDone) {
				return Answer{Verdict: verdictUnread}, true
			}
			if !readable || !a.namesCode(doc) {
				continue
			}
		}
		return a, true
	}
	return Answer{}, false
}

// speaksOf reports whether the rule is about answers with this status.
func (a Answer) speaksOf(status int) bool {
	if len(a.Status) == 0 {
		return status >= 400
	}
	return slices.Contains(a.Status, status)
}

// reference is what the answer's body calls the effect; "" if it does not say.
func (a Answer) reference(body []byte) string {
	if a.Reference == "" {
		return ""
	}
	doc, ok := readDocument(body)
	if !ok {
		return ""
	}
	text, _ := doc.text(a.Reference)
	return text
}

func (a Answer) headerValues() []string {
	if a.HeaderValue == "" {
		return nil
	}
	return []string{a.HeaderValue}
}

// namesCode reports whether one of the rule's codes stands at one of its places.
func (a Answer) namesCode(doc document) bool {
	places := a.At
	if len(places) == 0 {
		places = doc.codePlaces()
	}
	for _, place := range places {
		for code := range doc.texts(place) {
			if slices.ContainsFunc(a.Codes, func(pattern string) bool { return matchesCode(pattern, code) }) {
				return true
			}
		}
	}
	return false
}

// matchesCode compares a code with a pattern, without regard to case; a * at
// either end of the pattern stands for any text.
func matchesCode(pattern, code string) bool {
	pattern, code = strings.ToLower(pattern), strings.ToLower(strings.TrimSpace(code))
	rest, open := strings.CutPrefix(pattern, "*")
	core, openEnd := strings.CutSuffix(rest, "*")
	switch {
	case open && openEnd:
		return strings.Contains(code, core)
	case open:
		return strings.HasSuffix(code, core)
	case openEnd:
		return strings.HasPrefix(code, core)
	}
	return code == core
}

// anyLine reports whether a line of the header has one of the values; with no
// values, whether one is not empty.
func anyLine(h http.Header, name string, values []string) bool {
	return slices.ContainsFunc(h.Values(name), func(line string) bool {
		if len(values) == 0 {
			return strings.TrimSpace(line) != ""
		}
		return isOneOf(line, values)
	})
}

func isOneOf(s string, values []string) bool {
	s = strings.TrimSpace(s)
	return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(s, strings.TrimSpace(v)) })
}
