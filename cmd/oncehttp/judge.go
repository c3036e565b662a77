package main

import (
	"fmt"
	"slices"

	"github.com/oncehttp/oncehttp"
)

// A verdict on one promise of the contract.
type verdict string

const (
	agrees      verdict = "agrees"
	contradicts verdict = "contradicts"
	notDeclared verdict = "not declared"
	cannotTell  verdict = "cannot tell"
)

// A finding is a line of the report. The functions below are pure: what is
// declared and what was seen decide. Nothing contradicts on weak evidence.
type finding struct {
	Check    string  `json:"check"`
	Declared string  `json:"declared"`
	Seen     string  `json:"seen"`
	Verdict  verdict `json:"verdict"`
	// Note says what follows from it, or why it cannot be told.
	Note string `json:"note,omitempty"`
}

// agree is agrees or contradicts.
func agree(is bool) verdict {
	if is {
		return agrees
	}
	return contradicts
}

// judgeRepeat is of the same request under the same key, after the first ended.
func judgeRepeat(e evidence, first, again shot) finding {
	repeat := e.contract.Stored.Repeat
	k, changed := e.kindOf(first, again)
	f := finding{
		Check:    "same key again",
		Declared: []string{"the first answer again", "its present state", "a success without the first answer", "an error that means done"}[repeat],
		Seen:     fmt.Sprintf("%d, %s", again.status, k.seen(changed)),
	}
	switch {
	case k == untold:
		f.Verdict = cannotTell
		if again.success() {
			f.Note = unnamed
		}
	case k == running:
		f.Verdict, f.Note = cannotTell, "the first request still ran; try a longer -pause"
	case k == anew:
		f.Verdict, f.Note = contradicts, "the key was not honoured: a client that repeats acts twice"
	case k == current && repeat == oncehttp.RepeatStored:
		f.Verdict, f.Note = contradicts, "Stored.Repeat may be RepeatCurrent"
		if len(e.telling(changed)) == 0 {
			f.Verdict, f.Note = cannotTell, "what differs is of any two answers"
		}
	default:
		f.Verdict = agree(slices.Contains(map[oncehttp.RepeatAnswer][]kind{
			oncehttp.RepeatStored: {stored}, oncehttp.RepeatCurrent: {stored, current},
			oncehttp.RepeatEmpty: {empty}, oncehttp.RepeatError: {done},
		}[repeat], k))
	}
	return f
}

const unnamed = "no place is known where answers name their effects; say it with -id"

// judgeMarks is of the marks of a replayed answer and of an ignored key.
func judgeMarks(e evidence, first, again shot) []finding {
	found := []finding{
		{Check: "replay mark, first answer", Declared: "absent", Seen: presence(first.replayed), Verdict: agree(!first.replayed)},
		{Check: "replay mark, repeat", Declared: "present", Seen: presence(again.replayed), Verdict: agree(again.replayed)},
	}
	k, _ := e.kindOf(first, again)
	if !again.replayed && !slices.Contains([]kind{stored, current, empty, done}, k) {
		found[1].Verdict, found[1].Note = cannotTell, "the answer is not known to be a repeat's"
	}
	if isZero(e.contract.Replay) {
		f := finding{Check: "replay mark, repeat", Declared: "none", Seen: "no header that the first had not", Verdict: notDeclared}
		if added := headersAdded(first, again); len(added) > 0 {
			f.Seen, f.Note = "headers that the first had not: "+few(added), "one of them may be a mark of a replayed answer"
		}
		found = []finding{f}
	}
	if first.ignored || again.ignored {
		found = append(found, finding{
			Check: "mark of an ignored key", Declared: "only where the key is ignored", Seen: "present on an answer to a keyed request",
			Verdict: contradicts, Note: "the API says that it did not honour the key",
		})
	}
	return found
}

func presence(there bool) string {
	if there {
		return "present"
	}
	return "absent"
}

func isZero(m oncehttp.Marker) bool {
	return len(m.Headers) == 0 && len(m.At) == 0 && len(m.Status) == 0
}

