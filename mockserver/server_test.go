package mockserver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

// networks are the two ways to start a server; every test that needs no fake
// time runs on both.
func onBothNetworks(t *testing.T, test func(t *testing.T, start func(mockserver.Config) *mockserver.Server)) {
	for name, start := range map[string]func(mockserver.Config) *mockserver.Server{
		"tcp": mockserver.Start, "memory": mockserver.Memory,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(cfg mockserver.Config) *mockserver.Server {
				s := start(cfg)
				t.Cleanup(s.Close)
				return s
			})
		})
	}
}

type seen struct {
	status int
	header http.Header
	body   string
	err    error // of the request
	cut    error // of the body
}

func (s seen) code() string {
	_, rest, _ := strings.Cut(s.body, `"code":"`)
	code, _, _ := strings.Cut(rest, `"`)
	return code
}

type option func(*http.Request)

func header(name, value string) option {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

func send(t *testing.T, s *mockserver.Server, method, path, body string, options ...option) seen {
	t.Helper()
	return sendBy(t.Context(), t, s.Client(), s.URL, method, path, body, options...)
}

func sendBy(ctx context.Context, t *testing.T, client *http.Client, url, method, path, body string, options ...option) seen {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	require.NoError(t, err)
	r.GetBody = nil // no resends by net/http
	r.Header.Set("Content-Type", "application/json")
	for _, o := range options {
		o(r)
	}
	resp, err := client.Do(r)
	if err != nil {
		return seen{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return seen{status: resp.StatusCode, header: resp.Header, body: string(b), cut: err}
}

func pay(t *testing.T, s *mockserver.Server, key, body string, options ...option) seen {
	t.Helper()
	return send(t, s, "POST", "/payments", body, append(options, header("Idempotency-Key", key))...)
}

func TestARepeatGetsTheFirstAnswerByteForByte(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{})
		first := pay(t, s, "k", `{"amount":500}`)
		again := pay(t, s, "k", ` {"amount" : 500}`)
		require.NoError(t, first.err)
		require.NoError(t, again.err)
		assert.Equal(t, 201, first.status)
		assert.Empty(t, first.header.Get("Idempotent-Replayed"))
		assert.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
		assert.Equal(t, first.status, again.status)
		assert.Equal(t, first.body, again.body)
		assert.Equal(t, first.header.Get("Content-Type"), again.header.Get("Content-Type"))
		assert.Equal(t, 1, s.Effects("k"))
		assert.Equal(t, 1, s.EffectsOf("POST /payments"))
		requests := s.Requests()
		require.Len(t, requests, 2)
		assert.True(t, requests[0].Effect)
		assert.False(t, requests[1].Effect)
		assert.True(t, requests[1].Replayed)
		assert.Equal(t, requests[0].Conn, requests[1].Conn, "connections are kept alive")
	})
}

func TestAnotherPayloadUnderTheKeyIsRefused(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	require.Equal(t, 201, pay(t, s, "k", `{"a":1,"b":[1,2]}`).status)
	for name, got := range map[string]seen{
		"value":   pay(t, s, "k", `{"a":2,"b":[1,2]}`),
		"order":   pay(t, s, "k", `{"a":1,"b":[2,1]}`),
		"string":  pay(t, s, "k", `{"a":"1","b":[1,2]}`),
		"null":    pay(t, s, "k", `{"a":1,"b":[1,2],"c":null}`),
		"nested":  pay(t, s, "k", strings.Repeat("[", 8<<20)),
		"twice":   pay(t, s, "k", `{"a":0,"a":1,"b":[1,2]}`),
		"rest":    pay(t, s, "k", `{"a":1,"b":[1,2]} {}`),
		"path":    send(t, s, "POST", "/other", `{"a":1,"b":[1,2]}`, header("Idempotency-Key", "k")),
		"query":   send(t, s, "POST", "/payments?dry=1", `{"a":1,"b":[1,2]}`, header("Idempotency-Key", "k")),
		"method":  send(t, s, "PUT", "/payments", `{"a":1,"b":[1,2]}`, header("Idempotency-Key", "k")),
		"as text": pay(t, s, "k", `{"a":1, "b":[1,2]}`, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }),
	} {
		assert.Equal(t, 422, got.status, name)
		assert.Equal(t, "idempotency_key_mismatch", got.code(), name)
	}
	assert.Equal(t, 201, pay(t, s, "k", "{\"b\": [1,2],\n\"a\": 1}").status, "order of members does not matter")
	require.Equal(t, 201, pay(t, s, "big", `{"n":9007199254740993}`).status)
	assert.Equal(t, 422, pay(t, s, "big", `{"n":9007199254740992}`).status, "no number goes through float64")
	assert.Equal(t, 1, s.Effects("big"))
	assert.Equal(t, 1, s.Effects("k"))
}

