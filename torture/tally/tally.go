// Package tally is how the parts of the torture run tell what they have done:
// lines of name=count fields on standard output, each line what was added since
// the line before.
package tally

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Prefix begins every line; what a test binary prints beside is not for us.
const Prefix = "tally: "

// The counts that are broken promises. A run that has one of them has failed.
const (
	// Duplicates: an action had more effects than its contract allows.
	Duplicates = "duplicates"
	// Lost: something acknowledged is not there any more, or not listed.
	Lost = "lost"
	// Lies: any other broken promise: what was told does not agree with what
	// happened, or was sent when or as it must not be.
	Lies = "lies"
	// Panics: a panic, a deadlock, or a process that ended by itself.
	Panics = "panics"
)

// Broken are the counts that must be zero, in the order of the summary.
var Broken = []string{Duplicates, Lost, Lies, Panics}

// A Tally counts by name. The zero value of a count is not printed.
type Tally map[string]int64

// Add adds every count of another tally.
func (t Tally) Add(other Tally) {
	for name, n := range other {
		t[name] += n
	}
}

// OK says that nothing is broken.
func (t Tally) OK() bool {
	return !slices.ContainsFunc(Broken, func(name string) bool { return t[name] != 0 })
}

// Print writes the counts as one line, in the order of their names.
func (t Tally) Print(w io.Writer) error {
	names := make([]string, 0, len(t))
	for name, n := range t {
		if n != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	line := strings.Builder{}
	line.WriteString(strings.TrimSuffix(Prefix, " "))
	for _, name := range names {
		fmt.Fprintf(&line, " %s=%d", name, t[name])
	}
	line.WriteByte('\n')
	_, err := io.WriteString(w, line.String())
	return err
}

// Parse reads a line that Print wrote; ok is false for any other line.
func Parse(line string) (t Tally, ok bool) {
	line, ok = strings.CutPrefix(strings.TrimSuffix(line, "\n"), strings.TrimSuffix(Prefix, " "))
	if !ok {
		return nil, false
	}
	t = Tally{}
	for _, field := range strings.Fields(line) {
		name, text, found := strings.Cut(field, "=")
		n, err := strconv.ParseInt(text, 10, 64)
		if !found || err != nil {
			return nil, false
		}
		t[name] = n
	}
	return t, true
}
