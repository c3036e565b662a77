package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheGuideAndTheTestsNameTheSameLibraries holds docs/sdks.md to go.mod and to
// the files here: every library a row with its version, every row a recipe that
// imports it, every recipe a row.
func TestTheGuideAndTheTestsNameTheSameLibraries(t *testing.T) {
	t.Parallel()
	parts := map[string]bool{ // of a library above, or no library
		"github.com/aws/aws-sdk-go-v2":    true,
		"github.com/googleapis/gax-go/v2": true,
		"google.golang.org/api":           true,
		"github.com/oncehttp/oncehttp":    true,
		"github.com/stretchr/testify":     true,
		"github.com/stripe/stripe-mock":   true,
	}
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	required := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)(.*)$`).FindAllStringSubmatch(string(mod), -1) {
		if !parts[line[1]] && !strings.Contains(line[3], "// indirect") {
			required[line[1]] = line[2]
		}
	}
	require.Greater(t, len(required), 8)

	guide, err := os.ReadFile("../docs/sdks.md")
	require.NoError(t, err)
	told, recipes := map[string]string{}, map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\S+)` \\| (\\S+) \\| \\[(\\S+)\\]").FindAllStringSubmatch(string(guide), -1) {
		told[row[1]], recipes[row[3]] = row[2], true
		test, err := os.ReadFile(row[3])
		if assert.NoError(t, err) {
			assert.True(t, strings.Contains(string(test), `"`+row[1]), "%s does not import %s", row[3], row[1])
		}
	}
	require.Equal(t, required, told)

	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		assert.True(t, recipes[file] || file == "setup_test.go" || file == "docs_test.go", "docs/sdks.md has no row for %s", file)
	}
}
