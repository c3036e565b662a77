package oncehttp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func stream(see mockserver.See, body string) mockserver.Fault {
	return mockserver.Fault{Commit: true, Status: 200, See: see, Body: body, Every: 10 * time.Second,
		Header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}}
}

// The header of a streaming answer confirms it, and no time-out of ours cuts it.
func TestAStreamingAnswerIsHandedOnLive(t *testing.T) {
	t.Parallel()
	const events = "data: 1\n\n"
	inBubble(t, script(stream(mockserver.SeeDrip, events)), func(b *bench) {
		begun := time.Now()
		resp, err := b.c.RoundTrip(b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
		require.NoError(b, err)
		assert.Less(b, time.Since(begun), time.Second, "it is there before its end")
		o, ok := oncehttp.OutcomeOf(resp)
		require.True(b, ok)
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.True(b, o.Response.BodyIncomplete)
		text, err := io.ReadAll(resp.Body)
		require.NoError(b, err)
		assert.Equal(b, events, string(text))
		assert.GreaterOrEqual(b, time.Since(begun), 80*time.Second)
		require.NoError(b, resp.Body.Close())
		again := b.do()
		assert.True(b, again.FromJournal)
		assert.True(b, again.Response.BodyIncomplete)
		assert.Len(b, b.srv.Requests(), 1)
	})
}

// Do has nobody to hand a body on to: it does not wait for a stream's end.
func TestDoDoesNotWaitForAStream(t *testing.T) {
	t.Parallel()
	for _, see := range []mockserver.See{mockserver.SeeDrip, mockserver.SeeEndless} {
		inBubble(t, script(stream(see, "data: 1\n\n")), func(b *bench) {
			begun := time.Now()
			o := b.do()
			assert.Less(b, time.Since(begun), time.Second)
			assert.Equal(b, oncehttp.Confirmed, o.State)
			assert.True(b, o.Response.BodyIncomplete)
			assert.Len(b, b.srv.Requests(), 1, "it is never a reason to send again")
		})
	}
}

func TestALongAnswerIsJudgedByItsStatusAndHandedOnLive(t *testing.T) {
	t.Parallel()
	const limit = 1 << 10
	for _, status := range []int{201, 404} {
		for _, size := range []int{limit - 1, limit, limit + 1, 100 * limit} {
			t.Run(fmt.Sprint(status, " ", size), func(t *testing.T) {
				t.Parallel()
				long := strings.Repeat("x", size)
				server := mockserver.Config{Execute: func(*http.Request) mockserver.Answer {
					return mockserver.Answer{Status: status, Body: long}
				}}
				inBubble(t, server, func(b *bench) {
					resp, err := b.c.RoundTrip(b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
					require.NoError(b, err)
					text, err := io.ReadAll(resp.Body)
					require.NoError(b, err)
					require.NoError(b, resp.Body.Close())
					assert.Equal(b, sha256.Sum256([]byte(long)), sha256.Sum256(text))
					assert.Equal(b, status, resp.StatusCode)
					o := b.do()
					assert.Equal(b, size > limit, o.Response.BodyIncomplete)
					assert.Equal(b, long[:min(size, limit)], string(o.Response.Body))
					if size > limit {
						resp, err = b.c.RoundTrip(b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-1")))
						require.NoError(b, err)
						_, err = io.ReadAll(resp.Body)
						require.ErrorIs(b, err, io.ErrUnexpectedEOF, "what is kept does not look whole")
					}
					assert.Len(b, b.srv.Requests(), 1)
				}, func(cfg *oncehttp.Config) { cfg.MaxResponseBody = limit })
			})
		}
	}
}

// A refusal's text of more than what is read of any error is kept whole.
func TestALongRefusalIsKeptWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300<<10)
	refusal := mockserver.Fault{Status: 404, Body: long}
	inBubble(t, script(refusal), func(b *bench) {
		o := b.do()
		want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, o)
		assert.False(b, o.Response.BodyIncomplete)
		assert.Len(b, o.Response.Body, len(long))
	})
	// One that stalls is cut, and says so.
	inBubble(t, mockserver.Config{}, func(b *bench) {
		begun := time.Now()
		o := b.do()
		assert.LessOrEqual(b, time.Since(begun), 3*time.Second)
		assert.Equal(b, oncehttp.Rejected, o.State)
		assert.True(b, o.Response.BodyIncomplete)
	}, stalling(404, 70<<10))
}

