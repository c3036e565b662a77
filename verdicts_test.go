package oncehttp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// rules sets the rules of the one contract.
func rules(answers ...oncehttp.Answer) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) { cfg.Contracts[0].Answers = answers }
}

func shows(status int, body string, header ...string) mockserver.Fault {
	f := mockserver.Fault{Status: status, Body: body, Header: http.Header{"Content-Type": {"application/json"}}}
	for i := 0; i < len(header); i += 2 {
		f.Header.Set(header[i], header[i+1])
	}
	return f
}

// GraphQL tells its errors in answers that say 200.
func TestAGraphQLErrorIsNoSuccess(t *testing.T) {
	t.Parallel()
	at := []string{"/data/*/userErrors/*/code", "/errors/*/extensions/code"}
	graphQL := rules(
		oncehttp.Answer{Status: []int{200}, At: at, Codes: []string{"IDEMPOTENCY_CONCURRENT_REQUEST"}, Verdict: oncehttp.VerdictInProgress},
		oncehttp.Answer{Status: []int{200}, At: at, Codes: []string{"*"}, Verdict: oncehttp.VerdictRefused},
	)
	failed := func(code string) string {
		return `{"data":null,"errors":[{"message":"no"},{"extensions":{"code":"` + code + `"}}]}`
	}
	inBubble(t, script(shows(200, failed("IDEMPOTENCY_CONCURRENT_REQUEST"))), func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
	}, graphQL)
	inBubble(t, script(shows(200, failed("INVALID_AMOUNT"))), func(b *bench) {
		o := b.do()
		want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, o)
		assert.Contains(b, string(o.Response.Body), "INVALID_AMOUNT")
	}, graphQL)
	long := shows(200, `{"pad":"`+strings.Repeat("x", 4000)+`","errors":[]}`)
	long.Commit = true
	inBubble(t, script(long), func(b *bench) {
		o := b.do()
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
		assert.ErrorContains(b, o.Err, "longer than Config.MaxResponseBody")
		resp, err := b.c.HTTPClient().Do(b.request(http.MethodPost, "/payments", payment))
		require.NoError(b, err, "another one, whose answer is short")
		resp.Body.Close()
	}, graphQL, func(cfg *oncehttp.Config) { cfg.MaxResponseBody = 1000 })
	stream := shows(200, "data: 1\n\n", "Content-Type", "text/event-stream")
	stream.Commit = true
	inBubble(t, script(stream), func(b *bench) {
		resp, err := b.c.HTTPClient().Do(b.pay())
		require.NoError(b, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(b, err)
		assert.Equal(b, "data: 1\n\n", string(text))
		resp.Body.Close()
		o, ok := oncehttp.OutcomeOf(resp)
		assert.True(b, ok)
		assert.Equal(b, oncehttp.Confirmed, o.State)
	}, graphQL)
}

// A repeat of what was done may be an error that names it.
func TestAnErrorThatNamesTheEffectConfirmsIt(t *testing.T) {
	t.Parallel()
	exists := `{"error":{"code":"idempotent_creation_conflict","links":{"conflicting_resource_id":"PM123"}}}`
	conflict := rules(oncehttp.Answer{Status: []int{409}, At: []string{"/error/code"}, Codes: []string{"idempotent_creation_conflict"},
		Verdict: oncehttp.VerdictDone, Reference: "/error/links/conflicting_resource_id"})
	for _, repeat := range []oncehttp.RepeatAnswer{oncehttp.RepeatError, oncehttp.RepeatEmpty} {
		repeats := func(cfg *oncehttp.Config) { cfg.Contracts[0].Stored.Repeat = repeat }
		for first, faults := range map[int][]mockserver.Fault{1: {shows(409, exists)}, 2: {mockserver.Lost(), shows(409, exists)}} {
			inBubble(t, script(faults...), func(b *bench) {
				o := b.do()
				want{oncehttp.Confirmed, "", first, false, false}.check(b, o)
				assert.Equal(b, "PM123", o.Reference)
				assert.Equal(b, 409, o.Response.StatusCode)
				assert.JSONEq(b, exists, string(o.Response.Body))
				assert.Len(b, b.srv.Requests(), first)
			}, conflict, repeats)
		}
		cut := mockserver.Fault{See: mockserver.SeeTruncated, Keep: 3}
		inBubble(t, script(cut), func(b *bench) {
			o := b.do()
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
			assert.True(b, o.Response.BodyIncomplete)
			assert.Equal(b, oncehttp.Confirmed, b.do().State)
			assert.Len(b, b.srv.Requests(), 1, "nothing is sent for a body that does not come")
		}, conflict, repeats)
	}
}

