package wire

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/oncehttp/oncehttp"
)

// Who leaves while the request is under way is told that it may have executed;
// the answer that comes after that is in the journal all the same.
func TestAnAnswerThatComesAfterItsCallerLeftIsRecorded(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			left := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			base, scheme := transport(way)
			s := serveFrames(t, scheme == "https://", script{whole: func(c *conn, r request) {
				cancel()
				c.goAway(r.id, http2.ErrCodeNo)
				c.beside(func() {
					<-left
					c.answer(r)
				})
			}})
			client, err := oncehttp.Open(filepath.Join(scratch(t), "intents.db"), oncehttp.Config{Transport: base})
			require.NoError(t, err)
			defer client.Close()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, scheme+s.addr+"/payments", strings.NewReader(payment))
			require.NoError(t, err)
			o, err := client.Do("order-42/charge", req)
			close(left)
			require.ErrorAs(t, err, new(*oncehttp.PendingError))
			require.ErrorIs(t, err, context.Canceled)
			assert.True(t, o.MayHaveExecuted)
			assert.Eventually(t, func() bool {
				o, err := client.Outcome(t.Context(), "order-42/charge")
				return err == nil && o.State == oncehttp.Confirmed && o.Attempts == 1
			}, timely, 2*time.Millisecond)
			assert.Equal(t, 1, s.now().heads)
			require.NoError(t, client.Close())
			base.(interface{ CloseIdleConnections() }).CloseIdleConnections()
		})
	}
}
