package oncehttp_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

var (
	sayDone = oncehttp.Resolution{State: oncehttp.Confirmed, Reference: "ch_1", By: "ops", Why: "seen in the dashboard"}
	sayNo   = oncehttp.Resolution{State: oncehttp.Rejected, By: "ops", Why: "not there"}
)

// pending are the actions that Pending lists.
func (b *bench) pending() (actions []string) {
	b.Helper()
	for in, err := range b.c.Pending(b.Context()) {
		require.NoError(b, err)
		actions = append(actions, in.Action())
	}
	return actions
}

// A refusal for the moment is no word of a person's: theirs is for good.
func TestWhatAPersonRejectsIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	replayed := mockserver.Status(403).With("Idempotent-Replayed", "true")
	for attempts, script := range map[int][]mockserver.Fault{1: {mockserver.Status(403)}, 2: {mockserver.Status(502), replayed}} {
		inBubble(t, mockserver.Config{Script: script}, func(b *bench) {
			want{oncehttp.Rejected, oncehttp.Unauthorized, attempts, false, false}.check(b, b.do())
			require.NoError(b, b.c.Resolve(b.Context(), "pay-1", sayNo))
			want{oncehttp.Rejected, oncehttp.Refused, attempts, false, false}.check(b, b.do())
			assert.Len(b, b.srv.Requests(), attempts)
		})
	}
}

func TestAPersonsWordSettlesAnOpenIntent(t *testing.T) {
	t.Parallel()
	for _, word := range []oncehttp.Resolution{sayDone, sayNo} {
		var kinds []oncehttp.EventKind
		inBubble(t, script(mockserver.Lost()), func(b *bench) {
			b.do()
			assert.Equal(b, []string{"pay-1"}, b.pending())
			require.NoError(b, b.c.Resolve(b.Context(), "pay-1", word))
			seen := len(kinds)
			require.NoError(b, b.c.Resolve(b.Context(), "pay-1", word))
			assert.Len(b, kinds, seen, "a repeat changes nothing")
			assert.Contains(b, kinds, oncehttp.EventSettled)
			b.reopen()
			o := b.do()
			assert.Equal(b, word.State, o.State)
			assert.Equal(b, word.Reference, o.Reference)
			assert.Nil(b, o.Response)
			assert.True(b, o.FromJournal)
			assert.Empty(b, b.pending())
			time.Sleep(time.Hour)
			assert.Empty(b, b.resume())
			assert.Len(b, b.srv.Requests(), 1)
			// RoundTrip has no answer to give.
			_, err := b.c.RoundTrip(b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
			require.ErrorContains(b, err, word.State.String())
			var settled *oncehttp.NoAnswerError
			require.ErrorAs(b, err, &settled)
			assert.Equal(b, word.Reference, settled.Outcome.Reference)
			assert.NotErrorAs(b, err, new(*oncehttp.PendingError))
		}, oneAttempt, func(cfg *oncehttp.Config) {
			cfg.OnEvent = func(e oncehttp.Event) { kinds = append(kinds, e.Kind) }
		})
	}
}

func TestAWordThatSaysNothingIsRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		b.do()
		for _, word := range []oncehttp.Resolution{{}, {Reference: "x"}, {State: 7}} {
			require.ErrorContains(b, b.c.Resolve(b.Context(), "pay-1", word), "State")
		}
		require.ErrorIs(b, b.c.Resolve(b.Context(), "another", sayDone), oncehttp.ErrNotFound)
		require.ErrorIs(b, b.c.Resolve(b.Context(), "", sayDone), oncehttp.ErrInvalidAction)
		assert.Equal(b, oncehttp.Pending, b.known().State)
	}, oneAttempt)
}

