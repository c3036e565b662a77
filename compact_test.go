package oncehttp_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C070
func TestAJournalThatWasEmptiedGivesItsSpaceBack(t *testing.T) {
	t.Parallel()
	intents, wave, size := 1000, 50, 64<<10 // as many again make no difference
	if testing.Short() {
		intents = 400
	}
	inBubble(t, mockserver.Config{Work: time.Second}, func(b *bench) {
		fileSize := func() int64 {
			info, err := os.Stat(b.path)
			require.NoError(b, err)
			return info.Size()
		}
		pad := strings.Repeat("x", size-len(`{"amount":500,"note":""}`))
		var most int64
		for n := 0; n < intents; n += wave {
			var wait sync.WaitGroup
			for i := range wave {
				wait.Go(func() {
					o, err := b.c.Do(fmt.Sprintf("pay-%d", n+i), post(b.T, b.srv.URL+"/payments", `{"amount":500,"note":"`+pad+`"}`))
					b.ruled(o, err)
					assert.Equal(b, oncehttp.Confirmed, o.State)
				})
			}
			wait.Wait()
			most = max(most, fileSize())
			time.Sleep(2 * time.Hour)
		}
		b.Logf("at most %d bytes of at least %d", most, wave*size)
		assert.Less(b, most, int64(3*wave*size))
		_, err := b.c.Prune(b.Context(), b.cfg.Retention)
		require.NoError(b, err)
		pending, err := b.c.Begin("pending", b.pay())
		require.NoError(b, err)
		fresh, err := b.c.Do("fresh", b.pay())
		b.ruled(fresh, err)

		require.NoError(b, b.c.Compact(b.Context()))
		b.Logf("%d bytes after Compact", fileSize())
		assert.Less(b, fileSize(), int64(2<<20))
		b.reopen()
		o, err := b.c.Outcome(b.Context(), "fresh")
		require.NoError(b, err)
		assert.Equal(b, fresh.Response.Body, o.Response.Body)
		o, err = b.c.Do("pay-0", post(b.T, b.srv.URL+"/payments", `{"amount":500,"note":"`+pad+`"}`))
		b.ruled(o, err)
		assert.True(b, o.FromJournal)
		assert.Equal(b, intents+1, b.srv.EffectsTotal())
		resumed := b.resume()
		require.Len(b, resumed, 1)
		assert.Equal(b, oncehttp.Confirmed, resumed[0].State)
		assert.Equal(b, pending.Key(), resumed[0].Key)
	}, keeps(time.Hour, time.Hour))
}

func TestCompactBesideCallsLosesNone(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	c := open(t, journalPath(t), oncehttp.Config{})
	var wait sync.WaitGroup
	for w := range 8 {
		wait.Go(func() {
			for n := range 30 {
				o, err := c.Do(fmt.Sprintf("pay-%d-%d", w, n), post(t, srv.URL+"/payments", payment))
				if err != nil || o.State != oncehttp.Confirmed {
					t.Errorf("Do beside Compact: %v, %v", o, err)
				}
			}
		})
	}
	for range 5 {
		require.NoError(t, c.Compact(t.Context()))
	}
	wait.Wait()
	assert.Equal(t, 240, srv.EffectsTotal())
	require.NoError(t, c.Close())
	require.ErrorIs(t, c.Compact(t.Context()), oncehttp.ErrClosed)
}

func TestAJournalWithoutCompactSaysSo(t *testing.T) {
	t.Parallel()
	j, err := oncehttp.OpenBolt(journalPath(t), 0, nil)
	require.NoError(t, err)
	c, err := oncehttp.New(struct{ oncehttp.Journal }{j}, oncehttp.Config{Transport: http.DefaultTransport})
	require.NoError(t, err)
	defer c.Close()
	require.ErrorContains(t, c.Compact(t.Context()), "cannot be compacted")
}
