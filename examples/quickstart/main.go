// Command quickstart charges cards through an API that loses answers: with a
// plain retry loop, with oncehttp, and with oncehttp against an API that takes
// no keys. It needs no network and no set-up: the API is the mock server of
// this module, in memory, and every number printed is from its ledger.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer) error {
	// An API that honours idempotency keys, but for those below /legacy.
	api := mockserver.Memory(mockserver.Config{
		Unkeyed: func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/legacy") },
	})
	defer api.Close()

	fmt.Fprintln(out, "1. A plain retry loop. The card is charged, the answer is lost:")
	api.ScriptPath("/plain/charges", mockserver.Lost())
	if err := plainRetry(out, api.Client()); err != nil {
		return err
	}
	plain := api.EffectsOf("POST /plain/charges")
	fmt.Fprintf(out, "   charges in the API's ledger: %d\n\n", plain)

	dir, err := os.MkdirTemp("", "oncehttp-quickstart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
		Transport: api.Transport(), // yours needs none
		Contracts: []oncehttp.Contract{
			// The one promise that makes repeating safe: this API remembers a
			// key for a day.
			oncehttp.IdempotencyKey("api.example.com", 24*time.Hour),
		},
	})
	if err != nil {
		return err
	}
	defer client.Close()

	fmt.Fprintln(out, "2. oncehttp. The same loss, one key for both attempts:")
	api.ScriptPath("/charges", mockserver.Lost())
	req, err := charge("https://api.example.com/charges")
	if err != nil {
		return err
	}
	outcome, err := client.Do("order-42/charge", req)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "   %s after %d attempts, status %d\n", outcome.State, outcome.Attempts, outcome.Response.StatusCode)
	once := api.EffectsOf("POST /charges")
	fmt.Fprintf(out, "   charges in the API's ledger: %d\n\n", once)

	fmt.Fprintln(out, "3. oncehttp, and an API that takes no keys. Nobody can repeat that")
	fmt.Fprintln(out, "   safely, so it is not repeated, and the answer is an honest \"pending\":")
	api.ScriptPath("/legacy/charges", mockserver.Lost())
	req, err = charge("https://legacy.example.com/legacy/charges")
	if err != nil {
		return err
	}
	_, err = client.Do("order-43/charge", req)
	var pending *oncehttp.PendingError
	if !errors.As(err, &pending) {
		return fmt.Errorf("want a PendingError, got %v", err)
	}
	for line := range strings.Lines(pending.Outcome.Explain()) {
		fmt.Fprintf(out, "   | %s", line)
	}
	fmt.Fprintf(out, "\n   charges in the API's ledger: %d\n\n", api.EffectsOf("POST /legacy/charges"))

	fmt.Fprintf(out, "charges: plain retry %d, oncehttp %d\n", plain, once)
	return nil
}

// plainRetry is what is often written by hand.
func plainRetry(out io.Writer, client *http.Client) error {
	for n := 1; n <= 3; n++ {
		req, err := charge("https://api.example.com/plain/charges")
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			fmt.Fprintf(out, "   attempt %d: no answer, so once more\n", n)
			continue
		}
		fmt.Fprintf(out, "   attempt %d: %s\n", n, resp.Status)
		return resp.Body.Close()
	}
	return errors.New("the plain loop got no answer")
}

func charge(url string) (*http.Request, error) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"card":"4242","amount":500}`))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}
