package oncehttp

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readContracts makes up to six contracts of a text: a line each, of the fields
// hosts, path, methods, header and value with a | between them, and a space
// between hosts and between methods.
func readContracts(text string) []Contract {
	var cs []Contract
	for line := range strings.SplitSeq(text, "\n") {
		field := strings.SplitN(line, "|", 5)
		field = append(field, "", "", "", "", "")
		if len(cs) < 6 {
			cs = append(cs, contractOn(fmt.Sprint("c", len(cs)), Match{
				Hosts: strings.Fields(field[0]), Path: field[1], Methods: strings.Fields(field[2]), Header: field[3], HeaderValue: field[4]}))
		}
	}
	return cs
}

// A plainHost is a host as the documentation of Match reads it.
type plainHost struct{ name, port string }

func readHost(s, scheme string) plainHost {
	var h plainHost
	if name, port, bracket := strings.Cut(s, "]"); bracket && strings.HasPrefix(name, "[") {
		h.name, h.port = name[1:], strings.TrimPrefix(port, ":")
	} else if _, err := netip.ParseAddr(s); err == nil {
		h.name = s
	} else {
		h.name, h.port, _ = strings.Cut(s, ":")
	}
	if ip, err := netip.ParseAddr(h.name); err == nil && strings.Contains(h.name, ":") {
		h.name = ip.String()
	}
	h.name = strings.ToLower(strings.TrimSuffix(h.name, "."))
	if h.port == "" {
		h.port = map[string]string{"https": "443", "http": "80"}[scheme]
	}
	return h
}

// A weight says how specific a contract is for a request: a host of its own, its
// port, the path's length, the number of conditions.
type weight [4]int

// weigh is the greatest weight that the contract has for the request, if it
// matches.
func weigh(m Match, req *http.Request) (heaviest weight, matches bool) {
	url, header := readHost(req.URL.Host, req.URL.Scheme), readHost(req.Host, req.URL.Scheme)
	methods := m.Methods
	if len(methods) == 0 {
		methods = []string{"POST", "PATCH"}
	}
	path := strings.TrimRight(m.Path, "/")
	asked := req.URL.EscapedPath()
	if !slices.Contains(methods, req.Method) || asked != path && !strings.HasPrefix(asked, path+"/") && path != "" {
		return weight{}, false
	}
	conditions := 0
	if m.Header != "" {
		lines := req.Header.Values(m.Header)
		if len(lines) == 0 || m.HeaderValue != "" && !strings.EqualFold(strings.TrimSpace(lines[0]), strings.TrimSpace(m.HeaderValue)) {
			return weight{}, false
		}
		conditions++
		if m.HeaderValue != "" {
			conditions++
		}
	}
	names := func(own string, h plainHost) (is, withPort bool) {
		if own == "*" {
			return true, false
		}
		o := readHost(own, "")
		return o.name == h.name && (o.port == "" || o.port == h.port), o.port != ""
	}
	named := false
	for _, own := range m.Hosts {
		is, _ := names(own, header)
		named = named || is
	}
	for _, own := range m.Hosts {
		if is, withPort := names(own, url); is && named {
			w := weight{0, 0, len(path), conditions}
			if own != "*" {
				w[0] = 1
			}
			if withPort {
				w[1] = 1
			}
			heaviest, matches = weight(slices.MaxFunc([]weight{heaviest, w}, compareWeights)), true
		}
	}
	return heaviest, matches
}

func compareWeights(a, b weight) int { return slices.Compare(a[:], b[:]) }

// FuzzMatch compares the index of contracts with a reading of them one by one,
// and holds the set to its promise: no request has two contracts of one weight.
func FuzzMatch(f *testing.F) {
	for _, contracts := range []string{
		"*\na.test\na.test|/v1\na.test|/v1/x/|PUT GET\na.test:443\na.test|/v1||X-A|1",
		"a.test b.test|/v1\nb.test c.test|/v1", "[::1] 2001:DB8::1|/\n[::1]:8080\n*||GET|x-a|\n*||GET|X-B|1", "A.TEST.\na.test:80||POST\na.test:8080",
		"*|/v1%2Fx\n*|/v1", "a.test|/\na.test:443|/v1/x\na.test|/v1/x/y\n*|/v1/x/y/z\nb.test|/v1||X-A\nb.test|/v1||X-A|1",
	} {
		f.Add(contracts, "POST", "https://a.test/v1/x/y", "", "1", "2")
		f.Add(contracts, "GET", "http://[::1]:8080/v10", "B.test.:80", " 1 ", "")
	}
	f.Add("*|/v1\n*|/v1%2Fx", "POST", "https://a.test/v1%2Fx/y", "", "", "")
	f.Add("a.test\na.test|/v1\na.test|/v1/x||X-A|1", "POST", "http://a.test/v1/x", "", "1", "")
	f.Add("*|/v1\n*|/v1/x||X-A\nb.test", "POST", "https://a.test/v1%2Fx", "b.test", "1", "")
	f.Fuzz(func(t *testing.T, contracts, method, target, host, a, b string) {
		if len(contracts)+len(target)+len(host) > 1<<10 {
			t.Skip("longer ones show nothing new")
		}
		cs := readContracts(contracts)
		s, err := newContractSet(cs)
		if err != nil {
			return
		}
		to, err := url.Parse(target)
		if err != nil || to.Host == "" || strings.ContainsAny(to.Host+host, "@/?# ") || strings.Count(to.Host, ":") != strings.Count(to.Host, "]:") && strings.Contains(to.Host, "[") {
			return
		}
		for _, h := range []string{to.Host, host} {
			if _, problem := parseHost(strings.TrimSuffix(h, ":")); h != "" && (problem != "" || strings.Contains(h, "*")) {
				return // no request that is sent has such a host
			}
		}
		req := &http.Request{Method: method, URL: to, Host: host, Header: http.Header{"X-B": {b}}}
		if a != "" {
			req.Header["X-A"] = []string{a, "1"}
		}
		if host == "" {
			req.Host = to.Host
		}

		var best []string
		heaviest := weight{-1}
		for _, c := range cs {
			w, ok := weigh(c.Match, req)
			switch order := compareWeights(w, heaviest); {
			case !ok || order < 0:
			case order == 0:
				best = append(best, c.Name)
			default:
				best, heaviest = []string{c.Name}, w
			}
		}
		want := ""
		if best != nil {
			want = best[0]
		}
		require.LessOrEqual(t, len(best), 1, "the set was taken, and %v match alike", best)
		require.Equal(t, want, matchedName(s, req))

		slices.Reverse(cs)
		turned, err := newContractSet(cs)
		require.NoError(t, err, "their order does not matter")
		require.Equal(t, want, matchedName(turned, req))
	})
}
