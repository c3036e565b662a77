package oncehttp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
)

// A contractSet finds the contract of a request. It never changes.
type contractSet struct {
	// byHost lists, for each host name without a * and for "*", the contracts
	// that name it, most specific first. byTail does so for the hosts that patterns
	// name: by their last two labels, then by their first label where some pattern
	// has it, else under "*".
	byHost map[string][]candidate
	byTail map[string]map[string][]candidate
	byName map[string]*Contract
}

// A candidate is a contract under one of its hosts and one of its paths.
type candidate struct {
	contract *Contract
	host     hostPattern
	path     pathPattern
	hosts    []hostPattern
}

// newContractSet checks the contracts and keeps copies of them, with their
// names and methods filled in. The error joins everything that is wrong.
func newContractSet(cs []Contract) (*contractSet, error) {
	s := &contractSet{byHost: map[string][]candidate{}, byTail: map[string]map[string][]candidate{}, byName: map[string]*Contract{}}
	patterns := map[string][]candidate{} // by their last two labels, which are plain
	var errs []error
	for i, given := range cs {
		c := given.clone()
		if problems := checkContract(c, i); len(problems) > 0 {
			errs = append(errs, problems...)
			continue
		}
		m := &c.Match
		if len(m.Methods) == 0 {
			m.Methods = []string{http.MethodPost, http.MethodPatch}
		}
		m.Header, m.HeaderValue = http.CanonicalHeaderKey(m.Header), strings.TrimSpace(m.HeaderValue)
		if m.HeaderValue == "*" {
			m.HeaderValue = "" // any, too
		}
		paths := m.paths()
		var hosts []hostPattern
		for _, h := range m.Hosts {
			host, _ := parseHost(h)
			if !slices.ContainsFunc(hosts, func(p hostPattern) bool { return p.hostPort == host }) {
				hosts = append(hosts, newHostPattern(host))
			}
		}
		if c.Name == "" {
			c.Name = hosts[0].String() + paths[0].text
		}
		if s.byName[c.Name] != nil {
			errs = append(errs, fmt.Errorf("oncehttp: contract %q (#%d): Name is taken by an earlier contract; set another", c.Name, i))
			continue
		}
		s.byName[c.Name] = c
		for _, h := range hosts {
			index, name := s.byHost, h.name
			if h.stars != nil {
				index, name = patterns, lastLabels(h.name)
			}
			for _, p := range paths {
				index[name] = append(index[name], candidate{contract: c, host: h, path: p, hosts: hosts})
			}
		}
	}
	found := map[[2]string]error{}
	for _, index := range []map[string][]candidate{s.byHost, patterns} {
		for _, list := range index {
			slices.SortStableFunc(list, func(a, b candidate) int { return a.compare(&b) })
			ties(list, found)
		}
	}
	var tied []error
	for _, err := range found {
		tied = append(tied, err)
	}
	slices.SortFunc(tied, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if errs = append(errs, tied...); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for tail, list := range patterns {
		s.byTail[tail] = byFirstLabel(list)
	}
	return s, nil
}

// byFirstLabel parts a list of patterns by their first label; those in whose
// first label is a * are in every part.
func byFirstLabel(list []candidate) map[string][]candidate {
	parts := map[string][]candidate{anyHost: nil}
	for _, c := range list {
		if first := firstLabel(c.host.name); !strings.Contains(first, "*") {
			parts[first] = nil
		}
	}
	for label := range parts {
		for _, c := range list {
			if first := firstLabel(c.host.name); first == label || strings.Contains(first, "*") {
				parts[label] = append(parts[label], c)
			}
		}
	}
	return parts
}

// paths are the patterns of Path and Paths; where none is given, that of any.
func (m *Match) paths() []pathPattern {
	var list []pathPattern
	for _, path := range append([]string{m.Path}, m.Paths...) {
		p := newPathPattern(path, m.Exact)
		if (path != "" || len(m.Paths) == 0) && !slices.ContainsFunc(list, func(q pathPattern) bool { return q.text == p.text }) {
			list = append(list, p)
		}
	}
	return list
}

// match returns the contract of the request, or nil: of those that match the
// one that [Match] calls the most specific. With asks it depends on the body:
// see matchBody. It allocates only where a host is not in lower case or is an
// IPv6 address, the path is escaped in an unusual way, or a contract of the host
// selects by operation.
func (s *contractSet) match(req *http.Request) (c *Contract, asks bool) {
	return s.find(req, &asked{header: req.Header})
}

// matchBody returns the contract of the request with this body, or nil.
func (s *contractSet) matchBody(req *http.Request, body []byte) *Contract {
	c, _ := s.find(req, &asked{header: req.Header, text: body, whole: true})
	return c
}

func (s *contractSet) find(req *http.Request, body *asked) (c *Contract, asks bool) {
	if req.URL == nil || len(s.byName) == 0 {
		return nil, false
	}
	host := requestHost(req.URL.Host, req.URL.Scheme)
	header := host // what the Host header names
	if req.Host != "" && req.Host != req.URL.Host {
		header = requestHost(req.Host, req.URL.Scheme)
	}
	method := cmp.Or(req.Method, http.MethodGet)
	path := cmp.Or(req.URL.EscapedPath(), "/")
	for step := range 3 {
		var list []candidate
		switch step {
		case 0:
			list = s.byHost[host.name]
		case 1:
			if parts := s.byTail[lastLabels(host.name)]; parts != nil {
				var named bool
				if list, named = parts[firstLabel(host.name)]; !named {
					list = parts[anyHost]
				}
			}
		case 2:
			list = s.byHost[anyHost]
		}
		for i := range list {
			c := &list[i]
			m := &c.contract.Match
			if !c.host.names(host) || !c.path.matches(path) || header != host && !c.names(header) || !m.takes(method, req.Header) {
				continue
			}
			if o := &m.Operation; o.Kind != OperationAny {
				if !body.mayAsk(o) {
					continue
				}
				if !body.whole {
					return nil, true
				}
				if !body.asks(o) {
					continue
				}
			}
			return c.contract, false
		}
	}
	return nil, false
}

// names reports whether the contract names the host.
func (c *candidate) names(h hostPort) bool {
	return slices.ContainsFunc(c.hosts, func(own hostPattern) bool { return own.names(h) })
}

// takes reports whether the conditions on method and header hold.
func (m *Match) takes(method string, h http.Header) bool {
	if !slices.Contains(m.Methods, method) {
		return false
	}
	if m.Header == "" {
		return true
	}
	line, ok := firstLine(h, m.Header)
	if !ok || m.HeaderValue == "" {
		return ok
	}
	line = strings.TrimSpace(line)
	if start, open := strings.CutSuffix(m.HeaderValue, "*"); open {
		return len(line) >= len(start) && strings.EqualFold(line[:len(start)], start)
	}
	return strings.EqualFold(line, m.HeaderValue)
}

// firstLine is a header's first line, whose name is given in canonical form and
// may be spelled otherwise.
func firstLine(h http.Header, name string) (line string, ok bool) {
	lines := h[name]
	if len(lines) == 0 {
		spelled := ""
		for key, other := range h {
			if len(key) == len(name) && len(other) > 0 && strings.EqualFold(key, name) && (spelled == "" || key < spelled) {
				spelled, lines = key, other
			}
		}
	}
	if len(lines) == 0 {
		return "", false
	}
	return lines[0], true
}

// headerRank says how specific the condition on a header is: none, any value,
// the start of one (the longer the more), a value.
func (m *Match) headerRank() int {
	start, open := strings.CutSuffix(m.HeaderValue, "*")
	switch {
	case m.Header == "":
		return 0
	case m.HeaderValue == "" || open:
		return 1 + len(start)
	}
	return math.MaxInt
}

// compare orders candidates that may name one host, most specific first.
func (c *candidate) compare(d *candidate) int {
	return cmp.Or(
		cmp.Compare(d.host.literal, c.host.literal),
		cmp.Compare(min(1, len(d.host.port)), min(1, len(c.host.port))),
		c.path.compare(&d.path),
		cmp.Compare(d.contract.Match.headerRank(), c.contract.Match.headerRank()),
		cmp.Compare(d.contract.Match.Operation.rank(), c.contract.Match.Operation.rank()))
}

// ties notes which two contracts of a sorted list match one request and cannot
// be told apart.
func ties(list []candidate, found map[[2]string]error) {
	for i := range list {
		c := &list[i]
		for j := range list[i+1:] {
			d := &list[i+1+j]
			if c.compare(d) != 0 {
				break // sorted: none further is equal either
			}
			if a, b := c.contract.Name, d.contract.Name; a != b && c.meets(d) {
				found[[2]string{a, b}] = fmt.Errorf("oncehttp: contracts %q and %q match the same requests to host %s and neither is more specific; change the Path, Methods, Header or Operation of one", a, b, c.host)
			}
		}
	}
}

// meets reports whether a request exists that two equally specific candidates
// match.
func (c *candidate) meets(d *candidate) bool {
	m, n := &c.contract.Match, &d.contract.Match
	return c.host.meets(&d.host) && c.path.meets(&d.path) && m.Operation.meets(&n.Operation) &&
		(m.Header != n.Header || strings.EqualFold(m.HeaderValue, n.HeaderValue)) &&
		slices.ContainsFunc(m.Methods, func(s string) bool { return slices.Contains(n.Methods, s) })
}
