package oncehttp_test

import (
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestABackoffThatStopsEndsTheCall(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503).Always()), func(b *bench) {
		o := b.do()
		assert.Equal(b, 3, o.Attempts)
		assert.Equal(b, []time.Duration{time.Second, time.Second}, b.gaps())
		assert.False(b, o.RetryAt.IsZero(), "Resume may go on")
	}, func(cfg *oncehttp.Config) {
		cfg.Retry.MaxAttempts = 10
		cfg.Retry.BackOff = func() backoff.BackOff {
			return backoff.WithMaxRetries(backoff.NewConstantBackOff(time.Second), 2)
		}
	})
}

// The index of the backoff goes on over calls and restarts.
func TestWaitsGrowOverCallsAndRestarts(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503).Always()), func(b *bench) {
		for range 3 {
			b.do()
			b.reopen()
		}
		o := b.do()
		assert.Equal(b, 8, o.Attempts)
		assert.Equal(b, []time.Duration{1, 2, 4, 8, 16, 32, 64}, seconds(b.gaps()))
	}, func(cfg *oncehttp.Config) {
		cfg.Retry.MaxAttempts, cfg.Retry.MaxElapsed, cfg.Retry.Cap = 2, time.Hour, time.Hour
		cfg.Retry.BackOff = func() backoff.BackOff {
			doubles := backoff.NewExponentialBackOff()
			doubles.InitialInterval, doubles.MaxInterval, doubles.MaxElapsedTime = time.Second, time.Hour, 0
			doubles.Multiplier, doubles.RandomizationFactor = 2, 0
			doubles.Reset()
			return doubles
		}
	})
}

func seconds(waits []time.Duration) (s []time.Duration) {
	for _, w := range waits {
		s = append(s, w/time.Second)
	}
	return s
}

func TestACallStartsNoAttemptAfterItsTimeIsUp(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503).Always()), func(b *bench) {
		begun := time.Now()
		o := b.do()
		assert.LessOrEqual(b, time.Since(begun), 5*time.Second)
		assert.LessOrEqual(b, o.Attempts, 3)
		require.NotEmpty(b, b.gaps())
		time.Sleep(time.Minute)
		assert.Len(b, b.srv.Requests(), o.Attempts)
	}, func(cfg *oncehttp.Config) {
		cfg.Retry.MaxAttempts, cfg.Retry.MaxElapsed = 100, 5*time.Second
		cfg.Retry.BackOff = func() backoff.BackOff { return backoff.NewConstantBackOff(2 * time.Second) }
	})
}
