package oncehttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What was parked and is sent because somebody asks is taken up again when its
// process dies, as it is when the answer is lost.
func TestWhatACrashCutsOffIsTakenUpThoughItWasParkedBefore(t *testing.T) {
	t.Parallel()
	for _, crash := range []bool{false, true} {
		s := newScript(t, keyed)
		s.p.contract.Stored.Failures = KeepingYes
		s.send("1")
		s.answer(facts{status: 500})
		s.want(cmdSettle)
		require.True(t, s.cmd.record.Parked)
		s.restart()
		s.send("2")
		if !crash {
			s.p.maxAttempts = 1
			s.answer(facts{failure: lost})
		}
		s.m = machine{rec: s.m.rec, next: s.m.rec}
		s.step(event{kind: evTaken, call: call{resume: true, until: s.now.Add(time.Minute)}})
		s.send("3")
	}
}

// A refusal that is seen again settles what was sent a settle time before; of an
// attempt that a crash cut off nobody knows when it was.
func TestARefusalBeforeACrashInMidAttemptIsNotTheFirstOfTwo(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.p.maxAttempts, s.p.contract.Stored.Settle = 1, 30*time.Second
	s.send("1")
	s.answer(facts{failure: lost})
	s.restart()
	s.send("2")
	s.answer(facts{status: 404})
	s.want(cmdSettle)
	require.Equal(t, 404, s.cmd.record.RefusedStatus)
	s.now = s.now.Add(10 * time.Second)
	s.restart()
	s.send("3")
	s.now = s.now.Add(31 * time.Second) // it may have left just now
	s.restart()
	s.want(cmdReady)
	assert.Zero(t, s.cmd.record.RefusedStatus)
}
