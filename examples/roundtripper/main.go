// Command roundtripper puts oncehttp below a vendor's client library that only
// takes an *http.Client: what becomes an action, what passes through, and how
// "not known yet" comes up through code that has never heard of it. The API is
// the mock server of this module, in memory.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
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
	dir, err := os.MkdirTemp("", "oncehttp-roundtripper-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var begun atomic.Int64
	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
		Transport: api.Transport(), // yours needs none
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)},
		OnEvent: func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventBegun {
				begun.Add(1)
			}
		},
	})
	if err != nil {
		return err
	}
	defer client.Close()

	// All that changes in code that uses the library is this client, and the
	// name of the action in the context.
	payments := sdk{client.HTTPClient(), "https://api.example.com"}
	ctx := context.Background()
	named := func(action string) context.Context { return oncehttp.WithAction(ctx, action) }
	told := func() {
		fmt.Fprintf(out, "   actions begun: %d, charges in the API's ledger: %d\n\n", begun.Load(), api.EffectsTotal())
	}

	fmt.Fprintln(out, "1. A read passes through, named or not:")
	if err := payments.list(named("order-42/charge")); err != nil {
		return err
	}
	told()

	fmt.Fprintln(out, "2. A charge whose answer is lost. The library sees one answer:")
	api.Script(mockserver.Lost())
	first, err := payments.charge(named("order-42/charge"), 500)
	if err != nil {
		return err
	}
	told()

	fmt.Fprintln(out, "3. The same action again, as after a crash of the caller:")
	again, err := payments.charge(named("order-42/charge"), 500)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "   the same charge: %t\n", first == again)
	told()

	fmt.Fprintln(out, "4. Without a name it is an action of its own, and safe from lost")
	fmt.Fprintln(out, "   answers, but a second call is a second charge:")
	for range 2 {
		if _, err := payments.charge(ctx, 500); err != nil {
			return err
		}
	}
	told()

	fmt.Fprintln(out, "5. A definite no is an answer like any other:")
	api.Script(mockserver.Code(402, "card_declined"))
	_, err = payments.charge(named("order-43/charge"), 500)
	fmt.Fprintf(out, "   %v\n", err)
	told()

	fmt.Fprintln(out, "6. An API without keys loses an answer. The library wraps our error,")
	fmt.Fprintln(out, "   http.Client wraps it too, and errors.As still finds it:")
	payments.base = "https://legacy.example.com"
	api.Script(mockserver.Lost())
	_, err = payments.charge(named("order-44/charge"), 500)
	var pending *oncehttp.PendingError
	if !errors.As(err, &pending) {
		return fmt.Errorf("want a PendingError, got %v", err)
	}
	fmt.Fprintf(out, "   %s: %s, may have executed: %t\n", pending.Outcome.Action, pending.Outcome.State, pending.Outcome.MayHaveExecuted)
	told()
	return nil
}
