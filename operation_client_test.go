package oncehttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

const (
	pays  = `{"op":"pay","amount":500}`
	looks = `{"op":"look","amount":500}`
)

// onlyPays has the contract speak of one operation only.
func onlyPays(cfg *oncehttp.Config) {
	cfg.Contracts[0].Match.Operation = oncehttp.Operation{Kind: oncehttp.OperationJSON, At: "/op", Names: []string{"pay"}}
}

// bodyWays are the ways in which a request may bring its body.
var bodyWays = map[string]func(r *http.Request, text string){
	"GetBody": func(r *http.Request, text string) {
		r.ContentLength = int64(len(text))
		r.GetBody = func() (io.ReadCloser, error) { return readCloser(text), nil }
	},
	"its length":  func(r *http.Request, text string) { r.ContentLength = int64(len(text)) },
	"no length":   func(r *http.Request, text string) { r.ContentLength = -1 },
	"zero length": func(r *http.Request, text string) {},
}

func TestAnOperationDecidesHowARequestTravels(t *testing.T) {
	t.Parallel()
	travels := func(t *testing.T, way func(*http.Request, string), text, mediaType, coding string, changes ...func(*oncehttp.Config)) (how string) {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			req := b.request(http.MethodPost, "/payments", "")
			body := &countedBody{Reader: strings.NewReader(text)}
			req.Body = body
			req.Header.Set("Content-Type", mediaType)
			if coding != "" {
				req.Header.Set("Content-Encoding", coding)
			}
			way(req, text)
			had, hadLength := req.GetBody != nil, req.ContentLength
			how = travelled(b, req)
			assert.EqualValues(b, 1, body.closed.Load(), "the body is closed exactly once")
			assert.Same(b, body, req.Body, "the request is not changed")
			assert.Equal(b, had, req.GetBody != nil)
			assert.Equal(b, hadLength, req.ContentLength)
		}, append(changes, func(cfg *oncehttp.Config) {
			base := cfg.Transport
			cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
				sent, err := io.ReadAll(req.Body)
				assert.NoError(t, err)
				assert.NoError(t, req.Body.Close())
				assert.Equal(t, text, string(sent))
				clone := req.WithContext(req.Context())
				clone.Body = readCloser(text)
				return base.RoundTrip(clone)
			})
		})...)
		return how
	}
	for name, way := range bodyWays {
		for _, unmatched := range []oncehttp.Unmatched{oncehttp.JournalOnce, oncehttp.PassThrough, oncehttp.Refuse} {
			t.Run(fmt.Sprint(name, " ", unmatched), func(t *testing.T) {
				t.Parallel()
				set := func(cfg *oncehttp.Config) { cfg.Unmatched = unmatched }
				assert.Equal(t, asIntent, travels(t, way, pays, "application/json", "", onlyPays, set))
				for _, other := range [][3]string{
					{looks, "application/json", ""}, {pays, "application/json", "gzip"}, {pays, "text/plain", ""}, {pays, "", ""},
					{"op=pay", "application/x-www-form-urlencoded", ""}, {`{"op":"pay"`, "application/json", ""},
				} {
					alone := travels(t, way, other[0], other[1], other[2], unprotected, set)
					assert.Equal(t, alone, travels(t, way, other[0], other[1], other[2], onlyPays, set), "%q", other)
				}
			})
		}
		safe := func(cfg *oncehttp.Config) { cfg.Contracts[0].Match.Safe = true }
		want := inMemory
		if name == "no length" || name == "zero length" {
			want = once
		}
		assert.Equal(t, want, travels(t, way, pays, "application/json", "", onlyPays, safe), name)
	}
}

func TestABodyThatHidesItsOperationIsRefused(t *testing.T) {
	t.Parallel()
	pass := func(cfg *oncehttp.Config) { cfg.Unmatched, cfg.MaxRequestBody = oncehttp.PassThrough, 20 }
	for name, way := range bodyWays {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			for _, send := range []func(*http.Request) error{
				func(r *http.Request) error { _, err := b.c.RoundTrip(r); return err },
				func(r *http.Request) error { _, err := b.c.Do("pay-1", r); return err },
			} {
				for want, text := range map[error]io.Reader{
					oncehttp.ErrBodyTooLarge:   strings.NewReader(looks),
					oncehttp.ErrInvalidRequest: io.MultiReader(strings.NewReader("{"), brokenReader{}),
				} {
					req := b.request(http.MethodPost, "/payments", "")
					body := &countedBody{Reader: text}
					req.Header.Set("Content-Type", "application/json")
					if way(req, looks); want != oncehttp.ErrBodyTooLarge {
						req.ContentLength = min(req.ContentLength, 20)
					}
					req.Body = body
					require.ErrorIs(b, send(req), want, name)
					assert.EqualValues(b, 1, body.closed.Load(), name)
				}
			}
			assert.Empty(b, b.srv.Requests())
			assert.Empty(b, b.pending())
			// What cannot be the operation is streamed on.
			req := b.request(http.MethodPost, "/payments", "")
			body := &countedBody{Reader: strings.NewReader(looks)}
			req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			req.Body = body
			assert.Equal(b, once, travelled(b, req))
			assert.EqualValues(b, 1, body.closed.Load(), name)
		}, onlyPays, pass)
	}
}

