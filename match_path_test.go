package oncehttp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPathMatchesByWholeSegments(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		pattern string
		exact   bool
		path    string
		matches bool
	}{
		{"/v1", no, "/v1", yes},
		{"/v1", no, "/v1/", yes},
		{"/v1", no, "/v1/a", yes},
		{"/v1", no, "/v10", no},
		{"/v1", no, "", no},
		{"/", no, "", yes},
		{"/", no, "/x", yes},
		{"/v1/", no, "/v1", yes},
		{"/v1", yes, "/v1", yes},
		{"/v1", yes, "/v1/", no},
		{"/v1", yes, "/v1/a", no},
		{"/v1/", yes, "/v1/", yes},
		{"/v1/", yes, "/v1", no},
		{"/", yes, "", yes},
		{"/", yes, "/", yes},
		{"/", yes, "/x", no},
		{"/v1/*/capture", no, "/v1/ch_1/capture", yes},
		{"/v1/*/capture", no, "/v1/ch_1/capture/x", yes},
		{"/v1/*/capture", no, "/v1/ch_1/captures", no},
		{"/v1/*/capture", no, "/v1//capture", no},
		{"/v1/*/capture", no, "/v1/a/b/capture", no},
		{"/v1/*/capture", no, "/v1/ch_1", no},
		{"/v1/*/capture", no, "/v1/a%2Fb/capture", yes},
		{"/v1/*/capture", yes, "/v1/ch_1/capture", yes},
		{"/v1/*/capture", yes, "/v1/ch_1/capture/", no},
		{"/v1/*", no, "/v1/", no},
		{"/v1/*", no, "/v1", no},
		{"/v1/*", no, "/v1/x/", yes},
		{"/v1/*", yes, "/v1/x/", no},
		{"/v1/*/", yes, "/v1/x/", yes},
		{"/v1/*/", yes, "/v1/x", no},
		{"/*/*", no, "/a/b/c", yes},
		{"/*/*", yes, "/a/b", yes},
		{"/*", no, "/", no},
	} {
		p := newPathPattern(tt.pattern, tt.exact)
		s, err := newContractSet([]Contract{contractOn("it", Match{Hosts: hostList("a.test"), Path: tt.pattern, Exact: tt.exact})})
		require.NoError(t, err, tt.pattern)
		assert.Equal(t, tt.matches, matchedName(s, requestTo(t, "POST", "https://a.test"+tt.path+"?q=1")) == "it", "%s of %+v", tt.path, p)
	}
}

func TestAnyOfAContractsPathsWillDo(t *testing.T) {
	t.Parallel()
	s, err := newContractSet([]Contract{
		contractOn("", Match{Hosts: hostList("a.test"), Paths: []string{"/v1/x", "/v1/*/y", "/v1/x/"}}),
		contractOn("z", Match{Hosts: hostList("a.test"), Path: "/z", Paths: []string{"/v1/x/z"}, Exact: true}),
	})
	require.NoError(t, err)
	for path, want := range map[string]string{
		"/v1/x": "a.test/v1/x", "/v1/q/y/1": "a.test/v1/x", "/z": "z", "/v1/x/z": "z", "/v1/x/z/1": "a.test/v1/x", "/z/1": "", "/v1": "", "": "",
	} {
		assert.Equal(t, want, matchedName(s, requestTo(t, "POST", "https://a.test"+path)), path)
	}
}

