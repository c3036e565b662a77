package wire

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An exchange is a request of which the header is there, on a connection of a
// hand-written HTTP/1 server.
type exchange struct {
	net.Conn
	s   *server
	req *http.Request
	br  *bufio.Reader
	nth int // send of the action, from 1, over all connections
}

// take reads the request's body.
func (x *exchange) take() {
	if _, err := io.Copy(io.Discard, x.req.Body); err == nil {
		x.s.end()
	}
}

func (x *exchange) say(text string) {
	if strings.Contains(text, " 201") {
		x.s.success()
	}
	io.WriteString(x, text)
}

func (x *exchange) gone() bool {
	x.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := x.br.Peek(1)
	timeout, ok := err.(net.Error)
	return err != nil && !(ok && timeout.Timeout())
}

func serveBytes(t testing.TB, play func(*exchange)) *server {
	return serve(t, nil, func(s *server, nc net.Conn) { exchanges(s, nc, play) })
}

// exchanges plays each request of the action's, until the client ends.
func exchanges(s *server, nc net.Conn, play func(*exchange)) {
	br := bufio.NewReader(nc)
	for {
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		if req.Method == "PRI" { // HTTP/2's preface
			io.WriteString(nc, well)
			return
		}
		x := &exchange{Conn: nc, s: s, req: req, br: br}
		if req.URL.Path == "/warm" {
			s.arrived <- struct{}{}
			<-s.release
			io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		x.nth = s.head(req.Header.Get("Idempotency-Key"))
		play(x)
	}
}

const (
	created = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
	well    = created + "Content-Length: 2\r\n\r\n{}"
)

// says reads the request whole, answers, and ends the connection.
func says(text string) func(*exchange) {
	return func(x *exchange) {
		x.take()
		x.say(text)
		hangUp(x.Conn)
	}
}

// What HTTP/1 servers say that no server should, to requests that may be
// repeated and to those that may not. T7, T9, T10, T11, T22
func TestHTTP1IsBelievedNoFurtherThanItsStatus(t *testing.T) {
	t.Parallel()
	endless := func(header, piece string) func(*exchange) {
		return func(x *exchange) {
			x.take()
			x.say(header)
			for {
				if _, err := io.WriteString(x, piece); err != nil {
					return
				}
			}
		}
	}
	dripping := func(header, piece string) func(*exchange) {
		return func(x *exchange) {
			x.take()
			x.say(header)
			for !x.gone() {
				io.WriteString(x, piece)
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
	for name, tt := range map[string]struct {
		play    func(*exchange)
		want    expect
		timeout time.Duration
		expects bool // 100-continue
	}{
		"an answer":                   {play: says(well), want: confirmed},
		"half a status line":          {play: says("HTTP/1.1 20"), want: unknown},
		"a status line and no more":   {play: says("HTTP/1.1 201 Created\r\n"), want: unknown},
		"a header over the limit":     {play: says(created + "X: " + strings.Repeat("x", 2*headerLimit) + "\r\n\r\n"), want: unknown},
		"many headers over the limit": {play: says(created + strings.Repeat("X-A: bbbbbbbb\r\n", headerLimit/4) + "\r\n"), want: unknown},
		"a header without end":        {play: endless(created, "X-A: b\r\n"), want: unknown},
		"a header that drips":         {play: dripping(created+"X: ", "x"), timeout: short, want: unknown},
		"a length too long":           {play: says(created + "Content-Length: 10\r\n\r\n{}"), want: cutOff},
		"a length too short":          {play: says(created + "Content-Length: 2\r\n\r\n{}{}{}"), want: confirmed},
		"two lengths, of one mind":    {play: says(created + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), want: confirmed},
		"two lengths, of two":         {play: says(created + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), want: unknown},
		"a length in a list":          {play: says(created + "Content-Length: 2, 2\r\n\r\n{}"), want: unknown},
		"a length with a sign":        {play: says(created + "Content-Length: +2\r\n\r\n{}"), want: unknown},
		"a length of hex":             {play: says(created + "Content-Length: 0x2\r\n\r\n{}"), want: unknown},
		"a length over all bounds":    {play: says(created + "Content-Length: 99999999999999999999\r\n\r\n{}"), want: unknown},
		"a length, and chunks":        {play: says(created + "Content-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), want: confirmed},
		"chunks, twice":               {play: says(created + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), want: unknown},
		"another transfer encoding":   {play: says(created + "Transfer-Encoding: gzip\r\n\r\n{}"), want: unknown},
		"chunks of garbage":           {play: says(created + "Transfer-Encoding: chunked\r\n\r\n\x00\xff\r\n{}\r\n0\r\n\r\n"), want: cutOff},
		"chunks without a last":       {play: says(created + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"), want: cutOff},
		"chunks of a byte, for ever":  {play: endless(created+"Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"), want: tooLong},
		"a chunk's extension":         {play: endless(created+"Transfer-Encoding: chunked\r\n\r\n2;", "x"), want: cutOff},
		"a body without end":          {play: endless(created+"\r\n", "xxxxxxxxxxxxxxxx"), want: tooLong},
		"a body that drips":           {play: dripping(created+"Content-Length: 10000\r\n\r\n", "x"), timeout: brief, want: left(cutOff)},
		"trailers without end":        {play: endless(created+"Trailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", "X-A: b\r\n"), want: cutOff},
		"bare line feeds":             {play: says("HTTP/1.1 201 Created\nContent-Type: application/json\nContent-Length: 2\n\n{}"), want: confirmed},
		"bare carriage returns":       {play: says("HTTP/1.1 201 Created\rContent-Length: 2\r\r{}"), want: unknown},
		"a folded header":             {play: says(created + "X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}"), want: confirmed},
		"a space before the colon":    {play: says(created + "X-A : b\r\nContent-Length: 2\r\n\r\n{}"), want: confirmed},
		"a zero byte in a header":     {play: says(created + "X-A: \x00\r\nContent-Length: 2\r\n\r\n{}"), want: unknown},
		"a line before the status":    {play: says("\r\n" + well), want: unknown},
		"two spaces":                  {play: says("HTTP/1.1  201 Created\r\nContent-Length: 2\r\n\r\n{}"), want: confirmed},
		"small letters":               {play: says("http/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"), want: unknown},
		"status 000":                  {play: says("HTTP/1.1 000 Nothing\r\nContent-Length: 2\r\n\r\n{}"), want: unknown},
		"status 099":                  {play: says("HTTP/1.1 099 Nothing\r\nContent-Length: 2\r\n\r\n{}"), want: hopeless},
		"status +20":                  {play: says("HTTP/1.1 +20 Nothing\r\nContent-Length: 2\r\n\r\n{}"), want: hopeless},
		"status -20":                  {play: says("HTTP/1.1 -20 Nothing\r\nContent-Length: 2\r\n\r\n{}"), want: unknown},
		"status 999":                  {play: says("HTTP/1.1 999 Nothing\r\nContent-Length: 2\r\n\r\n{}"), want: hopeless},
		"HTTP/2.0 in words":           {play: says("HTTP/2.0 201 Created\r\nContent-Length: 2\r\n\r\n{}"), want: confirmed},
		"101":                         {play: says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), want: hopeless},
		"101, and a success in it":    {play: says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" + well), want: hopeless},
		"103 ten thousand times":      {play: says(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10_000) + well), want: unknown},
		"103 a hundred times":         {play: says(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100) + well), want: confirmed},
		"103 with a length":           {play: says("HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\n{}" + well), want: unknown},
		"100 without being asked":     {play: says("HTTP/1.1 100 Continue\r\n\r\n" + well), want: confirmed},
		"reset":                       {play: func(x *exchange) { x.take(); abort(x.Conn) }, want: unknown},
		"reset at the header":         {play: func(x *exchange) { abort(x.Conn) }, want: unknown},
		"a success, and a reset": {play: func(x *exchange) {
			x.take()
			x.say(created + "Content-Length: 2\r\n\r\n{")
			time.Sleep(50 * time.Millisecond)
			abort(x.Conn)
		}, want: cutOff},
		"silence": {play: func(x *exchange) { x.take() }, timeout: short, want: unknown},

		"100 that comes late": {expects: true, play: func(x *exchange) {
			time.Sleep(100 * time.Millisecond) // the client goes on without it after 50 ms
			x.say("HTTP/1.1 100 Continue\r\n\r\n")
			x.take()
			x.say(well)
			hangUp(x.Conn)
		}, want: confirmed},
		"100 that never comes": {expects: true, play: says(well), want: confirmed},
		"100 a hundred times":  {expects: true, play: func(x *exchange) { x.say(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100)); says(well)(x) }, want: confirmed},
		"100 and no more":      {expects: true, play: func(x *exchange) { x.say("HTTP/1.1 100 Continue\r\n\r\n"); x.take(); hangUp(x.Conn) }, want: unknown},
		"a refusal before 100": {expects: true, play: func(x *exchange) { x.say("HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n"); x.take(); hangUp(x.Conn) }, want: rejected},
		"a refusal before 100, closing": {expects: true, play: func(x *exchange) {
			x.say("HTTP/1.1 417 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			hangUp(x.Conn)
		}, want: rejected},
		"a success before 100":          {expects: true, play: func(x *exchange) { x.say(well); x.take(); hangUp(x.Conn) }, want: confirmed},
		"a success before 100, closing": {expects: true, play: func(x *exchange) { x.say(created + "Connection: close\r\nContent-Length: 2\r\n\r\n{}"); hangUp(x.Conn) }, want: confirmed},
		"closed before 100":             {expects: true, play: func(x *exchange) { hangUp(x.Conn) }, want: unknown},
	} {
		for _, sh := range shapes {
			t.Run(fmt.Sprintf("%s/HTTP1/%s", name, sh), func(t *testing.T) {
				t.Parallel()
				s := serveBytes(t, tt.play)
				base := &http.Transport{MaxResponseHeaderBytes: headerLimit, ExpectContinueTimeout: 50 * time.Millisecond}
				c := call{shape: sh, want: tt.want(sh), body: payment, base: base, url: "http://" + s.addr, timeout: tt.timeout, header: http.Header{}}
				if tt.expects {
					c.header.Set("Expect", "100-continue")
				}
				if c.timeout == 0 {
					c.timeout = timely
				}
				c.want.any = c.timeout < timely
				c.run(t, s)
			})
		}
	}
}

// What a server says on an idle connection is no answer to what is sent later.
// T2, T22
func TestWhatIsSaidOnAnIdleConnectionAnswersNothing(t *testing.T) {
	t.Parallel()
	for name, stray := range map[string]string{
		"408":         "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"a success":   well,
		"a refusal":   "HTTP/1.1 422 No\r\nContent-Length: 0\r\n\r\n",
		"half of one": "HTTP/1.1 42",
		"garbage":     "\x00\x01\x02",
	} {
		for _, sh := range shapes {
			t.Run(fmt.Sprintf("%s/HTTP1/%s", name, sh), func(t *testing.T) {
				t.Parallel()
				s := serve(t, nil, func(s *server, nc net.Conn) {
					s.mu.Lock()
					first := s.opened == 1
					s.mu.Unlock()
					if !first {
						exchanges(s, nc, says(well))
						return
					}
					br := bufio.NewReader(nc)
					if _, err := http.ReadRequest(br); err != nil {
						return
					}
					s.arrived <- struct{}{}
					<-s.release
					io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
					time.Sleep(20 * time.Millisecond)
					io.WriteString(nc, stray)
					br.Peek(1) // the client ends it
				})
				base := &http.Transport{}
				warm(t, s, base, "http://"+s.addr, 1)
				require.Eventually(t, func() bool { return s.now().conns == 0 }, timely, time.Millisecond, "the client ends it once it has seen that")
				c := call{shape: sh, want: confirmed(sh), body: payment, base: base, url: "http://" + s.addr, timeout: timely}
				c.run(t, s)
			})
		}
	}
}

// A server that takes HTTP/1 only, asked for HTTP/2.
func TestWhereTheServerKnowsNoHTTP2HTTP1IsSpoken(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		protocols []string
		play      func(*exchange)
		want      expect
	}{
		"http/1.1, answered": {[]string{"http/1.1"}, says(well), confirmed},
		"http/1.1, lost":     {[]string{"http/1.1"}, func(x *exchange) { x.take(); hangUp(x.Conn) }, unknown},
		"http/1.1, lost once": {[]string{"http/1.1"}, func(x *exchange) {
			x.take()
			if x.nth > 1 {
				x.say(well)
			}
			hangUp(x.Conn)
		}, second},
		"no protocol, answered":    {nil, says(well), confirmed},
		"h2 said, http/1.1 spoken": {[]string{"h2"}, says(well), perhapsSent},
	} {
		for _, sh := range shapes {
			t.Run(fmt.Sprintf("%s/TLS/%s", name, sh), func(t *testing.T) {
				t.Parallel()
				s := serve(t, securedFor(tt.protocols...), func(s *server, nc net.Conn) { exchanges(s, nc, tt.play) })
				base, scheme := transport(ways[0])
				c := call{shape: sh, want: tt.want(sh), body: payment, base: base, url: scheme + s.addr, timeout: timely}
				c.run(t, s)
			})
		}
	}
}
