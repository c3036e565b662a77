package oncehttp

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// A move is one thing that may happen in a world.
type move struct {
	kind moveKind
	arg  int8
}

type moveKind uint8

const (
	mvCall moveKind = iota // of the seat arg
	mvBegin
	mvLeave
	mvTurn
	mvAdmitted
	mvShut
	mvReadied
	mvUnready
	mvSave // with the fate arg
	mvConnect
	mvReach
	mvAnswer // of the kind arg
	mvWoke
	mvLooked
	mvLand
	mvWord // arg: 0 Confirmed, 1 Rejected, 2 Rejected by force
	mvLateAnswer
	mvWriteKept
	mvArrive // a stray request of arg minutes ago
	mvTick
	mvBack
	mvClose
	mvReopen
	mvCrash
)

// goesOn: the call takes its course, and nobody helps it to an end.
func (mv move) goesOn() bool {
	switch mv.kind {
	case mvCall, mvBegin, mvLeave, mvWord, mvLateAnswer, mvWriteKept, mvBack, mvClose, mvReopen, mvCrash:
		return false
	}
	return true
}

func (mv move) String() string {
	seat := [...]string{"caller A", "caller B", "Resume"}
	switch mv.kind {
	case mvCall:
		return seat[mv.arg] + " calls"
	case mvLeave:
		return seat[mv.arg] + " leaves"
	case mvSave:
		return "the save: " + [...]string{"done", "failed", "done, told as failed", "of unknown fate, not written", "of unknown fate, written"}[mv.arg]
	case mvAnswer:
		return "the attempt: " + sightings[mv.arg].name
	case mvWord:
		return "a person says " + [...]string{"Confirmed", "Rejected", "Rejected, by force"}[mv.arg]
	}
	return [...]string{mvBegin: "caller A begins", mvTurn: "the driver goes on", mvAdmitted: "the gate lets it go", mvShut: "the gate is shut", mvReadied: "the request is ready", mvUnready: "credentials are missing", mvConnect: "a connection",
		mvReach: "the server handles the request", mvWoke: "the wait is over", mvLooked: "the wait is interrupted", mvLand: "the call ends",
		mvLateAnswer: "a late success", mvWriteKept: "another intent's save is done, the kept evidence is written", mvArrive: "a stray request arrives", mvTick: "time passes",
		mvBack: "the clock goes back", mvClose: "Close", mvReopen: "a new process", mvCrash: "CRASH"}[mv.kind]
}

// A sighting is what an attempt shows. It costs a fault unless it ends a call.
type sighting struct {
	name  string
	facts facts
	when  []wirePhase
	free  bool
	delay time.Duration
}

const (
	sawLost = iota
	sawNoConnection
)

var sightings = []sighting{
	sawLost:         {name: "lost", when: []wirePhase{wireSent, wireReached, wireStopped}},
	sawNoConnection: {name: "never connected", facts: facts{failure: neverConnected}, when: []wirePhase{wireConnect}},
	{name: "200", facts: facts{status: 200}, when: []wirePhase{wireReached}, free: true},
	{name: "200, body cut", facts: facts{status: 200, cut: true}, when: []wirePhase{wireReached}},
	{name: "400 on the way", facts: facts{status: 400}, when: []wirePhase{wireSent, wireStopped}, free: true},
	{name: "401", facts: facts{status: 401}, when: []wirePhase{wireSent}},
	{name: "429, Retry-After", facts: facts{status: 429, header: http.Header{"Retry-After": {"60"}}}, when: []wirePhase{wireSent}},
	{name: "429", facts: facts{status: 429}, when: []wirePhase{wireSent}},
	{name: "500 after the effect", facts: facts{status: 500}, when: []wirePhase{wireReached}, delay: time.Minute},
	{name: "503 on the way", facts: facts{status: 503}, when: []wirePhase{wireSent}},
	{name: "302", facts: facts{status: 302}, when: []wirePhase{wireSent, wireReached}, free: true},
	{name: "307", facts: facts{status: 307}, when: []wirePhase{wireSent}},
}

