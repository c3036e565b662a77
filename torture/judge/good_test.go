package judge_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// honest are runs of a correct client, with everything allowed that looks wrong.
var honest = map[string]func() *story{
	"an answer at once": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		s.is(judge.OpRead, s.done(1))
		s.is(judge.OpDo, s.done(1))
		s.pass()
		return s
	},
	"a lost answer, and a repeat": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.is(judge.OpRead, s.unknown(1))
		s.after(time.Second)
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	},
	"a late delivery: the first request arrives after the second": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.answer(x, 0)
		s.save()
		s.attempt(true, 201)
		s.receive(x) // replayed
		s.tells(do, s.done(2))
		return s
	},
	"a late effect of a request that nobody waits for": func() *story {
		s := newStory(judge.Unprotected)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.answer(x, 0)
		s.save()
		s.tells(do, s.unknown(1))
		s.is(judge.OpRead, s.unknown(1))
		s.after(time.Hour)
		s.receive(x)
		s.effect()
		s.is(judge.OpRead, s.unknown(1))
		s.pass("a")
		return s
	},
	"a restart in the middle of an attempt": func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.crash()
		s.is(judge.OpRead, s.unknown(1))
		s.receive(x)
		s.effect()
		resume := s.call(judge.OpResume)
		s.save() // recovered and begun at once
		x = s.send()
		s.receive(x)
		s.answer(x, 201)
		s.save()
		s.tells(resume, s.done(2))
		s.is(judge.OpRead, s.done(2))
		return s
	},
	"a restart after the answer was lost with the process": func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		s.effect()
		s.answer(x, 429, "3600") // never recorded
		s.change(func(a *judge.Action) { a.Gate = "" })
		s.crash()
		do := s.call(judge.OpDo)
		s.save()
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	},
	"a begin that is never acknowledged": func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpBegin)
		s.crash()
		s.is(judge.OpRead, nil, oncehttp.ErrNotFound)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		return s
	},
	"a commit of unknown fate begins anew under another key": func() *story {
		s := newStory(judge.Keyed)
		lost := s.open(oncehttp.NotRecorded, 0)
		lost.Key = "9b1c07e2-key"
		do := s.call(judge.OpDo)
		do.Payload = other
		s.tells(do, lost)
		s.crash()
		s.is(judge.OpRead, nil, oncehttp.ErrNotFound)
		do = s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		return s
	},
	"evidence that is not recorded yet proves that nothing happened": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		s.answer(x, 429)
		o := s.unknown(1)
		o.Reason = oncehttp.NotRecorded
		s.tells(do, o)
		s.save()
		s.is(judge.OpRead, s.open(oncehttp.Throttled, 1))
		return s
	},
	"begun again after other credentials were asked for": func() *story {
		s := newStory(judge.Unprotected)
		do := s.call(judge.OpDo)
		s.attempt(false, 401)
		s.tells(do, s.no(oncehttp.Unauthorized, 1))
		s.is(judge.OpRead, s.no(oncehttp.Unauthorized, 1))
		do = s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(2))
		return s
	},
	"begun again while the first caller has not returned yet": func() *story {
		s := newStory(judge.Keyed)
		one := s.call(judge.OpDo)
		s.attempt(false, 403)
		two := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		s.effect()
		s.tells(one, s.no(oncehttp.Unauthorized, 1))
		s.answer(x, 0)
		s.save()
		s.tells(two, s.unknown(2))
		return s
	},
	"a write that was told as failed, and was kept": func() *story {
		s := newStory(judge.Idempotent)
		s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.is(judge.OpRead, s.unknown(1))
		s.effect()
		s.answer(x, 200)
		s.crash()
		s.is(judge.OpRead, s.done(1))
		s.pass()
		return s
	},
	"a person speaks between a send's save and the send": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		s.resolve(oncehttp.Confirmed, false)
		s.is(judge.OpRead, s.done(1))
		x := s.send()
		s.effect()
		s.answer(x, 201)
		s.save()
		s.tells(do, s.done(1))
		return s
	},
	"a first wording is kept": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(do, s.done(1))
		again := s.call(judge.OpDo)
		again.Payload = other
		o := s.done(1)
		o.Reworded = true
		s.tells(again, o)
		return s
	},
	"a mismatch, with what was known at first": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		odd := s.call(judge.OpDo)
		odd.Payload = other
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		s.tells(odd, s.open(oncehttp.NotSent, 0), oncehttp.ErrMismatch)
		return s
	},
	"an incomplete answer is asked for again": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		o := s.done(1)
		o.Response.BodyIncomplete = true
		s.tells(do, o)
		do = s.call(judge.OpDo)
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	},
	"a person's word comes while the answer arrives, which is cut": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		s.effect()
		s.answer(x, 201)
		s.resolve(oncehttp.Confirmed, false)
		o := s.done(1)
		o.Response = nil
		s.is(judge.OpDo, o)
		s.attempt(false, 201)
		s.tells(do, s.done(2))
		return s
	},
	"the answer that brought the missing body could not be recorded": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.save()
		x := s.send()
		s.receive(x)
		s.answer(x, 201)
		s.tells(do, s.done(2))
		s.crash()
		do = s.call(judge.OpDo)
		s.attempt(false, 201)
		s.tells(do, s.done(3))
		return s
	},
	"two callers, and one leaves": func() *story {
		s := newStory(judge.Keyed)
		one := s.call(judge.OpDo)
		two := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.receive(x)
		leaver := s.unknown(1)
		leaver.InFlight = true
		s.tells(one, leaver)
		s.answer(x, 429)
		s.save()
		s.after(time.Second)
		s.is(judge.OpRead, s.open(oncehttp.Throttled, 1))
		s.attempt(true, 201)
		s.tells(two, s.done(2))
		return s
	},
	"an idempotent action repeated within its call": func() *story {
		s := newStory(judge.Idempotent)
		do := s.call(judge.OpDo)
		s.attempt(true, 500)
		s.attempt(true, 500)
		s.attempt(true, 200)
		s.tells(do, s.done(3))
		return s
	},
	"an unprotected action sent again, since nothing can have happened": func() *story {
		s := newStory(judge.Unprotected)
		do := s.call(judge.OpDo)
		s.save()
		x := s.send()
		s.answer(x, 0) // refused
		s.save()
		s.is(judge.OpRead, s.open(oncehttp.NotSent, 1))
		s.attempt(false, 429, "10")
		s.after(10 * time.Second)
		s.attempt(true, 201)
		s.tells(do, s.done(3))
		return s
	},
	"a server that breaks its contract": func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Honest = false })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(false, 409, "1")
		s.after(time.Second)
		s.attempt(true, 201)
		o := s.done(3)
		o.MayHaveRepeated = true
		s.tells(do, o)
		return s
	},
	"a server that breaks its contract, and nothing betrays it": func() *story {
		s := newStory(judge.Keyed)
		s.change(func(a *judge.Action) { a.Honest, a.Marked = false, false })
		do := s.call(judge.OpDo)
		s.attempt(true, 0)
		s.attempt(false, 409, "1")
		s.after(time.Second)
		s.attempt(true, 201)
		s.tells(do, s.done(3))
		return s
	},
	"a portal that answers in the API's name": func() *story {
		s := newStory(judge.Unprotected)
		s.change(func(a *judge.Action) { a.Spoofed = true })
		do := s.call(judge.OpDo)
		s.attempt(false, 200)
		s.tells(do, s.done(1))
		s.plan("b", judge.Unprotected)
		s.of("b").change(func(a *judge.Action) { a.Spoofed = true })
		do = s.call(judge.OpDo)
		s.attempt(true, 403)
		s.tells(do, s.no(oncehttp.Unauthorized, 1))
		return s
	},
	"a resource that somebody else deleted": func() *story {
		s := newStory(judge.Idempotent)
		s.change(func(a *judge.Action) { a.Method = "DELETE" })
		do := s.call(judge.OpDo)
		s.attempt(false, 500)
		s.attempt(false, 410)
		s.tells(do, s.done(2))
		return s
	},
	"a wish of one action does not bind what was let go before": func() *story {
		s := newStory(judge.Keyed)
		s.plan("b", judge.Keyed)
		do := s.call(judge.OpDo)
		also := s.of("b").call(judge.OpDo)
		s.of("a").attempt(false, 503, "3600")
		s.tells(do, s.open(oncehttp.Throttled, 1))
		s.of("b").attempt(true, 201)
		s.tells(also, s.done(1))
		return s
	},
	"a lookup proves that nothing happened": func() *story {
		s := newStory(judge.Unprotected)
		s.change(func(a *judge.Action) { a.Lookups = true })
		do := s.call(judge.OpDo)
		s.attempt(false, 500)
		s.tells(do, s.unknown(1))
		s.after(time.Hour)
		s.save()
		s.is(judge.OpRead, s.open(oncehttp.NotSent, 1))
		resume := s.call(judge.OpResume)
		s.attempt(true, 201)
		s.tells(resume, s.done(2))
		return s
	},
	"a caller who is not served sends nothing of its own": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		gone := s.call(judge.OpDo)
		s.attempt(true, 201)
		s.tells(gone, nil, errors.New("context canceled"))
		s.tells(do, s.done(1))
		return s
	},
}

