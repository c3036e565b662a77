package oncehttp

import (
	"net/http"
	"time"
)

// gateKey of a request. Methods that a contract does not name share the gate of
// those that it does. What no contract matches has no operation here.
func (c *Client) gateKey(req *http.Request, contract *Contract) gateKey {
	if c.cfg.Gate.Off {
		return gateKey{}
	}
	if contract == nil {
		post := *req
		post.Method = http.MethodPost
		contract = c.contracts.matchBody(&post, nil)
	}
	key := gateKey{scheme: req.URL.Scheme, host: authority(req.URL)}
	if contract != nil {
		key.contract = contract.Name
	}
	return key
}

// recallMost bounds what opening a client reads of a long backlog.
const recallMost = 4096

// recallWishes takes up what hosts asked of earlier clients: the first who comes
// may not be one who was told. Behind a backlog longer than recallMost a wish is
// known only when its intent is taken up.
func (c *Client) recallWishes() {
	if c.cfg.Gate.Off {
		return
	}
	read := 0
	for e, err := range c.journal.Open(c.ctx) { // what is parked has heard wishes too
		if read++; err != nil || read > recallMost {
			return // whoever needs the journal is told of its error
		}
		if r, err := decodeRecord(e); err == nil && !r.HostWish.IsZero() {
			c.setPolicy(&flight{ctx: c.ctx}, r)
		}
	}
}

// ask waits for the gate's word: the attempt may go, or not in this call.
func (c *Client) ask(f *flight, cmd command) event {
	w := f.place
	if w != nil && (w.parked && !cmd.parked || !w.until.Equal(cmd.until)) {
		f.place = nil // another caller came
		c.gates.leave(w)
		w = nil
	}
	if w == nil && !f.admitted {
		if f.pass, w = c.gates.ask(f.gate, cmd.parked, cmd.until, cmd.record.NotBefore); w != nil {
			f.place = w
			ev := c.event(EventWaiting, cmd.record)
			ev.Reason, ev.Delay = GateClosed, max(0, time.Until(w.next))
			c.emit(ev)
		}
	}
	if w != nil {
		if !c.loosen(f) {
			f.place = nil
			return event{kind: evShut, again: c.gates.leave(w)}
		}
		timer := time.NewTimer(time.Until(w.until))
		defer timer.Stop()
		var again time.Time
		select {
		case a := <-w.answer:
			f.pass, again = a.pass, a.again
		case <-timer.C:
			again = c.gates.leave(w)
		case <-f.woken:
			return event{kind: evLooked}
		}
		f.place = nil
		if f.pass.host == nil {
			return event{kind: evShut, again: again}
		}
	}
	f.admitted = true
	if f.loose && cmd.parked {
		select {
		case c.slots <- struct{}{}:
			f.slot = true
		case <-f.woken:
			return event{kind: evLooked}
		}
	}
	if f.loose {
		f.loose = false
		<-c.loose
	}
	return event{kind: evAdmitted}
}

// loosen gives the flight's slot to another intent while it waits; what it has
// in memory is in the journal too. It is false when too many wait already.
func (c *Client) loosen(f *flight) bool {
	if !f.slot {
		return true
	}
	select {
	case c.loose <- struct{}{}:
	default:
		return false
	}
	c.freeSlot(f)
	f.loose = true
	f.body, f.request = nil, nil
	return true
}

func (c *Client) freeSlot(f *flight) {
	if f.slot {
		f.slot = false
		<-c.slots
	}
	if f.loose {
		f.loose = false
		<-c.loose
	}
}

// leaveGate gives back what a flight has of its gate and does not use.
func (c *Client) leaveGate(f *flight) {
	if f.place != nil {
		c.gates.leave(f.place)
	}
	c.gates.giveBack(f.pass)
	f.place, f.pass, f.admitted = nil, gatePass{}, false
}

// hostEvent is what a judged attempt tells its gate.
func hostEvent(j judgement, status int) gateEvent {
	e := gateEvent{kind: gateMute}
	switch j.host {
	case hostUp: // a 429 too, where a rule says that it is about this key alone
		e.kind = gateUp
		return e
	case hostDown:
		e.kind = gateDown
	}
	if j.bindsHost(status) {
		e.wish, e.throttled = time.Now().Add(j.wait), status == http.StatusTooManyRequests
	}
	return e
}
