package oncehttp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"time"
	"unicode"
)

// drainLimit and drainTime are how much of a discarded answer is read, and for
// how long, so that its connection can be used again.
const (
	drainLimit = 64 << 10
	drainTime  = time.Second
)

// Causes of our own for the end of an attempt's context.
var (
	errAttemptTimeout = &ownError{text: "the attempt timed out (Retry.AttemptTimeout)"}
	errResend         = &ownError{text: "the transport tried to send the request again by itself and was stopped"}
	errNoAnswer       = &ownError{text: "the transport returned neither an answer nor an error, against the rule of http.RoundTripper"}
	errInterims       = &ownError{text: "the server sent interim answers (1xx) without end"}
	errLate           = &ownError{text: "a connection was got only after the key's usable window, and nothing was sent"}
)

type attemptKey struct{}

// withinAttempt says that a request is sent by an attempt of an oncehttp
// client above, which does all retrying there is.
func withinAttempt(ctx context.Context) bool { return ctx.Value(attemptKey{}) != nil }

// An attempt is one sending of a request.
type attempt struct {
	base     http.RoundTripper
	plain    bool // base is an *http.Transport
	maxBody  int64
	carrier  string // header that holds wire, or empty
	wire     string
	notAfter time.Time
	timeout  time.Duration
}

// sent is what came of it.
type sent struct {
	facts facts
	err   error // without a status
	// response has the answer's status and headers. Its body is nil, or live:
	// not read, or not read to its end.
	response *http.Response
	// cancel ends the attempt's context; called when the live body is closed.
	cancel context.CancelCauseFunc
}

// do sends req once. Body, deadline and guard are its own.
func (a attempt) do(ctx context.Context, req *http.Request, body []byte) sent {
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, attemptKey{}, true))
	var timer *time.Timer
	if a.timeout > 0 {
		timer = time.AfterFunc(a.timeout, func() { cancel(errAttemptTimeout) })
		defer timer.Stop()
	}
	g := &guard{plain: a.plain, host: cmp.Or(req.Host, req.URL.Host), carrier: a.carrier, wire: a.wire, notAfter: a.notAfter, cancel: cancel}
	req = req.WithContext(httptrace.WithClientTrace(ctx, g.trace()))
	req.GetBody = nil
	req.Body = http.NoBody
	if len(body) > 0 {
		req.Body = &attemptBody{guard: g, r: bytes.NewReader(body)}
	} else {
		hideReplayable(req)
	}
	if err := ctx.Err(); err != nil {
		return sent{facts: facts{failure: neverSent}, err: context.Cause(ctx), cancel: cancel}
	}
	if t, ok := a.base.(*http.Transport); ok && t.Proxy != nil {
		if _, err := t.Proxy(req); err != nil {
			return sent{facts: facts{failure: neverSent}, err: err, cancel: cancel}
		}
	}
	resp, err := a.base.RoundTrip(req)
	if resp == nil && err == nil {
		err = errNoAnswer
	}
	if err != nil {
		cause := err
		if own := context.Cause(ctx); own != nil {
			cause = own
		}
		f := g.failure(err, len(body) > 0)
		cancel(nil)
		return sent{facts: facts{failure: f, interim: g.lastInterim()}, err: cause, cancel: cancel}
	}
	s := sent{facts: facts{status: resp.StatusCode, header: resp.Header}, response: resp, cancel: cancel}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	if resp.ProtoMajor == 2 && len(body) > 0 {
		resp.Body = unstall(ctx, resp.Body)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body.Close()
		resp.Body = nil
		return s
	}
	if isStream(resp) {
		if timer == nil || timer.Stop() {
			return s // live, unread
		}
	}
	if resp.StatusCode/100 == 2 {
		s.read(a.maxBody)
	} else {
		s.read(min(a.maxBody, drainLimit)) // enough for any error's code
	}
	if s.response.Body != nil && timer != nil && !timer.Stop() {
		s.discard() // it timed out at the last moment
		s.facts.cut = true
	}
	return s
}

