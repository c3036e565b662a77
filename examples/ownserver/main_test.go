package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/oncehttp/oncehttp/mockserver/servertest"
)

func TestALostAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(&out))
	require.Equal(t, `requests answered or lost: 2
Confirmed after 2 attempts, status 201, replayed: true
charges in the server's own table: 1
`, out.String())
}

// TestTheServerKeepsItsSideOfTheBargain is all that it takes. The crash comes
// once before the commit and once after it.
func TestTheServerKeepsItsSideOfTheBargain(t *testing.T) {
	for _, committed := range []bool{false, true} {
		t.Run("crashes after the commit "+strconv.FormatBool(committed), func(t *testing.T) {
			servertest.Run(t, func(t testing.TB) servertest.Target { return target(t, committed) })
		})
	}
}

func target(t testing.TB, crashAfterCommit bool) servertest.Target {
	path := filepath.Join(t.TempDir(), "api.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	server, err := newServer(db)
	require.NoError(t, err)
	var failNext, crashNext atomic.Bool
	server.charge = func(tx *bbolt.Tx, body []byte) ([]byte, error) {
		if failNext.CompareAndSwap(true, false) {
			return nil, errors.New("out of luck")
		}
		answer, err := makeCharge(tx, body)
		if !crashAfterCommit && crashNext.CompareAndSwap(true, false) {
			// The transaction is rolled back, as it is when the file is opened
			// again after a crash.
			panic(http.ErrAbortHandler)
		}
		return answer, err
	}
	server.committed = func() {
		if crashAfterCommit && crashNext.CompareAndSwap(true, false) {
			panic(http.ErrAbortHandler)
		}
	}
	api := httptest.NewServer(server)
	t.Cleanup(api.Close)
	return servertest.Target{
		NewRequest: func(n int) *http.Request {
			r, err := http.NewRequest(http.MethodPost, api.URL+"/charges", strings.NewReader(`{"amount":`+strconv.Itoa(n)+`}`))
			if err != nil {
				panic(err)
			}
			r.Header.Set("Content-Type", "application/json")
			return r
		},
		Effects: func() int {
			n, err := server.count()
			require.NoError(t, err)
			return n
		},
		AsTenant:  func(r *http.Request, tenant int) { r.Header.Set("Authorization", "Bearer "+strconv.Itoa(tenant)) },
		FailNext:  func() { failNext.Store(true) },
		CrashNext: func() { crashNext.Store(true) },
	}
}
