package oncehttp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestABodyOfAnyKindIsTheSameOnEveryAttempt(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("payload ", 20_000))
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	part, err := parts.CreateFormFile("file", "a.bin")
	require.NoError(t, err)
	_, err = part.Write(text)
	require.NoError(t, err)
	require.NoError(t, parts.Close())
	path := filepath.Join(t.TempDir(), "body")
	require.NoError(t, os.WriteFile(path, text, 0o600))

	kinds := map[string]struct {
		sent []byte
		body func(t *testing.T) io.Reader
	}{
		"nil":          {nil, func(*testing.T) io.Reader { return nil }},
		"http.NoBody":  {nil, func(*testing.T) io.Reader { return http.NoBody }},
		"bytes.Buffer": {text, func(*testing.T) io.Reader { return bytes.NewBuffer(bytes.Clone(text)) }},
		"bytes.Reader": {text, func(*testing.T) io.Reader { return bytes.NewReader(text) }},
		"some reader":  {text, func(*testing.T) io.Reader { return io.MultiReader(bytes.NewReader(text)) }},
		"multipart":    {form.Bytes(), func(*testing.T) io.Reader { return bytes.NewReader(form.Bytes()) }},
		"an opened file": {text, func(t *testing.T) io.Reader {
			f, err := os.Open(path)
			require.NoError(t, err)
			return f
		}},
	}
	wires := map[string]mockserver.Config{
		"HTTP/1 reset":   script(mockserver.Fault{See: mockserver.SeeReset}, mockserver.Lost()),
		"HTTP/1 refused": script(mockserver.Status(503), mockserver.Status(429)),
		"HTTP/2 goaway":  script(mockserver.Fault{See: mockserver.SeeGoAway}, mockserver.Fault{See: mockserver.SeeGoAway}),
		"HTTP/2 refused": script(mockserver.Fault{See: mockserver.SeeRefused}, mockserver.Fault{See: mockserver.SeeReset}),
	}
	for wire, server := range wires {
		server.HTTP2 = strings.HasPrefix(wire, "HTTP/2")
		for kind, tt := range kinds {
			t.Run(wire+", "+kind, func(t *testing.T) {
				t.Parallel()
				inBubble(t, server, func(b *bench) {
					req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.srv.URL+"/payments", tt.body(t))
					require.NoError(b, err)
					if kind == "multipart" {
						req.Header.Set("Content-Type", parts.FormDataContentType())
					}
					o, err := b.c.Do("pay-1", req)
					b.ruled(o, err)
					assert.Equal(b, oncehttp.Confirmed, o.State, o)
					assert.Equal(b, 3, o.Attempts)
					q := b.srv.Requests()
					last := q[len(q)-1]
					assert.Equal(b, sumOf(tt.sent), last.BodySHA256)
					assert.EqualValues(b, len(tt.sent), last.ContentLength)
					for _, each := range q {
						assert.Equal(b, last.Key, each.Key)
						if each.Done && each.BodyBytes == last.BodyBytes {
							assert.Equal(b, last.BodySHA256, each.BodySHA256)
						}
					}
				})
			})
		}
	}
}

// A server that answers before it has read the upload leaves a writer behind
// that is still reading: the next attempt must not share its reader.
func TestAnUploadThatIsAnsweredEarlyIsSentWholeAgain(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	early := mockserver.Fault{See: mockserver.SeeEarly, Status: 503, Read: 1024}
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	c := open(t, journalPath(t), oncehttp.Config{Transport: srv.Transport(), Retry: oncehttp.Retry{
		Base: time.Millisecond, Cap: 4 * time.Millisecond, AttemptTimeout: 20 * time.Second,
	}})
	body := make([]byte, size)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	for i := range body {
		body[i] = byte(chance.Uint32())
	}
	sum := sumOf(body)
	for _, method := range []string{http.MethodPost, http.MethodPut} {
		before := len(srv.Requests())
		srv.Script(early, early)
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+"/"+method, bytes.NewReader(body))
		require.NoError(t, err)
		resp, err := c.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		q := srv.Requests()[before:]
		require.GreaterOrEqual(t, len(q), 3)
		assert.Equal(t, sum, q[len(q)-1].BodySHA256)
		assert.EqualValues(t, size, q[len(q)-1].BodyBytes)
	}
}

// Whoever reuses a buffer does so when the body that reads it is closed.
func TestTheCallersBufferIsItsOwnOnceItsBodyIsClosed(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPost, http.MethodPut} {
		inBubble(t, script(mockserver.Status(503), mockserver.Lost()), func(b *bench) {
			pooled := []byte(payment)
			req := b.request(method, "/payments", payment)
			req.GetBody = nil
			req.Body = &watchedBody{ReadCloser: io.NopCloser(bytes.NewReader(pooled)), closed: func() { clear(pooled) }}
			resp, err := b.c.RoundTrip(req)
			require.NoError(b, err)
			require.NoError(b, resp.Body.Close())
			assert.Zero(b, pooled[0], "the body is closed")
			require.Len(b, b.srv.Requests(), 3)
			for _, q := range b.srv.Requests() {
				assert.Equal(b, sumOf([]byte(payment)), q.BodySHA256)
			}
		})
	}
}

func TestADiscardedAnswerFreesTheOnlyConnection(t *testing.T) {
	t.Parallel()
	large := mockserver.Status(503)
	large.Body = strings.Repeat("x", 200<<10)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
		var bodies openCount
		inBubble(t, script(large, large), func(b *bench) {
			ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
			defer cancel()
			resp, err := b.c.RoundTrip(b.request(method, "/payments", "").WithContext(ctx))
			require.NoError(b, err, method)
			assert.Equal(b, 2, resp.StatusCode/100, method)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(b, err)
			require.NoError(b, resp.Body.Close())
			assert.EqualValues(b, 3, bodies.all.Load(), method)
			assert.Zero(b, bodies.now.Load(), method)
		}, func(cfg *oncehttp.Config) {
			transport := cfg.Transport.(*http.Transport)
			transport.MaxConnsPerHost = 1
			cfg.Transport = bodies.of(transport)
		})
	}
}

// The time-out of an attempt ends with the part of the answer that is ours to
// read; the rest may take its time.
func TestALongAnswerMayTakeLongerThanAnAttempt(t *testing.T) {
	t.Parallel()
	const size = 5 * mib
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			begun := time.Now()
			resp, err := b.c.RoundTrip(b.request(method, "/report", ""))
			require.NoError(b, err)
			n, err := io.Copy(io.Discard, resp.Body)
			require.NoError(b, err, method)
			assert.EqualValues(b, size, n)
			assert.Greater(b, time.Since(begun), 2*b.cfg.Retry.AttemptTimeout)
			require.NoError(b, resp.Body.Close())
		}, func(cfg *oncehttp.Config) {
			cfg.Retry.AttemptTimeout = 200 * time.Millisecond
			cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, ContentLength: size, Header: http.Header{}, Request: req,
					Body: &pacedBody{ctx: req.Context(), left: size}}, nil
			})
		})
	}
}

// A pacedBody has 10 bytes a microsecond, until its request's context ends.
type pacedBody struct {
	ctx  context.Context
	left int
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), b.left)
	time.Sleep(time.Duration(n) * time.Microsecond / 10)
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	b.left -= n
	return n, nil
}

func (b *pacedBody) Close() error { return nil }
