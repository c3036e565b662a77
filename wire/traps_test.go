package wire

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The traps of net/http are listed in docs/net-http.md, each with a test that
// holds it. Those tests, and others, give the number in a comment, as // T3.
func TestEveryTrapHasATest(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/net-http.md")
	require.NoError(t, err)
	var tests strings.Builder
	held := map[int]bool{}
	comment, number := regexp.MustCompile(`//.*`), regexp.MustCompile(`\bT([0-9]{1,2})\b`)
	for _, pattern := range []string{"../*_test.go", "*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			tests.Write(text)
			if file == "traps_test.go" {
				continue
			}
			for line := range strings.Lines(string(text)) {
				for _, m := range number.FindAllStringSubmatch(comment.FindString(line), -1) {
					n, err := strconv.Atoi(m[1])
					require.NoError(t, err)
					held[n] = true
				}
			}
		}
	}
	rows := regexp.MustCompile("(?m)^\\| T([0-9]+) \\|.*`(Test\\w+)` \\|$").FindAllStringSubmatch(string(page), -1)
	require.Len(t, rows, 24)
	for i, row := range rows {
		assert.Equal(t, strconv.Itoa(i+1), row[1])
		assert.True(t, strings.Contains(tests.String(), "func "+row[2]+"("), "T%s is to be held by %s, which is not there", row[1], row[2])
		assert.True(t, held[i+1], "no test says that it holds T%d", i+1)
	}
}
