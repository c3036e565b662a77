//go:build unix

package kill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/oncehttp/oncehttp"
)

// A program is the small run whose points are enumerated. Each life runs it
// from its beginning, as an application does that does not know how far it
// came. Every round opens the journal, takes up what is left, and closes it;
// the first two do an action of each kind, prune and compact.
type program struct {
	job
	*stops
	say func(format string, args ...any)

	resolving, resuming atomic.Bool
	// Of a round's end: cutsOff, it is Close and not Shutdown; waits, no attempt
	// waits for it yet; underWay is closed when one does, and stopping when the
	// client is about to be closed.
	cutsOff            bool
	waits              atomic.Bool
	underWay, stopping chan struct{}
}

const (
	rounds     = 4
	fullRounds = 2
)

// config is the same in every life. What is below /plain and /ask has no
// contract.
func config(adopt bool) oncehttp.Config {
	cfg := oncehttp.Config{
		AdoptCopy: adopt,
		Retry:     oncehttp.Retry{Base: 4 * time.Millisecond, Cap: 4 * time.Millisecond, AttemptTimeout: time.Minute},
	}
	for _, kind := range []string{"keyed", "refuse", "void"} {
		contract := oncehttp.IdempotencyKey("127.0.0.1", 24*time.Hour)
		contract.Match.Path = "/" + kind
		cfg.Contracts = append(cfg.Contracts, contract)
	}
	return cfg
}

