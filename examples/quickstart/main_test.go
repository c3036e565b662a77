package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheQuickstartShowsTwoChargesAndOneAndAnHonestPending(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(&out))
	text := out.String()
	require.True(t, strings.HasSuffix(text, "\ncharges: plain retry 2, oncehttp 1\n"), text)
	require.Contains(t, text, "Confirmed after 2 attempts, status 201\n   charges in the API's ledger: 1\n")
	require.Contains(t, text, "the outcome is unknown after 1 attempt; it may have taken effect (Unknown)")
	require.Contains(t, text, "It was sent without a key, so it is not sent again by itself: look the effect up, then Resolve.")
	require.NotContains(t, text, "failed")
}
