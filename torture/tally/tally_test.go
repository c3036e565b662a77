package tally

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATallyIsReadAsItWasPrinted(t *testing.T) {
	t.Parallel()
	want := Tally{"seeds": 12, Lies: 1, "kills": 0}
	var b strings.Builder
	require.NoError(t, want.Print(&b))
	assert.Equal(t, "tally: lies=1 seeds=12\n", b.String())
	got, ok := Parse(b.String())
	require.True(t, ok)
	assert.Equal(t, Tally{"seeds": 12, Lies: 1}, got)
	assert.False(t, got.OK())
	for _, line := range []string{"", "seeds=1", "ok tally: seeds=1", "tally: seeds", "tally: seeds=x"} {
		_, ok := Parse(line)
		assert.False(t, ok, line)
	}
	got, ok = Parse("tally:\n")
	assert.True(t, ok)
	assert.Empty(t, got)
	assert.True(t, got.OK())
}
