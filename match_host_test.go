package oncehttp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAHostPatternStandsForOneOrMoreCharactersOfOneLabel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, host string
		names         bool
	}{
		{"*.myshopify.com", "shop.myshopify.com", true},
		{"*.myshopify.com", "SHOP.MyShopify.com.", true},
		{"*.myshopify.com", "s.myshopify.com", true},
		{"*.myshopify.com", "myshopify.com", false},
		{"*.myshopify.com", ".myshopify.com", false},
		{"*.myshopify.com", "a.b.myshopify.com", false},
		{"*.myshopify.com", "evilmyshopify.com", false},
		{"*.myshopify.com", "shop.myshopify.com.evil.test", false},
		{"*.myshopify.com", "shop.myshopify.comx", false},
		{"dynamodb.*.amazonaws.com", "dynamodb.us-east-1.amazonaws.com", true},
		{"dynamodb.*.amazonaws.com", "dynamodb.amazonaws.com", false},
		{"dynamodb.*.amazonaws.com", "dynamodb..amazonaws.com", false},
		{"dynamodb.*.amazonaws.com", "xdynamodb.us-east-1.amazonaws.com", false},
		{"dynamodb.*.amazonaws.com", "dynamodb.a.b.amazonaws.com", false},
		{"*-checkout-live.adyenpayments.com", "1797a841fbb37ca7-shop-checkout-live.adyenpayments.com", true},
		{"*-checkout-live.adyenpayments.com", "-checkout-live.adyenpayments.com", false},
		{"*-checkout-live.adyenpayments.com", "a-checkout-live-checkout-live.adyenpayments.com", true},
		{"*-checkout-live.adyenpayments.com", "a-checkout-test.adyenpayments.com", false},
		{"a*b.c.test", "ab.c.test", false},
		{"a*b.c.test", "axb.c.test", true},
		{"a*a.c.test", "aa.c.test", false},
		{"a*a.c.test", "aaa.c.test", true},
		{"ab*ba.c.test", "aba.c.test", false},
		{"*.s3.*.a.b.test", "x.s3.y.a.b.test", true},
		{"*.s3.*.a.b.test", "x.s3.y.z.a.b.test", false},
		{"*.*.b.test", "x.y.b.test", true},
		{"*.*.b.test", "y.b.test", false},
		{"*.b.test:8443", "x.b.test:8443", true},
		{"*.b.test:8443", "x.b.test", false},
		{"*.b.test", "x.b.test:1", true},
		{"*.b.test", "[::1]", false},
	} {
		s, err := newContractSet([]Contract{contractOn("it", Match{Hosts: hostList(tt.pattern)})})
		require.NoError(t, err, tt.pattern)
		req := requestTo(t, "POST", "https://"+tt.host)
		assert.Equal(t, tt.names, matchedName(s, req) == "it", "%s of %s", tt.host, tt.pattern)
		req = requestTo(t, "POST", "https://x.b.test")
		req.Host = tt.host
		if matchedName(s, req) != "" {
			assert.True(t, tt.names, "the Host header %s is outside of %s", tt.host, tt.pattern)
		}
	}
}

func TestAHostBeatsAPatternAndTheLongerPatternTheShorter(t *testing.T) {
	t.Parallel()
	chance := seededChance(t)
	cs := []Contract{
		contractOn("any", Match{Hosts: hostList("*"), Path: "/v1/x/y"}),
		contractOn("below", Match{Hosts: hostList("*.a.test"), Path: "/v1/x"}),
		contractOn("below 443", Match{Hosts: hostList("*.a.test:443"), Path: "/v1"}),
		contractOn("live", Match{Hosts: hostList("*-live.a.test")}),
		contractOn("live v1", Match{Hosts: hostList("*-live.a.test"), Path: "/v1"}),
		contractOn("pay", Match{Hosts: hostList("pay.a.test")}),
		contractOn("region", Match{Hosts: hostList("db.*.a.test")}),
		contractOn("east", Match{Hosts: hostList("*.east.a.test")}),
		contractOn("both", Match{Hosts: hostList("db.east.a.test", "dbx.*.a.test")}),
	}
	for want, targets := range map[string][]string{
		"any":       {"https://a.test/v1/x/y", "https://b.pay.a.test/v1/x/y", "http://x.b.test/v1/x/y"},
		"below":     {"http://x.a.test/v1/x", "http://x.a.test:8080/v1/x/y"},
		"below 443": {"https://x.a.test/v1/x", "https://x.a.test/v1"},
		"live":      {"https://x-live.a.test/v2", "https://x-live.a.test:99/"},
		"live v1":   {"https://x-live.a.test/v1/x", "http://y-live.a.test/v1"},
		"pay":       {"https://pay.a.test/v1/x"},
		"region":    {"https://db.west.a.test"},
		"east":      {"https://x.east.a.test", "https://dbx.east.a.test"},
		"both":      {"https://db.east.a.test", "https://dbx.west.a.test/v1"},
		"":          {"https://a.test/v2", "https://x.b.test", "http://x.a.test/v1"},
	} {
		for _, target := range targets {
			chance.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
			s, err := newContractSet(cs)
			require.NoError(t, err)
			assert.Equal(t, want, matchedName(s, requestTo(t, "POST", target)), target)
		}
	}
}

func TestTheHostHeaderMayNameAPatternsHost(t *testing.T) {
	t.Parallel()
	s, err := newContractSet([]Contract{contractOn("it", Match{Hosts: hostList("*.a.test", "*.b.test:443", "c.test")})})
	require.NoError(t, err)
	for host, want := range map[string]string{"x.a.test": "it", "x.b.test": "it", "x.b.test:444": "", "c.test": "it", "a.test": "", "x.y.a.test": ""} {
		req := requestTo(t, "POST", "https://shop.a.test/")
		req.Host = host
		assert.Equal(t, want, matchedName(s, req), host)
	}
}

func TestHostPatternsThatSayTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"**": "two * in one label", "**.a.test": "two * in one label", "a*b*.c.test": "two * in one label",
		"*.": "is not a host", "*.:80": "is not a host", "*:80": "is not a host",
		"*.com": "has a * in its last two labels", "a.*.com": "has a * in its last two labels", "a.b.*": "has a * in its last two labels",
		"a.b.c*": "has a * in its last two labels", "x*": "has a * in its last two labels", "a.*b.com": "has a * in its last two labels",
		"*..a.test": "has an empty label", "*.a..test": "has an empty label", ".*.a.test": "has an empty label",
		"10.*.0.1": "is a pattern of IP addresses", "[*::1]": "is not a host", "*.a.test:*": "is not a host", "*.a.test:0": "has no valid port",
		"*.bücher.test": "is not ASCII", "*.a.test/x": "is not a host",
	} {
		_, err := newContractSet([]Contract{contractOn("it", Match{Hosts: hostList(host)})})
		assert.ErrorContains(t, err, want, host)
	}
}
