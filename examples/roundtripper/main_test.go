package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALibraryThatTakesAnHTTPClientChargesOnce(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(&out))
	require.Equal(t, `1. A read passes through, named or not:
   actions begun: 0, charges in the API's ledger: 0

2. A charge whose answer is lost. The library sees one answer:
   actions begun: 1, charges in the API's ledger: 1

3. The same action again, as after a crash of the caller:
   the same charge: true
   actions begun: 1, charges in the API's ledger: 1

4. Without a name it is an action of its own, and safe from lost
   answers, but a second call is a second charge:
   actions begun: 3, charges in the API's ledger: 3

5. A definite no is an answer like any other:
   sdk: charge: the API says 402 Payment Required
   actions begun: 4, charges in the API's ledger: 3

6. An API without keys loses an answer. The library wraps our error,
   http.Client wraps it too, and errors.As still finds it:
   order-44/charge: Pending, may have executed: true
   actions begun: 5, charges in the API's ledger: 4

`, out.String())
}
