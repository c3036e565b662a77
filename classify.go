package oncehttp

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Every attempt is judged by three questions: did it take effect, does its
// answer also settle the earlier attempts under this key, and can one more
// attempt help? The table is in testdata/classify.golden, a row for each
// status and failure.

type effect uint8

const (
	effectNone effect = iota
	effectMaybe
	effectDone
)

type again uint8

const (
	againNo    again = iota
	againLater       // not in this call
	againNow         // after backoff
)

// protection is what makes the repeat of an ambiguous attempt safe.
type protection uint8

const (
	unprotected protection = iota
	idempotent             // by method: RFC 9110 section 9.2.2
	keyed                  // a contract holds, and its carrier has the key
)

// failure is what is known of an attempt that got no status line. It is read
// from httptrace, contexts and error types, never from an error's text.
type failure uint8

const (
	// lost: anything may have happened.
	lost failure = iota
	// neverConnected: the transport reported that it asked for a connection and
	// never got one, and the body was never read.
	neverConnected
	// neverTrusted: the same, and for a reason that waiting does not mend: a
	// certificate that fails verification, TLS spoken to a server without it.
	neverTrusted
	// neverSent: an error in the chain says so (NotSent() bool).
	neverSent
	// neverWritten: every connection that was got is watched, and nothing was
	// written on it.
	neverWritten
	// streamRefused: HTTP/2 REFUSED_STREAM, or GOAWAY above our stream, by type.
	streamRefused
)

// facts are what one attempt showed.
type facts struct {
	// status of the answer; 0: none, and failure says what is known.
	status  int
	failure failure
	header  http.Header
	// body as far as it was read; cut: it did not arrive whole.
	// long: it is longer than what is read, so its status is the answer.
	body      []byte
	cut, long bool
	// interim is the last 1xx but 101 that came; 0: none.
	interim int
	// wire is the key as it was sent; empty: none.
	wire string
}

// bodyMissing: what can be read of the body, which is neither JSON nor XML, is
// not what the answer has to say. It was cut, or is longer than what is read; or
// it is compressed because the caller asked for that, of a success or refusal; or
// a success says that it is one of the two.
func (f facts) bodyMissing() bool {
	if f.cut || f.long {
		return true
	}
	success := f.status/100 == 2
	return len(f.body) > 0 && (success && (isJSON(f.header) || isXML(f.header)) || (success || f.status/100 == 4) && f.compressed())
}

func (f facts) compressed() bool {
	coding := f.header.Get("Content-Encoding")
	return coding != "" && !strings.EqualFold(coding, "identity")
}

// history is what was known before the attempt.
type history struct {
	method     string
	exposed    bool
	protection protection
	// distrusted: the key would protect it if its contract had not been contradicted.
	distrusted bool
	// renewable: Authorize can be told, once a call, that credentials were
	// refused.
	renewable bool
	// refused: an unmarked refusal with the same status was seen before this
	// one, and apart is the time between this send and the last earlier one, or
	// between the Dates of both answers if that is less.
	refused bool
	apart   time.Duration
	// inProgress: the answer before this one said that an attempt still runs.
	inProgress bool
}

// judgement is what an attempt proves and what it asks for.
type judgement struct {
	effect  effect
	settles bool
	again   again
	reason  Reason
	// wait is what the server asked for, when asked is set.
	wait  time.Duration
	asked bool
	// replayed: the answer carries the contract's replay marker.
	replayed bool
	// incomplete: done, and the answer's body is missing or cut.
	incomplete bool
	// renew: send again at once with other credentials.
	renew bool
	// refusal: an unmarked 4xx that would settle if seen again later.
	refusal bool
	// unread: the contract's rules need the part of the body that is missing.
	unread bool
	// foreign: it lacks the mark that the API's own answers carry.
	foreign bool
	// reference is what the API calls the effect.
	reference string
	// host is what it says of the host, whatever it says of the intent.
	host hostSign
	// contradicts says in which way the answer contradicts the contract.
	contradicts string
}

// bindsHost: what the answer asks for, it asks of all who send to the host.
func (j judgement) bindsHost(status int) bool {
	return j.asked && j.host != hostUp && (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable)
}

// hostSign is what one attempt says of the host that it went to.
type hostSign uint8

const (
	hostMute hostSign = iota // nothing: a 500, a lost answer, an answer from something in between
	hostUp                   // it works
	hostDown                 // it does not, or not for us now
)

// state is what an attempt so judged makes of an intent that was exposed, or
// not, before it. Again wins over a rejection.
func (j judgement) state(exposed bool) State {
	switch {
	case j.effect == effectDone:
		return Confirmed
	case j.effect == effectNone && j.again == againNo && (!exposed || j.settles):
		return Rejected
	}
	return Pending
}

