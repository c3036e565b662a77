package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if os.Getenv(envJournal) != "" {
		main() // the child that run starts is this test binary
		return
	}
	os.Exit(m.Run())
}

func TestAKilledProcessLeavesAnActionThatTheNextOneConfirms(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(&out))
	require.Equal(t, `first process: signal: killed, with the card charged and no answer seen

second process finds in the journal:
  action "order-42/charge" is pending: the outcome is unknown after 1 attempt; it may have taken effect (Unknown)

it resumes, with the same key and the same bytes:
  order-42/charge: Confirmed after 2 attempts
  the API's own answer, status 201, replayed: true

the same action once more: Confirmed, from the journal: true
effects: 1
`, out.String())
}
