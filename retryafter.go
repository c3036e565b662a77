package oncehttp

import (
	"net/http"
	"strings"
	"time"
)

// farthestWait, a hundred years of 365 days, stands for every longer wait that
// a server asks for. A time of this century plus it overflows neither
// time.Time nor microseconds in an int64.
const farthestWait = 100 * 365 * 24 * time.Hour

// retryAfter is how long after now the server asked to be left alone, and
// whether it asked at all: the longest of all valid lines of Retry-After (RFC
// 9110 section 10.2.3) and Retry-After-Ms, in [0, farthestWait].
//
// Seconds may have a fraction, which the grammar lacks and servers send; it is
// never rounded down. A date is measured against the answer's own Date where
// that is valid, so that clocks which differ do no harm, else against now; one
// that has passed asks for no wait. What is neither is ignored.
func retryAfter(h http.Header, now time.Time) (wait time.Duration, asked bool) {
	hear := func(d time.Duration, ok bool) {
		if ok {
			wait, asked = max(wait, d), true
		}
	}
	for _, line := range h["Retry-After-Ms"] {
		hear(decimalWait(line, time.Millisecond))
	}
	for _, line := range h["Retry-After"] {
		hear(decimalWait(line, time.Second))
		if date, ok := httpDate(line, now); ok {
			hear(min(date.Sub(answerTime(h, now)), farthestWait), true)
		}
	}
	return wait, asked
}

// answerTime is when the answer was made, by the clock of who made it.
func answerTime(h http.Header, now time.Time) time.Time {
	if from, ok := httpDate(h.Get("Date"), now); ok {
		return from
	}
	return now
}

// decimalWait reads digits, with a fraction or without, as a number of units,
// rounded up to the nanosecond and cut at farthestWait. Signs, exponents and
// anything else are no number.
func decimalWait(s string, unit time.Duration) (time.Duration, bool) {
	whole, fraction, dot := strings.Cut(strings.Trim(s, " \t"), ".")
	if !allDigits(whole) || dot && !allDigits(fraction) {
		return 0, false
	}
	var d time.Duration
	for _, c := range []byte(whole) {
		if d = d*10 + time.Duration(c-'0'); d >= farthestWait/unit {
			return farthestWait, true
		}
	}
	d *= unit
	scale, rest := unit, false
	for _, c := range []byte(fraction) {
		scale /= 10
		d += time.Duration(c-'0') * scale
		rest = rest || scale == 0 && c != '0'
	}
	if rest {
		d++
	}
	return d, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// httpDate reads the three forms of RFC 9110 section 5.6.7. Only GMT is a zone;
// asctime has none and means it. (http.ParseTime takes any zone in the RFC 850
// form, and reads it as UTC.)
func httpDate(s string, now time.Time) (time.Time, bool) {
	s = strings.Trim(s, " \t")
	for _, layout := range []string{http.TimeFormat, time.ANSIC} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	t, err := time.Parse("Monday, 02-Jan-06 15:04:05 GMT", s)
	if err != nil {
		return time.Time{}, false
	}
	return nearestCentury(t, now), true
}

// nearestCentury gives a date with a two-digit year the last year with these
// digits in which it is no more than 50 years after now.
func nearestCentury(t, now time.Time) time.Time {
	limit := now.UTC().AddDate(50, 0, 0)
	in := func(year int) time.Time {
		return time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}
	year := limit.Year() - ((limit.Year()-t.Year())%100+100)%100
	if d := in(year); !d.After(limit) {
		return d
	}
	return in(year - 100)
}
