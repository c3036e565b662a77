package judge_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// broken are runs that break one rule and no other.
var broken = []struct {
	rule, how string
	tell      func() *story
}{
	{"a keyed action has at most one effect", "the server honours the key, and got two", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"an unprotected action has at most one effect", "one request was resent on the wire", func() *story {
		s := newStory(judge.Unprotected)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.effect()
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(1))
		return s
	}},
	{"a second effect that the answers betray is told", "in progress, then a fresh success", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Honest = false })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(false, 409, "1")
		s.after(time.Second)
		s.attempt(true, 201)
		s.tells(do, s.done(3))
		return s
	}},
	{"Confirmed has an effect", "a login page", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 302)
		s.tells(do, s.done(1))
		return s
	}},
	{"Confirmed has an effect", "told before it began", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		s.answer(x, 0)
		s.save()
		s.tells(do, s.done(1))
		s.effect()
		return s
	}},
	{"Rejected has no effect, then or later", "a 500 taken for a no", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.tells(do, s.no(oncehttp.Refused, 1))
		return s
	}},
	{"Rejected has no effect, then or later", "a 404 after a lost answer", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.answer(x, 0)
		s.save()
		s.attempt(false, 404)
		s.tells(do, s.no(oncehttp.Refused, 2))
		s.receive(x)
		s.effect()
		return s
	}},
	{"Rejected has no effect, then or later", "a 403 after a lost answer", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(false, 403)
		s.tells(do, s.no(oncehttp.Unauthorized, 2))
		return s
	}},
	{"what is told not to have executed has not", "exposure forgotten after a lost answer", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.tells(do, s.open(oncehttp.Throttled, 1))
		return s
	}},
	{"what is told not to have executed has not", "exposure forgotten at a restart", func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.crash()
		s.is(judge.OpRead, s.open(oncehttp.NotSent, 1))
		s.receive(x)
		s.effect()
		return s
	}},
	{"NotSent is not said of what was answered last", "after a 429", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 429)
		s.tells(do, s.open(oncehttp.NotSent, 1))
		return s
	}},
	{"what may still arrive is not declared Rejected", "without Force", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.resolve(oncehttp.Rejected, false)
		s.answer(x, 400)
		s.save()
		s.tells(do, s.no(oncehttp.Refused, 1))
		return s
	}},
	{"every send has a save of its own before it", "the first", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		x := s.send()
		s.receive(x)
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(1))
		return s
	}},
	{"every send has a save of its own before it", "a begun one", func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpBegin)
		s.save()
		s.is(judge.OpRead, s.open(oncehttp.NotSent, 0))
		do := s.call(judge.OpDo)
		x := s.send()
		s.receive(x)
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(1))
		return s
	}},
	{"every send has a save of its own before it", "the second", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 307)
		x := s.send()
		s.receive(x)
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(2))
		return s
	}},
	{"one key", "a key for each attempt", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 0)
		s.save()
		x := s.send()
		x.Key = "another"
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(2))
		return s
	}},
	{"one key", "none", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		x.Key = ""
		s.answer(x, 0)
		s.save()
		s.tells(do, s.unknown(1))
		return s
	}},
	{"one payload", "the later caller's", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 0)
		s.save()
		x := s.send()
		x.BodySHA256 = other
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(2))
		return s
	}},
	{"one payload", "changed on the way", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.requests[0].BodySHA256 = other
		s.tells(do, s.done(1))
		return s
	}},
	{"what was answered is sent by one driver at a time", "two at once", func() *story {
		s := newStory(judge.Keyed)
		one, two := s.call(judge.OpDo), s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.save()
		s.save()
		y := s.send()
		s.effect()
		s.answer(x, 0)
		s.save()
		s.answer(y, 201)
		s.save()
		s.tells(one, s.done(2))
		s.tells(two, s.done(2))
		return s
	}},
	{"what may have executed is sent again only inside the window", "an hour later", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.tells(do, s.unknown(1))
		s.after(54*time.Minute - time.Minute + time.Second)
		resume := s.call(judge.OpResume)
		s.attempt(false, 201)
		s.tells(resume, s.done(2))
		return s
	}},
	{"what may have executed is sent again only inside the window", "counted from the last attempt", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.after(30 * time.Minute)
		s.attempt(false, 500)
		s.after(30 * time.Minute)
		s.attempt(false, 201)
		s.tells(do, s.done(3))
		return s
	}},
	{"what may have executed is not sent while the clock is behind", "the journal is of tomorrow", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.tells(do, s.unknown(1))
		s.crash()
		s.lives[1].Behind = s.now.Add(24 * time.Hour)
		resume := s.call(judge.OpResume)
		s.attempt(false, 201)
		s.tells(resume, s.done(2))
		return s
	}},
	{"what may have executed is not sent again unprotected", "after a 500", func() *story {
		s := newStory(judge.Unprotected)
		do := s.call(judge.OpDo)
		s.attempt(false, 500)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"what may have executed is sent again without a key only by the same call", "by Resume after a restart", func() *story {
		s := newStory(judge.Idempotent)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.tells(do, s.unknown(1))
		s.crash()
		resume := s.call(judge.OpResume)
		s.attempt(true, 200)
		s.tells(resume, s.done(2))
		return s
	}},
	{"what is settled is not sent again", "a refusal, by Do", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 402)
		s.tells(do, s.no(oncehttp.Refused, 1))
		do = s.call(judge.OpDo)
		s.attempt(false, 402)
		s.tells(do, s.no(oncehttp.Refused, 2))
		return s
	}},
	{"what is settled is not sent again", "a refusal for the moment, by Resume", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 401)
		s.tells(do, s.no(oncehttp.Unauthorized, 1))
		resume := s.call(judge.OpResume)
		s.attempt(false, 401)
		s.tells(resume, s.no(oncehttp.Unauthorized, 2))
		return s
	}},
	{"no send sooner than the server asked of the action", "half the time", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 425, "10")
		s.after(5 * time.Second)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"no send sooner than the server asked of the action", "a date, after a restart", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Gate = "" })
		do := s.call(judge.OpDo)
		s.attempt(false, 503, "Thu, 01 May 2031 12:30:00 GMT")
		o := s.unknown(1)
		o.Reason = oncehttp.Throttled
		s.tells(do, o)
		s.crash()
		s.after(10 * time.Minute)
		do = s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"no send sooner than the server asked of the host", "another action, in the same life", func() *story {
		s := newStory(judge.Keyed)
		s.plan("b", judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 503, "3600")
		o := s.unknown(1)
		o.Reason = oncehttp.Throttled
		s.tells(do, o)
		s.of("b").after(10 * time.Minute)
		do = s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		return s
	}},
	{"no send sooner than the server asked of the host", "another action, after a restart", func() *story {
		s := newStory(judge.Keyed)
		s.plan("b", judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 429, "3600")
		s.tells(do, s.open(oncehttp.Throttled, 1))
		s.crash()
		s.is(judge.OpRead, s.open(oncehttp.Throttled, 1))
		s.of("b").after(time.Second)
		do = s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		return s
	}},
	{"attempts are not fewer than sends and requests", "resent by the transport itself", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		s.receive(x)
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(1))
		s.after(time.Second)
		s.is(judge.OpRead, s.done(1))
		return s
	}},
	{"attempts are not fewer than sends and requests", "an attempt that was not counted", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 0)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		s.is(judge.OpRead, s.done(1))
		return s
	}},
	{"what is settled stays so", "a success becomes unknown", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		s.crash()
		s.is(judge.OpRead, s.unknown(1))
		return s
	}},
	{"what is settled stays so", "a refusal for the moment, without a Do", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 401)
		s.tells(do, s.no(oncehttp.Unauthorized, 1))
		s.is(judge.OpRead, s.open(oncehttp.Throttled, 1))
		return s
	}},
	{"what a person said stays so", "forgotten", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.tells(do, s.unknown(1))
		s.resolve(oncehttp.Confirmed, false)
		s.is(judge.OpRead, s.unknown(1))
		return s
	}},
	{"what may have executed is not forgotten", "at a restart", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 0)
		s.tells(do, s.unknown(1))
		s.crash()
		s.is(judge.OpRead, s.open(oncehttp.GateClosed, 1))
		return s
	}},
	{"attempts do not become fewer", "at a restart", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 0)
		s.attempt(false, 0)
		s.tells(do, s.unknown(3)) // one was withdrawn by a crash
		s.is(judge.OpRead, s.unknown(2))
		return s
	}},
	{"what is acknowledged is found", "told, and gone", func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpBegin)
		s.save()
		s.crash()
		s.is(judge.OpRead, nil, fmt.Errorf("%w: %q", oncehttp.ErrNotFound, "a"))
		return s
	}},
	{"what is unresolved is listed", "not listed", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.tells(do, s.unknown(1))
		s.is(judge.OpRead, s.unknown(1))
		s.pass("b")
		return s
	}},
	{"what is unresolved is listed", "a conflict", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		s.pass()
		s.is(judge.OpRead, s.outcome(oncehttp.Confirmed, oncehttp.Conflict, 1))
		return s
	}},
	{"no error means settled", "Pending without an error", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.tells(do, s.unknown(1), nil)
		return s
	}},
	{"PendingError means Pending", "a success with an error", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1), &oncehttp.PendingError{Outcome: s.done(1)})
		return s
	}},
	{"another error means that nothing was sent", "sent, and no word of it", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.tells(do, nil, errors.New("connection reset"))
		return s
	}},
	{"another payload is a mismatch", "taken for the same", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		do = s.call(judge.OpDo)
		do.Payload = other
		s.tells(do, s.done(1))
		return s
	}},
	{"another payload is a mismatch", "the same taken for another", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		s.is(judge.OpDo, s.done(1), oncehttp.ErrMismatch)
		return s
	}},
	{"an outcome is told once it is saved", "told first", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.effect()
		s.answer(x, 201)
		s.tells(do, s.done(1))
		s.save()
		return s
	}},
	{"an outcome makes sense", "Confirmed, and it may have executed", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		o := s.done(1)
		o.MayHaveExecuted = true
		s.tells(do, o)
		return s
	}},
	{"an outcome makes sense", "Pending for no reason", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		o := s.unknown(1)
		o.Reason = ""
		s.tells(do, o)
		return s
	}},
	{"no text says failed of what is not known", "in the reason", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		o := s.unknown(1)
		o.Reason = "Failed"
		s.tells(do, o)
		return s
	}},
	{"no text tells a secret", "a credential in an error", func() *story {
		s := newStory(judge.Keyed)
		s.secrets = []string{"canary-7"}
		s.is(judge.OpDo, nil, errors.New("bad header Authorization: Bearer canary-7"))
		return s
	}},
	{"no text tells a secret", "the key in an error", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		o := s.unknown(1)
		o.Err = errors.New("no answer for " + s.key())
		s.tells(do, o)
		return s
	}},
}

