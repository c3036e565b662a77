package mockserver

import (
	"net"
	"time"
)

// CrashPoint is where in the workflow the server dies.
type CrashPoint string

const (
	// NoCrash is the default.
	NoCrash CrashPoint = ""
	// CrashBefore the effect: the key is claimed, nothing has happened.
	CrashBefore CrashPoint = "before"
	// CrashBetween the effect and the record of it: it has happened, and the
	// restarted server does not know.
	CrashBetween CrashPoint = "between"
	// CrashAfter the record, before the answer.
	CrashAfter CrashPoint = "after"
)

// A life is the server process, from start to crash.
type life struct {
	ended chan struct{}
}

// over reports whether the process has died.
func (l *life) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// Crash kills the server and starts it again at once, on the same address: all
// connections close, executions under way end without an effect, and what was
// stored stays. A key whose execution was under way is indeterminate from then
// on: no repeat executes, each gets [Profile].Indeterminate until
// [Server.Reconcile]. Use [Server.RefuseDials] for a restart that takes time.
func (s *Server) Crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crash()
}

// crash needs the lock.
func (s *Server) crash() {
	if s.life.over() {
		return // closed: nothing is left to die
	}
	close(s.life.ended)
	s.life = &life{ended: make(chan struct{})}
	s.store.orphan()
	for conn := range s.open {
		_ = lowest(conn).Close() // nothing is sent: the dead do not say good-bye in TLS
	}
}

// Reconcile settles the indeterminate keys, as an operator's job would that
// looks the effects up: where one was made its answer is stored, else the key
// counts as new. It returns how many there were.
func (s *Server) Reconcile() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.reconcile(time.Now())
}

func (s *Server) track(conn net.Conn) (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[conn] = struct{}{}
	return s.life.over()
}

func (s *Server) untrack(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, conn)
}
