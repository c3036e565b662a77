package mockserver_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/oncehttp/oncehttp/mockserver"
)

// A client that repeats a lost request under the same key charges once.
func Example() {
	server := mockserver.Memory(mockserver.Config{})
	defer server.Close()
	server.Script(mockserver.Lost()) // the effect happens, its answer is lost

	charge := func() (*http.Response, error) {
		req, _ := http.NewRequest("POST", "https://api.example.com/charges", strings.NewReader(`{"amount":500}`))
		req.Header.Set("Idempotency-Key", "order-42")
		return server.Client().Do(req)
	}
	_, err := charge()
	fmt.Println("first:", err != nil, "effects:", server.Effects("order-42"))
	resp, _ := charge()
	defer resp.Body.Close()
	fmt.Println("again:", resp.Status, "replayed:", resp.Header.Get("Idempotent-Replayed"), "effects:", server.Effects("order-42"))
	// Output:
	// first: true effects: 1
	// again: 201 Created replayed: true effects: 1
}
