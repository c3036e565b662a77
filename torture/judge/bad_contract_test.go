package judge_test

import (
	"net/http"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

var brokenContracts = []breach{
	{"one key", "two in the bodies", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.KeyWithin = true })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.sends[0].Key, s.sends[0].KeyUnread = "", true
		s.attempt(false, 500)
		s.sends[1].Key = "another"
		s.requests[1].Key = "another"
		s.attempt(false, 201)
		s.tells(do, s.done(3))
		return s
	}},
	{"what goes with the key is the same at every attempt", "another time in a header", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Fixed = []string{"X-First-Sent"} })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.requests[0].Header = http.Header{"X-First-Sent": {"noon"}}
		s.attempt(false, 201)
		s.requests[1].Header = http.Header{"X-First-Sent": {"later"}}
		s.tells(do, s.done(2))
		return s
	}},
	{"what goes with the key is the same at every attempt", "a parameter that is lost", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Fixed = []string{"X-First-Sent", "?sent"} })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.requests[0].Path += "?sent=1"
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"what may have executed is sent again only with the credentials that it had", "a new token", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Pinned = true })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.sends[0].Credential = "one"
		s.attempt(false, 201)
		s.sends[1].Credential = "two"
		s.tells(do, s.done(2))
		return s
	}},
	{"no send sooner than a hint of the contract asked", "Retry-After was shorter", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 425, "1")
		s.sends[0].Pause = 10 * time.Second
		s.after(5 * time.Second)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"no send sooner than the server asked of the action", "a hint was shorter", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 425, "10")
		s.sends[0].Pause = time.Second
		s.after(5 * time.Second)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"no call asks again that was told not to", "after a 503", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 503)
		s.sends[0].Again = "false"
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"no repeat of what may have arrived sooner than the contract's least pause", "at once", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Least = 2 * time.Second })
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.after(time.Second)
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	}},
	{"a failure that the server has stored is not asked for again", "without a mark, by the contract's word", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.KeepsFailures = true })
		do := s.call(judge.OpDo)
		s.attempt(false, 500)
		s.attempt(false, 500)
		s.tells(do, s.unknown(2))
		return s
	}},
	{"a lookup carries no key where an attempt does", "in its header", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.ask(s.key())
		s.save()
		s.tells(do, s.found("effect-1"))
		return s
	}},
	{"attempts are not more than sends", "lookups that were counted", func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.ask("")
		s.ask("")
		s.save()
		told := s.found("effect-1")
		told.Attempts = 3
		s.tells(do, told)
		return s
	}},
	{"a reference names an effect of the action", "another action's", func() *story {
		s := newStory(judge.Keyed)
		s.plan("b", judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.ask("")
		s.of("b").effect()
		s.of("a").save()
		s.tells(do, s.found("effect-2"))
		return s
	}},
	{"Confirmed has an effect", "a lookup that found another action's", func() *story {
		s := newStory(judge.Unprotected)
		s.change(func(a *judge.Action) { a.Lookups = true })
		do := s.call(judge.OpDo)
		s.attempt(false, 0)
		s.ask("")
		s.save()
		s.tells(do, s.found(""))
		return s
	}},
	{"an unprotected action has at most one effect", "sent again though a lookup had not waited", func() *story {
		s := newStory(judge.Unprotected)
		s.change(func(a *judge.Action) { a.Lookups = true })
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		s.answer(x, 0)
		s.save()
		s.ask("")
		s.save()
		s.save()
		y := s.send()
		s.receive(y)
		s.effect()
		s.effect() // of the first one
		s.answer(y, 201)
		s.save()
		s.tells(do, s.done(2))
		return s
	}},
	{"what may have executed is not sent again unprotected", "though a lookup found nothing, which is no proof", func() *story {
		s := newStory(judge.Unprotected)
		do := s.call(judge.OpDo)
		s.attempt(false, 500)
		s.ask("")
		s.save()
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	}},
}

// ask is a lookup.
func (s *story) ask(key string) {
	s.lookups = append(s.lookups, judge.Lookup{Seq: s.next(), Time: s.now, Life: s.life, Target: "/find?key=1", Key: key})
}

// found is Confirmed by a lookup.
func (s *story) found(reference string) *oncehttp.Outcome {
	o := s.outcome(oncehttp.Confirmed, "", 1)
	o.Reference = reference
	return o
}
