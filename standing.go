package oncehttp

import "time"

// standing is what decides of each step beside the record: whether the journal
// is a copy, and the highest wall time that it or this client has seen. A clock
// that is read after this shows that time or a later one, unless it was set
// back.
func (c *Client) standing() (copied bool, latest time.Time) {
	for now := wallNow().UnixNano(); ; {
		seen := c.latest.Load()
		if now <= seen || c.latest.CompareAndSwap(seen, now) {
			break
		}
	}
	s := c.journal.Standing()
	return s.Copied, later(time.Unix(0, c.latest.Load()), s.Seen)
}

// warn tells at the start why less is sent than one may expect.
func (c *Client) warn() {
	if c.cfg.Logger == nil {
		return
	}
	s := c.journal.Standing()
	if s.Copied {
		c.cfg.Logger.Warn("oncehttp: the journal is a copy or a restored backup; nothing is begun or sent until Config.AdoptCopy says that the original is gone")
	}
	if wallNow().Before(s.Seen) {
		c.cfg.Logger.Warn("oncehttp: the clock is behind the time at which the journal was last written; what may have taken effect is not sent again until it has passed that", "last_written", s.Seen)
	}
}
