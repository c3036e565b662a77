package oncehttp_test

import (
	"context"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// runFor takes up what is due for some time.
func (b *bench) runFor(d time.Duration) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.Context(), d)
	defer stop()
	require.ErrorIs(b, b.c.Run(ctx), ctx.Err())
}

// An application, or its contracts, learn to ask after an answer was lost.
func TestWhatWasParkedBeforeAnybodyCouldBeAskedIsTakenUpOnceSomebodyCan(t *testing.T) {
	t.Parallel()
	mute := keyless()
	mute.Lookups = nil
	asked := 0
	for name, learns := range map[string]func(*oncehttp.Config){
		"the contract":      func(cfg *oncehttp.Config) { cfg.Contracts = []oncehttp.Contract{keyless()} },
		"the configuration": answers(&asked, oncehttp.Finding{Kind: oncehttp.Found, Reference: "ch_1"}),
	} {
		for _, run := range []bool{false, true} {
			api := &till{}
			api.get = func(int, tilled) *http.Response { return says(200, api.listedUnder()) }
			atTill(t, api, mute, func(b *bench) {
				o, err := b.c.Do("pay-1", b.charge())
				require.Error(b, err)
				require.Zero(b, o.RetryAt, "nobody can be asked")
				require.Empty(b, b.resume())
				b.reopen()
				require.Empty(b, b.resume(), "still nobody")
				b.reopen(learns)
				if run {
					b.runFor(time.Minute)
				} else {
					require.Len(b, b.resume(), 1)
				}
				assert.Equal(b, oncehttp.Confirmed, b.known().State, name)
				assert.Equal(b, "ch_1", b.known().Reference)
				assert.Len(b, api.posts, 1)
			})
		}
	}
}

// Its contract may be gone meanwhile: the application's own lookup needs none.
func TestAParkedIntentWhoseContractIsGoneIsAskedAbout(t *testing.T) {
	t.Parallel()
	api := &till{}
	atTill(t, api, oncehttp.IdempotencyKey("legacy.test", 24*time.Hour), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		time.Sleep(25 * time.Hour)
		require.Len(b, b.resume(), 1)
		require.Equal(b, oncehttp.KeyExpired, b.known().Reason)
		require.Zero(b, b.known().RetryAt)
		b.reopen(answers(new(int), oncehttp.Finding{Kind: oncehttp.Found}), func(cfg *oncehttp.Config) { cfg.Contracts = nil })
		require.Len(b, b.resume(), 1)
		assert.Equal(b, oncehttp.Confirmed, b.known().State)
	}, oneAttempt)
}

// The next lookup may be a day off, and the window closed by then.
func TestWhatWaitsForALookupIsSentOnceAContractLetsItBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		window time.Duration
		reason oncehttp.Reason
	}{
		"its contract is back":  {0, oncehttp.NoContract},
		"its window was mended": {time.Hour, oncehttp.KeyExpired},
	} {
		api := &till{}
		atTill(t, api, oncehttp.IdempotencyKey("legacy.test", 24*time.Hour), func(b *bench) {
			_, err := b.c.Do("pay-1", b.charge())
			require.Error(b, err)
			promised, asked := b.cfg.Contracts, 0
			b.reopen(answers(&asked, oncehttp.Finding{}), func(cfg *oncehttp.Config) {
				cfg.Contracts = nil
				if c.window > 0 {
					cfg.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("legacy.test", c.window)}
				}
			})
			b.runFor(4 * time.Hour)
			require.Equal(b, c.reason, b.known().Reason)
			require.Equal(b, 3, asked)
			require.Greater(b, time.Until(b.known().RetryAt), 20*time.Hour)
			b.reopen()
			require.Empty(b, b.resume(), "%s: a restart changes nothing", name)

			api.post = always(201, `{"id":"ch_1"}`)
			b.reopen(func(cfg *oncehttp.Config) { cfg.Contracts = promised })
			require.Len(b, b.resume(), 1, name)
			assert.Equal(b, oncehttp.Confirmed, b.known().State, name)
			assert.Equal(b, 3, asked)
		}, oneAttempt)
	}
}

