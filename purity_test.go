package oncehttp

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pureFiles take time, chance and delays as arguments. gate.go may be missing.
var pureFiles = []string{
	"intent.go", "command.go", "record.go", "protection.go", "classify.go", "owners.go", "contract.go", "match.go", "host.go", "path.go", "answer.go", "key.go", "window.go", "inquiry.go", "listing.go", "operation.go", "graphql.go",
	"pointer.go", "errorcode.go", "backoff.go", "retryafter.go", "fingerprint.go", "canonical.go", "content.go", "differences.go",
	"carrier.go", "carrier_json.go", "carrier_form.go", "carrier_xml.go", "carrier_signed.go", "companion.go", "gate.go", "answerxml.go", "hint.go", "compared.go", "pin.go", "restraint.go",
}

// pureNames are what pure code may use of other packages; "*" is everything. A
// trailing * is any name with that prefix.
var pureNames = map[string]string{
	"bytes": "*", "cmp": "*", "crypto/hmac": "*", "crypto/sha256": "*", "encoding/base64": "*", "encoding/binary": "*",
	"encoding/hex": "*", "encoding/json": "*", "encoding/xml": "*", "errors": "*", "hash": "*", "iter": "*", "maps": "*", "math": "*", "math/bits": "*",
	"mime": "*", "net/netip": "*", "net/url": "*", "slices": "*", "sort": "*", "strconv": "*", "strings": "*",
	"unicode": "*", "unicode/utf16": "*", "unicode/utf8": "*",
	"io":                             "EOF ReadAll Reader",
	"fmt":                            "Errorf Sprint Sprintf Append Appendf Stringer",
	"net/textproto":                  "TrimString CanonicalMIMEHeaderKey",
	"net/http":                       "Header Request Method* Status* CanonicalHeaderKey TimeFormat ParseTime",
	"time":                           "Time Duration Month Nanosecond Microsecond Millisecond Second Minute Hour UTC Date Parse ParseDuration Unix UnixMicro ANSIC DateOnly RFC*",
	"github.com/google/uuid":         "UUID Parse Nil NewSHA1",
	"github.com/cenkalti/backoff/v4": "BackOff Stop",
}

func TestThePureFilesAskNothingOfTheWorld(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	texts := map[string]string{}
	for _, name := range pkg.GoFiles {
		texts[name] = ""
	}
	fset, files := parseFiles(t, texts)
	for _, name := range pureFiles {
		require.True(t, files[name] != nil || name == "gate.go", "%s is gone: take it off the list", name)
	}
	assert.Empty(t, impurities(fset, files))
}

func TestABreachOfPurityIsFound(t *testing.T) {
	t.Parallel()
	const shell = `package p
		import ("os"; "time")
		var count int
		var now = time.Now
		type journal interface{ Get() }
		type clock struct{}
		func (clock) read() time.Time { return time.Now() }
		func touch() { os.Remove("x") }
		func far() { near() }
		func near() { touch() }
		func plain(a int) int { return a + 1 }`
	for _, c := range []struct{ breach, pure string }{
		{"time.Now", `import "time"; func f() { _ = time.Now() }`},
		{"time.Now", `func f(c clock) { c.read() }`},
		{"time.Now", `func f() { now() }`},
		{"time.Since", `import clock "time"; func f(a clock.Time) { _ = clock.Since(a) }`},
		{"time.Until", `import "time"; var f = time.Until`},
		{"time.After", `import "time"; func f() { time.After(1) }`},
		{"time.NewTimer", `import "time"; func f() { time.NewTimer(1) }`},
		{"time.Sleep", `import "time"; func f() { time.Sleep(1) }`},
		{"time.Local", `import "time"; func f(a time.Time) { a.In(time.Local) }`},
		{"math/rand/v2.Float64", `import "math/rand/v2"; func f() { rand.Float64() }`},
		{"crypto/rand.Text", `import "crypto/rand"; func f() { rand.Text() }`},
		{"github.com/google/uuid.New", `import "github.com/google/uuid"; func f() { uuid.New() }`},
		{"os.ReadFile", `import "os"; func f() { os.ReadFile("x") }`},
		{"net.Dial", `import "net"; func f() { net.Dial("tcp", "x") }`},
		{"net/http.Get", `import "net/http"; func f() { http.Get("x") }`},
		{"net/http.DefaultClient", `import "net/http"; func f() { _ = http.DefaultClient }`},
		{"fmt.Println", `import "fmt"; func f() { fmt.Println() }`},
		{"sync.Mutex", `import "sync"; var f sync.Mutex`},
		{"context.Background", `import "context"; func f() { context.Background() }`},
		{"import of nothing by name", `import . "os"; func f() { Exit(1) }`},
		{"a goroutine", `func f() { go f() }`},
		{"a channel", `func f(c chan int) {}`},
		{"a select", `func f() { select {} }`},
		{"a send", `func f[T any](c T) { c <- 1 }`},
		{"a receive", `func f[T any](c T) { <-c }`},
		{"print", `func f() { println("x") }`},
		{"a write to a global", `func f() { count++ }`},
		{"os.Remove", `func f() { far() }`},
		{"a call of Get through an interface", `func f(j journal) { j.Get() }`},
	} {
		found := impurities(parseFiles(t, map[string]string{"shell.go": shell, "gate.go": "package p; " + c.pure}))
		if assert.Len(t, found, 1, c.pure) {
			assert.Contains(t, found[0], c.breach)
		}
	}
}

