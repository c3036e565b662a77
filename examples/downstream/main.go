// Command downstream is a service that other services call with an idempotency
// key, and that calls an API itself to do the work. The incoming key names the
// outgoing action, so a repeat from above is a repeat below: one effect, and the
// same answer. The API is the mock server of this module, in memory.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// refunds takes POST /refunds.
type refunds struct{ client *oncehttp.Client }

func (s *refunds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tenant := tenants[r.Header.Get("Authorization")]
	if tenant == "" {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) != 1 || keys[0] == "" {
		http.Error(w, "want one Idempotency-Key", http.StatusBadRequest)
		return
	}
	// A key is the tenant's own. Two tenants with the same one are two actions,
	// and the tenant comes from who is authenticated, never from the request's
	// word.
	action := "refund/" + url.PathEscape(tenant) + "/" + keys[0]

	out, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "https://api.example.com/refunds", r.Body)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	out.Header.Set("Content-Type", "application/json")
	outcome, err := s.client.Do(action, out)
	var pending *oncehttp.PendingError
	switch {
	case errors.As(err, &pending):
		// Not known yet. A 503 invites a repeat, which is safe: it is the same
		// action.
		w.Header().Set("Retry-After", "1")
		http.Error(w, "not known yet: repeat under the same key", http.StatusServiceUnavailable)
	case errors.Is(err, oncehttp.ErrMismatch):
		http.Error(w, "this key was used for another request", http.StatusUnprocessableEntity)
	case errors.Is(err, oncehttp.ErrInvalidAction):
		http.Error(w, "unusable Idempotency-Key", http.StatusBadRequest)
	case err != nil:
		http.Error(w, "nothing was done", http.StatusServiceUnavailable)
	case outcome.Response == nil: // settled by a person, or no longer kept
		http.Error(w, "settled: "+outcome.State.String(), http.StatusConflict)
	default: // Confirmed or Rejected: the API's own answer, each time
		w.Header().Set("Content-Type", outcome.Response.Header.Get("Content-Type"))
		w.WriteHeader(outcome.Response.StatusCode)
		w.Write(outcome.Response.Body)
	}
}

// tenants by credential.
var tenants = map[string]string{"Bearer anna": "anna", "Bearer ben": "ben"}

func run(out io.Writer) error {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	dir, err := os.MkdirTemp("", "oncehttp-downstream-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
		Transport: api.Transport(), // yours needs none
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)},
		Retry:     oncehttp.Retry{MaxAttempts: 2, Base: time.Millisecond, Cap: time.Millisecond},
	})
	if err != nil {
		return err
	}
	defer client.Close()
	service := &refunds{client}
	call := func(tenant, key, body string) string {
		r := httptest.NewRequest(http.MethodPost, "/refunds", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+tenant)
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		service.ServeHTTP(w, r)
		fmt.Fprintf(out, "   %s, key %s: %d\n", tenant, key, w.Code)
		return w.Body.String()
	}
	told := func() { fmt.Fprintf(out, "   refunds in the API's ledger: %d\n\n", api.EffectsTotal()) }

	fmt.Fprintln(out, "1. The API below makes the refund and loses both its answers. The caller")
	fmt.Fprintln(out, "   above is told to come again, and does:")
	api.Script(mockserver.Lost(), mockserver.Lost())
	call("anna", "k-1", `{"charge":"ch_1","amount":500}`)
	first := call("anna", "k-1", `{"charge":"ch_1","amount":500}`)
	told()

	fmt.Fprintln(out, "2. A late duplicate gets the same answer, and nothing is sent below:")
	before := len(api.Requests())
	again := call("anna", "k-1", `{"charge":"ch_1","amount":500}`)
	fmt.Fprintf(out, "   byte for byte: %t, requests below: %d\n", again == first, len(api.Requests())-before)
	told()

	fmt.Fprintln(out, "3. The same key with another amount is refused, and nothing is sent:")
	call("anna", "k-1", `{"charge":"ch_1","amount":900}`)
	told()

	fmt.Fprintln(out, "4. Another tenant's k-1 is another action:")
	call("ben", "k-1", `{"charge":"ch_2","amount":500}`)
	told()
	return nil
}