// moves lists what may happen now.
func (x *exploration) moves(w *world, list []move) []move {
	add := func(ok bool, kind moveKind, args ...int8) {
		if !ok {
			return
		}
		if args == nil {
			args = []int8{0}
		}
		for _, arg := range args {
			list = append(list, move{kind, arg})
		}
	}
	l := &w.left
	for who := range int8(3) {
		may := l.calls[who] > 0 && !w.closed && !w.seats[who].seated
		if who == resumer {
			may = may && w.m == nil && w.disk != nil && w.disk.open() && !w.disk.due().IsZero() && !w.disk.due().After(w.now())
		} else if l.leaves > 0 && w.seats[who].seated && !w.seats[who].leaving {
			add(true, mvLeave, who)
		}
		add(may, mvCall, who)
	}
	add(l.begins > 0 && !w.closed && !w.seats[callerA].seated, mvBegin)
	add(w.result != nil, mvTurn)
	add(w.said(cmdAsk), mvAdmitted)
	add(w.said(cmdAsk) && l.shuts > 0, mvShut)
	add(w.said(cmdAsk) && len(w.beside) > 0, mvLooked)
	add(w.said(cmdReady), mvReadied)
	add(w.said(cmdReady) && l.unready > 0, mvUnready)
	if w.said(cmdSave) {
		add(true, mvSave, int8(saveDone))
		add(l.saveFaults > 0 && !w.spoiled, mvSave, int8(saveNot), int8(saveLie), int8(fateUnknownNot), int8(fateUnknownDone))
	}
	add(w.wire.phase == wireConnect && w.said(cmdSend), mvConnect)
	add(w.wire.phase == wireSent, mvReach)
	if w.said(cmdSend) {
		for i, s := range sightings {
			for _, phase := range s.when {
				free := s.free || i == sawLost && (w.closed || phase == wireStopped)
				add(phase == w.wire.phase && (free || l.faults > 0), mvAnswer, int8(i))
			}
		}
	}
	add(w.said(cmdWait) && (!w.m.out.until.After(w.now()) || !w.m.out.until.After(worldAt(w.real))), mvWoke)
	add(w.said(cmdWait) && len(w.beside) > 0, mvLooked)
	add(w.said(cmdSettle), mvLand)
	add(l.words > 0 && w.disk != nil && !w.closed && !w.spoiled, mvWord, 0, 1, 2)
	add(l.lateAnswers > 0 && w.effects > 0 && w.disk != nil && w.disk.Sending == nil && !w.spoiled, mvLateAnswer)
	add(w.kept != nil && w.m == nil && !w.closed && !w.spoiled, mvWriteKept)
	for ago := range int8(2) {
		add(w.late[ago] > 0, mvArrive, ago)
	}
	add(x.timeMatters(w), mvTick)
	add(l.back > 0 && !w.back && !w.said(cmdSend), mvBack) // during an attempt its own time-out, which no clock changes, bounds it
	add(l.closes > 0 && !w.closed, mvClose)
	add(w.closed && w.m == nil, mvReopen)
	add(l.crashes > 0 && (w.m != nil || w.kept != nil || w.spoiled || x.changed && !w.restarted), mvCrash)
	return list
}

// apply makes a move in w, and what follows it at once. Only a save's result,
// and a record that was read, are heard a move later, since others may write in
// between; and a call ends a move later, since others may join it.
func (x *exploration) apply(w *world, mv move) {
	x.make(w, mv)
	if e := w.result; e != nil && (e.kind < evSaved || e.kind > evOvertaken) && (e.kind != evTaken || w.left.words+w.left.lateAnswers == 0) {
		x.turn(w)
	}
	if w.said(cmdSettle) && w.left.calls[callerB] == 0 {
		x.land(w)
	}
}

