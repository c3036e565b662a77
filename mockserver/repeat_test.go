package mockserver_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestARepeatIsAnsweredAndMarkedAsTheProfileSays(t *testing.T) {
	t.Parallel()
	jsonType := http.Header{"Content-Type": {"application/json"}}
	for name, c := range map[string]struct {
		profile mockserver.Profile
		status  int
		body    string
		header  map[string]string
	}{
		"stored":  {mockserver.Profile{}, 201, `{"id":"effect-000001"}` + "\n", map[string]string{"Idempotent-Replayed": "true"}},
		"marker":  {mockserver.Profile{Marker: "Prior"}, 201, `{"id":"effect-000001"}` + "\n", map[string]string{"Prior": "true", "Idempotent-Replayed": ""}},
		"value":   {mockserver.Profile{Replayed: mockserver.Mark{Header: "Status", Value: "replayed"}}, 201, `{"id":"effect-000001"}` + "\n", map[string]string{"Status": "replayed", "Idempotent-Replayed": ""}},
		"echo":    {mockserver.Profile{Replayed: mockserver.Mark{Header: "Key", Says: mockserver.MarkKey}}, 201, `{"id":"effect-000001"}` + "\n", map[string]string{"Key": `"k<`}},
		"time":    {mockserver.Profile{Replayed: mockserver.Mark{Header: "At", Says: mockserver.MarkTime}}, 201, `{"id":"effect-000001"}` + "\n", map[string]string{"At": "2000-01-01T00:00:00Z"}},
		"status":  {mockserver.Profile{Replayed: mockserver.Mark{Status: 200}}, 200, `{"id":"effect-000001"}` + "\n", nil},
		"dressed": {mockserver.Profile{Replayed: mockserver.Mark{Status: 409}}, 409, `{"id":"effect-000001"}` + "\n", nil},
		"pointer": {mockserver.Profile{Replayed: mockserver.Mark{Pointer: "/meta/again"}}, 201, `{"id":"effect-000001","meta":{"again":"true"}}` + "\n", nil},
		"current": {mockserver.Profile{RepeatCurrent: true}, 201, `{"id":"effect-000001","state":"changed"}` + "\n", nil},
		"empty":   {mockserver.Profile{NoMarker: true, Repeat: mockserver.Answer{Status: 204}}, 204, "", map[string]string{"Idempotent-Replayed": ""}},
		"bare":    {mockserver.Profile{Repeat: mockserver.Answer{Status: 409}}, 409, "", nil},
		"named": {
			mockserver.Profile{Repeat: mockserver.Answer{Status: 409, Header: jsonType, Body: `{"error":{"conflict":"{id}","of":"{key}"}}`}},
			409, `{"error":{"conflict":"effect-000001","of":"\"k\u003c"}}`, nil,
		},
		"named in XML": {
			mockserver.Profile{Repeat: mockserver.Answer{Status: 409, Header: http.Header{"Location": {"/r/{id}"}}, Body: `<Error><Id>{id}</Id><Of>{key}</Of></Error>`}},
			409, `<Error><Id>effect-000001</Id><Of>&#34;k&lt;</Of></Error>`, map[string]string{"Location": "/r/effect-000001"},
		},
		"success": {
			mockserver.Profile{Success: mockserver.Answer{Status: 200, Header: jsonType, Body: `{"data":{"pay":{"id":"{id}"}}}`}},
			200, `{"data":{"pay":{"id":"effect-000001"}}}`, nil,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := mockserver.Memory(mockserver.Config{Profile: c.profile})
			defer s.Close()
			first := pay(t, s, `"k<`, `{}`)
			require.Less(t, first.status, 202, name)
			for mark := range c.header {
				assert.Empty(t, first.header.Get(mark), "%s: the first answer is no repeat", name)
			}
			time.Sleep(time.Second)
			for range 2 {
				got := pay(t, s, `"k<`, `{}`)
				assert.Equal(t, c.status, got.status, name)
				assert.Equal(t, c.body, got.body, name)
				for mark, value := range c.header {
					assert.Equal(t, value, got.header.Get(mark), name)
				}
			}
			assert.Equal(t, 1, s.EffectsTotal(), name)
		})
	}
}

