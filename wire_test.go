package oncehttp_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// serveWire is a server on a real socket that speaks byte for byte. Its
// connections are closed when serve returns.
func serveWire(t testing.TB, serve func(net.Conn)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	var conns []net.Conn
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			all.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return "http://" + listener.Addr().String()
}

// answering reads one request whole, and answers it with what is given.
func answering(t testing.TB, answer string) (url string, received *atomic.Int64) {
	received = new(atomic.Int64)
	return serveWire(t, func(conn net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		received.Add(1)
		io.WriteString(conn, answer)
	}), received
}

// Answers as no well-meant server writes them, to a request that may be sent
// once: a whole status line with a header decides, and nothing less.
func TestAnAnswerThatLiesIsBelievedNoFurtherThanItsStatus(t *testing.T) {
	t.Parallel()
	const created = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
	whole := want{oncehttp.Confirmed, "", 1, false, false}
	unknown := want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}
	for name, tt := range map[string]struct {
		answer string
		want   want
		body   string
		cut    bool
	}{
		"a length too long":           {created + "Content-Length: 100\r\n\r\n{}", whole, "{}", true}, // T10
		"a length too short":          {created + "Content-Length: 2\r\n\r\n{}{}{}", whole, "{}", false},
		"two lengths":                 {created + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", unknown, "", false},
		"a length below nothing":      {created + "Content-Length: -1\r\n\r\n{}", unknown, "", false},
		"a chunk too long":            {created + "Transfer-Encoding: chunked\r\n\r\nff\r\n{}\r\n0\r\n\r\n", whole, "{}\r\n0\r\n\r\n", true},
		"a chunk of no length":        {created + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}", whole, "", true},
		"no last chunk":               {created + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", whole, "{}", true},
		"trailers":                    {created + "Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n", whole, "{}", false}, // T16
		"trailers cut off":            {created + "Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Su", whole, "{}", true},
		"gzip that is none":           {created + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", whole, "", true}, // T21
		"an answer too many":          {created + "Content-Length: 2\r\n\r\n{}HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", whole, "{}", false},
		"HTTP/1.0, ended by closing":  {"HTTP/1.0 201 Created\r\n\r\n{}", whole, "{}", false},
		"no reason":                   {"HTTP/1.1 201\r\nContent-Length: 2\r\n\r\n{}", whole, "{}", false},
		"half a status":               {"HTTP/1.1 20\r\nContent-Length: 0\r\n\r\n", unknown, "", false},
		"a status of four figures":    {"HTTP/1.1 2010 Created\r\nContent-Length: 0\r\n\r\n", unknown, "", false},
		"a version of its own":        {"HTTQ/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", unknown, "", false},
		"a status, and no header end": {"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n", unknown, "", false},
		"a header without a colon":    {"HTTP/1.1 201 Created\r\nX\r\nContent-Length: 0\r\n\r\n", unknown, "", false},
		"many headers":                {"HTTP/1.1 201 Created\r\n" + strings.Repeat("X-A: b\r\n", 20_000) + "Content-Length: 2\r\n\r\n{}", whole, "{}", false},
		"headers without end":         {"HTTP/1.1 201 Created\r\n" + strings.Repeat("X-A: b\r\n", 1_500_000), unknown, "", false},
		"1xx by the hundred":          {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 500) + created + "Content-Length: 2\r\n\r\n{}", whole, "{}", false}, // T11
		"1xx by the hundred, no more": {strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 500), unknown, "", false},
		"1xx without end":             {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 400_000), unknown, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, received := answering(t, tt.answer)
			c := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{}})
			o, err := c.Do("pay-1", post(t, url, payment))
			tt.want.check(t, o)
			if tt.want.state == oncehttp.Pending {
				require.ErrorAs(t, err, new(*oncehttp.PendingError))
			} else {
				require.NoError(t, err)
				assert.Equal(t, tt.cut, o.Response.BodyIncomplete)
				assert.Equal(t, tt.body, string(o.Response.Body))
			}
			assert.EqualValues(t, 1, received.Load())
		})
	}
}

