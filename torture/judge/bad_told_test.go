package judge_test

import (
	"errors"
	"fmt"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

var brokenTold = []breach{
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
	{"a success that was answered is on record once its process has closed", "dropped at Close", func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpDo)
		s.attempt(true, 201)
		s.crash()
		s.lives[0].Killed, s.lives[0].Clean = false, true
		s.is(judge.OpRead, s.unknown(1))
		return s
	}},
	{"a success that was answered is on record once its process has closed", "dropped for a person's word", func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.resolve(oncehttp.Rejected, true)
		s.receive(x)
		s.effect()
		s.answer(x, 201)
		s.crash()
		s.lives[0].Killed, s.lives[0].Clean = false, true
		s.is(judge.OpRead, s.no(oncehttp.Refused, 1))
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
