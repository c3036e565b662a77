package oncehttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// retry sends a request that may be repeated as it is, unjournaled, under the
// same table and budget as an intent. The first attempt asks no gate, the
// others do. When the budget is spent, or the gate lets nothing go in time, it
// hands back the last answer, or the transport's own error.
func (c *Client) retry(req *http.Request) (*http.Response, error) {
	rewound, err := c.rewind(req)
	if err != nil {
		return nil, err
	}
	if rewound.once {
		return c.base.RoundTrip(req)
	}
	ctx := req.Context()
	until := wallNow().Add(c.cfg.Retry.MaxElapsed)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) {
		until = deadline
	}
	var pass gatePass
	for n := 0; ; n++ {
		body, err := rewound.fresh()
		if err != nil {
			c.gates.giveBack(pass)
			return nil, err
		}
		resp, f, err := c.try(req, body, n+1 < c.cfg.Retry.MaxAttempts)
		j := classify(f, history{method: req.Method, protection: idempotent}, nil, wallNow())
		if noConnection(err) {
			j.host = hostDown
		}
		c.tried(req, pass, j, f.status)
		if j.again != againNow || n+1 >= c.cfg.Retry.MaxAttempts || ctx.Err() != nil {
			return resp, err
		}
		delay, stop := c.nextWait(n)
		wait := j.wait + delay
		due := wallNow().Add(wait)
		if stop || due.After(until) {
			return resp, err
		}
		if resp != nil {
			resp.Body.(*triedBody).shelve()
		}
		timer := time.NewTimer(wait)
		var ended error
		select {
		case <-timer.C:
		case <-ctx.Done():
			ended = ctx.Err()
		//lint:ignore SA1019 http.Client.Timeout still sets it
		case <-req.Cancel:
			ended = context.Canceled
		case <-c.ctx.Done():
			ended = ErrClosed
		}
		timer.Stop()
		if ended == nil {
			var open bool
			if pass, open, ended = c.queue(req, until, due); !open && ended == nil {
				return resp, err
			}
		}
		if resp != nil {
			resp.Body.Close()
		}
		if ended != nil {
			return nil, ended
		}
	}
}

// noConnection: no connection was got. It serves the gate, which may be wrong.
func noConnection(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// tried tells the gate of an attempt. While every host works, a success is no
// news.
func (c *Client) tried(req *http.Request, pass gatePass, j judgement, status int) {
	if pass.host == nil {
		if j.host == hostMute || j.host == hostUp && c.gates.troubled.Load() == 0 {
			return
		}
		pass = c.gates.at(c.gateKey(req, nil))
	}
	c.gates.heard(pass, hostEvent(j, status))
}

// queue waits for the gate's word on a retry.
func (c *Client) queue(req *http.Request, until, waited time.Time) (_ gatePass, open bool, ended error) {
	pass, w := c.gates.ask(c.gateKey(req, nil), false, until, waited)
	if w == nil {
		return pass, true, nil
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case a := <-w.answer:
		return a.pass, a.pass.host != nil, nil
	case <-timer.C:
	case <-req.Context().Done():
		ended = req.Context().Err()
	//lint:ignore SA1019 http.Client.Timeout still sets it
	case <-req.Cancel:
		ended = context.Canceled
	case <-c.ctx.Done():
		ended = ErrClosed
	}
	c.gates.leave(w)
	return gatePass{}, false, ended
}

// try makes one attempt. A time-out of ours ends with the answer's header. An
// answer's body is a *triedBody.
func (c *Client) try(req *http.Request, body io.ReadCloser, more bool) (*http.Response, facts, error) {
	ctx, cancel := context.WithCancelCause(context.WithValue(req.Context(), attemptKey{}, true))
	attempt := req.WithContext(ctx)
	attempt.Body, attempt.GetBody = body, nil
	if more {
		timer := time.AfterFunc(c.cfg.Retry.AttemptTimeout, func() { cancel(errAttemptTimeout) })
		defer timer.Stop()
	}
	resp, err := c.base.RoundTrip(attempt)
	if resp == nil && err == nil {
		err = errNoAnswer
	}
	if err != nil {
		if context.Cause(ctx) == errAttemptTimeout {
			err = errAttemptTimeout
		}
		cancel(nil)
		f := facts{failure: lost}
		if untrusted(err) {
			f.failure = neverTrusted
		}
		return nil, f, err
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	resp.Body = &triedBody{ReadCloser: resp.Body, cancel: cancel}
	// The attempt's own context would pass through whatever is sent under it.
	resp.Request = req.WithContext(context.WithValue(req.Context(), answeredKey{}, answered{}))
	return resp, facts{status: resp.StatusCode, header: resp.Header}, nil
}

// triedBody is an answer's body, which ends the attempt when it is closed.
type triedBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (b *triedBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// shelve takes a short body into memory, so that the connection is free during
// the wait, and the answer can still be handed back after it.
func (b *triedBody) shelve() {
	timer := time.AfterFunc(drainTime, func() { b.cancel(nil) })
	defer timer.Stop()
	inner := b.ReadCloser
	text, err := io.ReadAll(io.LimitReader(inner, drainLimit+1))
	switch {
	case len(text) > drainLimit:
		b.ReadCloser = &liveBody{Reader: io.MultiReader(bytes.NewReader(text), inner), Closer: inner}
		return
	case err != nil:
		b.ReadCloser = io.NopCloser(io.MultiReader(bytes.NewReader(text), cutOff{}))
	default:
		b.ReadCloser = io.NopCloser(bytes.NewReader(text))
	}
	inner.Close()
}

// rewound is a way to a fresh body for every attempt.
type rewound struct {
	none io.ReadCloser // nil or http.NoBody
	get  func() (io.ReadCloser, error)
	once bool // there is no way: it can be read only once
}

func (r rewound) fresh() (io.ReadCloser, error) {
	if r.get == nil {
		return r.none, nil
	}
	return r.get()
}

// rewind closes the caller's body, unless it can be read only once.
func (c *Client) rewind(req *http.Request) (rewound, error) {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return rewound{none: req.Body}, nil
	case req.GetBody != nil:
		closeBody(req)
		return rewound{get: req.GetBody}, nil
	case req.ContentLength > 0 && req.ContentLength <= c.cfg.MaxRequestBody:
		body, err := readBody(req.Context(), req, c.cfg.MaxRequestBody)
		return rewound{get: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }}, err
	}
	return rewound{once: true}, nil
}
