package oncehttp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// perform takes the action up, or joins whoever drives it, and waits.
func (c *Client) perform(ctx context.Context, t ticket) told {
	for {
		if err := ctx.Err(); err != nil {
			return told{err: err}
		}
		told, again := c.performOnce(ctx, &t)
		if !again {
			if told.outcome != nil {
				told.outcome.Reworded = t.reworded
			}
			return told
		}
	}
}

func (c *Client) performOnce(ctx context.Context, t *ticket) (_ told, again bool) {
	now := wallNow()
	s := &seating{takesLive: t.takesLive, recordOnly: t.recordOnly}
	if deadline, ok := ctx.Deadline(); ok {
		s.until = deadline
		if t.cancel != nil {
			s.until = deadline.Add(-clientTimeoutLead)
		}
	}
	budget := now.Add(c.cfg.Retry.MaxElapsed)
	if !s.until.IsZero() && s.until.Before(budget) {
		budget = s.until
	}

	f, mine, err := c.flight(ctx, t.action)
	if err != nil {
		return told{err: err}, false
	}
	if !mine {
		select {
		case <-f.loaded:
		case <-ctx.Done():
			return told{err: ctx.Err()}, false
		}
		if f.gone {
			return told{}, true
		}
		if c.reworded(t, f.first) {
			if waited, err := f.awaitRecord(ctx, t.cancel); waited {
				return told{err: err}, err == nil
			}
		}
		if told, refused := c.refuse(ctx, t, f.first, f.firstBody); refused {
			return told, false
		}
		if t.recordOnly {
			r, err := c.find(ctx, t.action)
			if err == nil {
				return pendingOr(c.known(r), nil), false
			}
			if !errors.Is(err, ErrNotFound) {
				return told{err: err}, false
			}
		}
		switch f.sit(s, ownBegin, budget) {
		case grantTooLate, grantClosed:
			return told{}, true
		}
		told, again := t.follow(f.await(ctx, t.cancel, s))
		if o := told.outcome; o != nil && o.Reason == NeedsCredentials && t.draft != nil && !f.drafted && s.cause == nil {
			return told, true // we have what the driver lacked
		}
		return told, again
	}

	refused, err := c.takeOff(ctx, f, t, s, call{until: budget, recordOnly: t.recordOnly}, now)
	if err != nil {
		return told{err: err}, false
	}
	if refused != nil {
		return t.follow(*refused)
	}
	return t.follow(f.await(ctx, t.cancel, s))
}

// follow says whether to ask anew, under the action that the caller's key belongs
// to if that is another.
func (t *ticket) follow(told told) (_ told, again bool) {
	if told.again && told.elsewhere != "" {
		t.action, t.anonymous = told.elsewhere, false
	}
	return told, told.again
}

// takeOff loads a new flight, takes the first seat in it, and drives it. If
// that fails, or there is nothing to drive (done), or a hook panics, the flight
// is over and nobody waits for it.
func (c *Client) takeOff(ctx context.Context, f *flight, t *ticket, s *seating, asks call, now time.Time) (done *told, err error) {
	var m machine
	off := false
	defer func() {
		if !off {
			c.abandon(f, m)
		}
	}()
	m, done, err = c.takeUp(ctx, f, t, now)
	if err != nil || done != nil {
		return done, err
	}
	kind := ownBegin
	if asks.resume {
		kind = ownResume
	}
	if f.sit(s, kind, asks.until) == grantClosed {
		return nil, ErrClosed
	}
	off = true
	close(f.loaded)
	go func() {
		defer c.drives.Done()
		c.drive(f, m, event{kind: evTaken, call: asks})
	}()
	return nil, nil
}

// flight returns the flight of an action: somebody's, or a new one that is the
// caller's to load, and to end with abandon or takeOff.
func (c *Client) flight(ctx context.Context, action string) (_ *flight, mine bool, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false, ErrClosed
	}
	if f, ok := c.flights[action]; ok {
		return f, false, nil
	}
	f := newFlight(ctx, action)
	c.flights[action] = f
	c.drives.Add(1)
	return f, true, nil
}

// abandon ends a flight that never left. Evidence that it took over is kept.
func (c *Client) abandon(f *flight, m machine) {
	c.freeSlot(f)
	c.remove(f, m)
	f.gone = true
	close(f.loaded)
	c.drives.Done()
}

// remove makes room for another flight of the action, and keeps the evidence
// that is not on disk.
func (c *Client) remove(f *flight, m machine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[f.action] == f {
		delete(c.flights, f.action)
	}
	if f.counted {
		c.unresolved.Add(-1)
	}
	if m.heard != nil {
		c.kept[f.action] = &m
	}
}

