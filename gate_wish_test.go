package oncehttp_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// Rule 10: what its host's gate has let go and is not sent yet heeds what the host
// asks of another meanwhile.
func TestAHostsWishIsHeededByWhatIsAboutToBeSent(t *testing.T) {
	t.Parallel()
	for _, slow := range []string{"Authorize", "the journal"} {
		inBubble(t, script(mockserver.Status(429).With("Retry-After", "60")), func(b *bench) {
			if slow == "the journal" {
				var writes atomic.Int64
				b.hook(&hookedJournal{create: func(oncehttp.Entry) error {
					if writes.Add(1) == 1 {
						time.Sleep(10 * time.Second)
					}
					return nil
				}})
			}
			begun := time.Now()
			var both sync.WaitGroup
			both.Go(func() {
				req := b.pay()
				req.Header.Set("X-Slow", slow)
				o, err := b.c.Do("pay-1", req)
				b.ruled(o, err)
				assert.Equal(b, 1, o.Attempts, "what was withdrawn does not count")
			})
			both.Go(func() {
				time.Sleep(time.Second)
				o, err := b.c.Do("pay-2", b.pay())
				b.ruled(o, err)
			})
			time.Sleep(30 * time.Second)
			if slow == "the journal" {
				o := b.known()
				assert.False(b, o.MayHaveExecuted, "it is in no attempt while it waits")
			}
			both.Wait()
			require.Len(b, b.srv.Requests(), 3, slow)
			for _, q := range b.srv.Requests()[1:] {
				assert.GreaterOrEqual(b, q.Time.Sub(begun), 61*time.Second, slow)
			}
		}, func(cfg *oncehttp.Config) {
			cfg.Retry.MaxElapsed = 2 * time.Minute
			cfg.Authorize = func(req *http.Request, _ bool) error {
				if req.Header.Get("X-Slow") == "Authorize" {
					time.Sleep(10 * time.Second)
				}
				return nil
			}
		})
	}
}

// Rule 10: after a restart too, when the clock was set back meanwhile, for no longer
// than the host asked.
func TestAHostsWishBindsAfterARestartAtWhichTheClockIsBehind(t *testing.T) {
	t.Parallel()
	path := journalPath(t)
	inBubble(t, script(mockserver.Status(429).With("Retry-After", "3600")), func(b *bench) {
		time.Sleep(3 * time.Hour)
		require.NoError(b, b.c.Close())
		b.path = path
		b.open()
		assert.Equal(b, oncehttp.Throttled, b.do().Reason)
	})
	inBubble(t, mockserver.Config{}, func(b *bench) { // which begins three hours earlier
		require.NoError(b, b.c.Close())
		b.path = path
		b.open()
		o, err := b.c.Do("pay-2", b.pay())
		b.ruled(o, err)
		assert.Equal(b, oncehttp.GateClosed, o.Reason)
		time.Sleep(time.Hour + time.Minute)
		b.do() // its own wait is by the clock, and longer
		o, err = b.c.Do("pay-2", b.pay())
		b.ruled(o, err)
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Len(b, b.srv.Requests(), 1)
	})
}
