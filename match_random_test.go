package oncehttp

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func oneOf(chance *rand.Rand, from ...string) string { return from[chance.IntN(len(from))] }

// randomMatch is a contract's selection out of a world small enough that
// contracts meet.
func randomMatch(chance *rand.Rand) Match {
	pick := func(from ...string) string { return oneOf(chance, from...) }
	m := Match{Hosts: hostList(pick("*", "x.a.test", "x.a.test:443", "*.a.test", "x*.a.test", "*y.a.test:443", "*.b.a.test", "x.*.a.test", "b.test"))}
	if chance.IntN(2) == 0 {
		m.Hosts = append(m.Hosts, pick("x.a.test", "*.b.test", "*.a.test:80"))
	}
	m.Path = pick("", "/", "/v1", "/v1/x", "/*", "/v1/*", "/*/x", "/v1/*/y")
	if chance.IntN(3) == 0 {
		m.Paths = []string{pick("/v2", "/v1/x", "/*/x/y", "/v1/")}
	}
	m.Exact = chance.IntN(3) == 0 && (m.Path != "" || m.Paths != nil)
	if chance.IntN(2) == 0 {
		m.Methods = []string{pick("POST", "PUT", "GET")}
	}
	if m.Header = pick("", "X-A", "X-B"); m.Header != "" {
		m.HeaderValue = pick("", "1", "12", "1*", "12*", "2")
	}
	m.Operation = randomOperation(chance)
	return m
}

func randomOperation(chance *rand.Rand) Operation {
	pick := func(from ...string) string { return oneOf(chance, from...) }
	names := []string{pick("Run", "Stop")}
	if chance.IntN(2) == 0 {
		names = append(names, pick("Run", "Stop"))
	}
	switch chance.IntN(6) {
	case 0:
		return Operation{Kind: OperationForm, At: pick("Action", "Act"), Names: names}
	case 1:
		return Operation{Kind: OperationJSON, At: pick("/Action", "/Act"), Names: names}
	case 2:
		return Operation{Kind: OperationGraphQL, Names: []string{pick("Run", "Stop", "@d"), pick("Run", "Stop", "@d", "@e")}}
	}
	return Operation{}
}

var (
	randomHosts  = []string{"x.a.test", "xy.a.test", "y.a.test", "x.b.a.test", "b.test", "c.b.test", "x.a.test:443", "xy.a.test:80", "d.test"}
	randomPaths  = []string{"", "/", "/v1", "/v1/", "/v1/x", "/v1/x/y", "/x/x", "/v2/x", "/v10", "/v1//y", "/v1/q/y"}
	randomValues = []string{"1", "12", "123", "2"}
	randomBodies = allBodies()
)

// allBodies combines what form fields, JSON members and queries may say.
func allBodies() []string {
	list := []string{"Action=Run&Action=Stop", "Action=%zz", "Act=Run;Action=Run", `{"query":"{Run"}`, `{"Action":7}`, `["Run"]`}
	for _, one := range []string{"", "Run", "Stop"} {
		for _, other := range []string{"", "Run", "Stop"} {
			list = append(list, url.Values{"Action": {one}, "Act": {other}}.Encode())
			for _, query := range []string{
				"", "{Run}", "{Stop}", "{Run Stop}", "{Run @d}", "{Run @e}", "{Stop @d}", "{Stop @e}", "{Run @d @e}", "{x}", "{x @d}", "{x @e}", "{x @d @e}",
				"{x @d Run @e}", "{x @d y @e}", "{x @d ...F} fragment F on Q {Stop}", "{x: Run}", "{Run: x}",
			} {
				list = append(list, fmt.Sprintf(`{"Action":%q,"Act":%q,"query":%q}`, one, other, query))
			}
		}
	}
	return list
}

func randomRequest(t testing.TB, chance *rand.Rand) *http.Request {
	pick := func(from ...string) string { return oneOf(chance, from...) }
	req := requestTo(t, pick("POST", "PATCH", "PUT", "GET"), pick("https", "http")+"://"+pick(randomHosts...)+pick(randomPaths...))
	for _, name := range []string{"X-A", "X-B"} {
		if chance.IntN(2) == 0 {
			req.Header.Set(name, pick(randomValues...))
		}
	}
	if chance.IntN(4) == 0 {
		req.Host = pick(randomHosts...)
	}
	if chance.IntN(4) > 0 {
		return randomBody(chance, req)
	}
	return req
}

