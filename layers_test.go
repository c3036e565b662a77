package oncehttp_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// However many layers retry, what is sent is what one journal counts.
func TestLayersThatRetryDoNotMultiplyWhatIsSent(t *testing.T) {
	t.Parallel()
	lost := mockserver.Fault{See: mockserver.SeeClose}.Always()
	for name, fault := range map[string]mockserver.Fault{
		"503": mockserver.Status(503).Always(), "lost": lost, "lost, and done": mockserver.Lost().Always(), "429": mockserver.Status(429).Always(),
	} {
		for protected, change := range map[string]func(*oncehttp.Config){"keyed": func(*oncehttp.Config) {}, "unprotected": unprotected} {
			t.Run(name+", "+protected, func(t *testing.T) {
				t.Parallel()
				inBubble(t, script(fault), func(b *bench) {
					// A client of ours, over another, over a third.
					contracts := b.cfg.Contracts
					middle, err := oncehttp.Open(journalPath(b.T), oncehttp.Config{Transport: b.c, Retry: fieldRetry, Contracts: contracts})
					require.NoError(b, err)
					defer middle.Close()
					outer, err := oncehttp.Open(journalPath(b.T), oncehttp.Config{Transport: middle, Retry: fieldRetry, Contracts: contracts})
					require.NoError(b, err)
					defer outer.Close()
					attempts := 0
					for range 3 { // and a loop around it, which knows the action's name
						o, err := outer.Do("pay-1", b.pay())
						b.ruled(o, err)
						attempts = o.Attempts
						time.Sleep(time.Minute)
					}
					assert.Len(b, b.srv.Requests(), attempts)
					assert.LessOrEqual(b, attempts, 12)
					assert.Empty(b, b.pending(), "the inner ones record nothing")
					if len(contracts) > 0 {
						b.oneKey()
					}
				}, change)
			})
		}
	}
	// The same loop around an http.Client, whose redirects come back to us.
	inBubble(t, script(mockserver.Redirect(307, "/v2"), lost, lost, mockserver.Redirect(308, "/v3"), lost), func(b *bench) {
		client := b.c.HTTPClient()
		var last *oncehttp.PendingError
		for range 3 {
			_, err := client.Do(b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
			require.True(b, errors.As(err, &last), "%v", err)
			time.Sleep(time.Minute)
		}
		assert.Len(b, b.srv.Requests(), last.Outcome.Attempts)
		b.oneKey()
	})
	inBubble(t, script(mockserver.Redirect(302, "/done")), func(b *bench) {
		_, err := b.c.HTTPClient().Do(b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
		require.ErrorAs(b, err, new(*oncehttp.PendingError))
		sent := 0
		for _, q := range b.srv.Requests() {
			if q.Method == http.MethodPost {
				sent++
			}
		}
		assert.Equal(b, 1, sent)
	})
}
