package mutant

import (
	"strings"
	"testing"

	"github.com/oncehttp/oncehttp/torture/judge"
)

func TestEveryMutantSaysWhatItIsAndWhoMustCatchIt(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range Table() {
		if m.Name == "" || seen[m.Name] {
			t.Errorf("mutant %q: its name is empty or taken", m.Name)
		}
		seen[m.Name] = true
		if m.Fault == "" || m.Promise == "" || len(m.Edits) == 0 {
			t.Errorf("mutant %s lacks its fault, its promise or its edits", m.Name)
		}
		if strings.ContainsAny(m.Fault+m.Promise, "|\n") {
			t.Errorf("mutant %s: a bar or a line's end breaks the table", m.Name)
		}
		if len(m.By) == 0 {
			t.Errorf("mutant %s: nothing is named that must catch it", m.Name)
		}
	}
}

func TestEveryFindingIsNamedAsItsRule(t *testing.T) {
	t.Parallel()
	rules := map[string]bool{"no credential is in the journal": true} // the simulation's own
	for _, rule := range judge.Rules {
		rules[rule.Name] = true
	}
	for _, m := range Table() {
		for _, by := range m.By {
			if by.Seeds > 0 && !rules[by.Finding] {
				t.Errorf("mutant %s: no rule is named %q", m.Name, by.Finding)
			}
		}
	}
}

func TestOnlyTheNamedTestCatchesAMutant(t *testing.T) {
	t.Parallel()
	by := Catcher{Test: "TestIt", Finding: "two effects"}
	for output, want := range map[string]bool{
		"--- FAIL: TestIt (0.01s)\n    judge: two effects\n":            true,
		"--- FAIL: TestIt (0.01s)\n    judge: something else\n":         false,
		"--- FAIL: TestItself (0.01s)\n    two effects\n":               false,
		"panic: somewhere\ntwo effects, and TestIt was running\nFAIL\n": false,
	} {
		if by.caughtBy(output) != want {
			t.Errorf("caught is %t for:\n%s", !want, output)
		}
	}
}

func TestAnEditThatFindsNoPlaceOrTwoIsAnError(t *testing.T) {
	t.Parallel()
	read := func(string) ([]byte, error) { return []byte("one two two"), nil }
	for old, ok := range map[string]bool{"one": true, "two": false, "three": false} {
		_, err := Mutant{Edits: []Edit{{"f.go", old, "x"}}}.Apply(read)
		if ok != (err == nil) {
			t.Errorf("%q: %v", old, err)
		}
	}
}
