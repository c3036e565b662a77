package oncehttp

import "time"

// The machine of one intent. It is the stored record plus the one volatile
// thing beside it, the outstanding command; a crash loses that half and
// nothing else. step is the whole behaviour: client.go does what it commands
// and tells it what happened.
//
//	command   then it waits for
//	ask       admitted, shut
//	ready     readied, unready
//	save      saved, saveFailed, saveUnknown, overtaken
//	send      answered
//	wait      woke
//	look up   looked up
//	settle    taken, resolved, answered (late), looked up (found, late)
//
// cancelled, joined and read may come at any time. An event that does not fit
// the outstanding command changes nothing, and the command stands.
type machine struct {
	rec  record // as it is on disk
	next record // as the next save leaves it
	out  command
	// dirty: next holds what rec does not. heard is the evidence among it, kept
	// until it is on disk; it is merged again if another's write came between.
	dirty bool
	heard *event
	call  call
	// hop is where a redirect has led the attempt that follows.
	hop string
	// read is what another wrote while an attempt or a save was outstanding, or
	// while evidence waited to be written.
	read *record
}

const maxHops = 10

// step is total: every state has an answer to every event.
func (m machine) step(e event, p policy, now time.Time) (machine, command) {
	switch {
	case e.kind == evCancelled:
		m.call.left = true
		if m.out.kind == cmdWait || m.out.kind == cmdAsk {
			m.decide(p, now)
		}
	case e.kind == evJoined:
		m.call.left, m.call.resume, m.call.until = false, false, later(m.call.until, e.call.until)
		if m.out.kind == cmdAsk {
			m.decide(p, now)
		}
	case e.kind == evTaken && m.out.kind == cmdSettle:
		m.take(e, p, now)
	case (e.kind == evResolved || e.kind == evAnswered) && m.out.kind == cmdSettle:
		m.call = call{stopped: true} // nobody asked for another attempt
		m.hear(e, p, now)
	case e.kind == evAnswered && m.out.kind == cmdSend:
		m.hear(e, p, now)
	case e.kind == evLookedUp && m.out.kind == cmdLookUp:
		m.call.lookedUp = true
		m.hear(e, p, now)
	case e.kind == evLookedUp && m.out.kind == cmdSettle && e.finding.Kind == Found && m.next.State == Rejected:
		m.hear(e, p, now) // another's word came first; what was found is true all the same
	case e.kind == evAdmitted && m.out.kind == cmdAsk:
		m.call.admitted = true
		m.decide(p, now)
	case e.kind == evShut && m.out.kind == cmdAsk:
		m.shut(e, now)
	case e.kind == evReadied && m.out.kind == cmdReady:
		m.start(e, p, now)
	case e.kind == evUnready && m.out.kind == cmdReady:
		m.unready(e, p, now)
	case e.kind == evWoke && m.out.kind == cmdWait:
		m.decide(p, now)
	case e.kind == evRead && e.stored.Revision > m.rec.Revision:
		switch m.out.kind {
		case cmdSend, cmdSave:
			m.read = e.stored // the save may have been before it: its result says so
		case cmdAsk, cmdReady, cmdWait, cmdLookUp:
			m.rec, m.next, m.dirty = *e.stored, *e.stored, false
			m.decide(p, now)
		}
	case m.out.kind == cmdSave && e.kind >= evSaved && e.kind <= evOvertaken:
		read := m.read
		m.read = nil
		switch e.kind {
		case evSaved:
			m.saved(read, p, now)
		case evSaveFailed, evSaveUnknown:
			if read != nil {
				m.overtaken(*read, p, now)
			} else {
				m.unsaved(e.kind == evSaveUnknown)
			}
		case evOvertaken:
			m.overtaken(*e.stored, p, now)
		}
	}
	return m, m.out
}

func (m *machine) do(c command) {
	m.out = c
	if c.kind != cmdReady && c.kind != cmdSave {
		m.call.admitted = false // used, or not wanted
	}
}

// overtaken goes on from what another has written. What was heard is merged with
// that.
func (m *machine) overtaken(by record, p policy, now time.Time) {
	m.rec, m.next, m.dirty = by, by, false
	if heard := m.heard; heard != nil {
		m.hear(*heard, p, now)
	} else {
		m.decide(p, now)
	}
}

