package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// calm is the fault of a healthy server.
var calm = mockserver.Fault{Times: -1}

// caller takes its steps, as long as the life lasts.
func (l *life) caller(n int, steps []Step) {
	for _, s := range steps {
		if !l.sleep(s.After) {
			return
		}
		l.step(n, s)
	}
}

func (l *life) step(caller int, s Step) {
	a := l.world.plan.Actions[s.Action]
	ctx, cancel := context.Background(), func() {}
	if s.Patience > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.Patience)
	}
	defer cancel()
	switch s.Call {
	case CallRead:
		l.read(ctx, caller, a)
		return
	case CallPending:
		l.list(ctx, caller)
		return
	case CallResolve:
		l.resolve(ctx, caller, a, s)
		return
	case CallPrune:
		l.prune(ctx)
		return
	}
	body := a.Body
	if s.Reworded {
		body = payload("another")
	}
	op := judge.Op{Kind: judge.OpDo, Action: a.Name, Caller: caller, Payload: sum([]byte(body))}
	if s.Respelled && !l.world.plan.isXML(a) {
		body = respell(a.Name)
	}
	body = l.world.plan.written(a, body)
	var opts []oncehttp.ActionOption
	if s.KeepFirst {
		opts = append(opts, oncehttp.KeepFirst())
	}
	if s.Born > 0 && !a.Anonymous {
		op.Born = time.Now().Add(-s.Born)
		opts = append(opts, oncehttp.ActionTime(op.Born))
	}
	if !a.Anonymous && (s.Call == CallRoundTrip || s.Call == CallClient) {
		ctx = oncehttp.WithAction(ctx, a.Name, opts...)
	}
	req := l.request(ctx, a, body)
	if s.Call == CallBegin {
		op.Kind = judge.OpBegin
	}
	op.Call, op.CallTime = l.record.now()
	switch s.Call {
	case CallDo:
		op.Outcome, op.Err = l.client.Do(a.Name, req, opts...)
	case CallBegin, CallBeginDo:
		in, err := l.client.Begin(a.Name, req, opts...)
		switch {
		case err != nil:
			op.Outcome, op.Err = told(err)
		case s.Call == CallBegin:
			op.Outcome = in.Outcome()
		default:
			op.Outcome, op.Err = in.Do(ctx)
		}
	case CallRoundTrip:
		op.Outcome, op.Err = l.answered(a, l.client.RoundTrip, req)
	case CallClient:
		c := l.client.HTTPClient()
		c.Timeout = s.Patience
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		op.Outcome, op.Err = l.answered(a, c.Do, req)
	}
	l.note(op)
}

