package oncehttp

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Gate is what a client does about a host that fails. After failures in a row
// that speak of the host (no connection, 429, 502, 503 or 504; not 500), or at
// once when a 429 or 503 names a time, all requests to it wait: one at a time
// probes it after full jitter (Retry.Base and Cap) and never sooner than the
// host asked; each success then lets one more go. Who cannot go within its
// budget is Pending, [GateClosed], with RetryAt. Hosts are told apart by
// contract, scheme, name and port. A request that is no intent is always tried
// once; only its retries wait.
type Gate struct {
	// Off lets every request go as if it were alone.
	Off bool
	// Failures in a row that shut a host's gate. Default 3.
	Failures int
}

const (
	// maxParked is how many intents of the journal wait in memory, some 20 KiB
	// each; the others are told when to come again.
	maxParked = 1000
	maxGates  = 1000
)

// gates are the gates of a client's hosts.
type gates struct {
	policy gatePolicy
	tell   func(Event)
	// troubled counts the gates that a success would change.
	troubled atomic.Int64

	mu     sync.Mutex // guards what follows, and every hostGate
	hosts  map[gateKey]*hostGate
	lastID uint64
}

// gateKey names a gate. An empty one names none: who asks there may go.
type gateKey struct{ contract, scheme, host string }

// hostGate is the shell of one gate.
type hostGate struct {
	key      gateKey
	gate     gate
	troubled bool
	waiting  map[uint64]*gateWait
	// timer wakes the gate at wake; it is stopped when nobody waits.
	timer *time.Timer
	wake  time.Time
	// recalled is the latest wish of a record that was told to the gate.
	recalled time.Time
}

// gateWait is a place in a gate's queue.
type gateWait struct {
	id     uint64
	host   *hostGate
	parked bool
	until  time.Time
	next   time.Time // the earliest time at which somebody goes, when it asked
	answer chan gateAnswer
}

// gateAnswer is a pass, or the time to ask again.
type gateAnswer struct {
	pass  gatePass
	again time.Time
}

// gatePass lets one attempt go. It is given back once: with what the attempt
// said of the host, or unused.
type gatePass struct {
	host  *hostGate
	round uint64
}

func newGates(cfg Config, tell func(Event)) *gates {
	return &gates{tell: tell, hosts: map[gateKey]*hostGate{}, policy: gatePolicy{after: cfg.Gate.Failures,
		base: cfg.Retry.Base, limit: cfg.Retry.Cap, patience: cfg.Retry.AttemptTimeout, parked: maxParked}}
}

// host finds or makes a gate. Nil: there are too many in use, and this host is
// done without. The lock is held.
func (s *gates) host(key gateKey, now time.Time) *hostGate {
	if h, ok := s.hosts[key]; ok {
		return h
	}
	if len(s.hosts) >= maxGates {
		for key, h := range s.hosts {
			if h.gate.idle(s.policy, now) {
				if h.troubled {
					s.troubled.Add(-1)
				}
				delete(s.hosts, key)
			}
		}
	}
	if key == (gateKey{}) || len(s.hosts) >= maxGates {
		return nil
	}
	h := &hostGate{key: key, waiting: map[uint64]*gateWait{}}
	s.hosts[key] = h
	return h
}

// at is the pass of one who goes without asking.
func (s *gates) at(key gateKey) gatePass {
	s.mu.Lock()
	defer s.mu.Unlock()
	return gatePass{host: s.host(key, time.Now())}
}

// ask is answered by a pass at once, or by a place in the queue. until bounds
// the patience; waited is the end of the asker's own wait.
func (s *gates) ask(key gateKey, parked bool, until, waited time.Time) (gatePass, *gateWait) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(key, now)
	if h == nil || !h.gate.shut {
		return gatePass{host: h}, nil
	}
	s.lastID++
	w := &gateWait{id: s.lastID, host: h, parked: parked, until: until, next: h.gate.next, answer: make(chan gateAnswer, 1)}
	h.waiting[w.id] = w
	e := gateEvent{kind: gateAsk, id: w.id, parked: parked, until: now.Add(time.Until(until))}
	if !waited.IsZero() {
		e.waited = now.Add(time.Until(waited))
	}
	s.step(h, e, now)
	return gatePass{}, w
}