// Opening with many parked intents must cost little: what nobody can help is
// neither written nor read beyond its record, and once for each client.
func TestWhatNobodyCanHelpIsLookedThroughOnceWithoutItsBodies(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.srv.Script(mockserver.Lost().Always())
		for _, action := range []string{"pay-1", "pay-2", "pay-3"} {
			_, err := b.c.Do(action, b.pay())
			require.Error(b, err)
		}
		j := b.counted()
		opened := j.opens
		for range 3 {
			require.Empty(b, b.resume())
		}
		assert.Equal(b, opened+1, j.opens)
		assert.Zero(b, j.bodies)
		assert.Zero(b, j.updates)
	}, unprotected)
}

// A countingJournal counts calls. They come one at a time.
type countingJournal struct {
	oncehttp.Journal
	opens, bodies, updates int
}

// counted opens the client anew on a journal that counts.
func (b *bench) counted() *countingJournal {
	b.Helper()
	require.NoError(b, b.c.Close())
	inner, err := oncehttp.OpenBolt(b.path, time.Second, nil)
	require.NoError(b, err)
	j := &countingJournal{Journal: inner}
	c, err := oncehttp.New(j, b.cfg)
	require.NoError(b, err)
	b.c = c
	b.Cleanup(func() { require.NoError(b, c.Close()) })
	return j
}

func (j *countingJournal) Open(ctx context.Context) iter.Seq2[oncehttp.Entry, error] {
	j.opens++
	return j.Journal.Open(ctx)
}

func (j *countingJournal) Body(ctx context.Context, id uuid.UUID, which oncehttp.Body) ([]byte, error) {
	j.bodies++
	return j.Journal.Body(ctx, id, which)
}

func (j *countingJournal) Update(ctx context.Context, e oncehttp.Entry) error {
	j.updates++
	return j.Journal.Update(ctx, e)
}

// A pass that is broken off has not looked through all.
func TestAPassThatEndsEarlyLeavesWhatWasParkedToTheNext(t *testing.T) {
	t.Parallel()
	asked := 0
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.srv.Script(mockserver.Lost().Always())
		for _, action := range []string{"pay-1", "pay-2", "pay-3"} {
			_, err := b.c.Do(action, b.pay())
			require.Error(b, err)
		}
		ctx, stop := context.WithCancel(b.Context())
		b.reopen(func(cfg *oncehttp.Config) {
			cfg.Lookup = func(context.Context, *oncehttp.Intent) (oncehttp.Finding, error) {
				stop()
				asked++
				return oncehttp.Finding{Kind: oncehttp.Found}, nil
			}
		})
		for range b.c.Resume(ctx) {
		}
		require.Equal(b, 1, asked)
		assert.Len(b, b.resume(), 2)
		assert.Equal(b, 3, asked)
	}, unprotected, func(cfg *oncehttp.Config) { cfg.Concurrency = 1 })
}

// distrusting leaves pay-1 pending under a contract that the answer to another
// action has contradicted.
func (b *bench) distrusting() *oncehttp.Outcome {
	b.Helper()
	o, err := b.c.Do("contradicts", b.pay())
	require.NoError(b, err)
	require.True(b, o.MayHaveRepeated)
	o = b.do()
	require.Equal(b, oncehttp.Distrusted, o.Reason)
	require.True(b, o.MayHaveExecuted)
	return o
}

var contradiction = []mockserver.Fault{mockserver.Code(409, "idempotency_in_progress"), {}, mockserver.Lost()}

