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

// What net/http does behind a caller's back, by number: 24 traps. The tests
// that hold one say so in a comment, as // T3.
const traps = 24

// unnamed are those that no test names yet.
var unnamed = []int{1, 6, 12, 13, 15, 17, 19, 21, 23}

func TestEveryTrapHasATest(t *testing.T) {
	t.Parallel()
	comment := regexp.MustCompile(`//.*`)
	number := regexp.MustCompile(`\bT([0-9]{1,2})\b`)
	held := map[int]bool{}
	for _, pattern := range []string{"../*_test.go", "*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if file == "traps_test.go" {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for line := range strings.Lines(string(text)) {
				for _, m := range number.FindAllStringSubmatch(comment.FindString(line), -1) {
					n, err := strconv.Atoi(m[1])
					require.NoError(t, err)
					held[n] = true
				}
			}
		}
	}
	var missing []int
	for n := 1; n <= traps; n++ {
		if !held[n] {
			missing = append(missing, n)
		}
	}
	assert.Subset(t, unnamed, missing, "no test says that it holds these")
}
