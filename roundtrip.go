package oncehttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

type actionKey struct{}

type named struct {
	action string
	opts   []ActionOption
}

// WithAction names the action of the requests sent with this context through
// [Client.RoundTrip]. A safe request (a GET) is never the action, unless a
// contract matches it.
func WithAction(ctx context.Context, action string, opts ...ActionOption) context.Context {
	return context.WithValue(ctx, actionKey{}, named{action, opts})
}

type answeredKey struct{}

// answered is what is known of a request that was answered. Without an outcome
// it was passed through, by [Client.retry].
type answered struct {
	outcome  *Outcome
	contract *Contract // nil: none
}

// OutcomeOf is the outcome behind an answer of [Client.RoundTrip]; false for an
// answer that was passed through.
func OutcomeOf(resp *http.Response) (*Outcome, bool) {
	if resp == nil || resp.Request == nil {
		return nil, false
	}
	a, ok := resp.Request.Context().Value(answeredKey{}).(answered)
	return a.outcome, ok && a.outcome != nil
}

// HTTPClient returns an http.Client that sends through c.
func (c *Client) HTTPClient() *http.Client { return &http.Client{Transport: c} }

// route is what RoundTrip does with a request.
type route uint8

const (
	routeIntent route = iota
	routeRetry        // unjournaled, repeated in memory while that is safe
	routeOnce         // unjournaled, as it is
	routeRefuse
)

// route decides by the request, and by a copy of its body. Only where a
// contract's operation is in question does it read the body itself, and returns
// the request with what was read in its place; on an error it has closed it.
func (c *Client) route(req *http.Request, hasAction bool) (*http.Request, route, *Contract, error) {
	if withinAttempt(req.Context()) || req.Method == http.MethodConnect || req.Header.Get("Upgrade") != "" ||
		strings.HasPrefix(req.Header.Get("Content-Type"), "application/grpc") ||
		c.cfg.PassThrough != nil && c.cfg.PassThrough(req) {
		return req, routeOnce, nil, nil
	}
	if req.Response != nil && safeMethod(req.Method) {
		return req, routeRetry, nil, nil // one that http.Client made of a redirect
	}
	tokens := tokenPath(req.URL)
	if tokens && isTokenRequest(req) {
		return req, routeOnce, nil, nil
	}
	req, contract, err := c.claim(req)
	switch {
	case err != nil:
		return nil, routeRefuse, nil, err
	case contract == nil && !tokens && !hasAction && isTokenRequest(req):
		return req, routeOnce, nil, nil
	case contract == nil:
		return req, c.unmatched(req, hasAction), nil, nil
	case contract.Match.Safe:
		return req, routeRetry, nil, nil
	}
	return req, routeIntent, contract, nil
}

// unmatched is what to do with a request of which no contract speaks.
func (c *Client) unmatched(req *http.Request, hasAction bool) route {
	unread := req.Body != nil && req.Body != http.NoBody && req.ContentLength <= 0 && req.GetBody == nil
	switch {
	case safeMethod(req.Method):
		return routeRetry
	case hasAction:
		return routeIntent
	case unread:
		return routeOnce
	case idempotentMethod(req.Method):
		return routeRetry
	case c.cfg.Unmatched == PassThrough:
		return routeOnce
	case c.cfg.Unmatched == Refuse:
		return routeRefuse
	}
	return routeIntent
}

// tokenPath reports whether a path looks like that of a token endpoint, as
// /oauth2/token, /connect/token and /oauth/accessToken do.
func tokenPath(u *url.URL) bool {
	path := strings.ToLower(u.Path)
	return strings.Contains(path, "token") || strings.Contains(path, "oauth")
}

// isTokenRequest: a form with grant_type (RFC 6749 section 4). It is told from
// a copy of the body; one that cannot be copied is not looked at.
func isTokenRequest(req *http.Request) bool {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return false
	}
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if !formMediaType(kind) {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, drainLimit))
	if err != nil {
		return false
	}
	form, err := url.ParseQuery(string(text))
	return err == nil && form.Has("grant_type")
}

// RoundTrip sends req as the action that its context names ([WithAction]), or
// as one of its own, by the rule of [Client.Do]: a [*PendingError], another
// error, or an answer, which for a refusal is the API's own. Which requests are
// intents, and which pass through:
//
//   - What a contract matches is an intent, whatever its method.
//   - Safe methods pass through, and PUT and DELETE without an action; they are
//     retried in memory, and the last answer is handed back.
//   - A POST, PATCH or another method is an intent if an action names it, else
//     what Config.Unmatched says.
//   - CONNECT, Upgrade, gRPC and what Config.PassThrough names pass through once.
//     So do token requests: forms with grant_type (RFC 6749 section 4) whose path
//     has "token" or "oauth" in it. Where no contract matches and no action is
//     named, so do those of any path, and bodies of unknown length that can be
//     read only once.
//
// Where a contract selects by [Operation], the body of a request that may be its
// is read before any of this is decided.
//
// A key that the caller has set in the contract's carrier is adopted, and names
// the intent where no action does.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	if req == nil || req.URL == nil {
		closeBody(req)
		return nil, checkRequest(req)
	}
	if err := c.closedErr(); err != nil {
		closeBody(req)
		return nil, err
	}
	if req.Response != nil && !safeMethod(req.Method) && !retried(req.Response) && !withinAttempt(req.Context()) {
		closeBody(req)
		return nil, fmt.Errorf("%w: it continues a redirect, which the intent follows itself where that is safe; set CheckRedirect to http.ErrUseLastResponse", ErrInvalidRequest)
	}
	if req.Context().Value(answeredKey{}) != nil { // made under the context of another answer's request
		req = req.WithContext(context.WithValue(req.Context(), answeredKey{}, nil))
	}
	n, hasAction := req.Context().Value(actionKey{}).(named)
	req, route, contract, err := c.route(req, hasAction)
	if err != nil {
		return nil, err
	}
	switch route {
	case routeOnce:
		return c.base.RoundTrip(c.withoutKey(req))
	case routeRetry:
		return c.retry(c.withoutKey(req))
	case routeRefuse:
		closeBody(req)
		return nil, ErrUnmatched
	}
	return c.roundTrip(req, n, hasAction, contract)
}

