package mockserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// A Fault is what happens to one request, in two independent halves: whether
// the effect happens, and what the client sees. The zero Fault is the normal
// behaviour. In JSON a fault has the fields below with a small first letter,
// durations as "1.5s", and headers as {"Retry-After": "2"}, with a list where a
// header has several values.
//
// A request reaches the workflow (see [Server]) when Commit or Origin is set,
// or when the fault leaves the answer to the workflow: Status is 0 and See is
// [SeeAnswer], [SeeTruncated] or [SeeDrip]. Otherwise something in between
// took it, before the key was looked at, and nothing happened.
type Fault struct {
	// Commit: the request goes through the workflow, whatever the client sees.
	// A key that is known is replayed inside, so a second effect needs Forget.
	Commit bool `json:"commit,omitzero"`
	// Origin: the answer below is the API's own, made behind the key's look-up
	// in place of [Config].Execute. A known key is replayed instead. The effect
	// happens if Commit is set; then the answer is stored, else as
	// [Profile].Released says.
	Origin bool `json:"origin,omitzero"`
	// Forget drops what is known of the key before the request is looked at.
	Forget bool `json:"forget,omitzero"`
	// KeysDown: the API cannot look keys up, see [Profile].KeysDown.
	KeysDown bool `json:"keysDown,omitzero"`
	// Token, when set, is the bearer token without which the workflow answers this
	// request with 401.
	Token string `json:"token,omitzero"`
	// Before delays the request on its way to the workflow. It arrives even if
	// the client has gone meanwhile.
	Before time.Duration `json:"-"`
	// Late shows the client the fault at once and lets the request reach the
	// workflow this much later; Behind when this many other requests are done.
	// Until then [Server.WaitIdle] waits. See must not need the workflow's answer.
	Late   time.Duration `json:"-"`
	Behind int           `json:"behind,omitzero"`
	// Crash kills the server where it says, see [Server.Crash]. The client sees
	// its connection closed.
	Crash CrashPoint `json:"crash,omitzero"`

	// After delays the answer, or its loss, after the workflow.
	After time.Duration `json:"-"`
	// Status, Header and Body are the answer in place of the workflow's. Status
	// 0: the workflow's own, with Header added, or what See says.
	Status int         `json:"status,omitzero"`
	Header http.Header `json:"-"`
	Body   string      `json:"body,omitzero"`
	// See is how the answer reaches the client. Default [SeeAnswer].
	See See `json:"see,omitzero"`
	// Informational are 1xx answers sent first.
	Informational []int `json:"informational,omitzero"`
	// Keep is how many bytes of the answer's body [SeeTruncated] sends.
	Keep int `json:"keep,omitzero"`
	// Gzip compresses the answer's body and says so; Keep counts compressed bytes.
	Gzip bool `json:"gzip,omitzero"`
	// Framing of a truncated answer. Default [FramingLength].
	Framing Framing `json:"framing,omitzero"`
	// Read is how many bytes of the request's body [SeeEarly] reads.
	Read int `json:"read,omitzero"`
	// Every is the pause between two bytes of [SeeDrip]. Default 100 ms.
	Every time.Duration `json:"-"`

	// Times is how many requests in a row get this fault: 0 and 1 are one, a
	// negative number is all that follow.
	Times int `json:"times,omitzero"`
}

// See is how an answer reaches the client.
type See string

const (
	// SeeAnswer sends the answer whole.
	SeeAnswer See = ""
	// SeeReset resets the connection before any byte of an answer: RST on TCP, a
	// reset error in memory, RST_STREAM on HTTP/2.
	SeeReset See = "reset"
	// SeeClose closes the connection before any byte of an answer: EOF. HTTP/2
	// has no such thing for one stream: it is reset.
	SeeClose See = "close"
	// SeeNothing sends nothing until the client goes or the server closes.
	SeeNothing See = "nothing"
	// SeeTruncated sends status, header and the first Keep bytes of the body, in
	// the given Framing, and closes the connection.
	SeeTruncated See = "truncated"
	// SeeEarly answers (413 by default) when Read bytes of the request's body
	// were read, then resets the connection. Only HTTP/1. Where the key is in the
	// body, that is read first, or nobody would know whose script to play.
	SeeEarly See = "early"
	// SeeEndless sends the answer (200 by default) with a body that never ends.
	SeeEndless See = "endless"
	// SeeDrip sends the answer's body one byte at a time.
	SeeDrip See = "drip"
	// SeeGoAway ends the connection with GOAWAY, of which the last stream is the
	// one before this request's: it says that the request was not processed.
	// Only with [Config].HTTP2, and one request at a time. With Commit it lies.
	SeeGoAway See = "goaway"
	// SeeRefused resets the stream with REFUSED_STREAM, which says the same. Only
	// with [Config].HTTP2.
	SeeRefused See = "refused"
	// SeeRaw writes Body to the connection as it is, in place of an answer, and
	// closes it: garbage, half a status line, anything. Only HTTP/1.
	SeeRaw See = "raw"
)

