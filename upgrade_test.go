package oncehttp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// What a contract pins may be learned later than the key was sent.
func TestAKeyIsTheSameWhenItsContractBeginsToPin(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(c *oncehttp.Client, req *http.Request) error{
		"nameless": func(c *oncehttp.Client, req *http.Request) error {
			resp, err := c.RoundTrip(req)
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		},
		"another action": func(c *oncehttp.Client, req *http.Request) error {
			_, err := c.Do("pay-2", req)
			return err
		},
	} {
		for _, pruned := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				srv, path := newRecorder(t, 0), journalPath(t)
				contract := carried(oncehttp.CarrierHeader, "Idempotency-Key")
				request := func(path string) *http.Request {
					req := post(t, srv.URL+path, "{}")
					req.Header.Set("Idempotency-Key", "own-key-1")
					return req
				}
				client, err := oncehttp.Open(path, oncehttp.Config{Contracts: []oncehttp.Contract{contract}})
				require.NoError(t, err)
				_, err = client.Do("pay-1", request("/a"))
				require.NoError(t, err)
				if pruned {
					time.Sleep(time.Millisecond)
					_, err = client.Prune(t.Context(), oncehttp.Retention{Answers: 1, Records: 1})
					require.NoError(t, err)
				}
				require.NoError(t, client.Close())

				contract.Pin = oncehttp.PinHost | oncehttp.PinMethod | oncehttp.PinPath
				client = open(t, path, oncehttp.Config{Contracts: []oncehttp.Contract{contract}})
				err = send(client, request("/a"))
				if pruned && name == "nameless" {
					require.ErrorAs(t, err, new(*oncehttp.NoAnswerError))
				} else {
					require.NoError(t, err)
				}
				require.Len(t, srv.requests(), 1)
				err = send(client, request("/b"))
				if pruned {
					require.ErrorIs(t, err, oncehttp.ErrMismatch, "nobody can tell any more where the key was sent")
				} else {
					require.NoError(t, err, "it is another key there")
					require.Len(t, srv.requests(), 2)
				}
			})
		}
	}
}
