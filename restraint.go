package oncehttp

import "time"

// restraint is the least pause before an intent of some age is taken up by
// itself: what has not settled in five minutes will hardly do so in seconds, and
// a window may last for ever. With a tenth of the age an outage costs a tenth of
// itself more, and ten days are hundreds of attempts and not 80,000. A caller who
// asks does not wait for it.
func restraint(age time.Duration) time.Duration {
	if age < 5*time.Minute {
		return 0
	}
	return age / 10
}

// restraint is that of the record's age, reached by doubling, since one that was
// begun long ago may not have been tried; and never more than half of what is
// left of its window, so that it is tried to the end of it.
func (r *record) restraint(p policy, now time.Time) time.Duration {
	pause := min(restraint(now.Sub(r.Begun.At)), time.Second<<min(r.Waits, 30))
	if until, bounded := r.safeUntil(r.window(p.contract), p.share, p.attempt); bounded && r.aged() {
		pause = min(pause, max(0, until.Sub(now)/2))
	}
	return pause
}

// parkedDue is when an intent that is not sent again by itself is due: for a
// lookup, if there is one.
func (r record) parkedDue(p policy) time.Time {
	if p.lookup && r.Exposed {
		return wholeMicros(later(r.Last, r.First)) // of a copy only the first is known
	}
	return time.Time{}
}

// heldDue is when an intent of which no attempt may start is due: as a lookup has
// said, or now, for one.
func (r record) heldDue(park, lookedUp bool, p policy, now time.Time) time.Time {
	parked := r.parkedDue(p)
	isDue := !r.Due.IsZero() && !r.Due.After(now) // and stays so if a crash cuts the lookup off
	switch {
	case park && !lookedUp && (parked.IsZero() || !isDue):
		return parked
	case !park && r.Reason == Distrusted && !p.copied:
		return wholeMicros(later(now, r.NotBefore)) // it is trusted again
	}
	return r.Due
}
