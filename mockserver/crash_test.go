package mockserver_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestACrashLeavesWhatWasStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at      mockserver.CrashPoint
		effects int
		// what a repeat gets after the restart, and after the reconciliation
		code, replayed string
		reconciled     int
	}{
		{mockserver.CrashBefore, 0, "idempotency_indeterminate", "", 1},
		{mockserver.CrashBetween, 1, "idempotency_indeterminate", "true", 1},
		{mockserver.CrashAfter, 1, "", "true", 0},
	} {
		t.Run(string(c.at), func(t *testing.T) {
			t.Parallel()
			onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
				s := start(mockserver.Config{})
				require.Equal(t, 201, pay(t, s, "before", `{}`).status)
				s.Script(mockserver.Fault{Crash: c.at})
				require.Error(t, pay(t, s, "k", `{}`).err)
				assert.Equal(t, c.effects, s.Effects("k"))

				assert.Equal(t, "true", pay(t, s, "before", `{}`).header.Get("Idempotent-Replayed"))
				assert.Equal(t, c.code, pay(t, s, "k", `{}`).code())
				assert.Equal(t, 422, pay(t, s, "k", `{"other":1}`).status)
				assert.Equal(t, c.reconciled, s.Reconcile())
				again := pay(t, s, "k", `{}`)
				assert.Equal(t, 201, again.status)
				assert.Equal(t, c.replayed, again.header.Get("Idempotent-Replayed"))
				assert.Equal(t, 1, s.Effects("k"))
			})
		})
	}
}

func TestACrashEndsEverythingUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{Work: time.Hour})
		defer s.Close()
		var keyed, bare seen
		var wg sync.WaitGroup
		wg.Go(func() { keyed = pay(t, s, "k", `{}`) })
		wg.Go(func() { bare = send(t, s, "POST", "/mail", `{}`) })
		time.Sleep(time.Minute)
		s.RefuseDials(1)
		s.Crash()
		wg.Wait()
		require.Error(t, keyed.err)
		require.Error(t, bare.err)
		require.ErrorContains(t, pay(t, s, "k", `{}`).err, "connection refused")
		assert.Equal(t, "idempotency_indeterminate", pay(t, s, "k", `{}`).code())
		time.Sleep(2 * time.Hour)
		assert.Equal(t, 0, s.EffectsTotal())
	})
}

func TestALeaseIsTakenOverAndTheLateWorkIsFenced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mockserver.Memory(mockserver.Config{Work: time.Hour, Lease: 10 * time.Minute, TTL: 2 * time.Hour})
		defer s.Close()
		var first, second seen
		var wg sync.WaitGroup
		wg.Go(func() { first = pay(t, s, "k", `{}`) })
		time.Sleep(9 * time.Minute)
		assert.Equal(t, 409, pay(t, s, "k", `{}`).status)
		time.Sleep(11 * time.Minute)
		wg.Go(func() { second = pay(t, s, "k", `{}`) })
		wg.Wait()
		assert.Equal(t, 409, first.status, "the late execution makes no effect")
		assert.Equal(t, 201, second.status)
		require.Equal(t, 1, s.Effects("k"))
		assert.Equal(t, "true", pay(t, s, "k", `{}`).header.Get("Idempotent-Replayed"))
		time.Sleep(2*time.Hour - 81*time.Minute)
		assert.Equal(t, "true", pay(t, s, "k", `{}`).header.Get("Idempotent-Replayed"))
		time.Sleep(time.Minute)
		assert.Empty(t, pay(t, s, "k", `{}`).header.Get("Idempotent-Replayed"), "the window counts from the first request")
	})
}

func TestACrashEndsIdleConnectionsAndHooksUnderWay(t *testing.T) {
	t.Parallel()
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		entered, leave := make(chan struct{}), make(chan struct{})
		s := start(mockserver.Config{Execute: func(r *http.Request) mockserver.Answer {
			if r.URL.Path == "/slow" {
				entered <- struct{}{}
				<-leave
			}
			return mockserver.Answer{Status: 201}
		}})
		require.Equal(t, 201, send(t, s, "POST", "/", `{}`).status)
		s.Crash()
		require.Eventually(t, func() bool { return send(t, s, "POST", "/", `{}`).err == nil }, 5*time.Second, time.Millisecond)
		requests := s.Requests()
		assert.Equal(t, 2, requests[len(requests)-1].Conn)

		var wg sync.WaitGroup
		wg.Go(func() { assert.Error(t, send(t, s, "POST", "/slow", `{}`).err) })
		<-entered
		s.Crash()
		close(leave)
		wg.Wait()
		require.NoError(t, s.WaitIdle(t.Context()))
		assert.Equal(t, 0, s.EffectsOf("POST /slow"))
	})
}

func TestAForgottenExecutionLeavesTheNextOneAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := true
		s := mockserver.Memory(mockserver.Config{Work: time.Hour, Execute: func(*http.Request) mockserver.Answer {
			if first {
				first = false
				return mockserver.Answer{Status: 500} // released
			}
			return mockserver.Answer{Status: 201}
		}})
		defer s.Close()
		var wg sync.WaitGroup
		wg.Go(func() { pay(t, s, "k", `{}`) })
		time.Sleep(30 * time.Minute)
		s.Forget("k")
		wg.Go(func() { pay(t, s, "k", `{}`) })
		time.Sleep(40 * time.Minute)
		assert.Equal(t, "idempotency_in_progress", pay(t, s, "k", `{}`).code())
		wg.Wait()
		assert.Equal(t, 1, s.Effects("k"))
	})
}

func TestALateRequestArrivesBehindOthers(t *testing.T) {
	t.Parallel()
	s := mockserver.Memory(mockserver.Config{})
	defer s.Close()
	s.Script(mockserver.Fault{See: mockserver.SeeClose, Commit: true, Behind: 2})
	require.Error(t, send(t, s, "PUT", "/a", `1`).err)
	require.Equal(t, 201, send(t, s, "PUT", "/a", `2`).status)
	require.Equal(t, 201, send(t, s, "PUT", "/a", `3`).status)
	require.NoError(t, s.WaitIdle(t.Context()))
	var order []int
	for _, e := range s.EffectLog() {
		order = append(order, e.Request)
	}
	assert.Equal(t, []int{2, 3, 1}, order)
}
