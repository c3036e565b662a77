package mockserver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestAFaultHasTwoHalves(t *testing.T) {
	t.Parallel()
	type want struct {
		effects int
		err     error  // of the request, matched by errors.Is
		text    string // or by its text
		status  int
		body    string
		cut     bool
	}
	const body = `{"id":"effect-000001"}` + "\n"
	page := mockserver.Gateway(502).Body
	for name, c := range map[string]struct {
		fault mockserver.Fault
		want  want
	}{
		"reset before":     {mockserver.Fault{See: mockserver.SeeReset}, want{err: syscall.ECONNRESET}},
		"reset after":      {mockserver.Lost(), want{effects: 1, err: syscall.ECONNRESET}},
		"close before":     {mockserver.Fault{See: mockserver.SeeClose}, want{err: io.EOF}},
		"close after":      {mockserver.Fault{Commit: true, See: mockserver.SeeClose}, want{effects: 1, err: io.EOF}},
		"gateway":          {mockserver.Gateway(502), want{status: 502, body: page}},
		"gateway after":    {mockserver.Gateway(502).Committed(), want{effects: 1, status: 502, body: page}},
		"origin refusal":   {mockserver.Fault{Origin: true, Status: 503}, want{status: 503}},
		"origin own":       {mockserver.Fault{Origin: true, Commit: true, Status: 202}, want{effects: 1, status: 202}},
		"truncated":        {mockserver.Fault{See: mockserver.SeeTruncated, Keep: 8}, want{effects: 1, status: 201, body: body[:8], cut: true}},
		"truncated to all": {mockserver.Fault{See: mockserver.SeeTruncated, Keep: 99}, want{effects: 1, status: 201, body: body, cut: true}},
		"chunked cut":      {mockserver.Fault{See: mockserver.SeeTruncated, Keep: 8, Framing: mockserver.FramingChunked}, want{effects: 1, status: 201, body: body[:8], cut: true}},
		"close-delimited":  {mockserver.Fault{See: mockserver.SeeTruncated, Keep: 8, Framing: mockserver.FramingClose}, want{effects: 1, status: 201, body: body[:8]}},
		"declared too long": {
			mockserver.Fault{Commit: true, Status: 201, Body: "12345678"}.With("Content-Length", "100"),
			want{effects: 1, status: 201, body: "12345678", cut: true},
		},
		"drip":              {mockserver.Fault{See: mockserver.SeeDrip, Every: time.Microsecond}, want{effects: 1, status: 201, body: body}},
		"garbage":           {mockserver.Fault{See: mockserver.SeeRaw, Body: "\x00\x01 no HTTP\r\n\r\n"}, want{text: "malformed HTTP"}},
		"half a line":       {mockserver.Fault{See: mockserver.SeeRaw, Body: "HTTP/1.1 20", Commit: true}, want{effects: 1, text: "malformed HTTP status"}},
		"103 then close":    {mockserver.Fault{See: mockserver.SeeClose, Informational: []int{103}}, want{text: "EOF"}},
		"103 then as usual": {mockserver.Fault{Informational: []int{103}}, want{effects: 1, status: 201, body: body}},
		"redirect":          {mockserver.Redirect(307, "/elsewhere"), want{status: 307}},
		"wrong token":       {mockserver.Fault{Token: "t2"}, want{status: 401, body: `{"code":"unauthorized","message":"wrong or missing bearer token"}` + "\n"}},
		"code":              {mockserver.Code(409, "sku_sold_out"), want{status: 409, body: `{"code":"sku_sold_out"}` + "\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
				s := start(mockserver.Config{Script: []mockserver.Fault{c.fault}})
				client := &http.Client{Transport: s.Transport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
				got := sendBy(t.Context(), t, client, s.URL, "POST", "/payments", `{"amount":500}`, header("Idempotency-Key", "k"))
				switch {
				case c.want.err != nil:
					require.ErrorIs(t, got.err, c.want.err)
				case c.want.text != "":
					require.ErrorContains(t, got.err, c.want.text)
				default:
					require.NoError(t, got.err)
				}
				assert.Equal(t, c.want.status, got.status)
				assert.Equal(t, c.want.body, got.body)
				if c.want.cut {
					assert.ErrorIs(t, got.cut, io.ErrUnexpectedEOF)
				} else {
					assert.NoError(t, got.cut)
				}
				assert.Equal(t, c.want.effects, s.Effects("k"))

				require.NoError(t, s.WaitIdle(t.Context()))
				q := s.Requests()[0]
				assert.True(t, q.Done)
				assert.Equal(t, c.want.status, q.Status)
				assert.Equal(t, c.want.effects == 1, q.Effect)
				assert.Equal(t, int64(14), q.BodyBytes)

				again := pay(t, s, "k", `{"amount":500}`)
				assert.Equal(t, 1, s.Effects("k"), "never a second effect")
				if c.want.effects == 1 {
					assert.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
				}
			})
		})
	}
}

func TestSilenceLastsUntilTheClientGoes(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{})
		s.Script(mockserver.Fault{Commit: true, See: mockserver.SeeNothing})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			got := sendBy(ctx, t, s.Client(), s.URL, "POST", "/payments", `{}`, header("Idempotency-Key", "k"))
			assert.ErrorIs(t, got.err, context.Canceled)
		})
		require.Eventually(t, func() bool { return s.Effects("k") == 1 }, 5*time.Second, time.Millisecond)
		assert.False(t, s.Requests()[0].Done)
		cancel()
		wg.Wait()
		require.NoError(t, s.WaitIdle(t.Context()))
	})
}

