package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// The hosts that requests go to: one server answers for all, and there is a
// contract with a key of the first one, and at times one without of the second.
const (
	keyedHost   = "keyed.test"
	otherHost   = "other.test" // of the same API
	keylessHost = "keyless.test"
	plainHost   = "plain.test"
)

func (a Action) host() string {
	switch {
	case a.Elsewhere:
		return otherHost
	case a.Protection == judge.Keyed:
		return keyedHost
	case a.Keyless:
		return keylessHost
	}
	return plainHost
}

// A world is one run of a plan.
type world struct {
	plan    Plan
	path    string // of the journal
	server  *mockserver.Server
	record  *record
	actions map[string]Action

	mu sync.Mutex // guards what follows
	// random decides what the plan leaves open.
	random     *rand.Rand
	keys       int
	executed   map[string]int
	executions []execution
	// calm: the last life, without faults.
	calm bool
	// happened counts what did, by a name of its own.
	happened map[string]int
	findings []judge.Finding
}

// A Result is what a run left.
type Result struct {
	Run *judge.Run
	// Findings of the run itself, beside the judge's.
	Findings []judge.Finding
	// Virtual is how long it took in its own time.
	Virtual time.Duration
	// Happened counts what did.
	Happened map[string]int
}

// Run runs a plan on a journal at path, which does not exist yet. It is to be
// called in a bubble of testing/synctest.
func Run(p Plan, path string) Result {
	begun := time.Now()
	w := &world{
		plan: p, path: path, record: newRecord(), actions: map[string]Action{},
		random:   rand.New(rand.NewPCG(p.Seed, 0x776f726c64)),
		executed: map[string]int{}, happened: map[string]int{},
	}
	w.record.run.Actions = map[string]judge.Action{}
	w.record.run.Secrets = []string{secretToken, secretMark}
	for _, a := range p.Actions {
		w.actions[a.Name] = a
		w.record.run.Actions[a.Name] = w.judged(a)
	}
	w.server = w.newServer()
	for n, l := range p.Lives {
		w.live(n, l)
	}
	w.lastLife(len(p.Lives))
	w.server.Close()

	run := &w.record.run
	run.Requests = w.server.Requests()
	run.Effects = w.effects()
	w.count()
	return Result{Run: run, Findings: w.findings, Virtual: time.Since(begun), Happened: w.happened}
}

// judged is an action as the judge wants it.
func (w *world) judged(a Action) judge.Action {
	j := judge.Action{
		Name: a.Name, Protection: a.Protection, Method: a.Method, BodySHA256: sum([]byte(a.Body)),
		Share: w.plan.Client.Share, AttemptTimeout: w.plan.Client.Retry.AttemptTimeout, Honest: w.plan.Honest(a), Lookups: w.plan.Client.Lookup || w.plan.proves(a), Gate: a.host(),
		Payload: sum([]byte(a.Body)), Budget: w.plan.Client.Retry.MaxElapsed + w.plan.slowest(),
		Marked: a.Protection == judge.Keyed && !w.plan.API.NoReplay,
	}
	t := w.plan.API.Terms
	if a.Protection == judge.Keyed {
		j.Window = w.plan.API.trusted()
		if w.plan.API.refuses() {
			j.Share = 1
		}
		j.Items, j.KeyShape = t.Items, t.shape(a)
		j.KeyWithin, j.Pinned, j.KeepsFailures = t.within(), t.Pinned, t.SaysFailures && !slices.Contains(t.Except, 500)
		if t.Hints {
			j.Least = t.Least
		}
	}
	j.Held = t.Find != findNone && t.State == stateHeld && !w.plan.Client.Lookup
	j.Fixed = t.fixed(a)
	if t.Drawn && w.plan.Client.Sealed {
		j.BodySHA256 = "" // what is written into it is not seen in the journal
	}
	// A server that forgets keys does not keep what its contract says of refusals.
	j.Spoofed = !j.Honest && (w.plan.API.Refusals || w.plan.API.Settle > 0) && (len(a.First) > 0 || !a.Effective())
	if w.plan.Client.GateOff {
		j.Gate = ""
	}
	return j
}

// slowest is what the slow saves and connections of a life take, at most.
func (p Plan) slowest() (most time.Duration) {
	for _, l := range p.Lives {
		var all time.Duration
		for _, d := range l.Saves {
			all += d
		}
		for _, d := range l.Dials {
			all += d
		}
		most = max(most, all)
	}
	return most
}

func (w *world) met(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.happened[what]++
}

func (w *world) chance(p float64) bool {
	if p <= 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.calm && w.random.Float64() < p
}

