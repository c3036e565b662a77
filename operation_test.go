package oncehttp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnOperationIsAskedForByTheBody(t *testing.T) {
	t.Parallel()
	const form, asJSON = "application/x-www-form-urlencoded", "application/json"
	s, err := newContractSet([]Contract{
		contractOn("run", operated(OperationForm, "Action", "RunInstances", "StartInstances")),
		contractOn("stop", operated(OperationForm, "Action", "StopInstances")),
		contractOn("create", operated(OperationGraphQL, "", "create", "createMany")),
		contractOn("keyed", operated(OperationGraphQL, "", "@idempotent")),
		contractOn("rest", Match{Hosts: hostList("a.test")}),
		contractOn("elsewhere", Match{Hosts: hostList("b.test"), Operation: Operation{Kind: OperationForm, At: "Action", Names: []string{"Run"}}}),
	})
	require.NoError(t, err)
	named, err := newContractSet([]Contract{
		contractOn("pay", operated(OperationJSON, "/op/name", "pay", "7", "true")), contractOn("rest", Match{Hosts: hostList("a.test")}),
	})
	require.NoError(t, err)
	graphQL := func(query string) string { return `{"query":` + jsonText(query) + `}` }
	for _, tt := range []struct{ want, mediaType, body string }{
		{"run", form, "Action=RunInstances&Version=2016-11-15"},
		{"run", form + "; charset=UTF-8", "a=b&Action=Start%49nstances"},
		{"run", "Application/X-WWW-Form-Urlencoded;charset=utf-8", "Action=RunInstances"},
		{"stop", form, "Action=StopInstances"},
		{"rest", form, "Action=runinstances"},
		{"rest", form, "action=RunInstances"},
		{"rest", form, "Action=RunInstances&Action=StopInstances"},
		{"rest", form, "Action=RunInstances&Action=RunInstances"},
		{"rest", form, "Action=RunInstances&%zz"},
		{"rest", form, ""},
		{"rest", form + "; charset=utf-16", "Action=RunInstances"},
		{"rest", "", "Action=RunInstances"},
		{"rest", "text/plain", "Action=RunInstances"},
		{"rest", form + ", " + form, "Action=RunInstances"},
		{"rest", asJSON, "Action=RunInstances"},

		{"pay", asJSON, `{"op":{"name":"pay"}}`},
		{"pay", asJSON, ` {"op":{"name":"look"},"op":{"name":"\u0070ay"}}`},
		{"pay", "application/x-amz-json-1.0", `{"op":{"name":7}}`},
		{"pay", "application/problem+json; charset=\"UTF-8\"", `{"op":{"name":true}}`},
		{"rest", asJSON, `{"op":{"name":"pay"},"op":{"name":"look"}}`},
		{"rest", asJSON, `{"op":{"name":["pay"]}}`},
		{"rest", asJSON, `{"op":"pay"}`},
		{"rest", asJSON, `{"op":{"name":"pay"}`},
		{"rest", asJSON, `[{"op":{"name":"pay"}}]`},
		{"rest", asJSON, ``},
		{"rest", form, `{"op":{"name":"pay"}}`},
		{"rest", asJSON + "; charset=iso-8859-1", `{"op":{"name":"pay"}}`},

		{"create", asJSON, graphQL("mutation { create(a: 1) { id } }")},
		{"create", asJSON, graphQL("mutation { x: create { id } createMany { id } __typename }")},
		{"create", "application/graphql+json", graphQL("{create}")},
		{"create", asJSON, `{"query":"query A{a} mutation B{create}","operationName":"B","variables":{}}`},
		{"create", asJSON, `{"query":"{create}","operationName":null}`},
		{"create", asJSON, `{"query":"{create}","operationName":""}`},
		{"rest", asJSON, `{"query":"{create}","operationName":"B"}`},
		{"rest", asJSON, `{"query":"query B{create}","operationName":["B"]}`},
		{"rest", asJSON, `{"query":["{create}"]}`},
		{"rest", asJSON, `{"extensions":{"persistedQuery":{"sha256Hash":"x"}}}`},
		{"rest", asJSON, `[{"query":"{create}"}]`},
		{"rest", asJSON, graphQL("{ other { create } }")},
		{"rest", asJSON, graphQL("{ create: other }")},
		{"rest", asJSON, graphQL("{ create other }")},
		{"rest", asJSON, graphQL("{ create ...F } fragment F on M { other }")},
		{"rest", asJSON, graphQL("{ __typename }")},
		{"rest", asJSON, graphQL("{ create")},
		{"keyed", asJSON, graphQL(`mutation { other(i: "@idempotent") @idempotent(key: $k) { id } }`)},
		{"keyed", asJSON, graphQL("mutation { create @x @idempotent }")},
		{"rest", asJSON, graphQL("mutation { a @idempotent b }")},
		{"rest", asJSON, graphQL("mutation M @idempotent { a }")},
		{"rest", asJSON, graphQL("mutation { a { b @idempotent } }")},
		{"rest", asJSON, graphQL("mutation { a # @idempotent\n }")},
	} {
		s := s
		if strings.Contains(tt.body, `"op"`) {
			s = named
		}
		req := requestTo(t, "POST", "https://a.test/")
		assert.Equal(t, tt.want, matchedName(s, withBody(req, tt.mediaType, tt.body)), "%s: %s", tt.mediaType, tt.body)
		for coding, want := range map[string]string{"identity": tt.want, "gzip": "rest"} {
			req.Header.Set("Content-Encoding", coding)
			assert.Equal(t, want, matchedName(s, req), "%s %s: %s", coding, tt.mediaType, tt.body)
		}
	}
	for _, path := range []string{"https://c.test/", "https://b.test/"} {
		c, asks := s.match(withBody(requestTo(t, "PUT", path), form, "Action=Run"))
		assert.Nil(t, c)
		assert.False(t, asks, "no contract of this host and method needs the body")
	}
	_, asks := s.match(withBody(requestTo(t, "POST", "https://b.test/"), asJSON, "{}"))
	assert.False(t, asks, "a body of this media type cannot ask")
	_, asks = s.match(withBody(requestTo(t, "POST", "https://b.test/"), form, ""))
	assert.True(t, asks)
}

