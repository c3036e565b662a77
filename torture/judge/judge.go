package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/tally"
)

// Promises are what a client keeps, by their numbers.
var Promises = [...]string{
	1:  "nothing is sent before its key and its exact request are recorded",
	2:  "every attempt carries the same key and the same payload",
	3:  "Confirmed is said only on positive evidence",
	4:  "Rejected is said only when no attempt can have taken effect",
	5:  "everything else is Pending, with a reason, and says whether it may have taken effect or taken effect twice",
	6:  "what is told is on disk",
	7:  "what is settled does not change by itself",
	8:  "what may have taken effect is sent again only while the key is sure to be remembered",
	9:  "without a contract, what may have taken effect is sent again only by the same call and under an idempotent method",
	10: "nothing is sent sooner than the server asked",
	11: "no text that is told holds a credential, a key or a body",
	12: "what is unresolved is kept and listed",
	13: "an error that is not a PendingError means that the call sent nothing",
	14: "attempts on record are never fewer than requests received",
	15: "one driver sends an action at a time",
	16: "an action has one effect, as far as its contract goes",
	17: "a lookup is a question: it carries no key, and is no attempt",
}

// A Rule is one thing that always holds. It looks at one action, and at no more
// of the run than that needs.
type Rule struct {
	// Name is the rule, as a short sentence.
	Name string
	// Promise is the index in Promises.
	Promise int
	// Count is where a breach counts: a name of package tally.
	Count string
	check func(v *view, bad report)
}

// report tells of one breach: what was seen.
type report func(format string, args ...any)

// Rules are all of them.
var Rules = slices.Concat(effectRules, sendRules, windowRules, contractRules, orderRules, toldRules)

// Check applies every rule to every action. A correct client gives no finding,
// whatever the plan, the server and the network did.
func Check(r *Run) []Finding {
	var found []Finding
	for _, v := range views(r) {
		for i := range Rules {
			rule := &Rules[i]
			rule.check(v, func(format string, args ...any) {
				found = append(found, Finding{Rule: rule.Name, Count: rule.Count, Action: v.Name, Text: fmt.Sprintf(format, args...)})
			})
		}
	}
	return found
}

// A view is one action of a run, all in order.
type view struct {
	Action
	run *Run
	all []*view
	ops []*Op // by Call
	// told are those of ops that returned with an outcome; but what comes with a
	// mismatch may be of an earlier time.
	told  []*Op
	sends []*Send
	// exposing is the index of the first send after which the action may have
	// taken effect; len(sends) if none is known to.
	exposing int
	effects  []*Effect             // by Call; of a batch those of one item
	items    map[string]bool       // of a batch: the keys that had an effect
	requests []*mockserver.Request // that ask for the action
	saves    []*Save
	runs     []*Op // of the whole run, and the passes
}

// views sorts a run by action, in the order of names.
func views(r *Run) []*view {
	byName := make(map[string]*view, len(r.Actions))
	all := make([]*view, 0, len(r.Actions))
	for name, a := range r.Actions {
		a.Name = name
		v := &view{Action: a, run: r}
		byName[name] = v
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b *view) int { return strings.Compare(a.Name, b.Name) })
	var runs []*Op
	for i := range r.Ops {
		o := &r.Ops[i]
		if o.Kind == OpRun || o.Kind == OpPass {
			runs = append(runs, o)
		}
		v := byName[o.Action]
		if o.Outcome != nil {
			if owner := byName[o.Outcome.Action]; owner != nil {
				v = owner // the caller's key led to another action
			}
		}
		if v != nil {
			v.ops = append(v.ops, o)
		}
	}
	for i := range r.Sends {
		if v := byName[r.Sends[i].Action]; v != nil {
			v.sends = append(v.sends, &r.Sends[i])
		}
	}
	for i := range r.Effects {
		if v := byName[r.Effects[i].Action]; v != nil {
			v.effects = append(v.effects, &r.Effects[i])
		}
	}
	for i := range r.Saved {
		if v := byName[r.Saved[i].Action]; v != nil {
			v.saves = append(v.saves, &r.Saved[i])
		}
	}
	for i := range r.Requests {
		q := &r.Requests[i]
		if v := byName[actionOf(q.Path)]; v != nil && q.Method == v.Method {
			v.requests = append(v.requests, q)
		}
	}
	for _, v := range all {
		v.all, v.runs = all, runs
		slices.SortFunc(v.ops, func(a, b *Op) int { return cmp.Compare(a.Call, b.Call) })
		slices.SortFunc(v.sends, func(a, b *Send) int { return cmp.Compare(a.Seq, b.Seq) })
		slices.SortFunc(v.effects, func(a, b *Effect) int { return cmp.Compare(a.Call, b.Call) })
		v.oneItem()
		slices.SortFunc(v.saves, func(a, b *Save) int { return cmp.Compare(a.Seq, b.Seq) })
		for _, o := range v.ops {
			if o.Return != 0 && o.Outcome != nil && !errors.Is(o.Err, oncehttp.ErrMismatch) {
				v.told = append(v.told, o)
			}
		}
		v.exposing = v.firstExposing()
	}
	return all
}

