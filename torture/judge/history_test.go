package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
	"github.com/oncehttp/oncehttp/torture/tally"
)

// impossible are histories that no order explains; only what is told and what
// happened counts here.
var impossible = map[string]func() *story{
	"Confirmed without an effect": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, s.done(1))
		return s
	},
	"Confirmed before the effect began": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, s.done(1))
		s.effect()
		return s
	},
	"Rejected, and an effect later": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, s.no(oncehttp.Refused, 1))
		s.effect()
		return s
	},
	"Rejected after an effect": func() *story {
		s := newStory(judge.Unprotected)
		s.effect()
		s.is(judge.OpResume, s.no(oncehttp.Refused, 1))
		return s
	},
	"Rejected for the moment after an effect": func() *story {
		s := newStory(judge.Keyed)
		s.effect()
		s.is(judge.OpDo, s.no(oncehttp.Unauthorized, 1))
		return s
	},
	"a success that becomes unknown": func() *story {
		s := newStory(judge.Keyed)
		s.effect()
		s.is(judge.OpDo, s.done(1))
		s.is(judge.OpRead, s.unknown(1))
		return s
	},
	"a refusal that becomes open": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, s.no(oncehttp.Refused, 1))
		s.is(judge.OpRead, s.open(oncehttp.NotSent, 1))
		return s
	},
	"two readers who see it in two orders": func() *story {
		s := newStory(judge.Keyed)
		s.effect()
		do := s.call(judge.OpDo)
		s.is(judge.OpRead, s.done(1))
		late := s.call(judge.OpRead)
		s.is(judge.OpRead, s.done(1))
		s.tells(late, s.unknown(1))
		s.tells(do, s.done(1))
		return s
	},
	"told that nothing can have executed after the effect": func() *story {
		s := newStory(judge.Keyed)
		s.effect()
		s.is(judge.OpRead, s.open(oncehttp.Throttled, 1))
		return s
	},
	"two effects under a contract": func() *story {
		s := newStory(judge.Keyed)
		s.effect()
		s.effect()
		s.is(judge.OpRead, s.done(2))
		return s
	},
	"two effects of an unprotected action": func() *story {
		s := newStory(judge.Unprotected)
		s.effect()
		s.is(judge.OpRead, s.unknown(1))
		s.effect()
		return s
	},
	"an acknowledged action that is unknown": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpBegin, s.open(oncehttp.NotSent, 0))
		s.crash()
		s.is(judge.OpRead, nil, oncehttp.ErrNotFound)
		return s
	},
	"an effect of an action that is unknown after it": func() *story {
		s := newStory(judge.Keyed)
		s.effect()
		s.crash()
		s.is(judge.OpRead, nil, oncehttp.ErrNotFound)
		return s
	},
	"another payload that is taken for the same": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpBegin, s.open(oncehttp.NotSent, 0))
		do := s.call(judge.OpDo)
		do.Payload = other
		s.tells(do, s.open(oncehttp.NotSent, 0))
		return s
	},
	"the same payload that is taken for another": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpBegin, s.open(oncehttp.NotSent, 0))
		s.is(judge.OpDo, nil, oncehttp.ErrMismatch)
		return s
	},
	"a person's word that is forgotten": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, s.unknown(1))
		s.resolve(oncehttp.Confirmed, false)
		s.is(judge.OpRead, s.unknown(1))
		return s
	},
	"begun again in spite of a person's word": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, s.no(oncehttp.Unauthorized, 1))
		s.resolve(oncehttp.Rejected, false)
		s.effect()
		s.is(judge.OpDo, s.done(2))
		return s
	},
	"a word that was refused, and taken": func() *story {
		s := newStory(judge.Keyed)
		s.effect()
		s.is(judge.OpDo, s.unknown(1))
		s.resolve(oncehttp.Rejected, false, oncehttp.ErrInFlight)
		s.is(judge.OpRead, s.no(oncehttp.Refused, 1))
		return s
	},
	"a conflict that goes away": func() *story {
		s := newStory(judge.Keyed)
		s.effect()
		s.is(judge.OpDo, s.outcome(oncehttp.Confirmed, oncehttp.Conflict, 1))
		s.is(judge.OpRead, s.done(1))
		return s
	},
}

