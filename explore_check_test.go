package oncehttp

import (
	"fmt"
	"slices"
)

// The checks of the exploration, by name.
const (
	checkSaved     = "nothing leaves before its save"
	checkOneKey    = "one key"
	checkOneDriver = "one driver, one attempt"
	checkEffect    = "one effect"
	checkConfirmed = "Confirmed needs an effect"
	checkRejected  = "Rejected means that none is possible"
	checkTruth     = "no effect is denied"
	checkTold      = "told is on disk"
	checkSettled   = "settled stays"
	checkSafe      = "an exposed send is safe"
	checkClock     = "no exposed send under a clock gone back"
	checkWindow    = "no exposed send outside the window"
	checkNotBefore = "no send before the server's time"
	checkRecorded  = "an attempt under way is recorded"
	checkLate      = "a late success is kept"
	checkFate      = "an unknown fate is NotRecorded"
	checkCount     = "attempts on disk are never fewer than requests"
	checkEnds      = "every call ends"
	checkDue       = "what was never exposed stays due"
	checkConflict  = "a conflict stays until a person decides"
)

type breach struct{ check, what string }

func (x *exploration) fail(check, format string, args ...any) {
	if x.breach == nil {
		x.breach = &breach{check, fmt.Sprintf(format, args...)}
	}
}

func (x *exploration) check(ok bool, check, what string) {
	if !ok {
		x.fail(check, "%s", what)
	}
}

// mayStart: the command to send has just come, after the save.
func (x *exploration) mayStart(w *world, cmd command) {
	d := w.disk
	if d == nil || !d.Exposed && !d.Incomplete {
		return
	}
	x.check(!w.now().Before(d.Seen), checkClock, "the clock is below the time of the record")
	if x.protection == keyed {
		x.check(!w.now().After(d.First.Add(exploredWindow-exploredTimeout)), checkWindow, "the usable window is over when the attempt starts")
	}
}

// leaves: the first byte of the attempt under way is about to leave.
func (x *exploration) leaves(w *world) {
	d := w.disk
	x.check(d != nil && d.Sending != nil && d.Sending.ID == w.wire.id && d.Begun.Wire == w.wire.key, checkSaved, "this attempt is not on disk")
	x.check(w.sentKey == "" || w.sentKey == w.wire.key, checkOneKey, "another key than that of the first attempt")
	x.check(w.back || w.real >= w.asked, checkNotBefore, "the server asked for a later time")
	x.check(d == nil || d.Attempts > int(w.requests), checkCount, "the record has fewer attempts than the server has requests")
	if d == nil || !w.loose() && !d.Exposed && !d.Incomplete {
		return
	}
	switch {
	case x.protection == keyed:
		x.check(!w.loose() || w.real <= w.exposedAt+2, checkWindow, "the server may have forgotten the key")
	case x.protection == unprotected:
		x.fail(checkSafe, "an unprotected request is repeated")
	case x.protection == idempotent:
		x.check(w.exposedIn == w.flights, checkSafe, "an idempotent request is repeated in another call than the one that exposed it")
	}
}

// checkEffects follows each arrival at the server.
func (x *exploration) checkEffects(w *world) {
	x.check(w.effects <= 1 || x.protection == idempotent, checkEffect, "a second effect")
}

// written replaces the disk, on a save that came through.
func (x *exploration) written(w *world, r record, byResume, byPerson bool) {
	if old := w.disk; old != nil {
		if !byPerson && old.State != Pending && r.State != old.State {
			x.check(old.again() && !byResume, checkSettled, fmt.Sprintf("%s became %s", old.State, r.State))
		}
		x.check(old.Begun.Wire == r.Begun.Wire, checkOneKey, "the key on disk changes")
		x.check(byPerson || old.Reason != Conflict || r.Reason == Conflict, checkConflict, "it is gone")
	}
	x.check(r.State != Pending || r.Exposed || !r.due().IsZero(), checkDue, "no pass takes it up any more")
	w.disk = &r
	x.truthful(w, r)
}

// truthful compares what is recorded, or told, with what is true.
func (x *exploration) truthful(w *world, r record) {
	if w.words > 0 {
		return // a person knows more
	}
	possible := w.effects > 0 || w.mayArrive() || w.wire.phase == wireConnect
	switch {
	case r.State == Confirmed:
		x.check(w.effects > 0, checkConfirmed, "there was no effect")
	case r.State == Rejected:
		x.check(!possible, checkRejected, "there was an effect, or one is possible")
	case !r.mayHaveExecuted():
		x.check(w.effects == 0 && !w.mayArrive(), checkTruth, "there was an effect, or one is possible, and the record denies it")
	default:
		x.check(r.Reason != NotSent || !r.Exposed, checkTruth, "an exposed intent is called NotSent")
	}
}

// told: a caller is told what r says.
func (x *exploration) told(w *world, r record, notRecorded bool) {
	x.truthful(w, r)
	if notRecorded {
		if w.m.heard == nil {
			was := w.shown.Revision > 0 && w.shown.mayHaveExecuted()
			x.check(r.mayHaveExecuted() == was, checkFate, "a save of unknown fate changes whether it may have executed")
		}
		return
	}
	if !sameRecord(r, w.disk) && !slices.ContainsFunc(w.was[:], func(d *record) bool { return sameRecord(r, d) }) {
		x.fail(checkTold, "told revision %d, %s %s", r.Revision, r.State, r.Reason)
	}
}

func sameRecord(r record, d *record) bool {
	return d != nil && r.Revision == d.Revision && r.State == d.State && r.Reason == d.Reason && r.Exposed == d.Exposed &&
		r.Attempts == d.Attempts && (r.Sending == nil) == (d.Sending == nil)
}
