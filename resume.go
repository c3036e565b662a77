package oncehttp

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Resume is one pass over what is due: intents of earlier calls and of earlier
// processes, each driven like a call of its own, at most Config.Concurrency at
// a time over all passes, beside those that wait. The first pass of a client, and
// the first after Trust, also takes up what was due no more, where it can be asked
// about or sent after all, and what waits for its next lookup, where it can be sent.
// Resume yields each outcome, also of what is due and cannot be sent (KeyExpired,
// NeedsCredentials, GateClosed), and an error only when the pass itself cannot go
// on. Ending the loop stops taking up and waiting, and waits for what is in flight.
// Intents that somebody drives already are left to them.
func (c *Client) Resume(ctx context.Context) iter.Seq2[*Outcome, error] {
	return func(yield func(*Outcome, error) bool) {
		taking, stop := context.WithCancel(ctx)
		results := make(chan *Outcome)
		var failed error // of the pass, set before results is closed
		var pass sync.WaitGroup
		pass.Go(func() {
			failed = errors.Join(c.takeDue(ctx, taking, &pass, func(o *Outcome) { results <- o }))
		})
		go func() {
			pass.Wait()
			close(results)
		}()
		// However the loop ends, by a panic too, nobody is left with a result that
		// nobody takes.
		defer func() {
			stop()
			for range results {
			}
		}()
		for o := range results {
			if !yield(o, nil) {
				return
			}
		}
		if failed != nil {
			yield(nil, failed)
		}
	}
}

// takeDue takes up what is due now, in the order of its time, and tells each
// outcome. Damaged is about records that cannot be read, which hold nobody up.
func (c *Client) takeDue(ctx, taking context.Context, pass *sync.WaitGroup, tell func(*Outcome)) (damaged, err error) {
	for e, err := range c.takeable(taking) {
		if err != nil {
			if taking.Err() != nil {
				break
			}
			return damaged, err
		}
		r, err := decodeRecord(e)
		if err != nil {
			damaged = errors.Join(damaged, err)
			continue
		}
		if err := c.closedErr(); err != nil {
			return damaged, err
		}
		if c.driven(r.Action) {
			continue
		}
		if !c.takeSlot(taking) {
			break
		}
		pass.Go(func() {
			if o := c.resume(ctx, taking, r.Action); o != nil {
				tell(o)
			}
		})
	}
	return damaged, ctx.Err()
}

// takeable yields what is due now; then, once for each client and each Trust, what
// is not due by itself and which this client can do something about after all.
func (c *Client) takeable(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range c.journal.Due(ctx, wallNow()) {
			if !yield(e, err) || err != nil {
				return
			}
		}
		if !c.learned.Swap(false) {
			return
		}
		whole := false
		defer func() {
			if !whole {
				c.learned.Store(true) // the next pass begins anew
			}
		}()
		for e, err := range c.journal.Open(ctx) {
			if err == nil && !c.revives(e) {
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		whole = true
	}
}

// revives reports whether an intent that waits for somebody's asking, or for the
// next lookup, would be sent if it were taken up now, or asked about where no
// lookup is due: it was parked by a client that could ask nobody, that did not
// trust its contract, or that had none which lets it be sent.
func (c *Client) revives(e Entry) bool {
	r, err := decodeRecord(e)
	if err != nil || r.State != Pending || !r.Due.IsZero() && !slices.Contains([]Reason{Distrusted, NoContract, KeyExpired}, r.Reason) {
		return false
	}
	f := &flight{ctx: c.ctx}
	if c.setPolicy(f, r) != nil || f.policy.distrusted && !r.Due.IsZero() {
		return false
	}
	f.policy.copied, f.policy.latest = c.standing()
	now := wallNow()
	m := machine{rec: r, next: r}
	m, cmd := m.step(event{kind: evTaken, call: call{resume: true, until: now.Add(c.cfg.Retry.MaxElapsed)}}, f.policy, now)
	if cmd.kind == cmdSave { // it comes before the lookup; nothing is written here
		m, cmd = m.step(event{kind: evSaved}, f.policy, now)
	}
	if !r.Due.IsZero() && cmd.kind == cmdLookUp {
		return false // that has its time
	}
	return cmd.kind != cmdSettle || !m.rec.Due.Equal(r.Due)
}

// takeSlot waits for a slot; it is false once ctx has ended.
func (c *Client) takeSlot(ctx context.Context) bool {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if ctx.Err() != nil {
		<-c.slots
		return false
	}
	return true
}

// resume drives one intent of the journal, if nobody does. The slot that the
// caller took is the flight's from here on. When taking ends, so does its
// waiting.
func (c *Client) resume(ctx, taking context.Context, action string) *Outcome {
	f, mine, err := c.flight(ctx, action)
	if err != nil || !mine {
		<-c.slots
		return nil
	}
	f.slot = true
	now := wallNow()
	t := ticket{action: action}
	s := &seating{}
	asks := call{resume: true, until: now.Add(c.cfg.Retry.MaxElapsed)}
	if done, err := c.takeOff(ctx, f, &t, s, asks, now); err != nil || done != nil {
		return nil // settled meanwhile
	}
	stop := context.AfterFunc(taking, func() { f.hurry(s) })
	defer stop()
	told := f.await(ctx, nil, s)
	return told.outcome
}

// Run takes up what is due until ctx ends; it returns the context's error,
// ErrClosed when the client is closed, or what made it impossible. An intent
// that waits does not hold up the others, nor does a record that cannot be read,
// which Config.Logger is told of.
func (c *Client) Run(ctx context.Context) error {
	var pass sync.WaitGroup
	defer pass.Wait()
	var sent atomic.Bool
	idle := c.cfg.Retry.Base
	for {
		damaged, err := c.takeDue(ctx, ctx, &pass, func(o *Outcome) {
			if !o.FromJournal {
				sent.Store(true)
			}
		})
		if err != nil {
			return err
		}
		if damaged != nil && c.cfg.Logger != nil {
			c.cfg.Logger.Error("oncehttp: some records cannot be read", "cause", newCause(damaged).Error())
		}
		// A pass that sent nothing is followed by a longer pause, since what it
		// found cannot be sent as things are.
		idle = min(2*idle, c.cfg.Retry.Cap)
		if sent.Swap(false) {
			idle = c.cfg.Retry.Base
		}
		pause, err := c.untilDue(ctx, idle)
		if err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-c.ctx.Done():
			timer.Stop()
			return ErrClosed
		}
	}
}

// untilDue is how long until the next intent is due: at least idle, and at
// most a second more, since calls may leave new ones behind.
func (c *Client) untilDue(ctx context.Context, idle time.Duration) (time.Duration, error) {
	now := wallNow()
	most := idle + time.Second
	for e, err := range c.journal.Due(ctx, now.Add(most)) {
		if err != nil {
			return 0, err
		}
		if e.Due.After(now) {
			return max(idle, e.Due.Sub(now)), nil
		}
	}
	return most, nil
}