func TestAnImpossibleHistoryIsFound(t *testing.T) {
	t.Parallel()
	for name, tell := range impossible {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, checked := judge.CheckHistory(tell().run())
			require.Len(t, found, 1)
			assert.True(t, checked)
			assert.Equal(t, tally.Lies, found[0].Count)
			assert.Equal(t, "a", found[0].Action)
		})
	}
}

// possible are histories that only some order explains.
var possible = map[string]func() *story{
	"Confirmed while the effect is not over": func() *story {
		s := newStory(judge.Keyed)
		do := s.call(judge.OpDo)
		e := s.effect()
		s.tells(do, s.done(1))
		e.Return = s.next()
		return s
	},
	"an effect that never ends": func() *story {
		s := newStory(judge.Keyed)
		e := s.effect()
		s.is(judge.OpDo, s.unknown(1))
		e.Return = 0
		s.crash()
		s.is(judge.OpRead, s.done(2))
		return s
	},
	"a slow reader who tells what was": func() *story {
		s := newStory(judge.Keyed)
		read := s.call(judge.OpRead)
		s.effect()
		s.is(judge.OpDo, s.done(1))
		s.tells(read, s.open(oncehttp.NotSent, 0))
		return s
	},
	"a slow reader who knew nothing of it": func() *story {
		s := newStory(judge.Keyed)
		read := s.call(judge.OpRead)
		s.is(judge.OpBegin, s.open(oncehttp.NotSent, 0))
		s.tells(read, nil, oncehttp.ErrNotFound)
		return s
	},
	"a process that died may have done all or nothing": func() *story {
		s := newStory(judge.Keyed)
		s.call(judge.OpDo)
		s.crash()
		s.is(judge.OpRead, nil, oncehttp.ErrNotFound)
		s.call(judge.OpDo)
		s.effect()
		s.crash()
		s.is(judge.OpRead, s.done(1))
		return s
	},
	"a word of unknown fate was taken": func() *story {
		s := newStory(judge.Unprotected)
		s.is(judge.OpDo, s.unknown(1))
		s.resolve(oncehttp.Rejected, true, oncehttp.ErrFateUnknown)
		s.is(judge.OpRead, s.no(oncehttp.Refused, 1))
		s.effect()
		return s
	},
	"a word of unknown fate was not taken": func() *story {
		s := newStory(judge.Unprotected)
		s.is(judge.OpDo, s.unknown(1))
		s.resolve(oncehttp.Rejected, true, oncehttp.ErrFateUnknown)
		s.is(judge.OpRead, s.unknown(1))
		return s
	},
	"a word whose caller died was taken later": func() *story {
		s := newStory(judge.Unprotected)
		s.is(judge.OpDo, s.unknown(1))
		o := s.call(judge.OpResolve)
		o.Resolved = oncehttp.Resolution{State: oncehttp.Confirmed}
		s.crash()
		s.is(judge.OpRead, s.done(1))
		return s
	},
	"what looked exposed was known to have done nothing": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpRead, s.unknown(1))
		s.is(judge.OpRead, s.open(oncehttp.Throttled, 1))
		s.is(judge.OpDo, s.no(oncehttp.Refused, 2))
		return s
	},
	"begun again": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, s.no(oncehttp.Unauthorized, 1))
		s.is(judge.OpRead, s.open(oncehttp.NotSent, 1))
		s.effect()
		s.is(judge.OpDo, s.done(2))
		return s
	},
	"many effects of an idempotent action": func() *story {
		s := newStory(judge.Idempotent)
		s.effect()
		s.effect()
		s.is(judge.OpDo, s.done(3))
		s.effect() // late
		return s
	},
	"a conflict, decided": func() *story {
		s := newStory(judge.Keyed)
		s.is(judge.OpDo, s.unknown(1))
		s.resolve(oncehttp.Rejected, true)
		s.effect()
		s.is(judge.OpRead, s.no(oncehttp.Conflict, 1))
		s.resolve(oncehttp.Confirmed, false)
		s.is(judge.OpRead, s.done(1))
		return s
	},
	"two that call at once, with two payloads": func() *story {
		s := newStory(judge.Keyed)
		one, two := s.call(judge.OpDo), s.call(judge.OpDo)
		two.Payload = other
		s.effect()
		s.tells(one, nil, oncehttp.ErrMismatch)
		s.tells(two, s.done(1))
		return s
	},
}

