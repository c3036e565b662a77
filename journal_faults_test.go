package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A hookedJournal asks a hook before each write, and fails where that does.
type hookedJournal struct {
	oncehttp.Journal
	create, update func(oncehttp.Entry) error
}

func (j *hookedJournal) Create(ctx context.Context, e oncehttp.Entry) (oncehttp.Entry, error) {
	if j.create != nil {
		if err := j.create(e); err != nil {
			return oncehttp.Entry{}, err
		}
	}
	return j.Journal.Create(ctx, e)
}

func (j *hookedJournal) Update(ctx context.Context, e oncehttp.Entry) error {
	if j.update != nil {
		if err := j.update(e); err != nil {
			return err
		}
	}
	return j.Journal.Update(ctx, e)
}

// hook opens the client anew on a journal with hooks.
func (b *bench) hook(j *hookedJournal) {
	b.Helper()
	require.NoError(b, b.c.Close())
	inner, err := oncehttp.OpenBolt(b.path, time.Second, nil)
	require.NoError(b, err)
	j.Journal = inner
	c, err := oncehttp.New(j, b.cfg)
	require.NoError(b, err)
	b.c = c
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			require.ErrorIs(b, err, oncehttp.ErrJournal, "answers that the journal did not take")
		}
	})
}

func withDelay(d time.Duration) func(*http.Request, bool) error {
	return func(*http.Request, bool) error {
		time.Sleep(d)
		return nil
	}
}

var errFull = fmt.Errorf("%w: no room: %w", oncehttp.ErrJournal, syscall.ENOSPC)

// Rule 13: what cannot be recorded is not sent.
func TestWhatCannotBeRecordedIsNotSent(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"nothing was written": errFull, "unknown": fmt.Errorf("%w: sync failed", oncehttp.ErrFateUnknown)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, mockserver.Config{}, func(b *bench) {
				broken := true
				b.hook(&hookedJournal{create: func(oncehttp.Entry) error {
					if broken {
						return failure
					}
					return nil
				}})
				o, err := b.c.Do("pay-1", b.pay())
				require.ErrorIs(b, err, failure)
				assert.Empty(b, b.srv.Requests())
				var pending *oncehttp.PendingError
				if errors.Is(failure, oncehttp.ErrFateUnknown) {
					// It may have been recorded, and sent by a later Resume.
					require.ErrorAs(b, err, &pending)
					want{oncehttp.Pending, oncehttp.NotRecorded, 0, false, false}.check(b, o)
				} else {
					assert.False(b, errors.As(err, &pending))
					assert.Nil(b, o)
				}
				_, err = b.c.Begin("pay-1", b.pay())
				require.ErrorIs(b, err, failure)
				resp, err := b.c.RoundTrip(b.pay())
				require.ErrorIs(b, err, failure)
				assert.Nil(b, resp)
				assert.Empty(b, b.srv.Requests())
				broken = false
				want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.do())
			})
		})
	}
}

// An exposed intent whose next attempt cannot be recorded is not sent again.
func TestAnAttemptThatCannotBeRecordedIsNotMade(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		updates := 0
		b.hook(&hookedJournal{update: func(oncehttp.Entry) error {
			if updates++; updates == 2 { // of attempt 2
				return errFull
			}
			return nil
		}})
		o := b.do()
		assert.Equal(b, oncehttp.Pending, o.State)
		assert.Equal(b, 1, o.Attempts)
		assert.True(b, o.MayHaveExecuted)
		require.ErrorIs(b, o.Err, syscall.ENOSPC)
		assert.Len(b, b.srv.Requests(), 1)
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.do())
	})
}

