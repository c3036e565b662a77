package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsPendingIsListedAndSettledByWordOfMouth(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(&out))
	require.Equal(t, `1. What is not settled, oldest first:
   | action "order-41/charge" is pending: the outcome is unknown after 2 attempts; it may have taken effect (Unknown)
   | Do not begin it under another name.
   | action "order-42/charge" is pending: the outcome is unknown after 1 attempt; it may have taken effect (Unknown)
   | Do not begin it under another name.
   | It was sent without a key, so it is not sent again by itself: look the effect up, then Resolve.
   | action "order-43/charge" is pending: the outcome is unknown after 1 attempt; it may have taken effect (Unknown)
   | Do not begin it under another name.
   | It was sent without a key, so it is not sent again by itself: look the effect up, then Resolve.

2. order-41 has a key, so the same request again is safe. This one is
   answered, with what the API has stored; Resume or Run would do the same:
   Confirmed after 3 attempts, replayed: true

3. The provider's webhook knows of order-42, and may say it twice:
   answered 204
   answered 204

4. Jane has looked in the dashboard, where order-43 is not:
   order-41/charge: Confirmed
   order-42/charge: Confirmed ch_1002
   order-43/charge: Rejected

pending: 0, charges in the API's ledger: 2
`, out.String())
}