// read reads the answer: whole, or cut, or up to the limit. In the last case
// it stays live, with what was read in front.
func (s *sent) read(limit int64) {
	resp := s.response
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	s.facts.body = body
	switch {
	case int64(len(body)) > limit:
		s.facts.body, s.facts.long = body[:limit:limit], true
		resp.Body = &liveBody{Reader: io.MultiReader(bytes.NewReader(body), resp.Body), Closer: resp.Body}
		return
	case err != nil:
		s.facts.cut, s.err = true, err
	case endsByClosing(resp) && isJSON(resp.Header) && len(body) > 0 && !isWholeJSON(body):
		s.facts.cut, s.err = true, io.ErrUnexpectedEOF
	}
	resp.Body.Close()
	resp.Body = nil
	s.cancel(nil)
}

// readOn reads on in a live body, under a time-out if there is one.
func (s *sent) readOn(limit int64, timeout time.Duration) {
	if timeout > 0 {
		timer := time.AfterFunc(timeout, func() { s.cancel(errAttemptTimeout) })
		defer timer.Stop()
	}
	s.read(limit)
}

// discard drops a live body. What is left of it may be long, or long in coming,
// so the connection goes with it.
func (s *sent) discard() {
	s.response.Body.Close()
	s.response.Body = nil
	s.cancel(nil)
}

type liveBody struct {
	io.Reader
	io.Closer
}

// unstall closes an HTTP/2 answer's body when ctx ends. While the request's body
// waits for its window, net/http ends a read of the answer for nothing less.
func unstall(ctx context.Context, body io.ReadCloser) io.ReadCloser {
	return &unstalledBody{body, context.AfterFunc(ctx, func() { body.Close() })}
}

type unstalledBody struct {
	io.ReadCloser
	stop func() bool
}

func (b *unstalledBody) Close() error {
	b.stop()
	return b.ReadCloser.Close()
}

func isStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

// endsByClosing: the framing says nothing of the body's end (RFC 9112 section
// 6.3), so a cut-off body looks whole.
func endsByClosing(resp *http.Response) bool {
	return resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 &&
		!resp.Uncompressed && resp.Header.Get("Content-Encoding") == ""
}

func isJSON(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return jsonMediaType(kind)
}

func isWholeJSON(body []byte) bool {
	_, whole := readAnswerBody(body)
	return whole
}

// hideReplayable moves the headers by which net/http takes a body-less write
// for one that it may send again (net/http Request.isReplayable) to map keys it
// does not look at. Field names have no case (RFC 9110 section 5.1).
func hideReplayable(req *http.Request) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := req.Header[name]; ok {
			delete(req.Header, name)
			req.Header[strings.ToLower(name)] = values
		}
	}
}

// guard watches one call of the base transport: it stops a resend, and it
// knows whether anything can have left. A connection that is asked for once
// this attempt's headers were written (told by its key; without one by its Host)
// is a resend, without a key if it is for where those headers went, or the body
// was read. One asked for before may serve a request that the base makes for
// itself, a token's say, and a body that was read before may have been read to be
// signed. What a plain base asks for once it has written is a resend: only its
// hooks (Proxy, DialContext) make requests, and they come before.
type guard struct {
	plain               bool
	host, carrier, wire string
	notAfter            time.Time
	cancel              context.CancelCauseFunc

	mu             sync.Mutex // guards what follows; hooks run in several goroutines
	asked          bool       // a connection
	got            []silence  // connections
	askedFor       string     // address of the last one asked for: the host's, or a proxy's
	named          bool       // the headers that are being written name the host
	wrote, bodyHit bool       // this attempt's headers; its body was read
	wroteTo        string     // address that they went to
	shut           bool       // nothing may leave any more
	interim        int        // the last 1xx; net/http keeps them to itself
	interims       int
}

