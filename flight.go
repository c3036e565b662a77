package oncehttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A flight is an intent while it is driven: one driver, and the seats of those
// who wait for its outcome.
type flight struct {
	action string
	// loaded is closed once the driver knows the record, or knows that there is
	// no flight after all (gone). What follows up to mu is the driver's; others
	// may read what comes before ctx after loaded.
	loaded    chan struct{}
	gone      bool
	first     record // as it was found, or is about to be made
	firstBody []byte // of the request, if it is not in the journal yet
	// recordOnly: it drives for Begin, and sends nothing. drafted: it has the
	// credentials of a caller's request.
	recordOnly, drafted bool
	// counted: as an unresolved intent, before it is recorded.
	counted bool

	ctx     context.Context // values of the caller who began, without its end
	names   []string
	live    live
	body    []byte
	policy  policy
	request *http.Request // of the attempt that comes next
	// place is the flight's in the queue of its host's gate, pass what it got
	// there; admitted: it may go, and only a slot may be missing. slot is one of
	// Config.Concurrency, which an intent driven by Resume holds; loose: it has
	// none while it waits.
	gate     gateKey
	place    *gateWait
	pass     gatePass
	admitted bool
	slot     bool
	loose    bool
	// err is the last cause, journalErr what the journal said last.
	err, journalErr error
	// elsewhere is the action that the caller's key belongs to; again: begin
	// anew.
	elsewhere string
	again     bool
	// liveAnswer is handed on to a seat that takes it.
	liveAnswer *http.Response
	// cookies that the final answer sets; RoundTrip hands them on, and nothing
	// keeps them.
	cookies []string

	mu     sync.Mutex // guards what follows
	owners owners
	seats  map[int]*seating
	lastID int
	rec    record // as it is on disk
	met    error  // the last cause, of which the record has the text
	saving bool
	// recorded, if somebody waits for it, is closed once the record is on disk or
	// the flight is over.
	recorded chan struct{}
	over     bool
	// leavers gave up their seats during a save: what they are told is on disk.
	leavers []*seating
	events  []event
	woken   chan struct{}
}

func newFlight(ctx context.Context, action string) *flight {
	return &flight{action: action, ctx: context.WithoutCancel(ctx), loaded: make(chan struct{}), seats: map[int]*seating{}, woken: make(chan struct{}, 1)}
}

// tellMachine leaves an event for the driver. The lock is held.
func (f *flight) tellMachine(e event) {
	f.events = append(f.events, e)
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// advance tells the machine what happened: what others did meanwhile, then e;
// but the beginning of a call before what others did since. It marks a save
// before anybody can leave in ignorance of it.
func (f *flight) advance(m machine, e event) (machine, command) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := wallNow()
	others := f.events
	f.events = nil
	for _, s := range f.seats {
		s.fresh = false
	}
	cmd := m.out
	if e.kind == evTaken {
		// Whoever began it may have left, told of what was.
		e.call.left = e.call.left || slices.ContainsFunc(others, func(o event) bool { return o.kind == evCancelled })
		m, cmd = m.step(e, f.policy, now)
	}
	for _, other := range others {
		m, cmd = m.step(other, f.policy, now)
	}
	if e.kind != evTaken {
		m, cmd = m.step(e, f.policy, now)
	}
	if m.rec.Revision >= f.rec.Revision {
		f.rec, f.met = m.rec, f.err
	}
	if f.rec.Revision > 0 {
		f.tellRecorded()
	}
	f.saving = cmd.kind == cmdSave
	for _, s := range f.seats {
		// At the end the flight is removed before anybody is told, so that Begin
		// leaves an intent that nobody drives.
		if s.recordOnly && f.rec.Revision > 0 && cmd.kind != cmdSettle {
			owners, g, left := f.owners.step(ownerEvent{kind: ownLeave, seat: seat{id: s.id}})
			f.dismiss(owners, g, left, nil, true)
		}
	}
	if !f.saving {
		f.tellLeavers()
	}
	return m, cmd
}

// look makes the driver read the record again.
func (f *flight) look(r record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, g, _ := f.owners.step(ownerEvent{kind: ownResolve}); g == grantLook {
		if r.Revision > f.rec.Revision {
			f.rec = r // what those are told who leave before the attempt under way ends
		}
		f.tellMachine(event{kind: evRead, stored: &r})
	}
}

// hold keeps a live answer until the flight lands.
func (f *flight) hold(s sent, stop func() bool) {
	f.liveAnswer = s.response
	f.liveAnswer.Body = &handedOn{ReadCloser: s.response.Body, release: func() { stop(); s.cancel(nil) }}
}

