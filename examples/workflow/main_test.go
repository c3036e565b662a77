package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAJobThatIsRunAgainBooksOnce(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(&out))
	require.Equal(t, `1. The first process. The message is sent, and the process ends before
   the answer comes:
   stay-7/book: Confirmed, from the journal: false
   stopped: true

2. The second process runs the same job from the top:
   stay-7/book: Confirmed, from the journal: true
   stay-7/tell-guest: Confirmed, from the journal: false

requests: 1 to book, 2 to send
effects: 1 booking, 1 message
`, out.String())
}
