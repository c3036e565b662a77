package oncehttp

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var credentialHeaders = strings.Fields(`
	Authorization authorization AUTHORIZATION Proxy-Authorization Cookie Set-Cookie X-Api-Key x-api-key api-key Api_Key X-ApiKey
	X-Auth-Token X-Auth-Key X-Access-Token X-Amz-Security-Token X-Goog-Api-Key X-Goog-Iam-Authorization-Token X-Goog-Encryption-Key
	Ocp-Apim-Subscription-Key X-Functions-Key X-Rapidapi-Key X-Shopify-Access-Token PRIVATE-TOKEN JOB-TOKEN X-Vault-Token X-Consul-Token
	X-Figma-Token Circle-Token X-TrackerToken DD-API-KEY DD-APPLICATION-KEY Fastly-Key X-Insert-Key X-Query-Key X-Honeycomb-Team
	PLAID-SECRET CF-Access-Client-Secret X-MBX-APIKEY CB-ACCESS-KEY CB-ACCESS-SIGN CB-ACCESS-PASSPHRASE X-BAPI-SIGN X-Signature
	Signature Signature-Input X-Hub-Signature-256 X-Twilio-Signature Stripe-Signature X-Csrf-Token X-Xsrf-Token X-Session-Id
	X-Parse-Session-Token X-Amz-Server-Side-Encryption-Customer-Key X-Password X-Client-Secret X-Credential X-Jwt X-Otp
	DPoP MerchantKey X-Trans-Key X-Postmark-Server-Token access_token Authentication X-Forwarded-Authorization`)

var ordinaryHeaders = strings.Fields(`
	Idempotency-Key X-Idempotency-Key idempotency-key Cko-Idempotency-Key Klarna-Idempotency-Key X-GCS-Idempotence-Key
	I-Twilio-Idempotency-Token X-Idempotent-Request-ID Idempotency-Token PayPal-Request-Id Request-Id opc-retry-token
	X-Client-Request-Token Content-Type Content-Length Content-Encoding Content-Language Accept Accept-Encoding Accept-Language
	User-Agent Host Date Stripe-Version Stripe-Account X-Tenant X-Region X-Request-Id Traceparent Tracestate Origin Referer If-Match
	Prefer Authority Author X-Author X-Design-Id Cache-Control X-Amz-Date X-Amz-Content-Sha256 X-Goog-User-Project
	X-Goog-Request-Params X-Goog-Api-Client Sec-WebSocket-Key Surrogate-Key Anthropic-Version OpenAI-Organization Keyword X-Keyspace`)

var credentialParams = strings.Fields(`
	api_key apikey apiKey api-key API_KEY key access_token accessToken token auth_token auth sig Signature signature sign X-Amz-Signature
	X-Amz-Credential X-Amz-Security-Token X-Goog-Signature X-Goog-Credential AWSAccessKeyId password passwd pwd pass secret client_secret
	clientSecret client_assertion assertion session session_id sessionid jsessionid PHPSESSID oauth_token oauth_signature
	oauth_consumer_key id_token refresh_token jwt otp hmac subscription-key subscription_key hapikey app_key appkey license_key
	access_key private_key authkey writeKey appsecret_proof auth[token] x-functions-key`)

var ordinaryParams = strings.Fields(`
	id page limit dry_run amount code state order_key issueKey sort_key object_key partition_key cache_key idempotency_key
	idempotencyKey ClientToken page_token pageToken next_token continuation-token sync_token public_key keyword keys monkey
	design author signed_at version q action Expires X-Amz-Date X-Amz-Algorithm X-Amz-Expires X-Amz-SignedHeaders sv se sp sr pin
	request_token currency user username client_id nonce`)

func TestCredentialsAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	for _, name := range credentialHeaders {
		assert.True(t, secretHeader(name), "header %s", name)
	}
	for _, name := range ordinaryHeaders {
		assert.False(t, secretHeader(name), "header %s", name)
	}
	for _, name := range credentialParams {
		assert.True(t, secretParam(name), "parameter %s", name)
	}
	for _, name := range ordinaryParams {
		assert.False(t, secretParam(name), "parameter %s", name)
	}
}

func TestStrippingHeadersLeavesNoCredentialAndTheRestAsItWas(t *testing.T) {
	t.Parallel()
	h := http.Header{"x-lower-token": {"s3cr3t"}}
	for _, name := range credentialHeaders {
		h[name] = []string{"s3cr3t", "Bearer s3cr3t"}
	}
	rest := http.Header{}
	for _, name := range ordinaryHeaders {
		rest[name] = []string{name, "2"}
	}
	maps.Copy(h, rest)
	before := h.Clone()

	kept, names := stripHeader(h)
	assert.Equal(t, rest, kept)
	assert.Equal(t, before, h, "the caller's header is not touched")
	assert.NotContains(t, fmt.Sprint(kept), "s3cr3t")
	assert.True(t, slices.IsSorted(names))
	assert.Equal(t, len(slices.Compact(slices.Clone(names))), len(names))
	for _, name := range credentialHeaders {
		assert.Contains(t, names, http.CanonicalHeaderKey(name))
	}
	assert.Contains(t, names, "X-Lower-Token")

	kept.Set("Accept", "changed")
	kept["User-Agent"][0] = "changed"
	assert.Equal(t, before, h, "nor by what is done with the copy")

	kept, names = stripHeader(nil)
	assert.Empty(t, kept)
	assert.Empty(t, names)
}

