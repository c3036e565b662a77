package oncehttp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestAFreshSuccessAfterInProgressEndsTheTrustInTheContract(t *testing.T) {
	t.Parallel()
	var events []oncehttp.Event
	inProgress := mockserver.Code(409, "idempotency_in_progress")
	inBubble(t, script(inProgress, mockserver.Fault{}, mockserver.Lost()), func(b *bench) {
		o := b.do()
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.True(b, o.MayHaveRepeated)
		require.Len(b, events, 1)
		assert.Contains(b, events[0].Cause, "in progress")

		distrusting, err := b.c.Do("pay-2", b.pay())
		b.ruled(distrusting, err)
		assert.Equal(b, oncehttp.Pending, distrusting.State, "what may have taken effect is not sent again")
		assert.Equal(b, 1, distrusting.Attempts)

		b.c.Trust(events[0].Contract)
		trusting, err := b.c.Do("pay-2", b.pay())
		b.ruled(trusting, err)
		assert.Equal(b, oncehttp.Confirmed, trusting.State)
	}, func(cfg *oncehttp.Config) {
		cfg.OnEvent = func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventContradicted {
				events = append(events, e)
			}
		}
	})
}

// An attempt that got no answer says nothing of the one that still ran.
func TestAFreshSuccessAfterInProgressIsToldThoughAnAttemptInBetweenGotNoAnswer(t *testing.T) {
	t.Parallel()
	inProgress := mockserver.Code(409, "idempotency_in_progress")
	inBubble(t, script(inProgress, mockserver.Fault{See: mockserver.SeeReset}, mockserver.Fault{}), func(b *bench) {
		o := b.do()
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.True(b, o.MayHaveRepeated)
		assert.Equal(b, 3, o.Attempts)
	})
}

func TestAnAttemptThatWaitsIsNotMadeUnderAContractThatWasContradictedMeanwhile(t *testing.T) {
	t.Parallel()
	failed := mockserver.Status(500).With("Retry-After", "10")
	failed.Commit = true
	inProgress := mockserver.Code(409, "idempotency_in_progress")
	inBubble(t, script(failed, inProgress), func(b *bench) {
		waiting := make(chan *oncehttp.Outcome, 1)
		go func() {
			o, _ := b.c.Do("pay-2", b.pay())
			waiting <- o
		}()
		time.Sleep(time.Second)
		require.True(b, b.do().MayHaveRepeated)
		o := <-waiting
		assert.Equal(b, oncehttp.Pending, o.State, "the key may not be honoured")
		assert.Equal(b, 1, o.Attempts)
		assert.Len(b, b.srv.Requests(), 3)
	})
}