func (x *exploration) make(w *world, mv move) {
	switch mv.kind {
	case mvCall:
		w.left.calls[mv.arg]--
		x.call(w, int(mv.arg), false)
	case mvBegin:
		w.left.begins--
		x.call(w, callerA, true)
	case mvLeave:
		w.left.leaves--
		x.leave(w, int(mv.arg))
	case mvTurn:
		x.turn(w)
	case mvAdmitted:
		w.result = &event{kind: evAdmitted}
	case mvShut:
		w.left.shuts--
		w.result = &event{kind: evShut, again: w.now()}
	case mvReadied:
		w.result = &event{kind: evReadied, attempt: strconv.Itoa(w.m.next.Attempts + 1)}
	case mvUnready:
		w.left.unready--
		w.result = &event{kind: evUnready}
	case mvSave:
		if mv.arg > 0 {
			w.left.saveFaults--
		}
		x.save(w, saveFate(mv.arg))
	case mvConnect:
		x.connect(w)
	case mvReach:
		w.arrive(w.wire.key)
		w.wire.phase = wireReached
		x.checkEffects(w)
	case mvAnswer:
		s := sightings[mv.arg]
		if !s.free && !(mv.arg == sawLost && (w.closed || w.wire.phase == wireStopped)) {
			w.left.faults--
		}
		x.answer(w, s)
	case mvWoke:
		w.result = &event{kind: evWoke}
	case mvLooked:
		w.result = &event{kind: evLooked}
	case mvLand:
		x.land(w)
	case mvWord:
		w.left.words--
		to := Rejected
		if mv.arg == 0 {
			to = Confirmed
		}
		x.word(w, to, mv.arg == 2)
	case mvLateAnswer:
		w.left.lateAnswers--
		x.lateAnswer(w)
	case mvWriteKept:
		w.m, w.kept = w.kept, nil
		w.shown = *w.disk
		w.owners, _, _ = x.own(w.owners, ownerEvent{kind: ownBegin, seat: seat{id: resumer}})
		w.seats[resumer] = worldSeat{seated: true}
		w.result = &event{kind: evTaken, call: call{recordOnly: true}}
		w.flights++
	case mvArrive:
		w.late[mv.arg]--
		w.arrive(w.sentKey)
		x.checkEffects(w)
	case mvTick:
		w.wait()
	case mvBack:
		w.left.back--
		w.back = true
	case mvClose:
		w.left.closes--
		w.closed = true
		if w.m != nil {
			x.dismissFor(w, ownerEvent{kind: ownClose})
		}
	case mvReopen:
		w.crash()
	case mvCrash:
		w.left.crashes--
		w.crash()
	}
}

// timeMatters: elsewhere it changes nothing that it would not change a step
// later. After the last minute it passes only for one who waits.
func (x *exploration) timeMatters(w *world) bool {
	switch {
	case w.real >= 3 || !x.timed:
		return w.said(cmdWait) && w.m.out.until.After(w.now())
	case w.m == nil, w.said(cmdReady), w.said(cmdWait):
		return true
	case w.said(cmdSend):
		return w.wire.phase == wireConnect || w.wire.phase == wireSent
	}
	return w.result != nil && w.result.kind == evSaved
}

// connect sends the request's bytes, unless it is too late for that.
func (x *exploration) connect(w *world) {
	if until := w.m.out.until; !until.IsZero() && w.now().After(until) {
		w.wire.phase = wireStopped
		return
	}
	x.leaves(w)
	w.requests++
	if w.sentKey == "" {
		w.sentKey = w.wire.key
	}
	if !w.loose() {
		w.exposedIn, w.exposedAt = w.flights, w.real
	}
	w.wire.phase, w.wire.at = wireSent, w.real
}

// answer ends the attempt under way.
func (x *exploration) answer(w *world, s sighting) {
	r := w.m.out.record
	if s.facts.status != 0 && w.wire.phase == wireSent {
		w.wire.phase = wireStopped // something in between has it, and has answered
	}
	w.stray()
	h := history{method: r.Begun.Method, exposed: r.Exposed, protection: r.protection(x.policy(w)), renewable: !w.m.out.stale,
		refused: r.RefusedStatus != 0 && r.RefusedStatus == s.facts.status, apart: r.Sending.At.Sub(r.Last)}
	e := event{kind: evAnswered, attempt: r.Sending.ID, judged: classify(s.facts, h, x.policy(w).contract, w.now()), delay: s.delay}
	if s.facts.status != 0 {
		e.answer = &answer{Status: s.facts.status}
	}
	if s.facts.status == 307 {
		e.location = "/elsewhere"
	}
	if e.judged.asked && !w.back {
		w.asked = w.real + int8(e.judged.wait/time.Minute)
	}
	w.result = &e
}

func (w *world) String() string {
	out := "idle"
	if w.m != nil {
		out = [...]string{"settle", "ready", "save", "send", "wait"}[w.m.out.kind]
		if w.result != nil {
			out += ", result there"
		}
	}
	disk := "nothing"
	if r := w.disk; r != nil {
		disk = fmt.Sprintf("rev %d %s %s attempts=%d", r.Revision, r.State, r.Reason, r.Attempts)
		if r.Exposed {
			disk += " exposed"
		}
		if r.Sending != nil {
			disk += " sending #" + r.Sending.ID
		}
		if r.Incomplete {
			disk += " incomplete"
		}
	}
	return fmt.Sprintf("minute %d, driver: %s, disk: %s, requests %d, effects %d, stray %d", w.real, out, disk, w.requests, w.effects, w.late[0]+w.late[1])
}
