package judge_test

import (
	"context"
	"strings"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

var brokenKinds = []breach{
	{"one key", "other keys of a batch's items at the second attempt", func() *story {
		s := newBatch(2)
		do := s.call(judge.OpDo)
		s.batch(0, []string{"k-0", "k-1"}, "k-0", "k-1")
		s.batch(201, []string{"l-0", "l-1"})
		s.tells(do, s.done(2))
		return s
	}},
	{"each item of a batch has a key of its own", "two with one", func() *story {
		s := newBatch(2)
		do := s.call(judge.OpDo)
		s.batch(0, []string{"k-0", "k-0"}, "k-0")
		s.tells(do, s.unknown(1))
		return s
	}},
	{"each item of a batch has a key of its own", "one without", func() *story {
		s := newBatch(2)
		do := s.call(judge.OpDo)
		s.batch(0, []string{"", "k-1"})
		s.tells(do, s.unknown(1))
		return s
	}},
	{"a key has the form that the contract asks for", "a UUID for hexadecimal digits", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.KeyShape = "[0-9a-f]{32}" })
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		return s
	}},
	{"Confirmed has the effect of every item", "one of two", func() *story {
		s := newBatch(2)
		do := s.call(judge.OpDo)
		s.batch(201, []string{"k-0", "k-1"}, "k-1")
		s.tells(do, s.done(1))
		return s
	}},
	{"a keyed action has at most one effect", "an item twice", func() *story {
		s := newBatch(2)
		do := s.call(judge.OpDo)
		s.batch(0, []string{"k-0", "k-1"}, "k-0", "k-1")
		s.batch(201, []string{"k-0", "k-1"}, "k-1")
		s.tells(do, s.done(2))
		return s
	}},
	{"a keyed action has at most one effect", "more keys than items", func() *story {
		s := newBatch(1)
		do := s.call(judge.OpDo)
		s.batch(201, []string{"k-0"}, "k-0", "k-1")
		s.tells(do, s.done(1))
		return s
	}},
	{"what a lookup shows in another state is no effect", "held, and told as done", func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Held = true })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.ask("")
		s.save()
		s.tells(do, s.found("effect-1"))
		return s
	}},
	{"what was told not to be sent is not begun afterwards", "for a caller with another payload", func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, nil, context.DeadlineExceeded)
		do := s.call(judge.OpDo)
		do.Payload = other
		s.save()
		told := s.open(oncehttp.NotSent, 0)
		s.tells(do, told, &oncehttp.MismatchError{Action: "a", Outcome: told})
		x := s.send()
		s.receive(x)
		s.effect()
		s.answer(x, 201)
		s.save()
		return s
	}},
}

// newBatch is about an action so many items of which have keys.
func newBatch(items int) *story {
	s := newStory(judge.Keyed)
	s.change(func(a *judge.Action) { a.Items, a.KeyWithin = items, true })
	return s
}

// batch is a whole attempt with these keys, and an effect under each of the others.
func (s *story) batch(status int, keys []string, effects ...string) {
	s.save()
	x := s.send()
	x.Key = strings.Join(keys, ",")
	s.receive(x)
	for _, key := range effects {
		s.effect().Key = key
	}
	s.answer(x, status)
	s.save()
}
