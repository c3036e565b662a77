package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oncehttp/oncehttp"
)

// String prints all that is planned, a line for each thing.
func (p Plan) String() string {
	var b strings.Builder
	c, a := p.Client, p.API
	fmt.Fprintf(&b, "plan %d: %d actions, %d lives\n", p.Seed, len(p.Actions), len(p.Lives))
	fmt.Fprintf(&b, "  on: %v\n", p.On)
	if p.Scene != sceneNone {
		fmt.Fprintf(&b, "  scene: %s\n", p.Scene)
	}
	fmt.Fprintf(&b, "  client: attempts=%d elapsed=%v timeout=%v base=%v cap=%v share=%v concurrency=%d gate=%t maxresponse=%d unresolved=%d",
		c.Retry.MaxAttempts, c.Retry.MaxElapsed, c.Retry.AttemptTimeout, c.Retry.Base, c.Retry.Cap, c.Share, c.Concurrency, !c.GateOff, c.MaxResponse, c.MaxUnresolved)
	b.WriteString(flags(map[string]bool{"jitter": c.Jitter, "lookup": c.Lookup, "authorize": c.Authorize, "sealed": c.Sealed}) + "\n")
	fmt.Fprintf(&b, "  api: window=%v ttl=%v work=%v arrives=%v settle=%v lag=%v", a.Window, a.TTL, a.Work, a.Arrives, a.Settle, a.Lag)
	b.WriteString(flags(map[string]bool{"origin": a.Origin, "noreplay": a.NoReplay, "quoted": a.Quoted, "http2": a.HTTP2, "refusals": a.Refusals,
		"waits": a.Waits, "bare": a.Bare, "tells": a.Tells, "fromcompletion": a.FromCompletion}) + "\n")
	if a.Terms.Drawn {
		fmt.Fprintf(&b, "  terms: %s, rotates=%v\n", a.Terms, c.Rotates)
		fmt.Fprintf(&b, "  kinds: %s\n", a.Terms.Kinds)
		for _, f := range a.Terms.Strays {
			fmt.Fprintf(&b, "    lookup: %v\n", f)
		}
	}
	for _, a := range p.Actions {
		fmt.Fprintf(&b, "  %s: %s %s body=%d answers=%v", a.Name, a.Method, a.Protection, len(a.Body), append(slices.Clone(a.First), a.Status))
		b.WriteString(flags(map[string]bool{"anonymous": a.Anonymous, "long": a.Long, "adopted": a.Adopted != "", "credentials": a.Credentials, "userinfo": a.Userinfo, "dishonest": !p.Honest(a), "keyless": a.Keyless, "ref": a.Ref,
			"elsewhere": a.Elsewhere, "twin": a.Twin != ""}) + "\n")
		for n, h := range a.Hints {
			if h != (Hint{}) {
				fmt.Fprintf(&b, "    answer %d: again=%q wait=%v\n", n, h.Again, h.Wait)
			}
		}
		for n, f := range a.Faults {
			fmt.Fprintf(&b, "    %s: %v\n", a.Kinds[n], f)
		}
	}
	for n, l := range p.Lives {
		fmt.Fprintf(&b, "  life %d: after %v, ends by %s", n, l.Asleep, l.End)
		if l.At > 0 {
			fmt.Fprintf(&b, " at %v", l.At)
		}
		if l.Ahead > 0 {
			fmt.Fprintf(&b, ", its clock %v behind", l.Ahead)
		}
		b.WriteString(flags(map[string]bool{"run": l.Run, "break": l.Break, "nocontract": l.NoContract, "copied": l.Copied, "longer": l.Longer}) + "\n")
		for _, write := range slices.Sorted(maps.Keys(l.Journal)) {
			fmt.Fprintf(&b, "    write %d: %s\n", write, l.Journal[write])
		}
		if len(l.Saves)+len(l.Dials) > 0 {
			fmt.Fprintf(&b, "    slow: writes %v, connections %v\n", l.Saves, l.Dials)
		}
		for _, o := range l.Outages {
			fmt.Fprintf(&b, "    outage: %+v\n", o)
		}
		if len(l.Passes) > 0 {
			fmt.Fprintf(&b, "    resume: %v\n", l.Passes)
		}
		for n, steps := range l.Callers {
			fmt.Fprintf(&b, "    caller %d:", n)
			for _, s := range steps {
				b.WriteString(" " + s.text(p))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (s Step) text(p Plan) string {
	text := fmt.Sprintf("+%v %s", s.After, s.Call)
	if s.Call != CallPending && s.Call != CallPrune {
		text += " " + p.Actions[s.Action].Name
	}
	if s.Patience > 0 {
		text += fmt.Sprintf(" within %v", s.Patience)
	}
	if s.Born > 0 {
		text += fmt.Sprintf(" born %v ago", s.Born)
	}
	if s.Says != oncehttp.Pending {
		text += " says " + s.Says.String()
	}
	return text + flags(map[string]bool{"reworded": s.Reworded, "respelled": s.Respelled, "keepfirst": s.KeepFirst, "force": s.Force}) + ";"
}

func (t Terms) String() string {
	text := fmt.Sprintf("carrier=%d plant=%d find=%q mark=%q least=%v running=%v", t.Carrier, t.Plant, t.Find, t.Mark, t.Least, t.Running)
	return text + flags(map[string]bool{"sentimf": t.SentIMF, "sentmicros": t.SentMicros, "version": t.Version, "sentwithin": t.SentWithin,
		"proof": t.Proof, "pinned": t.Pinned, "hints": t.Hints, "keepsfailures": t.KeepsFailures, "saysfailures": t.SaysFailures, "saysnot": t.SaysNot})
}

// flags are the names of what is set.
func flags(set map[string]bool) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if set[name] {
			text += " " + name
		}
	}
	return text
}
