package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
)

// The whole of it, as a program would use it.
func Example() {
	ctx := context.Background()
	client, err := oncehttp.Open("intents.db", oncehttp.Config{
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for outcome, err := range client.Resume(ctx) { // what the last run left open
		log.Println(outcome, err)
	}

	req, err := http.NewRequestWithContext(ctx, "POST", "https://api.example.com/charges", strings.NewReader(`{"amount":500}`))
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := client.Do("order-42/charge", req)
	var pending *oncehttp.PendingError
	switch {
	case errors.As(err, &pending):
		fmt.Println(pending.Outcome.Explain()) // not settled: do not begin it under another name
	case err != nil:
		log.Fatal(err) // this call sent nothing
	case outcome.State == oncehttp.Confirmed:
		fmt.Println("charged:", outcome) // outcome.Response is the API's answer
	case outcome.State == oncehttp.Rejected:
		fmt.Println("a definite no:", outcome)
	}
}
