package judge_test

import (
	"net/http"
	"time"

	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// honestContracts are good runs under contracts that ask for more than a key.
var honestContracts = map[string]func() *story{
	"what goes with the key is new after an attempt that was refused unread": func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Fixed = []string{"X-First-Sent"} })
		do := s.call(judge.OpDo)
		s.attempt(false, 0)
		s.requests[0].Header = http.Header{"X-First-Sent": {"noon"}}
		s.requests[0].Fault.See = mockserver.SeeRefused
		s.attempt(true, 201)
		s.requests[1].Header = http.Header{"X-First-Sent": {"later"}}
		s.tells(do, s.done(2))
		return s
	},
	"a lookup finds the effect, and other credentials ask only again after a refusal": func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Pinned, a.Fixed = true, []string{"X-Version", "?sent"} })
		do := s.call(judge.OpDo)
		s.attempt(false, 429)
		s.sends[0].Credential = "one"
		s.attempt(true, 0)
		s.sends[1].Credential = "two"
		s.tells(do, s.unknown(2))
		resume := s.call(judge.OpResume)
		s.ask("")
		s.save()
		found := s.found("effect-1")
		found.Attempts = 2
		s.tells(resume, found)
		return s
	},
	"attempts that were counted and never sent": func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpDo)
		s.save()
		s.crash()
		s.lives[1].Unsure, s.lives[1].Clean = true, true
		s.is(judge.OpDo, s.unknown(2))
		s.crash()
		s.lives[1].Killed = false
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(3))
		return s
	},
	"another call asks again where one was told not to": func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Least = time.Second })
		do := s.call(judge.OpDo)
		s.attempt(false, 503, "1")
		s.sends[0].Again, s.sends[0].Pause = "false", 2*time.Second
		s.tells(do, s.unknown(1))
		s.after(2 * time.Second)
		do = s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	},
	"a client that reads of a contradiction from before it was opened was not answered so": func() *story {
		s := newStory(judge.Keyed)
		s.plan("b", judge.Keyed)
		s.change(func(a *judge.Action) { a.Honest = false })
		told := s.contradict(false)
		s.crash()
		s.lives[1].Killed = false
		s.is(judge.OpRead, told)
		s.of("b").after(time.Second)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	},
}
