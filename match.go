package oncehttp

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A contractSet finds the contract of a request. It never changes.
type contractSet struct {
	// byHost lists, for each host name and for "*", the contracts that name it,
	// most specific first.
	byHost map[string][]candidate
	byName map[string]*Contract
}

// A candidate is a contract under one of its hosts.
type candidate struct {
	contract *Contract
	port     string // "": any
	path     string // without a slash at its end
	hosts    []hostPort
}

type hostPort struct{ name, port string }

const anyHost = "*"

// newContractSet checks the contracts and keeps copies of them, with their
// names and methods filled in. The error joins everything that is wrong.
func newContractSet(cs []Contract) (*contractSet, error) {
	s := &contractSet{byHost: map[string][]candidate{}, byName: map[string]*Contract{}}
	var errs []error
	for i, given := range cs {
		c := given.clone()
		if problems := checkContract(c, i); len(problems) > 0 {
			errs = append(errs, problems...)
			continue
		}
		if len(c.Match.Methods) == 0 {
			c.Match.Methods = []string{http.MethodPost, http.MethodPatch}
		}
		c.Match.Header = http.CanonicalHeaderKey(c.Match.Header)
		path := strings.TrimRight(c.Match.Path, "/")
		var hosts []hostPort
		for _, h := range c.Match.Hosts {
			host, _ := parseHost(h)
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
		if c.Name == "" {
			c.Name = hosts[0].String() + path
		}
		if s.byName[c.Name] != nil {
			errs = append(errs, fmt.Errorf("oncehttp: contract %q (#%d): Name is taken by an earlier contract; set another", c.Name, i))
			continue
		}
		s.byName[c.Name] = c
		for _, h := range hosts {
			s.byHost[h.name] = append(s.byHost[h.name], candidate{contract: c, port: h.port, path: path, hosts: hosts})
		}
	}
	for _, list := range s.byHost {
		slices.SortStableFunc(list, candidate.compare)
	}
	errs = append(errs, s.ties()...)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// match returns the contract of the request, or nil: of those that match the
// one with the longest host, then the longest path, then the most conditions.
// It allocates only where a host is not in lower case or is an IPv6 address, or
// the path is escaped in an unusual way.
func (s *contractSet) match(req *http.Request) *Contract {
	if req.URL == nil || len(s.byHost) == 0 {
		return nil
	}
	host := requestHost(req.URL.Host, req.URL.Scheme)
	header := host // what the Host header names
	if req.Host != "" && req.Host != req.URL.Host {
		header = requestHost(req.Host, req.URL.Scheme)
	}
	method := cmp.Or(req.Method, http.MethodGet)
	path := req.URL.EscapedPath()
	for _, name := range [...]string{host.name, anyHost} {
		list := s.byHost[name]
		for i := range list {
			c := &list[i]
			if (c.port == "" || c.port == host.port) && underPath(path, c.path) &&
				(header == host || c.names(header)) && c.contract.Match.takes(method, req.Header) {
				return c.contract
			}
		}
	}
	return nil
}

// names reports whether the contract names the host.
func (c *candidate) names(h hostPort) bool {
	return slices.ContainsFunc(c.hosts, func(own hostPort) bool {
		return own.name == anyHost || own.name == h.name && (own.port == "" || own.port == h.port)
	})
}

// takes reports whether the conditions besides host and path hold.
func (m *Match) takes(method string, h http.Header) bool {
	if !slices.Contains(m.Methods, method) {
		return false
	}
	if m.Header == "" {
		return true
	}
	lines := h[m.Header]
	return len(lines) > 0 && (m.HeaderValue == "" || isOneOf(lines[0], []string{m.HeaderValue}))
}

// conditions counts those besides host, path and method.
func (m *Match) conditions() int {
	switch {
	case m.Header == "":
		return 0
	case m.HeaderValue == "":
		return 1
	}
	return 2
}

// underPath reports whether prefix, without a slash at its end, is a prefix of
// path by whole segments.
func underPath(path, prefix string) bool {
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/' || prefix == "")
}

// compare orders candidates of one host name, most specific first.
func (c candidate) compare(d candidate) int {
	return cmp.Or(
		cmp.Compare(min(1, len(d.port)), min(1, len(c.port))),
		cmp.Compare(len(d.path), len(c.path)),
		cmp.Compare(d.contract.Match.conditions(), c.contract.Match.conditions()))
}

// ties says which two contracts match one request and cannot be told apart.
func (s *contractSet) ties() []error {
	type pair struct{ a, b string }
	found := map[pair]error{}
	for name, list := range s.byHost {
		for i, c := range list {
			for _, d := range list[i+1:] {
				if c.compare(d) != 0 {
					break // sorted: none further is equal either
				}
				if c.overlaps(d) {
					p := pair{c.contract.Name, d.contract.Name}
					found[p] = fmt.Errorf("oncehttp: contracts %q and %q match the same requests to host %s and neither is more specific; change the Path, Methods or Header of one", p.a, p.b, hostPort{name, c.port})
				}
			}
		}
	}
	var errs []error
	for _, err := range found {
		errs = append(errs, err)
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// overlaps reports whether a request exists that both of two equally specific
// candidates of one host match.
func (c candidate) overlaps(d candidate) bool {
	m, n := &c.contract.Match, &d.contract.Match
	return c.port == d.port && c.path == d.path &&
		(m.Header != n.Header || strings.EqualFold(strings.TrimSpace(m.HeaderValue), strings.TrimSpace(n.HeaderValue))) &&
		slices.ContainsFunc(m.Methods, func(s string) bool { return slices.Contains(n.Methods, s) })
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
	case strings.ContainsAny(s, "/?#@ *") || strings.ContainsAny(h.name, "[]"):
		return h, "is not a host"
	case strings.Contains(h.name, ":"):
		if _, err := netip.ParseAddr(h.name); err != nil {
			return h, "is not a host"
		}
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
	return h, ""
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

// validPath reports whether s is an escaped URL path.
func validPath(s string) bool {
	u, err := url.ParseRequestURI(s)
	return err == nil && u.EscapedPath() == s
}
