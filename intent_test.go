package oncehttp

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var stepStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// script drives one machine by hand.
type script struct {
	t   *testing.T
	m   machine
	cmd command
	p   policy
	now time.Time
}

// newScript is a machine that has just been told to make its first attempt.
func newScript(t *testing.T, p protection) *script {
	s := &script{t: t, now: stepStart, p: policy{maxAttempts: 4, attempt: time.Second, share: 1}}
	r := record{Action: "pay", Reason: NotSent, Due: s.now, Seen: s.now, Begun: begun{Method: "POST", Idempotent: p == idempotent}}
	if p == keyed {
		c := IdempotencyKey("*", time.Hour)
		s.p.contract = &c
		r.Begun.Wire, r.Begun.Window = "k", c.Window
	}
	s.m = machine{next: r, dirty: true}
	s.take()
	return s
}

func (s *script) step(e event) command {
	s.m, s.cmd = s.m.step(e, s.p, s.now)
	if s.cmd.kind == cmdAsk { // the gate is open
		s.m, s.cmd = s.m.step(event{kind: evAdmitted}, s.p, s.now)
	}
	return s.cmd
}

func (s *script) take() command {
	return s.step(event{kind: evTaken, call: call{until: s.now.Add(time.Minute)}})
}

func (s *script) want(kind commandKind) {
	s.t.Helper()
	require.Equal(s.t, kind, s.cmd.kind)
}

// send starts an attempt and gets it to the wire.
func (s *script) send(id string) {
	s.t.Helper()
	s.want(cmdReady)
	s.step(event{kind: evReadied, attempt: id})
	s.want(cmdSave)
	s.step(event{kind: evSaved})
	s.want(cmdSend)
}

// answer judges the attempt that is on the wire, and saves that.
func (s *script) answer(f facts) {
	s.t.Helper()
	s.want(cmdSend)
	r := s.cmd.record
	h := history{method: "POST", exposed: r.Exposed, protection: r.protection(s.p), renewable: !s.cmd.stale}
	e := event{kind: evAnswered, attempt: r.Sending.ID, judged: classify(f, h, s.p.contract, s.now)}
	if f.status != 0 {
		e.answer = &answer{Status: f.status, Incomplete: f.cut}
	}
	s.step(e)
	s.want(cmdSave)
	s.step(event{kind: evSaved})
}

// restart is a crash, and a new process that takes the intent up.
func (s *script) restart() command {
	s.m = machine{rec: s.m.rec, next: s.m.rec}
	return s.take()
}

func TestACutBodyIsAskedForAgainOnlyUnderAKey(t *testing.T) {
	t.Parallel()
	for _, p := range []protection{unprotected, idempotent} {
		s := newScript(t, p)
		s.send("1")
		s.answer(facts{status: 200, cut: true})
		s.want(cmdSettle)
		require.Equal(t, Confirmed, s.cmd.record.State)
		require.True(t, s.cmd.record.Answer.Incomplete)
		s.restart()
		s.want(cmdSettle)
		require.Equal(t, Confirmed, s.cmd.record.State, "a later call finds it settled")
	}
	s := newScript(t, keyed)
	s.send("1")
	s.answer(facts{status: 200, cut: true})
	s.want(cmdReady)
	s.p.contract = nil
	s.restart()
	s.want(cmdSettle) // no contract, no key: no repeat
	s.p.contract = plainContract()
	s.p.contract.Proof = ProofUnknown
	s.restart()
	s.want(cmdSettle) // facts too weak for a repeat
	s.p.contract = plainContract()
	s.restart()
	s.send("2")
	s.answer(facts{status: 200})
	s.want(cmdSettle)
	require.False(t, s.cmd.record.Incomplete)
	require.False(t, s.cmd.record.Answer.Incomplete)
}

func TestABodyThatARepeatDoesNotBringIsNotAskedForLater(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.p.contract.Stored.Repeat = RepeatEmpty
	s.send("1")
	s.answer(facts{status: 200, cut: true})
	s.want(cmdSettle)
	s.restart()
	s.want(cmdSettle)

	s = newScript(t, keyed)
	s.send("1")
	s.answer(facts{status: 200, cut: true})
	s.want(cmdReady)
	s.p.contract.Stored.Repeat = RepeatError // as it is known to be since
	s.restart()
	s.want(cmdSettle)
	require.Equal(t, Confirmed, s.cmd.record.State)
}