// takeUp loads the record of the flight, or makes it. done is set when there is
// nothing to drive.
func (c *Client) takeUp(ctx context.Context, f *flight, t *ticket, now time.Time) (m machine, done *told, err error) {
	var r record
	err = ErrNotFound
	if !t.anonymous {
		r, err = c.find(ctx, t.action)
	}
	switch {
	case err == nil:
		if m, done, err = c.found(ctx, f, t, r); err != nil || done != nil {
			return m, done, err
		}
		if m.rec.Revision == r.Revision {
			r = m.rec
		}
	case errors.Is(err, ErrNotFound) && t.draft != nil:
		if t.adopted != "" {
			holder, err := c.keyHolder(ctx, *t)
			switch {
			case err == nil && holder.Action != t.action:
				return m, &told{again: true, elsewhere: holder.Action}, nil
			case err != nil && !errors.Is(err, ErrNotFound):
				return m, nil, err
			}
		}
		if n, most := c.unresolved.Add(1), int64(c.cfg.MaxUnresolved); most > 0 && n > most {
			c.unresolved.Add(-1)
			return m, nil, ErrTooMany
		}
		f.counted = true
		var body []byte
		if r, body, err = c.newRecord(*t, now); err != nil {
			return m, nil, err
		}
		if c.cfg.Plant && t.contract != nil && t.draft.signed.by == "" {
			body = r.plant(t.contract.Plant, t.findable(r), body, c.cfg.MaxRequestBody)
		}
		m = machine{next: r, dirty: true}
		f.body, f.firstBody = body, body
		f.names = t.names(r)
	default:
		return m, nil, err
	}
	f.recordOnly = t.recordOnly
	if t.draft != nil {
		f.drafted, f.live = true, t.draft.live
	}
	return m, nil, c.setPolicy(f, r)
}

// found is for an action that the journal has.
func (c *Client) found(ctx context.Context, f *flight, t *ticket, r record) (machine, *told, error) {
	if told, refused := c.refuse(ctx, t, r, nil); refused {
		return machine{}, &told, nil
	}
	if told, refused := c.missigned(ctx, t, r); refused {
		return machine{}, &told, nil
	}
	m := machine{rec: r, next: r}
	if kept := c.takeKept(r.Action); kept != nil {
		if r.Revision > kept.rec.Revision {
			kept.read = &r
		}
		return *kept, nil, nil
	}
	if r.State != Pending && !r.Incomplete && !r.again() || t.recordOnly {
		r, err := c.withBody(ctx, r)
		if err != nil {
			return m, nil, err
		}
		told := pendingOr(c.known(r), nil)
		told.outcome.InFlight = false
		return m, &told, nil
	}
	// Who leaves before there is another answer is told this one.
	kept, err := c.withBody(ctx, r)
	m.rec.Answer = kept.Answer
	return m, nil, err
}

// setPolicy finds the contract of today. On an error, of the journal, there is
// none, and nothing may be sent.
func (c *Client) setPolicy(f *flight, r record) error {
	f.first, f.rec = r, r
	if r.Revision == 0 {
		f.rec = record{}
	}
	f.policy = policy{maxAttempts: c.cfg.Retry.MaxAttempts, attempt: c.cfg.Retry.AttemptTimeout, share: c.cfg.WindowShare}
	if u, err := url.Parse(r.Begun.URL); err == nil {
		req := &http.Request{Method: r.Begun.Method, URL: u, Host: r.Begun.Host, Header: r.Begun.Header}
		if r.Begun.Carrier.Kind == CarrierHeader && r.Begun.Wire != "" {
			// A contract may ask for the key's own header.
			req.Header = http.Header{}
			maps.Copy(req.Header, r.Begun.Header)
			req.Header.Set(r.Begun.Carrier.Name, r.Begun.Wire)
		}
		if f.policy.contract, err = c.claimStored(f, r, req); err != nil {
			return err
		}
		f.gate = c.gateKey(req, f.policy.contract)
		if !r.HostWish.IsZero() {
			c.gates.recall(f.gate, r.Seen, r.HostWish)
		}
	}
	f.policy.lookup = c.cfg.Lookup != nil || f.policy.contract.canBeAsked(r)
	f.policy.distrusted = c.distrusts(f.policy.contract)
	return nil
}

// distrusts reports whether an answer to any intent has contradicted the
// contract, which may be nil.
func (c *Client) distrusts(contract *Contract) bool {
	if contract == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.distrusted[contract.Name]
}

// distrust stops resends under a contract that an answer has contradicted.
func (c *Client) distrust(contract *Contract, r record, why string) {
	c.mu.Lock()
	c.distrusted[contract.Name] = true
	c.mu.Unlock()
	ev := c.event(EventContradicted, r)
	ev.Contract, ev.Cause = contract.Name, why
	c.emit(ev)
}

