package oncehttp

import (
	"regexp"
	"strings"
)

var (
	gqlBlank = regexp.MustCompile(`^(?:[\x{FEFF}\t\n\r ,]|#[^\n\r]*)*`)
	gqlToken = regexp.MustCompile(`^(?:[_A-Za-z][_0-9A-Za-z]*|\.\.\.|[!$&():=@\[\]{|}]` +
		`|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?` +
		`|(?s:"""(?:\\"""|.)*?""")` +
		`|"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*")`)
	gqlName = regexp.MustCompile(`^[_A-Za-z]`)
)

// slowGraphQL is a whole parser of executable documents, after the grammar of
// the specification (October 2021, appendix B). It panics with errNoGraphQL.
type slowGraphQL struct {
	tokens     []string
	operations map[string][]slowSelection
	fragments  map[string][]slowSelection
	twice      bool // a name was
}

type slowSelection struct {
	field  rootField
	spread string // a fragment's name
	inside []slowSelection
}

const errNoGraphQL = "no GraphQL"

func parseSlowly(text string) (d slowGraphQL, ok bool) {
	defer func() {
		if e := recover(); e != nil {
			if e != errNoGraphQL {
				panic(e)
			}
			ok = false
		}
	}()
	for text = text[len(gqlBlank.FindString(text)):]; text != ""; text = text[len(gqlBlank.FindString(text)):] {
		token := gqlToken.FindString(text)
		text = text[len(token):]
		number := token != "" && (token[0] == '-' || isDigit(token[0]))
		if token == "" || strings.HasSuffix(token, `\"""`) || number && text != "" && (text[0] == '.' || isNameByte(text[0])) || token == `""` && strings.HasPrefix(text, `"`) {
			return d, false
		}
		d.tokens = append(d.tokens, token)
	}
	d.operations, d.fragments = map[string][]slowSelection{}, map[string][]slowSelection{}
	for again := true; again; again = len(d.tokens) > 0 {
		d.definition()
	}
	return d, true
}

func (d *slowGraphQL) peek() string {
	if len(d.tokens) == 0 {
		return ""
	}
	return d.tokens[0]
}

func (d *slowGraphQL) take(want string) {
	if d.peek() != want || want == "" {
		panic(errNoGraphQL)
	}
	d.tokens = d.tokens[1:]
}

func (d *slowGraphQL) has(want string) bool {
	if d.peek() != want {
		return false
	}
	d.take(want)
	return true
}

func (d *slowGraphQL) named() bool { return gqlName.MatchString(d.peek()) }

func (d *slowGraphQL) name() string {
	name := d.peek()
	if !d.named() {
		panic(errNoGraphQL)
	}
	d.take(name)
	return name
}

func (d *slowGraphQL) definition() {
	into, name := d.operations, ""
	if d.peek() != "{" {
		switch what := d.name(); what {
		case "fragment":
			if into, name = d.fragments, d.name(); name == "on" {
				panic(errNoGraphQL)
			}
			d.take("on")
			d.name()
		case "query", "mutation", "subscription":
			if d.named() {
				name = d.name()
			}
			if d.has("(") {
				for again := true; again; again = !d.has(")") {
					d.take("$")
					d.name()
					d.take(":")
					d.kind()
					if d.has("=") {
						d.value()
					}
					d.directives()
				}
			}
		default:
			panic(errNoGraphQL)
		}
		d.directives()
	}
	_, taken := into[name]
	d.twice = d.twice || taken
	into[name] = d.selections()
}

func (d *slowGraphQL) kind() {
	if d.has("[") {
		d.kind()
		d.take("]")
	} else {
		d.name()
	}
	d.has("!")
}

func (d *slowGraphQL) value() {
	switch v := d.peek(); {
	case d.has("$"):
		d.name()
	case d.has("["):
		for !d.has("]") {
			d.value()
		}
	case d.has("{"):
		for !d.has("}") {
			d.name()
			d.take(":")
			d.value()
		}
	case v != "" && (v[0] == '"' || v[0] == '-' || isNameByte(v[0])):
		d.take(v)
	default:
		panic(errNoGraphQL)
	}
}

func (d *slowGraphQL) arguments() {
	if d.has("(") {
		for again := true; again; again = !d.has(")") {
			d.name()
			d.take(":")
			d.value()
		}
	}
}

func (d *slowGraphQL) directives() (names []string) {
	for d.has("@") {
		names = append(names, d.name())
		d.arguments()
	}
	return names
}

func (d *slowGraphQL) selections() (set []slowSelection) {
	d.take("{")
	for again := true; again; again = !d.has("}") {
		var s slowSelection
		switch {
		case d.has("..."):
			if d.named() && d.peek() != "on" {
				s.spread = d.name()
				d.directives()
				break
			}
			if d.has("on") {
				d.name()
			}
			d.directives()
			s.inside = d.selections()
		default:
			if s.field.name = d.name(); d.has(":") {
				s.field.name = d.name()
			}
			d.arguments()
			s.field.directives = d.directives()
			if d.peek() == "{" {
				d.selections()
			}
		}
		set = append(set, s)
	}
	return set
}

// collect adds the fields of a set; it is false where a fragment is missing.
func (d *slowGraphQL) collect(set []slowSelection, seen map[string]bool, fields *[]rootField) bool {
	for _, s := range set {
		switch {
		case s.field.name != "":
			*fields = append(*fields, s.field)
		case s.spread == "":
			if !d.collect(s.inside, seen, fields) {
				return false
			}
		default:
			inside, ok := d.fragments[s.spread]
			if !ok {
				return false
			}
			if !seen[s.spread] {
				seen[s.spread] = true
				if !d.collect(inside, seen, fields) {
					return false
				}
			}
		}
	}
	return true
}