func TestAStoredRefusalMaySpendItsKey(t *testing.T) {
	t.Parallel()
	refusal := mockserver.Fault{Origin: true, Status: 402, Body: `{"code":"no_funds"}`}
	for _, c := range []struct {
		profile mockserver.Profile
		status  int
		effects int
	}{
		{mockserver.Profile{}, 402, 0},
		{mockserver.Profile{Repeat: mockserver.Answer{Status: 409}, Replayed: mockserver.Mark{Status: 200}}, 402, 0}, // they speak of successes
		{mockserver.Profile{Released: []string{"4xx"}}, 201, 1},
		{mockserver.Profile{Spent: mockserver.Answer{Status: 422, Body: `{"code":"PREVIOUS_ATTEMPT_FAILED"}`}}, 422, 0},
	} {
		s := mockserver.Memory(mockserver.Config{Profile: c.profile, Script: []mockserver.Fault{refusal}})
		require.Equal(t, 402, pay(t, s, "k", `{}`).status)
		assert.Equal(t, c.status, pay(t, s, "k", `{}`).status)
		assert.Equal(t, c.effects, s.EffectsTotal())
		s.Close()
	}
}

func TestARepeatOfWhatRunsIsAnsweredAsTheProfileSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile mockserver.Profile
		status  int
		code    string
		effects int
	}{
		"refused":  {mockserver.Profile{}, 409, "idempotency_in_progress", 1},
		"accepted": {mockserver.Profile{InFlight: mockserver.Answer{Status: 202}}, 202, "", 1},
		"GraphQL":  {mockserver.Profile{InFlight: mockserver.Answer{Status: 200, Body: `{"errors":[{"extensions":{"code":"CONCURRENT"}}]}`}}, 200, "CONCURRENT", 1},
		"executed": {mockserver.Profile{InFlightExecutes: true, Ignored: mockserver.Mark{Header: "Key-Ignored"}}, 201, "", 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := mockserver.Memory(mockserver.Config{Work: time.Minute, Profile: c.profile})
			defer s.Close()
			first := make(chan seen)
			go func() { first <- pay(t, s, "k", `{}`) }()
			time.Sleep(time.Second)
			got := pay(t, s, "k", `{}`)
			assert.Equal(t, c.status, got.status, name)
			assert.Equal(t, c.code, got.code(), name)
			if c.effects > 1 {
				assert.Equal(t, "true", got.header.Get("Key-Ignored"), name)
			}
			made := <-first
			assert.Equal(t, 201, made.status, name)
			time.Sleep(time.Minute)
			assert.Equal(t, made.body, pay(t, s, "k", `{}`).body, "%s: the key is the first one's", name)
			assert.Equal(t, c.effects, s.Effects("k"), name)
		})
	}
}

func TestAnAPIMaySayThatItProcessesAndNoMore(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := mockserver.Memory(mockserver.Config{Work: time.Hour, HTTP2: http2, Profile: mockserver.Profile{
				InFlight: mockserver.Answer{Status: http.StatusProcessing},
			}})
			defer s.Close()
			first := make(chan seen)
			go func() { first <- pay(t, s, "k", `{}`) }()
			time.Sleep(time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got := sendBy(ctx, t, s.Client(), s.URL, "POST", "/payments", `{}`, header("Idempotency-Key", "k"))
			require.ErrorIs(t, got.err, context.DeadlineExceeded)
			assert.Equal(t, 102, s.Requests()[1].Status)
			assert.Equal(t, 201, (<-first).status)
			assert.Equal(t, 1, s.Effects("k"))
		})
	}
}

func TestAKeyMayBeIgnored(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
		KeyIgnored: []string{"DELETE"}, Ignored: mockserver.Mark{Header: "Idempotency-Status", Value: "ignored"},
	}})
	defer s.Close()
	for range 2 {
		got := send(t, s, "DELETE", "/payments", ``, header("Idempotency-Key", "k"))
		assert.Equal(t, "ignored", got.header.Get("Idempotency-Status"))
		assert.Empty(t, send(t, s, "DELETE", "/payments", ``).header.Get("Idempotency-Status"), "there was no key to ignore")
		assert.Empty(t, pay(t, s, "k", `{}`).header.Get("Idempotency-Status"))
	}
	assert.Equal(t, 3, s.Effects("k"))
	assert.Equal(t, 5, s.EffectsTotal())

	silent := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{KeyIgnored: []string{"*"}}})
	defer silent.Close()
	for range 2 {
		got := pay(t, silent, "k", `{}`)
		assert.Equal(t, 201, got.status)
		assert.Len(t, got.header, 3, "%v: Content-Type, Content-Length, Date", got.header)
	}
	assert.Equal(t, 2, silent.Effects("k"))
}

