package oncehttp_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// backlogged leaves n intents of a host pending.
func (b *bench) backlogged(host string, n int) {
	b.Helper()
	const callers = 50
	var all sync.WaitGroup
	for w := range callers {
		all.Go(func() {
			for i := w; i < n; i += callers {
				_, err := b.c.Do(fmt.Sprint(host, i), post(b.T, "https://"+host+"/charges", `{}`))
				assert.Error(b, err)
			}
		})
	}
	all.Wait()
}

// After an outage of three days thousands of actions wait for a lookup: the host
// is not asked by all at once, neither while it fails nor when it is back, every one
// has its turn, and another host's do not wait for it.
func TestABacklogOfLookupsNeitherStormsAHostNorStarves(t *testing.T) {
	t.Parallel()
	const backlog, others, latency = 2000, 20, 100 * time.Millisecond
	c := keyless()
	c.Match.Hosts = []string{"legacy.test", "other.test"}
	c.Plant = oncehttp.Plant{}
	mute := c
	mute.Lookups = nil
	c.Lookups = []oncehttp.Lookup{{URL: "/charges", Reference: "/id"}}

	api := &till{}
	var mu sync.Mutex
	var back time.Time
	var under, most, failed, elsewhere int
	seconds := map[int64]int{}
	api.get = func(_ int, req tilled) *http.Response {
		mu.Lock()
		if req.URL.Host == "other.test" {
			elsewhere++
			mu.Unlock()
			return says(200, `{"id":"ch_1"}`)
		}
		under++
		most = max(most, under)
		seconds[time.Now().Unix()]++
		down := time.Now().Before(back)
		if down {
			failed++
		}
		mu.Unlock()
		time.Sleep(latency)
		mu.Lock()
		under--
		mu.Unlock()
		if down {
			return says(503, `{}`)
		}
		return says(200, `{"id":"ch_1"}`)
	}
	atTill(t, api, mute, func(b *bench) {
		b.backlogged("legacy.test", backlog)
		b.backlogged("other.test", others)
		time.Sleep(72 * time.Hour)
		b.reopen(func(cfg *oncehttp.Config) { cfg.Contracts = []oncehttp.Contract{c} })
		back = time.Now().Add(2 * time.Minute)
		b.runFor(2 * time.Minute)
		synctest.Wait()
		assert.Equal(b, others, elsewhere)
		assert.Positive(b, failed)
		assert.Less(b, failed, 40, "one at a time, and ever more seldom")

		b.runFor(time.Hour)
		left := 0
		for _, err := range b.c.Pending(b.Context()) {
			require.NoError(b, err)
			left++
		}
		assert.LessOrEqual(b, left, failed, "those that were asked about in vain wait for an hour, or a day")
		b.runFor(24 * time.Hour)
		for in, err := range b.c.Pending(b.Context()) {
			require.NoError(b, err)
			b.Errorf("still pending: %s", in)
		}
		o, err := b.c.Outcome(b.Context(), "legacy.test0")
		require.NoError(b, err)
		assert.Equal(b, 1, o.Attempts, "a lookup is no attempt")
		assert.Len(b, api.posts, backlog+others, "nothing was sent again")
		assert.Len(b, api.gets, backlog+others+failed, "each was asked about once, but for those in vain")
		const concurrency = 8
		assert.LessOrEqual(b, most, concurrency)
		for _, n := range seconds {
			assert.LessOrEqual(b, n, int(time.Second/latency+1)*concurrency)
		}
	}, func(cfg *oncehttp.Config) { cfg.Retry = oncehttp.Retry{} })
}

// What is due stays due while it is asked about, without a word to the disk.
func TestALookupThatIsDueCostsOneWrite(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		j := b.counted()
		o, err := b.c.Do("pay-1", b.pay())
		require.Error(b, err)
		before := j.updates
		sleepUntil(o.RetryAt)
		require.Len(b, b.resume(), 1)
		assert.Equal(b, before+1, j.updates)
	}, unprotected, answers(new(int), oncehttp.Finding{}))
}