// What is confirmed on disk stays so when only the body that a repeat brought
// cannot be recorded: the caller gets it all the same.
func TestAConfirmedWhoseBodyIsNotRecordedIsConfirmed(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Fault{Commit: true, See: mockserver.SeeTruncated, Keep: 5}), func(b *bench) {
		updates := 0
		b.hook(&hookedJournal{update: func(oncehttp.Entry) error {
			if updates++; updates == 3 { // the first answer, the second attempt, its answer
				return oncehttp.ErrJournal
			}
			return nil
		}})
		o, err := b.c.Do("pay-1", b.pay())
		b.ruled(o, err)
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, o)
		assert.False(b, o.Response.BodyIncomplete)
		assert.Equal(b, 3, updates)
	})
}

// Rules 6 and 13: an answer that could not be recorded is told as NotRecorded,
// with the answer; it is written with the next commit that succeeds.
func TestAnAnswerThatCouldNotBeRecordedIsKeptUntilItIs(t *testing.T) {
	t.Parallel()
	for name, recover := range map[string]func(b *bench){
		"by a call of the same action": func(b *bench) {
			o := b.do()
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
			assert.NotEmpty(b, o.Response.Body)
		},
		"by a commit of another": func(b *bench) {
			_, err := b.c.Begin("pay-2", b.request("POST", "/other", payment))
			require.NoError(b, err)
			time.Sleep(time.Millisecond)
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
		},
		"by a person's word of another": func(b *bench) {
			require.NoError(b, b.c.Resolve(b.Context(), "pay-0", oncehttp.Resolution{State: oncehttp.Rejected, By: "ada"}))
			time.Sleep(time.Millisecond)
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
		},
		"by a person's word of the same": func(b *bench) {
			require.NoError(b, b.c.Resolve(b.Context(), "pay-1", oncehttp.Resolution{State: oncehttp.Confirmed, By: "ada"}))
			time.Sleep(time.Millisecond)
			require.NotNil(b, b.known().Response)
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
		},
		"by retention": func(b *bench) {
			time.Sleep(time.Minute)
			pruned, err := b.c.Prune(b.Context(), oncehttp.Retention{Records: time.Second})
			require.NoError(b, err)
			require.Equal(b, oncehttp.Pruned{Records: 1}, pruned)
			time.Sleep(time.Millisecond)
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
		},
		"at Close":    func(b *bench) { require.NoError(b, b.c.Close()) },
		"at Shutdown": func(b *bench) { require.NoError(b, b.c.Shutdown(b.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, mockserver.Config{}, func(b *bench) {
				broken := false
				b.hook(&hookedJournal{update: func(oncehttp.Entry) error {
					if broken {
						return errFull
					}
					return nil
				}})
				for _, action := range []string{"pay-0", "paid"} {
					_, err := b.c.Begin(action, b.pay())
					require.NoError(b, err)
				}
				require.NoError(b, b.c.Resolve(b.Context(), "paid", oncehttp.Resolution{State: oncehttp.Confirmed}))
				broken = true
				o, err := b.c.Do("pay-1", b.pay())
				var pending *oncehttp.PendingError
				require.ErrorAs(b, err, &pending)
				require.ErrorIs(b, err, syscall.ENOSPC)
				assert.Equal(b, oncehttp.NotRecorded, o.Reason)
				assert.True(b, o.MayHaveExecuted)
				require.NotNil(b, o.Response)
				assert.Equal(b, 201, o.Response.StatusCode)
				assert.NotEmpty(b, o.Response.Body)
				onDisk := b.known()
				assert.Equal(b, oncehttp.Pending, onDisk.State, "what is on disk is told")
				assert.True(b, onDisk.MayHaveExecuted)

				o = b.do() // still broken
				assert.Equal(b, oncehttp.NotRecorded, o.Reason)
				require.NotNil(b, o.Response)
				assert.Len(b, b.srv.Requests(), 1)

				broken = false
				recover(b)
				b.reopen()
				want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
				assert.Len(b, b.srv.Requests(), 1)
			})
		})
	}
}

