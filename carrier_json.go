package oncehttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// jsonSites finds the member that a JSON pointer names, in every item of an
// array where a token is *. The object that it is to be in must be there, unless
// create says to write it too. No number is read and no text is spelled anew.
func jsonSites(text []byte, pointer string, create bool) ([]site, error) {
	if !json.Valid(text) {
		return nil, errors.New("the body is not JSON; send valid JSON")
	}
	w := jsonWalk{text: text, create: create}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	if err := w.value(skipSpace(text, 0), tokens, nil); err != nil {
		return nil, err
	}
	return w.found, nil
}

type jsonWalk struct {
	text   []byte
	create bool
	found  []site
}

// stretch of a text.
type stretch struct{ from, to int }

// value goes down from the value at i. emptied is what is erased with the value
// when nothing else is in it; nil: it stays.
func (w *jsonWalk) value(i int, tokens []string, emptied *stretch) error {
	token := unescapeToken(tokens[0])
	switch {
	case token == "*" && w.text[i] != '[':
		return errors.New("there is no array where * stands")
	case w.text[i] == '{' && len(tokens) == 1:
		return w.member(i, token, emptied)
	case w.text[i] == '{':
		return w.below(i, token, tokens[1:], emptied)
	case w.text[i] == '[' && len(tokens) > 1:
		return w.items(i, token, tokens[1:])
	}
	return errors.New("the object that it goes into is not there; send it")
}

// items goes into one item of the array at i, or into all.
func (w *jsonWalk) items(i int, token string, tokens []string) error {
	n := 0
	for i = skipSpace(w.text, i+1); w.text[i] != ']'; n++ {
		if token == "*" || token == strconv.Itoa(n) {
			if err := w.value(i, tokens, nil); err != nil {
				return fmt.Errorf("item %d: %w", n, err)
			}
		}
		if i = skipSpace(w.text, skipJSON(w.text, i)); w.text[i] == ',' {
			i = skipSpace(w.text, i+1)
		}
	}
	if len(w.found) == 0 {
		return errors.New("the array has no such item, and nothing would carry the value; send one")
	}
	return nil
}

// jsonMember is where one member stands: all of it with a comma beside it, and
// its value.
type jsonMember struct {
	all, value stretch
	times      int // that its name stands in the object
	alone      bool
}

// lookFor finds the member of the object at i.
func (w *jsonWalk) lookFor(i int, name string) (m jsonMember) {
	open, comma, members := i, -1, 0
	for i = skipSpace(w.text, i+1); w.text[i] != '}'; members++ {
		start, end := i, skipJSON(w.text, i)
		v := skipSpace(w.text, skipSpace(w.text, end)+1)
		after := skipJSON(w.text, v)
		i = skipSpace(w.text, after)
		if sameName(w.text[start:end], name) {
			m.times++
			m.value = stretch{v, after}
			switch {
			case w.text[i] == ',':
				m.all = stretch{start, i + 1}
			case comma >= 0:
				m.all = stretch{comma, after}
			default:
				m.all = stretch{start, after}
			}
		}
		if w.text[i] == ',' {
			comma = i
			i = skipSpace(w.text, i+1)
		}
	}
	if m.times == 0 {
		m.all = stretch{open + 1, open + 1}
	}
	m.alone = members == m.times
	return m
}

// comma goes after what is written in front of the members of the object at i.
func (w *jsonWalk) comma(i int) string {
	if w.text[skipSpace(w.text, i+1)] == '}' {
		return ""
	}
	return ","
}

// member is for the last token, in the object at i.
func (w *jsonWalk) member(i int, name string, emptied *stretch) error {
	m := w.lookFor(i, name)
	s := site{at: i + 1, end: i + 1, before: quoteJSON(name) + `:"`, after: `"` + w.comma(i), from: m.all.from, to: m.all.to}
	if m.times > 1 {
		return fmt.Errorf("it stands %d times; set it once", m.times)
	}
	if m.times == 1 {
		s.at, s.end, s.before, s.after = m.value.from, m.value.to, `"`, `"`
		switch w.text[m.value.from] {
		case '"':
			s.value = unquoteJSON(w.text[m.value.from:m.value.to])
		case 'n':
		default:
			return errors.New("what stands there is not a string; send a string, or leave it out")
		}
	}
	if m.alone && emptied != nil {
		s.from, s.to = emptied.from, emptied.to
	}
	w.found = append(w.found, s)
	return nil
}

// below is for a token above the last, in the object at i.
func (w *jsonWalk) below(i int, name string, tokens []string, emptied *stretch) error {
	m := w.lookFor(i, name)
	switch {
	case m.times > 1:
		return fmt.Errorf("%q stands %d times; set it once", name, m.times)
	case m.times == 1 && !(w.create && w.text[m.value.from] == 'n'):
		if !w.create {
			return w.value(m.value.from, tokens, nil)
		}
		if !m.alone || emptied == nil {
			emptied = &m.all
		}
		return w.value(m.value.from, tokens, emptied)
	case !w.create:
		return fmt.Errorf("the object %q that it goes into is not there; send it", name)
	}
	s := site{at: i + 1, end: i + 1, before: quoteJSON(name) + ":", after: w.comma(i), from: m.all.from, to: m.all.to}
	if m.times == 1 { // null
		s.at, s.end, s.before, s.after = m.value.from, m.value.to, "", ""
	}
	for _, token := range tokens {
		s.before += "{" + quoteJSON(unescapeToken(token)) + ":"
		s.after = "}" + s.after
	}
	s.before, s.after = s.before+`"`, `"`+s.after
	if m.alone && emptied != nil {
		s.from, s.to = emptied.from, emptied.to
	}
	w.found = append(w.found, s)
	return nil
}

func quoteJSON(s string) string { return `"` + escapeJSON(s) + `"` }

// escapeJSON spells what stands between the quotes of a JSON string.
func escapeJSON(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < ' ':
			out.WriteString(`\u00` + strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
