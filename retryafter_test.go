package oncehttp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetryAfterReadsEveryFormThatServersSend(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/retry-after.jsonl")
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(file))
	rows := 0
	for lines.Scan() {
		var row struct {
			ID              string
			Now             time.Time
			Headers         http.Header
			WaitMS          *int64 `json:"wait_ms"`
			BeyondAnyBudget bool   `json:"beyond_any_budget"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		rows++
		wait, asked := retryAfter(row.Headers, row.Now)
		switch {
		case row.BeyondAnyBudget:
			assert.True(t, asked, row.ID)
			assert.Equal(t, farthestWait, wait, row.ID)
		case row.WaitMS == nil:
			assert.False(t, asked, row.ID)
			assert.Zero(t, wait, row.ID)
		default:
			assert.True(t, asked, row.ID)
			assert.Equal(t, time.Duration(*row.WaitMS)*time.Millisecond, wait, row.ID)
		}
	}
	assert.Equal(t, 24, rows)
}

func TestRetryAfterOnTheEdges(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 1, 0, 0, 0, 0, time.FixedZone("EDT", -4*3600)).Add(-4 * time.Hour) // 2026-10-01T00:00:00Z
	const ignored = time.Duration(-1)
	for value, want := range map[string]time.Duration{
		// A number of seconds.
		"00":                           0,
		"\t7 ":                         7 * time.Second,
		"2.0":                          2 * time.Second,
		"0.314":                        314 * time.Millisecond,
		"299.997":                      299997 * time.Millisecond,
		"0.0000000001":                 1, // up, never down
		"1.00000000000":                time.Second,
		"1.0000000010":                 time.Second + 1,
		"3153599999":                   farthestWait - time.Second,
		"3153599999.9999999999":        farthestWait,
		"3153600000":                   farthestWait,
		"4000000000":                   farthestWait,
		"9223372036":                   farthestWait,
		"9223372036854775807":          farthestWait,
		"000000000000000000000000005":  5 * time.Second,
		"99999999999999999999.0000001": farthestWait,
		// A date.
		"Thu, 01 Oct 2026 00:00:07 GMT":    7 * time.Second,
		"Thursday, 01-Oct-26 00:00:07 GMT": 7 * time.Second,
		"Thu Oct  1 00:00:07 2026":         7 * time.Second,
		"Thu, 01 Jan 1970 00:00:00 GMT":    0,
		"Fri, 31 Dec 9999 23:59:59 GMT":    farthestWait,
		"Thursday, 01-Oct-76 00:00:00 GMT": time.Date(2076, 10, 1, 0, 0, 0, 0, time.UTC).Sub(now),
		"Thursday, 01-Oct-76 00:00:01 GMT": 0, // more than 50 years ahead: 1976
		"Thursday, 01-Oct-70 00:00:00 GMT": time.Date(2070, 10, 1, 0, 0, 0, 0, time.UTC).Sub(now),
		"Thursday, 01-Oct-25 00:00:00 GMT": 0,
		// Neither.
		"-3": ignored, "+5": ignored, "1e3": ignored, "0x10": ignored, "inf": ignored, "Infinity": ignored,
		"NaN": ignored, "1e400": ignored, "1_000": ignored, "\u0665": ignored, "": ignored, "soon": ignored,
		"Sep 2027": ignored, "1 Jan 2099 00:00:00": ignored, ".5": ignored, "5.": ignored, ".": ignored, "1.2.3": ignored,
		"5, 60": ignored, "-0": ignored, "1,5": ignored, "2026-10-01T00:00:07Z": ignored,
		"Thu, 01 Oct 2026 00:00:07 EST":      ignored,
		"Thu, 01 Oct 2026 00:00:07 UTC":      ignored,
		"Thu, 01 Oct 2026 00:00:07 +0000":    ignored,
		"Thursday, 01-Oct-26 00:00:07 CET":   ignored, // http.ParseTime takes it
		"Thursday, 01-Oct-26 00:00:07 EST":   ignored,
		"Thu Oct  1 00:00:07 CET 2026":       ignored,
		"Thu, 01 Oct 2026 00:00:60 GMT":      ignored,
		"Thu, 31 Feb 2026 00:00:07 GMT":      ignored,
		"Thu, 01 Oct 2026 00:00:07 GMT, 120": ignored,
	} {
		wait, asked := retryAfter(http.Header{"Retry-After": {value}}, now)
		if want == ignored {
			assert.False(t, asked, "%q", value)
			want = 0
		} else {
			assert.True(t, asked, "%q", value)
		}
		assert.Equal(t, want, wait, "%q", value)
	}
}

// T23
func TestADateIsMeasuredAgainstTheServersClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	const at = "Thu, 01 Oct 2026 00:01:00 GMT"
	for name, tt := range map[string]struct {
		date, after string
		want        time.Duration
	}{
		"no Date":                 {"", at, time.Minute},
		"a clock that is behind":  {"Wed, 30 Sep 2026 23:00:00 GMT", at, time.Hour + time.Minute},
		"a clock that is ahead":   {"Thu, 01 Oct 2026 00:00:59 GMT", at, time.Second},
		"a Date after it":         {"Thu, 01 Oct 2026 00:02:00 GMT", at, 0},
		"a Date in another zone":  {"Thu, 01 Oct 2026 00:00:59 CET", at, time.Minute},
		"a Date in another form":  {"Thursday, 01-Oct-26 00:00:30 GMT", at, 30 * time.Second},
		"a Date that is no date":  {"yesterday", at, time.Minute},
		"seconds look at no Date": {"Wed, 30 Sep 2026 23:00:00 GMT", "5", 5 * time.Second},
	} {
		h := http.Header{"Retry-After": {tt.after}}
		if tt.date != "" {
			h.Set("Date", tt.date)
		}
		wait, asked := retryAfter(h, now)
		assert.True(t, asked, name)
		assert.Equal(t, tt.want, wait, name)
	}
}

func TestTheLongestOfAllThatWasAskedCounts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		h    http.Header
		want time.Duration
	}{
		{http.Header{"Retry-After": {"5", "Thu, 01 Oct 2026 00:01:00 GMT", "7"}}, time.Minute},
		{http.Header{"Retry-After": {"5"}, "Retry-After-Ms": {"60000", "x"}}, time.Minute},
		{http.Header{"Retry-After": {"0"}, "Retry-After-Ms": {"0.0000001"}}, 1},
		{http.Header{"Retry-After-Ms": {"99999999999999999999"}}, farthestWait},
		{http.Header{"Retry-After": {"x"}, "Retry-After-Ms": {"1.5"}}, 1500 * time.Microsecond},
	} {
		wait, asked := retryAfter(tt.h, now)
		assert.True(t, asked, "%v", tt.h)
		assert.Equal(t, tt.want, wait, "%v", tt.h)
	}
	_, asked := retryAfter(http.Header{"Retry-After-Ms": {"Thu, 01 Oct 2026 00:01:00 GMT"}}, now)
	assert.False(t, asked, "milliseconds are no date")
	_, asked = retryAfter(nil, now)
	assert.False(t, asked)
}

func TestATwoDigitYearOfALeapDayIsNoPanic(t *testing.T) {
	t.Parallel()
	now := time.Date(2080, 1, 1, 0, 0, 0, 0, time.UTC)
	got, ok := httpDate("Tuesday, 29-Feb-00 00:00:00 GMT", now)
	require.True(t, ok)
	assert.Equal(t, time.Date(2100, 3, 1, 0, 0, 0, 0, time.UTC), got, "2100 has no 29 February")
}