// headersAdded are the names of the headers that only the repeat has, sorted.
func headersAdded(first, again shot) []string {
	var names []string
	for name := range again.header {
		if _, ok := first.header[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// judgeTogether is of two equal requests sent at once under a fresh key.
func judgeTogether(e evidence, a, b shot) []finding {
	c := e.contract
	effects := finding{Check: "same key twice at once", Declared: "one effect", Seen: fmt.Sprintf("%d and %d", a.status, b.status), Verdict: cannotTell}
	ran := slices.ContainsFunc(c.Answers, func(r oncehttp.Answer) bool { return r.Verdict == oncehttp.VerdictInProgress })
	other := finding{Check: "answer while the first runs", Declared: "in progress, by a rule", Verdict: cannotTell}
	if !ran {
		other.Declared, other.Verdict = "no rule", notDeclared
	}
	if !a.success() && b.success() {
		a, b = b, a
	}
	if !a.success() {
		other.Seen = "no success to go with it"
		return []finding{effects, other}
	}
	k, _ := e.kindOf(a, b)
	switch k {
	case anew:
		effects.Verdict, effects.Note = contradicts, "both took effect: two clients at once, or a time-out and a repeat, act twice"
	case untold:
		if b.success() {
			effects.Note = unnamed
		}
	case empty:
		if c.Stored.Repeat == oncehttp.RepeatEmpty {
			effects.Verdict = agrees
		}
	default:
		effects.Verdict = agrees
	}
	switch {
	case b.success() || k == done:
		other.Seen = fmt.Sprintf("%d: it came when the first had ended, or waited for that", b.status)
	case k == running:
		other.Seen = fmt.Sprintf("%d, in progress", b.status)
		if ran {
			other.Verdict = agree(b.verdict == oncehttp.VerdictInProgress)
			if other.Verdict == contradicts {
				other.Note = "no rule of the contract knows it; oncehttp takes it for in progress by its code"
			}
		} else {
			other.Note = "oncehttp takes it for in progress all the same"
		}
	case k == refused:
		other.Seen = fmt.Sprintf("%d, a refusal", b.status)
		if ran {
			other.Verdict = contradicts
		}
		other.Note = "oncehttp would take it for a definite no to this attempt; add a rule with VerdictInProgress"
	default:
		other.Seen = fmt.Sprintf("%d", b.status)
	}
	return []finding{effects, other}
}

// judgeOtherBody is of another body under the key of the first. Repeat is what a
// repeat with the same body got.
func judgeOtherBody(e evidence, first, repeat, other shot) finding {
	compared := e.contract.Compared
	f := finding{
		Check:    "same key, other body",
		Declared: []string{"not known", "refused", "the first answer again", "carried out as well", "carried out in place of the first", "a success, and nothing done"}[compared.Mismatch],
	}
	known := slices.ContainsFunc(e.contract.Answers, func(r oncehttp.Answer) bool { return r.Verdict == oncehttp.VerdictMismatch })
	byRule := known && compared.Mismatch == oncehttp.MismatchUnknown
	if byRule {
		f.Declared = "no more than a rule for its refusal"
	}
	k, changed := e.kindOf(first, other)
	repeated, _ := e.kindOf(first, repeat)
	f.Seen = fmt.Sprintf("%d, %s", other.status, k.seen(changed))
	switch {
	case other.verdict == oncehttp.VerdictMismatch:
		k, f.Seen = refused, fmt.Sprintf("%d, refused as a mismatch", other.status)
	case k == anew:
		f.Seen = fmt.Sprintf("%d, carried out: another effect", other.status)
	case (k == stored || k == current) && (other.replayed || repeated == k || k == stored):
		k, f.Seen = stored, fmt.Sprintf("%d, the first effect's answer", other.status)
	}
	parts := compared.Parts
	unsure := len(compared.Except) > 0 || parts != 0 && parts&(oncehttp.PartBody|oncehttp.PartBytes) == 0
	switch {
	case k == untold || k == running:
		f.Verdict = cannotTell
		if other.success() {
			f.Note = unnamed
		}
	case byRule && other.verdict == oncehttp.VerdictMismatch:
		f.Verdict = agrees
	case compared.Mismatch == oncehttp.MismatchUnknown:
		f.Verdict = notDeclared
	case compared.Mismatch == oncehttp.MismatchRejects && k == refused:
		f.Verdict = agrees
		if known && other.verdict != oncehttp.VerdictMismatch {
			f.Verdict, f.Note = contradicts, "no rule of the contract knows this refusal for a mismatch"
		}
	case compared.Mismatch == oncehttp.MismatchRejects && unsure && k != anew:
		f.Verdict, f.Note = cannotTell, "what differs may not be compared"
	case compared.Mismatch == oncehttp.MismatchReplays && k == repeated && k != anew:
		f.Verdict = agrees
	default:
		f.Verdict = agree(slices.Contains(map[oncehttp.MismatchEffect][]kind{
			oncehttp.MismatchReplays: {stored}, oncehttp.MismatchExecutes: {anew},
			oncehttp.MismatchOverwrites: {anew, current}, oncehttp.MismatchDrops: {empty},
		}[compared.Mismatch], k))
	}
	return f
}

// judgeRefusal is of a good request under the key of one that was refused.
func judgeRefusal(c oncehttp.Contract, bad, good shot) finding {
	excepted := slices.Contains(c.Stored.Except, bad.status)
	declared := c.Stored.Refusals && !excepted
	f := finding{Check: "after a refusal", Declared: "no promise that refusals are kept", Verdict: cannotTell}
	switch {
	case c.Stored.Refusals && !bad.refusal():
		f.Declared = "refusals are kept under the key"
	case declared:
		f.Declared = fmt.Sprintf("a %d is kept under the key", bad.status)
	case excepted:
		f.Declared = fmt.Sprintf("a %d is not kept under the key", bad.status)
	}
	f.Seen = fmt.Sprintf("%d, then %d for the good body", bad.status, good.status)
	overwrites := c.Compared.Mismatch == oncehttp.MismatchExecutes || c.Compared.Mismatch == oncehttp.MismatchOverwrites
	same := good.status == bad.status && (good.replayed || len(bad.body) > 0 && alike(c, bad.answer, good.answer))
	kept := good.verdict == oncehttp.VerdictMismatch || good.verdict == oncehttp.VerdictKeySpent || same
	switch {
	case !bad.refusal():
		f.Note = "-bad-body was not refused"
	case kept && (declared || excepted):
		f.Seen += ": kept"
		f.Verdict = agree(declared)
	case kept:
		f.Seen += ": kept"
		f.Verdict, f.Note = notDeclared, "Stored.Refusals may be set"
	case good.success() && overwrites:
		f.Note = "this API carries out another body under a known key anyhow"
	case good.success():
		f.Seen += ": not kept"
		f.Verdict = agree(!declared)
	}
	return f
}

// judgeKey is of a key that breaks a rule, or of none.
func judgeKey(check, declared string, s shot) finding {
	f := finding{Check: check, Declared: declared, Verdict: cannotTell}
	switch {
	case s.success():
		f.Seen, f.Verdict = fmt.Sprintf("%d, accepted", s.status), contradicts
	case s.refusal():
		f.Seen, f.Verdict = fmt.Sprintf("%d, refused", s.status), agrees
	default:
		f.Seen = fmt.Sprintf("%d", s.status)
	}
	return f
}

// judgeKeyless is of a request without a key.
func judgeKeyless(need oncehttp.KeyNeed, s shot) finding {
	if need == oncehttp.NeedAll {
		return judgeKey("no key", "refused", s)
	}
	f := judgeKey("no key", "accepted", s)
	switch {
	case f.Verdict == cannotTell:
	case need == oncehttp.NeedSome:
		f.Declared, f.Verdict = "some operations refuse", notDeclared
	case s.success():
		f.Verdict = agrees
	default:
		f.Verdict, f.Note = notDeclared, "Key.Need may be NeedAll"
	}
	return f
}

// judgeOrigin is of the mark that only the API's own answers carry.
func judgeOrigin(c oncehttp.Contract, shots []shot) finding {
	f := finding{Check: "mark of the API's own", Declared: "on every answer", Verdict: agrees}
	if isZero(c.Origin) {
		f.Declared, f.Seen, f.Verdict = "none", "not looked for", notDeclared
		return f
	}
	with, successes, others := 0, 0, 0
	for _, s := range shots {
		switch {
		case s.origin:
			with++
		case s.success():
			successes++
		case s.status/100 == 2 || s.status/100 == 4:
			others++
		}
	}
	f.Seen = fmt.Sprintf("on %d of %d answers", with, with+successes+others)
	switch {
	case with+successes+others == 0:
		f.Verdict = cannotTell
	case successes > 0:
		f.Verdict, f.Note = contradicts, "oncehttp takes a success without it for something in between, and asks again"
	case others > 0:
		f.Verdict, f.Note = cannotTell, "the refusals without it may be of something in between"
	}
	return f
}
