package oncehttp_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheReadmeShowsCodeThatCompiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found, "README.md has no Go code")
	code, _, _ := strings.Cut(rest, "```")
	// The same, one tab further in.
	var indented strings.Builder
	for line := range strings.Lines(code) {
		if line != "\n" {
			indented.WriteByte('\t')
		}
		indented.WriteString(line)
	}
	require.Contains(t, string(example), indented.String(), "the code of README.md is not in example_test.go")
}
