package oncehttp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operated selects by an operation on one host.
func operated(kind OperationKind, at string, names ...string) Match {
	return Match{Hosts: hostList("a.test"), Operation: Operation{Kind: kind, At: at, Names: names}}
}

func TestContractsThatCannotBeToldApartAreRefused(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]Match{
		"the same":               {{Hosts: hostList("a.test")}, {Hosts: hostList("a.test")}},
		"spellings of a host":    {{Hosts: hostList("a.test")}, {Hosts: hostList("A.TEST.")}},
		"spellings of IPv6":      {{Hosts: hostList("[::1]")}, {Hosts: hostList("0:0:0:0:0:0:0:1")}},
		"spellings of a path":    {{Hosts: hostList("a.test"), Path: "/"}, {Hosts: hostList("a.test")}},
		"one host of two":        {{Hosts: hostList("a.test", "b.test")}, {Hosts: hostList("b.test", "c.test")}},
		"any host":               {{Hosts: hostList("*")}, {Hosts: hostList("*")}},
		"one method of two":      {{Hosts: hostList("a.test"), Methods: []string{"PUT", "PATCH"}}, {Hosts: hostList("a.test")}},
		"headers of other names": {{Hosts: hostList("a.test"), Header: "X-A"}, {Hosts: hostList("a.test"), Header: "X-B"}},
		"a header twice":         {{Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "v"}, {Hosts: hostList("a.test"), Header: "x-a", HeaderValue: "V "}},
		"ports left out":         {{Hosts: hostList("*.a.test:443")}, {Hosts: hostList("*.A.test:443")}},
		"patterns that cross":    {{Hosts: hostList("x*.a.test")}, {Hosts: hostList("*y.a.test")}},
		"patterns in two labels": {{Hosts: hostList("x.*.a.test")}, {Hosts: hostList("*.y.a.test")}},
		"a host of a pattern's":  {{Hosts: hostList("c.test", "*.a.test")}, {Hosts: hostList("b.test", "*.a.test")}},
		"paths that cross":       {{Hosts: hostList("a.test"), Path: "/v1/*"}, {Hosts: hostList("a.test"), Path: "/*/v1"}},
		"one path of two":        {{Hosts: hostList("a.test"), Path: "/a", Paths: []string{"/v1/x"}}, {Hosts: hostList("a.test"), Paths: []string{"/b", "/v1/x/"}}},
		"exact paths":            {{Hosts: hostList("a.test"), Path: "/v1", Exact: true}, {Hosts: hostList("a.test"), Path: "/v1", Exact: true}},
		"the start of a header":  {{Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "v*"}, {Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "V*"}},
		"any text of a header":   {{Hosts: hostList("a.test"), Header: "X-A", HeaderValue: " * "}, {Hosts: hostList("a.test"), Header: "X-A"}},
		"one operation of two":   {operated(OperationForm, "Action", "Run", "Stop"), operated(OperationForm, "Action", "Stop")},
		"operations elsewhere":   {operated(OperationForm, "Action", "Run"), operated(OperationForm, "Act", "Stop")},
		"JSON and GraphQL":       {operated(OperationJSON, "/op", "a"), operated(OperationGraphQL, "", "b")},
		"fields":                 {operated(OperationGraphQL, "", "a", "b"), operated(OperationGraphQL, "", "b", "c")},
		"field and directive":    {operated(OperationGraphQL, "", "a", "@d"), operated(OperationGraphQL, "", "b")},
		"directives":             {operated(OperationGraphQL, "", "@a"), operated(OperationGraphQL, "", "@b")},
		"the same port":          {{Hosts: hostList("a.test:443")}, {Hosts: hostList("a.test:443")}},
	} {
		_, err := newContractSet([]Contract{contractOn("first", pair[0]), contractOn("other", Match{Hosts: hostList("z.test")}), contractOn("second", pair[1])})
		require.ErrorContains(t, err, `contracts "first" and "second" match the same requests`, name)
		assert.NotContains(t, err.Error(), "other", name)
	}
	for name, pair := range map[string][2]Match{
		"hosts":         {{Hosts: hostList("a.test")}, {Hosts: hostList("b.test")}},
		"port":          {{Hosts: hostList("a.test")}, {Hosts: hostList("a.test:443")}},
		"ports":         {{Hosts: hostList("a.test:80")}, {Hosts: hostList("a.test:443")}},
		"methods":       {{Hosts: hostList("a.test")}, {Hosts: hostList("a.test"), Methods: []string{"PUT"}}},
		"paths":         {{Hosts: hostList("a.test"), Path: "/v1"}, {Hosts: hostList("a.test"), Path: "/v2"}},
		"header values": {{Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "1"}, {Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "2"}},
		"labels":        {{Hosts: hostList("x*.a.test")}, {Hosts: hostList("y*.a.test")}},
		"label ends":    {{Hosts: hostList("*x.a.test")}, {Hosts: hostList("*y.a.test")}},
		"label counts":  {{Hosts: hostList("*.*.a.test")}, {Hosts: hostList("*xx.a.test")}},
		"literal bytes": {{Hosts: hostList("x*.a.test")}, {Hosts: hostList("xy*.a.test")}},
		"a pattern":     {{Hosts: hostList("*.a.test")}, {Hosts: hostList("b.a.test")}},
		"tails":         {{Hosts: hostList("*.a.test")}, {Hosts: hostList("*.b.test")}},
		"deep tails":    {{Hosts: hostList("x*.b.a.test")}, {Hosts: hostList("x*.c.a.test")}},
		"pattern ports": {{Hosts: hostList("*.a.test:80")}, {Hosts: hostList("*.a.test:81")}},
		"segments":      {{Hosts: hostList("a.test"), Path: "/v1/*/a"}, {Hosts: hostList("a.test"), Path: "/v1/*/b"}},
		"a segment":     {{Hosts: hostList("a.test"), Path: "/v1/*"}, {Hosts: hostList("a.test"), Path: "/v1/a"}},
		"exact":         {{Hosts: hostList("a.test"), Path: "/v1"}, {Hosts: hostList("a.test"), Path: "/v1", Exact: true}},
		"exact others":  {{Hosts: hostList("a.test"), Path: "/v1", Exact: true}, {Hosts: hostList("a.test"), Path: "/v2", Exact: true}},
		"exact slashes": {{Hosts: hostList("a.test"), Path: "/v1/*", Exact: true}, {Hosts: hostList("a.test"), Path: "/v1/", Exact: true}},
		"a value":       {{Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "v*"}, {Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "v"}},
		"starts":        {{Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "v*"}, {Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "w*"}},
		"a start":       {{Hosts: hostList("a.test"), Header: "X-A", HeaderValue: "v*"}, {Hosts: hostList("a.test"), Header: "X-A"}},
		"an operation":  {operated(OperationForm, "Action", "Run"), {Hosts: hostList("a.test")}},
		"operations":    {operated(OperationForm, "Action", "Run"), operated(OperationForm, "Action", "Stop")},
		"JSON values":   {operated(OperationJSON, "/op", "a"), operated(OperationJSON, "/op", "b")},
		"media types":   {operated(OperationForm, "op", "a"), operated(OperationJSON, "/op", "a")},
		"and GraphQL":   {operated(OperationForm, "op", "a"), operated(OperationGraphQL, "", "a")},
		"fields":        {operated(OperationGraphQL, "", "a"), operated(OperationGraphQL, "", "b", "c")},
		"a directive":   {operated(OperationGraphQL, "", "@d"), operated(OperationGraphQL, "", "a", "@d")},
		"a condition":   {{Hosts: hostList("a.test"), Header: "X-A"}, {Hosts: hostList("a.test")}},
	} {
		_, err := newContractSet([]Contract{contractOn("first", pair[0]), contractOn("second", pair[1])})
		assert.NoError(t, err, name)
	}
	_, err := newContractSet([]Contract{contractOn("alone", Match{Hosts: hostList("a.test", "A.test", "a.test")})})
	assert.NoError(t, err, "a host that stands twice in one contract")
}
