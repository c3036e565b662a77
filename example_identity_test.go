package oncehttp_test

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// Two processes, each with a journal of its own, are handed the same action by
// a queue that delivers twice. The key is the same, so the API knows.
func ExampleDerivedKeys() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	secret := []byte("from your secret store")
	for range 2 {
		path, remove := exampleJournal()
		defer remove()
		client := exampleClient(api, path, oncehttp.Config{NewKey: oncehttp.DerivedKeys(secret, "billing")})
		defer client.Close()

		outcome, err := client.Do("order-42/charge", exampleRequest("https://api.example.com/charges", `{"amount":500}`))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(outcome.State, "attempts:", outcome.Attempts, "replayed:", outcome.Response.Replayed)
	}
	fmt.Println("charges:", api.EffectsTotal())
	// Output:
	// Confirmed attempts: 1 replayed: false
	// Confirmed attempts: 1 replayed: true
	// charges: 1
}

// A message of two days ago is delivered again. If another process has sent it
// then, the API has forgotten the key by now.
func ExampleActionTime() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{NewKey: oncehttp.DerivedKeys([]byte("from your secret store"), "billing")})
	defer client.Close()

	created := time.Now().Add(-48 * time.Hour) // of the order's row
	req := exampleRequest("https://api.example.com/charges", `{"amount":500}`)
	outcome, err := client.Do("order-42/charge", req, oncehttp.ActionTime(created))
	var pending *oncehttp.PendingError
	fmt.Println(errors.As(err, &pending), outcome.Reason, "requests:", len(api.Requests()))
	// Output:
	// true KeyExpired requests: 0
}

// A model words its mail anew on every try. The first wording is sent, and
// answered for.
func ExampleKeepFirst() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()

	for _, wording := range []string{`{"text":"Your refund is on its way."}`, `{"text":"We are refunding you."}`} {
		req := exampleRequest("https://api.example.com/mails", wording)
		outcome, err := client.Do("run-7/step-3/send_mail", req, oncehttp.KeepFirst())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(outcome.State, "reworded:", outcome.Reworded)
	}
	fmt.Println("mails:", api.EffectsTotal())
	// Output:
	// Confirmed reworded: false
	// Confirmed reworded: true
	// mails: 1
}

// Two tenants share a client. The same name does not show one the other's
// answer.
func ExampleConfig_principal() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{
		Principal: func(req *http.Request) string { return req.Header.Get("X-Tenant") },
	})
	defer client.Close()

	for _, tenant := range []string{"anna", "ben"} {
		req := exampleRequest("https://api.example.com/charges", `{"amount":500}`)
		req.Header.Set("X-Tenant", tenant)
		_, err := client.Do("order-42/charge", req)
		fmt.Println(tenant, "another's action:", errors.Is(err, oncehttp.ErrPrincipal))
	}
	// Output:
	// anna another's action: false
	// ben another's action: true
}
