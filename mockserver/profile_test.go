package mockserver_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestKeysAreHeldToTheProfilesRule(t *testing.T) {
	t.Parallel()
	uuid := "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	hex := mockserver.Profile{KeyMin: 32, KeyMax: 36, KeyAlphabet: "0123456789abcdef-", KeyRequired: true}
	quoted := mockserver.Profile{KeyQuoted: true}
	for _, c := range []struct {
		profile mockserver.Profile
		key     string
		code    string
	}{
		{hex, uuid, ""},
		{hex, strings.ToUpper(uuid), "invalid_idempotency_key"},
		{hex, uuid[:31], "invalid_idempotency_key"},
		{hex, uuid + "0", "invalid_idempotency_key"},
		{quoted, `"k"`, ""},
		{quoted, `k`, "invalid_idempotency_key"},
		{quoted, `"k"k"`, "invalid_idempotency_key"},
		{quoted, `"`, "invalid_idempotency_key"},
		{quoted, `""`, "invalid_idempotency_key"},
		{mockserver.Profile{}, strings.Repeat("k", 255), ""},
		{mockserver.Profile{}, strings.Repeat("k", 256), "invalid_idempotency_key"},
		{mockserver.Profile{KeyAlphabet: "k,"}, "k,k", ""},
		{mockserver.Profile{}, "k k", "invalid_idempotency_key"},
		{mockserver.Profile{}, "ké", "invalid_idempotency_key"},
	} {
		s := mockserver.Memory(mockserver.Config{Profile: c.profile})
		got := pay(t, s, c.key, `{}`)
		assert.Equal(t, c.code, got.code(), "%+v %q", c.profile, c.key)
		if c.profile.KeyRequired {
			assert.Equal(t, "idempotency_key_missing", send(t, s, "POST", "/", `{}`).code())
			assert.Equal(t, 200, send(t, s, "GET", "/", ``).status)
		}
		if c.profile.KeyQuoted && c.code == "" {
			assert.Equal(t, 1, s.Effects("k"))
		}
		s.Close()
	}
}

func TestProfilesWordTheSameFactsDifferently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type answers struct{ repeat, other, late seen }
		against := func(p mockserver.Profile) (answers, *mockserver.Server) {
			s := mockserver.Memory(mockserver.Config{Profile: p, TTL: time.Hour, Work: time.Minute})
			require.Equal(t, 201, pay(t, s, "k", `{}`).status)
			var a answers
			a.repeat = pay(t, s, "k", `{}`)
			a.other = pay(t, s, "k", `{"other":1}`)
			time.Sleep(time.Hour - 30*time.Second)
			a.late = pay(t, s, "k", `{}`)
			s.Close()
			return a, s
		}
		a, s := against(mockserver.Profile{NoMarker: true, OnMismatch: mockserver.MismatchIgnored})
		assert.Equal(t, 201, a.repeat.status)
		assert.Empty(t, a.repeat.header.Get("Idempotent-Replayed"))
		assert.Equal(t, a.repeat.body, a.other.body)
		assert.Equal(t, 2, s.EffectsTotal(), "the second after expiry")

		a, s = against(mockserver.Profile{Repeat: mockserver.Answer{Status: 409, Body: "exists"}, OnMismatch: mockserver.MismatchExecutes})
		assert.Equal(t, 409, a.repeat.status)
		assert.Equal(t, 201, a.other.status)
		assert.Equal(t, 3, s.EffectsTotal())

		a, s = against(mockserver.Profile{Marker: "Idempotency-Prior", Mismatch: mockserver.Answer{Status: 400}, FromCompletion: true})
		assert.Equal(t, "true", a.repeat.header.Get("Idempotency-Prior"))
		assert.Equal(t, 400, a.other.status)
		assert.Equal(t, "true", a.late.header.Get("Idempotency-Prior"), "counted from completion")
		assert.Equal(t, 1, s.EffectsTotal())

		a, s = against(mockserver.Profile{Expired: mockserver.Answer{Status: 412}})
		assert.Equal(t, 412, a.late.status)
		assert.Equal(t, 1, s.EffectsTotal())
		assert.Zero(t, s.Reap(), "what has expired is still known to have")
	})
}

func TestTwoKeyLinesAreNeverOneKey(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{KeyAlphabet: "k,"}})
	defer s.Close()
	assert.Equal(t, "invalid_idempotency_key", pay(t, s, "k", `{}`, header("Idempotency-Key", "k")).code())
}

func TestAnIndeterminateKeyAgesFromItsFirstRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{TTL: time.Hour, Profile: mockserver.Profile{FromCompletion: true}})
		defer s.Close()
		s.Script(mockserver.Fault{Crash: mockserver.CrashBetween})
		require.Error(t, pay(t, s, "k", `{}`).err)
		time.Sleep(59 * time.Minute)
		assert.Equal(t, "idempotency_indeterminate", pay(t, s, "k", `{}`).code())
		time.Sleep(time.Minute)
		assert.Equal(t, 201, pay(t, s, "k", `{}`).status)
	})
}

func TestARepeatMayWaitForTheFirstToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{Work: time.Hour, Profile: mockserver.Profile{InFlightWaits: true}})
		defer s.Close()
		var wg sync.WaitGroup
		bodies := make(chan string, 3)
		for range 3 {
			wg.Go(func() { bodies <- pay(t, s, "k", `{}`).body })
		}
		wg.Wait()
		first := <-bodies
		assert.NotEmpty(t, first)
		assert.Equal(t, first, <-bodies)
		assert.Equal(t, first, <-bodies)
		assert.Equal(t, 1, s.Effects("k"))
	})
}

func TestARepeatThatHasWaitedIsAnsweredThoughTheKeyHasExpiredMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{Work: time.Hour, TTL: time.Minute, Profile: mockserver.Profile{InFlightWaits: true}})
		defer s.Close()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { assert.Equal(t, 201, pay(t, s, "k", `{}`).status) })
		}
		wg.Wait()
		assert.Equal(t, 1, s.Effects("k"))
		assert.Equal(t, 201, pay(t, s, "k", `{}`).status)
		assert.Equal(t, 2, s.Effects("k"), "the key is over for who comes now")
	})
}

func TestTheRateIsLimitedBeforeTheKeyIsLookedAt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{PerSecond: 2})
		defer s.Close()
		for range 3 {
			assert.Equal(t, 201, pay(t, s, "k", `{}`).status)
			assert.Equal(t, 201, pay(t, s, "k", `{}`).status)
			got := pay(t, s, "k", `{}`)
			assert.Equal(t, 429, got.status)
			assert.Equal(t, "1", got.header.Get("Retry-After"))
			time.Sleep(time.Second)
		}
	})
}

func TestALookUpFindsATenantsOwnEffectsAfterTheLag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{TTL: time.Second, Lookup: mockserver.Lookup{Path: "/by-key/", PerSecond: 2, Lag: time.Minute}})
		defer s.Close()
		find := func(key, who string) seen {
			return send(t, s, "GET", "/by-key/"+key, ``, header("Authorization", who))
		}
		made := pay(t, s, "k", `{}`, header("Authorization", "A"))
		require.Equal(t, 404, find("k", "A").status, "not visible yet")
		time.Sleep(time.Minute)
		found := find("k", "A")
		assert.Equal(t, 200, found.status)
		assert.Equal(t, made.body, found.body)
		assert.Equal(t, 404, find("k", "B").status)
		assert.Equal(t, 429, find("k", "A").status)
		assert.Equal(t, 1, s.EffectsTotal())
	})
}
