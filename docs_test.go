package oncehttp_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docsPrelude declares what the snippets of docs/ take for granted.
const docsPrelude = `package docs

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/contracts"
	"github.com/oncehttp/oncehttp/mockserver/servertest"
)

var (
	ctx         context.Context
	client      *oncehttp.Client
	httpClient  *http.Client
	req         *http.Request
	pending     *oncehttp.PendingError
	logger      *slog.Logger
	secret, key []byte
	unsettled   atomic.Int64
	order       struct{ CreatedAt time.Time }
	tokens      interface {
		Get(ctx context.Context, stale bool) (string, error)
	}
)

func page(string)
func tenantOf(context.Context) string
func findCharge(ctx context.Context, order string) (id string, err error)
func sandboxCharge(n int) *http.Request
func chargesInSandbox() int
`

func docsPages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	pages := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		pages[name] = string(text)
	}
	return pages
}

func TestTheGuidesShowCodeThatCompiles(t *testing.T) {
	t.Parallel()
	deps := newDependencies(t)
	snippet := regexp.MustCompile("(?s)```go\n(.*?)```")
	for name, text := range docsPages(t) {
		for _, found := range snippet.FindAllStringSubmatchIndex(text, -1) {
			where := fmt.Sprintf("\n//line %s:%d\n", filepath.Base(name), 1+strings.Count(text[:found[2]], "\n"))
			code := where + text[found[2]:found[3]]
			if strings.HasPrefix(text[found[2]:], "package ") {
				_, err := deps.check("main", map[string]string{name: code})
				assert.NoError(t, err)
				continue
			}
			// Declarations stand alone, statements in a function.
			if _, err := parser.ParseFile(token.NewFileSet(), "", "package docs"+code, 0); err != nil {
				code = "func _() {" + code + "}"
			}
			_, err := deps.check("docs", map[string]string{name: docsPrelude + code})
			assert.NoError(t, err)
		}
	}
}

func TestTheProgramOfTheFirstGuidePrintsWhatItSays(t *testing.T) {
	t.Parallel()
	text := docsPages(t)["docs/start.md"]
	_, rest, _ := strings.Cut(text, "```go\n")
	program, rest, _ := strings.Cut(rest, "```")
	_, rest, found := strings.Cut(rest, "```\n")
	require.True(t, found, "docs/start.md has no program with its output")
	want, _, _ := strings.Cut(rest, "```")

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "try"), filepath.Join(dir, "main.go")).CombinedOutput()
	require.NoError(t, err, "%s", built)
	run := func() string {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "try"))
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Equal(t, want, run())
	again := run()
	require.True(t, strings.HasSuffix(again, "\ncharges made: 0\n"), again)
}

func TestTheGuidesLeadToWhatIsThere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	example := regexp.MustCompile(`go run \./(\S+)`)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	pages := docsPages(t)
	pages["README.md"] = string(readme)
	for name, text := range pages {
		for _, to := range link.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(to[1], "://") {
				_, err := os.Stat(filepath.Join(filepath.Dir(name), to[1]))
				assert.NoError(t, err, "a link of %s", name)
			}
		}
		for _, run := range example.FindAllStringSubmatch(text, -1) {
			assert.FileExists(t, filepath.Join(strings.TrimRight(run[1], "`.,"), "main.go"), "a command of %s", name)
		}
	}
	for name := range pages {
		if name != "README.md" && name != "docs/README.md" {
			assert.True(t, strings.Contains(pages["docs/README.md"], "("+filepath.Base(name)+")"), "docs/README.md does not list %s", name)
		}
	}
	assert.True(t, strings.Contains(string(readme), "(docs/README.md)"), "README.md does not lead to docs/README.md")
}

// TestTheGuidesNameEveryEvent holds docs/events.md and docs/pending.md to the
// source: kinds and reasons, and the attributes of a line.
func TestTheGuidesNameEveryEvent(t *testing.T) {
	t.Parallel()
	pages := docsPages(t)
	lines := publicAPI(newDependencies(t).source(t, "."))
	named := 0
	for _, line := range lines {
		var name, value string
		page := "docs/events.md"
		if n, _ := fmt.Sscanf(line, "oncehttp const %s EventKind = %q", &name, &value); n != 2 {
			page = "docs/pending.md"
			if n, _ := fmt.Sscanf(line, "oncehttp const %s Reason = %q", &name, &value); n != 2 || value == "Refused" {
				continue // Refused is never pending
			}
		}
		named++
		assert.True(t, strings.Contains(pages[page], "| `"+value+"` |"), "%s says nothing of %s", page, value)
	}
	require.Greater(t, named, 20)

	source, err := os.ReadFile("event.go")
	require.NoError(t, err)
	attributes := regexp.MustCompile(`slog\.\w+\("(\w+)"`).FindAllStringSubmatch(string(source), -1)
	require.Greater(t, len(attributes), 8)
	for _, a := range attributes {
		assert.True(t, strings.Contains(pages["docs/events.md"], "\n| `"+a[1]+"` | `"), "docs/events.md says nothing of the attribute %s", a[1])
	}
}
