package oncehttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lookupWorld is an intent without a key whose first answer was lost, and the
// API that it was sent to. The effect, if there is one, shows lag after the send;
// lag is at most the settle time.
type lookupWorld struct {
	t     *testing.T
	m     machine
	now   time.Time
	sent  time.Time
	lag   time.Duration // negative: no effect
	sends int
	lied  time.Time // the first false answer
	path  []lookupMove
}

// lookupMove is one pass over the intent.
type lookupMove struct {
	early  bool // somebody asks before it is due
	answer lookupAnswer
	crash  lookupCrash
}

type lookupAnswer int

const (
	trueAnswer lookupAnswer = iota
	noAnswer
	falseAnswer // "not found", from a copy that lags for less than the settle time
)

type lookupCrash int

const (
	noCrash lookupCrash = iota
	crashInLookup
	crashInSave // before the finding is on disk
	crashAfterSave
)

const exploredSettle = 10 * time.Minute

func exploredPolicy() policy {
	return policy{maxAttempts: 1, attempt: time.Second, share: 1, lookup: true}
}

// pass takes the intent up when it is due, or early, and goes on until the call
// ends or the process does.
func (w *lookupWorld) pass(move lookupMove) {
	w.path = append(w.path[:len(w.path):len(w.path)], move)
	w.now = w.now.Add(exploredSettle / 2)
	if due := w.m.rec.Due; !move.early && due.After(w.now) {
		w.now = due
	}
	looked := false
	e := event{kind: evTaken, call: call{resume: !move.early, until: w.now.Add(time.Minute)}}
	for range 30 {
		var cmd command
		w.m, cmd = w.m.step(e, exploredPolicy(), w.now)
		switch cmd.kind {
		case cmdAsk:
			e = event{kind: evAdmitted}
		case cmdReady:
			e = event{kind: evReadied, attempt: "again"}
		case cmdLookUp:
			require.False(w.t, looked, "two lookups in one call: %+v", w.path)
			looked = true
			if move.crash == crashInLookup {
				w.crash(w.m.rec)
				return
			}
			e = event{kind: evLookedUp, asked: w.now, finding: w.finding(move.answer), settle: exploredSettle, delay: time.Second}
		case cmdSave:
			if looked && move.crash == crashInSave {
				w.crash(w.m.rec)
				return
			}
			saved := cmd.record
			saved.Revision++
			if looked && move.crash == crashAfterSave {
				w.crash(saved)
				return
			}
			e = event{kind: evSaved}
		case cmdSend:
			w.sends++
			require.Negative(w.t, w.lag, "a second effect: %+v", w.path)
			require.Equal(w.t, 1, w.sends, "sent again and again: %+v", w.path)
			e = event{kind: evAnswered, attempt: cmd.record.Sending.ID, answer: &answer{Status: 201}, judged: judgement{effect: effectDone, settles: true}}
		case cmdSettle:
			w.settled()
			return
		default:
			require.Fail(w.t, "it waits", "%+v", w.path)
		}
	}
	require.Fail(w.t, "the call never ends", "%+v", w.path)
}

func (w *lookupWorld) finding(a lookupAnswer) Finding {
	switch shows := w.lag >= 0 && !w.now.Before(w.sent.Add(w.lag)); {
	case a == noAnswer:
		return Finding{}
	case a == falseAnswer:
		if w.lied.IsZero() {
			w.lied = w.now
		}
		if w.now.Before(w.lied.Add(exploredSettle)) {
			break
		}
		return w.finding(trueAnswer)
	case shows:
		return Finding{Kind: Found, Reference: "ch_1"}
	}
	return Finding{Kind: NotFound}
}

func (w *lookupWorld) crash(disk record) {
	w.m = machine{rec: disk, next: disk, out: command{record: disk}}
}

// settled: what is told is true.
func (w *lookupWorld) settled() {
	switch r := w.m.rec; {
	case r.State == Confirmed:
		require.True(w.t, w.lag >= 0 || w.sends == 1, "confirmed from nothing: %+v", w.path)
	case r.State == Rejected:
		require.Fail(w.t, "nobody refused it", "%+v", w.path)
	case w.lag >= 0:
		require.True(w.t, r.mayHaveExecuted(), "it has executed: %+v", w.path)
	}
}

func (w lookupWorld) explore(depth int) (passes int) {
	if depth == 0 || w.m.rec.State != Pending {
		// With answers that are true it comes to an end, in one effect.
		for range 5 {
			if w.m.rec.State == Pending {
				w.pass(lookupMove{})
			}
		}
		require.Equal(w.t, Confirmed, w.m.rec.State, "%+v", w.path)
		return 1
	}
	for _, early := range []bool{false, true} {
		for answer := range falseAnswer + 1 {
			for crash := range crashAfterSave + 1 {
				next := w
				next.pass(lookupMove{early: early, answer: answer, crash: crash})
				passes += next.explore(depth - 1)
			}
		}
	}
	return passes
}

// Every order of three passes: in time or early, with an answer, without, or with
// one that is false for a while; with a crash at each step of a lookup; for an effect
// that shows at once, late, at the last moment, or is not there.
func TestNoOrderOfLookupsAndCrashesRepeatsAnEffect(t *testing.T) {
	t.Parallel()
	for _, lag := range []time.Duration{-1, 0, exploredSettle / 2, exploredSettle} {
		s := newScript(t, unprotected)
		s.send("first")
		sent := s.now
		s.answer(facts{failure: lost})
		w := lookupWorld{t: t, m: s.m, now: s.now, sent: sent, lag: lag}
		require.Greater(t, w.explore(3), 1000)
	}
}
