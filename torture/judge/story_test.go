package judge_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// A story is a run made by hand: each call of a method is the next thing that
// happens.
type story struct {
	name     string // of the action that it is about, unless of says another
	actions  map[string]judge.Action
	seq      int64
	now      time.Time
	life     int
	lives    []judge.Life
	ops      []*judge.Op
	sends    []*judge.Send
	effects  []*judge.Effect
	requests []mockserver.Request
	saved    []judge.Save
	lookups  []judge.Lookup
	secrets  []string
}

const (
	first = "1111111111111111"
	other = "2222222222222222"
	key   = "4f7a9c52-key"
)

var epoch = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)

func newStory(p judge.Protection) *story {
	s := &story{name: "a", actions: map[string]judge.Action{}, now: epoch, lives: []judge.Life{{Opened: 1, OpenedTime: epoch}}, seq: 1}
	s.plan("a", p)
	return s
}

func (s *story) plan(name string, p judge.Protection) {
	a := judge.Action{Name: name, Protection: p, Method: "POST", BodySHA256: first, AttemptTimeout: time.Minute, Gate: "host"}
	switch p {
	case judge.Keyed:
		a.Window, a.Share, a.Honest, a.Marked = time.Hour, 0.9, true, true
	case judge.Idempotent:
		a.Method = "PUT"
	}
	s.actions[name] = a
}

// change edits the plan of the action.
func (s *story) change(edit func(*judge.Action)) {
	a := s.actions[s.name]
	edit(&a)
	s.actions[s.name] = a
}

// of goes on with another action.
func (s *story) of(name string) *story { s.name = name; return s }

func (s *story) next() int64           { s.seq++; return s.seq }
func (s *story) after(d time.Duration) { s.now = s.now.Add(d) }
func (s *story) key() string {
	if s.actions[s.name].Protection == judge.Keyed {
		return key + s.name
	}
	return ""
}

func (s *story) call(kind judge.OpKind) *judge.Op {
	o := &judge.Op{Kind: kind, Action: s.name, Life: s.life, Call: s.next(), CallTime: s.now}
	if kind == judge.OpDo || kind == judge.OpBegin {
		o.Payload = first
	}
	s.ops = append(s.ops, o)
	return o
}

// tells ends a call. The error is nil or a PendingError, as the outcome wants,
// where none is given.
func (s *story) tells(o *judge.Op, told *oncehttp.Outcome, errs ...error) {
	o.Outcome, o.Return, o.ReturnTime = told, s.next(), s.now
	switch {
	case len(errs) > 0:
		o.Err = errs[0]
	case told.State == oncehttp.Pending && o.Kind == judge.OpDo:
		o.Err = &oncehttp.PendingError{Outcome: told}
	}
}

// is a whole call in which nothing else happens.
func (s *story) is(kind judge.OpKind, told *oncehttp.Outcome, errs ...error) *judge.Op {
	o := s.call(kind)
	s.tells(o, told, errs...)
	return o
}

func (s *story) save() {
	s.saved = append(s.saved, judge.Save{Seq: s.next(), Time: s.now, Life: s.life, Action: s.name})
}

func (s *story) send() *judge.Send {
	x := &judge.Send{Seq: s.next(), Time: s.now, Life: s.life, Action: s.name, Key: s.key(), BodySHA256: first}
	s.sends = append(s.sends, x)
	return x
}

// receive: the server gets a request of the send.
func (s *story) receive(x *judge.Send) {
	s.requests = append(s.requests, mockserver.Request{N: len(s.requests) + 1, Time: s.now, Method: s.actions[x.Action].Method,
		Path: "/" + x.Action, Key: x.Key, ContentLength: 8, BodyBytes: 8, BodySHA256: x.BodySHA256, Done: true})
}

func (s *story) effect() *judge.Effect {
	e := &judge.Effect{Call: s.next(), Time: s.now, Action: s.name, Key: s.key()}
	e.Return, e.ID = s.next(), fmt.Sprintf("effect-%d", len(s.effects)+1)
	s.effects = append(s.effects, e)
	return e
}

