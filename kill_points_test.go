//go:build unix

package oncehttp_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// The points of an action at which its process is killed, in order.
const (
	beforeCreate = "before the commit that begins it"
	afterCreate  = "after that commit, before the request is sent"
	beforeEffect = "after the request is sent, before its effect"
	beforeAnswer = "after its effect, before the answer"
	beforeRecord = "after the answer, before the commit that records it"
	afterRecord  = "after that commit, before anybody is told"
)

func TestAProcessKilledAtEachPointOfAnActionLeavesWhatTheNextOneSettles(t *testing.T) {
	t.Parallel()
	unknown := "Pending, may have executed"
	for _, kind := range []string{"keyed", "plain"} {
		for _, row := range []struct {
			point   string
			effects int    // when the process is dead
			found   string // by the next one
		}{
			{beforeCreate, 0, "nothing"},
			{afterCreate, 0, unknown},
			{beforeEffect, 1, unknown}, // the API goes on with what it has received
			{beforeAnswer, 1, unknown},
			{beforeRecord, 1, unknown},
			{afterRecord, 1, "Confirmed"},
		} {
			for n := range 5 {
				t.Run(fmt.Sprintf("%s/%s/%d", kind, row.point, n), func(t *testing.T) {
					t.Parallel()
					a := newPointAPI(t, row.point)
					action := kind + "/pay-1"
					path := journalPath(t)
					a.killAt(t, doomed{URL: a.url, Journal: path, StopAt: row.point, Action: action})
					require.Equal(t, row.effects, a.mock.EffectsTotal())
					before := len(a.mock.Requests())

					c, err := oncehttp.Open(path, killConfig())
					require.NoError(t, err)
					defer c.Close()
					require.Equal(t, row.found, foundAs(t, c, action))
					for o, err := range c.Resume(t.Context()) {
						require.NoError(t, err)
						require.Equal(t, action, o.Action)
					}
					o, err := c.Do(action, killRequest(t.Context(), a.url, action))

					if kind == "plain" && row.found == unknown {
						var pending *oncehttp.PendingError
						require.ErrorAs(t, err, &pending)
						require.True(t, o.MayHaveExecuted)
						require.Len(t, a.mock.Requests(), before, "without a contract it is not sent again")
						require.Equal(t, row.effects, a.mock.EffectsTotal())
						return
					}
					require.NoError(t, err)
					require.Equal(t, oncehttp.Confirmed, o.State)
					require.Equal(t, 1, a.mock.EffectsTotal())
					for _, r := range a.mock.Requests() {
						require.Equal(t, o.Key, r.Key)
					}
				})
			}
		}
	}
}

// foundAs says what a journal holds of its only action.
func foundAs(t *testing.T, c *oncehttp.Client, action string) string {
	o, err := c.Outcome(t.Context(), action)
	if err != nil {
		require.ErrorIs(t, err, oncehttp.ErrNotFound)
		return "nothing"
	}
	listed := 0
	for in, err := range c.Pending(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, action, in.Action())
		listed++
	}
	if o.State == oncehttp.Pending {
		require.Equal(t, 1, listed, "what is pending is listed")
	} else {
		require.Zero(t, listed)
	}
	if o.MayHaveExecuted {
		return o.State.String() + ", may have executed"
	}
	return o.State.String()
}

// A pointAPI stops the first request at a point of its own.
type pointAPI struct {
	mock    *mockserver.Server
	url     string
	reached chan struct{} // closed at the point
	release chan struct{} // closed to go on
	done    chan struct{} // closed when that request is over
}

func newPointAPI(t *testing.T, point string) *pointAPI {
	a := &pointAPI{reached: make(chan struct{}), release: make(chan struct{}), done: make(chan struct{})}
	stop := func(at string) {
		if at != point {
			return
		}
		select {
		case <-a.reached: // it was not the first
		default:
			close(a.reached)
			<-a.release
		}
	}
	a.mock = mockserver.New(mockserver.Config{Execute: func(*http.Request) mockserver.Answer {
		stop(beforeEffect)
		return mockserver.Answer{Status: http.StatusCreated, Body: `{"ok":true}`}
	}})
	first := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mine := first // requests come one after the other
		first = false
		held := httptest.NewRecorder()
		a.mock.ServeHTTP(held, r)
		stop(beforeAnswer)
		maps.Copy(w.Header(), held.Header())
		w.WriteHeader(held.Code)
		w.Write(held.Body.Bytes())
		if mine {
			close(a.done)
		}
	}))
	a.url = server.URL
	t.Cleanup(server.Close)
	return a
}

// killAt starts the process, and kills it when it, or the API, is at the point.
func (a *pointAPI) killAt(t *testing.T, d doomed) {
	p := start(t, d, func(line string) {
		if line != "stopped" {
			t.Errorf("the process said: %s", line)
		}
	})
	switch d.StopAt {
	case beforeEffect, beforeAnswer:
		<-a.reached
		p.kill(t)
		close(a.release)
		<-a.done
	default:
		p.waitFor(t, "stopped")
		p.kill(t)
	}
}
