package mockserver

import "time"

// An id is what a key is unique under.
type id struct {
	tenant, operation, scope, key string
}

// A record is what the server knows of a key. It survives [Server.Crash].
//
//	running -> stored          the execution ended and its answer is kept
//	running -> (no record)     it ended without an effect and is released; what it
//	                           was to overwrite is the record again
//	running -> fenced          its lease ran out, a repeat took the key over
//	running -> indeterminate   the server crashed: nobody knows how far it got
//	indeterminate -> stored or (no record)   by Reconcile
type record struct {
	print fingerprint
	// first is when the key was first seen, or told to be; a take-over keeps it.
	first time.Time
	// until is when the key was told to expire; zero: when the ttl ends.
	until time.Time
	// lease is when a repeat may take a running record over; zero: never.
	lease time.Time
	state recordState
	// answer and since when it is stored; of an indeterminate record, the answer
	// that an effect was made with, which the server itself does not know.
	answer *Answer
	stored time.Time
	// effect is the number in the ledger of the effect that it tells of, from 1; 0:
	// none.
	effect int
	// over is the stored record that a running one is to overwrite.
	over *record
	// settled is closed when the record stops running.
	settled chan struct{}
}

type recordState uint8

const (
	running recordState = iota
	stored
	fenced
	indeterminate
)

type verdict uint8

const (
	granted verdict = iota
	replay
	inFlight
	mismatch
	unknown
	gone
	full
)

// A store holds the records. Its caller holds the server's lock, which makes a
// claim atomic.
type store struct {
	records map[id]*record
	max     int
	ttl     time.Duration // negative: for ever
	lease   time.Duration // 0: as long as the work
	// fromStored counts ttl from the storing, not from the first request.
	fromStored bool
	// keepExpired remembers that a key has expired.
	keepExpired bool
	// overwrites lets another payload take the key of a stored record.
	overwrites bool
}

// late reports whether a key has expired by what is told of it.
func (s *store) late(t told, now time.Time) bool {
	return !t.until.IsZero() && !now.Before(t.until) ||
		!t.first.IsZero() && s.ttl >= 0 && now.Sub(t.first) >= s.ttl
}

// expired is never true of a running record: a live claim is not reaped.
func (s *store) expired(rec *record, now time.Time) bool {
	from := rec.first
	if s.fromStored && rec.state == stored {
		from = rec.stored
	}
	if !rec.until.IsZero() {
		return rec.state != running && !now.Before(rec.until)
	}
	return s.ttl >= 0 && rec.state != running && now.Sub(from) >= s.ttl
}

// claim looks a key up and takes it if it is free. Another payload is told
// before the flight: a client with the wrong payload would else be asked to
// wait for an answer that is never its own.
func (s *store) claim(k id, print fingerprint, t told, now time.Time) (*record, verdict) {
	first := now
	if !t.first.IsZero() {
		first = t.first
	}
	var over *record
	if rec := s.records[k]; rec != nil {
		switch {
		case s.expired(rec, now) && s.keepExpired:
			if rec.state == stored {
				rec.answer = nil // all that is needed is that it was there
			}
			return rec, gone
		case s.expired(rec, now):
			delete(s.records, k)
		case rec.print != print && s.overwrites && rec.state == stored:
			over = rec
		case rec.print != print && !s.overwrites:
			return rec, mismatch
		case rec.state == indeterminate:
			return rec, unknown
		case rec.state == stored:
			return rec, replay
		case rec.lease.IsZero() || now.Before(rec.lease):
			return rec, inFlight
		default:
			rec.state = fenced
			close(rec.settled)
			first, over = rec.first, rec.over
			delete(s.records, k)
		}
	}
	if over == nil && len(s.records) >= s.max && s.reap(now) == 0 {
		return nil, full
	}
	rec := &record{print: print, first: first, until: t.until, over: over, settled: make(chan struct{})}
	if s.lease > 0 {
		rec.lease = now.Add(s.lease)
	}
	s.records[k] = rec
	return rec, granted
}

// keep stores the answer of a running record. One that was forgotten meanwhile
// is not the key's own any more, and what it learns is lost.
func (rec *record) keep(a Answer, now time.Time) {
	rec.state, rec.answer, rec.stored, rec.over = stored, &a, now, nil
	close(rec.settled)
}

// release gives a running record up, so that the key counts as new.
func (s *store) release(k id, rec *record) {
	if rec.state != running {
		return
	}
	rec.state = fenced
	close(rec.settled)
	if s.records[k] == rec {
		s.drop(k, rec)
	}
}

// drop removes a record, or puts back what it was to overwrite.
func (s *store) drop(k id, rec *record) {
	if rec.over != nil {
		s.records[k] = rec.over
		return
	}
	delete(s.records, k)
}

// latest is the record that was last stored under a tenant's key.
func (s *store) latest(tenant, key string, now time.Time) (found *record) {
	for k, rec := range s.records {
		if k.tenant != tenant || k.key != key || rec.state != stored || s.expired(rec, now) {
			continue
		}
		if found == nil || rec.stored.After(found.stored) {
			found = rec
		}
	}
	return found
}

// orphan is what a crash leaves of every running record.
func (s *store) orphan() {
	for _, rec := range s.records {
		if rec.state == running {
			rec.state = indeterminate
			close(rec.settled)
		}
	}
}

func (s *store) reconcile(now time.Time) int {
	n := 0
	for k, rec := range s.records {
		if rec.state != indeterminate {
			continue
		}
		n++
		if rec.answer == nil {
			s.drop(k, rec)
			continue
		}
		rec.state, rec.stored, rec.over = stored, now, nil
	}
	return n
}

func (s *store) reap(now time.Time) int {
	n := 0
	for k, rec := range s.records {
		if s.expired(rec, now) && !s.keepExpired {
			delete(s.records, k)
			n++
		}
	}
	return n
}

func (s *store) forget(key string) {
	for k := range s.records {
		if k.key == key {
			delete(s.records, k)
		}
	}
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
	s.store.forget(key)
}