func TestPureCodeMayUseWhatIsPureElsewhere(t *testing.T) {
	t.Parallel()
	assert.Empty(t, impurities(parseFiles(t, map[string]string{
		"gate.go":  `package p; import ("time"; "net/http"); func f(a time.Time, r *http.Request) bool { return plain(1) == 2 && a.After(a) && r.Method == http.MethodPut }`,
		"shell.go": `package p; import "os"; func plain(a int) int { return a + 1 }; func unused() { os.Exit(1) }`,
	})))
}

// parseFiles reads files: their text by name, or from disk where that is empty.
func parseFiles(t *testing.T, texts map[string]string) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	for name, text := range texts {
		var src any
		if text != "" {
			src = text
		}
		var err error
		files[name], err = parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		require.NoError(t, err)
	}
	return fset, files
}

// impurities are the breaches in the pure files, and in whatever function or
// variable of the package they use, however far.
func impurities(fset *token.FileSet, files map[string]*ast.File) []string {
	var all []*ast.File
	for _, f := range files {
		all = append(all, f)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	// Other packages are not loaded, so only what this one declares is resolved.
	conf := types.Config{Importer: nameOnly{}, Error: func(error) {}}
	pkg, _ := conf.Check("p", fset, all, info)

	declared := map[types.Object]ast.Node{}
	for _, f := range all {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declared[info.Defs[d.Name]] = d
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.ValueSpec); ok {
						for _, name := range s.Names {
							declared[info.Defs[name]] = s
						}
					}
				}
			}
		}
	}
	var breaches []string
	seen := map[ast.Node]bool{}
	var check func(n ast.Node)
	inPure := func(n ast.Node) bool { return slices.Contains(pureFiles, fset.File(n.Pos()).Name()) }
	check = func(root ast.Node) {
		breach := func(n ast.Node, format string, args ...any) {
			p := fset.Position(n.Pos())
			breaches = append(breaches, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
		}
		global := func(e ast.Expr) bool {
			id, ok := e.(*ast.Ident)
			v, isVar := info.Uses[id].(*types.Var)
			return ok && isVar && v.Parent() == pkg.Scope()
		}
		ast.Inspect(root, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				if n.Name != nil && (n.Name.Name == "." || n.Name.Name == "_") {
					breach(n, "import of nothing by name")
				}
			case *ast.GoStmt:
				breach(n, "a goroutine")
			case *ast.SelectStmt:
				breach(n, "a select")
			case *ast.ChanType:
				breach(n, "a channel")
			case *ast.SendStmt:
				breach(n, "a send")
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					breach(n, "a receive")
				}
			case *ast.IncDecStmt:
				if global(n.X) {
					breach(n, "a write to a global")
				}
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, global) {
					breach(n, "a write to a global")
				}
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok {
					if imported, ok := info.Uses[id].(*types.PkgName); ok {
						if from := imported.Imported().Path(); !mayUse(pureNames[from], n.Sel.Name) {
							breach(n, "%s.%s", from, n.Sel.Name)
						}
					}
				}
			case *ast.Ident:
				switch obj := info.Uses[n].(type) {
				case *types.Builtin:
					if strings.HasPrefix(obj.Name(), "print") {
						breach(n, "print")
					}
				case *types.Func:
					decl := declared[obj.Origin()]
					if decl == nil && obj.Pkg() == pkg {
						breach(n, "a call of %s through an interface", obj.Name())
					}
					if decl != nil && !seen[decl] && !inPure(decl) {
						seen[decl] = true
						check(decl)
					}
				case *types.Var:
					if decl := declared[obj]; decl != nil && !seen[decl] && !inPure(decl) {
						seen[decl] = true
						check(decl)
					}
				}
			}
			return true
		})
	}
	for _, name := range pureFiles {
		if files[name] != nil {
			check(files[name])
		}
	}
	slices.Sort(breaches)
	return breaches
}

func mayUse(names, name string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(n string) bool {
		prefix, open := strings.CutSuffix(n, "*")
		return n == name || open && strings.HasPrefix(name, prefix)
	})
}

// nameOnly imports packages without what is in them.
type nameOnly struct{}

func (nameOnly) Import(from string) (*types.Package, error) {
	name := path.Base(from)
	if _, err := strconv.Atoi(strings.TrimPrefix(name, "v")); err == nil {
		name = path.Base(path.Dir(from)) // a major version
	}
	pkg := types.NewPackage(from, name)
	pkg.MarkComplete()
	return pkg, nil
}
