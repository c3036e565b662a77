package oncehttp

import "strings"

// A rootField is a field that a GraphQL operation asks of its root type.
type rootField struct {
	name       string
	directives []string
}

// mostGraphQL bounds the definitions of a document, the root fields of an
// operation, and the directives of one, that are looked at.
const mostGraphQL = 1000

// rootFields reads the fields that an operation of a GraphQL document asks of
// its root type, those of fragments too; @skip and @include make no difference.
// Without a name it is the document's only operation. It is false where there is
// no such operation, where the document is none, or where it has more than
// mostGraphQL definitions or such fields.
//
// It reads tokens and brackets (https://spec.graphql.org/October2021/, section
// 2), no more: what it makes of a document that a server would refuse is of no
// consequence. It does not recurse, and takes time in proportion to the text.
func rootFields(document, operation string) ([]rootField, bool) {
	d, ok := readGraphQL(document)
	if !ok {
		return nil, false
	}
	start := -1
	for _, o := range d.operations {
		if operation == "" || o.name == operation {
			if start >= 0 {
				return nil, false // which one is meant?
			}
			start = o.start
		}
	}
	if start < 0 {
		return nil, false
	}
	var fields []rootField
	sets, seen := []int{start}, map[string]bool{}
	for len(sets) > 0 {
		p := graphQL{text: document, pos: sets[0]}
		sets = sets[1:]
		p.next()
		for open := 1; open > 0; {
			switch {
			case p.kind == '}':
				open--
				p.next()
			case p.kind == '.':
				p.next()
				name := p.name
				if p.kind == 'a' {
					p.next()
					if name == "on" && p.kind == 'a' {
						name = ""
						p.next()
					}
				}
				p.directives()
				switch {
				case name != "":
					at, ok := d.fragments[name]
					if !ok {
						return nil, false
					}
					if !seen[name] {
						seen[name], sets = true, append(sets, at)
					}
				case p.kind == '{':
					open++
					p.next()
				default:
					return nil, false
				}
			case p.kind == 'a' && len(fields) < mostGraphQL:
				f := rootField{name: p.name}
				if p.next(); p.kind == ':' { // it was an alias
					p.next()
					f.name = p.name
					p.next()
				}
				p.skip('(')
				f.directives = p.directives()
				p.skip('{')
				fields = append(fields, f)
			default:
				return nil, false
			}
		}
	}
	return fields, len(fields) > 0
}

// A graphQLDocument is where the selections of its definitions start: after the
// brace.
type graphQLDocument struct {
	operations []struct {
		name  string
		start int
	}
	fragments map[string]int
}

func readGraphQL(document string) (d graphQLDocument, ok bool) {
	d.fragments = map[string]int{}
	p := graphQL{text: document}
	for p.next(); p.kind != 0; {
		if len(d.operations)+len(d.fragments) == mostGraphQL {
			return d, false
		}
		if p.kind == '"' { // a description
			p.next()
		}
		what, name := "query", ""
		if p.kind != '{' {
			if p.kind != 'a' {
				return d, false
			}
			what = p.name
			if p.next(); p.kind == 'a' {
				name = p.name
				p.next()
			}
			if what == "fragment" && p.kind == 'a' { // on
				if p.next(); p.kind == 'a' { // its type
					p.next()
				}
			}
			p.skip('(')
			p.directives()
		}
		if p.kind != '{' {
			return d, false
		}
		switch what {
		case "fragment":
			d.fragments[name] = p.pos
		case "query", "mutation", "subscription":
			d.operations = append(d.operations, struct {
				name  string
				start int
			}{name, p.pos})
		default:
			return d, false // nothing that is run
		}
		p.skip('{')
	}
	return d, true
}

// graphQL reads the tokens of a document, one at a time.
type graphQL struct {
	text string
	pos  int // after the token
	// kind is a punctuator's byte, '.' for three dots, 'a' for a name, '"' for a
	// string, '0' for a number, 0 at the end, '?' for what is none of these.
	kind byte
	name string // of kind 'a', else ""
}

func (p *graphQL) next() {
	p.blank()
	p.name = ""
	if p.pos == len(p.text) {
		p.kind = 0
		return
	}
	start := p.pos
	c := p.text[start]
	p.pos++
	switch {
	case isNameByte(c) && !isDigit(c):
		for p.pos < len(p.text) && isNameByte(p.text[p.pos]) {
			p.pos++
		}
		p.kind, p.name = 'a', p.text[start:p.pos]
	case c == '-' || isDigit(c):
		for p.pos < len(p.text) && (isNameByte(p.text[p.pos]) || strings.IndexByte("+-.", p.text[p.pos]) >= 0) {
			p.pos++
		}
		p.kind = '0'
	case c == '"':
		p.pos--
		p.string()
	case c == '.':
		p.kind = '?'
		if strings.HasPrefix(p.text[start:], "...") {
			p.pos, p.kind = start+3, '.'
		}
	case strings.IndexByte("!$&():=@[]{|}", c) >= 0:
		p.kind = c
	default:
		p.kind = '?'
	}
}

// blank goes over what stands between tokens, commas and comments too.
func (p *graphQL) blank() {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',':
			p.pos++
		case strings.HasPrefix(p.text[p.pos:], "\uFEFF"):
			p.pos += len("\uFEFF")
		case c == '#':
			if end := strings.IndexAny(p.text[p.pos:], "\r\n"); end >= 0 {
				p.pos += end
			} else {
				p.pos = len(p.text)
			}
		default:
			return
		}
	}
}

// string goes over a string or block string.
func (p *graphQL) string() {
	const block = `"""`
	p.kind = '"'
	if strings.HasPrefix(p.text[p.pos:], block) {
		for p.pos += len(block); p.pos < len(p.text); p.pos++ {
			switch rest := p.text[p.pos:]; {
			case strings.HasPrefix(rest, block):
				p.pos += len(block)
				return
			case strings.HasPrefix(rest, `\`+block):
				p.pos += len(block)
			}
		}
	}
	for p.pos++; p.pos < len(p.text); p.pos++ {
		switch p.text[p.pos] {
		case '"':
			p.pos++
			return
		case '\\':
			p.pos++
		case '\n', '\r':
			p.kind = '?'
			return
		}
	}
	p.pos, p.kind = len(p.text), '?' // it does not end
}

// skip goes over what stands in brackets, if the token is this one.
func (p *graphQL) skip(bracket byte) {
	if p.kind != bracket {
		return
	}
	for open := 0; p.kind != 0 && p.kind != '?'; p.next() {
		switch p.kind {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open--
		}
		if open == 0 {
			p.next()
			return
		}
	}
}

// directives goes over directives and names them.
func (p *graphQL) directives() (names []string) {
	for p.kind == '@' {
		p.next()
		if len(names) < mostGraphQL {
			names = append(names, p.name)
		}
		p.next()
		p.skip('(')
	}
	return names
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNameByte: of a GraphQL name, which does not start with a digit.
func isNameByte(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