// requestOf is a function of the action, in every life.
func requestOf(url, action string) *http.Request {
	body := fmt.Sprintf(`{"action":%q,"pad":%q}`, action, strings.Repeat("x", len(action)*7%400))
	req, err := http.NewRequest(http.MethodPost, url+"/"+action, strings.NewReader(body))
	if err != nil {
		panic(err) // the action is ours
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

func (p *program) tellOutcome(o *oncehttp.Outcome) {
	key := o.Key
	if key == "" {
		key = "-"
	}
	p.say("told %s %s %d %s", o.Action, o.State, o.Attempts, key)
}

func (p *program) onEvent(e oncehttp.Event) {
	switch e.Kind {
	case oncehttp.EventBegun:
		p.say("begun %s", e.Action)
		p.here(Created)
	case oncehttp.EventAttempt:
		p.here(Started)
	case oncehttp.EventAnswered:
		p.here(Answered)
	case oncehttp.EventWaiting:
		p.here(Waiting)
	case oncehttp.EventPending:
		p.here(Unsettled)
	case oncehttp.EventLookedUp:
		p.here(LookedUp)
	case oncehttp.EventSettled:
		if p.resolving.Load() {
			p.here(ResolveDurable)
		} else {
			p.here(Settled)
		}
	}
}

func (p *program) run() error {
	for round := range rounds {
		if err := p.round(round); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return nil
}

func (p *program) round(round int) error {
	if round%2 == 1 {
		if err := p.restore(); err != nil {
			return err
		}
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	p.underWay, p.stopping = make(chan struct{}), make(chan struct{})
	p.cutsOff = round%2 == 1
	p.waits.Store(true)
	// A life after a kill does not know whether its journal is a copy.
	cfg := config(round%2 == 1 || p.Life > 0)
	cfg.Transport = watched{base: transport, p: p}
	cfg.OnEvent = p.onEvent
	cfg.NewKey = func(string) (string, error) {
		p.here(KeyMade)
		return uuid.NewString(), nil
	}
	cfg.Authorize = func(*http.Request, bool) error {
		p.here(Authorizing)
		return nil
	}
	cfg.Lookup = p.lookup
	if err := os.MkdirAll(p.Dir+"/journal", 0o700); err != nil {
		return err
	}
	p.here(OpenCalled)
	c, err := oncehttp.Open(p.journalPath(), cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	p.here(OpenReturned)
	p.say("opened")
	if err := p.resume(c); err != nil {
		return err
	}
	if round < fullRounds {
		if err := p.actions(c, round); err != nil {
			return err
		}
	}
	return p.end(c, round)
}

// actions does one of each kind.
func (p *program) actions(c *oncehttp.Client, round int) error {
	for _, kind := range []string{"keyed/happy", "keyed/lost", "keyed/half", "refuse/no", "plain/happy", "plain/lost", "ask/lost"} {
		action := fmt.Sprintf("%s-%d", kind, round)
		o, err := p.perform(c, action)
		if err != nil {
			return err
		}
		if kind == "plain/lost" && o.State == oncehttp.Pending {
			// A person looks at the server's books, and says yes or nothing.
			if n, err := effectsOf(p.job, action); err != nil || n == 0 {
				return err
			}
			if err := p.resolve(c, action, oncehttp.Confirmed); err != nil {
				return err
			}
		}
	}
	for _, kind := range []string{"void/begun", "keyed/begun"} {
		action := fmt.Sprintf("%s-%d", kind, round)
		in, err := c.Begin(action, requestOf(p.URL, action))
		if err != nil {
			return err
		}
		p.here(BeginReturned)
		p.tellOutcome(in.Outcome())
		if kind == "void/begun" && in.Outcome().State == oncehttp.Pending {
			err := p.resolve(c, action, oncehttp.Rejected)
			if err != nil && !errors.Is(err, oncehttp.ErrInFlight) {
				return err
			}
		}
	}
	if err := p.anonymous(c, round); err != nil {
		return err
	}
	if err := p.resume(c); err != nil {
		return err
	}
	p.here(PruneCalled)
	if _, err := c.Prune(context.Background(), oncehttp.Retention{Answers: 1, Records: 1}); err != nil {
		return err
	}
	p.here(PruneReturned)
	if _, err := p.perform(c, fmt.Sprintf("keyed/happy-%d", round)); err != nil {
		return err
	}
	p.here(CompactCalled)
	if err := c.Compact(context.Background()); err != nil {
		return err
	}
	p.here(CompactReturned)
	return nil
}

// perform does an action; to be told that it is pending is no error.
func (p *program) perform(c *oncehttp.Client, action string) (*oncehttp.Outcome, error) {
	o, err := c.Do(action, requestOf(p.URL, action))
	var pending *oncehttp.PendingError
	if err != nil && !errors.As(err, &pending) {
		return nil, err
	}
	p.here(DoReturned)
	p.tellOutcome(o)
	p.here(DoTold)
	return o, nil
}

// anonymous sends what nobody names, so another one in each life; it takes a
// path of its own. Prune removes it without a trace.
func (p *program) anonymous(c *oncehttp.Client, round int) error {
	resp, err := c.RoundTrip(requestOf(p.URL, fmt.Sprintf("keyed/anonymous-%d-%d", p.Life, round)))
	var pending *oncehttp.PendingError
	switch {
	case errors.As(err, &pending):
		return nil
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	p.here(TripReturned)
	if o, ok := oncehttp.OutcomeOf(resp); ok {
		p.tellOutcome(o)
	}
	return nil
}

func (p *program) resume(c *oncehttp.Client) error {
	p.resuming.Store(true)
	defer p.resuming.Store(false)
	for o, err := range c.Resume(context.Background()) {
		if err != nil {
			return err
		}
		p.here(ResumeOutcome)
		p.tellOutcome(o)
	}
	p.here(ResumeOver)
	return nil
}

func (p *program) resolve(c *oncehttp.Client, action string, to oncehttp.State) error {
	p.here(ResolveCalled)
	p.resolving.Store(true)
	err := c.Resolve(context.Background(), action, oncehttp.Resolution{State: to, By: "operator", Why: "the books"})
	p.resolving.Store(false)
	if err != nil {
		return err
	}
	p.here(ResolveReturned)
	p.say("resolved %s %s", action, to)
	return nil
}

// lookup is for what is below /ask alone.
func (p *program) lookup(_ context.Context, in *oncehttp.Intent) (oncehttp.Finding, error) {
	p.here(LookupCalled)
	n, err := effectsOf(p.job, in.Action())
	if err != nil || n == 0 || !strings.HasPrefix(in.Action(), "ask/") {
		return oncehttp.Finding{}, err
	}
	return oncehttp.Finding{Kind: oncehttp.Found}, nil
}

// restore puts a copy in the journal's place, as after a lost disk. Nobody has
// the journal open.
func (p *program) restore() error {
	text, err := os.ReadFile(p.journalPath())
	if err != nil {
		return err
	}
	backup := p.Dir + "/backup"
	if err := os.WriteFile(backup, text, 0o600); err != nil {
		return err
	}
	p.here(RestoreCopied)
	if err := os.Rename(backup, p.journalPath()); err != nil {
		return err
	}
	p.here(RestoreReplaced)
	return nil
}

// end closes the client while an attempt is under way: Shutdown waits for it,
// Close cuts it off after its effect.
func (p *program) end(c *oncehttp.Client, round int) error {
	action := fmt.Sprintf("keyed/late-%d", round)
	ended := make(chan error, 1)
	go func() {
		_, err := p.perform(c, action)
		if errors.Is(err, oncehttp.ErrClosed) {
			err = nil
		}
		ended <- err
	}()
	var err error
	select {
	case <-p.underWay:
	case err = <-ended: // an earlier life has done it
		ended <- err
	}
	if !p.cutsOff {
		p.here(ShutdownCalled)
		close(p.stopping)
		err = c.Shutdown(context.Background())
		p.here(ShutdownReturned)
	} else {
		p.here(CloseCalled)
		close(p.stopping)
		err = c.Close()
		p.here(CloseReturned)
	}
	return errors.Join(err, <-ended)
}
