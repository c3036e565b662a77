package mutant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// root is the repository's root, where the library is.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func source(dir string) func(string) ([]byte, error) {
	return func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, file)) }
}

// TestEveryMutantApplies: each edit finds its place in the present source, and
// what comes of it compiles.
func TestEveryMutantApplies(t *testing.T) {
	t.Parallel()
	dir := root(t)
	checker := newChecker(t, dir)
	if err := checker.check(nil); err != nil {
		t.Fatalf("the library itself does not compile: %v", err)
	}
	for _, m := range Table() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			changed, err := m.Apply(source(dir))
			if err != nil {
				t.Fatal(err)
			}
			if err := checker.check(changed); err != nil {
				t.Errorf("mutant %s does not compile: %v", m.Name, err)
			}
		})
	}
}

func TestAMutantThatDoesNotCompileIsFound(t *testing.T) {
	t.Parallel()
	dir := root(t)
	m := Mutant{Name: "typo", Edits: []Edit{{"window.go", "package oncehttp\n", "package oncehttp\n\nvar typo int = \"\"\n"}}}
	changed, err := m.Apply(source(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := newChecker(t, dir).check(changed); err == nil {
		t.Error("a string went for an int")
	}
}

// A checker compiles the library as far as types go, in memory.
type checker struct {
	dir      string
	fset     *token.FileSet
	files    map[string]*ast.File
	mu       sync.Mutex // guards imports
	imported types.Importer
}

func newChecker(t *testing.T, dir string) *checker {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-json=ImportPath,Export,GoFiles,DepOnly", ".")
	list.Dir = dir
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	c := &checker{dir: dir, fset: token.NewFileSet(), files: map[string]*ast.File{}}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export string
			GoFiles            []string
			DepOnly            bool
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.DepOnly {
			continue
		}
		for _, name := range p.GoFiles {
			if c.files[name], err = parser.ParseFile(c.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.imported = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	return c
}

// Import is for many type checks at a time.
func (c *checker) Import(path string) (*types.Package, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.imported.Import(path)
}

func (c *checker) check(changed map[string][]byte) error {
	var files []*ast.File
	for name, f := range c.files {
		if text, ok := changed[name]; ok {
			var err error
			if f, err = parser.ParseFile(c.fset, filepath.Join(c.dir, name), text, parser.SkipObjectResolution); err != nil {
				return err
			}
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: c, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	_, err := conf.Check("github.com/oncehttp/oncehttp", c.fset, files, nil)
	return err
}
