package oncehttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lookedUpAt is one finding of a lookup that was asked and answered at these
// times after the start of the test.
func (s *script) lookedUpAt(asked, answered time.Duration, kind FindingKind) {
	s.t.Helper()
	s.lookedUpBy(asked, answered, kind, time.Time{})
}

// lookedUpBy is one whose answer has a Date.
func (s *script) lookedUpBy(asked, answered time.Duration, kind FindingKind, date time.Time) {
	s.t.Helper()
	s.want(cmdLookUp)
	s.now = stepStart.Add(answered)
	s.step(event{kind: evLookedUp, asked: stepStart.Add(asked), finding: Finding{Kind: kind}, settle: time.Minute, dated: date})
	for s.cmd.kind == cmdSave {
		s.step(event{kind: evSaved})
	}
}

// resumed takes the intent up by itself.
func (s *script) resumed(after time.Duration) {
	s.t.Helper()
	s.now = stepStart.Add(after)
	s.m = machine{rec: s.m.rec, next: s.m.rec}
	s.step(event{kind: evTaken, call: call{resume: true, until: s.now.Add(time.Minute)}})
	for s.cmd.kind == cmdSave {
		s.step(event{kind: evSaved})
	}
}

// An attempt between two lookups that found nothing may take effect after the
// first of them.
func TestAbsenceThatWasSeenBeforeAnAttemptProvesNothingOfIt(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.p.lookup = true
	s.send("1")
	s.answer(facts{status: 599 + 1}) // nobody can tell
	s.lookedUpAt(0, 0, NotFound)
	s.resumed(2 * time.Minute)
	s.lookedUpAt(2*time.Minute, 2*time.Minute, NotFound)
	s.want(cmdSettle)

	s.now = stepStart.Add(10 * time.Minute)
	s.restart() // a caller asks, and the key makes it safe
	s.send("2")
	s.answer(facts{status: 599 + 1})
	s.lookedUpAt(10*time.Minute, 10*time.Minute, NotFound)
	s.resumed(12 * time.Minute)
	s.lookedUpAt(12*time.Minute, 12*time.Minute, NotFound)
	r := s.m.rec
	assert.True(t, r.Exposed, "this is the first time since the second attempt")
	s.resumed(14 * time.Minute)
	s.lookedUpAt(14*time.Minute, 14*time.Minute, NotFound)
	require.False(t, s.m.next.Exposed, "and this the second")
}

// What a slow answer tells may be as old as its question.
func TestALookupTellsOfTheTimeWhenItWasAsked(t *testing.T) {
	t.Parallel()
	s := newScript(t, unprotected)
	s.p.lookup = true
	s.send("1")
	s.answer(facts{failure: lost})
	s.lookedUpAt(0, 0, TooEarly)
	s.resumed(50 * time.Second)
	s.lookedUpAt(50*time.Second, 70*time.Second, NotFound)
	assert.True(t, s.m.rec.Absent.IsZero(), "it was asked too early")
	s.resumed(2 * time.Minute)
	s.lookedUpAt(2*time.Minute, 2*time.Minute+20*time.Second, NotFound)
	assert.False(t, s.m.rec.Absent.IsZero())
	s.resumed(3 * time.Minute)
	s.lookedUpAt(3*time.Minute, 4*time.Minute, NotFound)
	assert.True(t, s.m.rec.Exposed, "the two were not asked a settle time apart")
	s.resumed(5 * time.Minute)
	s.lookedUpAt(5*time.Minute, 5*time.Minute, NotFound)
	assert.False(t, s.m.next.Exposed)
}

// An attempt may last longer than the settle time; it is over when it is judged.
func TestTheSettleTimeOfALookupCountsFromTheEndOfTheAttempt(t *testing.T) {
	t.Parallel()
	s := newScript(t, unprotected)
	s.p.lookup = true
	s.send("1")
	s.now = stepStart.Add(10 * time.Minute) // it has no time-out of its own
	s.answer(facts{failure: lost})
	s.lookedUpAt(10*time.Minute, 10*time.Minute, NotFound)
	assert.True(t, s.m.rec.Absent.IsZero(), "the server got the last byte just now")
	assert.False(t, s.m.rec.Due.Before(stepStart.Add(11*time.Minute)))
}

