package oncehttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wrongRules are planted in the exploration's own copy of the steps, to see
// that the checks find them.
type wrongRules struct {
	keyChanged       bool // a restart sends another key
	sendsUnsaved     bool // the attempt is sent before its save
	forgetsExposure  bool // an answer without effect speaks for earlier attempts
	rejectsExposed   bool // a refusal settles earlier attempts
	recoversUnsent   bool // an attempt cut off by a crash counts as never sent
	looksOnce        bool // the window is not looked at again after the save
	connectsLate     bool // nor when the connection is got
	ignoresClock     bool // the clock gone back is not noticed
	ignoresNotBefore bool // the server's wish is forgotten
	repeatsAnything  bool // an exposed request is repeated without protection
	redirectConfirms bool // a 302 is a success
	countsLate       bool // an attempt is not counted when it starts
	twoDrivers       bool // every caller drives
	cancelStops      bool // the last caller's leave ends the attempt under way
	dropsLate        bool // an answer that comes late changes nothing
	overwrites       bool // a later refusal takes a Confirmed back
	tellsTooSoon     bool // an outcome is told before it is saved
	tellsUnknownSent bool // a save of unknown fate exposes
	readAsOvertaken  bool // what another wrote is taken for the result of a save
	sleepsOn         bool // a wait does not end
}

func TestEveryWrongRuleIsFoundByItsCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		rules    wrongRules
		check    string
	}{
		{"key changed after a restart", "keyed, crashes", wrongRules{keyChanged: true}, checkOneKey},
		{"sent before the save", "keyed, two callers", wrongRules{sendsUnsaved: true}, checkSaved},
		{"exposure forgotten by a later answer", "keyed, two callers", wrongRules{forgetsExposure: true}, checkRejected},
		{"rejected while exposed", "keyed, two callers", wrongRules{rejectsExposed: true}, checkRejected},
		{"recovered as never sent", "unprotected", wrongRules{recoversUnsent: true}, checkTruth},
		{"window not looked at after the save", "keyed, window", wrongRules{looksOnce: true}, checkWindow},
		{"window not looked at when connected", "keyed, window", wrongRules{connectsLate: true}, checkWindow},
		{"clock gone back not noticed", "keyed, clock", wrongRules{ignoresClock: true}, checkClock},
		{"the server's time ignored", "keyed, two callers", wrongRules{ignoresNotBefore: true}, checkNotBefore},
		{"repeated without protection", "unprotected", wrongRules{repeatsAnything: true}, checkSafe},
		{"confirmed by a redirect", "unprotected", wrongRules{redirectConfirms: true}, checkConfirmed},
		{"counted after the send", "keyed, two callers", wrongRules{countsLate: true}, checkCount},
		{"two drivers", "keyed, two callers", wrongRules{twoDrivers: true}, checkOneDriver},
		{"a leave stops the attempt", "keyed, two callers", wrongRules{cancelStops: true}, checkRecorded},
		{"a late success dropped", "keyed, persons", wrongRules{dropsLate: true}, checkLate},
		{"a Confirmed taken back", "keyed, credentials", wrongRules{overwrites: true}, checkSettled},
		{"told before the save", "keyed, credentials", wrongRules{tellsTooSoon: true}, checkTold},
		{"an unknown fate exposes", "keyed, journal faults", wrongRules{tellsUnknownSent: true}, checkFate},
		{"another's write taken for the save's result", "keyed, persons", wrongRules{readAsOvertaken: true}, checkTold},
		{"a wait that does not end", "keyed, crashes", wrongRules{sleepsOn: true}, checkEnds},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, x := range explorations() {
				if x.name != c.in {
					continue
				}
				x.rules = c.rules
				x.run()
				require.NotNil(t, x.breach, "not found in %d states", x.states)
				assert.Equal(t, c.check, x.breach.check, "%s", x.story())
				t.Logf("found by %q after %d states", x.breach.check, x.states)
				return
			}
			t.Fatalf("no exploration %q", c.in)
		})
	}
}

// step is the machine's, with the wrong rules around it.
func (x *exploration) step(m machine, e event, p policy, now time.Time) (machine, command) {
	r := &x.rules
	if x.rules == (wrongRules{}) {
		return m.step(e, p, now)
	}
	answered := e.kind == evAnswered
	switch {
	case r.dropsLate && answered && m.out.kind == cmdSettle, r.sleepsOn && e.kind == evWoke:
		return m, m.out
	case r.rejectsExposed && answered && e.judged.refusal:
		e.judged.settles = true
	case r.redirectConfirms && answered && e.answer != nil && e.answer.Status == 302:
		e.judged = judgement{effect: effectDone, settles: true}
	case r.forgetsExposure && answered && e.judged.effect == effectNone:
		m.next.Exposed = false
	case r.looksOnce && e.kind == evSaved && m.next.Sending != nil:
		now = m.next.Sending.At
	case r.ignoresClock && now.Before(m.next.Seen):
		now = m.next.Seen
	case r.recoversUnsent && e.kind == evTaken && m.next.Sending != nil && m.heard == nil:
		m.next.Sending, m.dirty = nil, true
	case r.repeatsAnything:
		m.call.exposedHere, m.next.Begun.Idempotent, m.next.Begun.Method = true, true, "PUT"
	}
	before := m.next
	m, cmd := m.step(e, p, now)
	switch {
	case r.sendsUnsaved && e.kind == evReadied && cmd.kind == cmdSave && cmd.record.Sending != nil:
		m.out = command{kind: cmdSend, record: cmd.record}
	case r.connectsLate && cmd.kind == cmdSend:
		m.out.until = time.Time{}
	case r.ignoresNotBefore && answered:
		m.next.NotBefore, m.out.record.NotBefore = time.Time{}, time.Time{}
	case r.countsLate && m.next.Attempts > before.Attempts:
		m.next.Attempts, m.out.record.Attempts = before.Attempts, before.Attempts
	case r.overwrites && answered && e.judged.refusal && before.State == Confirmed:
		m.next.State, m.out.record.State = Rejected, Rejected
	case r.tellsTooSoon && !answered && cmd.kind == cmdSave && cmd.record.Sending == nil:
		m.rec, m.out = m.next, command{kind: cmdSettle, record: m.next}
	case r.tellsUnknownSent && e.kind == evSaveUnknown:
		m.out.record.Exposed, m.out.record.Reason = true, Unknown
	}
	return m, m.out
}

func (x *exploration) own(o owners, e ownerEvent) (owners, grant, []seat) {
	if x.rules.twoDrivers && e.kind == ownBegin {
		o.driving = false
	}
	return o.step(e)
}
