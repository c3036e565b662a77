package judge_test

import (
	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// honestWords are good runs in which a person speaks.
var honestWords = map[string]func() *story{
	"a person confirms": func() *story {
		s := newStory(judge.Unprotected)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.tells(do, s.unknown(1))
		s.pass("a")
		s.resolve(oncehttp.Confirmed, false)
		s.is(judge.OpRead, s.done(1))
		return s
	},
	"a forced Rejected, an effect, and a conflict that a person decides": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.resolve(oncehttp.Rejected, false, oncehttp.ErrInFlight)
		s.resolve(oncehttp.Rejected, true)
		s.is(judge.OpRead, s.no(oncehttp.Refused, 1))
		s.receive(x)
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.no(oncehttp.Conflict, 1))
		s.is(judge.OpRead, s.no(oncehttp.Conflict, 1))
		s.pass("a")
		s.resolve(oncehttp.Confirmed, false)
		s.is(judge.OpRead, s.done(1))
		return s
	},
	"a person's word that the journal could not tell of, and kept": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.resolve(oncehttp.Rejected, true, oncehttp.ErrJournal)
		joined := s.call(judge.OpDo)
		s.receive(x)
		s.effect()
		s.answer(x, 202)
		unrecorded := s.unknown(1)
		unrecorded.Reason = oncehttp.NotRecorded
		s.tells(do, unrecorded)
		s.tells(joined, unrecorded)
		s.crash()
		s.is(judge.OpRead, s.no(oncehttp.Refused, 1))
		return s
	},
	"a forced Rejected that a person takes back, and the rest of the answer": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		s.resolve(oncehttp.Rejected, true)
		s.effect()
		s.is(judge.OpRead, s.no(oncehttp.Refused, 1))
		s.resolve(oncehttp.Confirmed, false)
		s.answer(x, 201) // its body is cut short
		s.save()
		cut := s.done(1)
		cut.Response.BodyIncomplete = true
		s.tells(do, cut)
		do = s.call(judge.OpDo)
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	},
	"a person makes a refusal for the moment one for good": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.answer(x, 0)
		s.save()
		s.attempt(false, 401) // replayed, and so it speaks of both
		s.tells(do, s.no(oncehttp.Unauthorized, 2))
		s.resolve(oncehttp.Rejected, false)
		s.is(judge.OpDo, s.no(oncehttp.Refused, 2))
		return s
	},
}
