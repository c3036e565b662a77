package oncehttp

import (
	"context"
	"time"
)

// A Finding is what a lookup found of an intent's effect in the system of
// record. The zero value cannot tell, and so does a lookup that returns an
// error: an error is never "not found".
type Finding struct {
	Kind FindingKind
	// Reference is what the API calls the effect (Found).
	Reference string
	// Repeated: there is more than one effect (Found). The outcome then says
	// MayHaveRepeated.
	Repeated bool
}

// FindingKind is the answer of a lookup.
type FindingKind uint8

const (
	// CannotTell: the intent stays as it is, and is looked up again after 5
	// minutes, an hour, then daily, each up to a minute later.
	CannotTell FindingKind = iota
	// Found: the intent is Confirmed.
	Found
	// NotFound: the system of record does not have it. This proves that nothing
	// took effect only if it is said twice, a settle time apart, and both times to
	// a question asked at least a settle time after the end of the last attempt.
	// The intent may then be sent again.
	NotFound
	// TooEarly: the effect might not show yet.
	TooEarly
)

// usualSettle is the settle time where the contract names none: how long after
// an attempt its effect may still come to show.
const usualSettle = time.Minute

// lookUp asks: Config.Lookup first, then, where that cannot tell, the contract's
// lookups in order, until one finds the effect or proves that there is none. A
// crash meanwhile leaves the record due for a lookup at once.
func (c *Client) lookUp(f *flight, cmd command) event {
	e := event{kind: evLookedUp, asked: wallNow(), delay: NewFullJitter(time.Minute, time.Minute).NextBackOff()}
	var err error
	if c.cfg.Lookup != nil {
		ctx, cancel := c.asking(f)
		in := &Intent{client: c, outcome: cmd.record.outcome(f.policy.contract, f.policy.share, f.policy.attempt), ticket: ticket{action: f.action}}
		e.finding, err = c.cfg.Lookup(ctx, in)
		cancel()
		e.unasked = err != nil && c.ctx.Err() != nil
	}
	if err != nil {
		e.finding = Finding{}
	}
	if e.finding.Kind == CannotTell && c.ctx.Err() == nil && f.policy.contract.canBeAsked(cmd.record) {
		err = c.inquire(f, cmd.record, &e)
	}
	if e.finding.Kind == CannotTell && err != nil {
		f.err, e.cause = err, newCause(err).Error()
	}
	if !e.unasked {
		ev := c.event(EventLookedUp, cmd.record)
		ev.Reference, ev.Cause = e.finding.Reference, e.cause
		switch e.finding.Kind {
		case NotFound:
			ev.Cause = "the effect was not found"
		case TooEarly:
			ev.Cause = "the effect may not show yet"
		}
		c.emit(ev)
	}
	return e
}

// asking bounds one question by the attempt's time-out. A caller who leaves does
// not end it; the client does.
func (c *Client) asking(f *flight) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(f.ctx, c.cfg.Retry.AttemptTimeout, errAttemptTimeout)
	stop := context.AfterFunc(c.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// find merges a lookup's finding into a record that may have taken effect. An
// answer may be as old as its question, so absence counts from when it was asked.
func (r *record) find(e event, p policy, now time.Time) {
	settle := e.settle
	if settle == 0 {
		settle = p.contract.settle()
	}
	settled := later(r.Last, r.Ended).Add(settle)
	if !e.unasked {
		r.Looks++
	}
	if !e.wish.IsZero() {
		r.wishes(e.wish, e.ofHost)
		r.NotBefore = later(r.NotBefore, e.wish)
	}
	switch kind := e.finding.Kind; {
	case kind == Found:
		r.Repeated = r.Repeated || e.finding.Repeated
		if r.Reference == "" {
			r.Reference = e.finding.Reference // in a conflict too: a person needs it
		}
		r.settle(Confirmed, event{judged: judgement{effect: effectDone, reference: e.finding.Reference}}, r.Last)
		r.NotBefore, r.Due = time.Time{}, time.Time{}
	case r.State != Pending:
	case e.unasked:
		r.Due = later(r.Due, e.again)
	case kind == TooEarly:
		r.Due = later(settled, now.Add(restraint(now.Sub(r.Begun.At)))).Add(e.delay)
	case kind == NotFound && e.asked.Before(settled):
		r.Due = later(settled, now).Add(e.delay)
	case kind == NotFound && r.Absent.Before(settled):
		r.Absent, r.AbsentDate = now, e.dated
		r.Due = now.Add(settle)
	case kind == NotFound && e.asked.Before(r.Absent.Add(settle)):
		r.Due = r.Absent.Add(settle)
	case kind == NotFound && !r.AbsentDate.IsZero() && !e.dated.IsZero() && e.dated.Sub(r.AbsentDate) <= settle-time.Second:
		// Not by the API's clock, whose dates have whole seconds: a clock was set, or
		// an answer was kept on its way. A date that is still to come was wrong.
		if r.AbsentDate.After(now) {
			r.Absent, r.AbsentDate = now, e.dated
		}
		r.Due = now.Add(max(settle, lookAgain(r.Looks)) + e.delay)
	case kind == NotFound && r.Reason == StoredFailure:
		// Said twice, and the same key would only bring the failure again.
		r.settle(Rejected, event{judged: judgement{reason: StoredFailure}}, r.Last)
		r.NotBefore, r.Due, r.Absent = time.Time{}, time.Time{}, time.Time{}
	case kind == NotFound:
		// Said twice: no attempt so far has had an effect.
		r.Exposed, r.Parked, r.Running, r.Reason = false, false, false, NotSent
		r.First, r.Absent = time.Time{}, time.Time{}
		r.RefusedStatus, r.Due = 0, later(r.NotBefore, now) // the server's wish still holds
	default:
		if e.cause != "" {
			r.Cause = e.cause
		}
		r.Due = later(now.Add(lookAgain(r.Looks)+e.delay), e.again)
	}
	if r.State == Pending && r.Due.Before(r.Wish) && (e.unasked || !e.wish.IsZero()) {
		r.Due = r.Wish.Add(e.delay)
	}
}

// lookAgain is the pause after the n-th lookup, from 1.
func lookAgain(n int) time.Duration {
	switch n {
	case 1:
		return 5 * time.Minute
	case 2:
		return time.Hour
	}
	return 24 * time.Hour
}
