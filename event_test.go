package oncehttp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestEveryEventOfAnIntentNamesIt(t *testing.T) {
	t.Parallel()
	var events []oncehttp.Event
	inBubble(t, script(mockserver.Status(503), mockserver.Status(429).With("Retry-After", "1")), func(b *bench) {
		o := b.do()
		require.Equal(b, oncehttp.Confirmed, o.State)
		var longest time.Duration
		for _, e := range events {
			switch e.Kind {
			case oncehttp.EventGateClosed, oncehttp.EventGateOpened:
				assert.NotEmpty(b, e.Host)
				continue
			case oncehttp.EventWaiting:
				longest = max(longest, e.Delay)
			}
			assert.Equal(b, o.Action, e.Action, e.Kind)
			assert.Len(b, e.KeyPrint, 8, e.Kind)
			assert.NotEmpty(b, e.Host, e.Kind)
			assert.NotEmpty(b, e.Contract, e.Kind)
		}
		assert.GreaterOrEqual(b, longest, time.Second)
	}, func(cfg *oncehttp.Config) { cfg.OnEvent = func(e oncehttp.Event) { events = append(events, e) } })
}
