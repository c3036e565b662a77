package oncehttp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// reply is what came of one of a contract's lookups.
type reply struct {
	facts facts
	// shut: the host's gate let it not go. again is when to ask again.
	shut  bool
	again time.Time
	// wish is until when the answer asks to be left alone; zero: it does not.
	// ofHost: it speaks of the whole host.
	wish   time.Time
	ofHost bool
}

// inquire asks the contract's lookups in order and tells e. The error says why
// the last one could not tell.
func (c *Client) inquire(f *flight, r record, e *event) error {
	asked := c.cfg.Lookup != nil
	if r.Wish.After(e.asked) {
		e.unasked = !asked
		return &ownError{text: "oncehttp: the API has asked to be left alone, so a lookup waits until " + r.Wish.UTC().Format(time.RFC3339)}
	}
	body, err := c.requestBody(f, r)
	if err != nil {
		return err
	}
	for _, l := range f.policy.contract.Lookups {
		if !l.fits(r) {
			continue
		}
		target, whole := l.target(r, body)
		if !whole {
			asked, err = true, &ownError{text: "oncehttp: a lookup lacks a value from the request, or has one that its URL cannot hold"}
			continue
		}
		seen, failed := c.question(f, r, target)
		e.again = later(e.again, seen.again)
		e.wish, e.ofHost = seen.wish, seen.ofHost
		if seen.shut || c.ctx.Err() != nil {
			err = failed
			break
		}
		asked = true
		if err = failed; err == nil {
			var why string
			if e.finding, why = l.find(seen.facts, f.policy.contract, r, wallNow()); why == "" {
				e.settle, e.unasked = l.settle(f.policy.contract), false
				e.dated, _ = httpDate(seen.facts.header.Get("Date"), e.asked)
				return nil
			}
			err = &ownError{text: "oncehttp: a lookup could not tell: " + why}
		}
		if !seen.wish.IsZero() {
			break // the other lookups ask the same API
		}
	}
	e.unasked = !asked
	return err
}

// question sends one lookup, and a second one with other credentials where the
// first was answered 401. It is no attempt: it is neither counted nor recorded.
func (c *Client) question(f *flight, r record, target string) (reply, error) {
	ctx, cancel := c.asking(f)
	defer cancel()
	ctx = context.WithValue(ctx, attemptKey{}, true)
	for stale := false; ; stale = true {
		req, err := c.lookupRequest(ctx, f, r, target, stale)
		if err != nil {
			return reply{}, err
		}
		pass, again := c.gates.mayAsk(f.gate)
		if !again.IsZero() {
			return reply{shut: true, again: again}, &ownError{text: "oncehttp: the host fails, so a lookup waits"}
		}
		seen, err := c.fetch(req)
		j := classify(seen, history{method: req.Method}, f.policy.contract, wallNow()) // for what it says of the host, and asks
		heard := hostEvent(j, seen.status)
		c.gates.heard(pass, heard)
		wished := j.asked && j.wait > 0
		if stale || wished || c.cfg.Authorize == nil || seen.status != http.StatusUnauthorized {
			a := reply{facts: seen}
			if wished {
				a.wish, a.ofHost = wallNow().Add(j.wait), !heard.wish.IsZero()
			}
			return a, err
		}
	}
}

// mayAsk is a pass for one who does not wait, or when to ask again.
func (s *gates) mayAsk(key gateKey) (gatePass, time.Time) {
	pass, w := s.ask(key, true, wallNow(), time.Time{})
	if w == nil {
		return pass, time.Time{}
	}
	select {
	case a := <-w.answer:
		return a.pass, a.again
	default:
		return gatePass{}, s.leave(w)
	}
}

