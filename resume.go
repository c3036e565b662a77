package oncehttp

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
)

// Resume is one pass over what is due: intents of earlier calls and of earlier
// processes, each driven like a call of its own, at most Config.Concurrency at
// a time over all passes. It yields each outcome, also of what is due and
// cannot be sent (KeyExpired, NeedsCredentials), and an error only when the
// pass itself cannot go on. Ending the loop stops taking up, and waits for what
// is in flight. Intents that somebody drives already are left to them.
func (c *Client) Resume(ctx context.Context) iter.Seq2[*Outcome, error] {
	return func(yield func(*Outcome, error) bool) {
		taking, stop := context.WithCancel(ctx)
		defer stop()
		results := make(chan *Outcome)
		var failed error // of the pass, set before results is closed
		var pass sync.WaitGroup
		pass.Go(func() { failed = c.takeDue(ctx, taking, &pass, results) })
		go func() {
			pass.Wait()
			close(results)
		}()
		going := true
		for o := range results {
			if going && !yield(o, nil) {
				going = false
				stop()
			}
		}
		if going && failed != nil {
			yield(nil, failed)
		}
	}
}

// takeDue takes up what is due now, in the order of its time.
func (c *Client) takeDue(ctx, taking context.Context, pass *sync.WaitGroup, results chan<- *Outcome) error {
	var damaged []error
	for e, err := range c.journal.Due(taking, wallNow()) {
		if err != nil {
			if taking.Err() != nil {
				break
			}
			return err
		}
		r, err := decodeRecord(e)
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		if err := c.closedErr(); err != nil {
			return err
		}
		select {
		case c.slots <- struct{}{}:
		case <-taking.Done():
		}
		if taking.Err() != nil {
			break
		}
		pass.Go(func() {
			defer func() { <-c.slots }()
			if o := c.resume(ctx, r.Action); o != nil {
				results <- o
			}
		})
	}
	return errors.Join(append(damaged, ctx.Err())...)
}

// resume drives one intent of the journal, if nobody does.
func (c *Client) resume(ctx context.Context, action string) *Outcome {
	f, mine, err := c.flight(ctx, action)
	if err != nil || !mine {
		return nil
	}
	now := wallNow()
	t := ticket{action: action}
	m, e, done, err := c.takeUp(ctx, f, &t, now)
	if err != nil || done != nil {
		c.abandon(f) // settled meanwhile
		return nil
	}
	e.call = call{resume: true, until: now.Add(c.cfg.Retry.MaxElapsed)}
	s := &seating{}
	if f.sit(s, ownResume, e.call.until) == grantClosed {
		c.abandon(f)
		return nil
	}
	close(f.loaded)
	go c.drive(f, m, e)
	told := f.await(ctx, nil, s)
	return told.outcome
}

// Run takes up what is due, pass after pass, until ctx ends; it returns the
// context's error, ErrClosed when the client is closed, or what made a pass
// impossible.
func (c *Client) Run(ctx context.Context) error {
	idle := c.cfg.Retry.Base
	for {
		progress := false
		for o, err := range c.Resume(ctx) {
			if err != nil {
				return err
			}
			progress = progress || !o.FromJournal
		}
		// A pass that sent nothing is followed by a longer pause, since what it
		// found cannot be sent as things are.
		idle = min(2*idle, c.cfg.Retry.Cap)
		if progress {
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
