package oncehttp_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A hook that panics in its caller's goroutine, which may recover as net/http's
// server does, leaves nobody waiting for what that caller began.
func TestAPanicOfAHookStrandsNoLaterCaller(t *testing.T) {
	t.Parallel()
	broken := true
	breaks := func() {
		if broken {
			panic("broken")
		}
	}
	for name, change := range map[string]func(*oncehttp.Config){
		"NewKey": func(cfg *oncehttp.Config) {
			cfg.NewKey = func(string) (string, error) {
				breaks()
				return "8e03978e-40d5-43e8-bc93-6894a57f9324", nil
			}
		},
		"OnEvent": func(cfg *oncehttp.Config) {
			cfg.OnEvent = func(e oncehttp.Event) {
				if e.Kind == oncehttp.EventMismatch {
					breaks()
				}
			}
		},
	} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			broken = false
			if name == "OnEvent" {
				_, err := b.c.Begin("pay-1", b.request(http.MethodPost, "/payments", `{"amount":1}`))
				require.NoError(b, err)
			}
			broken = true
			require.PanicsWithValue(b, "broken", func() { b.c.Do("pay-1", b.pay()) }, name)
			broken = false
			_, err := b.c.Do("pay-1", b.pay())
			if name == "OnEvent" {
				require.ErrorAs(b, err, new(*oncehttp.MismatchError))
			} else {
				require.NoError(b, err)
			}
			assert.NoError(b, b.c.Shutdown(b.Context()))
		}, change)
	}
}

// What ends the goroutine that drives an action, as a failing test in a hook
// does, leaves no caller without an answer.
func TestAHookThatEndsItsGoroutineStrandsNobody(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sent   bool // the hook runs after the attempt was begun
		change func(cfg *oncehttp.Config, j *hookedJournal, ends func())
	}{
		"Create": {false, func(_ *oncehttp.Config, j *hookedJournal, ends func()) {
			j.create = func(oncehttp.Entry) error { ends(); return nil }
		}},
		"Authorize": {false, func(cfg *oncehttp.Config, _ *hookedJournal, ends func()) {
			cfg.Authorize = func(*http.Request, bool) error { ends(); return nil }
		}},
		"OnEvent": {true, func(cfg *oncehttp.Config, _ *hookedJournal, ends func()) {
			cfg.OnEvent = func(e oncehttp.Event) {
				if e.Kind == oncehttp.EventAnswered {
					ends()
				}
			}
		}},
		"Transport": {true, func(cfg *oncehttp.Config, _ *hookedJournal, ends func()) {
			inner := cfg.Transport
			cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
				ends()
				return inner.RoundTrip(req)
			})
		}},
		"Update": {true, func(_ *oncehttp.Config, j *hookedJournal, ends func()) {
			j.update = func(oncehttp.Entry) error { ends(); return nil }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, broken := &hookedJournal{}, true
			inBubble(t, mockserver.Config{}, func(b *bench) {
				b.hook(j)
				var all sync.WaitGroup
				for range 2 {
					all.Go(func() {
						o, err := b.c.Do("pay-1", b.pay())
						require.Error(b, err)
						assert.Equal(b, tt.sent, errors.As(err, new(*oncehttp.PendingError)) && o.MayHaveExecuted)
					})
				}
				all.Wait()
				broken = false
				assert.Equal(b, oncehttp.Confirmed, b.do().State)
				assert.Equal(b, 1, b.srv.EffectsTotal())
				assert.NoError(b, b.c.Shutdown(b.Context()))
			}, func(cfg *oncehttp.Config) {
				tt.change(cfg, j, func() {
					if time.Sleep(100 * time.Millisecond); broken { // until both have sat down
						runtime.Goexit()
					}
				})
			})
		})
	}
}

// A blindJournal cannot be read while it is blind.
type blindJournal struct {
	oncehttp.Journal
	blind atomic.Bool
}

func (j *blindJournal) Find(ctx context.Context, name string) (oncehttp.Entry, error) {
	if j.blind.Load() {
		return oncehttp.Entry{}, errFull
	}
	return j.Journal.Find(ctx, name)
}

func TestBeginBesideADriverDoesNotSpinOnAJournalThatCannotBeRead(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503).With("Retry-After", "20")), func(b *bench) {
		require.NoError(b, b.c.Close())
		inner, err := oncehttp.OpenBolt(b.path, time.Second, nil)
		require.NoError(b, err)
		j := &blindJournal{Journal: inner}
		b.c, err = oncehttp.New(j, b.cfg)
		require.NoError(b, err)
		defer b.c.Close()
		var all sync.WaitGroup
		all.Go(func() { assert.Equal(b, oncehttp.Confirmed, b.do().State) })
		time.Sleep(time.Second)
		j.blind.Store(true)
		_, err = b.c.Begin("pay-1", b.pay())
		require.ErrorIs(b, err, errFull)
		all.Wait()
	}, func(cfg *oncehttp.Config) { cfg.Retry.MaxElapsed = time.Hour })
}

// A hook that is told of a mismatch, and asks for the action's intent, is told
// so in the middle of looking at it.
func TestResolveWaitsForNoHookLongerThanItsContext(t *testing.T) {
	t.Parallel()
	var c *oncehttp.Client
	resolved := false
	inBubble(t, mockserver.Config{}, func(b *bench) {
		c = b.c
		_, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		synctest.Wait() // until nobody drives it any more
		_, err = b.c.Do("pay-1", b.request(http.MethodPost, "/payments", `{"amount":1}`))
		require.ErrorAs(b, err, new(*oncehttp.MismatchError))
		assert.True(b, resolved)
		assert.Equal(b, oncehttp.Rejected, b.known().State)
	}, func(cfg *oncehttp.Config) {
		cfg.OnEvent = func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventMismatch {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				resolved = assert.NoError(t, c.Resolve(ctx, e.Action, oncehttp.Resolution{State: oncehttp.Rejected}))
			}
		}
	})
}

// A laterJournal holds a record that a later version has written.
type laterJournal struct {
	oncehttp.Journal
	later string
}

func (j *laterJournal) Open(ctx context.Context) iter.Seq2[oncehttp.Entry, error] {
	return func(yield func(oncehttp.Entry, error) bool) {
		for e, err := range j.Journal.Open(ctx) {
			if strings.Contains(string(e.Record), j.later) {
				e.Record = []byte(`{"v":1000}`)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestPendingGoesOnBehindARecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for _, action := range []string{"pay-1", "pay-2", "pay-3"} {
			_, err := b.c.Begin(action, b.pay())
			require.NoError(b, err)
		}
		require.NoError(b, b.c.Close())
		inner, err := oncehttp.OpenBolt(b.path, time.Second, nil)
		require.NoError(b, err)
		b.c, err = oncehttp.New(&laterJournal{inner, "pay-2"}, b.cfg)
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, b.c.Close()) })
		var listed []string
		for in, err := range b.c.Pending(b.Context()) {
			if err != nil {
				require.ErrorIs(b, err, oncehttp.ErrJournal)
				listed = append(listed, "unread")
				continue
			}
			listed = append(listed, in.Action())
		}
		assert.Equal(b, []string{"pay-1", "unread", "pay-3"}, listed)
	})
}
