package mockserver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// reach takes the request through the workflow; false if the server died on
// the way. What it returns is the API's own answer.
func (x *exchange) reach() (Answer, bool) {
	x.note(x.entry, func(q *Request) { q.Reached = true })
	a, ok := x.work()
	return x.own(a), ok
}

func (x *exchange) work() (Answer, bool) {
	p := x.cfg.Profile
	if x.throttled() {
		return x.worded(p.Throttled, ""), true
	}
	if err := x.authenticate(); err != nil {
		return problem(http.StatusUnauthorized, "unauthorized", err.Error()).with("WWW-Authenticate", "Bearer"), true
	}
	if key, ok := x.lookupKey(); ok {
		return x.lookUp(key), true
	}
	if a, ok := x.find(); ok {
		return a, true
	}
	unkeyed := safe(x.r.Method) || x.cfg.Unkeyed(x.request())
	switch {
	case p.ignores(x.r.Method):
		return x.executeUnkeyed()
	case x.ring.broken:
		return x.worded(p.KeyInvalid, ""), true
	case unkeyed:
		return x.execute(x.ring.unclaimed())
	case p.KeyRequired && x.ring.lacks():
		return x.worded(p.KeyMissing, ""), true
	case x.key == "":
		return x.execute(x.ring.unclaimed())
	}
	return x.keyed()
}

// executeUnkeyed executes as if there were no key, and says so if there is one.
func (x *exchange) executeUnkeyed() (Answer, bool) {
	a, ok := x.execute(x.ring.unclaimed())
	if x.key != "" {
		a = x.marked(a, x.cfg.Profile.Ignored, time.Now())
	}
	return a, ok
}

// keyed is the way of a request that has a key.
func (x *exchange) keyed() (Answer, bool) {
	p := x.cfg.Profile
	now := time.Now()
	told, ok := p.told(x.r, x.body)
	switch {
	case !ok:
		return x.worded(p.KeyInvalid, ""), true
	case x.store.late(told, now) && p.Expired.Status != 0:
		return x.worded(p.Expired, ""), true
	case x.fault.KeysDown && p.KeysDownExecutes:
		return x.executeUnkeyed()
	case x.fault.KeysDown:
		return x.worded(p.KeysDown, ""), true
	}
	parts := x.parts(told)
	for {
		rec, v, past := x.claim(parts)
		switch v {
		case granted:
			return x.execute(parts)
		case replay:
			return x.repeat(past), true
		case inFlight:
			switch {
			case p.InFlightExecutes:
				return x.executeUnkeyed()
			case !p.InFlightWaits:
				return x.worded(p.InFlight, ""), true
			case !x.wait(rec.settled):
				return Answer{}, false
			}
		case mismatch:
			if p.OnMismatch == MismatchExecutes {
				return x.executeUnkeyed()
			}
			return x.worded(p.Mismatch, past.id), true
		case unknown:
			return x.worded(p.Indeterminate, ""), true
		case gone:
			return x.worded(p.Expired, past.id), true
		default:
			return problem(http.StatusServiceUnavailable, "idempotency_store_full", "no room for another key"), true
		}
	}
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

func safe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