// leave gives up a place; if the answer has come meanwhile, it is given back.
// It returns when to ask again.
func (s *gates) leave(w *gateWait) time.Time {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(w.host.waiting, w.id)
	e := gateEvent{kind: gateLeave, id: w.id}
	select {
	case a := <-w.answer:
		if a.pass.host == nil {
			return a.again
		}
		e.round = a.pass.round
	default:
	}
	s.step(w.host, e, now)
	return wallTime(w.host.gate.again(s.policy, now, rand.Float64()))
}

// giveBack ends a pass that nobody used.
func (s *gates) giveBack(p gatePass) {
	if p.host == nil || p.round == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step(p.host, gateEvent{kind: gateLeave, round: p.round}, time.Now())
}

// shutSince reports whether the host has asked to be left alone since the pass
// was given.
func (s *gates) shutSince(p gatePass) bool {
	if p.host == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.host.gate.wish.After(time.Now())
}

// heard tells the gate what an attempt said of its host.
func (s *gates) heard(p gatePass, e gateEvent) {
	if p.host == nil {
		return
	}
	e.round = p.round
	d, next := s.hear(p.host, e)
	switch {
	case d.closed:
		s.tell(Event{Kind: EventGateClosed, Host: p.host.key.host, Delay: max(0, time.Until(next))})
	case d.opened:
		s.tell(Event{Kind: EventGateOpened, Host: p.host.key.host})
	}
}

func (s *gates) hear(h *hostGate, e gateEvent) (gateDecision, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.step(h, e, time.Now())
	return d, h.gate.next
}

// recall takes up a wish that a record has, once. A clock that was set back since
// the record was seen makes the wait no longer than it was then.
func (s *gates) recall(key gateKey, seen, wish time.Time) {
	wait := min(time.Until(wish), wish.Sub(seen))
	if wait > 0 && s.news(key, wish) {
		s.heard(s.at(key), gateEvent{kind: gateDown, wish: time.Now().Add(wait)})
	}
}

// news reports whether a wish is later than those recalled before.
func (s *gates) news(key gateKey, wish time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(key, time.Now())
	if h == nil || !wish.After(h.recalled) {
		return false
	}
	h.recalled = wish
	return true
}

// step tells the gate, and those whom it answers. The lock is held.
func (s *gates) step(h *hostGate, e gateEvent, now time.Time) gateDecision {
	d := h.gate.step(e, s.policy, now, rand.Float64())
	for _, id := range d.pass {
		h.waiting[id].answer <- gateAnswer{pass: gatePass{host: h, round: d.round}}
		delete(h.waiting, id)
	}
	for _, t := range d.turned {
		h.waiting[t.id].answer <- gateAnswer{again: wallTime(t.at)}
		delete(h.waiting, t.id)
	}
	if troubled := h.gate.shut || h.gate.fails > 0; troubled != h.troubled && s.hosts[h.key] == h {
		h.troubled = troubled
		s.troubled.Add(map[bool]int64{true: 1, false: -1}[troubled])
	}
	switch {
	case d.wake.Equal(h.wake):
	case d.wake.IsZero():
		h.timer.Stop()
	case h.timer == nil:
		h.timer = time.AfterFunc(d.wake.Sub(now), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			h.wake = time.Time{}
			s.step(h, gateEvent{kind: gateWoke}, time.Now())
		})
	default:
		h.timer.Reset(d.wake.Sub(now))
	}
	h.wake = d.wake
	return d
}

func wallTime(t time.Time) time.Time { return t.Round(0) }
