package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp/torture/judge"
)

// Trace is what happened in a run, in its order, a line for each thing; of one
// action if that is not empty.
func Trace(r *judge.Run, action string) string {
	type line struct {
		seq  int64
		text string
	}
	var lines []line
	add := func(seq int64, at time.Time, of, format string, args ...any) {
		if seq != 0 && (action == "" || of == "" || of == action) {
			clock := ""
			if !at.IsZero() {
				clock = at.Sub(begins).String()
			}
			lines = append(lines, line{seq, fmt.Sprintf("%5d %18s  ", seq, clock) + fmt.Sprintf(format, args...)})
		}
	}
	for n, l := range r.Lives {
		add(l.Opened, l.OpenedTime, "", "life %d begins", n)
		add(l.Ended, time.Time{}, "", "life %d ends, killed=%t", n, l.Killed)
	}
	for n, s := range r.Sends {
		add(s.Seq, s.Time, s.Action, "%s: send %d, key %q", s.Action, n, s.Key)
		add(s.Ended, s.EndedTime, s.Action, "%s: send %d is answered %d, wish %q", s.Action, n, s.Status, s.RetryAfter)
	}
	for _, l := range r.Lookups {
		add(l.Seq, l.Time, "", "lookup %s, key %q", l.Target, l.Key)
	}
	for _, s := range r.Saved {
		add(s.Seq, s.Time, s.Action, "%s: saved", s.Action)
	}
	for _, e := range r.Effects {
		add(e.Call, time.Time{}, e.Action, "%s: an effect begins; it is there by %d, at %v", e.Action, e.Return, e.Time.Sub(begins))
	}
	for _, o := range r.Ops {
		add(o.Call, o.CallTime, o.Action, "%s: caller %d: %s begins", o.Action, o.Caller, o.Kind)
		add(o.Return, o.ReturnTime, o.Action, "%s: caller %d: %s from %d told %v, %v%s", o.Action, o.Caller, o.Kind, o.Call, o.Outcome, o.Err, beside(o))
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.seq - b.seq) })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	for _, q := range r.Requests {
		if action == "" || first(q.Path) == action || q.Method == http.MethodGet {
			fmt.Fprintf(&b, "request %d at %v: %s %s key=%q status=%d effect=%t replayed=%t reached=%t fault=%v\n",
				q.N, q.Time.Sub(begins), q.Method, q.Path, q.Key, q.Status, q.Effect, q.Replayed, q.Reached, q.Fault)
		}
	}
	return b.String()
}

// beside is what an op told beside its outcome.
func beside(o judge.Op) string {
	switch o.Kind {
	case judge.OpResolve:
		return fmt.Sprintf(": %v, force=%t", o.Resolved.State, o.Resolved.Force)
	case judge.OpPending:
		return fmt.Sprintf(": %v", o.Listed)
	}
	return ""
}
