package oncehttp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// forgetful is a server that keeps its connections alive, and closes one that
// was idle at the moment when a POST arrives on it, unread: its close has crossed
// the request. It counts the POSTs that took effect, and connections.
func forgetful(t testing.TB) (url string, effects, conns *atomic.Int64) {
	effects, conns = new(atomic.Int64), new(atomic.Int64)
	url = serveWire(t, func(conn net.Conn) {
		conns.Add(1)
		r := bufio.NewReader(conn)
		for n := 0; ; n++ {
			req, err := http.ReadRequest(r)
			if err != nil || req.Method == http.MethodPost && n > 0 {
				return
			}
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			if req.Method == http.MethodPost {
				effects.Add(1)
			}
			fmt.Fprint(conn, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
		}
	})
	return url, effects, conns
}

// An idle connection makes no unknown outcome of what no other attempt may
// follow: such a request gets a connection of its own, by default where the
// transport is the client's, else if it is told to.
func TestAnIdleConnectionThatDiesMakesNothingUnknown(t *testing.T) {
	t.Parallel()
	const posts = 200
	for _, idle := range []int{0, 1, 10, 100} {
		for name, lend := range map[string]func(*oncehttp.Config){
			"the client's own": func(*oncehttp.Config) {},
			"lent, and told": func(cfg *oncehttp.Config) {
				cfg.Transport = &http.Transport{MaxIdleConnsPerHost: idle + 1}
				cfg.FreshTransport = &http.Transport{DisableKeepAlives: true}
			},
			"lent": func(cfg *oncehttp.Config) { cfg.Transport = &http.Transport{MaxIdleConnsPerHost: idle + 1} },
		} {
			t.Run(fmt.Sprint(name, ", idle ", idle), func(t *testing.T) {
				t.Parallel()
				url, effects, _ := forgetful(t)
				cfg := oncehttp.Config{Contracts: []oncehttp.Contract{}}
				lend(&cfg)
				c := open(t, journalPath(t), cfg)
				getAtOnce(t, c, url, idle)
				var pending atomic.Int64
				p := newPool(8)
				for i := range posts {
					p.Go(func() {
						o, err := c.Do(fmt.Sprint("pay-", i), post(t, url, payment))
						if err == nil {
							assert.Equal(t, oncehttp.Confirmed, o.State)
							return
						}
						if assert.ErrorAs(t, err, new(*oncehttp.PendingError)) {
							assert.True(t, o.MayHaveExecuted)
							pending.Add(1)
						}
					})
				}
				p.Wait()
				t.Logf("%d of %d are pending", pending.Load(), posts)
				assert.EqualValues(t, posts, effects.Load()+pending.Load(), "what is not known was not done here")
				if name == "lent" {
					assert.NotZero(t, pending.Load(), "honest, and a nuisance")
				} else {
					assert.Zero(t, pending.Load())
				}
			})
		}
	}
}

// getAtOnce leaves idle connections behind.
func getAtOnce(t *testing.T, through http.RoundTripper, url string, connections int) {
	t.Helper()
	var all, under sync.WaitGroup
	under.Add(connections)
	for range connections {
		all.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			require.NoError(t, err)
			resp, err := through.RoundTrip(req)
			under.Done()
			under.Wait()
			if assert.NoError(t, err) {
				_, err = io.Copy(io.Discard, resp.Body)
				assert.NoError(t, err)
				resp.Body.Close()
			}
		})
	}
	all.Wait()
}

// What may be repeated keeps its connections.
func TestOnlyWhatMayNotBeRepeatedGetsAConnectionOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method    string
		contracts []oncehttp.Contract
		conns     int64
	}{
		"without a contract": {http.MethodPost, []oncehttp.Contract{}, 5},
		"keyed":              {http.MethodPost, nil, 1},
		"idempotent":         {http.MethodPut, []oncehttp.Contract{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			var conns atomic.Int64
			srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					conns.Add(1)
				}
			}
			srv.Start()
			defer srv.Close()
			c := open(t, journalPath(t), oncehttp.Config{Contracts: tt.contracts})
			for i := range 5 {
				req := post(t, srv.URL, payment)
				req.Method = tt.method
				o, err := c.Do(fmt.Sprint("pay-", i), req)
				require.NoError(t, err)
				assert.Equal(t, oncehttp.Confirmed, o.State)
			}
			assert.Equal(t, tt.conns, conns.Load())
		})
	}
}