func TestACallerWhoLeavesEndsTheReadingForAnOperation(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		r, w := io.Pipe()
		defer w.Close()
		req := b.request(http.MethodPost, "/payments", "").WithContext(ctx)
		req.Header.Set("Content-Type", "application/json")
		req.Body, req.ContentLength = r, -1
		_, err := b.c.RoundTrip(req)
		require.ErrorIs(b, err, context.DeadlineExceeded)
		assert.Empty(b, b.srv.Requests())
	}, onlyPays)
}

// A stored request is matched with its stored body, sealed or not.
func TestAResumedIntentIsMatchedByTheOperationInItsBody(t *testing.T) {
	t.Parallel()
	for name, seal := range map[string]func(*oncehttp.Config){
		"plain": func(*oncehttp.Config) {}, "sealed": func(cfg *oncehttp.Config) { cfg.Sealer = gcm(t, 1) },
	} {
		inBubble(t, script(mockserver.Lost()), func(b *bench) {
			o, err := b.c.Do("pay-1", post(b.T, b.srv.URL+"/payments", pays))
			b.ruled(o, err)
			require.True(b, o.MayHaveExecuted)
			b.reopen(func(cfg *oncehttp.Config) { cfg.Contracts[0].Match.Operation.Names = []string{"look"} })
			time.Sleep(time.Minute)
			for o, err := range b.c.Resume(b.Context()) {
				require.NoError(b, err)
				assert.Equal(b, oncehttp.NoContract, o.Reason, name)
			}
			require.Len(b, b.srv.Requests(), 1)
			b.reopen(onlyPays)
			o, err = b.c.Do("pay-1", post(b.T, b.srv.URL+"/payments", pays))
			b.ruled(o, err)
			assert.Equal(b, oncehttp.Confirmed, o.State, name)
			b.oneKey()
		}, oneAttempt, onlyPays, seal)
	}
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		o, err := b.c.Do("pay-1", post(b.T, b.srv.URL+"/payments", pays))
		b.ruled(o, err)
		b.reopen(func(cfg *oncehttp.Config) { cfg.Sealer = gcm(b.T, 2) })
		time.Sleep(time.Minute)
		for o, err := range b.c.Resume(b.Context()) {
			require.NoError(b, err)
			assert.ErrorContains(b, o.Err, "sealed with a key", "the lost key is told, not a contract that is missing")
		}
		require.Len(b, b.srv.Requests(), 1)
	}, oneAttempt, onlyPays, func(cfg *oncehttp.Config) { cfg.Sealer = gcm(t, 1) })
}

// A bodyJournal counts the bodies that are read, and may refuse.
type bodyJournal struct {
	oncehttp.Journal
	read int
	err  error
}

func (j *bodyJournal) Body(ctx context.Context, id uuid.UUID, which oncehttp.Body) ([]byte, error) {
	if j.read++; j.err != nil {
		return nil, j.err
	}
	return j.Journal.Body(ctx, id, which)
}

func TestAStoredBodyIsReadForItsOperationOnlyWhereThatDecides(t *testing.T) {
	t.Parallel()
	later := mockserver.Status(503).With("Retry-After", "120")
	inBubble(t, script(later), func(b *bench) {
		o, err := b.c.Do("pay-1", post(b.T, b.srv.URL+"/payments", pays))
		b.ruled(o, err)
		require.Equal(b, oncehttp.Throttled, o.Reason)
		require.NoError(b, b.c.Close())
		inner, err := oncehttp.OpenBolt(b.path, time.Second, nil)
		require.NoError(b, err)
		j := &bodyJournal{Journal: inner}
		reopen := func() (c *oncehttp.Client) {
			j.read = 0
			c, err := oncehttp.New(j, b.cfg)
			require.NoError(b, err)
			return c
		}
		b.cfg.Contracts[0].Match.Operation = oncehttp.Operation{}
		reopen()
		assert.Zero(b, j.read, "nothing depends on the body")
		onlyPays(&b.cfg)
		c := reopen()
		assert.Equal(b, 1, j.read)
		o, err = c.Do("pay-2", post(b.T, b.srv.URL+"/payments", pays))
		b.ruled(o, err)
		assert.Equal(b, oncehttp.GateClosed, o.Reason, "the wish was told to requests of this operation")
		require.Len(b, b.srv.Requests(), 1)

		// While nobody can tell whether a contract speaks of it, nothing is sent.
		time.Sleep(5 * time.Minute)
		j.err = fmt.Errorf("%w: no disk", oncehttp.ErrJournal)
		o, err = c.Do("pay-1", post(b.T, b.srv.URL+"/payments", pays))
		require.ErrorIs(b, err, oncehttp.ErrJournal)
		assert.Nil(b, o)
		for range c.Resume(b.Context()) {
		}
		require.Len(b, b.srv.Requests(), 1)
		j.err = nil
		o, err = c.Do("pay-1", post(b.T, b.srv.URL+"/payments", pays))
		b.ruled(o, err)
		assert.Equal(b, oncehttp.Confirmed, o.State)
		require.NoError(b, c.Close())
	}, oneAttempt, onlyPays)
}

func TestAContractThatAsksForTheKeysOwnHeaderHoldsAfterARestart(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}}, func(b *bench) {
		req := b.request(http.MethodPost, "/payments", `{"amount":500}`)
		req.Header.Set("Idempotency-Key", "order-42-charge")
		o, err := b.c.Do("order-42/charge", req)
		require.NoError(b, err)
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Equal(b, 2, len(b.srv.Requests()))
	}, func(cfg *oncehttp.Config) { cfg.Contracts[0].Match.Header = "Idempotency-Key" })
}
