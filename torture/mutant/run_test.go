package mutant

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncehttp/oncehttp/torture/tally"
)

var (
	names  = flag.String("mutant.names", "", "these mutants, with comma between; each must be caught by all that is named for it")
	rotate = flag.Int("mutant.rotate", 0, "this many mutants, as mutant.names does")
	at     = flag.Uint64("mutant.at", 0, "the first of mutant.rotate, in the table's order, round and round")
	all    = flag.Bool("mutant.all", false, "every mutant, each by the first that is named for it")
)

// patience is how long a test may take to catch a mutant.
const patience = 120 * time.Second

// chosen are the mutants that the flags name.
func chosen(t *testing.T) []Mutant {
	t.Helper()
	table := Table()
	switch {
	case *all:
		for i := range table {
			table[i].By = table[i].By[:1]
		}
		return table
	case *rotate > 0:
		var some []Mutant
		for i := range uint64(min(*rotate, len(table))) {
			some = append(some, table[(*at+i)%uint64(len(table))])
		}
		return some
	case *names != "":
		var some []Mutant
		for name := range strings.SplitSeq(*names, ",") {
			i := slices.IndexFunc(table, func(m Mutant) bool { return m.Name == name })
			if i < 0 {
				t.Fatalf("there is no mutant %q", name)
			}
			some = append(some, table[i])
		}
		return some
	}
	t.Skip("builds the library once for each mutant: say which with -mutant.names, -mutant.rotate or -mutant.all")
	return nil
}

// TestMutants plants each of the chosen mutants and expects the tests that are
// named for it to fail; without a mutant they pass.
func TestMutants(t *testing.T) {
	some := chosen(t)
	dir := root(t)
	if !t.Run("none", func(t *testing.T) { control(t, dir, some) }) {
		return
	}
	for _, m := range some {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			changed, err := m.Apply(source(dir))
			if err != nil {
				t.Fatal(err)
			}
			b := builder{root: dir, out: t.TempDir(), changed: changed}
			caught := false
			for _, by := range m.By {
				caught = b.catches(t, m, by) || caught
			}
			if caught {
				tell(t, tally.Tally{"mutants": 1})
				return
			}
			tell(t, tally.Tally{"survivors": 1})
			t.Errorf("nothing that is named for mutant %s catches it (%s)\nAgain: %s", m.Name, m.Fault, again(m))
		})
	}
}

// catches says whether a catcher finds a mutant, for the reason that is named. A
// run is not quite its seed's alone, so that one that finds nothing in the stated
// seeds gets five times as many.
func (b *builder) catches(t *testing.T, m Mutant, by Catcher) bool {
	for _, seeds := range []int{by.Seeds, 5 * by.Seeds} {
		output, err := b.run(t, by.Part, "^"+by.Test+"$", seeds)
		switch {
		case err != nil && by.caughtBy(output):
			fmt.Printf("%s: caught by %s\n", m.Name, by)
			return true
		case err != nil:
			t.Logf("mutant %s makes %s fail, but not for what is wrong\n%s", m.Name, by, tail(output))
			return false
		}
		t.Logf("mutant %s survives %s in %d seeds", m.Name, by, seeds)
		if by.Seeds == 0 {
			break
		}
	}
	return false
}

func again(m Mutant) string {
	return "go test ./torture/mutant -run TestMutants -mutant.names=" + m.Name + " -v"
}

// control runs all that is named for the mutants on the library as it is.
func control(t *testing.T, dir string, mutants []Mutant) {
	tests, most := map[string][]string{}, map[string]int{}
	for _, m := range mutants {
		for _, by := range m.By {
			if !slices.Contains(tests[by.Part], by.Test) {
				tests[by.Part] = append(tests[by.Part], by.Test)
			}
			most[by.Part] = max(most[by.Part], by.Seeds)
		}
	}
	b := builder{root: dir, out: t.TempDir()}
	for part, list := range tests {
		output, err := b.run(t, part, "^("+strings.Join(list, "|")+")$", most[part])
		if err != nil {
			t.Fatalf("without any mutant, in %s: %v: nothing is proved by tests that fail anyway\n%s", part, err, tail(output))
		}
		for _, test := range list {
			if !regexp.MustCompile(`(?m)^--- PASS: ` + test + ` `).MatchString(output) {
				t.Errorf("%s does not run in %s; write the table anew", test, part)
			}
		}
	}
}

// caughtBy looks for the test that failed, and for what it had to find.
func (by Catcher) caughtBy(output string) bool {
	failed := regexp.MustCompile(`(?m)^\s*--- FAIL: ` + by.Test + ` `).MatchString(output)
	return failed && strings.Contains(output, by.Finding)
}

// A builder builds test binaries with the changed files, each part's once.
type builder struct {
	root, out string
	changed   map[string][]byte
}

// run builds the tests of a part and runs those that match. The error is that of
// the tests.
func (b *builder) run(t *testing.T, part, pattern string, seeds int) (output string, failed error) {
	t.Helper()
	binary := b.build(t, part)
	args := []string{"-test.run=" + pattern, "-test.v", "-test.timeout=" + patience.String()}
	if seeds > 0 {
		args = append(args, "-sim.seeds="+strconv.Itoa(seeds))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = filepath.Join(b.root, part)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err
}

func (b *builder) build(t *testing.T, part string) string {
	t.Helper()
	binary := filepath.Join(b.out, strings.ReplaceAll(filepath.Clean(part), string(filepath.Separator), "-")+".test")
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}
	if b.changed != nil {
		text, err := Overlay(b.root, b.out, b.changed)
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range b.changed {
			write(t, filepath.Join(b.out, name), file)
		}
		overlay := filepath.Join(b.out, "overlay.json")
		write(t, overlay, text)
		args = append(args, "-overlay="+overlay)
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./"+filepath.ToSlash(part))...)
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(cmd.Args[1:], " "), err, out)
	}
	return binary
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func tell(t *testing.T, counts tally.Tally) {
	t.Helper()
	if err := counts.Print(os.Stdout); err != nil {
		t.Fatal(err)
	}
}

// tail is the end of an output, which says why a test failed.
func tail(output string) string {
	const most = 4000
	if len(output) > most {
		output = "..." + output[len(output)-most:]
	}
	return output
}
