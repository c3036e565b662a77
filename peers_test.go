package oncehttp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testNames are the tests and fuzz targets of this directory.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

func TestEveryTroubleOfAPeerIsNamedByATest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "peers.txt"))
	require.NoError(t, err)
	tests, seen := testNames(t), map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, " | ")
		require.True(t, len(columns) == 3 || len(columns) == 4, line)
		assert.False(t, seen[columns[0]], "%s is there twice", columns[0])
		seen[columns[0]] = true
		if columns[2] == "-" {
			assert.Len(t, columns, 4, "a line without a test says why: %s", line)
			continue
		}
		for _, name := range strings.Fields(columns[2]) {
			assert.True(t, tests[name], "%s: there is no %s", columns[0], name)
		}
	}
	require.Greater(t, len(seen), 60)
}

// The needed part of backoff is small, and would be easily replaced.
func TestBackoffIsNamedInFewFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var users []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, imported := range file.Imports {
			if strings.Contains(imported.Path.Value, "cenkalti/backoff") && !strings.HasSuffix(name, "_test.go") {
				users = append(users, name)
			}
		}
	}
	assert.Equal(t, []string{"backoff.go", "config.go", "send.go"}, users)
}