func TestABrokenPromiseIsFoundByItsRuleAlone(t *testing.T) {
	t.Parallel()
	for _, c := range broken {
		t.Run(c.rule+", "+c.how, func(t *testing.T) {
			t.Parallel()
			found := judge.Check(c.tell().run())
			assert.Equal(t, []string{c.rule}, rulesOf(found), told(found))
		})
	}
}

func TestEveryRuleIsBrokenByARun(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range broken {
		seen[c.rule] = true
	}
	names := map[string]bool{}
	for _, rule := range judge.Rules {
		assert.True(t, seen[rule.Name], "no run breaks the rule %q", rule.Name)
		assert.False(t, names[rule.Name], "two rules are named %q", rule.Name)
		names[rule.Name] = true
		require.Less(t, rule.Promise, len(judge.Promises))
		assert.NotEmpty(t, judge.Promises[rule.Promise])
	}
}

// Every promise is watched by some rule.
func TestEveryPromiseHasARule(t *testing.T) {
	t.Parallel()
	watched := map[int]bool{}
	for _, rule := range judge.Rules {
		watched[rule.Promise] = true
	}
	for n := 1; n < len(judge.Promises); n++ {
		assert.True(t, watched[n], "no rule watches promise %d: %s", n, judge.Promises[n])
	}
}