// randomBody gives a request a body, of the media type that it looks like most
// of the time.
func randomBody(chance *rand.Rand, req *http.Request) *http.Request {
	body := oneOf(chance, randomBodies...)
	mediaType := "application/x-www-form-urlencoded"
	if (body[0] == '{') == (chance.IntN(8) > 0) {
		mediaType = "application/json"
	}
	return withBody(req, mediaType, body)
}

// TestMatchAgreesWithASlowReading compares the index with a reading of the
// rules one by one, over random sets in random order.
func TestMatchAgreesWithASlowReading(t *testing.T) {
	t.Parallel()
	chance := seededChance(t)
	checked, matched := 0, 0
	for range 2500 {
		var cs []Contract
		for i := range 1 + chance.IntN(6) {
			cs = append(cs, contractOn(fmt.Sprint("c", i), randomMatch(chance)))
		}
		s, err := newContractSet(cs)
		if err != nil {
			require.ErrorContains(t, err, "neither is more specific")
			continue
		}
		for range 30 {
			req := randomRequest(t, chance)
			want := slowMatch(t, cs, req)
			require.Equal(t, want, matchedName(s, req), "%s %s Host=%s %v\n%+v", req.Method, req.URL, req.Host, req.Header, cs)
			if checked++; want != "" {
				matched++
			}
		}
	}
	t.Logf("%d requests, %d matched", checked, matched)
	require.Greater(t, matched, 3000)
}

// TestTwoContractsAreATieExactlyWhereARequestHasBoth looks for a host, a path, a
// method and headers that two contracts match alike.
func TestTwoContractsAreATieExactlyWhereARequestHasBoth(t *testing.T) {
	t.Parallel()
	chance := seededChance(t)
	ties := 0
	for range 3000 {
		a, b := randomMatch(chance), randomMatch(chance)
		if chance.IntN(4) > 0 {
			b.Hosts = a.Hosts
		}
		if chance.IntN(4) > 0 {
			b.Path, b.Exact = a.Path, a.Exact
		}
		if chance.IntN(4) > 0 {
			b.Header, b.HeaderValue = a.Header, a.HeaderValue
		}
		for same := chance.IntN(4) > 0; same && a.Operation.Kind != b.Operation.Kind; {
			b.Operation = randomOperation(chance)
		}
		for _, m := range []*Match{&a, &b} {
			m.Hosts, m.Paths, m.Exact = m.Hosts[:1], nil, m.Exact && m.Path != ""
		}
		alike := slices.ContainsFunc(randomHosts, func(host string) bool {
			h := readHost(host, "https")
			v, isA := weighHost(a.Hosts[0], h)
			w, isB := weighHost(b.Hosts[0], h)
			return isA && isB && v == w
		}) && slices.ContainsFunc(randomPaths, func(path string) bool {
			v, isA := weighPath(a.Path, a.Exact, path)
			w, isB := weighPath(b.Path, b.Exact, path)
			return isA && isB && v == w
		}) && slices.ContainsFunc([]string{"POST", "PUT", "GET"}, func(method string) bool {
			return weighMethod(a, method) && weighMethod(b, method)
		}) && slices.ContainsFunc(randomValues, func(one string) bool {
			return slices.ContainsFunc(randomValues, func(other string) bool {
				h := http.Header{"X-A": {one}, "X-B": {other}}
				v, isA := weighHeader(a, h)
				w, isB := weighHeader(b, h)
				return isA && isB && v == w
			})
		}) && slices.ContainsFunc(randomBodies, func(body string) bool {
			mediaType := "application/x-www-form-urlencoded"
			if body[0] == '{' {
				mediaType = "application/json"
			}
			req := withBody(&http.Request{Header: http.Header{}}, mediaType, body)
			v, isA := weighOperation(a.Operation, req)
			w, isB := weighOperation(b.Operation, req)
			return isA && isB && v == w
		})
		_, err := newContractSet([]Contract{contractOn("a", a), contractOn("b", b)})
		require.Equal(t, alike, err != nil, "%+v\n%+v\n%v", a, b, err)
		if alike {
			ties++
		}
	}
	t.Logf("%d ties", ties)
	require.Greater(t, ties, 200)
}