// A success whose body was cut is asked for again, and the second one says that
// the key was not honoured: there are two.
func TestARepeatForACutBodyThatIgnoredTheKeyIsToldAsRepeated(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.p.contract.Ignored = Marker{Headers: []string{"Idempotency-Status"}, Values: []string{"ignored"}}
	s.send("1")
	s.answer(facts{status: 201, cut: true})
	s.now = s.now.Add(time.Second)
	s.send("2")
	s.answer(facts{status: 201, header: http.Header{"Idempotency-Status": {"ignored"}}})
	s.want(cmdSettle)
	assert.Equal(t, Confirmed, s.cmd.record.State)
	assert.True(t, s.cmd.record.Repeated)
}

func TestRedirectsThatLeadNowhereAreFollowedEverMoreSeldom(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	for hop := range maxHops + 1 {
		s.send(strconv.Itoa(hop))
		s.step(event{kind: evAnswered, attempt: s.cmd.record.Sending.ID, answer: &answer{Status: 307}, location: "https://api.test/next",
			judged: classify(facts{status: 307}, history{method: "POST", protection: keyed}, s.p.contract, s.now)})
		for s.cmd.kind == cmdSave {
			s.step(event{kind: evSaved})
		}
	}
	s.want(cmdSettle)
	assert.Equal(t, Redirected, s.cmd.record.Reason)
	assert.Equal(t, 1, s.cmd.record.Waits, "the next pause is longer")
}

func TestCredentialsAreRenewedOnceACall(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.send("1")
	s.answer(facts{status: 401})
	s.want(cmdReady)
	require.True(t, s.cmd.stale)
	s.send("2")
	s.answer(facts{status: 401})
	s.want(cmdSettle)
	require.Equal(t, Rejected, s.cmd.record.State)
	require.Equal(t, Unauthorized, s.cmd.record.Reason)
	s.restart()
	s.want(cmdReady) // a new call begins it again
	require.False(t, s.cmd.stale)
	s.send("3")
	s.answer(facts{status: 200})
	s.want(cmdSettle)
	require.Equal(t, Confirmed, s.cmd.record.State)
}

func TestABeginThatWasNotSentLeavesNothingBehindWhenItsCallerLeaves(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.step(event{kind: evCancelled})
	s.step(event{kind: evReadied, attempt: "1"})
	s.want(cmdSettle)
	require.Zero(t, s.cmd.record.Revision)

	s = newScript(t, keyed)
	s.send("1")
	s.answer(facts{status: 401})
	s.send("2")
	s.answer(facts{status: 401})
	s.restart() // begun again
	begunAgain := s.m
	s.step(event{kind: evCancelled})
	s.step(event{kind: evReadied, attempt: "3"})
	s.want(cmdSettle)
	require.Equal(t, Rejected, s.cmd.record.State)

	s.m = begunAgain
	s.step(event{kind: evReadied, attempt: "3"})
	s.step(event{kind: evCancelled}) // too late for that: the save is under way
	s.step(event{kind: evSaved})
	s.want(cmdSave)
	require.Equal(t, Pending, s.cmd.record.State)
	require.False(t, s.cmd.record.due().IsZero(), "it is on disk, so a pass takes it up")
}

// A clock of nanoseconds, and a journal that keeps microseconds: what is due
// for a look-up is saved once, and then looked up.
func TestAParkedIntentIsSavedOnceBeforeItIsLookedUp(t *testing.T) {
	t.Parallel()
	s := newScript(t, unprotected)
	s.p.lookup, s.now = true, s.now.Add(time.Nanosecond)
	s.send("a1")
	s.answer(facts{failure: lost})
	s.want(cmdLookUp)
}

func TestMissingCredentialsDoNotMakeAParkedIntentDue(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.send("1")
	s.answer(facts{failure: lost})
	s.send("2")
	s.answer(facts{status: 400})
	s.want(cmdSettle)
	require.True(t, s.cmd.record.due().IsZero())
	s.restart()
	s.step(event{kind: evUnready})
	s.want(cmdSave)
	require.Equal(t, NeedsCredentials, s.cmd.record.Reason)
	require.True(t, s.cmd.record.due().IsZero())
}

// What another wrote beside a save is not the save's result: the machine must
// not take for saved what it commands because of it.
func TestAnotherWriteBesideASaveIsNotItsResult(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.send("1")
	r := s.cmd.record
	s.step(event{kind: evAnswered, attempt: "1", judged: judgement{effect: effectDone, settles: true}, answer: &answer{Status: 200}})
	s.want(cmdSave)
	theirs := s.cmd.record // our save came through, then a person's word
	theirs.Revision = r.Revision + 2
	theirs.attest(word{At: s.now, To: Rejected, By: "ops"})
	s.step(event{kind: evRead, stored: &theirs})
	s.want(cmdSave)
	s.step(event{kind: evSaved})
	s.want(cmdSettle)
	assert.Equal(t, theirs, s.cmd.record)
	assert.Equal(t, theirs, s.m.rec)
}