// retried reports whether an answer is that of a request that was passed through
// by [Client.retry], and not an intent's.
func retried(resp *http.Response) bool {
	if resp.Request == nil {
		return false
	}
	a, ok := resp.Request.Context().Value(answeredKey{}).(answered)
	return ok && a.outcome == nil
}

// withoutKey drops the keys of earlier requests from one that http.Client made of
// a redirect: it is not the action, though http.Client gives it the headers of the
// first request, and the URL of the last as its Referer.
func (c *Client) withoutKey(req *http.Request) *http.Request {
	if req.Response == nil || !safeMethod(req.Method) {
		return req
	}
	clone := req.WithContext(req.Context())
	clone.Header = req.Header.Clone()
	for from := req.Response; from != nil; {
		asked := from.Request
		for _, s := range c.keySpots(asked) {
			switch {
			case s.kind == CarrierHeader:
				// What has another value than there is not that key.
				if asked == nil || slices.Equal(headerValues(req.Header, s.name), headerValues(asked.Header, s.name)) {
					dropHeader(clone.Header, s.name)
				}
			case s.inURL() && s.isIn(req.Header.Get("Referer")):
				dropHeader(clone.Header, "Referer")
			}
		}
		if from = nil; asked != nil {
			from = asked.Response
		}
	}
	return clone
}

// keySpots are where a request that was answered may hold a key, and what goes
// with one. They are those of its contract; of every contract where nobody can
// tell which it was, as of a request (nil) that its answer does not name.
func (c *Client) keySpots(req *http.Request) []spot {
	var a answered
	known := false
	if req != nil {
		if a, known = req.Context().Value(answeredKey{}).(answered); !known || a.outcome == nil {
			contract, asks := c.contracts.match(req)
			a.contract, known = contract, !asks
		}
	}
	var contracts []*Contract
	switch {
	case !known:
		contracts = slices.Collect(maps.Values(c.contracts.byName))
	case a.contract != nil:
		contracts = []*Contract{a.contract}
	case safeMethod(req.Method):
		return nil
	}
	spots := []spot{{kind: CarrierHeader, name: "Idempotency-Key"}, {kind: CarrierHeader, name: "X-Idempotency-Key"}}
	for _, contract := range contracts {
		spots = append(spots, begun{Carrier: contract.Carrier, Companions: contract.Companions}.spots()...)
	}
	return spots
}

func (c *Client) roundTrip(req *http.Request, n named, hasAction bool, contract *Contract) (*http.Response, error) {
	err := checkRequest(req)
	if err == nil && hasAction {
		err = checkAction(n.action)
	}
	if err != nil {
		closeBody(req)
		return nil, err
	}
	t, err := c.freeze(n.action, req, contract, n.opts)
	if err != nil {
		return nil, err
	}
	t.takesLive = true
	//lint:ignore SA1019 http.Client.Timeout still sets it
	t.cancel = req.Cancel
	ctx := req.Context()
	if !hasAction {
		t.anonymous, t.action = true, anonymousPrefix+c.ids.new(wallNow()).String()
	}
	told := c.perform(ctx, t)
	if told.err != nil {
		if told.live != nil {
			told.live.Body.Close()
		}
		return nil, told.err
	}
	return answerOf(req, told, contract)
}

// answerOf makes the answer that a caller of RoundTrip gets of an outcome.
func answerOf(req *http.Request, t told, contract *Contract) (*http.Response, error) {
	o := t.outcome
	if o.Response == nil {
		return nil, &NoAnswerError{Outcome: o}
	}
	r := o.Response
	resp := &http.Response{
		Status:     strconv.Itoa(r.StatusCode) + " " + http.StatusText(r.StatusCode),
		StatusCode: r.StatusCode, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.Header.Clone(), ContentLength: int64(len(r.Body)),
		Request: req.WithContext(context.WithValue(req.Context(), answeredKey{}, answered{o, contract})),
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	if len(t.cookies) > 0 {
		resp.Header["Set-Cookie"] = slices.Clone(t.cookies)
	}
	switch {
	case t.live != nil:
		t.live.Body.(*handedOn).until(req.Context())
		resp.Body, resp.ContentLength, resp.Uncompressed = t.live.Body, t.live.ContentLength, t.live.Uncompressed
		resp.Proto, resp.ProtoMajor, resp.ProtoMinor = t.live.Proto, t.live.ProtoMajor, t.live.ProtoMinor
	case r.BodyIncomplete:
		resp.Body, resp.ContentLength = io.NopCloser(io.MultiReader(bytes.NewReader(r.Body), cutOff{})), -1
	case len(r.Body) == 0:
		resp.Body = http.NoBody
	default:
		resp.Body = io.NopCloser(bytes.NewReader(r.Body))
	}
	return resp, nil
}

// cutOff ends a body that did not arrive whole.
type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
