package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// newServer makes the API that a plan wants.
func (w *world) newServer() *mockserver.Server {
	a := w.plan.API
	p := mockserver.Profile{
		NoMarker: a.NoReplay, InFlightWaits: a.Waits, FromCompletion: a.FromCompletion,
		InFlight:      w.problem(409, "idempotency_in_progress"),
		Mismatch:      w.problem(422, "idempotency_key_mismatch"),
		Indeterminate: w.problem(409, "idempotency_indeterminate"),
	}
	if !a.Bare {
		p.InFlight.Header.Set("Retry-After", "1")
	}
	if a.Tells {
		p.Expired = w.problem(400, "idempotency_key_expired")
	}
	w.profile(&p)
	s := mockserver.Memory(mockserver.Config{
		HTTP2: a.HTTP2, Work: a.Work, TTL: a.TTL, Profile: p, Execute: w.execute,
		// Another token is the same customer.
		Tenant: func(r *http.Request) string {
			if a.Terms.Pinned && (r.Host == keyedHost || r.Host == otherHost) {
				return r.Header.Get("Authorization")
			}
			return ""
		},
		What: func(r *http.Request) string { return first(r.URL.Path) },
	})
	for _, act := range w.plan.Actions {
		switch {
		case act.Protection != judge.Keyed || a.Terms.Carrier != oncehttp.CarrierPath:
			s.ScriptPath("/"+act.Name, act.Faults...)
		case act.Adopted != "":
			s.ScriptKey(act.Adopted, act.Faults...)
		}
	}
	s.ScriptPath(findPlace, a.Terms.Strays...)
	for _, act := range w.plan.Actions {
		s.ScriptPath(findPlace+"/by/"+act.Name, a.Terms.Strays...)
	}
	return s
}

// problem is an error of the API's own.
func (w *world) problem(status int, code string) mockserver.Answer {
	a := mockserver.Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"code":"` + code + `"}`}
	if w.plan.API.Origin && w.plan.API.Terms.Own == ownHeader {
		a.Header.Set(marker, "1")
	}
	return a
}

// An execution is one call of execute.
type execution struct {
	seq    int64
	action string
	send   int // as sendHeader has it
}

// execute makes the answer of an execution: first what the plan has for the
// first ones, then its status. What was deleted is gone the next time.
func (w *world) execute(r *http.Request) mockserver.Answer {
	name := first(r.URL.Path)
	send, err := strconv.Atoi(r.Header.Get(sendHeader))
	if err != nil {
		panic(err)
	}
	seq, _ := w.record.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.executed[name]
	w.executed[name]++
	w.executions = append(w.executions, execution{seq, name, send})
	a, ok := w.actions[name]
	if !ok {
		return w.problem(404, "not_found")
	}
	if n < len(a.First) {
		answer := w.problem(a.First[n], "not_now")
		if n < len(a.Hints) {
			for name, value := range a.Hints[n].headers(w.plan.API.Terms.Wait) {
				answer.Header.Set(name, value)
			}
		}
		return answer
	}
	if !a.Effective() {
		return w.problem(a.Status, "refused")
	}
	if a.Protection == judge.Idempotent && r.Method == http.MethodDelete && w.server.EffectsOf(name) > 0 {
		return w.problem(410, "gone")
	}
	answer := w.problem(a.Status, "")
	answer.Body = fmt.Sprintf(`{"id":"%s-%d"}`, name, n)
	if a.Long {
		answer.Body = fmt.Sprintf(`{"id":"%s-%d","text":"%s"}`, name, n, strings.Repeat("long ", 1<<12))
	}
	if a.Status == http.StatusNoContent {
		answer.Body = ""
	}
	return answer
}

// effects are the ledger's, as the judge wants them. An effect happens between
// its execution and the next moment at which anything else does.
func (w *world) effects() (effects []judge.Effect) {
	requests := w.server.Requests()
	for _, e := range w.server.EffectLog() {
		send, err := strconv.Atoi(requests[e.Request-1].Header.Get(sendHeader))
		if err != nil {
			panic(err)
		}
		effect := judge.Effect{Time: e.Time, Action: e.What, Key: e.Key, ID: e.ID, Return: w.record.after(e.Time)}
		for _, x := range w.executions {
			if x.send == send {
				effect.Call = x.seq
			}
		}
		if effect.Call == 0 { // an answer of the script's, made in the same step
			effect.Call = w.record.run.Sends[send].Seq + 1
		}
		if s := w.record.run.Sends[send]; s.Ended > 0 && s.Status/100 == 2 {
			effect.Return = min(effect.Return, s.Ended)
		}
		effects = append(effects, effect)
	}
	return effects
}

// outage plays one outage of the server, as long as the life lasts.
func (l *life) outage(o Outage) {
	if !l.sleep(o.After) {
		return
	}
	switch {
	case o.RefuseFor > 0:
		l.server.RefuseDials(-1)
	case o.Refuse > 0:
		l.server.RefuseDials(o.Refuse)
	}
	if o.Crash {
		l.met("server restart")
		l.server.Crash()
	}
	if o.RefuseFor > 0 {
		l.sleep(o.RefuseFor)
		l.server.RefuseDials(0)
	}
}