func TestANoWhileAnAttemptMayStillArriveNeedsForce(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
		var all sync.WaitGroup
		all.Go(func() {
			o, err := b.c.Do("pay-1", b.pay())
			assert.NoError(b, err)
			assert.Equal(b, oncehttp.Rejected, o.State, "what was reported first stays")
			assert.Equal(b, oncehttp.Conflict, o.Reason)
		})
		time.Sleep(100 * time.Millisecond)
		require.ErrorIs(b, b.c.Resolve(b.Context(), "pay-1", sayNo), oncehttp.ErrInFlight)
		force := sayNo
		force.Force = true
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", force))
		assert.Equal(b, oncehttp.Rejected, b.known().State)
		all.Wait()

		// The attempt did arrive, and took effect.
		assert.Equal(b, 1, b.srv.EffectsTotal())
		o := b.known()
		assert.Equal(b, oncehttp.Rejected, o.State)
		assert.Equal(b, oncehttp.Conflict, o.Reason)
		b.reopen()
		assert.Equal(b, []string{"pay-1"}, b.pending(), "a person must decide")
		time.Sleep(time.Hour)
		assert.Empty(b, b.resume())
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", sayDone))
		assert.Empty(b, b.pending())
		assert.Equal(b, oncehttp.Confirmed, b.known().State)
		assert.Len(b, b.srv.Requests(), 1)
	})
	// A crash in mid-attempt: it may still arrive.
	inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
		b.crashAt(func(e oncehttp.Entry) bool { return true })
		require.ErrorIs(b, b.c.Resolve(b.Context(), "pay-1", sayNo), oncehttp.ErrInFlight)
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", sayDone))
		assert.Equal(b, oncehttp.Confirmed, b.known().State)
	})
}

// crashAt makes the payment on a journal that dies at the first update that
// the hook picks, with its whole process, and opens it anew.
func (b *bench) crashAt(dies func(oncehttp.Entry) bool) {
	b.Helper()
	dead := false
	die := func(e oncehttp.Entry) error {
		if dead = dead || dies(e); dead {
			return oncehttp.ErrJournal
		}
		return nil
	}
	b.hook(&hookedJournal{update: die})
	o, err := b.c.Do("pay-1", b.pay())
	require.Error(b, err)
	require.NotNil(b, o)
	require.ErrorIs(b, b.c.Close(), oncehttp.ErrJournal)
	b.open()
}

func TestWhoLeavesDuringAnAttemptIsToldAPersonsWord(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
		var all sync.WaitGroup
		all.Go(func() { b.do() })
		time.Sleep(100 * time.Millisecond)
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", sayDone))
		ctx, cancel := context.WithTimeout(b.Context(), 50*time.Millisecond)
		defer cancel()
		o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Confirmed, o.State)
		all.Wait()
		assert.Len(b, b.srv.Requests(), 1)
	})
}

func TestAWordEndsAWait(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503).With("Retry-After", "20")), func(b *bench) {
		var all sync.WaitGroup
		begun := time.Now()
		for range 3 {
			all.Go(func() {
				o := b.do()
				assert.Equal(b, oncehttp.Confirmed, o.State)
				assert.Equal(b, "ch_1", o.Reference)
			})
		}
		time.Sleep(time.Second)
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", sayDone))
		all.Wait()
		assert.Equal(b, time.Second, time.Since(begun))
		assert.Len(b, b.srv.Requests(), 1)
	})
}

// A person may change what was settled; it is recorded, and an event.
func TestAWordMayChangeWhatWasSettled(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.do()
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", sayNo))
		o := b.do()
		assert.Equal(b, oncehttp.Rejected, o.State)
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", sayDone))
		assert.Equal(b, oncehttp.Confirmed, b.do().State)
		assert.Len(b, b.srv.Requests(), 1)
	})
}

// A caller of RoundTrip would take the answer's status for what became of the
// action.
func TestAnAnswerThatAPersonHasOverruledIsNotHandedOn(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]mockserver.Fault{"refused": mockserver.Status(422), "confirmed": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(first), func(b *bench) {
				was := b.do()
				require.NotNil(b, was.Response)
				words := []oncehttp.Resolution{sayDone, sayNo}
				if was.State == oncehttp.Confirmed {
					slices.Reverse(words)
				}
				require.NoError(b, b.c.Resolve(b.Context(), "pay-1", words[0]))
				for range 2 {
					o := b.do()
					require.Equal(b, words[0].State, o.State)
					assert.Nil(b, o.Response)
					_, err := b.c.RoundTrip(b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
					require.ErrorAs(b, err, new(*oncehttp.NoAnswerError))
					b.reopen()
				}
				require.NoError(b, b.c.Resolve(b.Context(), "pay-1", words[1]))
				back := b.do().Response // a person takes the word back
				require.NotNil(b, back)
				assert.Equal(b, was.Response.StatusCode, back.StatusCode)
				assert.Equal(b, string(was.Response.Body), string(back.Body))
				assert.Len(b, b.srv.Requests(), 1)
			})
		})
	}
}