func TestAnXMLAnswerIsReadByItsRules(t *testing.T) {
	t.Parallel()
	running := shows(200, `<?xml version="1.0"?><!DOCTYPE r PUBLIC "x" "y"><r><reply><error code="9"><![CDATA[Request in progress]]></error></reply></r>`, "Content-Type", "text/xml")
	inBubble(t, script(running), func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
	}, rules(oncehttp.Answer{Status: []int{200}, At: []string{"/r/reply/error/@code"}, Codes: []string{"9"}, Verdict: oncehttp.VerdictInProgress}))
}

// net/http keeps interim answers to itself.
func TestAnInterimAnswerWithoutAnotherSaysThatItRuns(t *testing.T) {
	t.Parallel()
	interim := rules(oncehttp.Answer{Status: []int{102}, Verdict: oncehttp.VerdictInProgress})
	for _, h2 := range []bool{false, true} {
		then := func(see mockserver.See, interims ...int) mockserver.Config {
			return mockserver.Config{HTTP2: h2, Script: []mockserver.Fault{{Commit: true, Informational: interims, See: see}}}
		}
		inBubble(t, then(mockserver.SeeNothing, 103, 102), func(b *bench) {
			want{oncehttp.Pending, oncehttp.InProgress, 1, true, false}.check(b, b.do())
		}, interim, oneAttempt)
		inBubble(t, then(mockserver.SeeNothing, 102, 103), func(b *bench) {
			want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.do())
		}, interim, oneAttempt)
		inBubble(t, then(mockserver.SeeNothing, 102), func(b *bench) {
			want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.do())
		}, oneAttempt)
		inBubble(t, then(mockserver.SeeAnswer, 102), func(b *bench) {
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do())
		}, interim)
	}
}

func TestInterimAnswersWithoutEndEndTheAttempt(t *testing.T) {
	t.Parallel()
	url := serveWire(t, func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		for {
			if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"); err != nil {
				return
			}
		}
	})
	c := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{}})
	o, err := c.Do("pay-1", post(t, url+"/payments", payment))
	require.ErrorAs(t, err, new(*oncehttp.PendingError))
	assert.ErrorContains(t, o.Err, "without end")
}

// Two requests of one key at once may be refused as too many. That is no sign of
// the host's.
func TestA429ThatMeansTheKeyRunsShutsNoGate(t *testing.T) {
	t.Parallel()
	concurrent := shows(429, `{"code":3162}`, "Retry-After", "60")
	inBubble(t, mockserver.Config{Script: []mockserver.Fault{concurrent, concurrent, concurrent}}, func(b *bench) {
		for n := range 3 {
			o, err := b.c.Do(fmt.Sprintf("runs-%d", n), b.pay())
			b.ruled(o, err)
			assert.Equal(b, oncehttp.InProgress, o.Reason)
		}
		begun := time.Now()
		o := b.do()
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
		assert.Less(b, time.Since(begun), time.Second)
	}, oneAttempt, rules(oncehttp.Answer{Status: []int{429}, Codes: []string{"3162"}, Verdict: oncehttp.VerdictInProgress}))
}

func TestAFailureThatIsKeptIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	keeps := func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Stored.Failures = oncehttp.KeepingYes
		cfg.Contracts[0].Hints.Headers = []oncehttp.Hint{{Header: "Stripe-Should-Retry"}}
	}
	inBubble(t, script(shows(500, `{}`).Always()), func(b *bench) {
		want{oncehttp.Pending, oncehttp.StoredFailure, 1, true, false}.check(b, b.do())
		assert.Empty(b, b.resume())
	}, keeps)
	inBubble(t, script(shows(500, `{}`, "Stripe-Should-Retry", "true")), func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
	}, keeps)
	inBubble(t, script(mockserver.Gateway(502)), func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
	}, keeps)
}

func TestAHintIsWaitedForAndEndsTheAttempts(t *testing.T) {
	t.Parallel()
	hints := func(cfg *oncehttp.Config) {
		cfg.Contracts[0].Hints = oncehttp.Hints{Least: 5 * time.Second, Headers: []oncehttp.Hint{
			{Header: "X-Should-Retry"}, {Header: "X-Ms-Retry-After-Ms", Kind: oncehttp.HintMillis},
		}}
	}
	inBubble(t, script(shows(503, ``, "X-Ms-Retry-After-Ms", "9500")), func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
		assert.GreaterOrEqual(b, b.firstGap(), 9500*time.Millisecond)
	}, hints)
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.do())
		assert.GreaterOrEqual(b, b.firstGap(), 5*time.Second)
	}, hints)
	inBubble(t, script(shows(500, ``, "X-Should-Retry", "false").Always()), func(b *bench) {
		want{oncehttp.Pending, oncehttp.ServerError, 1, true, false}.check(b, b.do())
		assert.Empty(b, b.resume())
	}, hints)
	inBubble(t, script(shows(500, ``, "X-Should-Retry", "true").Always()), func(b *bench) {
		want{oncehttp.Pending, oncehttp.ServerError, 1, true, false}.check(b, b.do())
	}, hints, func(cfg *oncehttp.Config) { cfg.Contracts[0].Proof = oncehttp.ProofSecondary })
}

// Facts from somebody else's page never cause a resend of what may have acted.
func TestHearsayCausesNoResend(t *testing.T) {
	t.Parallel()
	for proof, again := range map[oncehttp.Proof]bool{oncehttp.ProofVendor: true, oncehttp.ProofSecondary: false, oncehttp.ProofUnknown: false} {
		known := func(c oncehttp.Contract) func(*oncehttp.Config) {
			c.Match.Hosts, c.Proof = []string{"*"}, proof
			return func(cfg *oncehttp.Config) { cfg.Contracts = []oncehttp.Contract{c} }
		}
		upsert := known(oncehttp.Contract{Match: oncehttp.Match{Idempotent: oncehttp.IdempotentYes}})
		inBubble(t, script(mockserver.Fault{See: mockserver.SeeReset}), func(b *bench) {
			assert.Equal(b, again, b.do().State == oncehttp.Confirmed)
		}, upsert)
		throttled := known(oncehttp.Contract{Answers: []oncehttp.Answer{
			{Status: []int{200, 503}, At: []string{"/error"}, Codes: []string{"ratelimited"}, Verdict: oncehttp.VerdictThrottled},
		}})
		for _, status := range []int{200, 503} {
			inBubble(t, script(shows(status, `{"error":"ratelimited"}`)), func(b *bench) {
				o := b.do()
				assert.Equal(b, again, o.State == oncehttp.Confirmed)
				if !again {
					want{oncehttp.Pending, oncehttp.Throttled, 1, true, false}.check(b, o)
				}
			}, throttled)
		}
		inBubble(t, script(shows(429, `{"error":"ratelimited"}`)), func(b *bench) {
			assert.Equal(b, oncehttp.Confirmed, b.do().State, "a 429 says so by itself")
		}, throttled)
	}
}