func jsonText(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func TestAnOperationComesAfterPathAndHeader(t *testing.T) {
	t.Parallel()
	run := Operation{Kind: OperationForm, At: "Action", Names: []string{"Run"}}
	s, err := newContractSet([]Contract{
		contractOn("run", Match{Hosts: hostList("*.a.test"), Operation: run}),
		contractOn("host", Match{Hosts: hostList("x.a.test")}),
		contractOn("path", Match{Hosts: hostList("*.a.test"), Path: "/v1"}),
		contractOn("header", Match{Hosts: hostList("*.a.test"), Header: "X-A"}),
		contractOn("all", Match{Hosts: hostList("*.a.test")}),
	})
	require.NoError(t, err)
	for _, tt := range []struct{ want, target, body string }{
		{"run", "https://y.a.test/", "Action=Run"}, {"all", "https://y.a.test/", "Action=Stop"},
		{"host", "https://x.a.test/", "Action=Run"}, {"path", "https://y.a.test/v1", "Action=Run"},
	} {
		req := withBody(requestTo(t, "POST", tt.target), "application/x-www-form-urlencoded", tt.body)
		assert.Equal(t, tt.want, matchedName(s, req), "%s %s", tt.target, tt.body)
		if tt.want == "run" || tt.want == "all" {
			req.Header.Set("X-A", "")
			assert.Equal(t, "header", matchedName(s, req))
		}
	}
}

// What has no contract of its own shares the gate of its host's, whose body it
// does not have.
func TestAGateIsSharedWithoutRegardToOperations(t *testing.T) {
	t.Parallel()
	run := operated(OperationForm, "Action", "Run")
	for want, cs := range map[string][]Contract{
		"all": {contractOn("run", run), contractOn("all", Match{Hosts: hostList("a.test")})},
		"":    {contractOn("run", run)},
	} {
		s, err := newContractSet(cs)
		require.NoError(t, err)
		c := &Client{contracts: s}
		req := withBody(requestTo(t, "GET", "https://a.test/"), "application/x-www-form-urlencoded", "Action=Run")
		assert.Equal(t, want, c.gateKey(req, nil).contract)
		assert.Equal(t, "run", c.gateKey(req, s.byName["run"]).contract)
	}
}

func TestAnOperationThatCannotBeAskedForIsRefused(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]Operation{
		"At or Names is set without a Kind":                         {Names: []string{"a"}},
		"Match.Operation.At or Names is set without a Kind":         {At: "a"},
		"Match.Operation.Kind is 4":                                 {Kind: OperationGraphQL + 1},
		"Match.Operation.Names is empty":                            {Kind: OperationForm, At: "Action"},
		"Match.Operation.At is empty; name the form field":          {Kind: OperationForm, Names: []string{"a"}},
		"Match.Operation.At is empty; give the JSON pointer":        {Kind: OperationJSON, Names: []string{"a"}},
		`Match.Operation.At "op" is not a JSON pointer`:             {Kind: OperationJSON, At: "op", Names: []string{"a"}},
		`Match.Operation.At is "/query" and`:                        {Kind: OperationGraphQL, At: "/query", Names: []string{"a"}},
		"Match.Operation.Names[1] is empty":                         {Kind: OperationForm, At: "Action", Names: []string{"a", ""}},
		`Match.Operation.Names[0] "@" is not a field`:               {Kind: OperationGraphQL, Names: []string{"@"}},
		`Match.Operation.Names[0] "1a" is not a field`:              {Kind: OperationGraphQL, Names: []string{"1a"}},
		`Match.Operation.Names[0] "a b" is not a field`:             {Kind: OperationGraphQL, Names: []string{"a b"}},
		`Match.Operation.Names[0] "ä" is not a field`:               {Kind: OperationGraphQL, Names: []string{"ä"}},
		`Match.Operation.Names[0] is __typename`:                    {Kind: OperationGraphQL, Names: []string{"__typename"}},
		`Match.Operation.Names[0] "@@a" is not a field, nor a dire`: {Kind: OperationGraphQL, Names: []string{"@@a"}},
	} {
		_, err := newContractSet([]Contract{contractOn("it", Match{Hosts: hostList("a.test"), Operation: o})})
		assert.ErrorContains(t, err, want)
	}
	_, err := newContractSet([]Contract{contractOn("it", Match{Hosts: hostList("a.test"), Header: "X-Api-Key", HeaderValue: "k"})})
	assert.ErrorContains(t, err, "Match.Header is X-Api-Key, which the journal does not keep")
}
