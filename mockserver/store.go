package mockserver

import "time"

// An id is what a key is unique under.
type id struct {
	tenant, operation, key string
}

// A record is what the server knows of a key: a claim while answer is nil, then
// a stored answer.
type record struct {
	print fingerprint
	first time.Time
	// answer is set once and never changed.
	answer *Answer
}

type verdict uint8

const (
	granted verdict = iota
	replay
	inFlight
	mismatch
	full
)

// A store holds the records. Its caller holds the server's lock, which makes a
// claim atomic.
type store struct {
	records map[id]*record
	max     int
	ttl     time.Duration // negative: for ever
}

// expired: a record lives from the key's first request, and a claim as long as
// its work.
func (s *store) expired(rec *record, now time.Time) bool {
	return s.ttl >= 0 && rec.answer != nil && now.Sub(rec.first) >= s.ttl
}

// claim looks a key up and takes it if it is free. Another payload is told
// before the flight: a client with the wrong payload would else be asked to
// wait for an answer that is never its own.
func (s *store) claim(k id, print fingerprint, now time.Time) (*record, verdict) {
	rec := s.records[k]
	if rec != nil && s.expired(rec, now) {
		delete(s.records, k)
		rec = nil
	}
	switch {
	case rec == nil:
	case rec.print != print:
		return rec, mismatch
	case rec.answer == nil:
		return rec, inFlight
	default:
		return rec, replay
	}
	if len(s.records) >= s.max && s.reap(now) == 0 {
		return nil, full
	}
	rec = &record{print: print, first: now}
	s.records[k] = rec
	return rec, granted
}

// keep stores the answer of a claim. A claim that is no longer the key's own
// (the server was told to forget it) stores nothing.
func (s *store) keep(k id, rec *record, a Answer) {
	if s.records[k] == rec {
		rec.answer = &a
	}
}

// release gives a claim up, so that the key counts as new.
func (s *store) release(k id, rec *record) {
	if s.records[k] == rec {
		delete(s.records, k)
	}
}

func (s *store) reap(now time.Time) int {
	n := 0
	for k, rec := range s.records {
		if s.expired(rec, now) {
			delete(s.records, k)
			n++
		}
	}
	return n
}

// Reap removes the records older than [Config].TTL and returns how many. It is
// never needed for what clients see: an expired record counts as absent.
func (s *Server) Reap() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.reap(time.Now())
}

// Forget drops what is known of a key, of all tenants and operations, as a
// server does that keeps its promise less long than it said. Work under way
// goes on, and its answer is not stored.
func (s *Server) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.store.records {
		if k.key == key {
			delete(s.store.records, k)
		}
	}
}
