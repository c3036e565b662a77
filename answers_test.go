package oncehttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A compressed answer has two ends that can be missing: the framing's, and the
// compression's. T21
func TestACutOffCompressedAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, framing := range []mockserver.Framing{mockserver.FramingLength, mockserver.FramingChunked, mockserver.FramingClose} {
		inBubble(t, script(mockserver.Fault{See: mockserver.SeeTruncated, Gzip: true, Framing: framing, Keep: 12}), func(b *bench) {
			o := b.do()
			want{oncehttp.Confirmed, "", 2, false, true}.check(b, o)
			assert.JSONEq(b, `{"id":"effect-000001"}`, string(o.Response.Body), string(framing))
			assert.False(b, o.Response.BodyIncomplete)
			assert.Equal(b, 1, b.srv.EffectsTotal())
		})
	}
}

func TestAnHTTP2AnswerThatIsResetIsAskedForAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{HTTP2: true, Script: []mockserver.Fault{{See: mockserver.SeeTruncated, Keep: 8}}}, func(b *bench) {
		o := b.do()
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, o)
		assert.JSONEq(b, `{"id":"effect-000001"}`, string(o.Response.Body))
		assert.Equal(b, 1, b.srv.EffectsTotal())
	})
}

// Only JSON can tell that an answer which ends with its connection was cut.
func TestAnAnswerThatEndsWithItsConnectionIsWholeUnlessItsJSONIsNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, body string
		whole      bool
	}{
		{"application/json", `{"id":1}`, true},
		{"application/problem+json", `{"id":1`, false},
		{"application/json", `{"id":`, false},
		{"application/json", ``, true},
		{"application/json", "\ufeff" + `{"id":1}`, true},
		{"text/plain", `{"id":`, true},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			conn, out, err := http.NewResponseController(w).Hijack()
			if !assert.NoError(t, err) {
				return
			}
			out.WriteString("HTTP/1.1 201 Created\r\nContent-Type: " + c.kind + "\r\nConnection: close\r\n\r\n" + c.body)
			out.Flush()
			conn.Close()
		}))
		client := open(t, journalPath(t), oncehttp.Config{})
		o, err := client.Do("pay-1", post(t, srv.URL, `{}`))
		require.NoError(t, err)
		assert.Equal(t, oncehttp.Confirmed, o.State)
		assert.Equal(t, !c.whole, o.Response.BodyIncomplete, "%s %q", c.kind, c.body)
		srv.Close()
	}
}

// An API may store headers with the answer, which spoke of another moment.
func TestStaleHeadersOfAReplayNeitherDelayNorShutTheGate(t *testing.T) {
	t.Parallel()
	stale := func(*http.Request) mockserver.Answer {
		return mockserver.Answer{Status: 201, Body: `{"id":"ch_1"}`, Header: http.Header{
			"Content-Type": {"application/json"}, "Retry-After": {"3600"}, "X-Ratelimit-Remaining": {"0"},
		}}
	}
	inBubble(t, mockserver.Config{Execute: stale, Script: []mockserver.Fault{mockserver.Lost()}}, func(b *bench) {
		begun := time.Now()
		o := b.do()
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, o)
		assert.Zero(b, o.RetryAt)
		next, err := b.c.Do("pay-2", b.pay())
		b.ruled(next, err)
		assert.Equal(b, oncehttp.Confirmed, next.State)
		assert.Less(b, time.Since(begun), time.Second)
	})
}

func TestProblemDocumentsAreRead(t *testing.T) {
	t.Parallel()
	problem := func(status int, typ string) mockserver.Fault {
		return mockserver.Fault{Status: status, Body: `{"type":"` + typ + `","title":"No"}`,
			Header: http.Header{"Content-Type": {"application/problem+json"}}}
	}
	inBubble(t, script(problem(409, "https://api.test/problems/request-in-progress")), func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
	})
	inBubble(t, script(problem(409, "https://api.test/problems/sold-out")), func(b *bench) {
		o := b.do()
		want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, o)
		assert.Equal(b, "application/problem+json", o.Response.Header.Get("Content-Type"))
	})
	inBubble(t, script(mockserver.Lost(), problem(422, "https://api.test/problems/idempotency-key-reused").Always()), func(b *bench) {
		want{oncehttp.Pending, oncehttp.Unknown, 2, true, false}.check(b, b.do())
	})
}

// Which refusal it is stands in the part that is missing: it may name what an
// earlier attempt did.
func TestARefusalThatIsCutBeforeItsCodeSettlesNothing(t *testing.T) {
	t.Parallel()
	cut := mockserver.Code(409, "already_paid").Committed()
	cut.See, cut.Keep = mockserver.SeeTruncated, 5
	inBubble(t, script(cut), func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.do())
	}, func(cfg *oncehttp.Config) {
		c := &cfg.Contracts[0]
		c.Stored.Refusals = true
		c.Answers = []oncehttp.Answer{{Status: []int{409}, Codes: []string{"already_paid"}, Verdict: oncehttp.VerdictDone}, {Status: []int{409}, Verdict: oncehttp.VerdictRefused}}
	})
	// What is longer than the client reads is as long again.
	long := mockserver.Code(409, "already_paid").Committed()
	long.Body = `{"pad":"` + strings.Repeat("x", 100_000) + `","code":"already_paid"}`
	inBubble(t, script(long), func(b *bench) {
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.do())
	}, func(cfg *oncehttp.Config) {
		c := &cfg.Contracts[0]
		c.Answers = []oncehttp.Answer{{Status: []int{409}, Codes: []string{"already_paid"}, Verdict: oncehttp.VerdictDone}}
	})
}

// Who may not ask is turned away before the key is looked up, as a rule: that is
// no word about an earlier attempt, unless the contract says so.
func TestARefusalOfCredentialsSettlesNoEarlierAttempt(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 407} {
		lostThenRefused := script(mockserver.Lost(), mockserver.Status(status).Always())
		keepsRefusals := func(cfg *oncehttp.Config) {
			cfg.Contracts[0].Stored.Refusals, cfg.Contracts[0].Stored.Settle = true, time.Second
		}
		inBubble(t, lostThenRefused, func(b *bench) {
			want{oncehttp.Pending, oncehttp.Unauthorized, 2, true, false}.check(b, b.do())
			time.Sleep(time.Minute)
			assert.Equal(b, oncehttp.Pending, b.do().State, "and not when it is said again")
		}, keepsRefusals)
		inBubble(t, lostThenRefused, func(b *bench) {
			assert.Equal(b, oncehttp.Rejected, b.do().State)
		}, keepsRefusals, func(cfg *oncehttp.Config) {
			cfg.Contracts[0].Answers = []oncehttp.Answer{{Status: []int{status}, Verdict: oncehttp.VerdictRefused}}
		})
	}
}
