package oncehttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The record has the last of what happened and counts the rest: a hundred
// thousand attempts take a few digits more than ten.
func TestARecordDoesNotGrowWithItsAttempts(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.p.contract.Window = Window{Kind: WindowForever}
	s.m.next.Begun.Window = s.p.contract.Window
	s.p.maxAttempts = 1
	sizes := map[int]int{}
	for n := 1; n <= 100_000; n++ {
		s.send("attempt")
		s.answer(facts{status: 503})
		s.want(cmdSettle)
		if n == 10 || n == 100_000 {
			text, err := json.Marshal(s.m.rec)
			require.NoError(t, err)
			sizes[n] = len(text)
		}
		require.Equal(t, n, s.m.rec.Attempts)
		s.now = later(s.now, s.m.rec.NotBefore).Add(time.Second)
		if n%1000 == 0 {
			s.restart()
		} else {
			s.take()
		}
	}
	t.Logf("%d bytes after 10 attempts, %d after 100,000", sizes[10], sizes[100_000])
	assert.LessOrEqual(t, sizes[100_000], sizes[10]+64)
}

// zoneOfTest names the zone of a process that reads dates.
const zoneOfTest = "ONCEHTTP_ZONE"

func TestADateIsReadTheSameInEveryZone(t *testing.T) {
	t.Parallel()
	if os.Getenv(zoneOfTest) == "" {
		for _, zone := range []string{"Pacific/Kiritimati", "America/St_Johns", "Europe/Berlin"} {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), "TZ="+zone, zoneOfTest+"="+zone)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s", zone, out)
		}
		return
	}
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).In(time.Local)
	_, offset := now.Zone()
	require.NotZero(t, offset, "the zone is not known here")
	for _, layout := range []string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		date := now.UTC().Add(7 * time.Second).Format(layout)
		wait, asked := retryAfter(http.Header{"Retry-After": {date}}, now)
		assert.True(t, asked)
		assert.Equal(t, 7*time.Second, wait, fmt.Sprint(date))
	}
}
