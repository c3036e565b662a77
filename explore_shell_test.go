package oncehttp

import (
	"slices"
	"strconv"
	"time"
)

// This file does what client.go and flight.go do around the machines: load,
// drive, save, wait, land, seat and unseat. Each function is one indivisible
// step of theirs.

// call seats a caller or a pass, and takes the intent up if nobody drives it.
// recordOnly is Begin.
func (x *exploration) call(w *world, who int, recordOnly bool) {
	if who == resumer {
		if w.m != nil {
			return
		}
		w.resuming = true
	}
	until := worldAt(w.real + 2)
	if who == callerB {
		until = worldAt(w.real + 1)
	}
	kind := ownBegin
	s := worldSeat{seated: true, until: until}
	if who == resumer {
		kind, s.until = ownResume, time.Time{}
	}
	mine := w.m == nil
	if mine && !x.takeUp(w, recordOnly) {
		return
	}
	var g grant
	w.owners, g, _ = x.own(w.owners, ownerEvent{kind: kind, seat: seat{id: who, until: s.until}})
	w.seats[who] = s
	switch {
	case mine:
		w.result = &event{kind: evTaken, call: call{until: until, resume: who == resumer, recordOnly: recordOnly}}
		w.flights++
		x.check(g == grantDrive, checkOneDriver, "nobody drives, and the owners say that somebody does")
	case g == grantSeat:
		w.beside = slices.DeleteFunc(slices.Clone(w.beside), func(e event) bool { return e.kind == evCancelled })
		w.tell(event{kind: evJoined, call: call{until: until}})
	default:
		x.fail(checkOneDriver, "a second driver")
	}
}

// takeUp loads the record or makes it. It is false when there is nothing to
// drive.
func (x *exploration) takeUp(w *world, recordOnly bool) bool {
	r := record{Action: "pay", State: Pending, Reason: NotSent, Due: w.now(), Seen: w.now(), Begun: x.begun(w)}
	m := machine{next: r, dirty: true}
	w.shown = record{}
	switch {
	case w.kept != nil:
		m, w.kept = *w.kept, nil
		w.shown = *w.disk
	case w.disk != nil:
		r = *w.disk
		if r.State != Pending && !r.Incomplete && !r.again() || recordOnly {
			x.told(w, r, false)
			w.resuming = false
			return false
		}
		if w.restarted && x.rules.keyChanged {
			r.Begun.Wire += "'"
		}
		m = machine{rec: r, next: r}
		w.shown = r
	}
	w.m = &m
	return true
}

// begun is what a caller's request asks. A key that was never recorded is not
// minted a second time.
func (x *exploration) begun(w *world) begun {
	b := begun{Method: "POST", Idempotent: x.protection == idempotent}
	if x.contract != nil {
		b.Wire = "key-" + strconv.Itoa(int(w.left.calls[callerA]*4+w.left.calls[callerB]))
		b.Window = x.contract.Window
	}
	return b
}

func (w *world) tell(e event) { w.beside = append(slices.Clip(w.beside), e) }

func (x *exploration) policy(w *world) policy {
	p := policy{maxAttempts: exploredAttempts, attempt: exploredTimeout, share: 1, contract: x.contract}
	if w.restarted && x.changed {
		p.contract = x.later
	}
	return p
}

// turn is one round of the loop: what came beside, then the result.
func (x *exploration) turn(w *world) {
	m, e, p := *w.m, *w.result, x.policy(w)
	for _, other := range w.beside {
		m, _ = x.step(m, other, p, w.now())
	}
	w.beside, w.result = nil, nil
	var cmd command
	m, cmd = x.step(m, e, p, w.now())
	if cmd.kind == cmdAsk && x.left.shuts == 0 { // the gate is open: its word is of this round
		m, cmd = x.step(m, event{kind: evAdmitted}, p, w.now())
	}
	w.m = &m
	w.shown = m.rec
	for i, r := range w.was {
		if r != nil && r.Revision < m.rec.Revision {
			w.was[i] = nil
		}
	}
	for id := range w.seats {
		if w.seats[id].leaving {
			x.leaveNow(w, id)
		}
	}
	x.commanded(w, e, cmd)
}

// commanded begins what the machine commands, as far as it is done at once.
func (x *exploration) commanded(w *world, e event, cmd command) {
	if e.kind == evAnswered {
		x.check(cmd.kind == cmdSave, checkRecorded, "an attempt was judged and is not recorded")
	}
	switch cmd.kind {
	case cmdReady:
		x.check(w.wire.phase == wireIdle, checkOneDriver, "an attempt is prepared while another is under way")
	case cmdSend:
		x.check(w.wire.phase == wireIdle, checkOneDriver, "two attempts under way")
		x.mayStart(w, cmd)
		w.wire = attempted{phase: wireConnect, id: cmd.record.Sending.ID, key: cmd.record.Begun.Wire}
	case cmdWait:
		x.dismissFor(w, ownerEvent{kind: ownWaiting, until: cmd.until})
	}
}

