package oncehttp_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// An API that answers 500 for ever, under a key that it remembers for ever.
func TestAnIntentThatNeverSettlesIsSentEverMoreSeldom(t *testing.T) {
	t.Parallel()
	failing := mockserver.Fault{Origin: true, Commit: true, Status: http.StatusInternalServerError}
	inBubble(t, mockserver.Config{Script: []mockserver.Fault{failing.Always()}}, func(b *bench) {
		o := b.do()
		require.Equal(b, oncehttp.Pending, o.State)
		ctx, cancel := context.WithTimeout(b.Context(), 10*24*time.Hour)
		defer cancel()
		assert.ErrorIs(b, b.c.Run(ctx), context.DeadlineExceeded)
		o = b.known()
		assert.Equal(b, oncehttp.Pending, o.State)
		assert.Greater(b, o.Attempts, 100, "it is not given up")
		assert.Less(b, o.Attempts, 1000, "with the pauses of a call it would be 80,000")

		before := o.Attempts
		o = b.do()
		assert.Greater(b, o.Attempts, before, "who asks does not wait for that")
	}, func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Window = oncehttp.Window{Kind: oncehttp.WindowForever}
		cfg.Contracts[0].Replay = oncehttp.Marker{}
	})
}
