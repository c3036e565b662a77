package oncehttp_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// Run goes on until its context ends; whoever starts it waits for it.
func ExampleClient_Run() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	settled := make(chan oncehttp.Event)
	client := exampleClient(api, path, oncehttp.Config{
		OnEvent: func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventSettled {
				settled <- e
			}
		},
	})
	defer client.Close()
	if _, err := client.Begin("order-42/charge", exampleRequest("https://api.example.com/charges", `{"amount":500}`)); err != nil {
		log.Fatal(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		err := client.Run(ctx)
		fmt.Println("stopped:", errors.Is(err, context.Canceled))
	})
	e := <-settled
	fmt.Println(e.Action, e.State)
	stop()
	running.Wait()
	// Output:
	// order-42/charge Confirmed
	// stopped: true
}

// What is known of an action can be asked at any time. Nothing is sent.
func ExampleClient_Outcome() {
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{mockserver.Code(402, "card_declined")}})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()
	client.Do("order-42/charge", exampleRequest("https://api.example.com/charges", `{"amount":500}`))

	ctx := context.Background()
	outcome, err := client.Outcome(ctx, "order-42/charge")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Explain())
	_, err = client.Outcome(ctx, "order-43/charge")
	fmt.Println("known:", !errors.Is(err, oncehttp.ErrNotFound))
	// Output:
	// action "order-42/charge" is rejected: a definite no (status 402); nothing took effect
	// known: false
}

// An answer that an http.Client returns has an outcome behind it, unless it was
// passed through.
func ExampleOutcomeOf() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()

	post := exampleRequest("https://api.example.com/charges", `{"amount":500}`)
	get, err := http.NewRequest(http.MethodGet, "https://api.example.com/charges", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, req := range []*http.Request{post, get} {
		resp, err := client.HTTPClient().Do(req)
		if err != nil {
			log.Fatal(err)
		}
		resp.Body.Close()
		outcome, ok := oncehttp.OutcomeOf(resp)
		fmt.Println(req.Method, ok)
		if ok {
			fmt.Println(outcome.State, "after", outcome.Attempts, "attempt")
		}
	}
	// Output:
	// POST true
	// Confirmed after 1 attempt
	// GET false
}

// An API takes no keys, and can be asked.
func ExampleConfig_lookup() {
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{
		Lookup: func(ctx context.Context, in *oncehttp.Intent) (oncehttp.Finding, error) {
			order, _ := strings.CutSuffix(in.Action(), "/charge")
			fmt.Println("asking for", order)
			return oncehttp.Finding{Kind: oncehttp.Found, Reference: "ch_1001"}, nil
		},
	})
	defer client.Close()

	outcome, err := client.Do("order-42/charge", exampleRequest("https://legacy.example.com/charges", `{"order":"order-42","amount":500}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.State, outcome.Reference, "requests:", len(api.Requests()))
	// Output:
	// asking for order-42
	// Confirmed ch_1001 requests: 1
}

// With a Sealer the bodies in the file are encrypted.
func ExampleConfig_sealer() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	block, err := aes.NewCipher([]byte("32 bytes from your secret store!"))
	if err != nil {
		log.Fatal(err)
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		log.Fatal(err)
	}
	client := exampleClient(api, path, oncehttp.Config{Sealer: sealer})
	outcome, err := client.Do("order-42/charge", exampleRequest("https://api.example.com/charges", `{"card":"4242424242424242"}`))
	if err != nil {
		log.Fatal(err)
	}
	client.Close()
	file, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.State, "the card's number is in the file:", bytes.Contains(file, []byte("4242424242424242")))
	// Output:
	// Confirmed the card's number is in the file: false
}