func TestAnAPIThatCannotLookKeysUpFailsClosedOrOpen(t *testing.T) {
	t.Parallel()
	down := mockserver.Fault{KeysDown: true}
	closed := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{{}, down, down}})
	defer closed.Close()
	require.Equal(t, 201, pay(t, closed, "k", `{}`).status)
	assert.Equal(t, "idempotency_store_down", pay(t, closed, "k", `{}`).code())
	assert.Equal(t, 201, send(t, closed, "POST", "/payments", `{}`).status, "nothing is to be looked up")
	assert.Equal(t, "true", pay(t, closed, "k", `{}`).header.Get("Idempotent-Replayed"))
	assert.Equal(t, 1, closed.Effects("k"))

	open := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{{}, down}, Profile: mockserver.Profile{
		KeysDownExecutes: true, Ignored: mockserver.Mark{Header: "Ignored"},
	}})
	defer open.Close()
	first := pay(t, open, "k", `{}`)
	again := pay(t, open, "k", `{}`)
	assert.Equal(t, 201, again.status)
	assert.NotEqual(t, first.body, again.body)
	assert.Equal(t, "true", again.header.Get("Ignored"))
	assert.Equal(t, first.body, pay(t, open, "k", `{}`).body)
	assert.Equal(t, 2, open.Effects("k"))
}

func TestAMarkStandsElsewhereInErrorsAndTheBodysOwnStays(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{Profile: mockserver.Profile{
		KeyInvalid: mockserver.Answer{Status: 400, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"errors":[{"kind":"NO_KEY"}]}`},
		Origin:     mockserver.Mark{Pointer: "/id", InErrors: "/errors/*/kind", Value: "own"},
	}})
	defer s.Close()
	s.Script(mockserver.Fault{}, mockserver.Fault{Origin: true, Status: 402, Body: `{"code":"poor"}`}, mockserver.Fault{Origin: true, Status: 200, Body: `{"id":null}`})
	assert.Equal(t, `{"id":"effect-000001"}`+"\n", pay(t, s, "a", `{}`).body)
	assert.JSONEq(t, `{"code":"poor","errors":[{"kind":"own"}]}`, pay(t, s, "b", `{}`).body)
	assert.JSONEq(t, `{"id":"own"}`, pay(t, s, "c", `{}`).body)
	assert.JSONEq(t, `{"errors":[{"kind":"NO_KEY"}]}`, pay(t, s, "", `{}`).body)
}

func TestOnlyTheAPIsOwnAnswersCarryItsMark(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{PerSecond: 100, Profile: mockserver.Profile{
		Origin: mockserver.Mark{Header: "Request-Id", Pointer: "/meta/request", Says: mockserver.MarkFresh},
	}, Authenticate: func(r *http.Request) error {
		return mockserver.BearerToken("t")(r)
	}})
	defer s.Close()
	token := header("Authorization", "Bearer t")
	s.Script(mockserver.Fault{}, mockserver.Fault{}, mockserver.Gateway(502), mockserver.Gateway(502).Committed(),
		mockserver.Status(429), mockserver.Fault{Origin: true, Status: 500}, mockserver.Fault{}, mockserver.Fault{}, mockserver.Fault{})
	ids := map[string]bool{}
	for i, c := range []struct {
		got seen
		own bool
	}{
		{pay(t, s, "k", `{}`, token), true},
		{pay(t, s, "k", `{}`, token), true}, // a repeat has an id of its own
		{pay(t, s, "k", `{}`, token), false},
		{pay(t, s, "k", `{}`, token), false},
		{pay(t, s, "k", `{}`, token), false},
		{pay(t, s, "new", `{}`, token), true},
		{pay(t, s, "k", `{"n":1}`, token), true},
		{pay(t, s, "", `{}`, token), true},
		{pay(t, s, "k", `{}`), true},
	} {
		id := c.got.header.Get("Request-Id")
		if !c.own {
			assert.Empty(t, id, "%d", i)
			assert.NotContains(t, c.got.body, "request", "%d", i)
			continue
		}
		assert.NotEmpty(t, id, "%d", i)
		assert.False(t, ids[id], "%d: %s is not fresh", i, id)
		ids[id] = true
		assert.Contains(t, c.got.body, `"request":"`+id+`"`, "%d", i)
	}
}
