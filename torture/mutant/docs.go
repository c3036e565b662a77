package mutant

import (
	"errors"
	"fmt"
	"strings"
)

// The table stands in docs/reliability.md between these lines.
const (
	docsBegin = "<!-- mutants: begin -->\n"
	docsEnd   = "<!-- mutants: end -->\n"
)

// Markdown is the table as the docs show it.
func Markdown(mutants []Mutant) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d deliberate faults, each of which a test must catch:\n\n", len(mutants))
	b.WriteString("| Mutant | What it does wrong | What that breaks | Caught by | Seeds |\n|---|---|---|---|---|\n")
	for _, m := range mutants {
		var by []string
		seeds := ""
		for _, c := range m.By {
			text := "`" + c.Test + "`"
			if c.Part != "." {
				text = "`" + c.Part + "`"
			}
			if c.Finding != "" {
				text += ": " + c.Finding
			}
			by = append(by, text)
			if c.Seeds > 0 && seeds == "" {
				seeds = fmt.Sprint(c.Seeds)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Fault, m.Promise, strings.Join(by, "; "), seeds)
	}
	return b.String()
}

// replaceMarked puts text between the marks of a page.
func replaceMarked(page, text string) (string, error) {
	before, rest, begins := strings.Cut(page, docsBegin)
	_, after, ends := strings.Cut(rest, docsEnd)
	if !begins || !ends {
		return "", errors.New("the page lacks the marks of this table, or one of them")
	}
	return before + docsBegin + text + docsEnd + after, nil
}
