package judge_test

import (
	"context"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// honestKinds are good runs under contracts of less usual kinds.
var honestKinds = map[string]func() *story{
	"a batch whose answer was lost": func() *story {
		s := newBatch(2)
		s.change(func(a *judge.Action) { a.KeyShape = `k-\d` })
		do := s.call(judge.OpDo)
		s.batch(0, []string{"k-0", "k-1"}, "k-0", "k-1")
		s.batch(201, []string{"k-0", "k-1"})
		s.tells(do, s.done(2))
		return s
	},
	"nothing was sent after a refusal, and a later attempt ended before it was sent": func() *story {
		s := newStory(judge.Unprotected)
		do := s.call(judge.OpDo)
		s.attempt(false, 425)
		s.tells(do, s.open(oncehttp.Throttled, 1))
		do = s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.answer(x, 0) // it was not sent
		s.save()
		s.tells(do, s.open(oncehttp.NotSent, 2))
		s.call(judge.OpDo)
		s.save()
		s.crash()
		s.is(judge.OpRead, s.unknown(3))
		return s
	},
	"a batch of a person's word": func() *story {
		s := newBatch(2)
		do := s.call(judge.OpDo)
		s.batch(0, []string{"k-0", "k-1"}, "k-0", "k-1")
		s.sends[0].Key, s.sends[0].KeyUnread = "", true
		s.tells(do, s.unknown(1))
		return s
	},
	"a lookup shows the effect in another state, which leaves it open": func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Held = true })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.ask("")
		s.save()
		s.tells(do, s.unknown(1))
		return s
	},
	"somebody else begins what a caller gave up": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, nil, context.DeadlineExceeded)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		return s
	},
	"a caller who may have begun it dies with its process": func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpDo)
		s.is(judge.OpDo, nil, context.DeadlineExceeded)
		s.attempt(true, 0)
		s.crash()
		s.is(judge.OpDo, s.unknown(1))
		return s
	},
	"something in between says in progress, which contradicts nothing": func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Honest = false })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(false, 409, "1")
		s.sends[1].Foreign = true
		s.after(time.Second)
		s.attempt(true, 201)
		s.tells(do, s.done(3))
		return s
	},
	"a pass that told nothing asks again where a call was told not to": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(false, 503)
		s.sends[0].Again = "false"
		s.tells(do, s.unknown(1))
		s.call(judge.OpPass).Action = ""
		s.attempt(true, 201)
		return s
	},
	"what a method allows needs no contract": func() *story {
		s := newStory(judge.Keyed)
		s.plan("b", judge.Keyed)
		s.change(func(a *judge.Action) { a.Honest = false })
		s.contradict(false)
		s.of("b").change(func(a *judge.Action) { a.Method = "DELETE" })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	},
}
