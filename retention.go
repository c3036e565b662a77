package oncehttp

import (
	"context"
	"errors"
	"time"
)

// Retention says how long what is settled stays in the journal, counted from
// the last write about it. What is not settled, or in conflict, stays for ever.
// A negative time keeps for ever too.
type Retention struct {
	// Answers are kept this long: after it Outcome.Response is nil. Default 90
	// days.
	Answers time.Duration
	// Records are kept this long: after it a named action leaves a tombstone
	// (action, fingerprint, state, reference), which still answers Do, and an
	// anonymous one leaves nothing. Default 365 days.
	Records time.Duration
}

// Pruned counts what [Client.Prune] removed.
type Pruned struct {
	Answers, Records int
}

const day = 24 * time.Hour

func (r Retention) withDefaults() Retention {
	set := func(d *time.Duration, usual time.Duration) {
		if *d == 0 {
			*d = usual
		} else if *d < 0 {
			*d = farthestWait
		}
	}
	set(&r.Answers, 90*day)
	set(&r.Records, 365*day)
	r.Answers = min(r.Answers, r.Records)
	return r
}

// pruneStep is the most entries that a step of retention looks at when it runs
// by itself.
const pruneStep = 256

// pause between two walks over all that is settled.
func (r Retention) pause() time.Duration { return min(max(r.Answers/4, time.Minute), time.Hour) }

// Prune removes now what is older than the retention says. Otherwise
// Config.Retention runs by itself, in small steps beside ordinary work. Space
// in the file is used again; only [Client.Compact] shrinks the file.
func (c *Client) Prune(ctx context.Context, r Retention) (Pruned, error) {
	if err := c.closedErr(); err != nil {
		return Pruned{}, err
	}
	pruned, _, err := c.prune(ctx, r.withDefaults(), time.Time{}, 0)
	return pruned, err
}

// pruneSoon runs a step of retention if it is time for one: the next stretch
// of a walk that is not at its end, or the first of a new walk.
func (c *Client) pruneSoon() {
	now := wallNow()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.pruning || now.Before(c.pruneAt) {
		return
	}
	c.pruning = true
	from := c.pruneFrom
	c.drives.Go(func() {
		_, next, err := c.prune(c.ctx, c.cfg.Retention, from, pruneStep)
		if err != nil && c.ctx.Err() == nil && c.cfg.Logger != nil {
			c.cfg.Logger.Warn("oncehttp: retention could not go on", "cause", newCause(err).Error())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pruning, c.pruneFrom = false, next
		if next.IsZero() {
			c.pruneAt = now.Add(c.cfg.Retention.pause())
		}
	})
}

// prune walks what was created from a time on, oldest first, and looks at most
// entries (0: at all). Next is where the walk goes on; zero: it is over.
func (c *Client) prune(ctx context.Context, keep Retention, from time.Time, most int) (pruned Pruned, next time.Time, err error) {
	defer func() {
		if pruned != (Pruned{}) {
			c.writeKept(ctx)
		}
	}()
	now := wallNow()
	n := 0
	for e, err := range c.journal.Settled(ctx, from, now.Add(-keep.Answers)) {
		if err != nil {
			return pruned, time.Time{}, err
		}
		r, err := decodeRecord(e)
		if err != nil {
			return pruned, time.Time{}, err
		}
		if n++; n > most && most > 0 && r.Begun.At.Truncate(time.Millisecond).After(from) {
			return pruned, r.Begun.At.Truncate(time.Millisecond), nil
		}
		if err := c.pruneOne(ctx, r, keep, now, &pruned); err != nil {
			return pruned, time.Time{}, err
		}
	}
	return pruned, time.Time{}, nil
}

// pruneOne removes one record, or its answer, in a commit of its own. A record
// that changes meanwhile is left for the next time.
func (c *Client) pruneOne(ctx context.Context, r record, keep Retention, now time.Time, pruned *Pruned) error {
	age := now.Sub(r.Seen)
	var err error
	switch {
	case r.Tombstone:
		return nil
	case age > keep.Records && r.anonymous() && !r.Begun.Adopted:
		if err = c.journal.Delete(ctx, r.ID, r.Revision); err == nil {
			pruned.Records++
		}
	case age > keep.Records:
		if err = c.rewrite(ctx, r.tombstone()); err == nil {
			pruned.Records++
		}
	case age > keep.Answers && r.Answer != nil:
		r.Answer = nil
		if err = c.rewrite(ctx, r); err == nil {
			pruned.Answers++
		}
	}
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// rewrite stores a record without its bodies, but with a request that may be
// sent again. Its age does not begin anew.
func (c *Client) rewrite(ctx context.Context, r record) error {
	e, err := r.entry()
	if err != nil {
		return err
	}
	e.Response = []byte{}
	if !r.Incomplete && !r.again() {
		e.Request = []byte{}
	}
	return c.journal.Update(ctx, e)
}
