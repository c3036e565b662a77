package mockserver

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// A template is a URL with placeholders, read.
type template struct {
	path  *regexp.Regexp
	query map[string]*regexp.Regexp
	// names of the placeholders, in the order of their captures: of the path, and
	// of each parameter.
	inPath  []string
	inQuery map[string][]string
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// unescapeSegments unescapes a path, of which a zero byte ends each segment: a
// slash inside one is none.
func unescapeSegments(path string) (string, error) {
	return url.PathUnescape(strings.ReplaceAll(path, "/", "\x00"))
}

func parseTemplate(text string) (t template, err error) {
	if !strings.HasPrefix(text, "/") {
		return t, fmt.Errorf("%q is no path; start it with /", text)
	}
	path, query, _ := strings.Cut(text, "?")
	if t.path, t.inPath, err = pattern(path, unescapeSegments, `([^\x00]+)`); err != nil {
		return t, err
	}
	t.query, t.inQuery = map[string]*regexp.Regexp{}, map[string][]string{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		if name, err = url.QueryUnescape(name); err != nil {
			return t, errors.New("its query cannot be read")
		}
		if _, twice := t.query[name]; twice {
			return t, fmt.Errorf("parameter %q stands twice", name)
		}
		if t.query[name], t.inQuery[name], err = pattern(value, url.QueryUnescape, `(.+)`); err != nil {
			return t, err
		}
	}
	return t, nil
}

// pattern matches an unescaped text against a template of it; any is what stands
// at a placeholder.
func pattern(text string, unescape func(string) (string, error), any string) (*regexp.Regexp, []string, error) {
	var b strings.Builder
	var names []string
	b.WriteString(`(?s)\A`)
	for {
		at := placeholder.FindStringIndex(text)
		literal := text
		if at != nil {
			literal = text[:at[0]]
		}
		plain, err := unescape(literal)
		if err != nil || strings.ContainsAny(literal, "{}") {
			return nil, nil, fmt.Errorf("%q cannot be read", literal)
		}
		b.WriteString(regexp.QuoteMeta(plain))
		if at == nil {
			break
		}
		name := text[at[0]+1 : at[1]-1]
		switch {
		case name == "key", name == "id", name == "since", strings.HasPrefix(name, "/"), strings.HasPrefix(name, "query."), segmentNumber(name) > 0:
		default:
			return nil, nil, fmt.Errorf("there is no {%s}", name)
		}
		names = append(names, name)
		b.WriteString(any)
		text = text[at[1]:]
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	return re, names, err
}

// match returns what stands at the placeholders of a URL. One that stands twice
// must be the same.
func (t template) match(u *url.URL) (found map[string]string, ok bool) {
	found = map[string]string{}
	take := func(re *regexp.Regexp, names []string, text string) bool {
		got := re.FindStringSubmatch(text)
		if got == nil {
			return false
		}
		for i, name := range names {
			if before, twice := found[name]; twice && before != got[i+1] {
				return false
			}
			found[name] = got[i+1]
		}
		return true
	}
	path, err := unescapeSegments(u.EscapedPath())
	if err != nil || !take(t.path, t.inPath, path) {
		return nil, false
	}
	query := u.Query()
	for name, re := range t.query {
		if len(query[name]) != 1 || !take(re, t.inQuery[name], query[name][0]) {
			return nil, false
		}
	}
	return found, true
}

// names are those of all placeholders.
func (t template) names() []string {
	names := t.inPath
	for _, more := range t.inQuery {
		names = append(names[:len(names):len(names)], more...)
	}
	return names
}
