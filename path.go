package oncehttp

import (
	"cmp"
	"net/url"
	"strings"
)

// A pathPattern is a path of a contract.
type pathPattern struct {
	text  string // a prefix has no slash at its end
	exact bool
	// wanted are the segments where one of them is a *; else nil.
	wanted []string
	// segments and literal (bytes of segments that are no *) say how specific it
	// is.
	segments, literal int
}

const anySegment = "*"

// newPathPattern expects a path that pathProblem has passed, or "".
func newPathPattern(s string, exact bool) pathPattern {
	if !exact {
		s = strings.TrimRight(s, "/")
	}
	p := pathPattern{text: s, exact: exact}
	if s == "" {
		return p
	}
	segments := strings.Split(s[1:], "/")
	p.segments = len(segments)
	for _, segment := range segments {
		if segment == anySegment {
			p.wanted = segments
		} else {
			p.literal += len(segment)
		}
	}
	return p
}

// matches reports whether an escaped path is the pattern, or begins with its
// segments.
func (p *pathPattern) matches(path string) bool {
	switch {
	case p.wanted == nil && p.exact:
		return path == p.text
	case p.wanted == nil:
		return strings.HasPrefix(path, p.text) && (len(path) == len(p.text) || path[len(p.text)] == '/' || p.text == "")
	}
	for _, want := range p.wanted {
		if path == "" || path[0] != '/' {
			return false
		}
		end := strings.IndexByte(path[1:], '/') + 1
		if end == 0 {
			end = len(path)
		}
		if segment := path[1:end]; segment != want && (want != anySegment || segment == "") {
			return false
		}
		path = path[end:]
	}
	return path == "" || !p.exact
}

// compare orders patterns, most specific first.
func (p *pathPattern) compare(q *pathPattern) int {
	exact := 0
	if p.exact != q.exact {
		exact = 1
		if p.exact {
			exact = -1
		}
	}
	return cmp.Or(cmp.Compare(q.segments, p.segments), cmp.Compare(q.literal, p.literal), exact)
}

// meets reports whether a path exists that two equally specific patterns match.
func (p *pathPattern) meets(q *pathPattern) bool {
	if p.text == q.text {
		return true
	}
	ps, qs := strings.Split(p.text, "/"), strings.Split(q.text, "/")
	for i := range ps {
		if a, b := ps[i], qs[i]; a != b && (a != anySegment || b == "") && (b != anySegment || a == "") {
			return false
		}
	}
	return true
}

// pathProblem says what keeps s from being a path of a contract.
func pathProblem(s string) string {
	if !validPath(s) {
		return `is not an escaped URL path; start it with "/" and leave out query and fragment`
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment != anySegment && strings.Contains(segment, "*") {
			return "has a * beside other text; it stands for a whole segment"
		}
	}
	return ""
}

// validPath reports whether s is an escaped URL path.
func validPath(s string) bool {
	u, err := url.ParseRequestURI(s)
	return err == nil && u.EscapedPath() == s
}
