package oncehttp

import (
	"net/netip"
	"strconv"
	"strings"
)

type hostPort struct{ name, port string }

const anyHost = "*"

// A hostPattern is a host of a contract.
type hostPattern struct {
	hostPort
	// literal counts the bytes of the name that are no *.
	literal int
	// before is the text before the first *, stars what follows each: the rest of
	// its label, and the text from there to the next * or to the end. A name
	// without a * has none.
	before string
	stars  []star
}

type star struct{ after, next string }

// newHostPattern expects a name that parseHost has passed.
func newHostPattern(h hostPort) hostPattern {
	p := hostPattern{hostPort: h, literal: len(h.name) - strings.Count(h.name, "*")}
	if h.name == anyHost || p.literal == len(h.name) {
		return p
	}
	pieces := strings.Split(h.name, "*")
	p.before = pieces[0]
	for _, piece := range pieces[1:] {
		i := strings.IndexByte(piece, '.') // every * has a label after its own
		p.stars = append(p.stars, star{piece[:i], piece[i:]})
	}
	return p
}

// names reports whether the pattern names the host.
func (p *hostPattern) names(h hostPort) bool {
	return (p.port == "" || p.port == h.port) && (p.name == h.name || p.name == anyHost || p.stars != nil && p.covers(h.name))
}

func (p *hostPattern) covers(name string) bool {
	rest, ok := strings.CutPrefix(name, p.before)
	if !ok {
		return false
	}
	for i := range p.stars {
		s := &p.stars[i]
		end := strings.IndexByte(rest, '.')
		if end <= len(s.after) || !strings.HasSuffix(rest[:end], s.after) {
			return false
		}
		if rest, ok = strings.CutPrefix(rest[end:], s.next); !ok {
			return false
		}
	}
	return rest == ""
}

// meets reports whether a host exists that both patterns name.
func (p *hostPattern) meets(q *hostPattern) bool {
	if p.port != "" && q.port != "" && p.port != q.port {
		return false
	}
	if p.name == q.name || p.name == anyHost || q.name == anyHost {
		return true
	}
	ps, qs := strings.Split(p.name, "."), strings.Split(q.name, ".")
	if len(ps) != len(qs) {
		return false
	}
	for i := range ps {
		if !labelsMeet(ps[i], qs[i]) {
			return false
		}
	}
	return true
}

// labelsMeet: two labels, each with one * at most, have a label in common.
func labelsMeet(a, b string) bool {
	aBefore, aAfter, aOpen := strings.Cut(a, "*")
	bBefore, bAfter, bOpen := strings.Cut(b, "*")
	switch {
	case aOpen && bOpen:
		return (strings.HasPrefix(aBefore, bBefore) || strings.HasPrefix(bBefore, aBefore)) &&
			(strings.HasSuffix(aAfter, bAfter) || strings.HasSuffix(bAfter, aAfter))
	case aOpen:
		return len(b) > len(aBefore)+len(aAfter) && strings.HasPrefix(b, aBefore) && strings.HasSuffix(b, aAfter)
	case bOpen:
		return labelsMeet(b, a)
	}
	return a == b
}

func firstLabel(name string) string {
	label, _, _ := strings.Cut(name, ".")
	return label
}

// lastLabels are the last two labels of a name that has more, else "".
func lastLabels(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 {
		return ""
	}
	i = strings.LastIndexByte(name[:i], '.')
	if i < 0 {
		return ""
	}
	return name[i+1:]
}

func (h hostPort) String() string {
	name := h.name
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if h.port != "" {
		name += ":" + h.port
	}
	return name
}

// parseHost reads a host of a contract; problem says what is wrong with it.
func parseHost(s string) (h hostPort, problem string) {
	if s == anyHost {
		return hostPort{name: anyHost}, ""
	}
	if _, err := netip.ParseAddr(s); err == nil && strings.Contains(s, ":") {
		s = "[" + s + "]"
	}
	h = splitHost(s)
	switch {
	case h.name == "":
		return h, "is empty"
	case h.name == anyHost || strings.ContainsAny(s, "/?#@ ") || strings.ContainsAny(h.name, "[]") || strings.Contains(h.port, "*"):
		return h, "is not a host"
	case strings.Contains(h.name, ":"):
		if _, err := netip.ParseAddr(h.name); err != nil {
			return h, "is not a host"
		}
	case strings.Contains(h.name, "*"):
		problem = patternProblem(h.name)
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return h, "is not ASCII"
		}
	}
	if h.port != "" {
		if n, err := strconv.ParseUint(h.port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != h.port {
			return h, "has no valid port"
		}
	}
	return h, problem
}

// patternProblem says what is wrong with a name that has a * in it. Its last two
// labels must be plain, so that nobody speaks for all of .com.
func patternProblem(name string) string {
	labels := strings.Split(name, ".")
	for i, label := range labels {
		switch stars := strings.Count(label, "*"); {
		case label == "":
			return "has an empty label"
		case stars > 1:
			return "has two * in one label"
		case stars == 1 && i >= len(labels)-2:
			return "has a * in its last two labels"
		}
	}
	if _, err := strconv.Atoi(labels[len(labels)-1]); err == nil {
		return "is a pattern of IP addresses"
	}
	return ""
}

// requestHost is a request's host with the port that it is reached at.
func requestHost(host, scheme string) hostPort {
	h := splitHost(host)
	if h.port == "" {
		switch scheme {
		case "https":
			h.port = "443"
		case "http":
			h.port = "80"
		}
	}
	return h
}

// splitHost parts name and port, and gives the name one spelling: lower case,
// no dot at its end, an IPv6 address in its shortest form without brackets.
func splitHost(s string) hostPort {
	name, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && i > strings.LastIndexByte(s, ']') {
		name, port = s[:i], s[i+1:]
	}
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		name = name[1 : len(name)-1]
		if ip, err := netip.ParseAddr(name); err == nil {
			name = ip.String()
		}
	}
	return hostPort{strings.ToLower(strings.TrimSuffix(name, ".")), port}
}
