package oncehttp_test

import (
	"fmt"
	"time"

	"github.com/oncehttp/oncehttp"
)

// Most APIs need no more than the host and how long it remembers a key.
func ExampleIdempotencyKey() {
	c := oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)
	fmt.Println("host: ", c.Match.Hosts[0])
	fmt.Println("key:  ", c.Carrier.Name)
	fmt.Println("known:", c.Window.Length)
	// Output:
	// host:  api.example.com
	// key:   Idempotency-Key
	// known: 24h0m0s
}

// An API that differs from the common case is described field by field. This
// one answers a repeat with 409 and the name of what the first request made.
func ExampleContract() {
	c := oncehttp.Contract{
		Name:    "example payments",
		Match:   oncehttp.Match{Hosts: []string{"pay.example.com"}, Path: "/payments", Methods: []string{"POST"}},
		Carrier: oncehttp.Carrier{Kind: oncehttp.CarrierHeader, Name: "Request-Id"},
		Key:     oncehttp.KeyRule{Max: 40},
		Window:  oncehttp.Window{Length: 30 * 24 * time.Hour},
		Answers: []oncehttp.Answer{{
			Status:    []int{409},
			Codes:     []string{"already_created"},
			Verdict:   oncehttp.VerdictDone,
			Reference: "/error/links/payment",
		}},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-11-29",
		Sources: []string{"https://pay.example.com/docs/idempotency"},
	}
	common := oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)
	for _, c := range []oncehttp.Contract{c, common} {
		fmt.Printf("%s%s: %s for %v\n", c.Match.Hosts[0], c.Match.Path, c.Carrier.Name, c.Window.Length)
	}
	// Output:
	// pay.example.com/payments: Request-Id for 720h0m0s
	// api.example.com: Idempotency-Key for 24h0m0s
}