// take begins, or goes on with, an intent on behalf of a call.
func (m *machine) take(e event, p policy, now time.Time) {
	m.call, m.hop = e.call, ""
	if read := m.read; read != nil {
		m.read = nil
		m.overtaken(*read, p, now)
		return
	}
	r := &m.next
	if s := r.Sending; s != nil && m.heard == nil {
		// The process that started this attempt is gone. It may have been sent.
		m.dirty = true
		r.Sending, r.Last, r.Ended = nil, s.At, now
		r.expose(s.At)
		if r.State == Pending {
			r.Reason, r.NotBefore, r.Due = Unknown, time.Time{}, s.At
			r.Parked, r.RefusedStatus = false, 0 // as after a lost answer
		}
		if pause := p.leastPause(); pause > 0 {
			r.NotBefore = later(r.NotBefore, s.At.Add(pause))
			r.Due = later(r.Due, r.NotBefore)
		}
	}
	if r.again() && !e.call.resume && !e.call.recordOnly {
		m.dirty = true
		r.State, r.Reason, r.Answer, r.Due = Pending, NotSent, nil, later(now, r.NotBefore)
		r.exposeCopied()
	}
	m.decide(p, now)
}

// decide is the one place that says what happens next.
func (m *machine) decide(p policy, now time.Time) {
	r := &m.next
	if m.call.recordOnly || r.State != Pending && !r.Incomplete {
		m.finish(now)
		return
	}
	if h := m.hold(p, now); h.held {
		if r.State != Pending {
			m.finish(now)
			return
		}
		due := r.heldDue(h.park, m.call.lookedUp, p, now)
		m.dirty = m.dirty || r.Reason != h.reason || !r.Due.Equal(due)
		r.Reason, r.Due = h.reason, due
		asks := p.lookup && r.Exposed && !p.copied && (h.park || r.Parked || h.reason == NoContract)
		if asks && !m.call.lookedUp && !m.call.left && !m.dirty {
			m.do(command{kind: cmdLookUp, record: *r})
			return
		}
		m.finish(now)
		return
	}
	waits := r.NotBefore.After(now)
	if m.dirty && (waits || m.heard != nil) {
		m.save(now)
		return
	}
	if waits {
		m.do(command{kind: cmdWait, record: *r, until: r.NotBefore})
		return
	}
	if !m.call.admitted {
		m.do(command{kind: cmdAsk, record: *r, until: m.call.until, parked: m.call.resume})
		return
	}
	m.do(command{kind: cmdReady, record: *r, hop: m.hop, stale: m.call.renewed && r.Reason == Unauthorized})
}

// finish ends the call: what is told is on disk first. A begin that was neither
// recorded nor sent leaves nothing behind when its caller goes.
func (m *machine) finish(now time.Time) {
	begins := m.next.Revision == 0 || m.rec.again()
	if m.dirty && !(begins && m.call.left) {
		m.save(now)
		return
	}
	m.do(command{kind: cmdSettle, record: m.rec})
}

func (m *machine) save(now time.Time) {
	r := &m.next
	if now.After(r.Seen) {
		r.Seen = now
	}
	r.Due = wholeMicros(r.Due)
	m.do(command{kind: cmdSave, record: *r})
}

// held says that no attempt starts now in this call: why, and whether the
// intent is parked, to be taken up only by somebody's asking.
type held struct {
	held, park bool
	reason     Reason
}

