package oncehttp

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAHintOverridesTheTableAndNeverMakesAnUnsafeRepeat(t *testing.T) {
	t.Parallel()
	should := func(value string) http.Header { return http.Header{"X-Should-Retry": {value}} }
	replayed := http.Header{"X-Should-Retry": {"true"}, "Idempotent-Replayed": {"true"}}
	absentNo := func(c *Contract) { c.Hints.Headers[0].AbsentNo = true }
	origin := func(c *Contract) { c.Origin = Marker{Headers: []string{"X-Api"}} }
	keeps := func(c *Contract) { c.Stored.Failures = KeepingYes }
	rules := func(v Verdict) func(*Contract) {
		return func(c *Contract) { c.Answers = []Answer{{Status: []int{422}, Verdict: v}}; absentNo(c) }
	}
	for _, c := range []struct {
		name     string
		contract func(*Contract)
		facts    facts
		history  history
		want     string
	}{
		{"false ends what would go on", nil, facts{status: 500, header: should("false")}, history{protection: keyed}, "maybe no no ServerError Pending"},
		{"false after nothing was done is a definite no", nil, facts{status: 429, header: should(" FALSE ")}, history{protection: keyed}, "none no no Refused Rejected"},
		{"but not of what came before", nil, facts{status: 429, header: should("false")}, history{protection: keyed, exposed: true}, "none no no Refused Pending"},
		{"false does not undo a success", nil, facts{status: 200, cut: true, header: should("false")}, history{protection: keyed}, "done yes now - Confirmed"},
		{"false is not about other credentials", nil, facts{status: 401, header: should("false")}, history{protection: keyed, renewable: true}, "none no now Unauthorized Pending"},
		{"true repeats what did nothing", nil, facts{status: 404, header: should("true")}, history{protection: keyed}, "none no now Throttled Pending"},
		{"true repeats what did nothing, without a key too", nil, facts{status: 404, header: should("true")}, history{}, "none no now Throttled Pending"},
		{"true repeats under the key", nil, facts{status: 302, header: should("true")}, history{protection: keyed}, "maybe no now Unknown Pending"},
		{"true is no protection", nil, facts{status: 500, header: should("true")}, history{}, "maybe no no ServerError Pending"},
		{"true is no protection of what came before", nil, facts{status: 404, header: should("true")}, history{exposed: true}, "none no no Throttled Pending"},
		{"true is no key", nil, facts{status: 302, header: should("true")}, history{protection: idempotent}, "maybe no no Unknown Pending"},
		{"true where a failure is kept", keeps, facts{status: 500, header: should("true")}, history{protection: keyed}, "maybe no now ServerError Pending"},
		{"true on a stored answer is stale", nil, facts{status: 500, header: replayed}, history{protection: keyed}, "maybe yes no StoredFailure Pending"},
		{"anything else says nothing", absentNo, facts{status: 500, header: should("maybe")}, history{protection: keyed}, "maybe no now ServerError Pending"},
		{"absent says nothing", nil, facts{status: 500}, history{protection: keyed}, "maybe no now ServerError Pending"},
		{"absent means no", absentNo, facts{status: 503, header: http.Header{"Retry-After": {"1"}}}, history{protection: keyed}, "maybe no no Throttled Pending"},
		{"absent means no on errors alone", absentNo, facts{status: 200, cut: true}, history{protection: keyed}, "done yes now - Confirmed"},
		{"absent, and no answer", absentNo, facts{failure: lost}, history{protection: keyed}, "maybe no now Unknown Pending"},
		{"absent on somebody else's answer", func(c *Contract) { absentNo(c); origin(c) }, facts{status: 502}, history{protection: keyed}, "maybe no now ServerError Pending"},
		{"absent, and a rule knows it", rules(VerdictInProgress), facts{status: 422}, history{protection: keyed}, "maybe no now InProgress Pending"},
		{"false, and a rule knows it", rules(VerdictInProgress), facts{status: 422, header: should("false")}, history{protection: keyed}, "maybe no no InProgress Pending"},
		{"true, and a rule knows better", rules(VerdictKeySpent), facts{status: 422, header: should("true")}, history{protection: keyed}, "none no no StoredFailure Rejected"},
	} {
		contract := plainContract()
		contract.Hints.Headers = []Hint{{Header: "X-Should-Retry"}}
		if c.contract != nil {
			c.contract(contract)
		}
		c.history.method = http.MethodPost
		j := classify(c.facts, c.history, contract, classifyNow)
		assert.Equal(t, c.want, judgementCell(j, c.history.exposed), c.name)
	}
	two := Hints{Headers: []Hint{{Header: "First"}, {Header: "Second", AbsentNo: true}}}
	for _, c := range []struct {
		header  http.Header
		yes, no bool
	}{
		{http.Header{"First": {"true"}, "Second": {"false"}}, true, false},
		{http.Header{"First": {"x"}, "Second": {"false"}}, false, true},
		{http.Header{"First": {"x"}}, false, true},
	} {
		yes, no := two.again(facts{status: 400, header: c.header}, false)
		assert.Equal(t, [2]bool{c.yes, c.no}, [2]bool{yes, no}, c.header)
	}
}

func TestAHintSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	const none = time.Duration(-1)
	inAMinute := classifyNow.Add(time.Minute)
	for _, c := range []struct {
		kind  HintKind
		value string
		want  time.Duration
	}{
		{HintSeconds, "7", 7 * time.Second},
		{HintSeconds, " 0.25 ", 250 * time.Millisecond},
		{HintSeconds, "-1", none},
		{HintSeconds, "1e3", none},
		{HintSeconds, "99999999999999999999", farthestWait},
		{HintMillis, "1500", 1500 * time.Millisecond},
		{HintMillis, "0.5", 500 * time.Microsecond},
		{HintMillis, "x", none},
		{HintDuration, "6m30s", 6*time.Minute + 30*time.Second},
		{HintDuration, "1.5s", 1500 * time.Millisecond},
		{HintDuration, "20ms", 20 * time.Millisecond},
		{HintDuration, "-1s", none},
		{HintDuration, "7", none},
		{HintDuration, "2000000h", farthestWait},
		{HintDuration, "99999999999h", none},
		{HintDate, inAMinute.Format(http.TimeFormat), time.Minute},
		{HintDate, "Sunday, 01-Mar-26 12:01:00 GMT", time.Minute},
		{HintDate, classifyNow.Add(-time.Hour).Format(http.TimeFormat), 0},
		{HintDate, "60", none},
		{HintUnix, "1772366460", time.Minute},
		{HintUnix, "1772366400.5", 500 * time.Millisecond},
		{HintUnix, "1", 0},
		{HintUnix, "", none},
		{HintRFC3339, "2026-03-01T12:01:00Z", time.Minute},
		{HintRFC3339, "2026-03-01T13:01:00.25+01:00", time.Minute + 250*time.Millisecond},
		{HintRFC3339, "9999-01-01T00:00:00Z", farthestWait},
		{HintRFC3339, "2026-03-01", none},
	} {
		contract := plainContract()
		contract.Hints.Headers = []Hint{{Header: "X-Reset", Kind: c.kind}}
		j := classify(facts{status: 429, header: http.Header{"X-Reset": {c.value}}}, history{protection: keyed}, contract, classifyNow)
		assert.Equal(t, c.want != none, j.asked, "%d %q", c.kind, c.value)
		assert.Equal(t, max(0, c.want), j.wait, "%d %q", c.kind, c.value)
	}
	// Clocks that differ do no harm: the answer's own time counts.
	contract := plainContract()
	contract.Hints.Headers = []Hint{{Header: "X-Reset", Kind: HintUnix}}
	h := http.Header{"X-Reset": {"1772366460"}, "Date": {classifyNow.Add(50 * time.Second).Format(http.TimeFormat)}}
	assert.Equal(t, 10*time.Second, classify(facts{status: 429, header: h}, history{}, contract, classifyNow).wait)
}

func TestTheFirstHintCountsAndNothingIsSentSoonerThanRetryAfter(t *testing.T) {
	t.Parallel()
	millis, reset := Hint{Header: "X-Ms-Retry-After-Ms", Kind: HintMillis}, Hint{Header: "X-Reset", Kind: HintDuration}
	listed := Hint{Header: "Retry-After", Kind: HintSeconds}
	in := Answer{Status: []int{202}, Verdict: VerdictInProgress}
	for _, c := range []struct {
		name   string
		hints  []Hint
		status int
		header http.Header
		want   time.Duration // 0: nothing was asked
	}{
		{"the first", []Hint{millis, reset}, 429, http.Header{"X-Ms-Retry-After-Ms": {"1500"}, "X-Reset": {"9s"}}, 1500 * time.Millisecond},
		{"the second, where the first says nothing", []Hint{millis, reset}, 429, http.Header{"X-Ms-Retry-After-Ms": {"soon"}, "X-Reset": {"9s"}}, 9 * time.Second},
		{"the second line", []Hint{millis}, 429, http.Header{"X-Ms-Retry-After-Ms": {"soon", "2000"}}, 2 * time.Second},
		{"not sooner than Retry-After", []Hint{millis}, 429, http.Header{"X-Ms-Retry-After-Ms": {"1500"}, "Retry-After": {"4"}}, 4 * time.Second},
		{"nor than a listed one", []Hint{millis, listed}, 429, http.Header{"X-Ms-Retry-After-Ms": {"1500"}, "Retry-After": {"4"}}, 4 * time.Second},
		{"not sooner than the hint", []Hint{millis}, 429, http.Header{"X-Ms-Retry-After-Ms": {"9000"}, "Retry-After": {"4"}}, 9 * time.Second},
		{"a pause on any error", []Hint{millis}, 500, http.Header{"X-Ms-Retry-After-Ms": {"1500"}}, 1500 * time.Millisecond},
		{"not on a success", []Hint{millis}, 200, http.Header{"X-Ms-Retry-After-Ms": {"1500"}}, 0},
		{"a rate limit's end where it was met", []Hint{reset}, 503, http.Header{"X-Reset": {"9s"}}, 9 * time.Second},
		{"a rate limit's end where it was not", []Hint{reset}, 500, http.Header{"X-Reset": {"9s"}}, 0},
		{"what runs", []Hint{reset, millis}, 202, http.Header{"X-Reset": {"9s"}}, 9 * time.Second},
		{"on a stored answer", []Hint{millis}, 409, http.Header{"X-Ms-Retry-After-Ms": {"1500"}, "Idempotent-Replayed": {"true"}}, 0},
	} {
		contract := plainContract()
		contract.Hints.Headers, contract.Answers = c.hints, []Answer{in}
		j := classify(facts{status: c.status, header: c.header}, history{protection: keyed}, contract, classifyNow)
		assert.Equal(t, c.want, j.wait, c.name)
		assert.Equal(t, c.want > 0, j.asked, c.name)
	}
}

