package oncehttp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAMismatchSaysWhereAndWhatToDoButNoValue(t *testing.T) {
	t.Parallel()
	a, b := jsonPayload(`{"amount":500,"card":"s3cr3t"}`), jsonPayload(`{"amount":501,"card":"s3cr3t2"}`)
	first := &Outcome{}
	err := error(&MismatchError{Action: "order-42/charge", Differs: differences(a, b, identity{}), Outcome: first})

	require.ErrorIs(t, err, ErrMismatch)
	assert.NotErrorIs(t, err, ErrNotFound)
	var mismatch *MismatchError
	require.ErrorAs(t, fmt.Errorf("charging: %w", err), &mismatch)
	assert.Same(t, first, mismatch.Outcome)
	assert.Equal(t, `oncehttp: action "order-42/charge" is already recorded with another payload (it differs at /amount, /card); nothing was sent:`+
		` use a new action name if this is a new operation, repeat the first payload if it is the same`, err.Error())
}

func TestAMismatchWithoutItsFirstPayloadNamesNoPlace(t *testing.T) {
	t.Parallel()
	assert.Contains(t, (&MismatchError{Action: "a"}).Error(), `action "a" is already recorded with another payload; nothing was sent`)
}

func TestAMismatchInManyPlacesNamesAFewAndCountsTheRest(t *testing.T) {
	t.Parallel()
	text := func(n int) (string, int) {
		a := jsonPayload("[" + strings.Repeat("1,", n) + "0]")
		b := jsonPayload("[" + strings.Repeat("2,", n) + "0]")
		e := &MismatchError{Action: "a", Differs: differences(a, b, identity{})}
		return e.Error(), len(e.Differs)
	}
	few, n := text(maxDiffersText)
	assert.Equal(t, 8, n)
	assert.Contains(t, few, "/7)")
	some, n := text(20)
	assert.Equal(t, 20, n)
	assert.Contains(t, some, " and 12 more)")
	many, n := text(5000)
	assert.Equal(t, 100, n)
	assert.Contains(t, many, " and at least 92 more)")
	assert.NotContains(t, many, "/100", "the first in the body are named")

	elsewhere := func(leaf string) payload {
		p := jsonPayload("[" + strings.Repeat(leaf+",", 5000) + "0]")
		p.URL += leaf
		return p
	}
	differs := differences(elsewhere("1"), elsewhere("2"), identity{})
	assert.Len(t, differs, 100)
	assert.Contains(t, differs, "url", "a name that is no pointer is never crowded out")

	full := jsonPayload("[" + strings.Repeat("1,", 5000) + "0]")
	assert.Len(t, differences(full, jsonPayload("[]"), identity{}), 100, "elements that only one side has")
}

func TestNamesInAMismatchAreShortAndPrintable(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		strings.Repeat("k", 1<<20), strings.Repeat("é", 500), strings.Repeat("~/", 500), strings.Repeat("\x1b[2J", 100),
		"line\nbreak", "\u202eright to left", "\x7f", "\ufeff",
	} {
		quoted, err := json.Marshal(key)
		require.NoError(t, err)
		nested := func(leaf string) payload {
			return jsonPayload(fmt.Sprintf(`{%s:{%s:{%s:%s}}}`, quoted, quoted, quoted, leaf))
		}
		differs := differences(nested("1"), nested("2"), identity{})
		require.Len(t, differs, 1)
		assert.Equal(t, "/", differs[0][:1])
		assert.LessOrEqual(t, len(differs[0]), maxNameBytes+len("…"))
		for _, r := range differs[0] {
			assert.NotContains(t, "\n\x1b\u202e\x7f\ufeff", string(r))
		}
	}
	long := (&MismatchError{Action: strings.Repeat("a", 1024)}).Error()
	assert.Less(t, len(long), 400)
}
