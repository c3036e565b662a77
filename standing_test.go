package oncehttp

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAClientKeepsTheHighestTimeThatItHasSeen(t *testing.T) {
	t.Parallel()
	c, err := Open(filepath.Join(t.TempDir(), "intents.db"), Config{})
	require.NoError(t, err)
	defer c.Close()
	before := wallNow()
	_, latest := c.standing()
	require.False(t, latest.Before(before))
	require.False(t, latest.After(wallNow()))
	// As if the clock had been an hour ahead and was set right.
	ahead := before.Add(time.Hour)
	c.latest.Store(ahead.UnixNano())
	_, latest = c.standing()
	require.True(t, latest.Equal(ahead))
}

func TestAgesAreUnknownWhileTheClockIsBehind(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	m := machine{next: record{State: Pending, Exposed: true, First: now.Add(-time.Minute), Seen: now.Add(-time.Minute),
		Begun: begun{Wire: "k", Window: Window{Length: 24 * time.Hour}}}}
	m.call.until, m.call.attempts = now.Add(time.Hour), 0
	contract := IdempotencyKey("*", 24*time.Hour)
	p := policy{maxAttempts: 4, share: 0.9, contract: &contract}
	for _, c := range []struct {
		latest time.Time
		held   bool
	}{{time.Time{}, false}, {now, false}, {now.Add(time.Nanosecond), true}} {
		p.latest = c.latest
		require.Equal(t, c.held, m.hold(p, now).held, c.latest)
	}
	m.next.Exposed, m.next.First = false, time.Time{}
	require.False(t, m.hold(p, now).held, "what is not exposed has no age")
}
