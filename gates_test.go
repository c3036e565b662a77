package oncehttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func testGates(t *testing.T) *gates {
	cfg, err := Config{}.withDefaults()
	require.NoError(t, err)
	return newGates(cfg, func(Event) {})
}

func TestGatesOfManyHostsAreForgottenWhenNobodyAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := testGates(t)
		key := func(i int) gateKey { return gateKey{host: fmt.Sprintf("h%d.test:443", i)} }
		fail := func(i int) {
			for range 3 {
				s.heard(s.at(key(i)), gateEvent{kind: gateDown})
			}
		}
		for i := range maxGates {
			fail(i)
		}
		require.EqualValues(t, maxGates, s.troubled.Load())
		pass, w := s.ask(key(maxGates), false, time.Now().Add(time.Hour), time.Time{})
		require.Nil(t, w)
		require.Nil(t, pass.host, "there is no room, and it goes as if alone")
		_, w = s.ask(key(0), false, time.Now().Add(time.Hour), time.Time{})
		time.Sleep(5 * time.Minute)
		fail(maxGates)
		require.Len(t, s.hosts, 1, "also a probe that is lost holds none")
		require.EqualValues(t, 1, s.troubled.Load())
		pass = (<-w.answer).pass
		require.NotNil(t, pass.host)
		s.heard(pass, gateEvent{kind: gateUp})
		s.heard(pass, gateEvent{kind: gateDown})
		require.EqualValues(t, 1, s.troubled.Load(), "what is forgotten is not counted")
		s.heard(s.at(key(maxGates)), gateEvent{kind: gateUp})
		s.heard(s.at(key(maxGates)), gateEvent{kind: gateUp})
		require.Zero(t, s.troubled.Load())
	})
}

func TestAPassThatComesWhileItsAskerLeavesGoesToTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := testGates(t)
		key := gateKey{host: "h.test:443"}
		for range 3 {
			s.heard(s.at(key), gateEvent{kind: gateDown})
		}
		until := time.Now().Add(time.Hour)
		_, first := s.ask(key, false, until, time.Time{})
		_, second := s.ask(key, false, until, time.Time{})
		time.Sleep(2 * time.Second)
		require.Len(t, first.answer, 1, "it has a pass, and does not know it")
		require.Empty(t, second.answer)
		require.False(t, s.leave(first).Before(time.Now()))
		require.NotNil(t, (<-second.answer).pass.host)
	})
}

// The next need not wait for a probe that is not sent to time out.
func TestARetryWhoseBodyIsNotToBeHadAgainGivesItsPassBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(openTestBolt(t, filepath.Join(t.TempDir(), "intents.db")), Config{
			Gate: Gate{Failures: 1},
			Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Request: req}, nil
			}),
		})
		require.NoError(t, err)
		defer c.Close()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://api.example.com/a", strings.NewReader("a"))
		require.NoError(t, err)
		get, gone := req.GetBody, errors.New("gone")
		bodies := 0
		req.GetBody = func() (io.ReadCloser, error) {
			if bodies++; bodies > 1 {
				return nil, gone
			}
			return get()
		}
		_, err = c.RoundTrip(req)
		require.ErrorIs(t, err, gone)
		require.Len(t, c.gates.hosts, 1)
		for _, h := range c.gates.hosts {
			require.True(t, h.gate.shut)
			require.Zero(t, h.gate.under)
		}
	})
}

func TestAskingAnOpenGateCostsNoAllocation(t *testing.T) {
	s := testGates(t)
	key := gateKey{contract: "api", scheme: "https", host: "h.test:443"}
	until := time.Now().Add(time.Hour)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		pass, _ := s.ask(key, false, until, time.Time{})
		s.heard(pass, gateEvent{kind: gateUp})
	}))
}
