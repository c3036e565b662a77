package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func keeps(answers, records time.Duration) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) { cfg.Retention = oncehttp.Retention{Answers: answers, Records: records} }
}

func TestAPrunedActionStillAnswersWithoutASecondEffect(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		first := b.do()
		require.NotNil(b, first.Response)

		time.Sleep(25 * time.Hour)
		pruned, err := b.c.Prune(b.Context(), b.cfg.Retention)
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Pruned{Answers: 1}, pruned)
		o := b.do()
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Nil(b, o.Response)
		assert.True(b, o.FromJournal)

		time.Sleep(10 * 24 * time.Hour)
		pruned, err = b.c.Prune(b.Context(), b.cfg.Retention)
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Pruned{Records: 1}, pruned)
		b.reopen()
		o = b.do()
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Equal(b, 1, o.Attempts)
		assert.Nil(b, o.Response)
		assert.Equal(b, first.Key, o.Key)
		_, err = b.c.Do("pay-1", post(b.T, b.srv.URL+"/payments", `{"amount":501}`))
		require.ErrorIs(b, err, oncehttp.ErrMismatch)

		_, err = b.c.RoundTrip(b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
		assert.ErrorContains(b, err, "no longer kept")
		var pending *oncehttp.PendingError
		assert.NotErrorAs(b, err, &pending)
		assert.Equal(b, 1, b.srv.EffectsTotal())
		pruned, err = b.c.Prune(b.Context(), b.cfg.Retention)
		require.NoError(b, err)
		assert.Zero(b, pruned, "a tombstone stays")
	}, keeps(24*time.Hour, 7*24*time.Hour))
}

func TestWhatIsNotSettledIsNeverPruned(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		o := b.do()
		require.Equal(b, oncehttp.Pending, o.State)
		time.Sleep(1000 * 24 * time.Hour)
		pruned, err := b.c.Prune(b.Context(), oncehttp.Retention{Answers: time.Second, Records: time.Second})
		require.NoError(b, err)
		assert.Zero(b, pruned)
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.known())
	}, unprotected)
}

func TestAnAnonymousActionLeavesNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		resp, err := b.c.RoundTrip(b.pay())
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		o, ok := oncehttp.OutcomeOf(resp)
		require.True(b, ok)
		time.Sleep(time.Hour)
		pruned, err := b.c.Prune(b.Context(), oncehttp.Retention{Answers: time.Minute, Records: time.Minute})
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Pruned{Records: 1}, pruned)
		_, err = b.c.Outcome(b.Context(), o.Action)
		assert.ErrorIs(b, err, oncehttp.ErrNotFound)
	})
}

func TestRetentionRunsByItselfInSmallSteps(t *testing.T) {
	t.Parallel()
	const old = 700
	inBubble(t, mockserver.Config{}, func(b *bench) {
		do := func(action string) {
			o, err := b.c.Do(action, b.pay())
			b.ruled(o, err)
		}
		for i := range old {
			do(fmt.Sprintf("old-%d", i))
		}
		time.Sleep(10 * 24 * time.Hour)
		for i := range 10 {
			do(fmt.Sprintf("new-%d", i))
			time.Sleep(time.Second)
		}
		o, err := b.c.Outcome(b.Context(), fmt.Sprintf("old-%d", old-1))
		require.NoError(b, err)
		assert.Nil(b, o.Response)
		o, err = b.c.Outcome(b.Context(), "new-0")
		require.NoError(b, err)
		assert.NotNil(b, o.Response)
		pruned, err := b.c.Prune(b.Context(), b.cfg.Retention)
		require.NoError(b, err)
		assert.Zero(b, pruned, "nothing was left to do")
	}, keeps(24*time.Hour, 7*24*time.Hour))
}

func TestNewActionsAreRefusedWhileTooManyAreUnresolved(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost().Always()), func(b *bench) {
		for i := range 2 {
			o, err := b.c.Do(fmt.Sprintf("pay-%d", i), b.pay())
			b.ruled(o, err)
		}
		_, err := b.c.Do("pay-2", b.pay())
		require.ErrorIs(b, err, oncehttp.ErrTooMany)
		b.reopen()
		_, err = b.c.Do("pay-2", b.pay())
		require.ErrorIs(b, err, oncehttp.ErrTooMany)
		assert.Len(b, b.srv.Requests(), 2)
		require.NoError(b, b.c.Resolve(b.Context(), "pay-0", oncehttp.Resolution{State: oncehttp.Rejected, By: "ada", Why: "looked it up"}))
		o, err := b.c.Do("pay-2", b.pay())
		b.ruled(o, err)
		assert.Len(b, b.srv.Requests(), 3)
		_, err = b.c.Do("pay-3", b.pay())
		require.ErrorIs(b, err, oncehttp.ErrTooMany)
	}, unprotected, func(cfg *oncehttp.Config) { cfg.MaxUnresolved = 2 })
}

