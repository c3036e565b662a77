package oncehttp

import "time"

// call is what one call, or one pass of Resume, may still do.
type call struct {
	// recordOnly: Begin. resume: no caller asked for this.
	recordOnly, resume bool
	// until is the end of the budget and of every caller's patience.
	until time.Time
	// attempts counts against Retry.MaxAttempts; sends counts hops too.
	attempts, sends, hops int
	// exposedHere: an attempt of this call exposed the intent. renewed: 401 was
	// answered with other credentials once. stopped: no more attempts. left: no
	// caller is there any more.
	exposedHere, renewed, stopped, left bool
	// lookedUp: the system of record was asked.
	lookedUp bool
	// admitted: the host's gate lets the next attempt go.
	admitted bool
}

type commandKind uint8

const (
	cmdSettle commandKind = iota // the call ends; the outcome is told
	cmdAsk                       // ask the host's gate, with until as patience
	cmdReady                     // make the request to hop, authorize it, compare it with the record
	cmdSave                      // make record durable
	cmdSend                      // send the attempt that record.Sending names
	cmdWait                      // until a time
	cmdLookUp                    // ask the system of record
)

type command struct {
	kind   commandKind
	record record
	// until: wait ends then; send is withdrawn if no connection is got by then
	// (zero: no limit).
	until time.Time
	// timeout of the attempt; zero: none.
	timeout time.Duration
	// hop is where a redirect led (ready); empty: the begun URL. stale: the last
	// credentials were refused (ready), or once in this call (send), so that the
	// next refusal counts.
	hop   string
	stale bool
	// parked (ask): no caller waits.
	parked bool
	// notRecorded (settle): the journal could not keep what record tells.
	notRecorded bool
}

type eventKind uint8

const (
	evTaken eventKind = iota
	evAdmitted
	evShut // the gate lets nobody go in time
	evReadied
	evUnready
	evSaved
	evSaveFailed  // nothing was written
	evSaveUnknown // it may have been written
	evOvertaken   // another's write came first; stored is what is on disk
	evAnswered
	evWoke
	evCancelled // no caller is left
	evJoined    // another caller came
	evLooked    // something came beside the wait; it was told before this
	evLookedUp
	evResolved
	evRead // another wrote, beside the outstanding command; stored is what is on disk
)

// event is one flat struct; the comment of a field names the kinds that set it.
type event struct {
	kind eventKind
	call call // taken, joined
	// attempt names the attempt: readied (the one to start), answered.
	attempt  string
	stripped []string  // readied: names that the request carries and the journal does not
	stamped  time.Time // readied: the time that the attempt is the first to tell; zero: it tells none, or one told before
	// credential is the print of what the contract pins: readied.
	credential string
	judged     judgement
	answer     *answer       // answered, when there was one
	location   string        // answered: where a 307 or 308 to the same origin leads
	delay      time.Duration // answered: the backoff's next wait
	stop       bool          // answered: the backoff gives up
	again      time.Time     // shut: when to ask again; looked up: the same, of a lookup that was not let go
	cause      string        // answered, unready: what happened, in our words
	stored     *record       // overtaken, read
	word       word          // resolved
	finding    Finding       // looked up; an error is a finding that cannot tell
	settle     time.Duration // looked up: of the lookup that found; zero: as of the contract
	asked      time.Time     // looked up: before it was
	dated      time.Time     // looked up: the Date of the answer; zero: it has none
	unasked    bool          // looked up: nobody could be asked
	wish       time.Time     // looked up: until when the API has asked to be left alone; zero: it has not
	ofHost     bool          // looked up: by a 429 or 503
}

// policy is what decides beside the record: the client's settings and the
// contract that matches today.
type policy struct {
	maxAttempts int
	attempt     time.Duration
	share       float64
	contract    *Contract
	// distrusted: an answer has contradicted the contract.
	distrusted bool
	// lookup: somebody can be asked what became of the intent.
	lookup bool
	// copied: the journal is a copy whose original may be in use.
	copied bool
	// latest is the highest wall time that the client or its journal has seen.
	latest time.Time
	// shut: the host has asked to be left alone since its gate let the attempt go.
	shut bool
}

// trusting is the policy without the distrust.
func (p policy) trusting() policy {
	p.distrusted = false
	return p
}

// leastPause is the least pause before a repeat of what may have arrived.
func (p policy) leastPause() time.Duration {
	if p.contract == nil {
		return 0
	}
	return p.contract.Hints.Least
}
