package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
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
	r := w.life.record
	key := keyOf(req.Header)
	action := strings.TrimPrefix(req.URL.Path, "/")
	r.mu.Lock()
	if w.life.dead.Load() {
		r.mu.Unlock()
		return nil, errGone
	}
	seq, now := r.next()
	n := len(r.run.Sends)
	r.last[action] = now
	r.run.Sends = append(r.run.Sends, judge.Send{Seq: seq, Time: now, Life: w.life.number, Action: action, Key: key})
	r.mu.Unlock()

	// The request is the client's own: it may not be changed, and its body must
	// not be read before the transport reads it.
	body := &hashedBody{ReadCloser: req.Body, hash: sha256.New(), end: req.Body == http.NoBody}
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
	s.BodySHA256 = body.print()
	if resp != nil {
		s.Status, s.RetryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
		s.Replayed = resp.Header.Get("Idempotent-Replayed") == "true"
		s.Foreign = w.life.world.plan.API.Origin && resp.Header.Get(marker) == ""
	}
	return resp, err
}

// keyOf is the key that a request carries, without quotes.
func keyOf(h http.Header) string {
	for _, name := range []string{"Idempotency-Key", "idempotency-key"} {
		if v := h[name]; len(v) > 0 {
			return strings.Trim(v[0], `"`)
		}
	}
	return ""
}

// A hashedBody hashes what the transport reads.
type hashedBody struct {
	io.ReadCloser
	mu   sync.Mutex // guards what follows
	hash hash.Hash
	end  bool
}

func (b *hashedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hash.Write(p[:n])
	b.end = b.end || err == io.EOF
	return n, err
}

// print is the hash of the whole body; empty if it was not read to its end, and
// so cannot have arrived.
func (b *hashedBody) print() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.end {
		return ""
	}
	return hex.EncodeToString(b.hash.Sum(nil))
}
