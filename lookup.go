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
}

// FindingKind is the answer of a lookup.
type FindingKind uint8

const (
	// CannotTell: the intent stays as it is, and is looked up again after 5
	// minutes, an hour, then daily.
	CannotTell FindingKind = iota
	// Found: the intent is Confirmed.
	Found
	// NotFound: the system of record does not have it. That is proof that
	// nothing took effect only when it is said twice, a settle time apart, and
	// both a settle time after the last attempt; the intent may then be sent
	// again.
	NotFound
	// TooEarly: the effect might not show yet.
	TooEarly
)

// usualSettle is the settle time where the contract names none: how long after
// an attempt its effect may still come to show.
const usualSettle = time.Minute

// lookUp asks. The attempt's time-out bounds the question.
func (c *Client) lookUp(f *flight, cmd command) event {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), c.cfg.Retry.AttemptTimeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	in := &Intent{client: c, outcome: cmd.record.outcome(f.policy.share, f.policy.attempt), ticket: ticket{action: f.action}}
	finding, err := c.cfg.Lookup(ctx, in)
	e := event{kind: evLookedUp, finding: finding}
	if err != nil {
		f.err = err
		e.finding, e.cause = Finding{}, newCause(err).Error()
	}
	e.delay = NewFullJitter(time.Minute, time.Minute).NextBackOff()
	ev := c.event(EventLookedUp, cmd.record)
	ev.Reference, ev.Cause = e.finding.Reference, e.cause
	c.emit(ev)
	return e
}

// find merges a lookup's finding into a record that may have taken effect.
func (r *record) find(e event, p policy, now time.Time) {
	settle := usualSettle
	if p.contract != nil && p.contract.Stored.Settle > 0 {
		settle = p.contract.Stored.Settle
	}
	r.Looks++
	settled := r.Last.Add(settle)
	switch kind := e.finding.Kind; {
	case r.State != Pending:
	case kind == Found:
		r.settle(Confirmed, event{judged: judgement{effect: effectDone, reference: e.finding.Reference}}, r.Last)
		r.NotBefore, r.Due = time.Time{}, time.Time{}
	case kind == TooEarly || kind == NotFound && now.Before(settled):
		r.Due = later(settled, now).Add(e.delay)
	case kind == NotFound && r.Absent.IsZero():
		r.Absent = now
		r.Due = now.Add(settle)
	case kind == NotFound && now.Before(r.Absent.Add(settle)):
		r.Due = r.Absent.Add(settle)
	case kind == NotFound:
		// Said twice: no attempt so far has had an effect.
		r.Exposed, r.Parked, r.Reason = false, false, NotSent
		r.First, r.Absent = time.Time{}, time.Time{}
		r.RefusedStatus, r.Due = 0, later(r.NotBefore, now) // the server's wish still holds
	default:
		if e.cause != "" {
			r.Cause = e.cause
		}
		r.Due = now.Add(lookAgain(r.Looks) + e.delay)
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
