package oncehttp_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// atLookup runs f while a lookup waits for its answer, which let sends on its way.
func atLookup(t *testing.T, f func(b *bench, api *till, call <-chan told, leave, let func())) {
	t.Helper()
	api := &till{}
	atTill(t, api, keyless(), func(b *bench) {
		gate := make(chan struct{})
		api.get = func(_ int, req tilled) *http.Response {
			select {
			case <-gate:
				return says(200, api.listedUnder())
			case <-req.Context().Done():
				return nil
			}
		}
		ctx, leave := context.WithCancel(b.Context())
		defer leave()
		call := make(chan told, 1)
		go func() {
			o, err := b.c.Do("pay-1", b.charge().WithContext(ctx))
			call <- told{o, err}
		}()
		synctest.Wait()
		require.Equal(b, 1, api.asked())
		f(b, api, call, leave, func() { close(gate) })
	}, func(cfg *oncehttp.Config) { cfg.Retry.AttemptTimeout = time.Hour })
}

type told struct {
	o   *oncehttp.Outcome
	err error
}

func TestAWebhookThatComesDuringALookupAgreesWithIt(t *testing.T) {
	t.Parallel()
	atLookup(t, func(b *bench, api *till, call <-chan told, _, let func()) {
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", oncehttp.Resolution{State: oncehttp.Confirmed, Reference: "ch_1", By: "webhook"}))
		let()
		got := <-call
		require.NoError(b, got.err)
		assert.Equal(b, oncehttp.Confirmed, got.o.State)
		assert.Equal(b, "ch_1", got.o.Reference)
		assert.Empty(b, got.o.Reason)
		assert.Equal(b, oncehttp.Confirmed, b.known().State)
	})
}

// A positive answer is true however late it comes.
func TestAnEffectFoundAfterAWordOfNoneIsAConflict(t *testing.T) {
	t.Parallel()
	atLookup(t, func(b *bench, api *till, call <-chan told, _, let func()) {
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", oncehttp.Resolution{State: oncehttp.Rejected, By: "ada"}))
		assert.Equal(b, oncehttp.Rejected, b.known().State)
		let()
		got := <-call
		assert.Equal(b, oncehttp.Rejected, got.o.State, "what was told first stays")
		assert.Equal(b, oncehttp.Conflict, got.o.Reason)
		assert.Equal(b, oncehttp.Conflict, b.known().Reason)
		assert.Equal(b, "ch_1", b.known().Reference)
	})
}

func TestALookupGoesOnWithoutTheCallerWhoLeft(t *testing.T) {
	t.Parallel()
	atLookup(t, func(b *bench, api *till, call <-chan told, leave, let func()) {
		left := time.Now()
		leave()
		got := <-call
		require.ErrorIs(b, got.err, context.Canceled)
		require.ErrorAs(b, got.err, new(*oncehttp.PendingError))
		assert.True(b, got.o.MayHaveExecuted)
		assert.Zero(b, time.Since(left))
		let()
		synctest.Wait()
		assert.Equal(b, oncehttp.Confirmed, b.known().State)
		assert.Len(b, api.gets, 1)
	})
}

func TestASecondCallerSharesALookup(t *testing.T) {
	t.Parallel()
	atLookup(t, func(b *bench, api *till, call <-chan told, _, let func()) {
		second := make(chan told, 1)
		go func() {
			o, err := b.c.Do("pay-1", b.charge())
			second <- told{o, err}
		}()
		synctest.Wait()
		let()
		for _, c := range []<-chan told{call, second} {
			got := <-c
			require.NoError(b, got.err)
			assert.Equal(b, "ch_1", got.o.Reference)
		}
		assert.Len(b, api.gets, 1)
	})
}

func TestCloseEndsALookupWhichIsRepeatedAtOnceAfterwards(t *testing.T) {
	t.Parallel()
	atLookup(t, func(b *bench, api *till, call <-chan told, _, let func()) {
		start := time.Now()
		require.NoError(b, b.c.Close())
		assert.Less(b, time.Since(start), time.Second)
		got := <-call
		require.ErrorIs(b, got.err, oncehttp.ErrClosed)
		let()
		b.open()
		o := b.resume()[0]
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Len(b, api.gets, 2)
	})
}

func TestShutdownWaitsForALookup(t *testing.T) {
	t.Parallel()
	atLookup(t, func(b *bench, api *till, call <-chan told, _, let func()) {
		done := make(chan error, 1)
		go func() { done <- b.c.Shutdown(b.Context()) }()
		synctest.Wait()
		assert.Empty(b, done)
		let()
		require.NoError(b, <-done)
		got := <-call
		require.NoError(b, got.err)
		assert.Equal(b, "ch_1", got.o.Reference)
	})
}

// What a crash leaves is the file as it is at that moment.
func TestACrashDuringALookupLeavesTheIntentDueForOne(t *testing.T) {
	t.Parallel()
	atLookup(t, func(b *bench, api *till, call <-chan told, _, let func()) {
		file, err := os.ReadFile(b.path)
		require.NoError(b, err)
		let()
		<-call
		require.NoError(b, b.c.Close())
		require.NoError(b, os.WriteFile(b.path, file, 0o600))
		b.open()
		o := b.resume()[0]
		assert.Equal(b, oncehttp.Confirmed, o.State)
		assert.Equal(b, "ch_1", o.Reference)
		assert.Equal(b, 1, o.Attempts)
		assert.Len(b, api.gets, 2)
		assert.Len(b, api.posts, 1)
	})
}

// Run as the only one: nobody asks, and the pushed answer ends the schedule.
func TestAWebhookEndsTheLookups(t *testing.T) {
	t.Parallel()
	api := &till{get: always(500, `{}`)}
	atTill(t, api, keyless(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		ctx, stop := context.WithTimeout(b.Context(), 10*24*time.Hour)
		defer stop()
		time.AfterFunc(30*time.Hour, func() {
			assert.NoError(b, b.c.Resolve(context.Background(), "pay-1", oncehttp.Resolution{State: oncehttp.Confirmed, Reference: "ch_1", By: "webhook"}))
		})
		require.ErrorIs(b, b.c.Run(ctx), ctx.Err())
		assert.Len(b, api.gets, 4, "at once, after 5 minutes, an hour and a day")
		assert.Equal(b, "ch_1", b.known().Reference)
	})
}

func TestCloseEndsTheConfigurationsLookupWhichIsRepeatedAtOnceAfterwards(t *testing.T) {
	t.Parallel()
	asked := 0
	atTill(t, &till{}, keyless(), func(b *bench) {
		call := make(chan error, 1)
		go func() {
			_, err := b.c.Do("pay-1", b.charge())
			call <- err
		}()
		synctest.Wait()
		require.Equal(b, 1, asked)
		require.NoError(b, b.c.Close())
		require.ErrorIs(b, <-call, oncehttp.ErrClosed)
		b.open()
		assert.Equal(b, oncehttp.Confirmed, b.resume()[0].State)
		assert.Equal(b, 2, asked)
	}, func(cfg *oncehttp.Config) {
		cfg.Lookup = func(ctx context.Context, _ *oncehttp.Intent) (oncehttp.Finding, error) {
			if asked++; asked == 1 {
				<-ctx.Done()
				return oncehttp.Finding{}, ctx.Err()
			}
			return oncehttp.Finding{Kind: oncehttp.Found}, nil
		}
	})
}
