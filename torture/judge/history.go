package judge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/oncehttp/oncehttp"
)

const (
	// historyRule is the name of the rule that CheckHistory checks.
	historyRule = "there is an order of all that was told that the promises allow"
	// mostEvents and mostTime bound the check of one action.
	mostEvents = 60
	mostTime   = time.Second
	// mostLines of a bad history are told.
	mostLines = 40
)

// CheckHistory asks of each action whether what was told of it can have been
// true: whether each call, each word of a person and each effect can be given a
// moment between its beginning and its end so that, in the order of these
// moments, a journal and a server go from state to state as they may (see step).
// It is false in checked when an action had too much in it to be decided.
func CheckHistory(r *Run) (findings []Finding, checked bool) {
	checked = true
	for _, v := range views(r) {
		events := v.history()
		if len(events) > mostEvents {
			checked = false
			continue
		}
		switch v.possible(events) {
		case porcupine.Unknown:
			checked = false
		case porcupine.Illegal:
			findings = append(findings, Finding{Rule: historyRule, Count: lies, Action: v.Name, Text: tellHistory(v.shrink(events))})
		}
	}
	return findings, checked
}

func (v *view) possible(events []porcupine.Operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model{v}.porcupine(), events, mostTime)
}

// An event is what one operation was, with what it told.
type event struct {
	kind eventKind
	op   *Op     // told, absent, mismatched, resolved
	eff  *Effect // effect
	// to is what it told; of a person's word, what was said.
	to disk
	// payload it was called with; 0: unknown, or it says nothing.
	payload int
	// maybe: a word whose call did not end well, and may have been taken.
	maybe bool
}

type eventKind uint8

const (
	eventTold eventKind = iota
	eventAbsent
	eventMismatch
	eventWord
	eventEffect
)

// history lists what constrains the action. A call that ended without an answer,
// or never, may have done all that calls do, which the model lets happen anyway.
func (v *view) history() []porcupine.Operation {
	var events []porcupine.Operation
	var payloads []string
	add := func(e event, call, end int64) {
		if end == 0 {
			end = math.MaxInt64
		}
		events = append(events, porcupine.Operation{Input: e, Call: call, Return: end})
	}
	for _, o := range v.ops {
		e := event{op: o}
		if o.Payload != "" && o.Action == v.Name {
			if !slices.Contains(payloads, o.Payload) {
				payloads = append(payloads, o.Payload)
			}
			e.payload = 1 + slices.Index(payloads, o.Payload)
		}
		switch {
		case o.Kind == OpResolve:
			if errors.Is(o.Err, oncehttp.ErrInFlight) || errors.Is(o.Err, oncehttp.ErrNotFound) {
				continue
			}
			e.kind, e.to, e.maybe = eventWord, confirmed, o.Err != nil || o.Return == 0
			if o.Resolved.State == oncehttp.Rejected {
				e.to = refused
			}
			if e.maybe { // what became of it may show after a restart
				add(e, o.Call, 0)
				continue
			}
		case o.Return == 0:
			continue
		case errors.Is(o.Err, oncehttp.ErrMismatch):
			e.kind = eventMismatch
		case errors.Is(o.Err, oncehttp.ErrNotFound):
			e.kind = eventAbsent
		case o.Outcome == nil || o.Outcome.Reason == oncehttp.NotRecorded && !o.Outcome.MayHaveExecuted:
			continue
		default:
			e.kind, e.to = eventTold, diskOf(o.Outcome)
			if o.Outcome.Reworded {
				e.payload = 0
			}
		}
		add(e, o.Call, o.Return)
	}
	for _, x := range v.effects {
		add(event{kind: eventEffect, eff: x}, x.Call, x.Return)
	}
	return events
}

// shrink leaves out what was told as long as what is left is still impossible.
// What happened stays: without it the rest would be impossible for other
// reasons.
func (v *view) shrink(events []porcupine.Operation) []porcupine.Operation {
	for i := len(events) - 1; i >= 0; i-- {
		if k := events[i].Input.(event).kind; k == eventWord || k == eventEffect {
			continue
		}
		less := slices.Delete(slices.Clone(events), i, i+1)
		if v.possible(less) == porcupine.Illegal {
			events = less
		}
	}
	return events
}

// tellHistory is a line for each event, in the order of their beginnings.
func tellHistory(events []porcupine.Operation) string {
	slices.SortFunc(events, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	b.WriteString("no order of these is possible:")
	for i, e := range events {
		if i == mostLines {
			fmt.Fprintf(&b, "\n  and %d more", len(events)-i)
			break
		}
		end := fmt.Sprint(e.Return)
		if e.Return == math.MaxInt64 {
			end = "never"
		}
		fmt.Fprintf(&b, "\n  %d to %s: %s", e.Call, end, e.Input)
	}
	return b.String()
}

func (e event) String() string {
	switch e.kind {
	case eventEffect:
		return fmt.Sprintf("an effect under key %q", e.eff.Key)
	case eventWord:
		return fmt.Sprintf("a person says %s, error %v", e.op.Resolved.State, e.op.Err)
	case eventAbsent:
		return fmt.Sprintf("%s does not find it", e.op.Kind)
	case eventMismatch:
		return fmt.Sprintf("%s with payload %d is a mismatch", e.op.Kind, e.payload)
	}
	text := fmt.Sprintf("%s tells %v", e.op.Kind, e.op.Outcome)
	if e.payload != 0 {
		text += fmt.Sprintf(", with payload %d", e.payload)
	}
	return text
}
