package oncehttp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C025
func TestTheKeyIsOnDiskBeforeTheFirstByteAndNeverChanges(t *testing.T) {
	t.Parallel()
	path := make(chan string, 1)
	found := make(chan bool, 1)
	server := script(mockserver.Lost(), mockserver.Fault{Commit: true, After: 2 * time.Second})
	server.Authenticate = func(r *http.Request) error {
		select {
		case p := <-path:
			text, err := os.ReadFile(p)
			key := r.Header.Get("Idempotency-Key")
			found <- err == nil && key != "" && bytes.Contains(text, []byte(key)) && bytes.Contains(text, []byte(payment))
		default:
		}
		return nil
	}
	inBubble(t, server, func(b *bench) {
		path <- b.path
		o := b.do()
		want{oncehttp.Confirmed, "", 3, false, true}.check(b, o)
		assert.Equal(b, o.Key, b.oneKey())
		assert.True(b, <-found, "the journal holds the key and the body of request 1")
		assert.Equal(b, 1, b.srv.Effects(o.Key))
	})
}

// What comes between a request and its status line proves nothing. T9, T20
func TestAnAttemptWithoutAStatusMayHaveExecuted(t *testing.T) {
	t.Parallel()
	raw := func(text string) mockserver.Fault {
		return mockserver.Fault{Commit: true, See: mockserver.SeeRaw, Body: text}
	}
	for name, fault := range map[string]mockserver.Fault{
		"reset":                 mockserver.Lost(),
		"closed":                {Commit: true, See: mockserver.SeeClose},
		"silence":               {Commit: true, See: mockserver.SeeNothing},
		"late":                  {Commit: true, After: time.Minute},
		"103, then closed":      {Commit: true, See: mockserver.SeeClose, Informational: []int{103}}, // T11
		"102, then reset":       {Commit: true, See: mockserver.SeeReset, Informational: []int{102, 102}},
		"garbage":               raw("\x16\x03\x01\x00\x02\x01\x00"),
		"half a status line":    raw("HTTP/1.1 20"),
		"half a header":         raw("HTTP/1.1 201 Created\r\nContent-Le"),
		"a header out of bound": raw("HTTP/1.1 201 Created\r\nX: " + strings.Repeat("x", 11<<20) + "\r\n\r\n"),
		"101":                   raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(fault), func(b *bench) {
				ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second) // no time-out of ours bounds it
				defer cancel()
				o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
				b.ruled(o, err)
				want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
				b.reopen()
				time.Sleep(time.Hour)
				b.resume()
				assert.Len(b, b.srv.Requests(), 1, "it has no key: never again by itself")
			}, unprotected)
			if name == "101" {
				return // its repeat cannot help
			}
			inBubble(t, script(fault), func(b *bench) {
				want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.do())
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
			})
		})
	}
}

func TestTheCauseOfATimeOutSaysWhose(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Fault{See: mockserver.SeeNothing}.Always()), func(b *bench) {
		o := b.do()
		assert.ErrorContains(b, o.Err, "Retry.AttemptTimeout")
		assert.NotErrorIs(b, o.Err, context.DeadlineExceeded, "it is not the caller's deadline")
		b.reopen()
		assert.ErrorContains(b, b.known().Err, "Retry.AttemptTimeout")
	})
}

// To cut it off would make an unknown outcome where there was none.
func TestAnAttemptThatNoOtherMayFollowIsNotCutOff(t *testing.T) {
	t.Parallel()
	for _, server := range []mockserver.Config{{Work: time.Hour}, script(mockserver.Fault{See: mockserver.SeeDrip, Every: time.Minute})} {
		inBubble(t, server, func(b *bench) {
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do())
			assert.False(b, b.known().Response.BodyIncomplete)
		}, unprotected)
	}
	// Another may follow what an idempotent method or a key protects.
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		inBubble(t, mockserver.Config{Work: time.Hour}, func(b *bench) {
			o, err := b.c.Do("pay-1", b.request(method, "/payments", payment))
			b.ruled(o, err)
			assert.Equal(b, oncehttp.Pending, o.State)
			assert.Equal(b, 4, o.Attempts)
		}, func(cfg *oncehttp.Config) {
			if method == http.MethodDelete {
				unprotected(cfg)
			}
		})
	}
}

