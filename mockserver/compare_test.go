package mockserver_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestOnlyWhatIsComparedMakesAnotherRequest(t *testing.T) {
	t.Parallel()
	type request struct {
		method, path, body string
		options            []option
	}
	first := request{"POST", "/pay?a=1", `{"n":1,"at":{"time":1},"list":[{"x":1,"y":1}]}`, []option{header("Version", "1"), header("Idempotency-Key", "k")}}
	changes := map[string]func(*request){
		"nothing": func(*request) {},
		"method":  func(r *request) { r.method = "PUT" },
		"path":    func(r *request) { r.path = "/buy?a=1" },
		"query":   func(r *request) { r.path = "/pay?a=2" },
		"body":    func(r *request) { r.body = `{"n":2,"at":{"time":1},"list":[{"x":1,"y":1}]}` },
		"bytes":   func(r *request) { r.body = `{"at":{"time":1},"n":1,"list":[{"y":1,"x":1}]}` },
		"time":    func(r *request) { r.body = `{"n":1,"at":{"time":2},"list":[{"x":1,"y":1}]}` },
		"item":    func(r *request) { r.body = `{"n":1,"at":{"time":1},"list":[{"x":1,"y":2}]}` },
		"version": func(r *request) { r.options = []option{header("Version", "2"), header("Idempotency-Key", "k")} },
	}
	for _, c := range []struct {
		compared mockserver.Compared
		refused  []string
	}{
		{mockserver.Compared{}, []string{"method", "path", "query", "body", "time", "item"}},
		{mockserver.Compared{Parts: []mockserver.Part{}}, nil},
		{mockserver.Compared{Parts: []mockserver.Part{mockserver.PartMethod}}, []string{"method"}},
		{mockserver.Compared{Parts: []mockserver.Part{mockserver.PartPath, mockserver.PartQuery}}, []string{"path", "query"}},
		{mockserver.Compared{Parts: []mockserver.Part{mockserver.PartBytes}}, []string{"body", "bytes", "time", "item"}},
		{mockserver.Compared{Parts: []mockserver.Part{mockserver.PartBody}, Headers: []string{"version"}}, []string{"body", "time", "item", "version"}},
		{mockserver.Compared{Parts: []mockserver.Part{mockserver.PartBody}, Except: []string{"/at/time", "/list/*/y", "/absent/x"}}, []string{"body"}},
		{mockserver.Compared{Parts: []mockserver.Part{mockserver.PartBody}, Except: []string{"/list/0", "/at"}}, []string{"body"}},
	} {
		s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{Compared: c.compared}})
		require.Equal(t, 201, send(t, s, first.method, first.path, first.body, first.options...).status)
		var refused []string
		for name, change := range changes {
			r := first
			change(&r)
			switch got := send(t, s, r.method, r.path, r.body, r.options...); got.status {
			case 201:
				assert.Equal(t, "true", got.header.Get("Idempotent-Replayed"))
			case 422:
				refused = append(refused, name)
			default:
				assert.Fail(t, "unexpected", "%d %s", got.status, got.body)
			}
		}
		assert.ElementsMatch(t, c.refused, refused, "%+v", c.compared)
		assert.Equal(t, 1, s.Effects("k"))
		s.Close()
	}
}

func TestTheFieldsOfAFormHaveNoOrder(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{Compared: mockserver.Compared{Except: []string{"/time"}}}})
	defer s.Close()
	require.Equal(t, 201, pay(t, s, "k", `a=1&b=2&b=3&time=1`, typed(form)).status)
	assert.Equal(t, 201, pay(t, s, "k", `b=2&time=2&a=%31&b=3`, typed(form)).status)
	assert.Equal(t, 422, pay(t, s, "k", `a=1&b=3&b=2`, typed(form)).status)
	assert.Equal(t, 1, s.Effects("k"))
}