func TestARepeatInFlightIsToldSoAndAMismatchComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{Work: time.Minute})
		defer s.Close()
		var first seen
		var wg sync.WaitGroup
		wg.Go(func() { first = pay(t, s, "k", `{}`) })
		time.Sleep(time.Second)
		again := pay(t, s, "k", `{}`)
		other := pay(t, s, "k", `{"x":1}`)
		wg.Wait()
		assert.Equal(t, 201, first.status)
		assert.Equal(t, 409, again.status)
		assert.Equal(t, "idempotency_in_progress", again.code())
		assert.Equal(t, "1", again.header.Get("Retry-After"))
		assert.Equal(t, 422, other.status)
		assert.Equal(t, 1, s.Effects("k"))
	})
}

func TestWorkGoesOnWhenTheClientHasGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{
			Work: time.Hour,
			Execute: func(r *http.Request) mockserver.Answer {
				assert.NoError(t, r.Context().Err())
				return mockserver.Answer{Status: 201}
			},
			Profile: mockserver.Profile{InFlight: mockserver.Answer{Status: 409}},
		})
		defer s.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		gone := sendBy(ctx, t, s.Client(), s.URL, "POST", "/payments", `{}`, header("Idempotency-Key", "k"))
		require.ErrorIs(t, gone.err, context.DeadlineExceeded)
		bare := pay(t, s, "k", `{}`)
		assert.Equal(t, 409, bare.status)
		assert.Empty(t, bare.body)
		assert.Empty(t, bare.header.Get("Retry-After"))
		assert.Equal(t, 0, s.Effects("k"))
		require.NoError(t, s.WaitIdle(t.Context()))
		assert.Equal(t, 1, s.Effects("k"))
		assert.Equal(t, "true", pay(t, s, "k", `{}`).header.Get("Idempotent-Replayed"))
		assert.Equal(t, 1, s.Effects("k"))
	})
}

func TestAKeyIsRememberedFromItsFirstRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{TTL: time.Hour, MaxKeys: 1})
		defer s.Close()
		require.Equal(t, 201, pay(t, s, "k", `{}`).status)
		time.Sleep(59 * time.Minute)
		assert.NotEmpty(t, pay(t, s, "k", `{}`).header.Get("Idempotent-Replayed"))
		full := pay(t, s, "other", `{}`)
		assert.Equal(t, 503, full.status)
		assert.Equal(t, "idempotency_store_full", full.code())
		time.Sleep(time.Minute)
		assert.Empty(t, pay(t, s, "k", `{}`).header.Get("Idempotent-Replayed"))
		assert.Equal(t, 2, s.Effects("k"))
		time.Sleep(time.Hour)
		assert.Equal(t, 201, pay(t, s, "other", `{}`).status, "an expired key makes room")
	})
}

