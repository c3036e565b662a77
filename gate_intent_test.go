package oncehttp

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatAnAttemptSaysOfItsHost(t *testing.T) {
	t.Parallel()
	api := &Contract{Origin: Marker{Headers: []string{"X-Request-Id"}}, Answers: []Answer{
		{Status: []int{429}, Codes: []string{"lock_timeout"}, Verdict: VerdictInProgress},
		{Status: []int{402}, Verdict: VerdictThrottled},
		{Status: []int{503}, Verdict: VerdictUnknown},
		{Status: []int{429}, Codes: []string{"keys_down"}, Verdict: VerdictKeysDown},
	}}
	own := http.Header{"X-Request-Id": {"1"}}
	for _, c := range []struct {
		name     string
		facts    facts
		contract *Contract
		want     hostSign
	}{
		{"no connection", facts{failure: neverConnected}, nil, hostDown},
		{"a certificate that fails", facts{failure: neverTrusted}, nil, hostDown},
		{"a breaker below us", facts{failure: neverSent}, nil, hostMute},
		{"a connection that was closed when it was got", facts{failure: neverWritten}, nil, hostMute},
		{"a lost answer", facts{failure: lost}, nil, hostMute},
		{"throttled", facts{status: 429}, nil, hostDown},
		{"bad gateway", facts{status: 502}, nil, hostDown},
		{"unavailable", facts{status: 503}, nil, hostDown},
		{"gateway time-out", facts{status: 504}, nil, hostDown},
		{"500", facts{status: 500}, nil, hostMute},
		{"408", facts{status: 408}, nil, hostMute},
		{"a proxy's 407", facts{status: 407}, nil, hostMute},
		{"created", facts{status: 201}, nil, hostUp},
		{"refused", facts{status: 422}, nil, hostUp},
		{"not found", facts{status: 404}, nil, hostUp},
		{"a redirect", facts{status: 307}, nil, hostUp},
		{"the API's own 201", facts{status: 201, header: own}, api, hostUp},
		{"a portal's 200", facts{status: 200}, api, hostMute},
		{"429 of one object", facts{status: 429, header: own, body: []byte(`{"code":"lock_timeout"}`)}, api, hostUp},
		{"429 because no key can be looked up", facts{status: 429, header: own, body: []byte(`{"code":"keys_down"}`)}, api, hostDown},
		{"429 of the API", facts{status: 429, header: own}, api, hostDown},
		{"the API's own word for throttling", facts{status: 402, header: own}, api, hostUp},
		{"503 by a rule", facts{status: 503, header: own}, api, hostDown},
	} {
		assert.Equal(t, c.want, classify(c.facts, history{}, c.contract, time.Now()).host, c.name)
	}
}

func TestOnlyAThrottledOrUnavailableHostBindsItsGate(t *testing.T) {
	t.Parallel()
	for status, binds := range map[int]bool{429: true, 503: true, 502: false, 504: false, 500: false, 409: false, 307: false} {
		h := http.Header{"Retry-After": {"7"}}
		e := hostEvent(classify(facts{status: status, header: h}, history{}, nil, time.Now()), status)
		assert.Equal(t, binds, !e.wish.IsZero(), status)
	}
	concurrent := &Contract{Answers: []Answer{{Status: []int{429}, Codes: []string{"3162"}, Verdict: VerdictInProgress}}}
	f := facts{status: 429, header: http.Header{"Retry-After": {"7"}}, body: []byte(`{"code":3162}`)}
	assert.Equal(t, gateEvent{kind: gateUp}, hostEvent(classify(f, history{protection: keyed}, concurrent, time.Now()), 429),
		"one that says that this key runs binds the intent alone")
}

// asking is the machine of a new intent that has just asked.
func asking(t *testing.T, now time.Time) machine {
	m := machine{next: record{Reason: NotSent, Due: now, Seen: now}, dirty: true}
	m, cmd := m.step(event{kind: evTaken, call: call{until: now.Add(time.Minute)}}, askingPolicy, now)
	require.Equal(t, cmdAsk, cmd.kind)
	require.Equal(t, now.Add(time.Minute), cmd.until)
	return m
}

var askingPolicy = policy{maxAttempts: 4, attempt: time.Second, share: 0.9}

func TestAnIntentThatMayNotGoIsRecordedAndNotSent(t *testing.T) {
	t.Parallel()
	now := outageEpoch
	again := now.Add(time.Hour)
	m := asking(t, now)
	m, cmd := m.step(event{kind: evShut, again: again}, askingPolicy, now)
	require.Equal(t, cmdSave, cmd.kind)
	m, cmd = m.step(event{kind: evSaved}, askingPolicy, now)
	require.Equal(t, cmdSettle, cmd.kind)
	o := cmd.record.outcome(nil, 0.9, time.Second)
	require.Equal(t, GateClosed, o.Reason)
	require.Equal(t, again, o.RetryAt)
	require.False(t, o.MayHaveExecuted)

	// A call of its own asks again, before that time: the gate may be open.
	m, cmd = m.step(event{kind: evTaken, call: call{until: now.Add(time.Minute)}}, askingPolicy, now)
	require.Equal(t, cmdAsk, cmd.kind)
	m, cmd = m.step(event{kind: evAdmitted}, askingPolicy, now)
	require.Equal(t, cmdReady, cmd.kind)
	m, cmd = m.step(event{kind: evReadied, attempt: "1"}, askingPolicy, now)
	require.Equal(t, NotSent, cmd.record.Reason)
	m, cmd = m.step(event{kind: evSaved}, askingPolicy, now)
	require.Equal(t, cmdSend, cmd.kind)
	require.False(t, m.call.admitted, "the next attempt asks anew")
}

func TestWhatAnAttemptMetIsToldRatherThanThatTheGateIsShut(t *testing.T) {
	t.Parallel()
	now := outageEpoch
	again := now.Add(time.Hour)
	m := asking(t, now)
	m.call.sends, m.next.Reason, m.next.Attempts = 1, Throttled, 1
	_, cmd := m.step(event{kind: evShut, again: again}, askingPolicy, now)
	require.Equal(t, Throttled, cmd.record.Reason)
	require.Equal(t, again, cmd.record.Due)
}

func TestACallerThatLeavesTheGateLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	m := asking(t, outageEpoch)
	m, cmd := m.step(event{kind: evCancelled}, askingPolicy, outageEpoch)
	require.Equal(t, cmdSettle, cmd.kind)
	require.Zero(t, cmd.record.Revision)
	_, cmd = m.step(event{kind: evAdmitted}, askingPolicy, outageEpoch)
	require.Equal(t, cmdSettle, cmd.kind, "a late word of the gate changes nothing")
}

func TestACallerThatJoinsAParkedIntentAsksForIt(t *testing.T) {
	t.Parallel()
	now := outageEpoch
	m := machine{rec: record{Revision: 1, Reason: NotSent, Due: now, Seen: now}}
	m.next = m.rec
	m, cmd := m.step(event{kind: evTaken, call: call{resume: true, until: now.Add(time.Second)}}, askingPolicy, now)
	require.True(t, cmd.parked)
	_, cmd = m.step(event{kind: evJoined, call: call{until: now.Add(time.Minute)}}, askingPolicy, now)
	require.Equal(t, cmdAsk, cmd.kind)
	require.False(t, cmd.parked)
	require.Equal(t, now.Add(time.Minute), cmd.until)
}
