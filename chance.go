package oncehttp

import (
	"math/rand/v2"
	"time"
)

const (
	usualBase = 200 * time.Millisecond
	usualCap  = 20 * time.Second
)

// NewFullJitter returns a [FullJitter] with these bounds. A base or cap that is
// not positive becomes 200 ms or 20 s, and a cap below the base the base: no
// value makes retries run hot.
func NewFullJitter(base, cap time.Duration) *FullJitter {
	if base <= 0 {
		base = usualBase
	}
	if cap <= 0 {
		cap = usualCap
	}
	return &FullJitter{base: base, limit: max(base, cap), random: rand.Float64}
}
