package oncehttp_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateAPI = flag.Bool("update-api", false, "write testdata/api.txt anew")

const modulePath = "github.com/oncehttp/oncehttp"

// TestThePublicAPIIsTheOneWrittenDown keeps what others compile against from
// changing unseen: one line for each declaration, as the type checker sees it.
func TestThePublicAPIIsTheOneWrittenDown(t *testing.T) {
	t.Parallel()
	const golden = "testdata/api.txt"
	deps := newDependencies(t)
	var lines []string
	for _, dir := range []string{".", "contracts", "journaltest", "mockserver", "mockserver/servertest"} {
		lines = append(lines, publicAPI(deps.source(t, dir))...)
	}
	if *updateAPI {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(golden)
	require.NoError(t, err)
	written := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var differs []string
	for _, line := range written {
		if !slices.Contains(lines, line) {
			differs = append(differs, "- "+line)
		}
	}
	for _, line := range lines {
		if !slices.Contains(written, line) {
			differs = append(differs, "+ "+line)
		}
	}
	require.Empty(t, strings.Join(differs, "\n"), "the public API is not the one in %s. A line that goes or changes breaks somebody's build; one that comes must be kept. "+
		"If that is meant: go test -run ThePublicAPI . -update-api, and tell of it in CHANGELOG.md", golden)
}

func TestAChangeOfTheAPIIsSeen(t *testing.T) {
	t.Parallel()
	deps := newDependencies(t)
	api := func(source string) []string {
		pkg, err := deps.check("example.com/p", map[string]string{"p.go": source})
		require.NoError(t, err)
		return publicAPI(pkg)
	}
	assert.Equal(t, []string{
		"p const Fast Speed = 1",
		"p const Slow Speed = 0",
		"p func Go(ctx context.Context, at ...Speed) (n int, err error)",
		"p method (*Car) Brake()",
		"p method (Car) Start(time.Duration) error",
		"p type Any = any",
		"p type Car struct",
		"p type Car struct, Wheels int",
		"p type Car struct, ~unexported",
		"p type Driver interface",
		"p type Driver interface, Drive(*Car)",
		"p type List[T any] []T",
		"p type Speed uint8",
		"p var ErrStuck error",
	}, api(`package p
import ("context"; "errors"; "time")
type Speed uint8
const (Slow Speed = iota; Fast)
const hidden = 1
var ErrStuck = errors.New("stuck")
type Car struct { Wheels int; oil int }
func (Car) Start(time.Duration) error { return nil }
func (*Car) Brake() {}
func (*Car) leak() {}
type Driver interface { Drive(*Car) }
type List[T any] []T
type Any = any
func Go(ctx context.Context, at ...Speed) (n int, err error) { return }
func stop() {}
`))
}

// publicAPI is what a package declares for others, a line each, sorted.
func publicAPI(pkg *types.Package) []string {
	where := strings.TrimPrefix(strings.TrimPrefix(pkg.Path(), modulePath), "/")
	if where == "" || !strings.HasPrefix(pkg.Path(), modulePath) {
		where = pkg.Name()
	}
	// Names of this package stand alone, others behind their package's name.
	name := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, where+" "+fmt.Sprintf(format, args...)) }
	signature := func(f *types.Func) string {
		return f.Name() + strings.TrimPrefix(types.TypeString(f.Type(), name), "func")
	}
	for _, id := range pkg.Scope().Names() {
		if !token.IsExported(id) {
			continue
		}
		switch o := pkg.Scope().Lookup(id).(type) {
		case *types.Const:
			add("const %s %s = %s", id, types.TypeString(o.Type(), name), o.Val().ExactString())
		case *types.Var:
			add("var %s %s", id, types.TypeString(o.Type(), name))
		case *types.Func:
			add("func %s", signature(o))
		case *types.TypeName:
			if o.IsAlias() {
				add("type %s = %s", id, types.TypeString(types.Unalias(o.Type()), name))
				continue
			}
			addType(add, o.Type().(*types.Named), name)
		}
	}
	slices.Sort(lines)
	return lines
}

func addType(add func(string, ...any), named *types.Named, name types.Qualifier) {
	declared := named.Obj().Name()
	if params := named.TypeParams(); params.Len() > 0 {
		declared = types.TypeString(named, name)
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		add("type %s struct", declared)
		unexported := false
		for f := range u.Fields() {
			if !f.Exported() {
				unexported = true
				continue
			}
			add("type %s struct, %s %s", declared, f.Name(), types.TypeString(f.Type(), name))
		}
		if unexported {
			add("type %s struct, ~unexported", declared)
		}
	case *types.Interface:
		add("type %s interface", declared)
		for m := range u.Methods() {
			add("type %s interface, %s%s", declared, m.Name(), strings.TrimPrefix(types.TypeString(m.Type(), name), "func"))
		}
	default:
		add("type %s %s", declared, types.TypeString(u, name))
	}
	for m := range named.Methods() {
		if m.Exported() {
			receiver := types.TypeString(m.Signature().Recv().Type(), name)
			add("method (%s) %s%s", receiver, m.Name(), strings.TrimPrefix(types.TypeString(m.Type(), name), "func"))
		}
	}
}

// dependencies type-checks source against this module and all it is built
// from, as the go command has compiled them.
type dependencies struct {
	fset     *token.FileSet
	importer types.Importer
}

func newDependencies(t *testing.T) dependencies {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...")
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	require.NoError(t, err, "go list: %s", &complaint)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		importPath, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[importPath] = file
	}
	fset := token.NewFileSet()
	return dependencies{fset, importer.ForCompiler(fset, "gc", func(importPath string) (io.ReadCloser, error) {
		if files[importPath] == "" {
			return nil, fmt.Errorf("%s is no dependency of this module", importPath)
		}
		return os.Open(files[importPath])
	})}
}

// source checks the package in a directory of this module.
func (d dependencies) source(t *testing.T, dir string) *types.Package {
	t.Helper()
	listed, err := build.ImportDir(dir, 0)
	require.NoError(t, err)
	texts := map[string]string{}
	for _, name := range listed.GoFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		texts[filepath.Join(dir, name)] = string(text)
	}
	pkg, err := d.check(path.Join(modulePath, filepath.ToSlash(dir)), texts)
	require.NoError(t, err)
	return pkg
}

// check type-checks the files of one package. What is declared and not used is
// no error here.
func (d dependencies) check(importPath string, texts map[string]string) (*types.Package, error) {
	var files []*ast.File
	var errs []error
	for name, text := range texts {
		file, err := parser.ParseFile(d.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{Importer: d.importer, Error: func(err error) {
		var problem types.Error
		if !errors.As(err, &problem) || !problem.Soft {
			errs = append(errs, err)
		}
	}}
	pkg, _ := config.Check(importPath, d.fset, files, nil)
	return pkg, errors.Join(errs...)
}
