package mutant

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the table into docs/reliability.md")

func TestTheTableIsCurrent(t *testing.T) {
	path := filepath.Join(root(t), "docs", "reliability.md")
	page, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && *update {
		page, err = []byte(docsBegin+docsEnd), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := replaceMarked(string(page), Markdown(Table()))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case want == string(page):
	case *update:
		write(t, path, []byte(want))
	default:
		t.Error("docs/reliability.md lags behind the table; run: go test ./torture/mutant -run TestTheTableIsCurrent -update")
	}
}