// What is confirmed stays so when the body that a repeat brought could not be
// recorded, and needs no reason.
func TestAConfirmedWhoseBodyCouldNotBeRecordedIsStillConfirmed(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Fault{See: mockserver.SeeTruncated, Keep: 2}), func(b *bench) {
		updates := 0
		b.hook(&hookedJournal{update: func(oncehttp.Entry) error {
			if updates++; updates == 3 { // the answer to the repeat
				return errFull
			}
			return nil
		}})
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.do())
		b.reopen()
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, b.known())
	})
}

// A person's word stays, though an answer that came after it could not be
// recorded.
func TestAPersonsWordIsToldThoughALaterAnswerCouldNotBeRecorded(t *testing.T) {
	t.Parallel()
	for name, resolveAt := range map[string]time.Duration{"said in the attempt": time.Second, "said after it": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault := mockserver.Status(402)
			fault.After = 5 * time.Second
			inBubble(t, script(fault), func(b *bench) {
				var broken atomic.Bool
				b.hook(&hookedJournal{update: func(oncehttp.Entry) error {
					if broken.Load() {
						return errFull
					}
					return nil
				}})
				time.AfterFunc(time.Millisecond, func() { broken.Store(true) })
				time.AfterFunc(resolveAt-time.Millisecond, func() { broken.Store(false) })
				time.AfterFunc(resolveAt+time.Millisecond, func() { broken.Store(true) })
				said := make(chan error, 1)
				no := sayNo
				no.Force = true
				time.AfterFunc(resolveAt, func() { said <- b.c.Resolve(b.Context(), "pay-1", no) })
				o, _ := b.c.Do("pay-1", b.pay())
				if resolveAt < fault.After {
					want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, o)
				}
				require.NoError(b, <-said)
				time.Sleep(time.Minute)
				want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, b.known())
				want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, b.do())
				broken.Store(false)
				b.reopen()
				want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, b.known())
				assert.Len(b, b.srv.Requests(), 1)
			}, func(cfg *oncehttp.Config) { cfg.Retry.AttemptTimeout = time.Minute })
		})
	}
}

// What is begun again and may be recorded may be sent by a later Resume: that is
// no refusal.
func TestABeginningAgainOfUnknownFateIsPending(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(403)), func(b *bench) {
		want{oncehttp.Rejected, oncehttp.Unauthorized, 1, false, false}.check(b, b.do())
		b.hook(&hookedJournal{update: func(oncehttp.Entry) error { return fmt.Errorf("%w: sync failed", oncehttp.ErrFateUnknown) }})
		want{oncehttp.Pending, oncehttp.NotRecorded, 1, false, false}.check(b, b.do())
		assert.Len(b, b.srv.Requests(), 1)
	})
}

// An answer through RoundTrip that could not be recorded is no answer.
func TestRoundTripTellsOnlyWhatIsRecorded(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.hook(&hookedJournal{update: func(oncehttp.Entry) error { return errFull }})
		resp, err := b.c.RoundTrip(b.pay())
		assert.Nil(b, resp)
		var pending *oncehttp.PendingError
		require.ErrorAs(b, err, &pending)
		assert.Equal(b, oncehttp.NotRecorded, pending.Outcome.Reason)
		assert.Equal(b, 201, pending.Outcome.Response.StatusCode)

		// The answer is lost now, and Close says so.
		err = b.c.Close()
		require.ErrorIs(b, err, oncehttp.ErrJournal)
		assert.ErrorContains(b, err, "could not be recorded: 1;")
		require.ErrorIs(b, b.c.Close(), oncehttp.ErrJournal)
	})
}

// Rule 6: a save is the one wait that a cancelled caller may see outlast its
// context.
func TestACallerCancelledDuringASaveIsToldWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.hook(&hookedJournal{create: func(oncehttp.Entry) error {
			time.Sleep(time.Second)
			return nil
		}})
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		o, err := b.c.Do("pay-1", b.pay().WithContext(ctx))
		b.ruled(o, err)
		assert.Equal(b, time.Second, time.Since(begun))
		require.ErrorIs(b, err, context.DeadlineExceeded)
		want{oncehttp.Pending, oncehttp.NotSent, 0, false, false}.check(b, o)
		assert.Empty(b, b.srv.Requests(), "nobody is left to send it for")
		synctest.Wait() // the attempt is still being withdrawn
		require.Len(b, b.resume(), 1)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, b.known())
	})
}

