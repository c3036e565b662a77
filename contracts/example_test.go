package contracts_test

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/contracts"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A client that holds all contracts charges a card, and the answer is lost. The
// mock server plays Stripe: its transport leads to it whatever host a URL names.
func ExampleAll() {
	profile, _ := mockserver.ProfileNamed("stripe-v1")
	stripe := mockserver.Memory(mockserver.Config{Profile: profile})
	defer stripe.Close()
	dir, err := os.MkdirTemp("", "oncehttp-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
		Transport: stripe.Transport(), // leave it out to reach real hosts
		Contracts: contracts.All(),
		Authorize: func(req *http.Request, _ bool) error { // the journal keeps no credentials
			req.Header.Set("Authorization", "Bearer "+os.Getenv("STRIPE_KEY"))
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	stripe.Script(mockserver.Lost())
	req, err := http.NewRequest("POST", "https://api.stripe.com/v1/payment_intents",
		strings.NewReader("amount=500&currency=eur&confirm=true&payment_method=pm_card_visa"))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	outcome, err := client.Do("order-42/charge", req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.State, "attempts:", outcome.Attempts, "a stored answer:", outcome.Response.Replayed)
	fmt.Println("charges:", stripe.EffectsTotal())
	// Output:
	// Confirmed attempts: 2 a stored answer: true
	// charges: 1
}

// Several contracts may speak of a host. Of those that match a request the most
// specific one counts.
func ExampleFor() {
	for _, c := range contracts.For("api.mollie.com") {
		fmt.Printf("%s: %s, known for %v\n", c.Name, c.Carrier.Name, c.Window.Length)
	}
	// Output:
	// mollie-payments: Idempotency-Key, known for 1h0m0s
	// mollie-refunds: Idempotency-Key, known for 1h0m0s
	// mollie-v2: Idempotency-Key, known for 1h0m0s
}

// A standard names no host, and an API may stand behind another name. Each name
// of a contract stands once in a client.
func ExampleOn() {
	bank := contracts.On(contracts.OpenBankingUK, "api.bank.example")
	bank.Proof = oncehttp.ProofDeclared // this bank says that it keeps to the standard

	gateway := contracts.On(contracts.StripeV1, "gateway.internal:8443")
	gateway.Name = "stripe by the gateway"

	for _, c := range []oncehttp.Contract{bank, gateway} {
		fmt.Printf("%s at %s: %s\n", c.Name, c.Match.Hosts[0], c.Carrier.Name)
	}
	// Output:
	// open-banking-uk at api.bank.example: X-Idempotency-Key
	// stripe by the gateway at gateway.internal:8443: Idempotency-Key
}

// PayPal remembers the keys of orders for six hours, or for longer where that was
// agreed. A contract is a copy, and may say so.
func ExampleAll_changed() {
	all := contracts.All()
	for i := range all {
		if all[i].Name == contracts.PayPalOrdersV2.Name {
			all[i].Window.Length = 72 * time.Hour
		}
	}
	for _, c := range all {
		if c.Name == contracts.PayPalOrdersV2.Name {
			fmt.Println("for this account:", c.Window.Length)
		}
	}
	fmt.Println("for the others:  ", contracts.PayPalOrdersV2.Window.Length)
	// Output:
	// for this account: 72h0m0s
	// for the others:   6h0m0s
}
