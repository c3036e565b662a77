//go:build unix

package kill

import (
	"context"
	"net/http"
	"strings"

	"github.com/oncehttp/oncehttp/mockserver"
)

// A ledger is the server's own: what it received, and what it did.
type ledger interface {
	effectsOf(action string) (int, error)
	requests() ([]request, error)
	// quiet waits until the server works on nothing.
	quiet() error
}

// effectsOf counts in the server's own file, as its operator would.
func effectsOf(j job, action string) (n int, err error) {
	all, err := readLines[execution](j.effectsPath())
	for _, e := range all {
		if e.Action == action && e.Effect {
			n++
		}
	}
	return n, err
}

// bookkeeper reads the books of a server that is a process.
type bookkeeper struct{ job }

func (b bookkeeper) effectsOf(action string) (int, error) { return effectsOf(b.job, action) }
func (b bookkeeper) requests() ([]request, error)         { return readLines[request](b.requestsPath()) }

func (b bookkeeper) quiet() error { return b.ask("/quiet") }

func (b bookkeeper) ask(path string) error {
	c := http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(b.URL + path)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

type mockLedger struct{ *mockserver.Server }

func (m mockLedger) effectsOf(action string) (int, error) { return m.EffectsOf("POST /" + action), nil }

func (m mockLedger) requests() ([]request, error) {
	var all []request
	for _, r := range m.Requests() {
		action := strings.TrimPrefix(r.Path, "/")
		all = append(all, request{Action: action, Key: r.Key})
		if r.Reached {
			all = append(all, request{Action: action, Key: r.Key, Body: r.BodySHA256})
		}
	}
	return all, nil
}

func (m mockLedger) quiet() error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return m.WaitIdle(ctx)
}