func TestAPossibleHistoryIsNotFound(t *testing.T) {
	t.Parallel()
	for name, tell := range possible {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, checked := judge.CheckHistory(tell().run())
			assert.Empty(t, told(found))
			assert.True(t, checked)
		})
	}
}

func TestABadHistoryIsToldAtItsShortest(t *testing.T) {
	t.Parallel()
	s := newStory(judge.Keyed)
	for range 5 {
		s.is(judge.OpRead, s.open(oncehttp.NotSent, 0))
	}
	do := s.call(judge.OpDo)
	s.effect()
	s.tells(do, s.done(1))
	s.is(judge.OpRead, s.done(1))
	s.is(judge.OpRead, s.unknown(1))
	found, _ := judge.CheckHistory(s.run())
	require.Len(t, found, 1)
	assert.Equal(t, `no order of these is possible:
  12 to 15: do tells action="a" state=Confirmed key_print=02aed346 attempts=1 status=201, with payload 1
  13 to 14: an effect under key "4f7a9c52-keya"
  18 to 19: read tells action="a" state=Pending key_print=02aed346 reason=Unknown attempts=1 may_have_executed=true`, found[0].Text)
}

func TestAHistoryThatIsTooLongIsNotDecided(t *testing.T) {
	t.Parallel()
	s := newStory(judge.Keyed)
	for range 61 {
		s.is(judge.OpRead, s.open(oncehttp.NotSent, 0))
	}
	s.plan("b", judge.Keyed)
	s.of("b").is(judge.OpRead, s.done(1))
	found, checked := judge.CheckHistory(s.run())
	assert.False(t, checked)
	require.Len(t, found, 1, "the other action is decided")
	assert.Equal(t, "b", found[0].Action)
}

// manyActions is a run of ten actions and about sixty calls.
func manyActions() *judge.Run {
	s := newStory(judge.Keyed)
	for _, name := range strings.Split("abcdefghij", "") {
		s.plan(name, judge.Keyed)
	}
	var calls []*judge.Op
	for name := range s.actions {
		calls = append(calls, s.of(name).call(judge.OpDo))
	}
	for i, o := range calls {
		s.of(o.Action)
		s.attempt(true, 0)
		s.is(judge.OpRead, s.unknown(1))
		s.after(time.Second)
		if i%2 == 0 {
			s.attempt(false, 201)
			s.tells(o, s.done(2))
		} else {
			s.tells(o, s.unknown(1))
			s.attempt(false, 201)
			s.is(judge.OpResume, s.done(2))
		}
	}
	s.crash()
	for name := range s.actions {
		s.of(name).is(judge.OpRead, s.done(2))
		s.is(judge.OpDo, s.done(2))
		s.is(judge.OpRead, s.done(2))
	}
	s.pass()
	return s.run()
}

func TestManyActionsAreJudgedEachForItself(t *testing.T) {
	t.Parallel()
	r := manyActions()
	assert.Empty(t, told(judge.Check(r)))
	found, checked := judge.CheckHistory(r)
	assert.Empty(t, told(found))
	assert.True(t, checked)
}

func BenchmarkCheck(b *testing.B) {
	r := manyActions()
	b.ReportMetric(float64(len(r.Ops)), "ops/run")
	for b.Loop() {
		if len(judge.Check(r)) > 0 {
			b.Fatal("found something")
		}
	}
}

func BenchmarkCheckHistory(b *testing.B) {
	r := manyActions()
	for b.Loop() {
		if found, checked := judge.CheckHistory(r); len(found) > 0 || !checked {
			b.Fatal("found something")
		}
	}
}
