package oncehttp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// seating is the shell's side of a seat.
type seating struct {
	id    int
	until time.Time
	// takesLive: RoundTrip, which can hand on an answer that is not read yet.
	takesLive bool
	// recordOnly: Begin, which waits for the record and no longer.
	recordOnly bool
	// cause is why it leaves.
	cause error
	// fresh: the machine has not heard of it yet.
	fresh bool
	ch    chan told
}

// told is what a seat gets.
type told struct {
	outcome *Outcome
	err     error
	live    *http.Response
	cookies []string
	// again: ask anew, under the action elsewhere if that is set.
	again     bool
	elsewhere string
}

// sit asks for a seat.
func (f *flight) sit(s *seating, kind ownerEventKind, budget time.Time) grant {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.recordOnly && f.owners.driving && f.rec.Revision > 0 {
		return grantTooLate // the journal has it
	}
	f.lastID++
	s.id, s.ch = f.lastID, make(chan told, 1)
	var g grant
	f.owners, g, _ = f.owners.step(ownerEvent{kind: kind, seat: seat{id: s.id, until: s.until}})
	if g == grantDrive || g == grantSeat {
		f.seats[s.id] = s
	}
	if g == grantSeat {
		s.fresh = true
		// That nobody is left is no longer so.
		f.events = slices.DeleteFunc(f.events, func(e event) bool { return e.kind == evCancelled })
		f.tellMachine(event{kind: evJoined, call: call{until: budget}})
	}
	return g
}

// await waits for the outcome, or for the end of the caller's patience.
func (f *flight) await(ctx context.Context, cancel <-chan struct{}, s *seating) told {
	early, stop := lead(ctx, cancel)
	defer stop()
	select {
	case t := <-s.ch:
		return t
	case <-ctx.Done():
		f.leave(s, ctx.Err(), false)
	case <-cancel:
		f.leave(s, context.Canceled, false)
	case <-early:
		f.leave(s, context.DeadlineExceeded, true)
	}
	return <-s.ch
}

// awaitRecord waits until the record is on disk, or will not be. It is false when
// it was there already: what another payload is compared with is on disk before
// anybody is told of it. Who waits here has no seat: the flight is of another's
// request, and ends when those leave who want it.
func (f *flight) awaitRecord(ctx context.Context, cancel <-chan struct{}) (waited bool, err error) {
	f.mu.Lock()
	switch {
	case f.rec.Revision > 0:
		f.mu.Unlock()
		return false, nil
	case f.over:
		f.mu.Unlock()
		return true, nil
	case f.recorded == nil:
		f.recorded = make(chan struct{})
	}
	recorded := f.recorded
	f.mu.Unlock()
	early, stop := lead(ctx, cancel)
	defer stop()
	select {
	case <-recorded:
	case <-ctx.Done():
		err = ctx.Err()
	case <-cancel:
		err = context.Canceled
	case <-early:
		err = context.DeadlineExceeded
	}
	return true, err
}

// tellRecorded ends the waits for the record. The lock is held.
func (f *flight) tellRecorded() {
	if f.recorded != nil {
		close(f.recorded)
		f.recorded = nil
	}
}

// lead fires where RoundTrip gives up early.
func lead(ctx context.Context, cancel <-chan struct{}) (early <-chan time.Time, stop func() bool) {
	deadline, ok := ctx.Deadline()
	if !ok || cancel == nil {
		return nil, func() bool { return false }
	}
	timer := time.NewTimer(time.Until(deadline) - clientTimeoutLead)
	return timer.C, timer.Stop
}

// clientTimeoutLead is how long before http.Client.Timeout fires RoundTrip
// gives up: once it has fired, http.Client replaces our error by text.
const clientTimeoutLead = 5 * time.Millisecond

// leave gives up a seat. With now, what is on disk is told even during a save,
// if there is anything, and if it is not a refusal that is being begun again.
func (f *flight) leave(s *seating, cause error, now bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owners, g, left := f.owners.step(ownerEvent{kind: ownLeave, seat: seat{id: s.id}})
	f.dismiss(owners, g, left, cause, now)
}

// hurry makes no more attempts for the sake of s. It stays to the end of the one
// under way if it is alone, and leaves the rest to others if it is not.
func (f *flight) hurry(s *seating) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.seats[s.id] != s:
	case len(f.seats) == 1:
		f.tellMachine(event{kind: evCancelled})
	default:
		owners, g, left := f.owners.step(ownerEvent{kind: ownLeave, seat: seat{id: s.id}})
		f.dismiss(owners, g, left, context.Canceled, false)
	}
}

// dismiss tells seats that leave what is known now. The lock is held.
func (f *flight) dismiss(o owners, g grant, left []seat, cause error, now bool) {
	f.owners = o
	if g == grantStop {
		f.tellMachine(event{kind: evCancelled})
	}
	for _, gone := range left {
		s := f.seats[gone.id]
		delete(f.seats, gone.id)
		s.cause = cause
		if f.saving && !(now && f.rec.Revision > 0 && !f.rec.again()) {
			f.leavers = append(f.leavers, s)
		} else {
			f.tellLeaver(s)
		}
	}
}

func (f *flight) tellLeavers() {
	for _, s := range f.leavers {
		f.tellLeaver(s)
	}
	f.leavers = nil
}

func (f *flight) tellLeaver(s *seating) {
	if f.rec.Revision == 0 {
		s.ch <- told{err: s.cause} // no record, and none will come of this call
		return
	}
	o := f.rec.outcome(f.policy.contract, f.policy.share, f.policy.attempt)
	if met := newCause(f.met); met != nil && o.Err != nil && met.Error() == o.Err.Error() {
		o.Err = met
	}
	s.ch <- pendingOr(o, s.cause)
}

// pendingOr is the error rule: nil for what is settled, else a PendingError
// that also is cause.
func pendingOr(o *Outcome, cause error) told {
	if o.State != Pending {
		return told{outcome: o}
	}
	if cause != nil && o.Err != nil {
		o.Err = fmt.Errorf("%w: %w", cause, o.Err)
	} else if cause != nil {
		o.Err = cause
	}
	return told{outcome: o, err: &PendingError{Outcome: o}}
}

// waiting dismisses the seats whose deadline comes before the wait's end.
func (f *flight) waiting(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owners, g, left := f.owners.step(ownerEvent{kind: ownWaiting, until: until})
	f.dismiss(owners, g, left, context.DeadlineExceeded, false)
}

// closing ends the flight: at once for those who wait, or, draining, after the
// attempt under way. Nobody sits down any more.
func (f *flight) closing(how ownerEventKind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owners, g, left := f.owners.step(ownerEvent{kind: how})
	f.dismiss(owners, g, left, ErrClosed, false)
}

// takes says whether somebody takes an answer that is not read yet.
func (f *flight) takes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.seats {
		if s.takesLive {
			return true
		}
	}
	return false
}
