package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if isChild() {
		os.Exit(runChild())
	}
	os.Exit(m.Run())
}

// skipped are comparisons that a build cannot run.
var skipped = map[string]bool{}

// Of the others it is only asked that each was measured, or says why not: one
// that gets better breaks nothing here.
func TestEveryComparisonHasARowForEveryClient(t *testing.T) {
	for _, c := range comparisons() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if skipped[c.name] {
				t.Skip("the other clients race in it")
			}
			rows := c.run(short)
			require.NotEmpty(t, rows)
			mine := false
			for _, r := range rows {
				mine = mine || strings.HasPrefix(r.peer, ourName)
				require.NotEmpty(t, r.cells, r.peer)
				if !strings.HasPrefix(r.cells[0], "n/a: ") {
					assert.Len(t, r.cells, len(c.heads), r.peer)
				}
				for i, cell := range r.cells {
					assert.NotEmpty(t, cell, "%s, %s", r.peer, c.heads[i])
				}
			}
			assert.True(t, mine, "oncehttp is not in it")
			var text strings.Builder
			c.print(&text, rows)
			assert.Equal(t, len(rows)+2, strings.Count(text.String(), "\n| "), "lines of the table")
		})
	}
}
