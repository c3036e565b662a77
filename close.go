package oncehttp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Shutdown stops taking up intents and starts no attempt; it waits until every
// attempt under way has ended and is recorded, and those who wait for it have
// their outcome. When ctx ends first it does as Close, and returns the context's
// error. Intents that are not settled stay pending in the journal. It is ErrJournal
// if answers that were seen could not be recorded.
func (c *Client) Shutdown(ctx context.Context) error {
	c.stopTakingUp(ownDrain)
	landed := make(chan struct{})
	go func() {
		c.drives.Wait()
		close(landed)
	}()
	select {
	case <-landed:
		return c.release()
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.Close())
	}
}

// Close stops everything at once. Calls under way return a [*PendingError]
// that is ErrClosed; their attempts are cut off, and their intents stay
// pending in the journal. Close waits closeGrace for what is being written. It is
// ErrJournal if answers that were seen could not be recorded.
func (c *Client) Close() error {
	c.stopTakingUp(ownClose)
	c.cancel(ErrClosed)
	landed := make(chan struct{})
	go func() {
		c.drives.Wait()
		close(landed)
	}()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-landed:
	case <-grace.C:
	}
	return c.release()
}

// closeGrace is how long Close waits for a transport that does not heed its
// context.
const closeGrace = 100 * time.Millisecond

func (c *Client) stopTakingUp(how ownerEventKind) {
	c.mu.Lock()
	c.closed = true
	flights := slices.Collect(maps.Values(c.flights))
	c.mu.Unlock()
	for _, f := range flights {
		f.closing(how)
	}
}

// giveBack writes the evidence that the journal did not take, and closes it. What
// it does not take now either is lost with the process: those attempts count as
// ones that may have taken effect.
func (c *Client) giveBack() error {
	c.cancel(ErrClosed)
	c.mu.Lock()
	kept := c.kept
	c.kept = map[string]*machine{}
	c.mu.Unlock()
	for action, m := range kept {
		c.driveKept(newFlight(context.Background(), action), *m)
	}
	if c.owned != nil {
		c.owned.CloseIdleConnections()
	}
	c.mu.Lock()
	lost := len(c.kept)
	c.mu.Unlock()
	if lost > 0 {
		return errors.Join(fmt.Errorf("%w: actions whose answers could not be recorded: %d; they stay pending, as ones that may have taken effect", ErrJournal, lost), c.journal.Close())
	}
	return c.journal.Close()
}
