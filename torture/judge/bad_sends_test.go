package judge_test

import (
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

var brokenSends = []breach{
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
	{"one driver sends an action at a time", "two at once", func() *story {
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
	{"what may have executed is not sent without a contract of today", "by Resume", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.tells(do, s.unknown(1))
		s.crash()
		s.lives[1].NoContract = true
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
	{"what was begun elsewhere is sent only inside the window from then on", "an hour ago", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		do.Born = s.now.Add(-time.Hour)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		return s
	}},
	{"a failure that the server has stored is not asked for again", "by the same call", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 500)
		s.attempt(false, 500)
		s.sends[1].Replayed = true
		s.attempt(false, 500)
		s.tells(do, s.unknown(3))
		return s
	}},
	{"what may have executed reaches nobody after the window", "a connection that took long", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.after(53*time.Minute - time.Second)
		s.save()
		x := s.send()
		s.after(2 * time.Second)
		s.receive(x)
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(2))
		return s
	}},
	{"a call starts no attempt after its time is up", "the server's wish was longer", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Budget = 10 * time.Second })
		do := s.call(judge.OpDo)
		s.attempt(false, 425, "20")
		s.after(20 * time.Second)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"a copied journal sends nothing until it is adopted", "what was waiting", func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpBegin)
		s.save()
		s.crash()
		s.lives[1].Copied = true
		resume := s.call(judge.OpResume)
		s.attempt(true, 201)
		s.tells(resume, s.done(1))
		return s
	}},
	{"what was unresolved in a copy is not sent again without a contract", "when it was adopted", func() *story {
		s := newStory(judge.Idempotent)
		s.call(judge.OpBegin)
		s.save()
		s.crash()
		s.lives[1].Copied = true
		s.is(judge.OpRead, s.open(oncehttp.Copied, 0))
		s.crash()
		do := s.call(judge.OpDo)
		s.attempt(true, 200)
		s.tells(do, s.done(1))
		return s
	}},
	{"a contract that was contradicted is not relied on", "by another action", func() *story {
		s := newStory(judge.Keyed)
		s.plan("b", judge.Keyed)
		s.change(func(a *judge.Action) { a.Honest = false })
		s.contradict(true)
		s.of("b").after(time.Second)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(false, 201)
		s.tells(do, s.done(2))
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
}
