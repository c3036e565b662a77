package oncehttp

import (
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

var _ backoff.BackOff = (*FullJitter)(nil)

// FullJitter is a [backoff.BackOff] whose n-th wait, counted from 0, is uniform
// between zero and min(cap, base*2^n), at the cap too, so that clients that
// failed together do not come back together. It never returns [backoff.Stop]
// and knows no limit in time or number. It is the "full jitter" of the AWS
// Architecture Blog's "Exponential Backoff And Jitter" (2015).
//
// Make one with [NewFullJitter]: the zero value has no source of chance. One
// goroutine at a time may use it.
type FullJitter struct {
	base, limit time.Duration
	n           int            // index of the next wait
	random      func() float64 // uniform in [0, 1)
}

// NextBackOff returns the next wait.
func (b *FullJitter) NextBackOff() time.Duration {
	d := fullJitter(b.random(), b.n, b.base, b.limit)
	if b.n < math.MaxInt {
		b.n++
	}
	return d
}

// Reset makes the next wait the first one again.
func (b *FullJitter) Reset() { b.n = 0 }

// at makes the next wait the n-th, to go on where another call stopped.
func (b *FullJitter) at(n int) { b.n = max(0, n) }

// fullJitter is the n-th wait for a chance u in [0, 1]; n below zero counts as
// zero. It lies in [0, longestWait(n, base, limit)].
func fullJitter(u float64, n int, base, limit time.Duration) time.Duration {
	longest := longestWait(n, base, limit)
	switch {
	case !(u > 0): // NaN too
		return 0
	case u >= 1:
		return longest
	}
	return min(longest, time.Duration(u*float64(longest)))
}

// longestWait is min(limit, base*2^n) without overflow; it never shrinks as n
// grows and is never negative. A base below 1 ns counts as 1 ns.
func longestWait(n int, base, limit time.Duration) time.Duration {
	n, base, limit = max(0, n), max(1, base), max(0, limit)
	if base > limit>>n {
		return limit
	}
	return base << n
}