// fetch sends a GET and reads its answer. A base that sends it twice does no
// harm.
func (c *Client) fetch(req *http.Request) (facts, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	resp, err := c.base.RoundTrip(req.WithContext(ctx))
	switch {
	case err == nil && resp == nil:
		err = errNoAnswer
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	if err != nil {
		return facts{}, err
	}
	s := sent{facts: facts{status: resp.StatusCode, header: resp.Header}, response: resp, cancel: cancel}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	if resp.StatusCode == http.StatusSwitchingProtocols || isStream(resp) {
		s.facts.cut = true
	} else if s.read(c.cfg.MaxResponseBody); s.response.Body == nil {
		return s.facts, s.err
	}
	s.discard()
	return s.facts, nil
}

// lookupRequest asks what became of the record. It has the headers of the frozen
// request, which may say whose account it speaks of, without those about the body
// and without the key.
func (c *Client) lookupRequest(ctx context.Context, f *flight, r record, target string, stale bool) (*http.Request, error) {
	begun, err := url.Parse(r.Begun.URL)
	if err != nil {
		return nil, &ownError{fmt.Sprintf("oncehttp: action %s has a URL that does not parse", quoteAction(r.Action)), ErrJournalCorrupt}
	}
	u, err := url.Parse(begun.Scheme + "://" + begun.Host + target)
	if err != nil {
		return nil, &ownError{text: "oncehttp: a lookup of the contract makes a URL that does not parse; mend Lookup.URL"}
	}
	want, _ := stripURL(u)
	req := &http.Request{
		Method: http.MethodGet, URL: u, Host: r.Begun.Host, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody,
	}
	for name, values := range r.Begun.Header {
		if !r.ofItsBody(name, f.policy.contract) {
			req.Header[name] = slices.Clone(values)
		}
	}
	req.Header.Set("Cache-Control", "no-cache") // an old answer tells nothing (RFC 9111 section 5.2.1.4)
	for _, name := range r.Begun.Stripped {
		if values, ok := f.live.header[name]; ok {
			req.Header[name] = slices.Clone(values)
		}
	}
	if f.live.url != nil {
		for _, piece := range queryPieces(f.live.url.RawQuery) {
			if _, secret := secretPiece(piece, r.Begun.params()); secret {
				u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+piece, "&")
			}
		}
	}
	req = req.WithContext(ctx)
	if c.cfg.Authorize != nil {
		if err := c.cfg.Authorize(req, stale); err != nil {
			return nil, err
		}
		if req.URL == nil || req.Method != http.MethodGet || req.Host != r.Begun.Host {
			return nil, errAuthorizedElse
		}
		if is, _ := stripURL(req.URL); is.String() != want.String() {
			return nil, errAuthorizedElse
		}
		req.Body, req.ContentLength = http.NoBody, 0
	}
	_, brought := stripURL(req.URL)
	for _, name := range r.Begun.Stripped {
		_, ok := req.Header[name]
		if !ok && !slices.Contains(brought, name) && (strings.HasPrefix(name, queryName) || secretHeader(name)) {
			return nil, &ownError{text: fmt.Sprintf("oncehttp: a lookup needs %s, which is not kept and was not brought back; set Config.Authorize, or repeat Do with it", name)}
		}
	}
	if _, err := r.credential(f.policy.contract, req); err != nil {
		return nil, err
	}
	return req, nil
}

var errAuthorizedElse = &ownError{text: "oncehttp: Authorize changed more of a lookup than its credentials"}

// ofItsBody: the header is about the sending of the body, or is the key or what
// travels with it, and has no place in a question.
func (r record) ofItsBody(name string, contract *Contract) bool {
	name = http.CanonicalHeaderKey(name)
	same := func(kind CarrierKind, other string) bool {
		return kind == CarrierHeader && strings.EqualFold(name, other)
	}
	return strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "If-") ||
		slices.Contains([]string{"Accept-Encoding", "Digest", "Expect", "Prefer", "Range", "Repr-Digest", "Te"}, name) ||
		same(r.Begun.Carrier.Kind, r.Begun.Carrier.Name) || same(contract.Carrier.Kind, contract.Carrier.Name) ||
		same(contract.Plant.Kind, contract.Plant.Name) ||
		slices.ContainsFunc(contract.Companions, func(m Companion) bool { return same(m.Kind, m.Name) })
}
