package oncehttp_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// mac is a signature over the body and the URL.
func mac(uri, body string) string {
	h := hmac.New(sha256.New, []byte("secret"))
	io.WriteString(h, uri+"\n"+body)
	return hex.EncodeToString(h.Sum(nil))
}

func TestASignatureOfTheFrozenRequestFitsWhatIsSent(t *testing.T) {
	t.Parallel()
	for _, c := range carrierCases() {
		srv := newRecorder(t, 2)
		client := open(t, journalPath(t), oncehttp.Config{
			Contracts: []oncehttp.Contract{c.contract},
			Authorize: func(req *http.Request, _ bool) error {
				body, err := req.GetBody()
				if err != nil {
					return err
				}
				text, err := io.ReadAll(body)
				req.Header.Set("X-Signature", mac(req.URL.RequestURI(), string(text)))
				return err
			},
		})
		o, err := client.Do("pay-1", c.request(t, srv.URL, c.uri, c.body))
		require.NoError(t, err)
		c.requireSent(t, srv, o.Key, 3)
		for _, r := range srv.requests() {
			require.Equal(t, mac(r.uri, r.body), r.header.Get("X-Signature"))
		}
	}
}

func TestARequestThatWasSignedWithoutTheKeyIsRefused(t *testing.T) {
	t.Parallel()
	signatures := http.Header{
		"Authorization": {"AWS4-HMAC-SHA256 Credential=x"}, "Signature": {"sig1=:x:"}, "Content-Digest": {"sha-256=:x:"},
		"X-Amz-Content-Sha256": {"e3b0"}, "Tl-Signature": {"x"}, "X-Hub-Signature-256": {"x"}, "Content-Md5": {"x"},
	}
	for _, c := range carrierCases() {
		for name, values := range signatures {
			srv := newRecorder(t, 1)
			client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}, Retry: oncehttp.Retry{MaxAttempts: 1, Base: time.Millisecond}})
			signed := func(uri, body string) *http.Request {
				req := c.request(t, srv.URL, uri, body)
				req.Header[name] = values
				return req
			}
			_, err := client.Do("pay-1", signed(c.uri, c.body))
			require.ErrorIs(t, err, oncehttp.ErrInvalidRequest, "%s %s", c.name, name)
			require.ErrorContains(t, err, "it was signed (header "+name+")")
			require.ErrorContains(t, err, "put a key there before you sign, at every call the same, or sign in Config.Authorize")
			require.Empty(t, srv.requests())

			_, err = client.Do("pay-1", signed(c.ownURI, c.ownBody))
			var pending *oncehttp.PendingError
			require.ErrorAs(t, err, &pending, "with its key it can be signed")
			sent := len(srv.requests())
			require.Equal(t, 1, sent)

			other := signed(strings.ReplaceAll(c.ownURI, "own-key-1", "own-key-3"), strings.ReplaceAll(c.ownBody, "own-key-1", "own-key-3"))
			o, err := client.Do("pay-1", other)
			require.ErrorIs(t, err, oncehttp.ErrInvalidRequest, "the recorded key is another one")
			require.Equal(t, oncehttp.Pending, o.State)
			require.Len(t, srv.requests(), sent)

			_, err = client.Do("pay-1", signed(c.ownURI, c.ownBody))
			require.NoError(t, err)
		}
	}
}

func TestASignatureAboveIsNoMatterWhereTheKeyChangesNothingOfIt(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 0)
	c := carrierCases()[0]
	send := func(change func(*http.Request), cfg oncehttp.Config) error {
		req := c.request(t, srv.URL, c.uri, c.body)
		change(req)
		_, err := open(t, journalPath(t), cfg).Do("pay-1", req)
		return err
	}
	body := oncehttp.Config{Contracts: []oncehttp.Contract{c.contract}}
	require.NoError(t, send(func(req *http.Request) { req.Header.Set("Authorization", "Bearer x") }, body))
	require.NoError(t, send(func(req *http.Request) { req.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") }, body))
	require.NoError(t, send(func(req *http.Request) { req.Header.Set("Signature", "x") }, oncehttp.Config{}), "the key is in a header")
	signing := body
	signing.Authorize = func(req *http.Request, _ bool) error { return nil }
	require.NoError(t, send(func(req *http.Request) { req.Header.Set("Authorization", "AWS4-HMAC-SHA256 x") }, signing), "Authorize signs anew")
	require.Error(t, send(func(req *http.Request) { req.Header.Set("Content-Digest", "x") }, signing), "Authorize cannot")
}