// T11
func Test1xxAnswersAreNoAnswers(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Fault{Informational: []int{100, 102, 103, 103}}), func(b *bench) {
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do())
	})
}

// C028
func TestAnEarlyRefusalIsReadOrTheOutcomeIsOpen(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(script(mockserver.Fault{See: mockserver.SeeEarly, Status: 413, Read: 1024}.Always()))
	defer srv.Close()
	const size = 8 << 20
	c := open(t, journalPath(t), oncehttp.Config{Transport: srv.Transport(), MaxRequestBody: 2 * size})
	o, err := c.Do("pay-1", post(t, srv.URL+"/payments", strings.Repeat("x", size)))
	if o.State == oncehttp.Rejected {
		require.NoError(t, err)
		assert.Equal(t, 413, o.Response.StatusCode)
		assert.Equal(t, 1, o.Attempts)
	} else {
		var pending *oncehttp.PendingError
		require.ErrorAs(t, err, &pending)
		assert.True(t, o.MayHaveExecuted)
		assert.LessOrEqual(t, o.Attempts, 4)
	}
	assert.Equal(t, 0, srv.EffectsTotal())
}

// C030, T6, T15
func TestEveryAttemptCarriesTheWholeBody(t *testing.T) {
	t.Parallel()
	body := make([]byte, 64<<10)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	sum := sha256.Sum256(body)
	for name, attach := range map[string]func(*http.Request, *countedBody){
		"a pipe": func(req *http.Request, r *countedBody) { req.Body, req.ContentLength = r, int64(len(body)) },
		"GetBody": func(req *http.Request, r *countedBody) {
			req.Body, req.ContentLength = r, int64(len(body))
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		},
		"no length":         func(req *http.Request, r *countedBody) { req.Body, req.ContentLength = r, -1 },
		"no length, zeroed": func(req *http.Request, r *countedBody) { req.Body, req.ContentLength = r, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(mockserver.Status(429), mockserver.Status(503)), func(b *bench) {
				req := b.request(http.MethodPost, "/payments", "")
				reader, writer := io.Pipe()
				go func() {
					_, err := writer.Write(body)
					writer.CloseWithError(err)
				}()
				r := &countedBody{Reader: reader}
				attach(req, r)
				o, err := b.c.Do("pay-1", req)
				b.ruled(o, err)
				want{oncehttp.Confirmed, "", 3, false, false}.check(b, o)
				assert.EqualValues(b, 1, r.closed.Load())
				for _, q := range b.srv.Requests() {
					assert.Equal(b, hex.EncodeToString(sum[:]), q.BodySHA256)
					assert.EqualValues(b, len(body), q.ContentLength)
				}
			})
		})
	}
}

// countedBody counts how often it is closed.
type countedBody struct {
	io.Reader
	closed atomic.Int32
}

func (b *countedBody) Close() error {
	b.closed.Add(1)
	return nil
}

// C030, the control: a body that cannot be read.
func TestABodyThatCannotBeReadSendsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for _, length := range []int64{-1, 3, 100} {
			req := b.request(http.MethodPost, "/payments", "")
			r := &countedBody{Reader: io.MultiReader(strings.NewReader("ab"), brokenReader{})}
			req.Body, req.ContentLength = r, length
			o, err := b.c.Do("pay-1", req)
			require.ErrorIs(b, err, oncehttp.ErrInvalidRequest)
			require.ErrorIs(b, err, errBroken)
			assert.Nil(b, o)
			assert.EqualValues(b, 1, r.closed.Load())
		}
		assert.Empty(b, b.srv.Requests())
		_, err := b.c.Outcome(b.Context(), "pay-1")
		assert.ErrorIs(b, err, oncehttp.ErrNotFound)
	})
}

