package oncehttp

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// send makes one attempt, and judges it.
func (c *Client) send(f *flight, cmd command) event {
	r := cmd.record
	c.emit(c.event(EventAttempt, r))
	a := attempt{base: c.base, maxBody: c.cfg.MaxResponseBody, notAfter: cmd.until, timeout: cmd.timeout}
	a.carrier, a.wire = r.Begun.keyHeader()
	protection := r.protection(f.policy)
	if protection == unprotected {
		a.base = c.fresh
	}
	_, a.plain = a.base.(*http.Transport)
	ctx, cancel := context.WithCancelCause(f.ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	s := a.do(ctx, f.request, f.body)

	h := history{method: r.Begun.Method, exposed: r.Exposed, protection: protection,
		distrusted: f.policy.distrusted && r.protection(f.policy.trusting()) == keyed,
		renewable:  c.cfg.Authorize != nil && !cmd.stale,
		inProgress: r.Running, apart: r.Sending.At.Sub(r.Last)}
	h.refused = r.RefusedStatus != 0 && r.RefusedStatus == s.facts.status
	e := event{kind: evAnswered, attempt: r.Sending.ID}
	s.facts.wire = r.Begun.Wire
	now := wallNow()
	if date, ok := httpDate(s.facts.header.Get("Date"), now); ok && !r.RefusedDate.IsZero() {
		// By the API's clock too, whose dates have whole seconds: ours may have been set.
		h.apart = min(h.apart, date.Sub(r.RefusedDate)+time.Second)
	}
	e.judged = classify(s.facts, h, f.policy.contract, now)
	if why := e.judged.contradicts; why != "" {
		c.distrust(f.policy.contract, r, why)
	}
	c.gates.heard(f.pass, hostEvent(e.judged, s.facts.status))
	f.pass, f.admitted = gatePass{}, false
	e.delay, e.stop = c.nextWait(r.Waits)
	f.err, e.cause = s.err, ""
	if s.err != nil {
		e.cause = newCause(s.err).Error()
	}
	if s.response == nil {
		stop()
		c.emit(c.answered(r, e))
		return e
	}
	e.location = r.Begun.follow(redirectTarget(f.request.URL, s.facts.status, s.facts.header), f.policy.contract)
	e.answer = &answer{Status: s.facts.status, Header: keptHeader(s.facts.header), Replayed: e.judged.replayed, At: now}
	final := e.judged.state(r.Exposed) != Pending && e.location == ""
	if final {
		f.cookies = s.facts.header.Values("Set-Cookie")
	}
	if final && s.response.Body != nil && !isStream(s.response) && int64(len(s.facts.body)) < c.cfg.MaxResponseBody {
		s.readOn(c.cfg.MaxResponseBody, cmd.timeout) // a refusal's whole text
	}
	e.answer.body, e.answer.Incomplete = s.facts.body, s.facts.cut || s.response.Body != nil
	if e.answer.body == nil {
		e.answer.body = []byte{} // nil would leave what an earlier answer has left
	}
	if s.response.Body != nil {
		if final && f.takes() {
			f.hold(s, stop)
		} else {
			s.discard()
		}
	}
	if f.liveAnswer == nil {
		stop()
	}
	if !final && s.err == nil {
		e.cause = fmt.Sprintf("the server answered %d", s.facts.status)
		switch {
		case e.judged.unread:
			e.cause += ", and what its contract reads in the body cannot be read: the body is longer than Config.MaxResponseBody (of an error 64 KiB), compressed, or damaged"
		case e.judged.foreign:
			e.cause += " without the mark that the API's own answers carry, so something in between may have said it"
		case e.judged.effect == effectNone && e.judged.again == againNo && r.Exposed:
			e.cause += ", which says nothing of earlier attempts"
		}
		f.err = nil
	}
	c.emit(c.answered(r, e))
	return e
}

func (c *Client) answered(r record, e event) Event {
	ev := c.event(EventAnswered, r)
	ev.Reason, ev.Cause, ev.Delay = e.judged.reason, e.cause, 0
	if e.answer != nil {
		ev.Status = e.answer.Status
	}
	return ev
}

// keptHeader is an answer's header without Set-Cookie, which is a credential.
func keptHeader(h http.Header) http.Header {
	kept := h.Clone()
	kept.Del("Set-Cookie")
	return kept
}

// nextWait steps a fresh policy to index n. Full jitter goes there at once.
func (c *Client) nextWait(n int) (wait time.Duration, stop bool) {
	if c.cfg.Retry.BackOff == nil {
		b := NewFullJitter(c.cfg.Retry.Base, c.cfg.Retry.Cap)
		b.at(n)
		return b.NextBackOff(), false
	}
	b := c.cfg.Retry.BackOff()
	for range min(n, maxBackOffSteps) + 1 {
		if wait = b.NextBackOff(); wait == backoff.Stop || wait < 0 {
			return c.cfg.Retry.Cap, true
		}
	}
	return wait, false
}

// maxBackOffSteps bounds the work for a policy that is not ours; every common
// one is at its cap by then.
const maxBackOffSteps = 64

// wait ends at its time, or when something happens to the flight.
func (c *Client) wait(f *flight, cmd command) event {
	ev := c.event(EventWaiting, cmd.record)
	ev.Delay = max(0, time.Until(cmd.until))
	c.emit(ev)
	f.waiting(cmd.until)
	c.loosen(f)
	timer := time.NewTimer(time.Until(cmd.until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return event{kind: evWoke}
	case <-f.woken:
		return event{kind: evLooked}
	}
}
