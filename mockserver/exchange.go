package mockserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"time"
)

// An exchange is one request on its way through the server.
type exchange struct {
	*Server
	life   *life // the process that received it
	entry  *Request
	fault  Fault
	ring   keyring
	key    string // the ring's keys, as in the ledger
	w      http.ResponseWriter
	r      *http.Request
	body   []byte
	early  *upload       // what was read of the body before the request was received
	behind chan struct{} // closed when Fault.Behind more requests are done
	late   bool          // the work is left to a goroutine that finishes the entry
}

// ServeHTTP takes the request through its fault and the workflow.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{Server: s, w: w, r: r}
	if s.cfg.Profile.Carrier.inBody() {
		x.early = x.upload()
		x.ring = s.cfg.Profile.keysOf(r, x.early.body)
	} else {
		x.ring = s.cfg.Profile.keysOf(r, nil)
	}
	x.key = x.ring.String()
	if !s.receive(x, s.cfg.Tenant(r)) {
		x.abort()
	}
	defer func() {
		if !x.late {
			s.finish(x.entry)
		}
	}()
	x.run()
}

func (x *exchange) run() {
	f := x.fault
	if f.See == SeeEarly {
		x.showEarly()
		return
	}
	if !x.readBody() {
		return
	}
	if f.delivers() {
		x.late = true
		go func() { // Close waits for it: the entry is not finished
			defer x.finish(x.entry)
			if x.wait(x.behind) && x.sleep(f.Late) {
				x.reach()
			}
		}()
		x.show(x.scripted())
		return
	}
	if !x.sleep(f.Before) {
		x.abort()
	}
	answer := x.scripted()
	if f.reaches() {
		own, ok := x.reach()
		if !ok {
			x.abort()
		}
		if f.leavesAnswer() {
			answer = own
		}
	}
	x.hold(f.After)
	x.show(answer)
}

// wait returns false if the server dies before the channel is closed.
func (x *exchange) wait(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-x.life.ended:
		return false
	}
}

// sleep returns false if the server dies first.
func (x *exchange) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.life.ended:
		return false
	}
}

// hold keeps the answer back while the client still waits for it.
func (x *exchange) hold(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-x.r.Context().Done():
		x.abort()
	case <-x.life.ended:
		x.abort()
	}
}

// An upload is what was read of a body, at most a byte more than is allowed.
type upload struct {
	body []byte
	err  error
}

func (x *exchange) upload() *upload {
	body, err := io.ReadAll(io.LimitReader(x.r.Body, x.cfg.MaxBody+1))
	return &upload{body, err}
}

// readBody reads the whole body; false if there is nobody or nothing to go on
// with.
func (x *exchange) readBody() bool {
	read := x.early
	if read == nil {
		read = x.upload()
	}
	sum := sha256.Sum256(read.body)
	x.note(x.entry, func(q *Request) {
		q.BodyBytes = int64(len(read.body))
		q.BodySHA256 = hex.EncodeToString(sum[:])
	})
	x.body = read.body
	switch {
	case read.err != nil: // the rest will not come: no answer can be sure to arrive
		x.abort()
	case int64(len(read.body)) > x.cfg.MaxBody:
		x.show(problem(http.StatusRequestEntityTooLarge, "body_too_large", ""))
		return false
	}
	return true
}

// request is the request as the hooks of Config see it: the body whole, and
// alive as long as the work.
func (x *exchange) request() *http.Request {
	r := x.r.WithContext(context.WithoutCancel(x.r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(x.body))
	return r
}