var errBroken = errors.New("the reader is broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

// C032, T10
func TestACutOffSuccessIsConfirmedAndItsBodyIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, framing := range []mockserver.Framing{mockserver.FramingLength, mockserver.FramingChunked, mockserver.FramingClose} {
		cut := mockserver.Fault{See: mockserver.SeeTruncated, Framing: framing, Keep: 8}
		t.Run("once "+string(framing), func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(cut), func(b *bench) {
				o := b.do()
				want{oncehttp.Confirmed, "", 2, false, true}.check(b, o)
				assert.JSONEq(b, `{"id":"effect-000001"}`, string(o.Response.Body))
				assert.False(b, o.Response.BodyIncomplete)
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
			})
		})
		t.Run("always "+string(framing), func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(cut.Always()), func(b *bench) {
				o := b.do()
				assert.Equal(b, oncehttp.Confirmed, o.State)
				assert.Equal(b, 4, o.Attempts)
				assert.True(b, o.Response.BodyIncomplete)
				assert.ErrorIs(b, o.Err, io.ErrUnexpectedEOF)
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))

				// RoundTrip: never a half-read body that looks whole.
				req := b.pay().WithContext(oncehttp.WithAction(b.Context(), "pay-2"))
				resp, err := b.c.RoundTrip(req)
				require.NoError(b, err)
				_, err = io.ReadAll(resp.Body)
				require.ErrorIs(b, err, io.ErrUnexpectedEOF)
			})
		})
		t.Run("without a key "+string(framing), func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(cut.Always()), func(b *bench) {
				o := b.do()
				want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
				assert.True(b, o.Response.BodyIncomplete)
			}, unprotected)
		})
	}
}

// C034
func TestWorkThatOutlastsAnAttemptIsWaitedFor(t *testing.T) {
	t.Parallel()
	slow := mockserver.Config{Work: 3500 * time.Millisecond}
	impatient := func(elapsed time.Duration) func(*oncehttp.Config) {
		return func(cfg *oncehttp.Config) {
			cfg.Retry.AttemptTimeout, cfg.Retry.MaxAttempts, cfg.Retry.MaxElapsed = 500*time.Millisecond, 8, elapsed
		}
	}
	inBubble(t, slow, func(b *bench) {
		o := b.do()
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.True(b, o.Response.Replayed)
		assert.LessOrEqual(b, o.Attempts, 6)
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
		for _, gap := range b.gaps()[min(1, len(b.gaps())):] {
			assert.GreaterOrEqual(b, gap, time.Second)
		}
	}, impatient(10*time.Second))
	inBubble(t, slow, func(b *bench) {
		o := b.do()
		assert.Equal(b, oncehttp.Pending, o.State)
		assert.True(b, o.MayHaveExecuted)
		time.Sleep(4 * time.Second)
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		assert.Equal(b, oncehttp.Confirmed, outcomes[0].State)
		assert.True(b, outcomes[0].Response.Replayed)
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	}, impatient(2*time.Second))
}

func TestATransportThatReturnsNeitherAnswerNorErrorProvesNothing(t *testing.T) {
	t.Parallel()
	c := open(t, journalPath(t), oncehttp.Config{
		Contracts: []oncehttp.Contract{},
		Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, nil }),
	})
	o, err := c.Do("pay-1", post(t, "http://api.test/payments", payment))
	require.ErrorAs(t, err, new(*oncehttp.PendingError))
	want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(t, o)
	req := post(t, "http://api.test/payments", "").WithContext(t.Context())
	req.Method = http.MethodGet
	_, err = c.RoundTrip(req)
	require.ErrorContains(t, err, "neither an answer nor an error")
}

// C080, T12
func TestDiscardedAnswersGiveTheirConnectionsBack(t *testing.T) {
	t.Parallel()
	const intents, connections = 60, 2
	short := mockserver.Status(503)
	short.Body = strings.Repeat("x", 4<<10)
	endless := mockserver.Fault{Status: 503, See: mockserver.SeeEndless}
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.srv.ScriptEachKey(short, endless)
		pool := newPool(8)
		for i := range intents {
			pool.Go(func() {
				o, err := b.c.Do("pay-"+string(rune('A'+i)), b.pay())
				b.ruled(o, err)
				assert.Equal(b, oncehttp.Confirmed, o.State)
				assert.NotEmpty(b, o.Response.Body)
			})
		}
		pool.Wait()
		assert.Equal(b, intents, b.srv.EffectsTotal())
		opened := 0
		for _, q := range b.srv.Requests() {
			opened = max(opened, q.Conn)
		}
		assert.LessOrEqual(b, opened, connections+intents)
	}, func(cfg *oncehttp.Config) {
		cfg.Transport.(*http.Transport).MaxConnsPerHost = connections
		cfg.Retry.MaxElapsed = 10 * time.Minute
		cfg.Retry.AttemptTimeout = time.Minute
	})
}