// answer ends a send; status 0: with an error.
func (s *story) answer(x *judge.Send, status int, retryAfter ...string) {
	x.Ended, x.EndedTime, x.Status = s.next(), s.now, status
	if len(retryAfter) > 0 {
		x.RetryAfter = retryAfter[0]
	}
}

// attempt is one whole attempt, saved before and after; with an effect or not.
func (s *story) attempt(effect bool, status int, retryAfter ...string) {
	s.save()
	x := s.send()
	s.receive(x)
	if effect {
		s.effect()
	}
	s.answer(x, status, retryAfter...)
	s.save()
}

// contradict is a call that is answered as its contract rules out: after an attempt
// without an answer and one that says it still runs, a fresh success.
func (s *story) contradict(first bool) *oncehttp.Outcome {
	do := s.call(judge.OpDo)
	s.attempt(first, 0)
	s.attempt(false, 409, "1")
	s.after(time.Second)
	s.attempt(true, 201)
	told := s.done(3)
	told.MayHaveRepeated = true
	s.tells(do, told)
	return told
}

// crash ends the life, and the calls in it, and opens another.
func (s *story) crash() {
	s.lives[s.life].Ended, s.lives[s.life].Killed = s.next(), true
	s.life++
	s.lives = append(s.lives, judge.Life{Opened: s.next(), OpenedTime: s.now})
}

func (s *story) resolve(state oncehttp.State, force bool, errs ...error) {
	o := s.call(judge.OpResolve)
	o.Resolved = oncehttp.Resolution{State: state, By: "ops", Why: "seen in the ledger", Force: force}
	o.Err = errors.Join(errs...)
	if o.Err == nil {
		s.save()
	}
	o.Return, o.ReturnTime = s.next(), s.now
}

func (s *story) pass(listed ...string) {
	o := s.call(judge.OpPending)
	o.Action, o.Listed = "", listed
	o.Return, o.ReturnTime = s.next(), s.now
}

func (s *story) run() *judge.Run {
	r := &judge.Run{Name: "by hand", Actions: s.actions, Lives: s.lives, Requests: s.requests, Saved: s.saved, Lookups: s.lookups, Secrets: s.secrets}
	for _, o := range s.ops {
		r.Ops = append(r.Ops, *o)
	}
	for _, x := range s.sends {
		r.Sends = append(r.Sends, *x)
	}
	for _, e := range s.effects {
		r.Effects = append(r.Effects, *e)
	}
	return r
}

func (s *story) outcome(state oncehttp.State, reason oncehttp.Reason, attempts int) *oncehttp.Outcome {
	return &oncehttp.Outcome{Action: s.name, Key: s.key(), State: state, Reason: reason, Attempts: attempts}
}

func (s *story) done(attempts int) *oncehttp.Outcome {
	o := s.outcome(oncehttp.Confirmed, "", attempts)
	o.Response = &oncehttp.Response{StatusCode: 201}
	return o
}

func (s *story) no(reason oncehttp.Reason, attempts int) *oncehttp.Outcome {
	return s.outcome(oncehttp.Rejected, reason, attempts)
}

// open is Pending, and nothing can have taken effect.
func (s *story) open(reason oncehttp.Reason, attempts int) *oncehttp.Outcome {
	return s.outcome(oncehttp.Pending, reason, attempts)
}

// unknown is Pending, and something may have taken effect.
func (s *story) unknown(attempts int) *oncehttp.Outcome {
	o := s.outcome(oncehttp.Pending, oncehttp.Unknown, attempts)
	o.MayHaveExecuted = true
	return o
}

// told prints findings for a failure's message.
func told(found []judge.Finding) string {
	var text string
	for _, f := range found {
		text += fmt.Sprintf("%s (%s, action %s): %s\n", f.Rule, f.Count, f.Action, f.Text)
	}
	return text
}

func rulesOf(found []judge.Finding) []string {
	var names []string
	for _, f := range found {
		if !slices.Contains(names, f.Rule) {
			names = append(names, f.Rule)
		}
	}
	return names
}