func TestDelaysAreBeforeOrAfterTheEffect(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]mockserver.Fault{
		"before": {Before: time.Hour}, "after": {After: time.Hour}, "late": {See: mockserver.SeeReset, Commit: true, Late: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{fault}})
				defer s.Close()
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				got := sendBy(ctx, t, s.Client(), s.URL, "POST", "/payments", `{}`, header("Idempotency-Key", "k"))
				require.Error(t, got.err)
				require.NoError(t, s.WaitIdle(t.Context()))
				require.Equal(t, 1, s.Effects("k"))
				took := s.EffectLog()[0].Time.Sub(start)
				if name == "after" {
					assert.Zero(t, took)
					assert.Equal(t, time.Minute, time.Since(start), "nobody waits for an answer that nobody waits for")
				} else {
					assert.Equal(t, time.Hour, took)
				}
			})
		})
	}
}

func TestAnEarlyAnswerLeavesTheBodyUnread(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{})
		s.Script(mockserver.Fault{See: mockserver.SeeEarly, Read: 1024})
		got := pay(t, s, "k", strings.Repeat("x", 8<<20))
		if got.err == nil { // the answer won the race with the reset
			assert.Equal(t, 413, got.status)
		}
		require.NoError(t, s.WaitIdle(t.Context()))
		assert.Equal(t, int64(1024), s.Requests()[0].BodyBytes)
		assert.Equal(t, 0, s.EffectsTotal())
	})
}

func TestAnEndlessBodyEndsWithTheClient(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{})
		s.Script(mockserver.Fault{Status: 503, See: mockserver.SeeEndless})
		resp, err := s.Client().Post(s.URL, "", nil)
		require.NoError(t, err)
		n, err := io.CopyN(io.Discard, resp.Body, 1<<20)
		require.NoError(t, err)
		assert.Equal(t, int64(1<<20), n)
		require.NoError(t, resp.Body.Close())
		require.NoError(t, s.WaitIdle(t.Context()))
	})
}

func TestScriptsAreTakenNarrowestFirst(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	s.Script(mockserver.Fault{Status: 500, Times: 2}, mockserver.Status(501).Always())
	s.ScriptPath("/slow", mockserver.Status(504))
	s.ScriptKey("a", mockserver.Status(429))
	s.ScriptEachKey(mockserver.Status(503))
	on := func(path, key string) int {
		return send(t, s, "POST", path, `{}`, header("Idempotency-Key", key)).status
	}
	assert.Equal(t, 429, on("/slow", "a"))
	assert.Equal(t, 504, on("/slow", "a"))
	assert.Equal(t, 500, on("/slow", "a"))
	assert.Equal(t, 503, on("/", "b"))
	assert.Equal(t, 503, on("/", "c"))
	assert.Equal(t, 500, on("/", "c"))
	for range 3 {
		assert.Equal(t, 501, on("/", "b"))
	}
}

func TestAForgottenKeyExecutesAgain(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	require.Equal(t, 201, pay(t, s, "k", `{}`).status)
	s.Script(mockserver.Fault{Forget: true})
	assert.Empty(t, pay(t, s, "k", `{}`).header.Get("Idempotent-Replayed"))
	s.Forget("k")
	assert.Empty(t, pay(t, s, "k", `{"other":1}`).header.Get("Idempotent-Replayed"))
	assert.Equal(t, 3, s.Effects("k"))
}

func TestATokenIsAskedForBeforeTheKeyIsLookedAt(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{
		Authenticate: mockserver.BearerToken("t"),
		Tenant:       func(*http.Request) string { return "" },
	})
	defer s.Close()
	require.Equal(t, 201, pay(t, s, "k", `{}`, header("Authorization", "Bearer t")).status)
	got := pay(t, s, "k", `{}`, header("Authorization", "Bearer u"))
	assert.Equal(t, 401, got.status)
	assert.Empty(t, got.header.Get("Idempotent-Replayed"))
}

func TestACompressedAnswerIsCutInItsCompressedBytes(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	s.Script(mockserver.Fault{Gzip: true}, mockserver.Fault{Gzip: true, See: mockserver.SeeTruncated, Keep: 20})
	whole := pay(t, s, "k", `{}`)
	require.NoError(t, whole.cut)
	assert.Equal(t, `{"id":"effect-000001"}`+"\n", whole.body)
	cut := pay(t, s, "k", `{}`)
	assert.Equal(t, 201, cut.status)
	assert.ErrorIs(t, cut.cut, io.ErrUnexpectedEOF)
}

func TestAFaultAddsHeadersToTheWorkflowsAnswer(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	s.Script(mockserver.Fault{}.With("Idempotency-Status", "ignored"))
	assert.Equal(t, "ignored", pay(t, s, "k", `{}`).header.Get("Idempotency-Status"))
	assert.Empty(t, pay(t, s, "k", `{}`).header.Get("Idempotency-Status"), "it is not stored")
}

func TestFaultsLookTheSameInsideTLS(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{TLS: true})
		s.Script(mockserver.Lost(), mockserver.Fault{See: mockserver.SeeClose}, mockserver.Fault{See: mockserver.SeeTruncated, Keep: 3})
		assert.ErrorIs(t, pay(t, s, "k", `{}`).err, syscall.ECONNRESET)
		assert.ErrorIs(t, pay(t, s, "k", `{}`).err, io.EOF)
		assert.ErrorIs(t, pay(t, s, "k", `{}`).cut, io.ErrUnexpectedEOF)
		assert.Equal(t, "true", pay(t, s, "k", `{}`).header.Get("Idempotent-Replayed"))
		assert.Equal(t, 1, s.Effects("k"))
	})
}