func (w *world) find(count, rule, action, text string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings = append(w.findings, judge.Finding{Rule: rule, Count: count, Action: action, Text: fmt.Sprintf(text, args...)})
}

// contract is what the client is told of the API.
func (w *world) contract() oncehttp.Contract {
	a := w.plan.API
	c := oncehttp.IdempotencyKey(keyedHost, a.Window)
	c.Match.Methods = []string{"POST", "PATCH", "PUT", "DELETE"}
	c.Match.Hosts = append(c.Match.Hosts, otherHost)
	c.Window = a.window()
	c.Origin, _ = a.origin()
	w.terms(&c)
	if a.NoReplay {
		c.Replay = oncehttp.Marker{}
	}
	c.Stored.Refusals, c.Stored.Settle = a.Refusals, a.Settle
	c.Answers = append(c.Answers,
		oncehttp.Answer{Status: []int{409}, Codes: []string{"*_indeterminate"}, Verdict: oncehttp.VerdictInProgress},
		oncehttp.Answer{Status: []int{400}, Codes: []string{"*_key_expired"}, Verdict: oncehttp.VerdictKeyExpired})
	return c
}

func (l *life) config() oncehttp.Config {
	c := l.world.plan.Client
	cfg := oncehttp.Config{
		Transport: l.wire,
		Retry:     c.Retry, Gate: oncehttp.Gate{Off: c.GateOff}, WindowShare: c.Share, Concurrency: c.Concurrency,
		MaxResponseBody: c.MaxResponse, MaxUnresolved: c.MaxUnresolved,
	}
	if !l.world.plan.API.Terms.minted() {
		cfg.NewKey = l.newKey
	}
	if !l.plan.NoContract {
		contract := l.contract()
		if l.plan.Longer {
			contract.Window.Length *= 10
		}
		cfg.Contracts = []oncehttp.Contract{contract}
		if keyless, ok := l.keyless(); ok {
			cfg.Contracts = append(cfg.Contracts, keyless)
		}
	}
	cfg.Plant = l.world.plan.API.Terms.Plant != oncehttp.CarrierNone
	if !c.Jitter {
		cfg.Retry.BackOff = l.backOff
	}
	if c.Sealed {
		cfg.Sealer = sealer
	}
	if c.Authorize {
		cfg.Authorize = l.authorize
	}
	if c.Lookup {
		cfg.Lookup = func(_ context.Context, in *oncehttp.Intent) (oncehttp.Finding, error) { return l.lookUp(in) }
	}
	return cfg
}

// newKey mints a new key each time: that a key stays the same is the client's
// work.
func (w *world) newKey(action string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys++
	key := fmt.Sprintf("%s-%d", action, w.keys)
	if w.plan.API.Terms.Carrier == oncehttp.CarrierPath {
		w.server.ScriptKey(key, w.actions[action].Faults...) // no path is known before
	}
	return key, nil
}

// count adds what can be seen of the run at its end.
func (w *world) count() {
	if w.plan.Scene != sceneNone {
		w.happened["scene "+string(w.plan.Scene)]++
	}
	requests := map[string]int{}
	for _, q := range w.record.run.Requests {
		if q.Method != http.MethodGet {
			requests[first(q.Path)]++
		}
	}
	for _, a := range w.plan.Actions {
		for n := range min(len(a.Kinds), requests[a.Name]) {
			w.happened["fault "+a.Kinds[n].String()]++
		}
	}
	w.countTerms()
	w.countKinds()
	for _, op := range w.record.run.Ops {
		what := "op " + string(op.Kind)
		if op.Return == 0 {
			what += " cut off"
		}
		w.happened[what]++
		if o := op.Outcome; o != nil {
			w.happened["told "+o.State.String()+" "+string(o.Reason)]++
			if o.MayHaveRepeated {
				w.happened["told of a second effect"]++
			}
			if o.Reworded {
				w.happened["told of the first wording"]++
			}
		}
		for name, err := range errorNames {
			if errors.Is(op.Err, err) {
				w.happened["told "+name]++
			}
		}
	}
	for _, l := range w.record.run.Lives {
		if !l.Behind.IsZero() {
			w.happened["life with its clock behind"]++
		}
	}
}

var errorNames = map[string]error{
	"a mismatch": oncehttp.ErrMismatch, "closed": oncehttp.ErrClosed, "in flight": oncehttp.ErrInFlight, "a deadline": context.DeadlineExceeded,
	"refused dials": syscall.ECONNREFUSED, "no room": syscall.ENOSPC, "an unknown fate": oncehttp.ErrFateUnknown,
	"a copy": oncehttp.ErrCopied, "too many": oncehttp.ErrTooMany,
}
