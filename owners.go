package oncehttp

import (
	"slices"
	"time"
)

// owners says who drives one intent and who waits for it. It is the second
// pure machine: one driver at most, any number of seats that share its
// outcome. A seat that leaves leaves alone; the attempt under way belongs to
// the client and is recorded whoever is still there.
type owners struct {
	driving, done, closed bool
	seats                 []seat
}

// seat is a caller, or a pass of Resume, that waits for the outcome.
type seat struct {
	id int
	// until is the end of its patience. Zero: it has none.
	until time.Time
}

type ownerEventKind uint8

const (
	ownBegin   ownerEventKind = iota // a caller wants the intent driven
	ownResume                        // a pass wants it driven
	ownLeave                         // a seat's context ended
	ownWaiting                       // the driver waits until a time
	ownResolve                       // a person's word was recorded
	ownDrain                         // the client closes once the attempt under way has ended
	ownClose                         // the client closes now
	ownDone                          // the driver is done
)

type ownerEvent struct {
	kind  ownerEventKind
	seat  seat      // begin, resume, leave
	until time.Time // waiting
}

// grant is what the asker may do.
type grant uint8

const (
	grantNothing grant = iota
	grantDrive         // the asker drives; it has a seat too
	grantSeat          // somebody drives; the asker shares the outcome
	grantStop          // nobody waits any more: no attempt after the one under way
	grantLook          // the driver must look at the record again
	grantClosed        // the client is closed
	grantTooLate       // the driver is done: ask anew
)

// step gives the next owners, what the asker may do, and which seats are told
// what is known now. A seat is told once and is gone then.
func (o owners) step(e ownerEvent) (owners, grant, []seat) {
	switch e.kind {
	case ownBegin, ownResume:
		switch {
		case o.closed:
			return o, grantClosed, nil
		case o.done:
			return o, grantTooLate, nil
		case !o.driving:
			o.driving, o.seats = true, []seat{e.seat}
			return o, grantDrive, nil
		case e.kind == ownBegin:
			o.seats = append(slices.Clip(o.seats), e.seat)
			return o, grantSeat, nil
		}
	case ownLeave:
		return o.dismiss(func(s seat) bool { return s.id == e.seat.id })
	case ownWaiting:
		return o.dismiss(func(s seat) bool { return !s.until.IsZero() && s.until.Before(e.until) })
	case ownResolve:
		if o.driving {
			return o, grantLook, nil
		}
	case ownDrain:
		o.closed = true
		return o, grantStop, nil
	case ownClose:
		o.closed = true
		return o.dismiss(func(seat) bool { return true })
	case ownDone:
		o.driving, o.done = false, true
		told := o.seats
		o.seats = nil
		return o, grantNothing, told
	}
	return o, grantNothing, nil
}

func (o owners) dismiss(leaves func(seat) bool) (owners, grant, []seat) {
	var told, stay []seat
	for _, s := range o.seats {
		if leaves(s) {
			told = append(told, s)
		} else {
			stay = append(stay, s)
		}
	}
	o.seats = stay
	if o.driving && len(stay) == 0 && len(told) > 0 {
		return o, grantStop, told
	}
	return o, grantNothing, told
}
