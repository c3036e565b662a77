package oncehttp

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASignatureIsKnownByItsNameOrItsScheme(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, header, value string
		want                 signed
	}{
		{"", "Authorization", "Bearer x", signed{}},
		{"", "Authorization", "Basic x", signed{}},
		{"", "X-Api-Key", "x", signed{}},
		{"", "X-Design", "x", signed{}},
		{"a=signature", "Accept", "x", signed{}},
		{"", "authorization", "AWS4-HMAC-SHA256 Credential=x", signed{by: "header Authorization"}},
		{"", "Authorization", "AWS4-ECDSA-P256-SHA256 x", signed{by: "header Authorization"}},
		{"", "Authorization", "AWS AKIA:x", signed{by: "header Authorization"}},
		{"", "Authorization", "Signature keyId=x", signed{by: "header Authorization"}},
		{"", "Authorization", "hmac user:x", signed{by: "header Authorization"}},
		{"", "Authorization", "TC3-HMAC-SHA256 x", signed{by: "header Authorization"}},
		{"", "Authorization", "SharedKey a:x", signed{by: "header Authorization"}},
		{"", "Authorization", `OAuth oauth_signature="x"`, signed{by: "header Authorization"}},
		{"", "Authorization", `Digest username="x"`, signed{by: "header Authorization"}},
		{"", "Signature-Input", "x", signed{by: "header Signature-Input"}},
		{"", "tl-signature", "x", signed{by: "header Tl-Signature"}},
		{"", "X-JWS-Signature", "x", signed{by: "header X-Jws-Signature"}},
		{"", "X-Hub-Signature-256", "x", signed{by: "header X-Hub-Signature-256"}},
		{"", "CB-ACCESS-SIGN", "x", signed{by: "header Cb-Access-Sign"}},
		{"", "X-Hmac", "x", signed{by: "header X-Hmac"}},
		{"", "Digest", "SHA-256=x", signed{by: "header Digest", kept: true}},
		{"", "content-digest", "x", signed{by: "header Content-Digest", kept: true}},
		{"", "Repr-Digest", "x", signed{by: "header Repr-Digest", kept: true}},
		{"", "Content-MD5", "x", signed{by: "header Content-Md5", kept: true}},
		{"", "X-Amz-Content-Sha256", "e3b0", signed{by: "header X-Amz-Content-Sha256", kept: true}},
		{"", "X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD", signed{}},
		{"a=1&X-Amz-Signature=x", "Accept", "x", signed{by: "query parameter X-Amz-Signature"}},
		{"%73ig=x", "Accept", "x", signed{by: "query parameter sig"}},
	} {
		got := signedBy(http.Header{c.header: {c.value}}, &url.URL{RawQuery: c.query})
		assert.Equal(t, c.want, got, "%s %s: %s", c.query, c.header, c.value)
		if name := http.CanonicalHeaderKey(c.header); got.by == "header "+name {
			assert.Equal(t, got.kept, !secretHeader(name), "%s: kept is what the journal keeps", name)
		}
	}
}

// Of two actions that differ in nothing else, an SDK that mints a key for each
// call, one that sends null, and one that leaves it to us send the same payload.
func TestThePayloadIsTheSameWhateverItsKey(t *testing.T) {
	t.Parallel()
	companions := []Companion{{Kind: CarrierQuery, Name: "at", Value: CompanionSentMicros}, {Kind: CarrierJSON, Name: "/until", Value: CompanionUntil}}
	made := func(query, body string) begun {
		return begun{
			Method: http.MethodPost, URL: "https://api.test/v1" + query, Host: "api.test", Header: http.Header{"Content-Type": {"application/json"}},
			Carrier: Carrier{Kind: CarrierJSON, Name: "/token"}, Companions: companions,
		}
	}
	print := func(query, body string) string {
		return fingerprint(made(query, body).payload([]byte(body)), identity{})
	}
	want := print("?a=1", `{"n":12345678901234567890}`)
	for _, c := range [][2]string{
		{"?a=1", `{"n":12345678901234567890,"token":"a"}`},
		{"?a=1&at=7", ` {"token":null,"n":12345678901234567890.0}`},
		{"?at=&a=1", `{"until":"x","n":12345678901234567890 ,"token":""}`},
	} {
		assert.Equal(t, want, print(c[0], c[1]))
		assert.Empty(t, differences(made("?a=1", "").payload([]byte(`{"n":12345678901234567890}`)), made(c[0], c[1]).payload([]byte(c[1])), identity{}))
	}
	for _, c := range [][2]string{
		{"?a=2", `{"n":12345678901234567890}`},
		{"?a=1", `{"n":12345678901234567891,"token":"a"}`},
		{"?a=1", `{"n":12345678901234567890,"tokens":"a"}`},
		{"?a=1", `{"n":12345678901234567890,"token":7}`},
	} {
		assert.NotEqual(t, want, print(c[0], c[1]))
	}
	plain := made("?a=1", "")
	plain.Carrier, plain.Companions = Carrier{Kind: CarrierHeader, Name: "Idempotency-Key"}, nil
	require.Equal(t, want, fingerprint(plain.payload([]byte(`{"n":12345678901234567890}`)), identity{}), "a contract changes nothing of a payload without a key")
}
