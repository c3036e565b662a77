package oncehttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readContracts makes up to six contracts of a text: a line each, of the fields
// hosts, paths, methods, header and value with a | between them, and a space
// between hosts, paths and methods. An = after the paths makes them exact.
func readContracts(text string) []Contract {
	var cs []Contract
	for line := range strings.SplitSeq(text, "\n") {
		field := strings.SplitN(line, "|", 5)
		field = append(field, "", "", "", "", "")
		if len(cs) < 6 {
			m := Match{Hosts: strings.Fields(field[0]), Methods: strings.Fields(field[2]), Header: field[3], HeaderValue: field[4]}
			field[1], m.Exact = strings.CutSuffix(field[1], "=")
			if paths := strings.Fields(field[1]); len(paths) > 0 {
				m.Path, m.Paths = paths[0], paths[1:]
			}
			cs = append(cs, contractOn(fmt.Sprint("c", len(cs)), m))
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

// A weight says how specific a contract is for a request: its host, the port,
// the path's segments, their bytes, whether it is exact, the header, the
// operation.
type weight [7]int

// most outweighs any length.
const most = 1 << 20

// weigh is the greatest weight that the contract has for the request, if it
// matches.
func weigh(m Match, req *http.Request) (heaviest weight, matches bool) {
	url, header := readHost(req.URL.Host, req.URL.Scheme), readHost(req.Host, req.URL.Scheme)
	value, matches := weighHeader(m, req.Header)
	operation, asked := weighOperation(m.Operation, req)
	if !matches || !asked || !weighMethod(m, req.Method) {
		return weight{}, false
	}
	paths := m.Paths
	if m.Path != "" || len(paths) == 0 {
		paths = append([]string{m.Path}, paths...)
	}
	named := slices.ContainsFunc(m.Hosts, func(own string) bool { _, is := weighHost(own, header); return is })
	matches = false
	for _, own := range m.Hosts {
		host, is := weighHost(own, url)
		for _, own := range paths {
			if path, under := weighPath(own, m.Exact, req.URL.EscapedPath()); is && named && under {
				w := weight{host[0], host[1], path[0], path[1], path[2], value, operation}
				if !matches || compareWeights(w, heaviest) > 0 {
					heaviest, matches = w, true
				}
			}
		}
	}
	return heaviest, matches
}

func weighMethod(m Match, method string) bool {
	if method == "" {
		method = "GET" // as net/http takes it
	}
	if len(m.Methods) == 0 {
		return method == "POST" || method == "PATCH"
	}
	return slices.Contains(m.Methods, method)
}

func weighHost(own string, h plainHost) (w [2]int, names bool) {
	if own == "*" {
		return w, true
	}
	o := readHost(own, "")
	w[0] = most
	if strings.Contains(o.name, "*") {
		w[0] = len(strings.ReplaceAll(o.name, "*", ""))
	}
	if o.port != "" {
		w[1] = 1
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(o.name), `\*`, `[^.]+`)
	return w, regexp.MustCompile(`^`+pattern+`$`).MatchString(h.name) && (o.port == "" || o.port == h.port)
}

func weighPath(own string, exact bool, asked string) (w [3]int, matches bool) {
	if asked == "" {
		asked = "/"
	}
	end := `(/.*)?$`
	if exact {
		w[2], end = 1, `$`
	} else {
		own = strings.TrimRight(own, "/")
	}
	pattern := `(?s)^`
	for i, segment := range strings.Split(own, "/") {
		switch {
		case i == 0:
			continue
		case segment == "*":
			pattern += `/[^/]+`
		default:
			pattern += "/" + regexp.QuoteMeta(segment)
			w[1] += len(segment)
		}
		w[0]++
	}
	return w, regexp.MustCompile(pattern + end).MatchString(asked)
}

func weighHeader(m Match, h http.Header) (w int, holds bool) {
	if m.Header == "" {
		return 0, true
	}
	lines := h.Values(m.Header)
	if len(lines) == 0 {
		return 0, false
	}
	line, want := strings.TrimSpace(lines[0]), strings.TrimSpace(m.HeaderValue)
	if start, open := strings.CutSuffix(want, "*"); open || want == "" {
		return 1 + len(start), len(line) >= len(start) && strings.EqualFold(line[:len(start)], start)
	}
	return most, strings.EqualFold(line, want)
}

// weighOperation reads a body that the request's GetBody gives.
func weighOperation(o Operation, req *http.Request) (w int, asked bool) {
	mediaType, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	body := bodyOf(req)
	names := func(name string) bool { return slices.Contains(o.Names, name) }
	switch o.Kind {
	case OperationForm:
		form, err := url.ParseQuery(string(body))
		return 1, err == nil && mediaType == "application/x-www-form-urlencoded" && len(form[o.At]) == 1 && names(form[o.At][0])
	case OperationJSON:
		var doc map[string]any // At has one token
		err := json.Unmarshal(body, &doc)
		name, ok := doc[o.At[1:]].(string)
		return 1, err == nil && mediaType == "application/json" && ok && names(name)
	case OperationGraphQL:
		w = 2
		for _, name := range o.Names {
			if name[0] != '@' {
				w = 1
			}
		}
		var doc struct{ Query, OperationName string }
		if err := json.Unmarshal(body, &doc); err != nil || mediaType != "application/json" {
			return 0, false
		}
		var fields []rootField
		if d, ok := parseSlowly(doc.Query); !ok || !d.collect(d.operations[doc.OperationName], map[string]bool{}, &fields) {
			return 0, false
		}
		for _, f := range fields {
			if !names(f.name) && !slices.ContainsFunc(f.directives, func(d string) bool { return names("@" + d) }) {
				return 0, false
			}
		}
		return w, len(fields) > 0
	}
	return 0, true
}

func compareWeights(a, b weight) int { return slices.Compare(a[:], b[:]) }

// slowMatch reads the contracts of a set one by one, and holds the set to its
// promise: no request has two contracts of one weight.
func slowMatch(t testing.TB, cs []Contract, req *http.Request) string {
	var best []string
	var heaviest weight
	for _, c := range cs {
		w, ok := weigh(c.Match, req)
		switch order := compareWeights(w, heaviest); {
		case !ok || best != nil && order < 0:
		case best != nil && order == 0:
			best = append(best, c.Name)
		default:
			best, heaviest = []string{c.Name}, w
		}
	}
	require.LessOrEqual(t, len(best), 1, "the set was taken, and %v match alike", best)
	return strings.Join(best, "")
}

// FuzzMatch compares the index of contracts with a reading of them one by one.
func FuzzMatch(f *testing.F) {
	for _, contracts := range []string{
		"*\na.test\na.test|/v1\na.test|/v1/x/|PUT GET\na.test:443\na.test|/v1||X-A|1",
		"a.test b.test|/v1\nb.test c.test|/v1", "[::1] 2001:DB8::1|/\n[::1]:8080\n*||GET|x-a|\n*||GET|X-B|1", "A.TEST.\na.test:80||POST\na.test:8080",
		"*.a.test\nb.*.a.test|/v1/*/x\n*-live.a.test|/v1/y/x=\n*.a.test:443|/v1/* /v2=\n*.b.a.test||GET", "a.test|/v1/*/y\na.test|/v1/x/y=\na.test|/*/*||X-A|1*\na.test|||X-A|12*",
		"*|/v1%2Fx\n*|/v1", "a.test|/\na.test:443|/v1/x\na.test|/v1/x/y\n*|/v1/x/y/z\nb.test|/v1||X-A\nb.test|/v1||X-A|1",
	} {
		f.Add(contracts, "POST", "https://a.test/v1/x/y", "", "1", "2")
		f.Add(contracts, "GET", "http://[::1]:8080/v10", "B.test.:80", " 1 ", "")
		f.Add(contracts, "POST", "https://b.c-live.a.test/v1/y/x", "b.c.a.test", "12", "")
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

		want := slowMatch(t, cs, req)
		require.Equal(t, want, matchedName(s, req))

		slices.Reverse(cs)
		turned, err := newContractSet(cs)
		require.NoError(t, err, "their order does not matter")
		require.Equal(t, want, matchedName(turned, req))
	})
}
