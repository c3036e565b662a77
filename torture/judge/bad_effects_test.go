package judge_test

import (
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

var brokenEffects = []breach{
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
}
