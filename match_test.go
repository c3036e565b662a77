package oncehttp

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// contractOn is a contract that takes no key and applies to the hosts.
func contractOn(name string, m Match) Contract { return Contract{Name: name, Match: m} }

func hostList(h ...string) []string { return h }

func requestTo(t testing.TB, method, target string, header ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, target, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	return req
}

// withBody gives a request a body, of which bodyOf reads a copy.
func withBody(req *http.Request, mediaType, body string) *http.Request {
	req.Header.Set("Content-Type", mediaType)
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	return req
}

func bodyOf(req *http.Request) []byte {
	if req.GetBody == nil {
		return nil
	}
	r, _ := req.GetBody()
	body, _ := io.ReadAll(r)
	return body
}

// matchedName is the name of the contract of a request.
func matchedName(s *contractSet, req *http.Request) string {
	c, asks := s.match(req)
	if asks {
		c = s.matchBody(req, bodyOf(req))
	}
	if c != nil {
		return c.Name
	}
	return ""
}

func TestTheMostSpecificContractApplies(t *testing.T) {
	t.Parallel()
	chance := seededChance(t)
	cs := []Contract{
		contractOn("any", Match{Hosts: hostList("*")}),
		contractOn("host", Match{Hosts: hostList("API.Example.com.")}),
		contractOn("host put", Match{Hosts: hostList("api.example.com"), Methods: []string{"PUT"}}),
		contractOn("v1", Match{Hosts: hostList("api.example.com"), Path: "/v1"}),
		contractOn("charges", Match{Hosts: hostList("api.example.com"), Path: "/v1/charges/"}),
		contractOn("dated", Match{Hosts: hostList("api.example.com"), Path: "/v1", Header: "x-version"}),
		contractOn("2026", Match{Hosts: hostList("api.example.com"), Path: "/v1", Header: "X-Version", HeaderValue: "2026"}),
		contractOn("2027", Match{Hosts: hostList("api.example.com"), Path: "/v1", Header: "X-Version", HeaderValue: "2027"}),
		contractOn("port", Match{Hosts: hostList("api.example.com:8443")}),
		contractOn("tls", Match{Hosts: hostList("pay.example.com:443")}),
		contractOn("plain", Match{Hosts: hostList("pay.example.com:80")}),
		contractOn("six", Match{Hosts: hostList("2001:DB8::1", "[::1]:8080")}),
	}
	for _, tt := range []struct {
		want string
		req  *http.Request
	}{
		{"any", requestTo(t, "POST", "http://other.example.com/")},
		{"any", requestTo(t, "PATCH", "http://127.0.0.1:4711")},
		{"any", requestTo(t, "POST", "https://notapi.example.com/v1")},
		{"", requestTo(t, "GET", "https://api.example.com/v1")},
		{"", requestTo(t, "", "https://api.example.com/v1")},
		{"", requestTo(t, "PUT", "https://other.example.com/")},
		{"host", requestTo(t, "POST", "https://api.example.com")},
		{"host", requestTo(t, "POST", "https://API.EXAMPLE.COM./x")},
		{"host", requestTo(t, "POST", "https://api.example.com:1234/v10")},
		{"host", requestTo(t, "POST", "https://api.example.com/v1%2Fcharges")},
		{"host", requestTo(t, "POST", "https://api.example.com/V1")},
		{"host put", requestTo(t, "PUT", "https://api.example.com/v1/charges")},
		{"v1", requestTo(t, "POST", "https://api.example.com/v1")},
		{"v1", requestTo(t, "POST", "https://api.example.com/v1/?a=/v2")},
		{"v1", requestTo(t, "POST", "https://api.example.com/v1/chargesback")},
		{"charges", requestTo(t, "POST", "https://api.example.com/v1/charges")},
		{"charges", requestTo(t, "POST", "https://api.example.com/v1/charges/ch_1/", "X-Version", "2026")},
		{"dated", requestTo(t, "POST", "https://api.example.com/v1", "X-Version", "2025")},
		{"dated", requestTo(t, "POST", "https://api.example.com/v1", "X-Version", "")},
		{"2026", requestTo(t, "POST", "https://api.example.com/v1", "X-Version", " 2026 ")},
		{"2026", requestTo(t, "POST", "https://api.example.com/v1", "X-Version", "2026", "X-Version", "2027")},
		{"2027", requestTo(t, "POST", "https://api.example.com/v1", "X-Version", "2027")},
		{"port", requestTo(t, "POST", "https://api.example.com:8443/v1")},
		{"tls", requestTo(t, "POST", "https://pay.example.com")},
		{"tls", requestTo(t, "POST", "https://pay.example.com:")},
		{"tls", requestTo(t, "POST", "http://pay.example.com:443")},
		{"plain", requestTo(t, "POST", "http://pay.example.com/")},
		{"any", requestTo(t, "POST", "http://pay.example.com:8080/")},
		{"six", requestTo(t, "POST", "http://[2001:db8:0:0::1]:99/")},
		{"six", requestTo(t, "POST", "http://[::1]:8080/")},
		{"any", requestTo(t, "POST", "http://[::1]/")},
	} {
		for range 3 {
			chance.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
			s, err := newContractSet(cs)
			require.NoError(t, err)
			require.Equal(t, tt.want, matchedName(s, tt.req), "%s %s %v", tt.req.Method, tt.req.URL, tt.req.Header)
		}
	}
}

