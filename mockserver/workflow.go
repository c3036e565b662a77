package mockserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	return hex.EncodeToString(sum[:])
}

// An exchange is one request on its way through the server.
type exchange struct {
	*Server
	life   *life // the process that received it
	entry  *Request
	fault  Fault
	key    string
	keyOK  bool
	w      http.ResponseWriter
	r      *http.Request
	body   []byte
	behind chan struct{} // closed when Fault.Behind more requests are done
	late   bool          // the work is left to a goroutine that finishes the entry
}

// ServeHTTP takes the request through its fault and the workflow.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ring := s.cfg.Profile.keysOf(r, nil)
	x := &exchange{Server: s, key: ring.String(), keyOK: !ring.broken, w: w, r: r}
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

// readBody reads the whole body; false if there is nobody or nothing to go on
// with.
func (x *exchange) readBody() bool {
	body, err := io.ReadAll(io.LimitReader(x.r.Body, x.cfg.MaxBody+1))
	sum := sha256.Sum256(body)
	x.note(x.entry, func(q *Request) {
		q.BodyBytes = int64(len(body))
		q.BodySHA256 = hex.EncodeToString(sum[:])
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

// reach takes the request through the workflow; false if the server died on
// the way.
func (x *exchange) reach() (Answer, bool) {
	x.note(x.entry, func(q *Request) { q.Reached = true })
	p := x.cfg.Profile
	if x.throttled() {
		return problem(http.StatusTooManyRequests, "rate_limited", "").with("Retry-After", "1"), true
	}
	if err := x.authenticate(); err != nil {
		return problem(http.StatusUnauthorized, "unauthorized", err.Error()).with("WWW-Authenticate", "Bearer"), true
	}
	if key, ok := x.lookupKey(); ok {
		return x.lookUp(key), true
	}
	switch unkeyed := safe(x.r.Method) || x.cfg.Unkeyed(x.request()); {
	case !x.keyOK:
		return problem(http.StatusBadRequest, "invalid_idempotency_key", "send one key, as the API's rule for keys wants it"), true
	case !unkeyed && x.key == "" && p.KeyRequired:
		return problem(http.StatusBadRequest, "idempotency_key_missing", "this API wants a key"), true
	case unkeyed || x.key == "":
		return x.execute(nil)
	}
	return x.keyed(id{x.entry.Tenant, x.cfg.Operation(x.request()), x.key})
}

func (x *exchange) keyed(k id) (Answer, bool) {
	p := x.cfg.Profile
	print := p.Compared.printOf(x.r, x.body)
	if p.OnMismatch == MismatchIgnored {
		print = fingerprint{}
	}
	for {
		rec, v, answer := x.claim(k, print)
		switch v {
		case granted:
			return x.execute(&claim{k, rec})
		case replay:
			if p.Repeat.Status != 0 {
				return p.Repeat.clone(), true
			}
			if !p.NoMarker {
				answer = answer.with(p.Marker, "true")
			}
			return answer, true
		case inFlight:
			if !p.InFlightWaits {
				return p.InFlight.clone(), true
			}
			if !x.wait(rec.settled) {
				return Answer{}, false
			}
		case mismatch:
			if p.OnMismatch == MismatchExecutes {
				return x.execute(nil)
			}
			return p.Mismatch.clone(), true
		case unknown:
			return p.Indeterminate.clone(), true
		case gone:
			return p.Expired.clone(), true
		default:
			return problem(http.StatusServiceUnavailable, "idempotency_store_full", "no room for another key"), true
		}
	}
}

// claim asks the store under the lock; a replay comes with the stored answer.
func (x *exchange) claim(k id, print fingerprint) (rec *record, v verdict, stored Answer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fault.Forget {
		delete(x.store.records, k)
		x.fault.Forget = false
	}
	rec, v = x.store.claim(k, print, time.Now())
	if v == replay {
		x.entry.Replayed = true
		stored = *rec.answer // never changed
	}
	return rec, v, stored
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

// execute does the work, then makes the effect and stores its answer, or
// releases the claim, under one lock. A panic of a hook or a Close releases
// the claim: nothing has happened then. False if the server died.
func (x *exchange) execute(c *claim) (a Answer, ok bool) {
	defer func() {
		if c != nil {
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
	return x.commit(c, a, effect && !safe(x.r.Method), x.cfg.What(x.request()))
}

func (x *exchange) commit(c *claim, a Answer, effect bool, what string) (Answer, bool) {
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.life.over() {
		return Answer{}, false
	}
	if c != nil && c.rec.state == fenced {
		// Another execution holds the key: what stores effects refuses this one.
		return x.cfg.Profile.InFlight.clone(), true
	}
	if x.fault.Crash == CrashBefore {
		x.crash()
		return Answer{}, false
	}
	if effect {
		x.effects = append(x.effects, Effect{
			Time: now, Request: x.entry.N, Tenant: x.entry.Tenant,
			Key: x.key, What: what, Answer: a.clone(),
		})
		x.entry.Effect = true
	}
	if x.fault.Crash == CrashBetween {
		if effect && c != nil {
			made := a.clone()
			c.rec.answer = &made
		}
		x.crash()
		return Answer{}, false
	}
	if c != nil && (effect || x.cfg.Profile.stores(a.Status)) {
		c.rec.keep(a.clone(), now)
	}
	if x.fault.Crash == CrashAfter {
		x.crash()
		return Answer{}, false
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
