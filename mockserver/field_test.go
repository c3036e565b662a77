package mockserver_test

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

// C057: a look-up outside the claim lets two first requests through.
func TestManyFirstRequestsMakeOneEffect(t *testing.T) {
	t.Parallel()
	const clients, rounds = 64, 10
	s := mockserver.Memory(mockserver.Config{Work: 2 * time.Millisecond})
	defer s.Close()
	for round := range rounds {
		key := "round-" + strconv.Itoa(round)
		var wg sync.WaitGroup
		answers := make([]seen, clients)
		for i := range clients {
			wg.Go(func() { answers[i] = pay(t, s, key, `{"amount":500}`) })
		}
		wg.Wait()
		fresh, body := 0, ""
		for _, a := range answers {
			if a.status == 201 && a.header.Get("Idempotent-Replayed") == "" {
				fresh++
				body = a.body
			}
		}
		require.Equal(t, 1, fresh)
		for _, a := range answers {
			require.NoError(t, a.err)
			switch a.status {
			case 201:
				require.Equal(t, body, a.body)
			case 409:
				require.Equal(t, "idempotency_in_progress", a.code())
				require.NotEmpty(t, a.header.Get("Retry-After"))
			default:
				require.Fail(t, "unexpected status", a.status)
			}
		}
		require.Equal(t, 1, s.Effects(key))
	}
}

// C060: expiry races with retries.
func TestReapingNeverBreaksALiveClaim(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	const clients, each, ttl = 16, 60, 20 * time.Millisecond
	s := mockserver.Memory(mockserver.Config{TTL: ttl})
	defer s.Close()
	stop := make(chan struct{})
	var reaper, wg sync.WaitGroup
	reaper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.Reap()
				time.Sleep(time.Millisecond)
			}
		}
	})
	for c := range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(c)))
			for range each {
				got := pay(t, s, "k"+strconv.Itoa(random.IntN(4)), `{"p":`+strconv.Itoa(random.IntN(2))+`}`)
				assert.NoError(t, got.err)
				assert.Contains(t, []int{201, 409, 422}, got.status)
			}
		})
	}
	wg.Wait()
	close(stop)
	reaper.Wait()

	last := map[string]time.Time{}
	first := map[int]time.Time{}
	for _, q := range s.Requests() {
		first[q.N] = q.Time
	}
	for _, e := range s.EffectLog() {
		if before, ok := last[e.Key]; ok {
			assert.GreaterOrEqual(t, e.Time.Sub(before), ttl, "two effects of %s in one window", e.Key)
		}
		last[e.Key] = first[e.Request]
	}
	assert.NotEmpty(t, last)
}

// C061: a key header sent twice is no new key.
func TestAKeySentTwiceIsRefused(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	twice := pay(t, s, "K", `{}`, header("Idempotency-Key", "K"))
	joined := pay(t, s, "K, K", `{}`)
	empty := pay(t, s, "", `{}`)
	for _, got := range []seen{twice, joined, empty} {
		assert.Equal(t, 400, got.status)
		assert.Equal(t, "invalid_idempotency_key", got.code())
	}
	require.Equal(t, 0, s.EffectsTotal())
	lower := send(t, s, "POST", "/payments", `{}`, func(r *http.Request) { r.Header["idempotency-key"] = []string{"K"} })
	assert.Equal(t, 201, lower.status)
	assert.Empty(t, lower.header.Get("Idempotent-Replayed"))
	assert.NotEmpty(t, pay(t, s, "K", `{}`).header.Get("Idempotent-Replayed"))
	assert.Equal(t, 1, s.Effects("K"))
}

// C062: tenants do not see each other's keys.
func TestTenantsDoNotSeeEachOthersKeys(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	a := pay(t, s, "1", `"X"`, header("Authorization", "A"))
	b := pay(t, s, "1", `"X"`, header("Authorization", "B"))
	assert.Equal(t, 201, a.status)
	assert.Equal(t, 201, b.status)
	assert.Empty(t, b.header.Get("Idempotent-Replayed"))
	assert.NotEqual(t, a.body, b.body)
	other := pay(t, s, "1", `"Y"`, header("Authorization", "B"))
	assert.Equal(t, 422, other.status)
	assert.NotContains(t, other.body, strings.TrimSpace(a.body))
	assert.Equal(t, 2, s.Effects("1"))

	named := mockserver.Memory(mockserver.Config{Tenant: func(r *http.Request) string { return r.Header.Get("X-Tenant") }})
	defer named.Close()
	assert.Equal(t, 201, pay(t, named, "b:k", `{}`, header("X-Tenant", "a")).status)
	assert.Empty(t, pay(t, named, "k", `{"other":1}`, header("X-Tenant", "a:b")).header.Get("Idempotent-Replayed"))
	assert.Equal(t, 2, named.EffectsTotal())
}
