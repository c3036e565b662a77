package mockserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// BearerToken is a [Config].Authenticate that wants this token.
func BearerToken(token string) func(*http.Request) error {
	return func(r *http.Request) error {
		if r.Header.Get("Authorization") != "Bearer "+token {
			return errors.New("wrong or missing bearer token")
		}
		return nil
	}
}

func authorizationDigest(r *http.Request) string {
	sum := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	return hexOf(sum[:])
}

// An exchange is one request on its way through the server.
type exchange struct {
	*Server
	entry *Request
	fault Fault
	key   string
	keyOK bool
	w     http.ResponseWriter
	r     *http.Request
	body  []byte
	late  bool // the work is left to a goroutine that finishes the entry
}

// ServeHTTP takes the request through its fault and the workflow.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, ok := keyOf(r, s.cfg.Profile.KeyHeader)
	entry := s.receive(r, key, s.cfg.Tenant(r))
	x := &exchange{Server: s, entry: entry, fault: entry.Fault, key: key, keyOK: ok, w: w, r: r}
	defer func() {
		if !x.late {
			s.finish(entry)
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
	if f.Late > 0 && f.reaches() {
		x.late = true
		go func() { // Close waits for it: the entry is not finished
			defer x.finish(x.entry)
			if x.sleep(f.Late) {
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

// sleep returns false if the server closes first.
func (x *exchange) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.done:
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
	case <-x.done:
		x.abort()
	}
}

// readBody reads the whole body; false if there is nobody or nothing to go on
// with.
func (x *exchange) readBody() bool {
	body, err := io.ReadAll(io.LimitReader(x.r.Body, x.cfg.MaxBody+1))
	sum := sha256.Sum256(body)
	x.note(x.entry, func(q *Request) {
		q.BodyBytes = int64(len(body))
		q.BodySHA256 = hexOf(sum[:])
	})
	x.body = body
	switch {
	case err != nil: // the rest will not come: no answer can be sure to arrive
		x.abort()
	case int64(len(body)) > x.cfg.MaxBody:
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

// reach takes the request through the workflow; false if the server closed
// before it was through.
func (x *exchange) reach() (Answer, bool) {
	x.note(x.entry, func(q *Request) { q.Reached = true })
	if err := x.authenticate(); err != nil {
		return problem(http.StatusUnauthorized, "unauthorized", err.Error()).with("WWW-Authenticate", "Bearer"), true
	}
	if !x.keyOK {
		return problem(http.StatusBadRequest, "invalid_idempotency_key", "send the key once, not empty and without a comma"), true
	}
	if x.key == "" || safe(x.r.Method) || x.cfg.Unkeyed(x.request()) {
		return x.execute(nil)
	}

	k := id{x.entry.Tenant, x.cfg.Operation(x.request()), x.key}
	print := printOf(x.r, x.body)
	x.mu.Lock()
	if x.fault.Forget {
		delete(x.store.records, k)
	}
	rec, v := x.store.claim(k, print, time.Now())
	var stored Answer
	if v == replay {
		stored = rec.answer.clone()
		x.entry.Replayed = true
	}
	x.mu.Unlock()

	p := x.cfg.Profile
	switch v {
	case replay:
		if !p.NoMarker {
			stored = stored.with(p.Marker, "true")
		}
		return stored, true
	case inFlight:
		return p.InFlight, true
	case mismatch:
		return p.Mismatch, true
	case full:
		return problem(http.StatusServiceUnavailable, "idempotency_store_full", "no room for another key"), true
	}
	return x.execute(&claim{k, rec})
}

func (x *exchange) authenticate() error {
	if x.fault.Token != "" {
		if err := BearerToken(x.fault.Token)(x.r); err != nil {
			return err
		}
	}
	if x.cfg.Authenticate != nil {
		return x.cfg.Authenticate(x.request())
	}
	return nil
}

// A claim is a key held by one execution.
type claim struct {
	id  id
	rec *record
}

// execute does the work, and under one lock makes the effect and stores its
// answer, or releases the claim. A panic of a hook, or a Close, releases it
// too: nothing has happened then.
func (x *exchange) execute(c *claim) (a Answer, ok bool) {
	settled := false
	defer func() {
		if c != nil && !settled {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.store.release(c.id, c.rec)
		}
	}()
	if !x.sleep(x.cfg.Work) {
		return Answer{}, false
	}
	effect := x.fault.Commit
	switch {
	case x.fault.Origin:
		a = x.scripted()
	case x.cfg.Execute != nil:
		a = x.cfg.Execute(x.request()).clone()
		effect = a.Status < 400
	default:
		a = x.answerByDefault()
		effect = true
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	effect = effect && !safe(x.r.Method)
	what := x.cfg.What(x.request())

	x.mu.Lock()
	defer x.mu.Unlock()
	if effect {
		x.effects = append(x.effects, Effect{
			Time: time.Now(), Request: x.entry.N, Tenant: x.entry.Tenant,
			Key: x.key, What: what, Answer: a.clone(),
		})
		x.entry.Effect = true
	}
	if c != nil && (effect || x.cfg.Profile.stores(a.Status)) {
		x.store.keep(c.id, c.rec, a.clone())
		settled = true
	}
	return a, true
}

func (x *exchange) answerByDefault() Answer {
	a := Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: "{}\n"}
	if !safe(x.r.Method) {
		a.Status = http.StatusCreated
		a.Body = fmt.Sprintf("{\"id\":\"effect-%06d\"}\n", x.entry.N)
	}
	return a
}

func safe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
