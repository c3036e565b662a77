package judge

import (
	"github.com/anishathalye/porcupine"

	"github.com/oncehttp/oncehttp"
)

// disk is what the journal says of an action.
type disk uint8

const (
	absent    disk = iota
	unexposed      // Pending, and nothing can have taken effect
	exposed        // Pending, and something may have
	confirmed
	refused           // Rejected
	refusedNow        // Rejected, and begun again by a new Do
	confirmedConflict // Confirmed, and there is evidence against it
	refusedConflict   // Rejected, and there is evidence against it
	disks
)

func diskOf(o *oncehttp.Outcome) disk {
	switch {
	case o.State == oncehttp.Confirmed && o.Reason == oncehttp.Conflict:
		return confirmedConflict
	case o.State == oncehttp.Confirmed:
		return confirmed
	case o.State == oncehttp.Rejected && o.Reason == oncehttp.Conflict:
		return refusedConflict
	case o.State == oncehttp.Rejected && o.Reason == oncehttp.Unauthorized:
		return refusedNow
	case o.State == oncehttp.Rejected:
		return refused
	case o.MayHaveExecuted:
		return exposed
	}
	return unexposed
}

// state is the journal's and the server's, of one action.
type state struct {
	disk disk
	// effects so far: 0, 1, or 2 for more.
	effects uint8
	// word: a person has spoken, and may be wrong.
	word bool
	// payload that the action is known to have; 0: none is.
	payload int
}

// model says how a state may follow another. What the client does on its own (it
// records, sends, hears, forgets nothing) may happen between any two events: the
// moves. An event is possible in a state if some moves from there lead to one in
// which it is true.
type model struct{ *view }

func (m model) porcupine() porcupine.Model {
	moves := map[state]uint16{}
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(s, input, _ any) []any {
			from := s.(state)
			at := state{disk: from.disk, effects: from.effects, word: from.word}
			reach, ok := moves[at]
			if !ok {
				reach = m.reach(at)
				moves[at] = reach
			}
			return m.step(from, reach, input.(event))
		},
	}
	return nondeterministic.ToModel()
}

// reach is the set of what the disk may say after any number of moves.
func (m model) reach(s state) uint16 {
	happened := s.effects > 0
	// A 2xx is believed, as is that something deleted is gone.
	mayConfirm := happened || s.word || m.Spoofed || m.gone()
	mayRefuse := !happened || m.Spoofed
	reach := uint16(1) << s.disk
	for before := uint16(0); before != reach; {
		before = reach
		move := func(from, to disk, allowed bool) {
			if allowed && reach&(1<<from) != 0 {
				reach |= 1 << to
			}
		}
		move(absent, unexposed, true)
		move(unexposed, exposed, true)
		move(exposed, unexposed, mayRefuse) // that attempt is known to have done nothing
		move(exposed, confirmed, mayConfirm)
		move(exposed, refused, mayRefuse)
		move(exposed, refusedNow, mayRefuse)
		move(refusedNow, unexposed, true)
		move(confirmed, confirmedConflict, true)
		move(refused, refusedConflict, s.word || m.Spoofed)
	}
	return reach
}

// step gives the states that may be after an event; none: it is not possible.
func (m model) step(s state, reach uint16, e event) []any {
	switch e.kind {
	case eventAbsent:
		if s.disk == absent {
			return []any{s}
		}
	case eventMismatch:
		if s.payload != 0 && s.payload == e.payload {
			return nil
		}
		if s.disk == absent {
			s.disk = unexposed
		}
		return []any{s}
	case eventTold:
		if reach&(1<<e.to) == 0 || s.payload != 0 && e.payload != 0 && s.payload != e.payload {
			return nil
		}
		s.disk = e.to
		if s.payload == 0 {
			s.payload = e.payload
		}
		return []any{s}
	case eventWord:
		var after []any
		if e.maybe {
			after = append(after, s)
		}
		s.disk, s.word = e.to, true
		return append(after, s)
	case eventEffect:
		if s.effects > 0 && m.once() {
			return nil
		}
		var after []any
		for d := unexposed; d < disks; d++ {
			if reach&(1<<d) != 0 && (m.Spoofed || s.word || d == exposed || d == confirmed || d == confirmedConflict) {
				after = append(after, state{disk: d, effects: min(s.effects+1, 2), word: s.word, payload: s.payload})
			}
		}
		return after
	}
	return nil
}

// once: the action can have one effect at most.
func (m model) once() bool {
	return !m.Spoofed && (m.Protection == Keyed && m.Honest || m.Protection == Unprotected)
}