func TestAPersonsWordAfterTheSaveKeepsTheAttemptFromStarting(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.step(event{kind: evReadied, attempt: "1"})
	theirs := s.cmd.record
	theirs.Revision = 2
	theirs.attest(word{At: s.now, To: Confirmed, By: "ops"})
	s.step(event{kind: evRead, stored: &theirs})
	s.step(event{kind: evSaved})
	s.want(cmdSave)
	assert.Nil(t, s.cmd.record.Sending, "it is recorded that the attempt did not start")
	s.step(event{kind: evSaved})
	s.want(cmdSettle)
	assert.Equal(t, Confirmed, s.cmd.record.State)
	assert.Zero(t, s.cmd.record.Attempts)
}

func TestAPersonsWordEndsAWait(t *testing.T) {
	t.Parallel()
	s := newScript(t, keyed)
	s.send("1")
	s.step(event{kind: evAnswered, attempt: "1", judged: judgement{again: againNow, reason: Throttled, wait: time.Second, asked: true}})
	s.step(event{kind: evSaved})
	s.want(cmdWait)
	theirs := s.m.rec
	theirs.Revision++
	theirs.attest(word{At: s.now, To: Confirmed, By: "ops"})
	s.step(event{kind: evRead, stored: &theirs})
	s.want(cmdSettle)
	assert.Equal(t, theirs, s.cmd.record)
}

func TestEvidenceThatCouldNotBeSavedIsWrittenWhenTheIntentIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	for _, e := range []eventKind{evSaveFailed, evSaveUnknown} {
		s := newScript(t, keyed)
		s.send("1")
		s.step(event{kind: evAnswered, attempt: "1", judged: judgement{effect: effectDone, settles: true}, answer: &answer{Status: 200}})
		s.step(event{kind: e})
		s.want(cmdSettle)
		require.True(t, s.cmd.notRecorded)
		require.Equal(t, Pending, s.cmd.record.State, "what is told is on disk")
		s.take()
		s.want(cmdSave)
		require.Equal(t, Confirmed, s.cmd.record.State)
		s.step(event{kind: evSaved})
		s.want(cmdSettle)
		require.Equal(t, Confirmed, s.cmd.record.State)
	}
}

func TestAnEventThatDoesNotFitChangesNothing(t *testing.T) {
	t.Parallel()
	fits := map[commandKind][]eventKind{
		cmdSettle: {evTaken, evResolved, evAnswered},
		cmdAsk:    {evAdmitted, evShut, evCancelled, evJoined, evRead},
		cmdReady:  {evReadied, evUnready, evRead},
		cmdSave:   {evSaved, evSaveFailed, evSaveUnknown, evOvertaken, evRead},
		cmdSend:   {evAnswered, evRead},
		cmdWait:   {evWoke, evRead, evCancelled},
	}
	met := map[commandKind]int{}
	for _, x := range explorations() {
		if x.name != "keyed, persons" && x.name != "contract gone" && x.name != "keyed, gate" {
			continue
		}
		x.met = func(_, w *world, _ move) {
			if w.m == nil {
				return
			}
			m := *w.m
			if met[m.out.kind]++; met[m.out.kind]%8 != 1 {
				return // a sample will do
			}
			for kind := evTaken; kind <= evRead; kind++ {
				after, cmd := m.step(event{kind: kind, attempt: "another", stored: &record{Revision: 99}}, x.policy(w), w.now())
				if slices.Contains(fits[m.out.kind], kind) {
					continue
				}
				before := m
				if kind == evCancelled || kind == evJoined {
					before.call.left, before.call.until, before.call.resume = after.call.left, after.call.until, after.call.resume
				}
				require.Equal(t, before, after, "event %d after command %d", kind, m.out.kind)
				require.Equal(t, m.out, cmd)
			}
		}
		x.run()
		require.Nil(t, x.breach)
	}
	for kind := range fits {
		assert.Positive(t, met[kind], "command %d", kind)
	}
}

// Whoever began it was told that nothing was begun.
func TestABeginThatWasLeftBeforeItsSaveIsNotSaved(t *testing.T) {
	t.Parallel()
	for _, left := range []bool{false, true} {
		s := newScript(t, keyed)
		s.m = machine{next: s.m.next, dirty: true}
		s.step(event{kind: evTaken, call: call{recordOnly: true, left: left}})
		want := cmdSave
		if left {
			want = cmdSettle
		}
		s.want(want)
	}
}
