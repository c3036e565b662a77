package oncehttp_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// The query and the header hold é in ISO 8859-1, which is no UTF-8.
func TestARequestIsTheSameAfterARestartWhateverItsBytes(t *testing.T) {
	t.Parallel()
	var sent []string
	inBubble(t, mockserver.Config{}, func(b *bench) {
		pay := func() *http.Request {
			req := post(b.T, "http://api.example.com/payments?note=caf\xe9", payment)
			req.Header["X-Note"] = []string{"caf\xe9 \u20ac"}
			return req
		}
		o, err := b.c.Do("pay-1", pay())
		b.ruled(o, err)
		b.reopen()
		time.Sleep(time.Minute)
		require.Len(b, b.resume(), 1)
		require.Len(b, sent, 2)
		assert.Equal(b, "note=caf\xe9 caf\xe9 \u20ac", sent[0])
		assert.Equal(b, sent[0], sent[1])

		want := b.known().Response.Header
		assert.Equal(b, http.Header{"X-Name": {"\xe9"}}, want)
		b.reopen()
		assert.Equal(b, want, b.known().Response.Header)
		o, err = b.c.Do("pay-1", pay())
		require.NoError(b, err)
		assert.Equal(b, want, o.Response.Header)
	}, oneAttempt, func(cfg *oncehttp.Config) {
		cfg.Transport = roundTripFunc(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.URL.RawQuery+" "+r.Header.Get("X-Note"))
			if len(sent) == 1 {
				return nil, io.ErrUnexpectedEOF
			}
			return &http.Response{StatusCode: 201, Header: http.Header{"X-Name": {"\xe9"}}, Body: http.NoBody, Request: r}, nil
		})
	})
}
