package oncehttp

import (
	"math/big"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The rules of Retry-After a second time, from the grammar of RFC 9110: section
// 10.2.3 (delay-seconds or HTTP-date) and section 5.6.7 (the three dates). What
// time.Parse forgives is forgiven too, since a wish that is heard does no harm:
// letters of either case, more spaces, a digit less, a fraction of a second.

var (
	slowNumberLine = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	slowDates      = [...]*regexp.Regexp{
		slowLayout(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun), DAY MONTH YEAR TIME`, `\d\d`, `\d{4}`, `(?-i: +GMT)`),
		slowLayout(`(Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday), DAY-MONTH-YEAR TIME`, `\d\d`, `[-+\d]\d`, `(?-i: +GMT)`),
		slowLayout(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun) MONTH DAY TIME YEAR`, `\d?\d`, `\d{4}`, ``),
	}
	slowMonths = "jan feb mar apr may jun jul aug sep oct nov dec "
)

func slowLayout(form, day, year, zone string) *regexp.Regexp {
	form = strings.NewReplacer(" ", " +", "DAY", `(?P<d>`+day+`)`, "MONTH", `(?P<mon>[a-z]{3})`, "YEAR", `(?P<y>`+year+`)`,
		"TIME", `(?P<h>\d?\d):(?P<m>\d\d):(?P<s>\d\d)(?:[.,](?P<f>\d+))?`).Replace(form)
	return regexp.MustCompile(`(?i)^` + form + zone + `$`)
}

// slowRetryAfter is the wait in nanoseconds, up to a hundred years.
func slowRetryAfter(h http.Header, now time.Time) (wait *big.Int, asked bool) {
	most := new(big.Int).Mul(big.NewInt(100*365*24*3600), big.NewInt(1e9))
	wait = new(big.Int)
	hear := func(ns *big.Int) {
		asked = true
		if ns.Cmp(most) > 0 {
			ns = most
		}
		if ns.Cmp(wait) > 0 {
			wait = ns
		}
	}
	number := func(line string, unit int64) {
		line = strings.Trim(line, " \t")
		if !slowNumberLine.MatchString(line) {
			return
		}
		r, _ := new(big.Rat).SetString(line)
		r.Mul(r, new(big.Rat).SetInt64(unit))
		up := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
		hear(up.Quo(up, r.Denom()))
	}
	for _, line := range h["Retry-After-Ms"] {
		number(line, 1e6)
	}
	for _, line := range h["Retry-After"] {
		number(line, 1e9)
		at, ok := slowDate(line, now)
		if !ok {
			continue
		}
		from, ok := slowDate(h.Get("Date"), now)
		if !ok {
			from = new(big.Int).Add(new(big.Int).Mul(big.NewInt(now.Unix()), big.NewInt(1e9)), big.NewInt(int64(now.Nanosecond())))
		}
		hear(at.Sub(at, from))
	}
	return wait, asked
}

// slowDate is a date in nanoseconds since 1970. A year of two digits is one that
// is no more than 50 years ahead.
func slowDate(line string, now time.Time) (*big.Int, bool) {
	line = strings.Trim(line, " \t")
	for form, layout := range slowDates {
		found := layout.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		n := func(name string) int64 {
			v, _ := strconv.ParseInt(strings.TrimSpace(found[layout.SubexpIndex(name)]), 10, 64)
			return v
		}
		month := strings.Index(slowMonths, strings.ToLower(found[layout.SubexpIndex("mon")])+" ")
		year, day := n("y"), n("d")
		if month < 0 || month%4 != 0 || n("h") > 23 || n("m") > 59 || n("s") > 59 || day == 0 {
			return nil, false
		}
		month = month/4 + 1
		nanos, _ := strconv.ParseInt((found[layout.SubexpIndex("f")] + "000000000")[:9], 10, 64)
		at := func(year int64, month int, day int64) *big.Int {
			return slowUnix(year, month, day, n("h")*3600+n("m")*60+n("s"), nanos)
		}
		if form != 1 {
			return at(year, month, day), day <= slowDays(year, month)
		}
		// time.Parse takes 69 to 99 for the last century when it counts the days.
		year += 1900
		if year < 1969 {
			year += 100
		}
		if day > slowDays(year, month) {
			return nil, false
		}
		u := now.UTC().AddDate(50, 0, 0)
		limit := slowUnix(int64(u.Year()), int(u.Month()), int64(u.Day()), int64(u.Hour()*3600+u.Minute()*60+u.Second()), int64(u.Nanosecond()))
		for year += 10_000; ; year -= 100 {
			date := at(year, month, day)
			if day > slowDays(year, month) {
				date = at(year, 3, 1) // 29 February of a year without one
			}
			if date.Cmp(limit) <= 0 {
				return date, true
			}
		}
	}
	return nil, false
}