func TestWithoutAKeyEveryRequestIsAnEffect(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{
		Unkeyed: func(r *http.Request) bool { return r.URL.Path == "/mail" },
	})
	defer s.Close()
	for range 2 {
		assert.Equal(t, 201, send(t, s, "POST", "/payments", `{}`).status)
		assert.Equal(t, 201, send(t, s, "POST", "/mail", `{}`, header("Idempotency-Key", "k")).status)
		assert.Equal(t, 200, send(t, s, "GET", "/payments", ``, header("Idempotency-Key", "k")).status)
	}
	assert.Equal(t, 2, s.EffectsOf("POST /payments"))
	assert.Equal(t, 2, s.EffectsOf("POST /mail"))
	assert.Equal(t, 4, s.EffectsTotal())
}

func TestExecuteDecidesWhatIsAnEffectAndTheProfileWhatIsStored(t *testing.T) {
	t.Parallel()
	statuses := make(chan int, 1)
	execute := func(r *http.Request) mockserver.Answer {
		b, err := io.ReadAll(r.Body)
		if err != nil || string(b) != `{"x":1}` {
			return mockserver.Answer{Status: 599}
		}
		return mockserver.Answer{Status: <-statuses}
	}
	s := mockserver.Memory(mockserver.Config{Execute: execute})
	defer s.Close()
	strict := mockserver.Memory(mockserver.Config{Execute: execute, Profile: mockserver.Profile{Released: []string{}}})
	defer strict.Close()

	statuses <- 503
	assert.Equal(t, 503, pay(t, s, "k", `{"x":1}`).status)
	statuses <- 402
	assert.Equal(t, 402, pay(t, s, "k", `{"x":1}`).status, "a failure of the moment released the key")
	got := pay(t, s, "k", `{"x":1}`)
	assert.Equal(t, 402, got.status, "a property of the request is stored")
	assert.Equal(t, "true", got.header.Get("Idempotent-Replayed"))
	assert.Equal(t, 0, s.EffectsTotal())

	statuses <- 500
	assert.Equal(t, 500, pay(t, strict, "k", `{"x":1}`).status)
	assert.Equal(t, "true", pay(t, strict, "k", `{"x":1}`).header.Get("Idempotent-Replayed"))
}

func TestAPanicInExecuteReleasesTheKey(t *testing.T) {
	t.Parallel()
	first := true
	s := mockserver.Memory(mockserver.Config{Execute: func(*http.Request) mockserver.Answer {
		if first {
			first = false
			panic("no")
		}
		return mockserver.Answer{Status: 201}
	}})
	defer s.Close()
	require.Error(t, pay(t, s, "k", `{}`).err)
	assert.Equal(t, 201, pay(t, s, "k", `{}`).status)
}

func TestWaitIdleWaitsForTheLastOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{})
		defer s.Close()
		s.Script(mockserver.Fault{Before: time.Minute}, mockserver.Fault{Before: time.Hour})
		begin := time.Now()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { send(t, s, "POST", "/", `{}`) })
		}
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		require.ErrorIs(t, s.WaitIdle(short), context.DeadlineExceeded)
		require.NoError(t, s.WaitIdle(t.Context()))
		assert.Equal(t, time.Hour, time.Since(begin))
		wg.Wait()
	})
}

func TestTheLedgerHandsOutCopies(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	s.Script(mockserver.Fault{}.With("A", "1"))
	require.Equal(t, 201, pay(t, s, "k", `{}`).status)
	q, e := s.Requests()[0], s.EffectLog()[0]
	q.Header.Set("Idempotency-Key", "changed")
	q.Fault.Header.Set("A", "changed")
	e.Answer.Header.Set("Content-Type", "changed")
	again := s.Requests()[0]
	assert.Equal(t, "k", again.Header.Get("Idempotency-Key"))
	assert.Equal(t, "1", again.Fault.Header.Get("A"))
	assert.Equal(t, "application/json", s.EffectLog()[0].Answer.Header.Get("Content-Type"))
	assert.Equal(t, "application/json", pay(t, s, "k", `{}`).header.Get("Content-Type"))
}
