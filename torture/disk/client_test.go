//go:build linux

package disk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/oncehttp/oncehttp"
)

func init() { jobs["client"] = job.client }

// A server is the base transport of a client: what the request is decides how
// it is answered, and each request is told of before it has an effect.
type server struct {
	say func(format string, args ...any)
}

var errLost = errors.New("the answer was lost")

func (s server) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return nil, err
	}
	action := strings.TrimPrefix(req.URL.Path, "/")
	s.say("sent %s %s %s", action, req.Header.Get("Idempotency-Key"), digest(body))
	status, answer := answerTo(action)
	if status == 0 {
		return nil, errLost
	}
	s.say("answered %s %d", action, status)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)), Request: req}, nil
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b))[:16] }

// answerTo an action: its name ends with its kind.
func answerTo(action string) (status int, body []byte) {
	_, kind, _ := strings.Cut(action, ".")
	switch kind {
	case "lost":
		return 0, nil
	case "refused":
		return 400, []byte(`{"error":"no"}`)
	case "failing":
		return 500, []byte(`{"error":"sorry"}`)
	case "long":
		return 201, fmt.Appendf(nil, `{"id":%q,"text":%q}`, action, strings.Repeat(action, 6000))
	}
	return 201, fmt.Appendf(nil, `{"id":%q}`, action)
}

// actions of a job, in order.
func (j job) actions() []string {
	random := rand.New(rand.NewPCG(j.Seed, 7))
	kinds := []string{"plain", "plain", "long", "lost", "refused", "failing"}
	all := make([]string, j.Writes)
	for n := range all {
		all[n] = fmt.Sprintf("action-%d-%d.%s", j.Seed, n, kinds[random.IntN(len(kinds))])
	}
	return all
}

// actionBody is what an action sends: a short one, or one of several chunks.
func actionBody(action string) []byte {
	sum := sha256.Sum256([]byte(action))
	length := 50 + int(sum[0])*20
	if sum[1]%8 == 0 {
		length += 40_000
	}
	return fmt.Appendf(nil, `{"action":%q,"text":%q}`, action, strings.Repeat("x", length))
}

func actionRequest(action string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, "http://api.test/"+action, bytes.NewReader(actionBody(action)))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

func clientConfig(s server) oncehttp.Config {
	return oncehttp.Config{
		Transport: s,
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("*", 24*time.Hour)},
		Retry:     oncehttp.Retry{MaxAttempts: 2, Base: time.Microsecond, Cap: time.Microsecond},
		Gate:      oncehttp.Gate{Off: true},
		// One after another, so that what follows a fault can be told from what it
		// overtakes.
		Concurrency: 1,
	}
}

// client does actions, and says what it was told of each.
func (j job) client() {
	actions := j.actions()
	random := rand.New(rand.NewPCG(j.Seed, 8))
	for len(actions) > 0 {
		c := j.openClient()
		if c == nil {
			return
		}
		some := min(len(actions), 4+random.IntN(4))
		var callers sync.WaitGroup
		for w := range j.Writers {
			callers.Go(func() {
				for n := w; n < some; n += j.Writers {
					o, err := c.Do(actions[n], actionRequest(actions[n]))
					sayTold(actions[n], o, err)
				}
			})
		}
		callers.Wait()
		for o, err := range c.Resume(context.Background()) {
			if err != nil {
				say("not resumed %s", classes(err))
			} else {
				sayTold(o.Action, o, nil)
			}
		}
		j.tidy(c, random.IntN(3))
		if err := c.Close(); err != nil {
			say("not closed %s", classes(err))
		} else {
			say("closed")
		}
		actions = actions[some:]
	}
}

func (j job) openClient() *oncehttp.Client {
	for range 4 {
		c, err := oncehttp.Open(j.Path, clientConfig(server{say}))
		if err == nil {
			say("opened")
			return c
		}
		say("not opened %s", classes(err))
	}
	return nil
}

func (j job) tidy(c *oncehttp.Client, how int) {
	switch how {
	case 1:
		if err := c.Compact(context.Background()); err != nil {
			say("not compacted %s", classes(err))
		} else {
			say("compacted")
		}
	case 2:
		say("pruning")
		time.Sleep(time.Millisecond)
		if _, err := c.Prune(context.Background(), oncehttp.Retention{Answers: time.Nanosecond, Records: time.Duration(1+j.Seed%2*1e9) * time.Hour / 1e9}); err != nil {
			say("not pruned %s", classes(err))
		} else {
			say("pruned")
		}
	}
}

// sayTold: "told ACTION STATE REASON MAY KEY ATTEMPTS STATUS BODY", or "error
// ACTION CLASSES" where nothing was sent.
func sayTold(action string, o *oncehttp.Outcome, err error) {
	var pending *oncehttp.PendingError
	if err != nil && !errors.As(err, &pending) || o == nil {
		say("error %s 0 %s", action, classes(err))
		return
	}
	status, body := 0, "-"
	if o.Response != nil {
		status, body = o.Response.StatusCode, digest(o.Response.Body)
	}
	reason := o.Reason
	if reason == "" {
		reason = "-"
	}
	say("told %s %s %s %t %s %d %d %s", action, o.State, reason, o.MayHaveExecuted, o.Key, o.Attempts, status, body)
}

