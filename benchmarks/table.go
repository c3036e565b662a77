package main

import (
	"fmt"
	"io"
	"strings"
)

// A comparison is one claim about clients that retry, and how it is measured.
type comparison struct {
	name  string // one word, for -only
	claim string // what oncehttp is held to
	how   string // what was done, for the reader of the table
	heads []string
	run   func(scale) []row
}

// A row is what one peer did.
type row struct {
	peer  string
	cells []string
}

// scale says how long a measurement goes on.
type scale int

const (
	short scale = iota // for go test
	usual
	long
)

// print writes the comparison as a Markdown table. A peer that has fewer cells
// than there are heads could not play; its last cell says why.
func (c comparison) print(w io.Writer, rows []row) {
	fmt.Fprintf(w, "## %s\n\n%s\n\n%s\n\n", c.name, c.claim, c.how)
	line := func(cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	line(append([]string{"client"}, c.heads...)...)
	line(append([]string{"---"}, strings.Split(strings.Repeat("---:,", len(c.heads)-1)+"---:", ",")...)...)
	for _, r := range rows {
		for len(r.cells) < len(c.heads) {
			r.cells = append(r.cells, "")
		}
		line(append([]string{r.peer}, r.cells...)...)
	}
	fmt.Fprintln(w)
}