// classify judges one attempt. Contract is the one in force, or nil.
func classify(f facts, h history, contract *Contract, now time.Time) judgement {
	r := contract.read(f)
	j := judge(f, h, contract, r)
	if f.status != 0 {
		j.wait, j.asked = retryAfter(f.header, now)
	}
	if contract != nil && f.status != 0 && !r.replayed {
		contract.Hints.apply(&j, f, h, r, now)
	}
	j.host = judgeHost(f, r)
	// An ambiguous attempt is repeated only under an idempotent method, or a key
	// that the API has not just denied.
	protects := h.protection != unprotected && j.contradicts == ""
	if ambiguous := h.exposed || j.effect == effectMaybe; ambiguous && !j.settles && !protects {
		j.renew = false
		if h.distrusted && j.contradicts == "" && j.again == againNow {
			j.again = againLater // once the key is trusted again
		} else {
			j.again = againNo
		}
	}
	return j
}

// A reading is what an answer says under a contract. Under none it is zero.
type reading struct {
	// foreign: Origin's mark is not there.
	foreign bool
	// ignored and replayed: those marks are there.
	ignored, replayed bool
	// rule decides, if one does.
	rule  Answer
	ruled bool
}

func (c *Contract) read(f facts) reading {
	if c == nil || f.status == 0 && f.interim == 0 {
		return reading{}
	}
	var r reading
	r.rule, r.ruled = c.rule(f)
	if f.status != 0 {
		r.foreign = !c.Origin.isZero() && !c.Origin.marks(f)
		r.ignored, r.replayed = c.Ignored.marks(f), c.Replay.marks(f)
	}
	return r
}

func judge(f facts, h history, contract *Contract, r reading) judgement {
	if f.status == 0 {
		j := judgeFailure(f.failure)
		if r.ruled && f.failure == lost {
			j = judgeVerdict(r.rule, f, j)
		}
		return j
	}
	if contract == nil {
		return judgeStatus(f, h)
	}
	if r.foreign && (f.status/100 == 2 || f.status/100 == 4) {
		// Something in between answered; whether the API was reached, nobody knows.
		j := judgement{effect: effectMaybe, again: againNow, reason: Unknown, foreign: true}
		if len(contract.Origin.At) > 0 && f.long {
			j.again, j.unread = againNo, true // the mark would be as far down again
		}
		return j
	}
	if r.ignored {
		if h.protection == keyed {
			h.protection = unprotected
		}
		j := judgeStatus(f, h)
		j.contradicts = "the API says that it did not honour the key"
		return j
	}
	j := judgeStatus(f, h)
	if r.ruled {
		table := j
		j = judgeVerdict(r.rule, f, table)
		if contract.Proof > ProofVendor && j.effect == effectNone && j.again == againNow && table.effect != effectNone {
			j.effect = effectMaybe // that nothing was done is hearsay
		}
	}
	// That an attempt still runs is no stored answer, whatever mark it carries.
	j.replayed = r.replayed && !(r.ruled && r.rule.Verdict == VerdictInProgress)
	kept := !slices.Contains(contract.Stored.Except, f.status)
	switch {
	case j.replayed && f.status/100 == 5:
		j.effect, j.settles, j.again, j.reason = effectMaybe, true, againNo, StoredFailure
	case j.replayed:
		j.settles, j.refusal = true, false
		if !j.incomplete {
			j.again, j.renew = againNo, false
		}
	case !r.ruled && contract.Stored.Failures == KeepingYes && kept && ownFailure(f.status) && !r.foreign:
		j.effect, j.again, j.reason = effectMaybe, againNo, StoredFailure
	case j.refusal && contract.Stored.Refusals && kept && h.protection == keyed && j.contradicts == "":
		j.settles = true
	case j.refusal && h.refused && contract.Stored.Settle > 0 && h.apart > contract.Stored.Settle:
		j.settles = true
	}
	if fresh := j.effect == effectDone && !j.replayed && f.status/100 == 2; fresh && h.inProgress && h.protection == keyed && !contract.Replay.isZero() {
		j.contradicts = "a fresh success followed an answer that said in progress"
	}
	if contract.Repeats && j.effect == effectNone && !j.settles {
		j.effect = effectMaybe // another copy of the request may still run
	}
	if j.incomplete && (!contract.Stored.bringsAnswer() || h.protection != keyed || j.contradicts != "") {
		j.again = againNo // a repeat would not bring the body, or would act again
	}
	return j
}

// ownFailure: a 5xx that an API makes itself as a rule, where 502 to 504 and
// those from 520 on are made by what stands before it, and the rest say that it
// did nothing.
func ownFailure(status int) bool {
	return status == http.StatusInternalServerError || status == http.StatusInsufficientStorage
}

