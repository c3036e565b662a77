package oncehttp

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// compareReadings compares the reading of a document by its tokens with the whole
// parser, where that takes the document.
func compareReadings(t *testing.T, document, operation string) (taken bool) {
	got, ok := rootFields(document, operation)
	d, is := parseSlowly(document)
	if !is || d.twice {
		return false
	}
	var want []rootField
	set, found := d.operations[operation]
	if operation == "" {
		for _, only := range d.operations {
			set, found = only, len(d.operations) == 1
		}
	}
	found = found && d.collect(set, map[string]bool{}, &want) && len(want) > 0 && len(want) <= mostGraphQL
	require.Equal(t, found, ok, "%q of %s", operation, document)
	if found {
		order := func(a, b rootField) int { return strings.Compare(spelled([]rootField{a}), spelled([]rootField{b})) }
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		require.Equal(t, spelled(want), spelled(got), "%q of %s", operation, document)
	}
	return true
}

// gqlWords are what documents are made of.
var gqlWords = []string{
	"{", "}", "(", ")", "[", "]", ":", "@", "$", "!", "=", "...", "a", "b", "F", "G", "on", "query", "mutation", "fragment", "-1.5e3", "0",
	`"}"`, `"\"{"`, `""`, `"""}\""" " """`, "#}\n", ",", "|", "&", "\uFEFF", "\r",
}

// randomGraphQL writes documents that are GraphQL.
type randomGraphQL struct {
	*rand.Rand
	words []string
}

func (r *randomGraphQL) put(words ...string) { r.words = append(r.words, words...) }

func (r *randomGraphQL) pick(from ...string) { r.put(from[r.IntN(len(from))]) }

func (r *randomGraphQL) value(depth int) {
	switch r.IntN(4 + depth) {
	case 0, 1, 2, 3:
		r.pick("1", "-1.5e3", `"}"`, `"\"{"`, `""`, `"""}\""" " """`, "true", "ENUM")
	case 4:
		r.put("$", "a")
	case 5:
		r.put("[")
		r.value(0)
		r.value(depth - 1)
		r.put("]")
	default:
		r.put("{", "a", ":")
		r.value(depth - 1)
		r.put("}")
	}
}

func (r *randomGraphQL) extras(arguments bool) {
	if arguments && r.IntN(3) == 0 {
		r.put("(", "a", ":")
		r.value(3)
		r.put(")")
	}
	for r.IntN(4) == 0 {
		r.put("@")
		r.pick("d", "e", "on")
		r.extras(true)
	}
}

func (r *randomGraphQL) set(depth int) {
	r.put("{")
	for first := true; first || r.IntN(2) == 0; first = false {
		switch kind := r.IntN(6); {
		case kind == 0:
			r.put("...")
			r.pick("F", "G")
			r.extras(false)
		case kind == 1 && depth > 0:
			r.put("...")
			if r.IntN(2) == 0 {
				r.put("on", "T")
			}
			r.extras(false)
			r.set(depth - 1)
		default:
			if r.IntN(4) == 0 {
				r.put("x", ":")
			}
			r.pick("a", "b", "query", "fragment", "on", "__typename")
			r.extras(true)
			if depth > 0 && r.IntN(4) == 0 {
				r.set(depth - 1)
			}
		}
	}
	r.put("}")
}

func (r *randomGraphQL) document() {
	names := []string{"A", "B", "query"}[:1+r.IntN(3)]
	for _, name := range names {
		if r.IntN(2) == 0 {
			r.pick("fragment F on T", "fragment G on T @d")
			r.set(1)
		}
		if len(names) == 1 && r.IntN(2) == 0 {
			r.pick("", "query", "mutation")
		} else {
			r.pick("query", "mutation", "subscription")
			r.put(name)
			if r.IntN(2) == 0 {
				r.put("(", "$", "a", ":", "[", "T", "!", "]", "=", "{", "a", ":", "1", "}", "@", "d", ")")
			}
		}
		if r.words[len(r.words)-1] != "" {
			r.extras(false)
		}
		r.set(2)
	}
}

// TestRandomGraphQLIsReadAsAWholeParserReadsIt writes documents, and breaks half
// of them a little.
func TestRandomGraphQLIsReadAsAWholeParserReadsIt(t *testing.T) {
	t.Parallel()
	r := &randomGraphQL{Rand: seededChance(t)}
	taken := 0
	const documents = 6_000
	for n := range documents {
		r.words = nil
		r.document()
		for n%2 == 0 && r.IntN(2) == 0 {
			at, word := r.IntN(len(r.words)), gqlWords[r.IntN(len(gqlWords))]
			switch r.IntN(3) {
			case 0:
				r.words = slices.Insert(r.words, at, word)
			case 1:
				r.words = slices.Delete(r.words, at, at+1)
			default:
				r.words[at] = word
			}
			if len(r.words) == 0 {
				break
			}
		}
		for _, operation := range []string{"", "A", "query"} {
			if compareReadings(t, strings.Join(r.words, " "), operation) {
				taken++
			}
		}
	}
	t.Logf("%d of %d were GraphQL", taken, 3*documents)
	require.Greater(t, taken, documents)
}

// FuzzOperation compares the reading of a GraphQL document by its tokens with a
// whole parser, where that takes the document, and asks every kind of operation
// of its bytes.
func FuzzOperation(f *testing.F) {
	for _, document := range []string{
		"{a}", "query A($x: [I!]! = [{a: 1}] @d) @e { b: a(x: $x) @f(i: -1.5e+3) { c } } mutation B { ...F ... on M { d } ... @g { e } } fragment F on M { h }",
		`mutation { a(s: "}\"\\", t: """ } \""" """, u: "") @idempotent(key: $k) # }` + "\n b,c }", "\uFEFF{ ...A } fragment A on Q { ...B } fragment B on Q { ...A x }",
		`{"query":"{a}","operationName":null}`, "Action=RunInstances&Action=x", "{a", `"d" query Q { a }`,
	} {
		f.Add(document, "")
		f.Add(document, "A")
	}
	f.Fuzz(func(t *testing.T, document, operation string) {
		if len(document) > 1<<12 {
			t.Skip("longer ones show nothing new")
		}
		compareReadings(t, document, operation)
		var words []string
		for _, b := range []byte(document) {
			words = append(words, gqlWords[int(b)%len(gqlWords)])
		}
		compareReadings(t, strings.Join(words, " "), operation)
		body, err := json.Marshal(map[string]string{"query": document, "operationName": operation})
		require.NoError(t, err)
		if utf8.ValidString(document) && utf8.ValidString(operation) {
			want, wantOK := rootFields(document, operation)
			got, ok := answerBody(body).rootFields()
			require.Equal(t, want, got)
			require.Equal(t, wantOK, ok)
		}
		for _, kind := range []OperationKind{OperationForm, OperationJSON, OperationGraphQL} {
			o := Operation{Kind: kind, At: "/query", Names: []string{"a", "@d", "RunInstances"}}
			for _, text := range []string{document, string(body)} {
				for _, mediaType := range []string{"application/json", "application/x-www-form-urlencoded"} {
					a := asked{header: map[string][]string{"Content-Type": {mediaType}}, text: []byte(text), whole: true}
					if a.mayAsk(&o) {
						a.asks(&o)
					}
				}
			}
		}
	})
}