func slowLeap(year int64) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func slowDays(year int64, month int) int64 {
	days := [...]int64{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && slowLeap(year) {
		days++
	}
	return days
}

// slowUnix counts the leap years one by one.
func slowUnix(year int64, month int, day, second, nanos int64) *big.Int {
	days := (year-1970)*365 + day - 1
	for y := min(year, 1970); y < max(year, 1970); y++ {
		if slowLeap(y) && year > 1970 {
			days++
		} else if slowLeap(y) {
			days--
		}
	}
	for m := 1; m < month; m++ {
		days += slowDays(year, m)
	}
	ns := big.NewInt(days*24*3600 + second)
	return ns.Add(ns.Mul(ns, big.NewInt(1e9)), big.NewInt(nanos))
}

// FuzzRetryAfter compares it with the slow reading of the grammar.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{
		"120", "1.5", "Sun, 29 Nov 2026 12:00:30 GMT", "Sunday, 29-Nov-26 12:00:30 GMT", "Sun Nov 29 12:00:30 2026", "99999999999999999999",
		"Tuesday, 29-Feb-00 00:00:00 GMT", "Sunday, 29-Nov-76 12:00:30 GMT", "Sun Nov  1 12:00:30 2026", "Sun, 29 Feb 2026 12:00:30 GMT",
		"Sun, 29 Nov 2026 24:00:00 GMT", "Sun, 29 Nov 2026 12:00:60 GMT", "sun, 29 nov 2026 12:00:30 gmt", " 7\t", "0.0000000001", "+1", "1e3",
	} {
		f.Add(s, "250", "Sun, 29 Nov 2026 11:50:00 GMT", int64(1795953600))
		f.Add("5", s, s, int64(4102444800))
		f.Add(s, "", "", int64(3471292800))
	}
	f.Fuzz(func(t *testing.T, line, ms, date string, unix int64) {
		if len(line)+len(ms)+len(date) > 1<<10 {
			t.Skip("the slow one is slow")
		}
		now := time.Unix(unix%(1<<37), 0)
		h := http.Header{"Retry-After": {line}, "Retry-After-Ms": {ms}, "Date": {date}}
		wait, asked := retryAfter(h, now)
		if year := now.UTC().Year(); year < 1970 || year > 9800 {
			require.True(t, 0 <= wait && wait <= farthestWait && (asked || wait == 0))
			return
		}
		want, wantAsked := slowRetryAfter(h, now)
		require.Equal(t, wantAsked, asked)
		require.Equal(t, want.String(), strconv.FormatInt(int64(wait), 10))
		require.False(t, now.Add(wait).Before(now))
		require.GreaterOrEqual(t, now.Add(wait).UnixMicro(), now.UnixMicro())

		h.Add("Retry-After", "3")
		more, asked := retryAfter(h, now)
		require.True(t, asked)
		require.Equal(t, max(wait, 3*time.Second), more, "one more line never shortens the wait")
	})
}