// An API that knows a key together with its credential takes another credential's
// request for a new one.
func TestWhatMayHaveExecutedIsNotSentWithOtherCredentials(t *testing.T) {
	t.Parallel()
	with := func(token string) func(*oncehttp.Config) {
		return func(cfg *oncehttp.Config) {
			cfg.Authorize = func(req *http.Request, _ bool) error {
				req.Header.Set("Authorization", "Bearer "+token)
				return nil
			}
		}
	}
	pins := func(cfg *oncehttp.Config) { cfg.Contracts[0].Pin = oncehttp.PinCredential }
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.do())
		b.reopen(with("b"))
		o := b.do()
		want{oncehttp.Pending, oncehttp.NeedsCredentials, 1, true, false}.check(b, o)
		require.ErrorContains(b, o.Err, "together with the credentials")
		assert.NotContains(b, o.Err.Error(), "Bearer")
		for _, o := range b.resume() {
			assert.Equal(b, oncehttp.NeedsCredentials, o.Reason)
		}
		assert.Len(b, b.srv.Requests(), 1)
		b.reopen(with("a"))
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.do())
		assert.Equal(b, 1, b.srv.EffectsTotal())
	}, oneAttempt, pins, with("a"))
	inBubble(t, script(mockserver.Status(429)), func(b *bench) {
		want{oncehttp.Pending, oncehttp.Throttled, 1, false, false}.check(b, b.do())
		b.reopen(with("b"))
		time.Sleep(time.Minute)
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
	}, oneAttempt, pins, with("a"))
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, b.do())
		b.reopen(with("b"))
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, b.do())
		assert.Equal(b, 2, b.srv.EffectsTotal(), "that is what the pin is for")
	}, oneAttempt, with("a"))
}

func TestAContractSaysWhatTellsPayloadsApart(t *testing.T) {
	t.Parallel()
	compares := func(cfg *oncehttp.Config) {
		cfg.SignificantHeaders = []string{"X-Own"}
		other := cfg.Contracts[0]
		cfg.Contracts[0].Compared = oncehttp.Compared{Headers: []string{"Api-Version"}, Except: []string{"/trace"}}
		other.Name, other.Match.Path = "other", "/other"
		cfg.Contracts = append(cfg.Contracts, other)
	}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		do := func(path, action, version, own, body string) error {
			req := b.request(http.MethodPost, path, body)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Api-Version", version)
			req.Header.Set("X-Own", own)
			_, err := b.c.Do(action, req)
			return err
		}
		var mismatch *oncehttp.MismatchError
		require.NoError(b, do("/payments", "pay-1", "1", "o", `{"amount":1,"trace":"a"}`))
		require.NoError(b, do("/payments", "pay-1", "1", "o", `{"amount":1,"trace":"b"}`))
		require.ErrorAs(b, do("/payments", "pay-1", "2", "o", `{"amount":1,"trace":"b"}`), &mismatch)
		assert.Equal(b, []string{"header Api-Version"}, mismatch.Differs)
		require.ErrorAs(b, do("/payments", "pay-1", "1", "p", `{"amount":2}`), &mismatch)
		assert.Equal(b, []string{"/amount", "header X-Own"}, mismatch.Differs)
		require.NoError(b, do("/other", "pay-2", "1", "o", `{"amount":1,"trace":"a"}`))
		require.NoError(b, do("/other", "pay-2", "2", "o", `{"amount":1,"trace":"a"}`))
		require.ErrorAs(b, do("/other", "pay-2", "1", "o", `{"amount":1,"trace":"b"}`), &mismatch)
		assert.Equal(b, []string{"/trace"}, mismatch.Differs)
	}, compares)
}

func TestAnAnswerThatEchoesTheKeyIsAReplay(t *testing.T) {
	t.Parallel()
	for echo, state := range map[string]oncehttp.State{"k-1": oncehttp.Rejected, "k-2": oncehttp.Pending} {
		inBubble(t, script(mockserver.Lost(), shows(404, `{}`, "Idempotency-Key", echo).Always()), func(b *bench) {
			req := b.pay()
			req.Header.Set("Idempotency-Key", "k-1")
			o, err := b.c.Do("pay-1", req)
			b.ruled(o, err)
			assert.Equal(b, state, o.State)
		}, func(cfg *oncehttp.Config) {
			cfg.Contracts[0].Replay = oncehttp.Marker{Headers: []string{"Idempotency-Key"}, Echo: true}
		})
	}
}
