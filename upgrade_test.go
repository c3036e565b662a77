package oncehttp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// An application learns of a contract, or drops one, between two runs. The
// caller's own key in the request was payload in the first, and is none in the
// second, or the other way round.
func TestAnActionIsTheSameWhenItsContractComesOrGoes(t *testing.T) {
	t.Parallel()
	for _, c := range carrierCases() {
		for name, contracts := range map[string][2][]oncehttp.Contract{
			"comes": {nil, {c.contract}},
			"goes":  {{c.contract}, nil},
		} {
			for _, pruned := range []bool{false, true} {
				t.Run(c.name+" "+name, func(t *testing.T) {
					t.Parallel()
					srv, path := newRecorder(t, 0), journalPath(t)
					client, err := oncehttp.Open(path, oncehttp.Config{Contracts: contracts[0]})
					require.NoError(t, err)
					_, err = client.Do("pay-1", c.request(t, srv.URL, c.ownURI, c.ownBody))
					require.NoError(t, err)
					if pruned {
						time.Sleep(time.Millisecond)
						_, err = client.Prune(t.Context(), oncehttp.Retention{Answers: 1, Records: 1})
						require.NoError(t, err)
					}
					require.NoError(t, client.Close())

					client = open(t, path, oncehttp.Config{Contracts: contracts[1]})
					o, err := client.Do("pay-1", c.request(t, srv.URL, c.ownURI, c.ownBody))
					require.NoError(t, err)
					assert.Equal(t, oncehttp.Confirmed, o.State)
					_, err = client.Do("pay-1", c.request(t, srv.URL, c.ownURI+"x", c.ownBody))
					require.ErrorIs(t, err, oncehttp.ErrMismatch)
					require.Len(t, srv.requests(), 1)
				})
			}
		}
	}
}

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