// oneItem leaves of a batch's effects, which come together, those of the item that
// had the most. What was done under more keys than there are items counts as done
// again.
func (v *view) oneItem() {
	if v.Items == 0 {
		return
	}
	v.items = map[string]bool{}
	times := map[string]int{}
	var most string
	var left []*Effect
	for _, e := range v.effects {
		if !v.items[e.Key] && len(v.items) == v.Items {
			left = append(left, e)
			continue
		}
		v.items[e.Key] = true
		if times[e.Key]++; times[e.Key] > times[most] {
			most = e.Key
		}
	}
	for _, e := range v.effects {
		if v.items[e.Key] && e.Key == most {
			left = append(left, e)
		}
	}
	slices.SortFunc(left, func(a, b *Effect) int { return cmp.Compare(a.Call, b.Call) })
	v.effects = left
}

// actionOf a path: its first segment.
func actionOf(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "?")
	name, _, _ = strings.Cut(name, "/")
	return name
}

// before: a was over when b began.
func before(a, b *Op) bool { return a.Return != 0 && a.Return < b.Call }

// over: the operation had returned by then.
func (o *Op) over(seq int64) bool { return o.Return != 0 && o.Return < seq }

// savedBetween says whether the journal acknowledged a save of the action
// between two numbers, and how many.
func (v *view) savedBetween(from, to int64) int {
	n := 0
	for _, s := range v.saves {
		if s.Seq > from && s.Seq < to {
			n++
		}
	}
	return n
}

// firstExposing leaves out what only the client can know: an error may or may
// not prove that nothing was sent.
func (v *view) firstExposing() int {
	for i, s := range v.sends {
		if !v.Lookups && (v.ambiguous(s.Status) || s.Ended == 0 && i+1 < len(v.sends)) {
			return i
		}
		if v.Spoofed {
			continue
		}
		for _, e := range v.effects {
			if e.Call > s.Seq && (i+1 == len(v.sends) || e.Call < v.sends[i+1].Seq) {
				return i
			}
		}
	}
	return len(v.sends)
}

// ambiguous statuses may stand in front of an effect. A contract may say more
// of some than the general table.
func (v *view) ambiguous(status int) bool {
	switch status {
	case 500, 502, 504:
		return true
	case 301, 302, 303, 408, 499, 503, 507, 598, 599:
		return v.Protection != Keyed
	}
	return v.Protection != Keyed && status >= 520 && status <= 530
}

// resolved says whether a person may have spoken by then, and said so.
func (v *view) resolved(by int64, says func(*Op) bool) bool {
	return slices.ContainsFunc(v.ops, func(o *Op) bool { return o.Kind == OpResolve && o.Call < by && says(o) })
}

func anyWord(*Op) bool { return true }

const (
	duplicates = tally.Duplicates
	lost       = tally.Lost
	lies       = tally.Lies
)