// answered is what RoundTrip tells, after some of the answer was read.
func (l *life) answered(a Action, send func(*http.Request) (*http.Response, error), req *http.Request) (*oncehttp.Outcome, error) {
	resp, err := send(req)
	var settled *oncehttp.NoAnswerError
	if errors.As(err, &settled) {
		return settled.Outcome, nil
	}
	if err != nil {
		return told(err)
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // it may be endless, or cut off
	resp.Body.Close()
	o, _ := oncehttp.OutcomeOf(resp)
	return o, nil
}

// told is the outcome in an error.
func told(err error) (*oncehttp.Outcome, error) {
	var pending *oncehttp.PendingError
	var mismatch *oncehttp.MismatchError
	switch {
	case errors.As(err, &pending):
		return pending.Outcome, err
	case errors.As(err, &mismatch):
		return mismatch.Outcome, err
	}
	return nil, err
}

func (l *life) request(ctx context.Context, a Action, body string) *http.Request {
	p := l.world.plan
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, a.Method, "http://"+a.host()+p.target(a), r)
	if err != nil {
		panic(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", p.media(a))
	}
	if a.Ref && p.API.Terms.Plant == oncehttp.CarrierHeader {
		req.Header.Set(refHeader, theirRef)
	}
	switch {
	case a.Userinfo:
		req.URL.User = url.UserPassword("somebody", secretToken)
	case a.Credentials:
		req.Header.Set("Authorization", "Bearer "+secretToken)
	}
	if a.Adopted != "" && p.API.Terms.inHeader() {
		key := a.Adopted
		if p.API.Quoted {
			key = `"` + key + `"`
		}
		req.Header.Set(keyHeader, key)
	}
	return req
}

func (l *life) read(ctx context.Context, caller int, a Action) {
	name, ok := l.record.real(a)
	if !ok {
		return
	}
	op := judge.Op{Kind: judge.OpRead, Action: a.Name, Caller: caller}
	op.Call, op.CallTime = l.record.now()
	op.Outcome, op.Err = l.client.Outcome(ctx, name)
	l.note(op)
}

func (l *life) list(ctx context.Context, caller int) {
	op := judge.Op{Kind: judge.OpPending, Caller: caller}
	op.Call, op.CallTime = l.record.now()
	for in, err := range l.client.Pending(ctx) {
		if err != nil {
			op.Err = err
			break
		}
		op.Listed = append(op.Listed, in.Action())
	}
	l.record.mu.Lock()
	for i, name := range op.Listed {
		op.Listed[i] = l.record.plan(name)
	}
	l.record.mu.Unlock()
	l.note(op)
}

// resolve is a person's word, who has looked into the server's books. Without
// force such a person says No only when nothing can be under way any more.
func (l *life) resolve(ctx context.Context, caller int, a Action, s Step) {
	name, ok := l.record.real(a)
	if !ok {
		return
	}
	op := judge.Op{Kind: judge.OpResolve, Action: a.Name, Caller: caller}
	op.Resolved = oncehttp.Resolution{State: oncehttp.Confirmed, By: "a person", Why: "looked it up"}
	op.Call, op.CallTime = l.record.now()
	switch {
	case s.Says != oncehttp.Pending:
		l.met("a word that may be wrong")
		op.Resolved.State, op.Resolved.Force = s.Says, s.Force
	case l.server.EffectsOf(a.Name) == 0:
		op.Resolved.State, op.Resolved.Force = oncehttp.Rejected, s.Force
		l.record.mu.Lock()
		last, sent := l.record.last[a.Name]
		l.record.mu.Unlock()
		if sent && !s.Force && time.Since(last) <= l.world.plan.API.Arrives+l.world.plan.API.Work+time.Second {
			return
		}
	}
	op.Err = l.client.Resolve(ctx, name, op.Resolved)
	l.note(op)
}

// prune leaves tombstones of what was settled a minute ago.
func (l *life) prune(ctx context.Context) {
	pruned, err := l.client.Prune(ctx, oncehttp.Retention{Answers: time.Minute, Records: time.Minute})
	if err != nil && !l.dead.Load() {
		l.find("lies", "what is settled can be pruned", "", "life %d: %v", l.number, err)
	}
	if pruned.Records > 0 {
		l.met("pruned")
	}
}

var errHook = errors.New("the hook could not")

func (l *life) authorize(req *http.Request, stale bool) error {
	if l.world.plan.On.has(faultAuthorize) && l.chance(0.2) {
		l.met("authorize failed")
		return errHook
	}
	req.Header.Set("Authorization", "Bearer "+l.world.plan.token())
	return nil
}

// token is the one of now.
func (p Plan) token() string {
	if p.Client.Rotates == 0 {
		return secretToken
	}
	return fmt.Sprintf("%s-%d", secretToken, time.Since(begins)/p.Client.Rotates%2)
}

// lookUp answers from the server's books, in which an effect shows a little
// later.
func (l *life) lookUp(in *oncehttp.Intent) (oncehttp.Finding, error) {
	if l.chance(l.world.plan.Client.LookupFails) {
		l.met("lookup failed")
		return oncehttp.Finding{}, errHook
	}
	l.record.mu.Lock()
	name := l.record.plan(in.Action())
	l.record.mu.Unlock()
	for _, e := range l.server.EffectLog() {
		if e.What == name && time.Since(e.Time) >= l.world.plan.API.Lag {
			l.met("lookup found")
			return oncehttp.Finding{Kind: oncehttp.Found, Reference: e.ID}, nil
		}
	}
	if l.chance(0.1) {
		l.met("lookup too early")
		return oncehttp.Finding{Kind: oncehttp.TooEarly}, nil
	}
	l.met("lookup not found")
	return oncehttp.Finding{Kind: oncehttp.NotFound}, nil
}

// backOff is full jitter whose chance comes from the seed.
func (l *life) backOff() backoff.BackOff {
	r := l.world.plan.Client.Retry
	return &jitter{world: l.world, base: r.Base, limit: r.Cap}
}

type jitter struct {
	*world
	base, limit time.Duration
	n           int
}

func (j *jitter) NextBackOff() time.Duration {
	most := min(j.limit, j.base<<min(j.n, 20))
	j.n++
	j.mu.Lock()
	defer j.mu.Unlock()
	return time.Duration(j.random.Int64N(int64(most) + 1))
}

func (j *jitter) Reset() { j.n = 0 }
