package oncehttp_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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
)

// An API that takes its key in the body, and a signature over the body: the key is
// in what Authorize signs.
func ExampleCarrier() {
	signature := func(body []byte) string {
		mac := hmac.New(sha256.New, []byte("shared secret"))
		mac.Write(body)
		return hex.EncodeToString(mac.Sum(nil))
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println("received:", string(body))
		fmt.Println("signed:  ", hmac.Equal([]byte(signature(body)), []byte(r.Header.Get("X-Signature"))))
	}))
	defer api.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	contract := oncehttp.IdempotencyKey("*", 24*time.Hour)
	contract.Carrier = oncehttp.Carrier{Kind: oncehttp.CarrierJSON, Name: "/idempotency_key"}
	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
		Contracts: []oncehttp.Contract{contract},
		NewKey:    func(action string) (string, error) { return "key-of-" + strings.ReplaceAll(action, "/", "-"), nil },
		Authorize: func(req *http.Request, _ bool) error {
			body, err := req.GetBody()
			if err != nil {
				return err
			}
			text, err := io.ReadAll(body)
			req.Header.Set("X-Signature", signature(text))
			return err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	req, err := http.NewRequest("POST", api.URL+"/payments", strings.NewReader(`{"amount": 12345678901234567890}`))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	outcome, err := client.Do("order-42/charge", req)
	fmt.Println("outcome: ", outcome.State, err)
	// Output:
	// received: {"idempotency_key":"key-of-order-42-charge","amount": 12345678901234567890}
	// signed:   true
	// outcome:  Confirmed <nil>
}
