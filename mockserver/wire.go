package mockserver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// scripted is the fault's own answer.
func (x *exchange) scripted() Answer {
	f := x.fault
	a := Answer{Status: f.Status, Header: f.Header, Body: f.Body}
	if a.Status == 0 {
		a.Status = http.StatusOK
		if f.See == SeeEarly {
			a.Status = http.StatusRequestEntityTooLarge
		}
	}
	return a.clone()
}

// abort ends the exchange without an answer, or within one: HTTP/1 closes the
// connection, HTTP/2 resets the stream, in the fault's way if it has one.
func (x *exchange) abort() {
	if c := connOf(x.r); c != nil && c.frames != nil && x.r.Context().Err() == nil {
		c.frames.changeReset(x.fault.See)
	}
	panic(http.ErrAbortHandler)
}

// finished is the answer as it goes out: with the fault's headers on the
// workflow's own, and compressed if the fault says so.
func (x *exchange) finished(a Answer) Answer {
	a = a.clone()
	if a.Header == nil {
		a.Header = http.Header{}
	}
	maps.Copy(a.Header, x.fault.Header)
	if x.fault.Gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, a.Body) // a bytes.Buffer takes everything
		_ = z.Close()
		a.Body = b.String()
		a.Header.Set("Content-Encoding", "gzip")
	}
	return a
}

// show lets the client see the answer as the fault says. It may end the handler
// by http.ErrAbortHandler.
func (x *exchange) show(a Answer) {
	f := x.fault
	a = x.finished(a)
	for _, code := range f.Informational {
		x.w.WriteHeader(code)
	}
	if a.Status < 200 && f.leavesAnswer() {
		x.head(a) // 102: no other answer comes
		x.silence()
	}
	switch f.See {
	case SeeReset:
		x.cut(nil, true)
	case SeeClose:
		x.cut(nil, false)
	case SeeRaw:
		x.cut([]byte(f.Body), false)
	case SeeNothing:
		x.silence()
	case SeeGoAway, SeeRefused:
		x.abort()
	case SeeTruncated:
		x.truncate(a)
	case SeeEndless:
		x.head(a)
		x.endless()
	case SeeDrip:
		x.head(a)
		x.drip(a.Body)
	default:
		x.head(a)
		_, _ = io.WriteString(x.w, a.Body) // the client may have gone; the ledger has what happened
	}
}

func (x *exchange) sent(status int) {
	x.note(x.entry, func(q *Request) { q.Status = status })
}

func (x *exchange) head(a Answer) {
	maps.Copy(x.w.Header(), a.Header)
	x.sent(a.Status)
	x.w.WriteHeader(a.Status)
}

// silence waits until the client goes.
func (x *exchange) silence() {
	select {
	case <-x.r.Context().Done():
	case <-x.life.ended:
	}
	x.abort()
}

// endless writes until the client goes or the server closes. The body never
// ends properly.
func (x *exchange) endless() {
	chunk := bytes.Repeat([]byte("endless "), 512)
	for x.r.Context().Err() == nil {
		select {
		case <-x.life.ended:
			x.abort()
		default:
		}
		if _, err := x.w.Write(chunk); err != nil {
			break
		}
	}
	x.abort()
}

func (x *exchange) drip(body string) {
	every := x.fault.Every
	if every <= 0 {
		every = 100 * time.Millisecond
	}
	out := http.NewResponseController(x.w)
	for i := range len(body) {
		if x.r.Context().Err() != nil {
			return
		}
		_, err := io.WriteString(x.w, body[i:i+1])
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return
		}
		if i < len(body)-1 && !x.sleep(every) {
			x.abort()
		}
	}
}

// showEarly answers before the request's body is read, then resets. The reset
// may overtake the answer.
func (x *exchange) showEarly() {
	body := io.Reader(x.r.Body)
	if x.early != nil {
		body = bytes.NewReader(x.early.body)
	}
	n, _ := io.CopyN(io.Discard, body, int64(x.fault.Read)) // a short body is read whole
	x.note(x.entry, func(q *Request) { q.BodyBytes = n })
	a := x.scripted()
	x.sent(a.Status)
	x.cut(wireAnswer(a), true)
}

// cut writes bytes to the connection itself and closes or resets it. Where the
// connection cannot be had (HTTP/2), the stream is reset.
func (x *exchange) cut(b []byte, reset bool) {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		x.abort()
	}
	if len(b) > 0 {
		_, _ = conn.Write(b) // the client may have gone
	}
	if reset {
		conn = lowest(conn) // TLS would say good-bye first
		if c, ok := conn.(interface{ SetLinger(int) error }); ok {
			_ = c.SetLinger(0) // if refused the close is an ordinary one
		}
	}
	_ = conn.Close() // the client may have gone
}

// lowest is the connection below TLS and wrappers.
func lowest(conn net.Conn) net.Conn {
	for {
		c, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = c.NetConn()
	}
}

func (x *exchange) truncate(a Answer) {
	if x.r.ProtoMajor >= 2 {
		x.head(a)
		_, _ = io.WriteString(x.w, a.Body[:min(max(x.fault.Keep, 0), len(a.Body))])
		_ = http.NewResponseController(x.w).Flush()
		x.abort()
	}
	x.sent(a.Status)
	x.cut(truncated(a, x.fault.Framing, x.fault.Keep), false)
}

// truncated is the beginning of an answer, as bytes of HTTP/1.1.
func truncated(a Answer, framing Framing, keep int) []byte {
	a = a.clone()
	if a.Header == nil {
		a.Header = http.Header{}
	}
	body := a.Body
	kept := body[:min(max(keep, 0), len(body))]
	switch framing {
	case FramingChunked:
		a.Header.Del("Content-Length")
		a.Header.Set("Transfer-Encoding", "chunked")
		// One chunk of the whole length, of which only a part comes.
		kept = strconv.FormatInt(int64(len(body)+1), 16) + "\r\n" + kept
	case FramingClose:
		a.Header.Del("Content-Length")
		a.Header.Set("Connection", "close")
	default:
		if a.Header.Get("Content-Length") == "" {
			a.Header.Set("Content-Length", strconv.Itoa(max(len(body), len(kept)+1)))
		}
	}
	a.Body = kept
	return wireBytes(a)
}

// wireAnswer is a whole answer that ends with the connection.
func wireAnswer(a Answer) []byte {
	a = a.with("Connection", "close").with("Content-Length", strconv.Itoa(len(a.Body)))
	return wireBytes(a)
}

func wireBytes(a Answer) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	_ = a.Header.Write(&b) // a bytes.Buffer takes everything
	b.WriteString("\r\n")
	b.WriteString(a.Body)
	return b.Bytes()
}
