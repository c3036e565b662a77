package mockserver

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// execute does the work, then makes the effects of the parts that need one and
// stores their answer, or releases their keys, under one lock. A panic of a hook
// or a Close releases the keys: nothing has happened then. False if the server
// died.
func (x *exchange) execute(parts []*part) (a Answer, ok bool) {
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, c := range parts {
			if c.rec != nil {
				x.store.release(c.id, c.rec)
			}
		}
	}()
	if !x.sleep(x.cfg.Work) {
		return Answer{}, false
	}
	effect := x.fault.Commit
	switch {
	case x.fault.Origin:
		a = x.scripted()
	case x.cfg.Execute != nil:
		a = x.cfg.Execute(x.request()).clone()
		effect = a.Status < 400
	case safe(x.r.Method):
		a = Answer{Header: jsonHeader(), Body: "{}\n"}
	default:
		a = x.worded(x.cfg.Profile.Success, x.effectID(1))
		effect = true
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	return x.commit(parts, a, effect && !safe(x.r.Method), x.cfg.What(x.request()))
}

func (x *exchange) commit(parts []*part, a Answer, effect bool, what string) (Answer, bool) {
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.life.over() {
		return Answer{}, false
	}
	if slices.ContainsFunc(parts, func(c *part) bool { return c.rec != nil && c.rec.state == fenced }) {
		// Another execution holds the key: what stores effects refuses this one.
		return x.worded(x.cfg.Profile.InFlight, ""), true
	}
	if x.fault.Crash == CrashBefore {
		x.crash()
		return Answer{}, false
	}
	if effect {
		x.takeEffect(parts, a, now, what)
	}
	if x.fault.Crash == CrashBetween {
		for _, c := range parts {
			if effect && c.rec != nil {
				made := a.clone()
				c.rec.answer = &made
			}
		}
		x.crash()
		return Answer{}, false
	}
	for _, c := range parts {
		if c.rec != nil && (effect || x.cfg.Profile.stores(a.Status)) {
			c.rec.keep(a.clone(), now)
		}
	}
	if x.fault.Crash == CrashAfter {
		x.crash()
		return Answer{}, false
	}
	return a, true
}

// takeEffect enters an effect for each part that was not done before. It needs
// the lock.
func (x *exchange) takeEffect(parts []*part, a Answer, now time.Time, what string) {
	planted, asked := x.planted(), x.asked()
	body, _ := plainJSON([]byte(a.Body))
	n := 0
	for _, c := range parts {
		if c.done {
			continue
		}
		n++
		e := Effect{
			Time: now, Request: x.entry.N, Tenant: x.entry.Tenant, Key: c.key, What: what,
			ID: x.effectID(n), Planted: planted, asked: asked, Answer: a.clone(),
		}
		if said := scalarAt(body, "/id"); said != "" && len(parts) == 1 {
			e.ID = said
		}
		x.effects = append(x.effects, e)
		if c.rec == nil {
			continue
		}
		c.rec.effect = len(x.effects)
		if before := c.rec.over; before != nil && before.effect > 0 {
			x.effects[before.effect-1].Overwritten = true
		}
	}
	x.entry.Effect = n > 0
}

// effectID is what the n-th effect of the request is called, where its answer
// does not say.
func (x *exchange) effectID(n int) string {
	if n == 1 {
		return fmt.Sprintf("effect-%06d", x.entry.N)
	}
	return fmt.Sprintf("effect-%06d-%d", x.entry.N, n)
}
