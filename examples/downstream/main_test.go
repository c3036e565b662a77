package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnIncomingKeyNamesTheOutgoingAction(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(&out))
	require.Equal(t, `1. The API below makes the refund and loses both its answers. The caller
   above is told to come again, and does:
   anna, key k-1: 503
   anna, key k-1: 201
   refunds in the API's ledger: 1

2. A late duplicate gets the same answer, and nothing is sent below:
   anna, key k-1: 201
   byte for byte: true, requests below: 0
   refunds in the API's ledger: 1

3. The same key with another amount is refused, and nothing is sent:
   anna, key k-1: 422
   refunds in the API's ledger: 1

4. Another tenant's k-1 is another action:
   ben, key k-1: 201
   refunds in the API's ledger: 2

`, out.String())
}
