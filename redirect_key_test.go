package oncehttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// http.Client names the URL that it comes from, key and all, to wherever a 303
// leads.
func TestNoKeyIsToldToWhereA303Leads(t *testing.T) {
	t.Parallel()
	for _, c := range carrierCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- fmt.Sprint(r.RequestURI, r.Header) }))
			t.Cleanup(other.Close)
			srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusSeeOther))
			t.Cleanup(srv.Close)
			c.contract.Answers = append(c.contract.Answers, oncehttp.Answer{Status: []int{http.StatusSeeOther}, Verdict: oncehttp.VerdictDone})
			client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}})
			resp, err := client.HTTPClient().Do(c.request(t, srv.URL, c.ownURI, c.ownBody))
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.NotContains(t, <-got, "own-key-1")
		})
	}
}