func (m *machine) hold(p policy, now time.Time) held {
	r := &m.next
	reason := r.Reason
	if reason == "" {
		reason = NotSent
	}
	if p.copied {
		return held{held: true, reason: Copied}
	}
	if reason == Copied || reason == Distrusted { // and adopted, or trusted, since
		reason = Unknown
	}
	protection := r.protection(p)
	if r.Begun.Wire != "" && p.contract == nil {
		return held{held: true, reason: NoContract}
	}
	mayRepeat := r.Exposed || r.Incomplete
	if mayRepeat && (protection == unprotected || protection == idempotent && !m.call.exposedHere) {
		if p.distrusted && !r.Parked {
			if h := m.hold(p.trusting(), now); h.park {
				return h
			}
			reason = Distrusted
		}
		return held{held: true, park: true, reason: reason}
	}
	if r.Incomplete && p.contract != nil && !p.contract.Stored.bringsAnswer() {
		return held{held: true, park: true, reason: reason}
	}
	if r.aged() {
		if now.Before(later(r.Seen, p.latest)) {
			return held{held: true, reason: reason} // the clock went back: ages are unknown
		}
		if until, bounded := r.safeUntil(r.window(p.contract), p.share, p.attempt); bounded {
			if now.After(until) || r.NotBefore.After(until) {
				return held{held: true, park: true, reason: KeyExpired}
			}
		}
	}
	if r.Parked && m.call.resume {
		return held{held: true, park: true, reason: reason}
	}
	switch {
	case m.call.stopped, m.call.left, m.call.attempts >= p.maxAttempts && m.hop == "", r.NotBefore.After(m.call.until):
		return held{held: true, reason: reason}
	}
	return held{}
}

// start records the attempt. From the save on a crash leaves it as one that
// may have been sent; no byte leaves before the save has returned.
func (m *machine) start(e event, p policy, now time.Time) {
	m.call.admitted = !p.shut
	if h := m.hold(p, now); h.held || p.shut {
		m.decide(p, now) // the window closed, or the caller left, meanwhile
		return
	}
	m.dirty = true
	r := &m.next
	if r.Reason == GateClosed || r.Reason == Distrusted {
		r.Reason = NotSent
		if r.Exposed {
			r.Reason = Unknown
		}
	}
	r.Begun.Stripped = e.stripped
	if !r.Exposed && !r.Incomplete {
		r.Begun.Credential = e.credential // no other attempt can have had an effect
	}
	r.Sending = &sending{ID: e.attempt, At: now}
	if !e.stamped.IsZero() {
		r.Begun.Stamped, r.Sending.Stamps = e.stamped, true
	}
	r.Attempts++
	m.save(now)
}

// shut ends the call. The intent may be taken up again when the gate said. What
// an attempt of this call met says more than that the gate is shut since.
func (m *machine) shut(e event, now time.Time) {
	m.call.stopped = true
	r := &m.next
	if r.State == Pending {
		m.dirty = true
		if !r.Due.IsZero() { // one that is parked stays so
			r.Due = e.again
		}
		if m.call.sends == 0 {
			r.Reason = GateClosed
		}
	}
	m.finish(now)
}

func (m *machine) unready(e event, p policy, now time.Time) {
	m.call.stopped = true
	r := &m.next
	if r.State == Pending {
		m.dirty = m.dirty || r.Reason != NeedsCredentials
		r.Reason, r.Cause = NeedsCredentials, e.cause
	}
	m.finish(now)
}

// saved goes on from a save; read is what another has written after it.
func (m *machine) saved(read *record, p policy, now time.Time) {
	m.next.Revision++
	if read != nil && read.Revision > m.next.Revision {
		m.next = *read
	}
	m.rec, m.dirty, m.heard = m.next, false, nil
	s := m.rec.Sending
	if s == nil {
		m.decide(p, now)
		return
	}
	// The clock is read again: the save may have taken long.
	m.next.Sending = nil
	if h := m.hold(p, now); h.held || p.shut || m.rec.State != Pending && !m.rec.Incomplete {
		m.dirty = true
		m.next.Attempts--
		m.next.unstamp(s)
		if m.call.admitted = !p.shut; p.shut {
			m.save(now) // it is in no attempt while it waits
			return
		}
		m.decide(p, now)
		return
	}
	m.next.Sending = s
	m.call.sends++
	if m.hop == "" {
		m.call.attempts++
	}
	c := command{kind: cmdSend, record: m.rec, stale: m.call.renewed}
	if m.rec.aged() {
		if until, bounded := m.rec.safeUntil(m.rec.window(p.contract), p.share, p.attempt); bounded {
			c.until = until
		}
	}
	if m.rec.Exposed || m.rec.protection(p) != unprotected {
		c.timeout = p.attempt
	}
	m.do(c)
}