func init() {
	maps.Copy(honest, honestContracts)
	maps.Copy(honest, honestKinds)
	maps.Copy(honest, honestWords)
}

func TestACorrectClientIsNotAccused(t *testing.T) {
	t.Parallel()
	for name, tell := range honest {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tell().run()
			assert.Empty(t, told(judge.Check(r)))
			found, checked := judge.CheckHistory(r)
			assert.Empty(t, told(found))
			assert.True(t, checked)
		})
	}
}

// What is not known accuses nobody: a run stays good when some of what was told
// is left out. Effects, words, passes, sends and saves happened, and stay.
func TestAGoodRunStaysGoodWhenLessIsKnown(t *testing.T) {
	t.Parallel()
	const seed = 20260
	rng := rand.New(rand.NewPCG(seed, 0))
	for name, tell := range honest {
		for range 50 {
			r := tell().run()
			var left []judge.Op
			for _, o := range r.Ops {
				if o.Kind == judge.OpResolve || o.Kind == judge.OpPass || o.Kind == judge.OpDo && o.Outcome != nil && o.Outcome.Reason == oncehttp.Unauthorized || rng.IntN(2) == 0 {
					left = append(left, o)
				} else if o.Kind == judge.OpDo {
					o.Outcome, o.Err, o.Return = nil, nil, 0 // it was made, and nobody heard of it
					left = append(left, o)
				}
			}
			r.Ops = left
			require.Empty(t, told(judge.Check(r)), "%s, seed %d", name, seed)
			found, _ := judge.CheckHistory(r)
			require.Empty(t, told(found), "%s, seed %d", name, seed)
		}
	}
}
