package oncehttp_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A hook that panics in its caller's goroutine, which may recover as net/http's
// server does, leaves nobody waiting for what that caller began.
func TestAPanicOfAHookStrandsNoLaterCaller(t *testing.T) {
	t.Parallel()
	broken := true
	breaks := func() {
		if broken {
			panic("broken")
		}
	}
	for name, change := range map[string]func(*oncehttp.Config){
		"NewKey": func(cfg *oncehttp.Config) {
			cfg.NewKey = func(string) (string, error) {
				breaks()
				return "8e03978e-40d5-43e8-bc93-6894a57f9324", nil
			}
		},
		"OnEvent": func(cfg *oncehttp.Config) {
			cfg.OnEvent = func(e oncehttp.Event) {
				if e.Kind == oncehttp.EventMismatch {
					breaks()
				}
			}
		},
	} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			broken = false
			if name == "OnEvent" {
				_, err := b.c.Begin("pay-1", b.request(http.MethodPost, "/payments", `{"amount":1}`))
				require.NoError(b, err)
			}
			broken = true
			require.PanicsWithValue(b, "broken", func() { b.c.Do("pay-1", b.pay()) }, name)
			broken = false
			_, err := b.c.Do("pay-1", b.pay())
			if name == "OnEvent" {
				require.ErrorAs(b, err, new(*oncehttp.MismatchError))
			} else {
				require.NoError(b, err)
			}
			assert.NoError(b, b.c.Shutdown(b.Context()))
		}, change)
	}
}
