package oncehttp

import (
	"context"
	"fmt"
)

// Compact gives back the space in the journal that nothing needs any more, and
// waits until that is on disk; calls that come meanwhile wait for it. It needs
// room for what the journal holds. If it fails, if ctx ends or if the process
// dies in the middle, the journal is whole, as it was or compacted. Another
// process that has waited for the journal's lock goes on waiting.
//
// It is an error for a journal that is not a [Compacter], and [ErrCopied] for a
// copy that was not adopted.
func (c *Client) Compact(ctx context.Context) error {
	if err := c.closedErr(); err != nil {
		return err
	}
	j, ok := c.journal.(Compacter)
	if !ok {
		return fmt.Errorf("oncehttp: a journal of type %T cannot be compacted: it has no method Compact", c.journal)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	err := j.Compact(ctx)
	if err != nil && c.ctx.Err() != nil {
		return ErrClosed
	}
	return err
}