// mostInterims bounds the 1xx of one attempt: who listens to them has to.
const mostInterims = 1000

func (g *guard) trace() *httptrace.ClientTrace {
	t := &httptrace.ClientTrace{
		Got1xxResponse: func(status int, _ textproto.MIMEHeader) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.interim = status
			if g.interims++; g.interims > mostInterims {
				return errInterims
			}
			return nil
		},
		GetConn: func(hostPort string) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.asked, g.askedFor = true, hostPort
			if g.wrote && (g.wire != "" || g.bodyHit || g.plain || g.askedFor == g.wroteTo) {
				g.shut = true
				g.cancel(errResend)
			}
		},
		GotConn: func(info httptrace.GotConnInfo) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.got = append(g.got, silenceOf(info.Conn))
			if !g.notAfter.IsZero() && wallNow().After(g.notAfter) {
				g.shut = true
				g.cancel(errLate)
			}
			if !g.shut {
				return
			}
			if t, ok := info.Conn.(*tls.Conn); !ok || t.ConnectionState().NegotiatedProtocol != "h2" {
				info.Conn.Close() // on HTTP/1 it is this attempt's alone, and no cancellation outruns the write
			}
		},
	}
	if g.wire != "" {
		t.WroteHeaderField = func(name string, values []string) {
			if strings.EqualFold(name, g.carrier) && len(values) == 1 && values[0] == g.wire {
				g.mu.Lock()
				g.wrote = true
				g.mu.Unlock()
			}
		}
		return t
	}
	// Punycode, and a zone that is left out, make another text of the Host.
	respelt := strings.ContainsFunc(g.host, func(r rune) bool { return r == '%' || r > unicode.MaxASCII })
	if g.named = g.plain && respelt; !g.named {
		t.WroteHeaderField = func(name string, values []string) {
			if name == "Host" || name == ":authority" {
				g.mu.Lock()
				g.named = len(values) == 1 && strings.EqualFold(values[0], g.host)
				g.mu.Unlock()
			}
		}
	}
	t.WroteHeaders = func() { // of a request to another host: one that the base makes for itself
		g.mu.Lock()
		if g.named {
			g.wrote, g.wroteTo = true, g.askedFor
		}
		g.mu.Unlock()
	}
	return t
}

func (g *guard) lastInterim() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.interim
}

// failure says what an error without a status line proves.
func (g *guard) failure(err error, hasBody bool) failure {
	var declared interface{ NotSent() bool }
	if errors.As(err, &declared) && declared.NotSent() {
		return neverSent
	}
	var stream streamError
	if errors.As(err, &stream) && stream.Code == refusedStream {
		return streamRefused
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.asked || !g.plain && (g.bodyHit || !hasBody) {
		return lost // it may have gone another way
	}
	for _, s := range g.got {
		if !s.seal() {
			return lost
		}
	}
	if len(g.got) == 0 && g.bodyHit {
		return lost
	}
	g.shut = true // what the base left behind, if it did, finds no way
	switch {
	case len(g.got) > 0:
		return neverWritten
	case untrusted(err):
		return neverTrusted
	}
	return neverConnected
}

// untrusted: TLS failed in a way that waiting does not mend. http.Client makes
// an ErrSchemeMismatch of a RecordHeaderError; a transport does not.
func untrusted(err error) bool {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &cert) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

// streamError has the fields that net/http and x/net/http2 fill in for
// errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "HTTP/2 stream error" }

const refusedStream = 0x7 // RFC 9113 section 7

// attemptBody is one attempt's reader of the frozen bytes.
type attemptBody struct {
	guard *guard
	r     *bytes.Reader
}

func (b *attemptBody) Read(p []byte) (int, error) {
	b.guard.mu.Lock()
	b.guard.bodyHit = true
	shut := b.guard.shut
	b.guard.mu.Unlock()
	if shut {
		return 0, errLate
	}
	return b.r.Read(p)
}

func (b *attemptBody) Close() error { return nil }