// A header that drips is no answer, and holds nobody longer than an attempt may
// last.
func TestAHeaderThatDripsIsNoAnswer(t *testing.T) {
	t.Parallel()
	url := serveWire(t, func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		io.WriteString(conn, "HTTP/1.1 201 Created\r\nX: ")
		for {
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	c := open(t, journalPath(t), oncehttp.Config{Retry: oncehttp.Retry{MaxAttempts: 2, AttemptTimeout: time.Second, Base: time.Millisecond}})
	o, err := c.Do("pay-1", post(t, url, payment))
	require.ErrorAs(t, err, new(*oncehttp.PendingError))
	want{oncehttp.Pending, oncehttp.Unknown, 2, true, false}.check(t, o)
}

// The server answers before it has read the body: net/http still reads it, while
// the next attempt does. T13, for the race detector
func TestABodyStillBeingReadIsTheSameForTheNextAttempt(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("0123456789abcdef", 256<<10)
	var sent atomic.Int64
	var mu sync.Mutex
	whole := 0
	url := serveWire(t, func(conn net.Conn) {
		for r := bufio.NewReader(conn); ; {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			early := sent.Add(1) < 4
			if early {
				io.WriteString(conn, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
				time.Sleep(20 * time.Millisecond)
			}
			h := sha256.New()
			if n, err := io.Copy(h, req.Body); err != nil || n != int64(len(body)) {
				return
			}
			mu.Lock()
			whole++
			assert.Equal(t, sha256.Sum256([]byte(body)), [sha256.Size]byte(h.Sum(nil)))
			mu.Unlock()
			if !early {
				io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
			}
		}
	})
	c := open(t, journalPath(t), oncehttp.Config{Transport: &http.Transport{}, Gate: oncehttp.Gate{Failures: 10}})
	o, err := c.Do("pay-1", post(t, url, body))
	require.NoError(t, err)
	want{oncehttp.Confirmed, "", 4, false, false}.check(t, o)
	mu.Lock()
	defer mu.Unlock()
	assert.NotZero(t, whole)
}

// A 408 that comes on an idle connection answers nothing. T22
func TestA408OnAnIdleConnectionIsNobodysAnswer(t *testing.T) {
	t.Parallel()
	for _, contracts := range [][]oncehttp.Contract{nil, {}} {
		var effects atomic.Int64
		url := serveWire(t, func(conn net.Conn) {
			req, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				return
			}
			io.Copy(io.Discard, req.Body)
			if req.Method == http.MethodPost {
				effects.Add(1)
			}
			io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
			time.Sleep(5 * time.Millisecond)
			io.WriteString(conn, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		})
		c := open(t, journalPath(t), oncehttp.Config{Contracts: contracts})
		for i := range 20 {
			getAtOnce(t, c, url, 1)
			time.Sleep(time.Duration(i) * time.Millisecond / 2)
			o, err := c.Do(fmt.Sprint("pay-", i), post(t, url, payment))
			require.NoError(t, err)
			assert.Equal(t, oncehttp.Confirmed, o.State)
			assert.Equal(t, 201, o.Response.StatusCode)
		}
		assert.EqualValues(t, 20, effects.Load())
	}
}

// T17
func TestNoErrorOfOursShowsWhatAURLHides(t *testing.T) {
	t.Parallel()
	for _, credentials := range []string{"sk_live_secret", "user:sk_live_secret", "sk_live_secret:"} {
		target := "http://" + credentials + "@" + closedPort(t) + "/payments?api_key=sk_live_secret"
		c := open(t, journalPath(t), oncehttp.Config{})
		o, err := c.Do("pay-1", post(t, target, payment))
		require.ErrorAs(t, err, new(*oncehttp.PendingError))
		assert.Equal(t, oncehttp.NotSent, o.Reason)
		for _, text := range []string{err.Error(), o.Err.Error(), o.Explain(), fmt.Sprintf("%+v", o)} {
			assert.NotContains(t, text, "sk_live_secret")
		}
	}
}