// A server whose clock is far ahead is mended, or is one of many.
func TestADateThatWasFarAheadDoesNotKeepAbsenceFromBeingProved(t *testing.T) {
	t.Parallel()
	s := newScript(t, unprotected)
	s.p.lookup = true
	s.send("1")
	s.answer(facts{failure: lost})
	s.lookedUpAt(0, 0, TooEarly)
	for _, c := range []struct {
		at, date time.Duration
		exposed  bool
	}{
		{time.Hour, 400 * 24 * time.Hour, true},
		{2 * time.Hour, 2 * time.Hour, true}, // the first that counts
		{2*time.Hour + time.Second, 2 * time.Hour, true},
		{4 * time.Hour, 4 * time.Hour, false},
	} {
		s.resumed(c.at)
		s.lookedUpBy(c.at, c.at, NotFound, stepStart.Add(c.date))
		assert.Equal(t, c.exposed, s.m.next.Exposed, c.at)
	}
}

// Who takes up an attempt that a crash cut off cannot know when it ended.
func TestTheSettleTimeOfACutOffAttemptCountsFromWhenItIsFound(t *testing.T) {
	t.Parallel()
	s := newScript(t, unprotected)
	s.p.lookup = true
	s.send("1")
	s.resumed(10 * time.Minute)
	s.lookedUpAt(10*time.Minute, 10*time.Minute, NotFound)
	assert.True(t, s.m.rec.Absent.IsZero())
	s.resumed(12 * time.Minute)
	s.lookedUpAt(12*time.Minute, 12*time.Minute, NotFound)
	assert.False(t, s.m.rec.Absent.IsZero())
}

// A lookup that never knows is not asked for ever every half a minute.
func TestALookupThatIsAlwaysTooEarlyIsAskedEverMoreSeldom(t *testing.T) {
	t.Parallel()
	s := newScript(t, unprotected)
	s.p.lookup = true
	s.send("1")
	s.answer(facts{failure: lost})
	s.lookedUpAt(0, 0, TooEarly)
	s.resumed(10 * time.Hour)
	s.lookedUpAt(10*time.Hour, 10*time.Hour, TooEarly)
	assert.False(t, s.m.rec.Due.Before(stepStart.Add(11*time.Hour)))
}

// The settle time passes on the API's clock too, where it tells it: a clock that
// jumps ahead, or a cache, does not make two answers of one.
func TestAbsenceIsSaidTwiceASettleTimeApartByTheAPIsClockToo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second time.Duration // Date, after an hour that has nothing to do with ours
		proved        bool
	}{
		"a settle time apart": {0, time.Minute, true},
		"a fraction less":     {0, time.Minute - time.Second + 1, true}, // of which a Date has no fractions
		"at once":             {0, 0, false},
		"too soon":            {0, time.Minute - time.Second, false},
		"backwards":           {time.Hour, 0, false},
	} {
		s := newScript(t, unprotected)
		s.p.lookup = true
		s.send("1")
		s.answer(facts{failure: lost})
		there := stepStart.Add(-7 * time.Hour)
		s.lookedUpAt(0, 0, TooEarly)
		s.resumed(2 * time.Hour) // ours is set two hours ahead
		s.lookedUpBy(2*time.Hour, 2*time.Hour, NotFound, there.Add(c.first))
		s.resumed(4 * time.Hour) // and once more
		s.lookedUpBy(4*time.Hour, 4*time.Hour, NotFound, there.Add(c.second))
		assert.Equal(t, c.proved, !s.m.next.Exposed, name)
		if !c.proved {
			assert.False(t, s.m.rec.Due.Before(stepStart.Add(5*time.Hour)), "%s: a date that stands still is not asked for every minute", name)
			s.resumed(30 * time.Hour)
			s.lookedUpBy(30*time.Hour, 30*time.Hour, NotFound, there.Add(26*time.Hour))
			assert.False(t, s.m.next.Exposed, name)
		}
	}
}