func TestTheLongerPathAppliesThenTheOneThatSaysMore(t *testing.T) {
	t.Parallel()
	chance := seededChance(t)
	cs := []Contract{
		contractOn("v1", Match{Hosts: hostList("a.test"), Path: "/v1"}),
		contractOn("any", Match{Hosts: hostList("a.test"), Path: "/v1/*"}),
		contractOn("charges", Match{Hosts: hostList("a.test"), Path: "/v1/charges"}),
		contractOn("new charge", Match{Hosts: hostList("a.test"), Path: "/v1/charges", Exact: true}),
		contractOn("capture", Match{Hosts: hostList("a.test"), Path: "/v1/*/*/capture"}),
		contractOn("exact capture", Match{Hosts: hostList("a.test"), Path: "/v1/*/*/capture", Exact: true}),
		contractOn("of charges", Match{Hosts: hostList("a.test"), Path: "/v1/charges/*/capture"}),
		contractOn("header", Match{Hosts: hostList("a.test"), Path: "/v1", Header: "X-A"}),
	}
	for path, want := range map[string]string{
		"/v1": "v1", "/v1/": "v1", "/v1/x": "any", "/v1/x/y": "any", "/v1/charges": "new charge", "/v1/charges/1": "charges", "/v1/charges/": "charges",
		"/v1/charges/1/capture": "of charges", "/v1/x/1/capture": "exact capture", "/v1/x/1/capture/2": "capture", "/v2": "",
	} {
		chance.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
		s, err := newContractSet(cs)
		require.NoError(t, err)
		assert.Equal(t, want, matchedName(s, requestTo(t, "POST", "https://a.test"+path)), path)
		if want == "v1" {
			want = "header"
		}
		assert.Equal(t, want, matchedName(s, requestTo(t, "POST", "https://a.test"+path, "X-A", "")), path)
	}
}

func TestAHeadersValueAppliesBeforeItsStartAndThatBeforeItsName(t *testing.T) {
	t.Parallel()
	s, err := newContractSet([]Contract{
		contractOn("named", Match{Hosts: hostList("a.test"), Header: "x-target", HeaderValue: "*"}),
		contractOn("db", Match{Hosts: hostList("a.test"), Header: "X-Target", HeaderValue: "DynamoDB*"}),
		contractOn("dated", Match{Hosts: hostList("a.test"), Header: "X-Target", HeaderValue: "dynamodb_2012*"}),
		contractOn("write", Match{Hosts: hostList("a.test"), Header: "X-Target", HeaderValue: "DynamoDB_2012.Write"}),
		contractOn("plain", Match{Hosts: hostList("a.test")}),
	})
	require.NoError(t, err)
	for value, want := range map[string]string{
		"": "named", "x": "named", "DynamoD": "named", "DYNAMODB": "db", "DynamoDB_2011": "db", "DynamoDB_2012": "dated",
		"dynamodb_2012.Read": "dated", " dynamodb_2012.write ": "write", "DynamoDB_2012.Writer": "dated",
	} {
		req := requestTo(t, "POST", "https://a.test")
		for _, spelled := range []string{"X-Target", "x-target", "X-TARGET"} {
			req.Header = map[string][]string{spelled: {value}, "Y-Target": {"DynamoDB"}}
			assert.Equal(t, want, matchedName(s, req), "%s: %q", spelled, value)
		}
	}
	assert.Equal(t, "plain", matchedName(s, requestTo(t, "POST", "https://a.test")))
	req := requestTo(t, "POST", "https://a.test")
	req.Header = map[string][]string{"X-Target": {}, "x-target": {"b"}, "X-TARGET": {"DynamoDB"}}
	assert.Equal(t, "db", matchedName(s, req), "of two spellings the same one always")
}

func TestPathsThatCannotMatchAreRefused(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]Match{
		`Match.Path "/v1/a*" has a * beside other text`:         {Path: "/v1/a*"},
		`Match.Path "/**" has a * beside other text`:            {Path: "/**"},
		`Match.Paths[1] "v2" is not an escaped URL path`:        {Paths: []string{"/v1", "v2"}},
		`Match.Paths[0] "" is not an escaped URL path`:          {Paths: []string{""}},
		`Match.Exact is set without a path; set Match.Path`:     {Exact: true},
		`Match.Paths[0] "/v1?x=*" is not an escaped URL path; `: {Paths: []string{"/v1?x=*"}},
	} {
		m.Hosts = hostList("a.test")
		_, err := newContractSet([]Contract{contractOn("it", m)})
		assert.ErrorContains(t, err, want)
	}
}
