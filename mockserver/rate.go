package mockserver

import "time"

// throttled counts the request against Config.PerSecond.
func (x *exchange) throttled() bool {
	if x.cfg.PerSecond <= 0 {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rate.over(time.Now(), x.cfg.PerSecond)
}

// A rate counts requests in the second that began with the first of them.
type rate struct {
	begun time.Time
	n     int
}

func (r *rate) over(now time.Time, limit int) bool {
	if now.Sub(r.begun) >= time.Second {
		*r = rate{begun: now}
	}
	r.n++
	return r.n > limit
}
