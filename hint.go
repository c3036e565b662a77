package oncehttp

import (
	"net/http"
	"strings"
	"time"
)

// Hints are what an API's answers say of another attempt, besides Retry-After,
// and what is known of the API's pace. They are not heeded on an answer with the
// replay marker, whose headers may be as old as the stored answer, nor on one
// without the mark of Origin.
type Hints struct {
	// Headers in order of precedence. Of those that say whether to send again, the
	// first that is there and can be read counts; so does the first of those that
	// say when. Retry-After is heeded on every answer, listed or not: nothing is
	// sent sooner than it or the hint says.
	Headers []Hint
	// Least is the least pause before a repeat under the same key, counted from
	// the end of an attempt that may have arrived, or from its start where a crash
	// cut it off.
	Least time.Duration
	// Running is how long an answer that says in progress is believed, counted from
	// the first attempt that may have had an effect; after that the intent is
	// Pending and not sent again by itself. Zero: for the whole window.
	Running time.Duration
}

// A Hint is one header.
type Hint struct {
	Header string
	Kind   HintKind
	// AbsentNo, for HintAgain: an error answer (4xx, 5xx) without the header counts
	// as false, unless a rule of Answers matches it: then the rule decides.
	AbsentNo bool
}

// HintKind is what a hint says, and in which unit.
type HintKind uint8

const (
	// HintAgain: true or false, whether another attempt helps. Anything else
	// says nothing. False ends the attempts, whatever else the answer means; where
	// nothing was done, that is a definite no. True asks for another attempt where
	// the general table sees no use in one, if the key makes it safe or nothing was
	// done. It never overrides a rule of Answers.
	HintAgain HintKind = iota
	// HintSeconds: a pause in seconds, whole or not. This and HintMillis are heeded
	// on every error answer (4xx, 5xx).
	HintSeconds
	// HintMillis: a pause in milliseconds.
	HintMillis
	// HintDuration: a pause as in 6m30s. This kind and the times below mostly
	// describe a rate limit, which most answers have not hit. So they are heeded
	// only on 429, 503, and answers which say that an attempt runs or that it is
	// too early.
	HintDuration
	// HintDate, HintUnix and HintRFC3339: the time of the end of the pause, as an
	// HTTP date (RFC 9110 section 5.6.7), in seconds since 1970, in RFC 3339.
	HintDate
	HintUnix
	HintRFC3339
)

// apply changes what an answer is taken to ask for. It never makes a repeat that
// is not safe: that is seen to after it.
func (hs Hints) apply(j *judgement, f facts, h history, r reading, now time.Time) {
	if r.foreign {
		return
	}
	if wait, asked := hs.pause(f, j.reason, now); asked {
		j.wait, j.asked = max(j.wait, wait), true
	}
	again, no := hs.again(f, r.ruled)
	switch {
	case j.effect == effectDone, j.renew:
	case no:
		j.again = againNo
		if j.effect == effectNone && j.reason == Throttled {
			j.reason = Refused
		}
	case again && !r.ruled && j.again == againNo && (j.effect == effectNone || h.protection == keyed):
		j.again = againNow
		switch j.reason {
		case Refused:
			j.reason = Throttled
		case StoredFailure:
			j.reason = ServerError
		}
	}
}

// again is whether the answer asks for another attempt, or for none; neither
// where it does not say.
func (hs Hints) again(f facts, ruled bool) (yes, no bool) {
	for _, hint := range hs.Headers {
		if hint.Kind != HintAgain {
			continue
		}
		lines := f.header.Values(hint.Header)
		for _, line := range lines {
			switch strings.ToLower(strings.TrimSpace(line)) {
			case "true":
				return true, false
			case "false":
				return false, true
			}
		}
		if len(lines) == 0 && hint.AbsentNo && f.status >= 400 && !ruled {
			return false, true
		}
	}
	return false, false
}

// pause is how long the hints ask to wait, if they do, in [0, farthestWait].
func (hs Hints) pause(f facts, reason Reason, now time.Time) (wait time.Duration, asked bool) {
	limited := reason == Throttled || reason == InProgress || f.status == http.StatusServiceUnavailable
	for _, hint := range hs.Headers {
		if hint.Kind == HintAgain || !limited && (f.status < 400 || hint.Kind >= HintDuration) {
			continue
		}
		for _, line := range f.header.Values(hint.Header) {
			if wait, ok := hint.Kind.pause(line, f.header, now); ok {
				return wait, true
			}
		}
	}
	return 0, false
}

// pause reads one value. Times are measured as those of Retry-After are.
func (k HintKind) pause(line string, h http.Header, now time.Time) (time.Duration, bool) {
	line = strings.Trim(line, " \t")
	until := func(t time.Time) (time.Duration, bool) {
		return min(max(0, t.Sub(answerTime(h, now))), farthestWait), true
	}
	switch k {
	case HintSeconds:
		return decimalWait(line, time.Second)
	case HintMillis:
		return decimalWait(line, time.Millisecond)
	case HintDuration:
		d, err := time.ParseDuration(line)
		return min(d, farthestWait), err == nil && d >= 0
	case HintDate:
		if t, ok := httpDate(line, now); ok {
			return until(t)
		}
	case HintUnix:
		if d, ok := decimalWait(line, time.Second); ok {
			return until(time.Unix(0, 0).Add(d))
		}
	case HintRFC3339:
		if t, err := time.Parse(time.RFC3339, line); err == nil {
			return until(t)
		}
	}
	return 0, false
}