func TestAKeyIsKnownTogetherWithItsScope(t *testing.T) {
	t.Parallel()
	host := func(name string) option { return func(r *http.Request) { r.Host = name } }
	for _, c := range []struct {
		scope []mockserver.Scope
		known []string // what the key is still known with another of
	}{
		{nil, []string{"method", "path", "host"}},
		{[]mockserver.Scope{}, []string{"method", "path", "host", "credential"}},
		{[]mockserver.Scope{mockserver.ScopeCredential}, []string{"method", "path", "host"}},
		{[]mockserver.Scope{mockserver.ScopeHost}, []string{"method", "path", "credential"}},
		{[]mockserver.Scope{mockserver.ScopeMethod, mockserver.ScopePath}, []string{"host", "credential"}},
	} {
		s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
			Scope: c.scope, Compared: mockserver.Compared{Parts: []mockserver.Part{}},
		}})
		key, a := header("Idempotency-Key", "k"), header("Authorization", "A")
		require.Equal(t, 201, send(t, s, "POST", "/pay", `{}`, key, a, host("eu.test")).status)
		var known []string
		for name, got := range map[string]seen{
			"method":     send(t, s, "PUT", "/pay", `{}`, key, a, host("EU.test")),
			"path":       send(t, s, "POST", "/buy", `{}`, key, a, host("eu.test")),
			"host":       send(t, s, "POST", "/pay", `{}`, key, a, host("us.test")),
			"credential": send(t, s, "POST", "/pay", `{}`, key, header("Authorization", "B"), host("eu.test")),
		} {
			if got.header.Get("Idempotent-Replayed") == "true" {
				known = append(known, name)
			}
		}
		assert.ElementsMatch(t, c.known, known, "%v", c.scope)
		assert.Equal(t, 5-len(known), s.Effects("k"))
		s.Close()
	}
}

func TestAnotherRequestMayOverwriteTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{Work: time.Minute, Profile: mockserver.Profile{OnMismatch: mockserver.MismatchOverwrites}})
		defer s.Close()
		require.Equal(t, 201, pay(t, s, "k", `{"n":1}`).status)
		done := make(chan seen)
		go func() { done <- pay(t, s, "k", `{"n":2}`) }()
		synctest.Wait()
		assert.Equal(t, "idempotency_in_progress", pay(t, s, "k", `{"n":3}`).code())
		second := <-done
		require.Equal(t, 201, second.status)
		assert.Equal(t, second.body, pay(t, s, "k", `{"n":2}`).body)

		log := s.EffectLog()
		require.Len(t, log, 2)
		assert.Equal(t, []bool{true, false}, []bool{log[0].Overwritten, log[1].Overwritten})
		assert.Equal(t, 2, s.Effects("k"))

		// What fails leaves what it was to overwrite.
		s.Script(mockserver.Fault{Origin: true, Status: 503})
		assert.Equal(t, 503, pay(t, s, "k", `{"n":4}`).status)
		assert.Equal(t, second.body, pay(t, s, "k", `{"n":2}`).body)
		s.Script(mockserver.Fault{Crash: mockserver.CrashBefore})
		require.Error(t, pay(t, s, "k", `{"n":5}`).err)
		assert.Equal(t, "idempotency_indeterminate", pay(t, s, "k", `{"n":2}`).code())
		assert.Equal(t, 1, s.Reconcile())
		assert.Equal(t, second.body, pay(t, s, "k", `{"n":2}`).body)
		assert.Equal(t, 2, s.Effects("k"))
	})
}

func TestAnotherRequestMayBeDroppedInSilence(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{OnMismatch: mockserver.MismatchDrops}})
	defer s.Close()
	require.Equal(t, 201, pay(t, s, "k", `{"n":1}`).status)
	got := pay(t, s, "k", `{"n":2}`)
	assert.Equal(t, 200, got.status)
	assert.Equal(t, "{}\n", got.body)
	assert.Equal(t, 1, s.EffectsTotal())
}

func TestARefusalOfAnotherRequestMayNameWhatExists(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{Mismatch: mockserver.Answer{Status: 409, Body: `{"resource_id":"{id}"}`}}})
	defer s.Close()
	require.Equal(t, 201, pay(t, s, "k", `{"n":1}`).status)
	assert.Equal(t, `{"resource_id":"effect-000001"}`, pay(t, s, "k", `{"n":2}`).body)
}

func TestATakeOverStillOverwrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{Lease: time.Minute, Profile: mockserver.Profile{OnMismatch: mockserver.MismatchOverwrites},
			Execute: func(r *http.Request) mockserver.Answer {
				if r.Header.Get("Slow") != "" {
					time.Sleep(time.Hour)
				}
				return mockserver.Answer{Status: 201}
			}})
		defer s.Close()
		require.Equal(t, 201, pay(t, s, "k", `{"n":1}`).status)
		slow := make(chan seen)
		go func() { slow <- pay(t, s, "k", `{"n":2}`, header("Slow", "1")) }()
		time.Sleep(2 * time.Minute)
		require.Equal(t, 201, pay(t, s, "k", `{"n":2}`).status)
		assert.Equal(t, 409, (<-slow).status)
		log := s.EffectLog()
		require.Len(t, log, 2)
		assert.True(t, log[0].Overwritten)
	})
}