// told is the memory of a client that does actions.
type told struct {
	lines   int
	opened  bool
	pruned  bool
	actions map[string]toldAction
}

type toldAction struct {
	key, body string
	sent      int
	// state, if it is settled, and the answer's status and digest.
	state, answer string
	pending       bool
}

func newTold(j job) *told {
	m := &told{actions: map[string]toldAction{}}
	for _, action := range j.actions() {
		m.actions[action] = toldAction{}
	}
	return m
}

func (m *told) clone() memory {
	c := *m
	c.actions = maps.Clone(m.actions)
	return &c
}

func (m *told) demands() string { return fmt.Sprint(m.opened, m.pruned, m.actions) }

func (m *told) learn(said []string) {
	for ; m.lines < len(said); m.lines++ {
		word := strings.Fields(said[m.lines])
		switch word[0] {
		case "opened":
			m.opened = true
		case "pruning":
			m.pruned = true
		case "sent":
			a := m.actions[word[1]]
			a.key, a.body = word[2], word[3]
			a.sent++
			m.actions[word[1]] = a
		case "told":
			a := m.actions[word[1]]
			if word[3] == string(oncehttp.NotRecorded) {
				continue // it says that it may not be there
			}
			a.key = word[5]
			if a.pending = word[2] == "Pending"; !a.pending {
				a.state, a.answer = word[2], word[7]+" "+word[8]
			}
			m.actions[word[1]] = a
		}
	}
}

func (m *told) check(path string, there bool) (found findings) {
	if !there && m.opened {
		found.lost("the file is gone")
		return found
	}
	for _, adopt := range []bool{false, true} {
		var sent []string
		cfg := clientConfig(server{func(format string, args ...any) { sent = append(sent, fmt.Sprintf(format, args...)) }})
		cfg.AdoptCopy = adopt
		c, err := oncehttp.Open(path, cfg)
		if err != nil {
			found.lost("it does not open, adopted %t: %v", adopt, err)
			return found
		}
		for action, a := range m.actions {
			if !adopt {
				found.checkOutcome(c, action, a, m.pruned)
				continue
			}
			if a.state != "" && action[len(action)-1] != 'n' {
				continue // of what is settled, some
			}
			sent = nil
			o, err := c.Do(action, actionRequest(action))
			found.checkAgain(action, a, o, err, sent)
		}
		if err := c.Close(); err != nil {
			found.lie("it does not close: %v", err)
		}
		if !adopt && len(sent) > 0 {
			found.lie("a copy sends: %v", sent)
		}
	}
	if len(found) == 0 {
		found.checkStructure(path)
	}
	return found
}

// checkOutcome: what was told stands, and what was sent is known.
func (f *findings) checkOutcome(c *oncehttp.Client, action string, a toldAction, pruned bool) {
	o, err := c.Outcome(context.Background(), action)
	if errors.Is(err, oncehttp.ErrNotFound) {
		if a.sent > 0 || a.pending || a.state != "" {
			f.lost("%s was sent %d times, told as %q, and is not there", action, a.sent, a.state)
		}
		return
	}
	if err != nil {
		f.lost("%s: %v", action, err)
		return
	}
	switch {
	case a.key != "" && o.Key != a.key:
		f.lie("%s has another key than it was sent with", action)
	case o.Attempts < a.sent:
		f.lost("%s has %d attempts of %d", action, o.Attempts, a.sent)
	case a.state != "" && o.State.String() != a.state:
		f.lost("%s is %s, told as %s", action, o.State, a.state)
	case a.sent > 0 && o.State == oncehttp.Pending && !o.MayHaveExecuted:
		f.lie("%s was sent, and says that it cannot have taken effect", action)
	case a.state != "" && o.Response == nil && !pruned:
		f.lost("%s has lost its answer", action)
	case a.state != "" && o.Response != nil && fmt.Sprintf("%d %s", o.Response.StatusCode, digest(o.Response.Body)) != a.answer:
		f.lie("%s has another answer than was told", action)
	}
}

// checkAgain: a second Do, after the copy was adopted, never begins another
// operation.
func (f *findings) checkAgain(action string, a toldAction, o *oncehttp.Outcome, err error, sent []string) {
	if o == nil {
		f.lie("%s again: %v", action, err)
		return
	}
	if a.state != "" && (len(sent) > 0 || o.State.String() != a.state) {
		f.lie("%s was settled as %s, and again is %s after %v", action, a.state, o.State, sent)
	}
	for _, line := range sent {
		word := strings.Fields(line)
		if word[0] == "sent" && (a.key != "" && word[2] != a.key || word[3] != digest(actionBody(action))) {
			f.lie("%s was sent again with another key or body", action)
		}
	}
}