// judgeHost: an answer that a contract's rule knows is the API's own word, and
// of this request alone unless it says that nobody gets through.
func judgeHost(f facts, r reading) hostSign {
	if f.status != 0 && r.ruled && f.status/100 != 5 {
		switch r.rule.Verdict {
		case VerdictThrottled, VerdictKeysDown, verdictUnread:
		default:
			return hostUp
		}
	}
	switch s := f.status; {
	case s == 0 && (f.failure == neverConnected || f.failure == neverTrusted):
		return hostDown
	case s == http.StatusTooManyRequests, s == http.StatusBadGateway, s == http.StatusServiceUnavailable, s == http.StatusGatewayTimeout:
		return hostDown
	case r.foreign:
		return hostMute
	case s == http.StatusProxyAuthRequired, s == http.StatusRequestTimeout:
		return hostMute
	case s >= 200 && s < 500:
		return hostUp
	}
	return hostMute
}

func judgeFailure(f failure) judgement {
	switch f {
	case neverConnected, neverSent, neverWritten, streamRefused:
		return judgement{effect: effectNone, again: againNow, reason: NotSent}
	case neverTrusted:
		return judgement{effect: effectNone, again: againLater, reason: NotSent}
	}
	return judgement{effect: effectMaybe, again: againNow, reason: Unknown}
}

// judgeStatus is the table for an answer that no contract's rule decides.
func judgeStatus(f facts, h history) judgement {
	switch s := f.status; {
	case s/100 == 2:
		j := judgement{effect: effectDone, settles: true, incomplete: f.cut}
		if f.cut && h.protection == keyed {
			j.again = againNow
		}
		return j
	case s == http.StatusGone && h.method == http.MethodDelete && h.exposed:
		return judgement{effect: effectDone, settles: true}
	case s == http.StatusUnauthorized && h.renewable:
		return judgement{again: againNow, reason: Unauthorized, renew: true}
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusProxyAuthRequired:
		return judgement{reason: Unauthorized}
	case s == http.StatusMisdirectedRequest, s == http.StatusTooEarly, s == http.StatusTooManyRequests:
		return judgement{again: againNow, reason: Throttled}
	case s == http.StatusRequestTimeout:
		return judgement{effect: effectMaybe, again: againNow, reason: Unknown}
	case s == http.StatusConflict && (h.protection == keyed || f.wire != ""):
		if code := errorCode(f.body); code == "" || f.header.Get("Retry-After") != "" || saysInProgress(code) {
			return judgement{effect: effectMaybe, again: againNow, reason: InProgress}
		}
		return judgement{reason: Refused, refusal: true}
	case slices.Contains(refusals, s):
		return judgement{reason: Refused, refusal: s >= 400 && s < 500}
	case s == http.StatusMovedPermanently, s == http.StatusFound, s == http.StatusSeeOther:
		return judgement{effect: effectMaybe, reason: Unknown}
	case s == http.StatusServiceUnavailable && f.header.Get("Retry-After") != "":
		return judgement{effect: effectMaybe, again: againNow, reason: Throttled}
	case slices.Contains(failures, s), s >= 520 && s <= 530:
		return judgement{effect: effectMaybe, again: againNow, reason: ServerError}
	}
	return judgement{effect: effectMaybe, reason: Unknown}
}

// refusals are the statuses of a server that did not do it: RFC 9110 section
// 15, and 300 and 304 to 308, which point elsewhere. 501, 505, 506, 508, 510
// and 511 say that it cannot.
var refusals = []int{
	300, 304, 305, 306, 307, 308,
	400, 402, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 422, 423, 424, 426, 428, 431, 451,
	501, 505, 506, 508, 510, 511,
}

// failures may stand in front of an origin that did commit; 499, 598 and 599
// are private codes of proxies, as are 520 to 530.
var failures = []int{500, 502, 503, 504, 507, 499, 598, 599}

// judgeVerdict applies a contract's rule; table is what the general table says.
func judgeVerdict(rule Answer, f facts, table judgement) judgement {
	switch rule.Verdict {
	case VerdictDone:
		j := judgement{effect: effectDone, settles: true, incomplete: f.cut}
		if f.cut {
			j.again = againNow
		}
		j.reference = rule.reference(f.body)
		return j
	case VerdictInProgress:
		return judgement{effect: effectMaybe, again: againNow, reason: InProgress}
	case VerdictMismatch:
		return judgement{reason: Refused}
	case VerdictKeySpent:
		return judgement{reason: StoredFailure}
	case VerdictKeyExpired:
		return judgement{reason: KeyExpired}
	case VerdictKeyIgnored:
		table.contradicts = "the API says that it did not honour the key"
		return table
	case VerdictThrottled, VerdictKeysDown:
		return judgement{again: againNow, reason: Throttled}
	case VerdictRefused:
		return judgement{reason: Refused, refusal: true}
	case verdictUnread:
		if f.status/100 == 4 && !f.cut && !f.long && table.state(false) == Pending {
			return table // which settles nothing by it
		}
		j := judgement{effect: effectMaybe, again: againNow, reason: Unknown, unread: true}
		if !f.cut {
			j.again = againNo // it would be as long, or as it is, again
		}
		return j
	}
	return judgement{effect: effectMaybe, reason: Unknown}
}
