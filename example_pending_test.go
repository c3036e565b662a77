package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// An API that takes no keys has lost an answer. Nobody can tell what happened,
// so nothing is sent again.
func ExamplePendingError() {
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{{Commit: true, Status: http.StatusBadGateway}}})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()

	_, err := client.Do("order-42/charge", exampleRequest("https://legacy.example.com/charges", `{"amount":500}`))
	var pending *oncehttp.PendingError
	if errors.As(err, &pending) {
		fmt.Println(pending.Outcome.Explain())
	}
	// Output:
	// action "order-42/charge" is pending: the outcome is unknown after 1 attempt; it may have taken effect (ServerError)
	// Do not begin it under another name.
	// It was sent without a key, so it is not sent again by itself: look the effect up, then Resolve.
	// Last cause: the server answered 502.
}

// What does not settle by itself waits for a person, or for a webhook.
func ExampleClient_Pending() {
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()
	client.Do("order-42/charge", exampleRequest("https://legacy.example.com/charges", `{"amount":500}`))

	ctx := context.Background()
	for intent, err := range client.Pending(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(intent.Action(), "may have executed:", intent.Outcome().MayHaveExecuted)
	}
	// Output:
	// order-42/charge may have executed: true
}

// Somebody has looked the charge up.
func ExampleClient_Resolve() {
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()
	client.Do("order-42/charge", exampleRequest("https://legacy.example.com/charges", `{"amount":500}`))

	ctx := context.Background()
	err := client.Resolve(ctx, "order-42/charge", oncehttp.Resolution{
		State:     oncehttp.Confirmed,
		Reference: "ch_1001",
		By:        "jane",
		Why:       "found it in the dashboard",
	})
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := client.Outcome(ctx, "order-42/charge")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.State, outcome.Reference)
	// Output:
	// Confirmed ch_1001
}

// One action never has two payloads.
func ExampleMismatchError() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()

	client.Do("order-42/charge", exampleRequest("https://api.example.com/charges", `{"amount":500,"currency":"eur"}`))
	_, err := client.Do("order-42/charge", exampleRequest("https://api.example.com/charges", `{"currency":"eur","amount":700}`))
	var mismatch *oncehttp.MismatchError
	if errors.As(err, &mismatch) {
		fmt.Println("differs at", mismatch.Differs, "and was", mismatch.Outcome.State)
	}
	fmt.Println("requests:", len(api.Requests()))
	// Output:
	// differs at [/amount] and was Confirmed
	// requests: 1
}

// Credentials are not in the journal. Authorize puts them into every attempt,
// and is told when the last ones were refused.
func ExampleConfig_authorize() {
	api := mockserver.Memory(mockserver.Config{Authenticate: mockserver.BearerToken("fresh")})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{
		Authorize: func(req *http.Request, stale bool) error {
			token := "cached"
			if stale {
				token = "fresh"
			}
			req.Header.Set("Authorization", "Bearer "+token)
			return nil
		},
	})
	defer client.Close()

	outcome, err := client.Do("order-42/charge", exampleRequest("https://api.example.com/charges", `{"amount":500}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.State, "after", outcome.Attempts, "attempts")
	// Output:
	// Confirmed after 2 attempts
}

// What happens is told as it happens, to a function or to a *slog.Logger.
func ExampleEvent() {
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{
		OnEvent: func(e oncehttp.Event) {
			if e.Kind != oncehttp.EventWaiting {
				fmt.Println(e.Kind, e.Attempt, e.Status)
			}
		},
	})
	defer client.Close()
	client.Do("order-42/charge", exampleRequest("https://api.example.com/charges", `{"amount":500}`))
	// Output:
	// begun 1 0
	// attempt started 1 0
	// answered 1 0
	// attempt started 2 0
	// answered 2 201
	// settled 2 0
}

// FullJitter is a backoff.BackOff, and serves any loop that takes one.
func ExampleNewFullJitter() {
	tries := 0
	operation := func() error {
		if tries++; tries < 4 {
			return errors.New("not yet")
		}
		return nil
	}
	err := backoff.Retry(operation, oncehttp.NewFullJitter(time.Millisecond, 4*time.Millisecond))
	fmt.Println(tries, err)
	// Output:
	// 4 <nil>
}