func TestExplainNamesTrustWhereDistrustIsWhyAnIntentIsPending(t *testing.T) {
	t.Parallel()
	inBubble(t, script(contradiction...), func(b *bench) {
		o := b.distrusting()
		name := b.cfg.Contracts[0].Name
		for _, o := range []*oncehttp.Outcome{o, b.known()} {
			assert.Contains(b, o.Explain(), `Client.Trust("*")`, name)
			assert.Zero(b, o.RetryAt)
		}
		b.c.Trust("*")
		assert.Equal(b, oncehttp.Unknown, b.known().Reason)
		assert.NotContains(b, b.known().Explain(), "Trust")
		assert.Contains(b, b.known().Explain(), "Resume takes it up again")
	})
}

func TestWhatDistrustHasParkedIsSentAgainByItselfOnceTheContractIsTrusted(t *testing.T) {
	t.Parallel()
	trust := func(b *bench) { b.c.Trust("*") }
	for name, c := range map[string]struct {
		trust   func(b *bench)
		changes []func(*oncehttp.Config)
	}{
		"by Trust":             {trust, nil},
		"by a restart":         {func(b *bench) { b.reopen() }, nil},
		"though it was asked":  {trust, []func(*oncehttp.Config){answers(new(int), oncehttp.Finding{})}},
		"and asked, restarted": {func(b *bench) { b.reopen() }, []func(*oncehttp.Config){answers(new(int), oncehttp.Finding{})}},
	} {
		for _, run := range []bool{false, true} {
			inBubble(t, script(contradiction...), func(b *bench) {
				b.distrusting()
				require.Empty(b, b.resume(), name)
				c.trust(b)
				if run {
					b.runFor(time.Minute)
				} else {
					require.Len(b, b.resume(), 1, name)
				}
				o := b.known()
				assert.Equal(b, oncehttp.Confirmed, o.State, name)
				assert.Equal(b, 2, o.Attempts)
				assert.True(b, o.Response.Replayed)
			}, c.changes...)
		}
	}
}

// The server's wish outlasts the call that lifts the distrust.
func TestWhatIsTrustedAgainWaitsAsLongAsTheServerAsked(t *testing.T) {
	t.Parallel()
	busy := mockserver.Status(500).With("Retry-After", "3600")
	busy.Commit = true
	inBubble(t, script(append(contradiction[:2:2], busy)...), func(b *bench) {
		b.distrusting()
		start := time.Now()
		b.c.Trust("*")
		require.NotEmpty(b, b.resume())
		assert.Len(b, b.srv.Requests(), 3)
		assert.False(b, b.known().RetryAt.Before(start.Add(time.Hour)))
		b.runFor(2 * time.Hour)
		assert.Equal(b, oncehttp.Confirmed, b.known().State)
		assert.GreaterOrEqual(b, b.gaps()[2], time.Hour)
	})
}

// A fresh success after an answer that said in progress is told, whatever kept the
// intent waiting in between.
func TestWhatWasInProgressIsStillKnownToBeSoOnceTheContractIsTrusted(t *testing.T) {
	t.Parallel()
	inProgress := mockserver.Code(409, "idempotency_in_progress")
	inBubble(t, script(inProgress, inProgress, mockserver.Fault{}), func(b *bench) {
		b.cfg.Retry.MaxAttempts = 1
		b.reopen()
		require.Equal(b, oncehttp.InProgress, b.do().Reason)
		o, err := b.c.Do("contradicts", b.pay())
		require.Error(b, err)
		require.Equal(b, oncehttp.InProgress, o.Reason)
		o, err = b.c.Do("contradicts", b.pay())
		require.NoError(b, err)
		require.True(b, o.MayHaveRepeated)
		require.Equal(b, oncehttp.Distrusted, b.do().Reason)
		b.c.Trust("*")
		o = b.do()
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.True(b, o.MayHaveRepeated)
	})
}

// What trust would not change is not laid to distrust.
func TestAnExpiredKeyUnderADistrustedContractIsExpired(t *testing.T) {
	t.Parallel()
	inBubble(t, script(contradiction...), func(b *bench) {
		b.distrusting()
		time.Sleep(25 * time.Hour)
		assert.Equal(b, oncehttp.KeyExpired, b.do().Reason)
	})
}
