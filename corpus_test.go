package oncehttp

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

// fuzzTargets are the fuzz targets of this module, by the directory of their
// kept corpus.
func fuzzTargets(t *testing.T) map[string]bool {
	t.Helper()
	targets := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); d.IsDir() && path != "." && err == nil {
			return filepath.SkipDir // another module
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				targets[filepath.Join(filepath.Dir(path), "testdata", "fuzz", f.Name.Name)] = true
			}
		}
		return nil
	}))
	return targets
}

func TestEveryFuzzTargetHasAKeptCorpus(t *testing.T) {
	t.Parallel()
	targets := fuzzTargets(t)
	assert.NotEmpty(t, targets)
	assert.LessOrEqual(t, len(targets), 20, "they share a minute of CI")
	for corpus := range targets {
		kept, err := os.ReadDir(corpus)
		if !assert.NoError(t, err) {
			continue
		}
		assert.GreaterOrEqual(t, len(kept), 10, corpus)
		assert.LessOrEqual(t, len(kept), 60, "%s: plain go test runs them all", corpus)
		for _, file := range kept {
			info, err := file.Info()
			require.NoError(t, err)
			assert.LessOrEqual(t, info.Size(), int64(24<<10), "%s/%s", corpus, file.Name())
		}
	}
	for _, pattern := range []string{"testdata/fuzz/*", "*/testdata/fuzz/*"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, corpus := range found {
			assert.True(t, targets[corpus], "%s is the corpus of no target", corpus)
		}
	}
}