// Trust lifts the distrust of a contract, by its name, that an answer had
// contradicted ([EventContradicted]): what may have taken effect is sent again
// under it, by Do or by the next pass of Resume or Run. A client that is opened
// anew trusts every contract.
func (c *Client) Trust(contract string) {
	c.mu.Lock()
	delete(c.distrusted, contract)
	c.mu.Unlock()
	c.learned.Store(true)
}

// refuse keeps other principals and other payloads out of an action. The body
// is in the journal if it is not given. Payloads differ only where they do
// today: a change of the client's idea of what matters is no difference.
func (c *Client) refuse(ctx context.Context, t *ticket, r record, body []byte) (_ told, refused bool) {
	if t.draft == nil {
		return told{}, false
	}
	if r.Begun.Principal != principalDigest(r.ID, t.principal) {
		return told{err: fmt.Errorf("%w: %s", ErrPrincipal, quoteAction(r.Action))}, true
	}
	if !c.reworded(t, r) {
		return told{}, false
	}
	if body == nil && r.Revision > 0 {
		var err error
		if body, err = c.body(ctx, r, RequestBody); err != nil {
			if !errors.Is(err, errSealed) {
				return told{err: err}, true
			}
			// Nobody can tell whether the payload is the same; what is known is told.
			o := c.known(r)
			if r.State == Pending {
				return pendingOr(o, err), true
			}
			return told{outcome: o, err: err}, true
		}
	}
	var differs []string
	counts := c.identity.under(t.contract)
	today := t.draft.begun.spots()
	switch {
	case c.prints(r, r.printed(t.draft, counts)):
		return told{}, false
	case r.Tombstone:
		differs = []string{"payload"}
	case len(body) == r.Begun.Size:
		differs = differences(r.Begun.payload(body, today...), r.compared(t.draft), counts)
		if len(differs) == 0 {
			return told{}, false
		}
	default:
		// The first body is no longer kept: compare the rest.
		differs = differences(r.Begun.payload(nil, today...), t.draft.begun.payload(nil, r.Begun.spots()...), counts)
		if len(differs) == 0 {
			differs = []string{"body"}
		}
	}
	if t.options.keepFirst && !t.takesLive {
		t.reworded = true
		return told{}, false
	}
	if kept, err := c.withBody(ctx, r); err == nil {
		r = kept
	}
	o := c.known(r)
	c.emit(c.event(EventMismatch, r))
	return told{outcome: o, err: &MismatchError{Action: r.Action, Differs: slices.Clip(differs), Outcome: o}}, true
}

// missigned: what would be sent is not what the caller has signed this time.
func (c *Client) missigned(ctx context.Context, t *ticket, r record) (_ told, refused bool) {
	if t.draft == nil || t.draft.signed.by == "" || t.recordOnly || !r.Begun.placed() || r.State != Pending && !r.Incomplete && !r.again() {
		return told{}, false
	}
	body, err := c.body(ctx, r, RequestBody)
	if err == nil {
		err = c.signatureHolds(*t, r.Begun, body)
	}
	if err != nil {
		return told{outcome: c.known(r), err: err}, true
	}
	return told{}, false
}

// reworded: the payload may differ from the record's.
func (c *Client) reworded(t *ticket, r record) bool {
	return t.draft != nil && !c.prints(r, t.draft.begun.Fingerprint)
}

// prints reports whether a fingerprint is the record's.
func (c *Client) prints(r record, print string) bool {
	if r.Begun.Sealed {
		print = c.sealing.fingerprint(print)
	}
	return print == r.Begun.Fingerprint
}

// takeKept takes over the evidence that the journal could not take.
func (c *Client) takeKept(action string) *machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.kept[action]
	delete(c.kept, action)
	return m
}

// writeKept writes kept evidence, now that the journal takes writes again.
func (c *Client) writeKept(ctx context.Context) {
	c.mu.Lock()
	actions := slices.Collect(maps.Keys(c.kept))
	c.mu.Unlock()
	for _, action := range actions {
		f, mine, err := c.flight(ctx, action)
		if err != nil || !mine {
			continue // who drives it writes it
		}
		if m := c.takeKept(action); m != nil {
			go func() {
				defer c.drives.Done()
				c.driveKept(f, *m)
			}()
		} else {
			c.abandon(f, machine{})
		}
	}
}

func (c *Client) driveKept(f *flight, m machine) {
	c.setPolicy(f, m.rec) // nothing is sent, so that an error does not matter
	f.recordOnly = true
	f.sit(&seating{}, ownBegin, time.Time{})
	close(f.loaded)
	c.drive(f, m, event{kind: evTaken, call: call{recordOnly: true}})
}
