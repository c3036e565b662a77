package oncehttp

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACredentialIsToldByWhatStaysOfIt(t *testing.T) {
	t.Parallel()
	const aws = "AWS4-HMAC-SHA256 Credential=AKIA1/20260301/eu-west-1/sqs/aws4_request, SignedHeaders=host;x-amz-date, Signature="
	for value, want := range map[string]string{
		"Basic dXNlcjpwYXNz":   "Basic dXNlcjpwYXNz",
		"Basic dXNlcjpwYXM=":   "Basic dXNlcjpwYXM=",
		"Bearer sk_live_1":     "Bearer sk_live_1",
		"Bearer eyJ.eyJ.x==":   "Bearer eyJ.eyJ.x==",
		"bearer acct:secret-1": "bearer acct:secret-1",
		"Bearer a=1&sig=x":     "Bearer a=1&sig=x",
		"Token abc":            "Token abc",
		`Token token="abc"`:    "token=abc",
		"GenieKey 1-2":         "GenieKey 1-2",
		"abc":                  "abc",
		"":                     "",
		aws + "abc":            "Credential=AKIA1",
		"AWS AKIA1:c2ln":       "AKIA1",
		"SharedKey acct:c2ln=": "acct",
		`Digest username="u", realm="r", nonce="n", response="x"`:                                "username=u",
		`Signature keyId="k-1",algorithm="rsa-sha256",signature="abc"`:                           "keyId=k-1",
		`OAuth oauth_consumer_key="ck", oauth_token="ot", oauth_nonce="n", oauth_signature="s"`:  "oauth_consumer_key=ck,oauth_token=ot",
		"EG1-HMAC-SHA256 client_token=ct;access_token=at;timestamp=20260301;nonce=n;signature=s": "client_token=ct,access_token=at",
		`Hawk ts="1", nonce="n", mac="m"`:                                                        "",
	} {
		assert.Equal(t, want, lastingAuthorization(value), value)
	}
}

func TestTheCredentialsOfTwoAttemptsAreToldApart(t *testing.T) {
	t.Parallel()
	id := uuid.UUID{1} // fixed, since 16 bits may be the same by chance
	of := func(url string, header ...string) string {
		req, err := http.NewRequest(http.MethodPost, url, nil)
		require.NoError(t, err)
		for i := 0; i < len(header); i += 2 {
			req.Header.Add(header[i], header[i+1])
		}
		return credentialPrint(id, req)
	}
	const at = "https://api.test/pay"
	none := of(at)
	assert.Len(t, none, 4)
	for name, same := range map[string][2]string{
		"cookies":       {of(at, "Cookie", "a=1"), none},
		"form tokens":   {of(at, "X-Csrf-Token", "1"), none},
		"signatures":    {of(at, "X-Signature", "1", "Date", "x"), none},
		"sessions":      {of(at, "X-Amz-Security-Token", "1"), none},
		"the key":       {of(at, "Idempotency-Key", "1"), none},
		"what it does":  {of(at+"?amount=1", "Content-Type", "x"), none},
		"its order":     {of(at+"?api_key=a&access_token=b", "X-Api-Key", "k", "Authorization", "Bearer b"), of(at+"?access_token=b&api_key=a", "Authorization", "Bearer b", "x-api-key", "k")},
		"AWS's date":    {of(at + "?X-Amz-Credential=AK%2F20260301%2Feu&X-Amz-Signature=1"), of(at + "?X-Amz-Credential=AK%2F20260302%2Feu&X-Amz-Signature=2")},
		"AWS's headers": {of(at, "Authorization", "AWS4-HMAC-SHA256 Credential=AK/20260301/x, Signature=1"), of(at, "Authorization", "AWS4-HMAC-SHA256 Credential=AK/20260302/x, Signature=2")},
	} {
		assert.Equal(t, same[0], same[1], name)
	}
	prints := map[string]string{none: "none"}
	for name, print := range map[string]string{
		"Basic":                of(at, "Authorization", "Basic YTpi"),
		"Bearer":               of(at, "Authorization", "Bearer a"),
		"another Bearer":       of(at, "Authorization", "Bearer b"),
		"an API key":           of(at, "X-Api-Key", "a"),
		"another API key":      of(at, "X-Api-Key", "b"),
		"under another name":   of(at, "DD-API-KEY", "b"),
		"in the query":         of(at + "?api_key=a"),
		"another query":        of(at + "?api_key=b"),
		"an access key of AWS": of(at, "Authorization", "AWS4-HMAC-SHA256 Credential=AK/20260301/x, Signature=1"),
		"another":              of(at, "Authorization", "AWS4-HMAC-SHA256 Credential=AL/20260301/x, Signature=1"),
		"presigned":            of(at + "?X-Amz-Credential=AK%2F20260301%2Feu"),
		"presigned by another": of(at + "?X-Amz-Credential=AL%2F20260301%2Feu"),
	} {
		assert.Empty(t, prints[print], name)
		prints[print] = name
	}
}