// Rule 6: nobody is told of a first payload that is not on disk.
func TestAPayloadThatIsNotRecordedIsNoMismatch(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		creates := 0
		b.hook(&hookedJournal{create: func(oncehttp.Entry) error {
			if creates++; creates == 1 {
				time.Sleep(time.Second)
				return errFull
			}
			return nil
		}})
		first := make(chan error, 1)
		go func() {
			_, err := b.c.Do("pay-1", b.pay())
			first <- err
		}()
		time.Sleep(100 * time.Millisecond)
		o, err := b.c.Do("pay-1", b.request("POST", "/payments", `{"amount":600}`))
		b.ruled(o, err)
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, o)
		require.ErrorIs(b, <-first, errFull)
	})
}

// The journal of others may say anything; an Outcome prints only what is known of
// its errors.
func TestAnOutcomeDoesNotPrintWhatAJournalSays(t *testing.T) {
	t.Parallel()
	for _, failing := range []int{2, 3} { // the answer, the second attempt
		t.Run(fmt.Sprint(failing), func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(mockserver.Lost()), func(b *bench) {
				said := fmt.Errorf("%w: postgres://app:hunter2@db: %w", oncehttp.ErrJournal, syscall.ENOSPC)
				updates := 1 // the record was made with the first attempt
				b.hook(&hookedJournal{update: func(oncehttp.Entry) error {
					if updates++; updates >= failing {
						return said
					}
					return nil
				}})
				o := b.do()
				require.ErrorIs(b, o.Err, said)
				require.ErrorIs(b, o.Err, syscall.ENOSPC)
				for _, text := range []string{o.Err.Error(), o.String(), o.Explain(), o.LogValue().String()} {
					assert.NotContains(b, text, "hunter2")
				}
				assert.Contains(b, o.Explain(), oncehttp.ErrJournal.Error())
			})
		})
	}
}

// Another process has begun the action since the journal was asked for it: what
// it recorded is met like any record.
func TestAnActionThatAnotherProcessHasJustBegun(t *testing.T) {
	t.Parallel()
	raced := func(b *bench, theirs *http.Request) (*oncehttp.Outcome, error) {
		j := &hookedJournal{}
		b.hook(j)
		other, err := oncehttp.New(j.Journal, b.cfg)
		require.NoError(b, err)
		var done sync.WaitGroup
		j.create = func(oncehttp.Entry) error {
			j.create = nil
			done.Go(func() { other.Do("pay-1", theirs) })
			time.Sleep(100 * time.Millisecond)
			return nil
		}
		defer done.Wait()
		return b.c.Do("pay-1", b.pay())
	}
	t.Run("its attempt under way may have taken effect", func(t *testing.T) {
		t.Parallel()
		inBubble(t, mockserver.Config{Work: 500 * time.Millisecond}, func(b *bench) {
			o, err := raced(b, b.pay())
			b.ruled(o, err)
			assert.Equal(b, oncehttp.Pending, o.State)
			assert.True(b, o.MayHaveExecuted)
			assert.Len(b, b.srv.Requests(), 1)
		}, unprotected)
	})
	t.Run("its principal is another", func(t *testing.T) {
		t.Parallel()
		inBubble(t, mockserver.Config{}, func(b *bench) {
			theirs := b.pay()
			theirs.Header.Set("Authorization", "Bearer bob")
			o, err := raced(b, theirs)
			require.ErrorIs(b, err, oncehttp.ErrPrincipal)
			assert.Nil(b, o)
		}, func(cfg *oncehttp.Config) {
			cfg.Principal = func(req *http.Request) string { return req.Header.Get("Authorization") }
		})
	})
}
