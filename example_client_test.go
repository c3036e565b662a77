package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// exampleClient is a client of api.example.com, which is a mock server here and
// honours keys, and of legacy.example.com, which takes none.
func exampleClient(api *mockserver.Server, path string, cfg oncehttp.Config) *oncehttp.Client {
	cfg.Transport = api.Transport()
	cfg.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)}
	cfg.Retry = oncehttp.Retry{Base: time.Millisecond, Cap: time.Millisecond}
	client, err := oncehttp.Open(path, cfg)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// exampleJournal is a path for a journal, and what removes it.
func exampleJournal() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "oncehttp-example-")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "intents.db"), func() { os.RemoveAll(dir) }
}

func exampleRequest(url, body string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// A path serves one client at a time.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "oncehttp-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cfg := oncehttp.Config{
		Contracts:   []oncehttp.Contract{oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)},
		LockTimeout: time.Millisecond,
	}
	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	_, err = oncehttp.Open(filepath.Join(dir, "intents.db"), cfg)
	fmt.Println(errors.Is(err, oncehttp.ErrJournalLocked))
	// Output:
	// true
}

// The answer to the first attempt is lost. The second one brings it, and the
// third call needs none.
func ExampleClient_Do() {
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()

	for range 2 {
		req := exampleRequest("https://api.example.com/charges", `{"amount":500}`)
		outcome, err := client.Do("order-42/charge", req)
		var pending *oncehttp.PendingError
		switch {
		case errors.As(err, &pending):
			fmt.Println("not known yet; not to be begun under another name")
		case err != nil:
			fmt.Println("this call sent nothing:", err)
		case outcome.State == oncehttp.Confirmed:
			fmt.Println("charged, status", outcome.Response.StatusCode, "from the journal:", outcome.FromJournal)
		case outcome.State == oncehttp.Rejected:
			fmt.Println("a definite no, status", outcome.Response.StatusCode)
		}
	}
	fmt.Println("requests:", len(api.Requests()), "charges:", api.EffectsTotal())
	// Output:
	// charged, status 201 from the journal: false
	// charged, status 201 from the journal: true
	// requests: 2 charges: 1
}

// Code that has an http.Client needs the name of the action, and no more.
func ExampleClient_HTTPClient() {
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()
	httpClient := client.HTTPClient()

	req := exampleRequest("https://api.example.com/charges", `{"amount":500}`)
	req = req.WithContext(oncehttp.WithAction(req.Context(), "order-42/charge"))
	resp, err := httpClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	outcome, ok := oncehttp.OutcomeOf(resp)
	fmt.Println(resp.Status, ok, outcome.State, "after", outcome.Attempts, "attempts")
	fmt.Println("charges:", api.EffectsTotal())
	// Output:
	// 201 Created true Confirmed after 2 attempts
	// charges: 1
}

// Begin records and sends nothing: what is begun is done, now or after a
// crash.
func ExampleClient_Begin() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()

	intent, err := client.Begin("order-42/charge", exampleRequest("https://api.example.com/charges", `{"amount":500}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(intent.Outcome().State, intent.Outcome().Reason, "requests:", len(api.Requests()))
	outcome, err := intent.Do(context.Background())
	fmt.Println(outcome.State, err, "requests:", len(api.Requests()))
	// Output:
	// Pending NotSent requests: 0
	// Confirmed <nil> requests: 1
}

// Resume takes up what an earlier run has begun and not settled.
func ExampleClient_Resume() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()

	earlier := exampleClient(api, path, oncehttp.Config{})
	for _, order := range []string{"order-42", "order-43"} {
		if _, err := earlier.Begin(order+"/charge", exampleRequest("https://api.example.com/charges", `{"amount":500}`)); err != nil {
			log.Fatal(err)
		}
	}
	earlier.Close()

	client := exampleClient(api, path, oncehttp.Config{})
	defer client.Close()
	for outcome, err := range client.Resume(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(outcome.Action, outcome.State)
	}
	fmt.Println("charges:", api.EffectsTotal())
	// Unordered output:
	// order-42/charge Confirmed
	// order-43/charge Confirmed
	// charges: 2
}

// The connection breaks before anything is written on it. Where it is watched
// that is known, and the charge is sent again, though the API takes no keys.
func ExampleWatchWrites() {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	path, remove := exampleJournal()
	defer remove()
	transport := api.Transport()
	dial, broken := transport.DialContext, true
	transport.DialContext = oncehttp.WatchWrites(func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err == nil && broken {
			conn, broken = &limitedConn{Conn: conn}, false // no byte leaves
		}
		return conn, err
	})
	client, err := oncehttp.Open(path, oncehttp.Config{Transport: transport, Retry: oncehttp.Retry{Base: time.Millisecond}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	outcome, err := client.Do("order-42/charge", exampleRequest("http://legacy.example.com/charges", `{"amount":500}`))
	fmt.Println(outcome.State, err, "attempts:", outcome.Attempts, "charges:", api.EffectsTotal())
	// Output:
	// Confirmed <nil> attempts: 2 charges: 1
}