// A refusal for the moment is begun again by Do, but what was pruned has no
// request left to send.
func TestAPrunedRefusalIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(401)), func(b *bench) {
		want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, b.do())
		time.Sleep(48 * time.Hour)
		pruned, err := b.c.Prune(b.Context(), b.cfg.Retention)
		require.NoError(b, err)
		require.Equal(b, 1, pruned.Records)
		o := b.do()
		assert.Equal(b, oncehttp.Rejected, o.State)
		assert.True(b, o.FromJournal)
		assert.Len(b, b.srv.Requests(), 1)
	}, keeps(time.Hour, 24*time.Hour))
}

// Where another Do may send the request again, it outlives the answer.
func TestAPrunedAnswerLeavesARequestThatMayBeSentAgain(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]mockserver.Fault{
		"refused for the moment": mockserver.Status(401),
		"confirmed without body": {See: mockserver.SeeTruncated, Keep: 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(first), func(b *bench) {
				require.NotEqual(b, oncehttp.Pending, b.do().State)
				time.Sleep(2 * time.Hour)
				pruned, err := b.c.Prune(b.Context(), b.cfg.Retention)
				require.NoError(b, err)
				require.Equal(b, oncehttp.Pruned{Answers: 1}, pruned)
				b.reopen()
				o := b.do()
				assert.Equal(b, oncehttp.Confirmed, o.State)
				assert.Equal(b, 2, o.Attempts)
				require.NotNil(b, o.Response)
				assert.NotEmpty(b, o.Response.Body)
				assert.False(b, o.Response.BodyIncomplete)
				assert.Equal(b, 1, b.srv.EffectsTotal())
			}, keeps(time.Hour, 24*time.Hour), oneAttempt)
		})
	}
}

func TestAsManyAsMayBeUnresolvedAreBegunAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost().Always()), func(b *bench) {
		b.hook(&hookedJournal{create: func(oncehttp.Entry) error { time.Sleep(time.Millisecond); return nil }})
		var refused atomic.Int32
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				if _, err := b.c.Do(fmt.Sprintf("pay-%d", i), b.pay()); errors.Is(err, oncehttp.ErrTooMany) {
					refused.Add(1)
				}
			})
		}
		calls.Wait()
		assert.EqualValues(b, 18, refused.Load())
		assert.Len(b, b.srv.Requests(), 2)
	}, unprotected, func(cfg *oncehttp.Config) { cfg.MaxUnresolved = 2 })
}

// recordedJournal tells when a record was created, before whoever created it
// knows.
type recordedJournal struct {
	oncehttp.Journal
	recorded func(oncehttp.Entry)
}

func (j *recordedJournal) Create(ctx context.Context, e oncehttp.Entry) (oncehttp.Entry, error) {
	e, err := j.Journal.Create(ctx, e)
	if err == nil {
		j.recorded(e)
	}
	return e, err
}

func TestWhatAPersonSettlesDuringASaveIsCountedAndToldOnce(t *testing.T) {
	t.Parallel()
	var begun, settled atomic.Int32
	inBubble(t, script(mockserver.Lost().Always()), func(b *bench) {
		j := &hookedJournal{}
		b.hook(j)
		j.Journal = &recordedJournal{j.Journal, func(oncehttp.Entry) {
			if begun.Load() == 0 {
				assert.NoError(b, b.c.Resolve(b.Context(), "pay-1", oncehttp.Resolution{State: oncehttp.Confirmed, By: "ada"}))
			}
		}}
		assert.Equal(b, oncehttp.Confirmed, b.do().State)
		assert.EqualValues(b, 1, begun.Load())
		assert.EqualValues(b, 1, settled.Load())
		assert.Empty(b, b.srv.Requests())
		o, err := b.c.Do("pay-2", b.pay())
		b.ruled(o, err)
		_, err = b.c.Do("pay-3", b.pay())
		require.ErrorIs(b, err, oncehttp.ErrTooMany)
	}, unprotected, func(cfg *oncehttp.Config) {
		cfg.MaxUnresolved = 1
		cfg.OnEvent = func(e oncehttp.Event) {
			switch {
			case e.Kind == oncehttp.EventBegun && e.State == oncehttp.Pending:
				begun.Add(1)
			case e.Kind == oncehttp.EventSettled:
				settled.Add(1)
			}
		}
	})
}