func TestStrippingAURLLeavesTheRestOfTheQueryByteForByte(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw, kept string
		names     []string
	}{
		{"http://h/p?a=1&b=2", "http://h/p?a=1&b=2", nil},
		{"http://user:s3cr3t@h/p", "http://h/p", []string{"Authorization"}},
		{"http://sk_s3cr3t@h/p", "http://h/p", []string{"Authorization"}},
		{"http://h/p?api_key=s3cr3t", "http://h/p", []string{"query:api_key"}},
		{"http://h/p?b=%7e+x&token=s3cr3t&&a=%7E&B&a=", "http://h/p?b=%7e+x&&a=%7E&B&a=", []string{"query:token"}},
		{"http://h/p?api%5Fkey=s3cr3t&%74oken=s3cr3t", "http://h/p", []string{"query:api_key", "query:token"}},
		{"http://h/p?token=s3cr3t&x=1&token=s3cr3t", "http://h/p?x=1", []string{"query:token"}},
		{"http://h/p?a=1;token=s3cr3t&b=2", "http://h/p?b=2", []string{"query:token"}},
		{"http://h/p?password%zz=s3cr3t", "http://h/p", []string{"query:password%zz"}},
		{"http://h/a%2Fb?x=1#access_token=s3cr3t", "http://h/a%2Fb?x=1", nil},
		{"http://u:p@h/p?sig=s3cr3t&se=2", "http://h/p?se=2", []string{"Authorization", "query:sig"}},
		{"http://h/p?", "http://h/p?", nil},
	} {
		u, err := url.Parse(c.raw)
		require.NoError(t, err)
		kept, names := stripURL(u)
		assert.Equal(t, c.kept, kept.String())
		assert.Equal(t, c.names, names, c.raw)
		assert.Equal(t, c.raw, u.String(), "the caller's URL is not touched")
		assert.NotContains(t, kept.String()+fmt.Sprint(names), "s3cr3t")

		assert.Equal(t, u.RawQuery, restoreQuery(kept, u).RawQuery)
		assert.Equal(t, c.kept, kept.String())
	}
}

func TestCredentialsGoBackWhereTheyStoodWhateverElseTheLiveURLSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kept, live, want string }{
		{"a=1&b=2", "a=1&token=x&b=2", "a=1&token=x&b=2"},
		{"a=1&b=2", "token=x&b=2&a=1&sig=y", "token=x&a=1&b=2&sig=y"},
		{"b=%7e&a=1", "a=1&b=~&token=new", "b=%7e&a=1&token=new"},
		{"a=1&b=2", "token=x", "token=x&a=1&b=2"},
		{"", "token=x", "token=x"},
		{"a=1", "a=1&token=x&sig=late", "a=1&token=x&sig=late"},
		{"a=1", "a=1", "a=1"},
		{"a=1", "b=2", "a=1"},
	} {
		kept, live := &url.URL{Host: "kept", RawQuery: c.kept}, &url.URL{Host: "live", RawQuery: c.live}
		assert.Equal(t, &url.URL{Host: "kept", RawQuery: c.want}, restoreQuery(kept, live))
	}
}

func TestACanaryInASecretPlaceNeverSurvives(t *testing.T) {
	t.Parallel()
	const canary = "s3cr3t"
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		pick := func(from []string) string { return from[r.IntN(len(from))] }
		u := &url.URL{Scheme: "https", Host: "api.example.com", Path: "/p", User: url.UserPassword(canary, canary)}
		h := http.Header{}
		var pieces []string
		for range 1 + r.IntN(8) {
			pieces = append(pieces, url.QueryEscape(pick(ordinaryParams))+"=1", url.QueryEscape(pick(credentialParams))+"="+canary)
			h[pick(credentialHeaders)] = []string{canary}
			h[pick(ordinaryHeaders)] = []string{"1"}
		}
		r.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		u.RawQuery = strings.Join(pieces, "&")

		kept, names := stripURL(u)
		keptHeader, headerNames := stripHeader(h)
		all := fmt.Sprint(kept, names, keptHeader, headerNames)
		require.NotContains(t, all, canary, "seed %d", seed)
		require.Equal(t, u.RawQuery, restoreQuery(kept, u).RawQuery, "seed %d", seed)
	}
}

func TestAKeyIsNamedByItsPrint(t *testing.T) {
	t.Parallel()
	// SHA-256 of "abc" (FIPS 180-2, appendix B.1).
	assert.Equal(t, "ba7816bf", keyPrint("abc"))
}