// dismissFor tells the seats that an event of the owners sends away.
func (x *exploration) dismissFor(w *world, e ownerEvent) {
	var g grant
	var gone []seat
	w.owners, g, gone = x.own(w.owners, e)
	if g == grantStop {
		w.tell(event{kind: evCancelled})
		if x.rules.cancelStops && w.said(cmdSend) {
			w.m = &machine{out: command{kind: cmdSettle, record: w.m.rec}}
		}
	}
	for _, s := range gone {
		w.seats[s.id] = worldSeat{}
		if w.shown.Revision > 0 {
			x.told(w, w.shown, false)
		}
	}
}

func (x *exploration) leaveNow(w *world, id int) {
	x.dismissFor(w, ownerEvent{kind: ownLeave, seat: seat{id: id}})
}

// leave gives up a seat; during a save it is told after it.
func (x *exploration) leave(w *world, id int) {
	if w.m.out.kind == cmdSave {
		w.seats[id].leaving = true
		return
	}
	x.leaveNow(w, id)
}

// land ends the flight.
func (x *exploration) land(w *world) {
	m, cmd := *w.m, w.m.out
	x.check(w.wire.phase == wireIdle, checkRecorded, "the call ends while its attempt is under way")
	if m.heard != nil {
		w.kept = &m
	}
	var seats []seat
	w.owners, _, seats = x.own(w.owners, ownerEvent{kind: ownDone})
	for range seats {
		r := cmd.record
		if r.Revision == 0 && !cmd.notRecorded {
			x.check(m.call.sends == 0, checkTruth, "told that nothing was sent, after a send")
			continue
		}
		x.told(w, r, cmd.notRecorded)
	}
	w.m, w.beside, w.shown, w.resuming = nil, nil, record{}, false
	w.owners, w.seats = owners{}, [3]worldSeat{}
}

// saveFate is what becomes of a save, and what is told of it.
type saveFate int8

const (
	saveDone saveFate = iota
	saveNot           // nothing was written, and so it is told
	saveLie           // it was written, and told to have failed
	fateUnknownNot
	fateUnknownDone
)

// save is the journal's compare and set.
func (x *exploration) save(w *world, fate saveFate) {
	r := w.m.out.record
	var e event
	if conflict := r.Revision != w.revision(); conflict && !w.spoiled {
		e = event{kind: evOvertaken, stored: w.disk}
		w.result = &e
		return
	}
	if w.spoiled {
		fate = saveNot
	}
	if fate == saveDone || fate == saveLie || fate == fateUnknownDone {
		before := w.disk
		r.Revision++
		x.written(w, r, w.m.call.resume, false)
		if w.m.heard != nil || before == nil {
			w.askedOnDisk = w.asked
		}
		w.was = [3]*record{before, w.was[0], w.was[1]}
	}
	switch fate {
	case saveDone:
		e.kind = evSaved
	case saveNot, saveLie:
		e.kind = evSaveFailed
	default:
		e.kind, w.spoiled = evSaveUnknown, true
	}
	w.result = &e
}

// word is Resolve: it may come while somebody drives.
func (x *exploration) word(w *world, to State, force bool) {
	r := *w.disk
	if to == Rejected && r.Sending != nil && !force {
		return
	}
	if r.State == to && r.Reason != Conflict {
		return
	}
	w.words++
	x.beside(w, event{kind: evResolved, word: word{At: w.now(), To: to}})
}

// lateAnswer is a success of an attempt that was given up, from a look-up say.
func (x *exploration) lateAnswer(w *world) {
	s := judgement{effect: effectDone, settles: true}
	x.beside(w, event{kind: evAnswered, attempt: "old", judged: s, answer: &answer{Status: 200}})
	r := w.disk
	x.check(r.State == Confirmed || r.Rival == Confirmed, checkLate, "a late success is dropped")
}

// beside merges what somebody beside the driver knows into the record on disk.
func (x *exploration) beside(w *world, e event) {
	r := *w.disk
	m, cmd := x.step(machine{rec: r, next: r}, e, policy{}, w.now())
	if cmd.kind != cmdSave {
		return
	}
	w.was = [3]*record{w.disk, w.was[0], w.was[1]}
	cmd.record.Revision++
	x.written(w, cmd.record, false, e.kind == evResolved)
	m, _ = x.step(m, event{kind: evSaved}, policy{}, w.now())
	if w.m == nil {
		return
	}
	if _, g, _ := x.own(w.owners, ownerEvent{kind: ownResolve}); g == grantLook {
		kind := evRead
		if x.rules.readAsOvertaken {
			kind = evOvertaken
		}
		stored := m.rec
		w.tell(event{kind: kind, stored: &stored})
	}
}