func TestTheHostHeaderMustNameTheContractsHostToo(t *testing.T) {
	t.Parallel()
	s, err := newContractSet([]Contract{
		contractOn("one", Match{Hosts: hostList("one.example.com", "www.one.example.com:443")}),
		contractOn("two", Match{Hosts: hostList("two.example.com")}),
	})
	require.NoError(t, err)
	for _, tt := range []struct{ want, target, host string }{
		{"one", "https://one.example.com/", ""},
		{"one", "https://one.example.com/", "ONE.example.com:443"},
		{"one", "https://one.example.com/", "www.one.example.com"},
		{"one", "https://one.example.com/", "one.example.com:99"},
		{"", "https://one.example.com/", "www.one.example.com:99"},
		{"", "https://one.example.com/", "two.example.com"},
		{"", "https://two.example.com/", "one.example.com"},
		{"", "https://10.0.0.1/", "one.example.com"},
	} {
		req := requestTo(t, "POST", tt.target)
		req.Host = tt.host
		assert.Equal(t, tt.want, matchedName(s, req), "%s with Host %q", tt.target, tt.host)
	}
	assert.Empty(t, matchedName(s, &http.Request{Method: "POST"}), "a request without URL")
	assert.Empty(t, matchedName(s, &http.Request{Method: "POST", URL: &url.URL{}}), "a request without host")
}

func TestASetOfContractsDoesNotChangeWithItsSource(t *testing.T) {
	t.Parallel()
	cs := []Contract{IdempotencyKey("a.test", time.Hour)}
	s, err := newContractSet(cs)
	require.NoError(t, err)
	cs[0].Match.Hosts[0] = "b.test"
	cs[0].Answers[0].Status[0] = 200
	cs[0].Answers[0].Codes[0] = "*"
	cs[0].Replay.Headers[0], cs[0].Replay.Values[0] = "X", "x"
	require.Equal(t, IdempotencyKey("a.test", time.Hour).Answers, s.byName["a.test"].Answers)
	require.Equal(t, IdempotencyKey("a.test", time.Hour).Replay, s.byName["a.test"].Replay)
	require.Equal(t, "a.test", matchedName(s, requestTo(t, "POST", "https://a.test/")))
}

func TestAContractWithoutANameIsNamedAfterItsFirstHostAndPath(t *testing.T) {
	t.Parallel()
	s, err := newContractSet([]Contract{
		contractOn("", Match{Hosts: hostList("API.example.com:443", "b.test"), Path: "/v1/"}),
		contractOn("", Match{Hosts: hostList("[::1]:80")}),
		contractOn("", Match{Hosts: hostList("*")}),
	})
	require.NoError(t, err)
	for _, name := range []string{"api.example.com:443/v1", "[::1]:80", "*"} {
		require.NotNil(t, s.byName[name], name)
		assert.Equal(t, name, s.byName[name].Name)
	}
	assert.Nil(t, s.byName["else"])

	_, err = newContractSet([]Contract{
		contractOn("", Match{Hosts: hostList("a.test")}),
		contractOn("", Match{Hosts: hostList("a.test"), Methods: []string{"PUT"}}),
	})
	assert.ErrorContains(t, err, `contract "a.test" (#1): Name is taken`)
}
