package oncehttp

import (
	"context"
	"errors"
	"fmt"
)

// Resolution is what an operator, or a webhook, knows of an intent.
type Resolution struct {
	// State is Confirmed or Rejected.
	State State
	// Reference is what the API calls the effect.
	Reference string
	// By and Why are kept with the record.
	By, Why string
	// Force declares an intent Rejected though an attempt may still arrive.
	Force bool
}

// Resolve records a person's or a webhook's word. It may change what was
// settled. A repeat of the same word changes nothing. ErrNotFound when the
// journal does not have the action; ErrInFlight when it would be Rejected
// while an attempt runs, was cut off by a crash and not taken up since, or may
// be the original's of a copied journal, unless Force.
func (c *Client) Resolve(ctx context.Context, action string, word Resolution) error {
	if err := checkAction(action); err != nil {
		return err
	}
	if word.State != Confirmed && word.State != Rejected {
		return fmt.Errorf("oncehttp: Resolution of action %s has no State: want Confirmed or Rejected", quoteAction(action))
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.closedErr(); err != nil {
			return err
		}
		r, err := c.find(ctx, action)
		if errors.Is(err, ErrNotFound) {
			return fmt.Errorf("%w: %s", ErrNotFound, quoteAction(action))
		}
		if err != nil {
			return err
		}
		err = c.attest(ctx, r, word)
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

func (c *Client) attest(ctx context.Context, r record, w Resolution) error {
	if w.State == Rejected && (r.Sending != nil || r.State == Pending && c.journal.Standing().Copied) && !w.Force {
		return fmt.Errorf("%w: %s", ErrInFlight, quoteAction(r.Action))
	}
	if r.State == w.State && r.Reason != Conflict && r.Reason != Unauthorized && (w.Reference == "" || w.Reference == r.Reference) {
		return nil
	}
	now := wallNow()
	m := machine{rec: r, next: r}
	e := event{kind: evResolved, word: word{At: now, To: w.State, Reference: w.Reference, By: w.By, Why: w.Why}}
	m, cmd := m.step(e, policy{}, now)
	entry, err := cmd.record.entry()
	if err != nil {
		return err
	}
	if err := c.journal.Update(context.WithoutCancel(ctx), entry); err != nil {
		return err
	}
	m, _ = m.step(event{kind: evSaved}, policy{}, wallNow())
	c.tell(r, m.rec)
	c.writeKept(ctx)
	c.mu.Lock()
	f := c.flights[r.Action]
	c.mu.Unlock()
	if f != nil {
		select {
		case <-f.loaded:
			f.look(m.rec)
		case <-ctx.Done(): // what the flight does not hear now it meets when it saves
		}
	}
	return nil
}
