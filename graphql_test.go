package oncehttp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// spelled writes root fields as in "a@x@y b".
func spelled(fields []rootField) string {
	var words []string
	for _, f := range fields {
		words = append(words, strings.Join(append([]string{f.name}, f.directives...), "@"))
	}
	return strings.Join(words, " ")
}

func TestTheRootFieldsOfAGraphQLOperationAreFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ document, operation, want string }{
		"shorthand":               {"{a}", "", "a"},
		"query":                   {"query { a b }", "", "a b"},
		"mutation by its name":    {"mutation M { a }", "M", "a"},
		"subscription":            {"subscription S($a: Int = 1) { a }", "", "a"},
		"commas are blank":        {",,{,a,,b,},", "", "a b"},
		"alias":                   {"{ x: a y:b }", "", "a b"},
		"arguments":               {`{ a(x: {y: [1, "}"]}, z: $z) { b c } d }`, "", "a d"},
		"directives":              {`mutation { a(i: 1) @x(k: "1") @y { z @no } b @x }`, "", "a@x@y b@x"},
		"operation's directives":  {"query Q @no(a: {b: 1}) { a }", "", "a"},
		"default with braces":     {"query Q($a: I! = {a: {b: [1]}} @d, $b: [I!]!) { a }", "", "a"},
		"string with a brace":     {`{ a(s: "}{ \" } \\") b }`, "", "a b"},
		"empty string":            {`{ a(s: "") b }`, "", "a b"},
		"block string":            {`{ a(s: """ } " "" \""" } \""") b }`, "", ""},
		"block string, ended":     {`{ a(s: """ } " "" \""" } \\""" """) b }`, "", "a b"},
		"block string, quotes":    {`{ a(s: """x"""") b }`, "", ""},
		"comment":                 {"# {x}\n{ a # } b\r c #", "", ""},
		"comment, ended":          {"# {x}\n{ a # } b\r c #\n}", "", "a c"},
		"byte order mark":         {"\uFEFF{\uFEFFa}", "", "a"},
		"selected by name":        {"query A { a } mutation B { b }", "B", "b"},
		"no name among two":       {"query A { a } mutation B { b }", "", ""},
		"no such name":            {"query A { a }", "B", ""},
		"a name and a shorthand":  {"{ a }", "A", ""},
		"the name twice":          {"query A { a } query A { b }", "A", ""},
		"fragment":                {"{ a ...F } fragment F on Q @d { b ...G } fragment G on Q { c }", "", "a b c"},
		"fragment before":         {"fragment F on Q { b } { ...F @d a }", "", "a b"},
		"fragments in a circle":   {"{ ...F } fragment F on Q { b ...G } fragment G on Q { c ...F }", "", "b c"},
		"fragment that is not":    {"{ a ...F }", "", ""},
		"fragment not used":       {"{ a } fragment F on Q { b }", "", "a"},
		"inline fragment":         {"{ ... on M @d { a ... { b } } ... @include(if: $x) { c } d }", "", "a b c d"},
		"fragment below the root": {"{ a { ...F } } fragment F on Q { b }", "", "a"},
		"named like a keyword":    {"{ query mutation on fragment: fragment }", "", "query mutation on fragment"},
		"operation named query":   {"query query { a } query mutation { b }", "mutation", "b"},
		"description":             {`"what" query Q { a } """{""" fragment F on Q { b }`, "", "a"},
		"no fields":               {"{ }", "", ""},
		"nothing":                 {"", "A", ""},
		"only blank":              {" ,\n#", "", ""},
		"only a fragment":         {"fragment F on Q { a }", "", ""},
		"schema":                  {"type Q { a: Int }", "", ""},
		"a schema beside":         {"{ a } extend type Q { a: Int }", "", ""},
		"not closed":              {"{ a ", "", ""},
		"arguments not closed":    {"{ a(x: 1 }", "", ""},
		"text after it":           {"{ a } b", "", ""},
		"a brace too many":        {"{ a } }", "", ""},
		"string over two lines":   {"{ a(s: \"x\n\") b }", "", ""},
		"string not closed":       {`{ a(s: "x\") b }`, "", ""},
		"two dots":                {"{ a ..F } fragment F on Q { b }", "", ""},
		"not GraphQL":             {"SELECT * FROM a", "", ""},
		"other letters":           {"{ ä }", "", ""},
		"deep":                    {strings.Repeat("{a", 50_000) + strings.Repeat("}", 50_000), "", "a"},
		"deep inline fragments":   {strings.Repeat("{...", 50_000) + "{a" + strings.Repeat("}", 50_001), "", "a"},
		"the most fields":         {"{" + strings.Repeat("a ", mostGraphQL) + "}", "", strings.TrimSpace(strings.Repeat("a ", mostGraphQL))},
		"too many fields":         {"{" + strings.Repeat("a ", mostGraphQL+1) + "}", "", ""},
		"too many definitions":    {strings.Repeat("query A{a}", mostGraphQL) + "{b}", "", ""},
	} {
		fields, ok := rootFields(tt.document, tt.operation)
		assert.Equal(t, tt.want, spelled(fields), name)
		assert.Equal(t, tt.want != "", ok, name)
	}
}