// paced is a machine under a contract with these hints that has just been told
// to make its first attempt.
func paced(t *testing.T, hints Hints) *script {
	s := newScript(t, keyed)
	s.p.contract.Hints = hints
	return s
}

func TestWhatMayHaveArrivedIsNotRepeatedBeforeTheLeastPause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		facts facts
		wait  time.Duration
	}{
		{"lost", facts{failure: lost}, 30 * time.Second},
		{"a 5xx", facts{status: 503, header: http.Header{"Retry-After": {"7"}}}, 30 * time.Second},
		{"a longer wish", facts{status: 503, header: http.Header{"Retry-After": {"40"}}}, 40 * time.Second},
		{"a body that is missing", facts{status: 200, cut: true}, 30 * time.Second},
		{"throttled", facts{status: 429, header: http.Header{"Retry-After": {"7"}}}, 7 * time.Second},
		{"never sent", facts{failure: neverConnected}, 0},
	} {
		s := paced(t, Hints{Least: 30 * time.Second})
		s.send("1")
		s.now = s.now.Add(5 * time.Second)
		s.answer(c.facts)
		assert.Equal(t, c.wait, s.m.rec.NotBefore.Sub(s.now), c.name)
		if c.wait > 0 {
			s.want(cmdWait)
		}
	}
	s := paced(t, Hints{Least: 30 * time.Second})
	s.send("1")
	sent := s.now
	s.now = s.now.Add(5 * time.Second)
	s.restart() // the process that sent it is gone
	s.want(cmdSave)
	s.step(event{kind: evSaved})
	s.want(cmdWait)
	assert.Equal(t, sent.Add(30*time.Second), s.cmd.until)
	assert.Equal(t, s.cmd.until, s.m.rec.Due)

	s = paced(t, Hints{Least: 30 * time.Second, Headers: []Hint{{Header: "X-Should-Retry"}}})
	s.send("1")
	s.answer(facts{status: 500, header: http.Header{"X-Should-Retry": {"false"}}})
	s.want(cmdSettle)
	s.restart() // somebody asks all the same
	s.want(cmdWait)
	assert.Equal(t, 30*time.Second, s.cmd.until.Sub(s.now))
}

func TestAnAttemptThatNeverEndsIsNotAskedForForEver(t *testing.T) {
	t.Parallel()
	s := paced(t, Hints{Running: time.Minute})
	begun := s.now
	s.p.maxAttempts = 100
	running := facts{status: 409}
	s.send("1")
	s.now = begun.Add(time.Minute)
	s.answer(running)
	s.send("2")
	s.now = s.now.Add(time.Nanosecond)
	s.answer(running)
	s.want(cmdSettle)
	assert.Equal(t, InProgress, s.cmd.record.Reason)
	assert.True(t, s.cmd.record.Parked)
	assert.True(t, s.cmd.record.due().IsZero(), "no pass takes it up")
	s.restart() // a person asks
	s.send("3")
	s.answer(facts{status: 201, header: http.Header{"Idempotent-Replayed": {"true"}}})
	s.want(cmdSettle)
	assert.Equal(t, Confirmed, s.cmd.record.State)

	s = paced(t, Hints{Running: time.Second})
	s.send("1")
	s.now = s.now.Add(time.Minute)
	s.answer(facts{failure: lost})
	s.want(cmdReady) // nobody said in progress
}