// stalling answers with some bytes of a body, which then says nothing more.
func stalling(status, size int) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) {
		cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
			_, err := io.Copy(io.Discard, req.Body)
			return &http.Response{
				StatusCode: status, Header: http.Header{}, ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Request: req,
				Body: &stallingBody{Reader: bytes.NewReader(make([]byte, size)), ctx: req.Context()},
			}, err
		})
	}
}

type stallingBody struct {
	*bytes.Reader
	ctx context.Context
}

func (b *stallingBody) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); !errors.Is(err, io.EOF) {
		return n, err
	}
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (b *stallingBody) Close() error { return nil }

// A safe request's discarded answers are not waited for either.
func TestAStallingAnswerOfASafeRequestDoesNotHoldItsRetryUp(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		begun := time.Now()
		resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
		require.NoError(b, err)
		assert.Equal(b, 503, resp.StatusCode)
		assert.LessOrEqual(b, time.Since(begun), 5*time.Second)
		require.NoError(b, resp.Body.Close())
	}, func(cfg *oncehttp.Config) {
		stalling(503, 100)(cfg)
		inner := cfg.Transport
		cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			req.Body = http.NoBody
			return inner.RoundTrip(req)
		})
	})
}

// As with any transport, a live body ends with its request's context.
func TestALiveBodyEndsWithItsCallersContext(t *testing.T) {
	t.Parallel()
	ends := func(client *http.Client, ctx func(*bench) context.Context) {
		inBubble(t, script(stream(mockserver.SeeDrip, "data: 1\n\n")), func(b *bench) {
			begun := time.Now()
			client.Transport = b.c
			resp, err := client.Do(b.pay().WithContext(ctx(b)))
			require.NoError(b, err)
			_, err = io.ReadAll(resp.Body)
			require.Error(b, err)
			assert.Equal(b, 15*time.Second, time.Since(begun))
			require.NoError(b, resp.Body.Close())
			require.NoError(b, b.srv.WaitIdle(b.Context()))
		})
	}
	ends(&http.Client{}, func(b *bench) context.Context {
		ctx, cancel := context.WithCancel(b.Context())
		time.AfterFunc(15*time.Second, cancel)
		return ctx
	})
	ends(&http.Client{Timeout: 15 * time.Second}, func(b *bench) context.Context { return b.Context() })
}

// Closing a live body frees everything; the bubble ends only then.
func TestClosingALiveBodyEndsItsAttempt(t *testing.T) {
	t.Parallel()
	inBubble(t, script(stream(mockserver.SeeEndless, "")), func(b *bench) {
		resp, err := b.c.RoundTrip(b.pay())
		require.NoError(b, err)
		_, err = io.ReadFull(resp.Body, make([]byte, 1<<20))
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
		require.NoError(b, b.srv.WaitIdle(b.Context()))
	})
	// So does the client's Close, for a body that nobody closed.
	inBubble(t, script(stream(mockserver.SeeEndless, "")), func(b *bench) {
		resp, err := b.c.RoundTrip(b.pay())
		require.NoError(b, err)
		require.NoError(b, b.c.Close())
		_, err = io.Copy(io.Discard, resp.Body)
		require.Error(b, err)
		require.NoError(b, b.srv.WaitIdle(b.Context()))
	})
}

// What an earlier answer has left in the journal is not the body of a stream.
func TestAStreamDoesNotHaveTheBodyOfAnEarlierAnswer(t *testing.T) {
	t.Parallel()
	sent := 0
	inBubble(t, mockserver.Config{}, func(b *bench) {
		require.Equal(b, oncehttp.Rejected, b.do().State)
		o := b.do()
		require.Equal(b, oncehttp.Confirmed, o.State)
		assert.Empty(b, o.Response.Body)
		assert.True(b, o.Response.BodyIncomplete)
		b.reopen()
		assert.Empty(b, b.known().Response.Body)
	}, func(cfg *oncehttp.Config) {
		cfg.Transport = roundTripFunc(func(r *http.Request) (*http.Response, error) {
			resp := &http.Response{StatusCode: 401, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("who are you")), Request: r}
			if sent++; sent > 1 {
				resp.StatusCode, resp.Header, resp.Body = 200, http.Header{"Content-Type": {"text/event-stream"}}, io.NopCloser(strings.NewReader("data: 1\n\n"))
			}
			return resp, nil
		})
	})
}
