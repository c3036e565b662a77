package sim

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/oncehttp/oncehttp/torture/judge"
)

var errGone = errors.New("the process is gone")

// sendHeader numbers a send, so that what it does at the server is known.
const sendHeader = "X-Sim-Send"

// A wire is the base transport of one life. It records what is sent.
type wire struct {
	*http.Transport
	life *life
}

// slowDials makes connections as slow as the life has planned.
func (l *life) slowDials(t *http.Transport) {
	dial, n := t.DialContext, atomic.Int64{}
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if slow := l.plan.Dials[int(n.Add(1))]; slow > 0 && l.sleep(slow) {
			l.met("slow connection")
		}
		return dial(ctx, network, addr)
	}
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		return w.lookUp(req)
	}
	r, p := w.life.record, w.life.world.plan
	within := p.API.Terms.within()
	action := first(req.URL.Path)
	r.mu.Lock()
	if w.life.dead.Load() {
		r.mu.Unlock()
		return nil, errGone
	}
	seq, now := r.next()
	n := len(r.run.Sends)
	r.last[action] = now
	r.run.Sends = append(r.run.Sends, judge.Send{Seq: seq, Time: now, Life: w.life.number, Action: action,
		Key: p.keyOf(req, nil), KeyUnread: within && w.life.world.actions[action].Protection == judge.Keyed, Credential: req.Header.Get("Authorization")})
	r.mu.Unlock()

	// The request is the client's own: it may not be changed, and its body must
	// not be read before the transport reads it.
	body := &readBody{ReadCloser: req.Body, end: req.Body == http.NoBody}
	clone := req.WithContext(req.Context())
	clone.Header = req.Header.Clone()
	clone.Header.Set(sendHeader, strconv.Itoa(n))
	if req.Body != http.NoBody {
		clone.Body = body
	}
	resp, err := w.Transport.RoundTrip(clone)

	r.mu.Lock()
	defer r.mu.Unlock()
	if w.life.dead.Load() {
		return resp, err
	}
	s := &r.run.Sends[n]
	s.Ended, s.EndedTime = r.next()
	if text, whole := body.whole(); whole {
		s.BodySHA256 = sum(text)
		if s.KeyUnread {
			s.Key, s.KeyUnread = p.keyOf(req, text), false
		}
	}
	if resp != nil {
		s.Status, s.RetryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
		w.life.heard(s, resp.Header, nil)
		if p.API.Terms.unmarkable() && resp.Body != http.NoBody {
			header, answer := resp.Header.Clone(), &readBody{ReadCloser: resp.Body}
			answer.ended = func(text []byte) { w.read(n, header, text) }
			resp.Body = answer
		}
	}
	return resp, err
}

// lookUp sends a question.
func (w *wire) lookUp(req *http.Request) (*http.Response, error) {
	r := w.life.record
	r.mu.Lock()
	if w.life.dead.Load() {
		r.mu.Unlock()
		return nil, errGone
	}
	seq, now := r.next()
	l := judge.Lookup{Seq: seq, Time: now, Life: w.life.number, Target: req.URL.RequestURI(), Key: w.life.world.plan.keyOf(req, nil)}
	r.run.Lookups = append(r.run.Lookups, l)
	r.mu.Unlock()
	w.life.met("a contract's lookup")
	return w.Transport.RoundTrip(req)
}

// read is told of the answer to a send that was read to its end.
func (w *wire) read(n int, header http.Header, body []byte) {
	r := w.life.record
	if int64(len(body)) > w.life.world.plan.Client.MaxResponse {
		return // a caller read it, when the client had judged
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !w.life.dead.Load() {
		w.life.heard(&r.run.Sends[n], header, body)
	}
}

// A readBody keeps what is read of a body.
type readBody struct {
	io.ReadCloser
	// ended, if it is set, is called at the end of the body.
	ended func(text []byte)

	mu   sync.Mutex // guards what follows
	text []byte
	end  bool
}

func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p[:n]...)
	if err == io.EOF && !b.end {
		b.end = true
		if b.ended != nil {
			b.ended(b.text)
		}
	}
	return n, err
}

// whole is the body; false if it was not read to its end, and so cannot have
// arrived.
func (b *readBody) whole() ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text, b.end
}
