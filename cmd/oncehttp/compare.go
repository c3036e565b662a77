package main

import (
	"slices"
	"strings"

	"github.com/oncehttp/oncehttp"
)

// A kind is what an answer to a known key is, seen beside the key's first.
type kind uint8

const (
	untold  kind = iota // it cannot be told
	stored              // the first answer
	current             // another answer that names the same effect
	anew                // it names another effect
	empty               // a success that names no effect
	done                // an error that a rule of the contract takes for done
	running             // the first request is said to run still
	refused             // any other refusal
)

// evidence is what two requests with keys of their own show of the API's answers.
type evidence struct {
	contract oncehttp.Contract
	// names is the place where answers name their effects; empty: not known.
	names string
	// vary are the places where answers to two effects differ.
	vary []string
}

// evidenceOf compares the answers of two effects. At is where the user says that
// effects are named.
func evidenceOf(c oncehttp.Contract, one, two shot, at string) evidence {
	e := evidence{contract: c}
	if !one.success() || !two.success() {
		return e
	}
	e.vary = differing(c, one.answer, two.answer)
	e.names = naming(c, one.answer, two.answer)
	if at != "" {
		e.names = ""
		if a, b := one.leaves()[at], two.leaves()[at]; a != "" && b != "" && a != b {
			e.names = at
		}
	}
	return e
}

// name is what an answer calls its effect; empty if it does not say.
func (e evidence) name(s shot) string {
	if e.names == "" || !s.success() {
		return ""
	}
	return s.leaves()[e.names]
}

// kindOf compares an answer with the first under the same key, which was a
// success. Changed says where the two differ, of one effect.
func (e evidence) kindOf(first, again shot) (k kind, changed []string) {
	switch {
	case again.verdict == oncehttp.VerdictInProgress, again.verdict == oncehttp.VerdictUnknown && again.reason == oncehttp.InProgress:
		return running, nil
	case again.verdict == oncehttp.VerdictDone && first.verdict != oncehttp.VerdictDone:
		return done, nil
	case again.refusal():
		return refused, nil
	case !again.success():
		return untold, nil
	}
	was, is := e.name(first), e.name(again)
	changed = differing(e.contract, first.answer, again.answer)
	same := alike(e.contract, first.answer, again.answer)
	switch {
	case was != "" && is == "":
		return empty, nil
	case was != "" && was != is:
		return anew, nil
	case was != "" && same:
		return stored, nil
	case was != "":
		return current, changed
	case again.replayed && same:
		return stored, nil
	case again.replayed:
		return current, changed
	}
	return untold, nil
}

// telling are the changed places that other effects' answers have in common, so
// that something has happened to this one meanwhile.
func (e evidence) telling(changed []string) []string {
	return slices.DeleteFunc(slices.Clone(changed), func(place string) bool { return slices.Contains(e.vary, place) })
}

// seen words a kind.
func (k kind) seen(changed []string) string {
	switch k {
	case stored:
		return "the first answer again"
	case current:
		return "the same effect, told otherwise (" + few(changed) + ")"
	case anew:
		return "another effect"
	case empty:
		return "a success that names no effect"
	case done:
		return "an error that means done"
	case running:
		return "in progress"
	case refused:
		return "a refusal"
	}
	return "an answer that does not tell"
}

// few lists some places.
func few(places []string) string {
	const most = 3
	if len(places) > most {
		return strings.Join(places[:most], ", ") + " ..."
	}
	return strings.Join(places, ", ")
}
