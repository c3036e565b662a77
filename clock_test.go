package oncehttp_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestWhatIsExposedIsNotSentWhileTheClockIsBehindTheJournal(t *testing.T) {
	t.Parallel()
	path := journalPath(t)
	var key string
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		require.NoError(b, b.c.Close())
		b.path = path
		b.open()
		key = b.do().Key
		time.Sleep(3 * time.Hour) // longer than that record's own clock tells
		o, err := b.c.Do("pay-2", b.pay())
		b.ruled(o, err)
		require.Equal(b, oncehttp.Confirmed, o.State)
	}, oneAttempt)
	// Every bubble begins at the same time: the clock is set back to an hour
	// after the first attempt.
	inBubble(t, script(mockserver.Status(200), mockserver.Lost()), func(b *bench) {
		time.Sleep(time.Hour)
		var log bytes.Buffer
		b.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		require.NoError(b, b.c.Close())
		b.path = path
		b.open()
		assert.Contains(b, log.String(), "the clock is behind")
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.do())
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, outcomes[0])
		require.Empty(b, b.srv.Requests())

		b.reopen(func(cfg *oncehttp.Config) { cfg.Retry.MaxAttempts = 4 })
		o, err := b.c.Do("pay-3", b.pay())
		b.ruled(o, err)
		assert.Equal(b, oncehttp.Confirmed, o.State, "what is new is sent")
		o, err = b.c.Do("pay-4", b.pay())
		b.ruled(o, err)
		assert.Equal(b, oncehttp.Pending, o.State)
		assert.Equal(b, 1, o.Attempts, "and not again")
		require.Len(b, b.srv.Requests(), 2)

		time.Sleep(2 * time.Hour)
		o = b.do()
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Equal(b, key, o.Key)
	}, oneAttempt)
}

func TestTheJournalKeepsTheHighestTimeAtMostOnceASecond(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		require.NoError(b, b.c.Close())
		seen := func() time.Duration {
			j, err := oncehttp.OpenBolt(b.path, 0, nil)
			require.NoError(b, err)
			defer j.Close()
			return j.Standing().Seen.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		b.open()
		b.do()
		time.Sleep(400 * time.Millisecond)
		_, err := b.c.Begin("pay-2", b.pay())
		require.NoError(b, err)
		require.NoError(b, b.c.Close())
		first := seen()
		assert.Less(b, first, 400*time.Millisecond)
		b.open()
		time.Sleep(700 * time.Millisecond)
		_, err = b.c.Begin("pay-3", b.pay())
		require.NoError(b, err)
		require.NoError(b, b.c.Close())
		assert.Equal(b, 1100*time.Millisecond, seen())
		b.open()
	})
}
