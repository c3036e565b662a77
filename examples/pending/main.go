// Command pending shows what to do with actions whose outcome nobody knows: list
// them, read what is known, and settle them by a person's or a webhook's word.
// Three charges end without an answer, and look alike from here; two of them
// were made. The API is the mock server of this module, in memory.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
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
	// api.example.com honours keys, legacy.example.com takes none.
	api := mockserver.Memory(mockserver.Config{
		Unkeyed: func(r *http.Request) bool { return r.Host == "legacy.example.com" },
	})
	defer api.Close()
	dir, err := os.MkdirTemp("", "oncehttp-pending-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
		Transport: api.Transport(), // yours needs none
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)},
		Retry:     oncehttp.Retry{MaxAttempts: 2, Base: time.Millisecond, Cap: time.Millisecond},
	})
	if err != nil {
		return err
	}
	defer client.Close()
	httpClient := client.HTTPClient()

	api.Script(
		mockserver.Lost(),                          // order-41: charged, both answers lost
		mockserver.Lost(),                          //
		mockserver.Lost(),                          // order-42: charged, answer lost
		mockserver.Fault{See: mockserver.SeeReset}, // order-43: never charged, and looks the same
	)
	charges := []struct{ action, host string }{
		{"order-41/charge", "api.example.com"},
		{"order-42/charge", "legacy.example.com"},
		{"order-43/charge", "legacy.example.com"},
	}
	for _, c := range charges {
		_, err := charge(httpClient, c.action, c.host)
		if pending := (*oncehttp.PendingError)(nil); !errors.As(err, &pending) {
			return fmt.Errorf("want a PendingError, got %v", err)
		}
	}

	fmt.Fprintln(out, "1. What is not settled, oldest first:")
	ctx := context.Background()
	for intent, err := range client.Pending(ctx) {
		if err != nil {
			return err
		}
		for line := range strings.Lines(intent.Outcome().Explain()) {
			// Not the times and the system's own words, which differ.
			if !strings.Contains(line, "Z.\n") && !strings.HasPrefix(line, "Last cause") {
				fmt.Fprintf(out, "   | %s", line)
			}
		}
	}

	fmt.Fprintln(out, "\n2. order-41 has a key, so the same request again is safe. This one is")
	fmt.Fprintln(out, "   answered, with what the API has stored; Resume or Run would do the same:")
	resp, err := charge(httpClient, "order-41/charge", "api.example.com")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if outcome, ok := oncehttp.OutcomeOf(resp); ok {
		fmt.Fprintf(out, "   %s after %d attempts, replayed: %t\n", outcome.State, outcome.Attempts, outcome.Response.Replayed)
	}

	fmt.Fprintln(out, "\n3. The provider's webhook knows of order-42, and may say it twice:")
	hook := &webhook{client}
	for range 2 {
		w := httptest.NewRecorder()
		hook.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(`{"type":"charge.succeeded","order":"order-42","charge":"ch_1002"}`)))
		fmt.Fprintf(out, "   answered %d\n", w.Code)
	}

	fmt.Fprintln(out, "\n4. Jane has looked in the dashboard, where order-43 is not:")
	err = client.Resolve(ctx, "order-43/charge", oncehttp.Resolution{
		State: oncehttp.Rejected,
		By:    "jane",
		Why:   "not in the dashboard two hours later",
	})
	if err != nil {
		return err
	}

	for _, c := range charges {
		outcome, err := client.Outcome(ctx, c.action)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "   %s: %s\n", c.action, strings.TrimSpace(outcome.State.String()+" "+outcome.Reference))
	}
	left := 0
	for _, err := range client.Pending(ctx) {
		if err != nil {
			return err
		}
		left++
	}
	fmt.Fprintf(out, "\npending: %d, charges in the API's ledger: %d\n", left, api.EffectsTotal())
	return nil
}

// webhook takes the provider's word. Yours checks the provider's signature
// before anything else.
type webhook struct{ client *oncehttp.Client }

func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var event struct{ Type, Order, Charge string }
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&event); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if event.Type != "charge.succeeded" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	err := h.client.Resolve(r.Context(), event.Order+"/charge", oncehttp.Resolution{
		State:     oncehttp.Confirmed,
		Reference: event.Charge,
		By:        "webhook",
		Why:       event.Type,
	})
	switch {
	case err == nil: // also where it was settled already
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, oncehttp.ErrNotFound), errors.Is(err, oncehttp.ErrInvalidAction):
		w.WriteHeader(http.StatusNotFound) // not an action of ours
	default:
		w.WriteHeader(http.StatusInternalServerError) // not recorded: the provider comes again
	}
}

func charge(client *http.Client, action, host string) (*http.Response, error) {
	ctx := oncehttp.WithAction(context.Background(), action)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+"/charges", strings.NewReader(`{"card":"4242","amount":500}`))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return client.Do(req)
}
