package mockserver

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// A Request is what the ledger keeps of one request received. The fields from
// BodySHA256 on are filled in as the request goes its way.
type Request struct {
	// N numbers the requests from 1 in the order in which they were received.
	N    int
	Time time.Time
	// Conn numbers the connections from 1; 0 if the server was not started by
	// [Start] or [Memory].
	Conn   int
	Proto  string
	Method string
	Host   string
	// Path with the query, as it was sent.
	Path string
	// Header as it was received, credentials included.
	Header http.Header
	// ContentLength as declared; -1 if it was not.
	ContentLength int64
	// Key without its quotes, if the profile has them; several are joined by
	// commas. Empty: none.
	Key string
	// Tenant the request belongs to.
	Tenant string
	// Fault that was applied.
	Fault Fault

	// BodySHA256 in hexadecimal, and BodyBytes, of what was read of the body.
	BodySHA256 string
	BodyBytes  int64
	// Reached: the request got to the workflow.
	Reached bool
	// Effect: this request made an effect.
	Effect bool
	// Replayed: it was answered with what an earlier one stored.
	Replayed bool
	// Status sent, in whole or in part; 0 if none was.
	Status int
	// Done: the server has finished with it.
	Done bool
}

// An Effect is one execution that took effect.
type Effect struct {
	Time time.Time
	// Request is the N of the request that made it.
	Request int
	Tenant  string
	// Key of its request, honoured or not; empty if there was none.
	Key string
	// What as [Config].What says.
	What string
	// ID is what the effect is called: the text at /id of its answer, or else
	// effect-000001 with the number of its request.
	ID string
	// Overwritten by a later one under its key, see [MismatchOverwrites].
	Overwritten bool
	// Planted is the value that it can be found by, see [Profile].Plant.
	Planted string
	// Answer that told of it.
	Answer Answer
	// asked is what its request says at the placeholders of the finds.
	asked map[string]string
}

// Requests returns what was received so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.requests))
	for i, r := range s.requests {
		out[i] = *r
		out[i].Header = r.Header.Clone()
		out[i].Fault = r.Fault.clone()
	}
	return out
}

// Effects counts the effects under a key, of all tenants.
func (s *Server) Effects(key string) int {
	return s.countEffects(func(e Effect) bool { return e.Key == key })
}

// EffectsOf counts the effects that [Config].What names so.
func (s *Server) EffectsOf(what string) int {
	return s.countEffects(func(e Effect) bool { return e.What == what })
}

// EffectsTotal counts all effects.
func (s *Server) EffectsTotal() int {
	return s.countEffects(func(Effect) bool { return true })
}

func (s *Server) countEffects(is func(Effect) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.effects {
		if is(e) {
			n++
		}
	}
	return n
}

// EffectLog returns the effects so far, in the order in which they happened.
func (s *Server) EffectLog() []Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.effects)
	for i := range out {
		out[i].Answer = out[i].Answer.clone()
	}
	return out
}

// WaitIdle waits until the server works on no request: all that were received
// are answered, lost, or abandoned by their clients, and their effects have
// happened. A request that has not been received yet is none of them. It returns
// the context's error if that comes first.
func (s *Server) WaitIdle(ctx context.Context) error {
	for {
		s.mu.Lock()
		if s.active == 0 {
			s.mu.Unlock()
			return nil
		}
		if s.idle == nil {
			s.idle = make(chan struct{})
		}
		idle := s.idle
		s.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// receive enters a request in the ledger and takes its fault, in one step, so
// that scripts and ledger agree on the order. False if the process that read it
// has died.
func (s *Server) receive(x *exchange, tenant string) bool {
	r := x.r
	s.mu.Lock()
	defer s.mu.Unlock()
	x.life = s.life
	number := 0
	if c := connOf(r); c != nil {
		x.life, number = c.life, c.number
	}
	if x.life.over() {
		return false
	}
	x.fault = s.scripts.next(x.key, r.URL.Path)
	x.entry = &Request{
		N: len(s.requests) + 1, Time: time.Now(), Conn: number, Proto: r.Proto, Method: r.Method,
		Host: r.Host, Path: r.URL.RequestURI(), Header: r.Header.Clone(), ContentLength: r.ContentLength,
		Key: x.key, Tenant: tenant, Fault: x.fault.clone(),
	}
	x.behind = make(chan struct{})
	if x.fault.Behind > 0 {
		s.behind = append(s.behind, &behind{x.fault.Behind, x.behind})
	} else {
		close(x.behind)
	}
	s.requests = append(s.requests, x.entry)
	s.active++
	return true
}

// behind is a request that waits for n more to be done.
type behind struct {
	n    int
	done chan struct{}
}

// note changes a ledger entry.
func (s *Server) note(q *Request, change func(*Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(q)
}

func (s *Server) finish(q *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.Done = true
	s.active--
	s.behind = slices.DeleteFunc(s.behind, func(b *behind) bool {
		b.n--
		if b.n == 0 {
			close(b.done)
		}
		return b.n == 0
	})
	if s.active == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}