// unsaved ends the call. Evidence that could not be written stays in next and
// is written when the intent is taken up again; anything else is dropped.
func (m *machine) unsaved(unknown bool) {
	c := command{kind: cmdSettle, record: m.rec, notRecorded: m.heard != nil || unknown}
	if m.heard == nil {
		if m.rec.Revision == 0 || unknown && m.rec.again() {
			c.record = m.next
			c.record.Sending, c.record.Attempts = nil, m.rec.Attempts
		}
		m.next, m.dirty = m.rec, false
	}
	m.do(c)
}

// hear merges evidence into the record. It is never overwritten: what settled
// first stays, and what speaks against it is kept beside it.
func (m *machine) hear(e event, p policy, now time.Time) {
	m.dirty, m.heard = true, &e
	if e.kind == evResolved {
		m.next.attest(e.word)
		m.decide(p, now)
		return
	}
	if e.kind == evLookedUp {
		m.next.find(e, p, now)
		m.decide(p, now)
		return
	}
	r := &m.next
	s := r.Sending
	if s == nil || s.ID != e.attempt {
		s = &sending{At: r.Last} // late, or judged already
	} else {
		r.Sending, r.Last, r.Ended = nil, s.At, now
	}
	j := e.judged
	if e.answer == nil && j.effect == effectNone {
		r.unstamp(s)
	}
	if j.contradicts != "" && (r.Exposed || r.Incomplete) && j.effect != effectNone {
		r.Repeated = true
	}
	state := j.state(r.Exposed)
	hop := e.location != "" && j.effect == effectNone
	if hop {
		state, j.reason = Pending, Redirected
	}
	switch {
	case state != Pending:
		r.settle(state, e, s.At)
	case j.effect == effectMaybe && r.State == Pending:
		if !r.Exposed {
			m.call.exposedHere = true
		}
		r.expose(s.At)
	}
	if r.State == Pending {
		r.Cause = e.cause
		r.Reason, r.Running = j.reason, j.reason == InProgress || r.Running && e.answer == nil
		if r.Exposed && (r.Reason == NotSent || r.Reason == Refused) {
			r.Reason = Unknown // it speaks of the whole intent
		}
		r.RefusedStatus = 0
		if j.refusal && e.answer != nil {
			r.RefusedStatus = e.answer.Status
			r.RefusedDate, _ = httpDate(e.answer.Header.Get("Date"), now)
		}
	}
	m.schedule(e, p, now, hop)
	m.decide(p, now)
}

// schedule says when the next attempt may start. The server's wish is a floor
// that jitter only adds to.
func (m *machine) schedule(e event, p policy, now time.Time, hop bool) {
	r, j := &m.next, e.judged
	m.hop = ""
	if j.asked {
		r.wishes(now.Add(j.wait), e.answer != nil && j.bindsHost(e.answer.Status))
	}
	if r.State != Pending && !r.Incomplete {
		r.NotBefore, r.Due = time.Time{}, time.Time{}
		if r.again() && j.asked {
			r.NotBefore = now.Add(j.wait)
		}
		return
	}
	wait := j.wait
	again := j.again
	least := time.Duration(0)
	if j.effect != effectNone {
		least = p.leastPause()
		wait = max(wait, least)
	}
	if j.reason == InProgress && r.stuck(p, now) {
		again = againNo
	}
	switch {
	case hop && m.call.hops < maxHops:
		m.hop = e.location
		m.call.hops++
	case hop:
		again = againLater
		wait += e.delay
		r.Waits++
	case j.renew:
		m.call.renewed = true
	default:
		wait += e.delay
		r.Waits++
	}
	if again != againNow && m.hop == "" || e.stop {
		m.call.stopped = true
	}
	r.NotBefore, r.Parked = now.Add(wait), false
	if r.State != Pending {
		return
	}
	r.Due = later(r.NotBefore, now.Add(r.restraint(p, now)+e.delay))
	if m.hop != "" {
		r.Due = r.NotBefore
	}
	if again == againNo && m.hop == "" && j.reason != Unauthorized {
		r.Parked, r.Due = true, r.parkedDue(p)
		if !j.asked && least == 0 {
			r.NotBefore = time.Time{}
		}
		if c := p.contract; j.refusal && c != nil && c.Stored.Settle > 0 {
			// Seen again after the settle time, the refusal speaks of all attempts.
			r.Parked = false
			r.Due = later(r.NotBefore, now.Add(c.Stored.Settle+e.delay))
		}
	}
}