// handedOn is a live body; closing it, or the end of its taker's context,
// releases what its attempt holds. No time-out of ours runs inside it.
type handedOn struct {
	io.ReadCloser
	release func()
}

func (b *handedOn) until(ctx context.Context) {
	release := b.release
	stop := context.AfterFunc(ctx, release)
	b.release = func() { stop(); release() }
}

func (b *handedOn) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// ditch ends a flight whose driver was ended by what it called. A panic ends the
// process too, and leaves what any crash leaves; after runtime.Goexit, of a
// failed test say, those who wait are told what is on disk.
func (c *Client) ditch(f *flight, m machine) {
	c.leaveGate(f)
	f.journalErr = errors.Join(errDitched, f.journalErr)
	m.unsaved(m.out.kind == cmdSave)
	c.remove(f, m)
	c.tellAll(f, m, m.out)
}

var errDitched = &ownError{text: "oncehttp: a hook, the transport or the journal panicked or ended its goroutine; Client.Outcome has what is known of the action"}

// land ends the flight and tells every seat.
func (c *Client) land(f *flight, m machine, cmd command) {
	c.remove(f, m)
	c.pruneSoon()

	r := cmd.record
	if loaded, err := c.withBody(f.ctx, r); err == nil {
		cmd.record = loaded
	}
	if r.State == Pending && r.Revision > 0 && !m.call.recordOnly {
		c.emit(c.event(EventPending, r))
	}
	c.tellAll(f, m, cmd)
}

// tellAll tells every seat, those given up during a save too.
func (c *Client) tellAll(f *flight, m machine, cmd command) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tellLeavers()
	f.over = true
	f.tellRecorded()
	var seats []seat
	f.owners, _, seats = f.owners.step(ownerEvent{kind: ownDone})
	first := true
	for _, gone := range seats {
		s := f.seats[gone.id]
		delete(f.seats, gone.id)
		t := c.landed(f, m, cmd, s)
		if !first && t.outcome != nil && t.outcome.Response != nil {
			t.outcome.Response.Body = append([]byte(nil), t.outcome.Response.Body...)
		}
		first = false
		if f.liveAnswer != nil && s.takesLive && t.err == nil {
			t.live, f.liveAnswer = f.liveAnswer, nil
		}
		if s.takesLive {
			t.cookies = f.cookies
		}
		s.ch <- t
	}
	if f.liveAnswer != nil {
		f.liveAnswer.Body.Close()
	}
}

// landed is what one seat is told at the end of the flight.
func (c *Client) landed(f *flight, m machine, cmd command, s *seating) told {
	r := cmd.record
	switch {
	case f.again || f.elsewhere != "" || r.State == Pending && (s.fresh || f.recordOnly && !s.recordOnly):
		return told{again: true, elsewhere: f.elsewhere}
	case r.Revision == 0 && !cmd.notRecorded && f.owners.closed:
		return told{err: errors.Join(ErrClosed, f.journalErr)}
	case r.Revision == 0 && !cmd.notRecorded && f.journalErr != nil:
		return told{err: f.journalErr} // neither recorded nor sent
	case r.Revision == 0 && !cmd.notRecorded:
		return told{again: true} // it sat down when all who were there had left
	}
	o := r.outcome(f.policy.contract, f.policy.share, f.policy.attempt)
	o.InFlight = false
	o.FromJournal = m.call.sends == 0
	if f.err != nil && (o.State == Pending || o.Response != nil && o.Response.BodyIncomplete) {
		o.Err = newCause(f.err)
	}
	if cmd.notRecorded {
		if o.State == Pending {
			o.Reason, o.RetryAt = NotRecorded, time.Time{}
		}
		if a := m.next.Answer; a != nil && !m.next.Overruled {
			o.Response = a.response()
		} else if m.heard != nil && m.heard.answer != nil {
			o.Response = m.heard.answer.response()
		}
		return pendingOr(o, newCause(f.journalErr))
	}
	if f.journalErr != nil && o.State == Pending && m.call.sends == 0 {
		return told{outcome: o, err: f.journalErr} // this call sent nothing
	}
	cause := newCause(f.journalErr)
	if cause == nil && f.owners.closed {
		cause = ErrClosed
	}
	if cause == nil && !s.until.IsZero() && r.NotBefore.After(s.until) {
		cause = context.DeadlineExceeded // the wait does not fit
	}
	return pendingOr(o, cause)
}
