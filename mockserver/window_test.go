package mockserver_test

import (
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestAStampTellsWhenAKeyExpires(t *testing.T) {
	t.Parallel()
	for stamp, write := range map[mockserver.Stamp]func(time.Time) string{
		mockserver.StampIMF:    func(at time.Time) string { return at.UTC().Format(http.TimeFormat) },
		mockserver.StampMicros: func(at time.Time) string { return strconv.FormatInt(at.UnixMicro(), 10) },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := mockserver.Memory(mockserver.Config{TTL: time.Hour, Profile: mockserver.Profile{
				Companions: []mockserver.Companion{{Name: "First-Sent", Stamp: stamp}, {Name: "Version", Value: "2"}},
				FromStamp:  true,
				Expired:    mockserver.Answer{Status: 412, Body: `{"code":"too_old"}`},
			}})
			defer s.Close()
			version := header("Version", "2")
			sent := header("First-Sent", write(time.Now().Add(-30*time.Minute)))
			assert.Equal(t, "invalid_idempotency_key", pay(t, s, "k", `{}`, version).code(), "without the stamp")
			assert.Equal(t, "invalid_idempotency_key", pay(t, s, "k", `{}`, version, header("First-Sent", "now")).code())
			assert.Equal(t, "invalid_idempotency_key", pay(t, s, "k", `{}`, sent, header("Version", "3")).code())
			assert.Equal(t, "invalid_idempotency_key", pay(t, s, "k", `{}`, version, sent, sent).code(), "twice")

			require.Equal(t, 201, pay(t, s, "k", `{}`, version, sent).status)
			time.Sleep(29 * time.Minute)
			assert.Equal(t, "true", pay(t, s, "k", `{}`, version, sent).header.Get("Idempotent-Replayed"))
			time.Sleep(time.Minute)
			assert.Equal(t, "too_old", pay(t, s, "k", `{}`, version, sent).code(), "an hour after the stamp")
			assert.Equal(t, "too_old", pay(t, s, "never-seen", `{}`, version, sent).code())
			assert.Equal(t, 201, send(t, s, "POST", "/payments", `{}`).status, "without a key nothing need travel with it")
			assert.Equal(t, 1, s.Effects("k"))
			assert.Equal(t, 1, s.Reap(), "the stamp says it; nothing need be remembered")
		})
	}
}

func TestACallerMayChooseWhenItsKeyExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{TTL: time.Second, Profile: mockserver.Profile{
			Companions: []mockserver.Companion{{Kind: mockserver.CarrierQuery, Name: "until", Stamp: mockserver.StampUntil}},
		}})
		defer s.Close()
		until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		ask := func(until string) seen {
			return send(t, s, "POST", "/?until="+until, `{}`, header("Idempotency-Key", "k"))
		}
		require.Equal(t, 201, ask(until).status)
		time.Sleep(59 * time.Minute)
		assert.Equal(t, "true", ask(until).header.Get("Idempotent-Replayed"))
		time.Sleep(time.Minute)
		assert.Empty(t, ask(until).header.Get("Idempotent-Replayed"))
		assert.Equal(t, "invalid_idempotency_key", ask("tomorrow").code())
		assert.Equal(t, 2, s.Effects("k"))

		refusing := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
			Companions: []mockserver.Companion{{Name: "Until", Stamp: mockserver.StampUntil}}, Expired: mockserver.Answer{Status: 410},
		}})
		defer refusing.Close()
		assert.Equal(t, 410, pay(t, refusing, "k", `{}`, header("Until", until)).status, "that has passed")
	})
}

func TestAnExpiredKeyIsRememberedOnlyToRefuseIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := mockserver.Config{TTL: time.Hour, MaxKeys: 2}
		s := mockserver.Memory(cfg)
		cfg.Profile.Expired = mockserver.Answer{Status: 410, Body: `{"key":"{key}","was":"{id}"}`}
		refusing := mockserver.Memory(cfg)
		defer s.Close()
		defer refusing.Close()
		for _, key := range []string{"a", "b"} {
			require.Equal(t, 201, pay(t, s, key, `{}`).status)
			require.Equal(t, 201, pay(t, refusing, key, `{}`).status)
		}
		assert.Equal(t, "idempotency_store_full", pay(t, s, "c", `{}`).code())
		time.Sleep(time.Hour)
		assert.Equal(t, 201, pay(t, s, "c", `{}`).status, "room is made")
		assert.Equal(t, 201, pay(t, s, "a", `{}`).status, "and an expired key is new")
		for range 2 {
			got := pay(t, refusing, "a", `{}`)
			assert.Equal(t, 410, got.status)
			assert.Equal(t, `{"key":"a","was":"effect-000001"}`, got.body)
		}
		assert.Equal(t, "idempotency_store_full", pay(t, refusing, "c", `{}`).code())
		assert.Equal(t, 1, refusing.Effects("a"))
	})
}
