package oncehttp_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"

	"github.com/oncehttp/oncehttp"
)

// legacyAPI takes no keys, keeps metadata, and can be searched for it. It has
// made the charge, and its answer is lost.
type legacyAPI struct{ charge string }

func (api *legacyAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPost {
		body, _ := io.ReadAll(req.Body)
		api.charge = string(body)
		return nil, errors.New("connection reset by peer")
	}
	found := `{"data":[]}`
	if id := req.URL.Query().Get("metadata"); strings.Contains(api.charge, `"`+id+`"`) {
		found = `{"data":[{"id":"ch_1001"}]}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(found)), ContentLength: int64(len(found)),
	}, nil
}

// An API takes no keys, and can be asked for what was planted in the request.
func ExamplePlant() {
	api := &legacyAPI{}
	path, remove := exampleJournal()
	defer remove()
	client, err := oncehttp.Open(path, oncehttp.Config{
		Transport: api,
		Plant:     true,
		Contracts: []oncehttp.Contract{{
			Match: oncehttp.Match{Hosts: []string{"legacy.example.com"}, Path: "/charges"},
			Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"},
			Lookups: []oncehttp.Lookup{{
				URL:       "/charges?metadata={id}",
				Items:     "/data",
				Reference: "/id",
			}},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	outcome, err := client.Do("order-42/charge", exampleRequest("https://legacy.example.com/charges", `{"amount": 500}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(regexp.MustCompile(`[0-9a-f-]{36}`).ReplaceAllString(api.charge, "..."))
	fmt.Println(outcome.State, outcome.Reference, "attempts:", outcome.Attempts)
	// Output:
	// {"metadata":{"oncehttp":"..."},"amount": 500}
	// Confirmed ch_1001 attempts: 1
}
