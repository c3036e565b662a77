// Command ownserver is the other side: a small API of one's own that honours
// idempotency keys (server.go). Its test turns the checks of package servertest
// on it, crashes included; that is how to test yours. The command itself only
// shows one lost answer, over the loopback interface.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/oncehttp/oncehttp"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer) error {
	dir, err := os.MkdirTemp("", "oncehttp-ownserver-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := bbolt.Open(filepath.Join(dir, "api.db"), 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	server, err := newServer(db)
	if err != nil {
		return err
	}
	// The first answer is lost on its way: the work is committed, and the
	// connection is cut.
	var requests atomic.Int64
	server.committed = func() {
		if requests.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
	}
	api := httptest.NewServer(server)
	defer api.Close()

	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("127.0.0.1", 24*time.Hour)},
	})
	if err != nil {
		return err
	}
	defer client.Close()
	req, err := http.NewRequest(http.MethodPost, api.URL+"/charges", strings.NewReader(`{"card":"4242","amount":500}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	outcome, err := client.Do("order-42/charge", req)
	if err != nil {
		return err
	}
	made, err := server.count()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "requests answered or lost: %d\n", requests.Load())
	fmt.Fprintf(out, "%s after %d attempts, status %d, replayed: %t\n", outcome.State, outcome.Attempts, outcome.Response.StatusCode, outcome.Response.Replayed)
	fmt.Fprintf(out, "charges in the server's own table: %d\n", made)
	return nil
}