// Framing is how the end of a truncated body would have been known.
type Framing string

const (
	// FramingLength declares the whole length in Content-Length.
	FramingLength Framing = ""
	// FramingChunked sends an unfinished chunk.
	FramingChunked Framing = "chunked"
	// FramingClose declares nothing: an HTTP/1 client cannot tell the cut from
	// the end.
	FramingClose Framing = "close"
)

// Status answers with a status and an empty body, in place of everything: the
// request does not reach the workflow.
func Status(code int) Fault { return Fault{Status: code} }

// Code answers with a status and a JSON body {"code": code}.
func Code(status int, code string) Fault {
	a := problem(status, code, "")
	return Fault{Status: status, Header: a.Header, Body: a.Body}
}

// Gateway answers with a status and an HTML page, as proxies do.
func Gateway(code int) Fault {
	return Fault{
		Status: code,
		Header: http.Header{"Content-Type": {"text/html"}},
		Body:   "<html><body><h1>" + strconv.Itoa(code) + " " + http.StatusText(code) + "</h1></body></html>\n",
	}
}

// Redirect answers with a 3xx status and a Location.
func Redirect(code int, location string) Fault {
	return Status(code).With("Location", location)
}

// Lost is an answer lost after the effect: commit, then reset.
func Lost() Fault { return Fault{Commit: true, See: SeeReset} }

// With returns the fault with one more header on its answer.
func (f Fault) With(name, value string) Fault {
	f.Header = maps.Clone(f.Header)
	if f.Header == nil {
		f.Header = http.Header{}
	}
	name = http.CanonicalHeaderKey(name)
	f.Header[name] = append(f.Header[name][:len(f.Header[name]):len(f.Header[name])], value)
	return f
}

// Committed returns the fault with its effect happening unseen.
func (f Fault) Committed() Fault { f.Commit = true; return f }

// Always returns the fault for all requests that follow.
func (f Fault) Always() Fault { f.Times = -1; return f }

// reaches reports whether the request gets to the workflow.
func (f Fault) reaches() bool {
	return f.Commit || f.Origin || f.Crash != NoCrash || f.leavesAnswer()
}

// delivers reports whether the request reaches the workflow after the client
// has seen the fault.
func (f Fault) delivers() bool { return (f.Late > 0 || f.Behind > 0) && f.reaches() }

// leavesAnswer reports whether the client sees the workflow's own answer.
func (f Fault) leavesAnswer() bool {
	switch f.See {
	case SeeAnswer, SeeTruncated, SeeDrip:
		return f.Status == 0 || f.Origin
	}
	return false
}

// An Answer is a whole HTTP answer.
type Answer struct {
	Status int         `json:"status,omitzero"`
	Header http.Header `json:"-"`
	Body   string      `json:"body,omitzero"`
}

// problem is an error of the server's own.
func problem(status int, code, message string) Answer {
	body, _ := json.Marshal(struct {
		Code    string `json:"code"`
		Message string `json:"message,omitzero"`
	}{code, message}) // strings always marshal
	return Answer{
		Status: status,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   string(body) + "\n",
	}
}

func (a Answer) with(name, value string) Answer {
	a.Header = a.Header.Clone()
	if a.Header == nil {
		a.Header = http.Header{}
	}
	a.Header.Set(name, value)
	return a
}

func (a Answer) clone() Answer {
	a.Header = a.Header.Clone()
	return a
}

func (f Fault) clone() Fault {
	f.Header = f.Header.Clone()
	f.Informational = append([]int(nil), f.Informational...)
	return f
}
