//go:build unix

package kill

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/tally"
)

// A world is a server, a journal, and what was said by the processes that are
// no more.
type world struct {
	job
	ledger   ledger
	mock     *mockserver.Server // or, if it is nil:
	listener *os.File           // of the server that is a process
	server   *process

	mu       sync.Mutex // guards what follows
	life     int        // grows with each process and each look into the journal
	known    map[string]bool
	told     map[string]telling // the last that was told of each
	resolved map[string]bool
	reached  map[Point]int // as told by a client that came to its end
	// touched are the system calls of a traced client that touch its journal,
	// traced is the number of those that can change it.
	touched     map[string]int
	traced      int
	untraceable bool
	tally       tally.Tally
	findings    []string
}

type telling struct {
	life     int
	state    oncehttp.State
	attempts int
	key      string
}

// newWorld has its server in a process of its own, which is not started yet.
func newWorld() (*world, error) {
	dir, err := scratch()
	if err != nil {
		return nil, err
	}
	w := &world{job: job{Dir: dir}}
	w.init()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	defer listener.Close()
	w.URL = "http://" + listener.Addr().String()
	if w.listener, err = listener.(*net.TCPListener).File(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.ledger = bookkeeper{w.job}
	return w, nil
}

func (w *world) init() {
	w.known, w.told, w.resolved, w.reached = map[string]bool{}, map[string]telling{}, map[string]bool{}, map[Point]int{}
	w.touched, w.tally = map[string]int{}, tally.Tally{}
}

// scratch is in memory where it can be: a kill does not lose what the kernel
// has.
func scratch() (string, error) {
	dir, err := os.MkdirTemp("/dev/shm", "kill")
	if err != nil {
		dir, err = os.MkdirTemp("", "kill")
	}
	return dir, err
}

// close ends the server and removes everything.
func (w *world) close() error {
	var err error
	if w.server != nil {
		err = w.server.kill()
	}
	if w.listener != nil {
		w.listener.Close()
	}
	if w.mock != nil {
		w.mock.Close()
	}
	return errors.Join(err, os.RemoveAll(w.Dir))
}

// broken notes a broken promise.
func (w *world) broken(count, format string, args ...any) {
	w.tally[count]++
	w.findings = append(w.findings, count+": "+fmt.Sprintf(format, args...))
}

// hear takes a line that a process said, and holds it against what was said
// before and against what the server has done.
func (w *world) hear(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var action, state string
	now := telling{life: w.life}
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "opened":
	case "touched":
		w.touched[rest]++
	case "traced":
		fmt.Sscan(rest, &w.traced)
	case "error":
		w.untraceable = strings.Contains(rest, errNoTrace.Error())
		if !w.untraceable {
			w.broken(tally.Panics, "a process said %q", line)
		}
	case "begun":
		w.known[rest] = true
	case "resolved":
		action, _, _ := strings.Cut(rest, " ")
		w.resolved[action] = true
	case "reached":
		var n int
		number, point, _ := strings.Cut(rest, " ")
		fmt.Sscan(number, &n)
		w.reached[Point(point)] = n
	case "told":
		if n, err := fmt.Sscan(rest, &action, &state, &now.attempts, &now.key); n < 4 || now.state.UnmarshalText([]byte(state)) != nil {
			w.broken(tally.Panics, "a process said %q (%v)", line, err)
			return
		}
		w.hold(action, now)
	default:
		w.broken(tally.Panics, "a process said %q", line)
	}
}

// hold checks what is told of an action, and keeps it. The lock is held. In one
// life what was Pending for one caller may be heard after what settled it for
// another.
func (w *world) hold(action string, now telling) {
	w.known[action] = true
	before, known := w.told[action]
	if known && before.key != now.key {
		w.broken(tally.Lies, "%s has another key than before", action)
	}
	if known && now.life > before.life && now.attempts < before.attempts {
		w.broken(tally.Lost, "%s has %d attempts, and %d were told", action, now.attempts, before.attempts)
	}
	settled := known && before.state != oncehttp.Pending
	if settled && before.state != now.state && (now.state != oncehttp.Pending || now.life > before.life) {
		w.broken(tally.Lies, "%s was told %v and then %v", action, before.state, now.state)
	}
	w.agrees(action, now.state)
	if !settled || now.state != oncehttp.Pending {
		w.told[action] = now
	}
}

// agrees holds a state against the effects. The lock is held. An action that
// nobody named does not say which one it is.
func (w *world) agrees(action string, state oncehttp.State) {
	if strings.HasPrefix(action, "anonymous/") || state == oncehttp.Pending {
		return
	}
	switch n, err := w.ledger.effectsOf(action); {
	case err != nil:
		w.broken(tally.Panics, "the ledger cannot be read: %v", err)
	case n > 1:
		w.broken(tally.Duplicates, "%s has %d effects", action, n)
	case state == oncehttp.Confirmed && n == 0:
		w.broken(tally.Lies, "%s is told Confirmed and has no effect", action)
	case state == oncehttp.Rejected && n > 0:
		w.broken(tally.Lies, "%s is told Rejected and has an effect", action)
	}
}

// look opens the journal as it was left, and holds all of it against what was
// said. A journal that was never opened need not be there.
func (w *world) look() error {
	if _, err := os.Stat(w.journalPath()); errors.Is(err, os.ErrNotExist) && len(w.known) == 0 {
		return nil
	}
	c, err := oncehttp.Open(w.journalPath(), config(false))
	if err != nil {
		w.broken(tally.Lost, "the journal does not open: %v", err)
		return err
	}
	return errors.Join(w.lookThrough(c), c.Close())
}

func (w *world) lookThrough(c *oncehttp.Client) error {
	requests, err := w.ledger.requests()
	if err != nil {
		return err
	}
	received := map[string]int{}
	for _, r := range requests {
		if r.Body == "" {
			received[r.Action]++
		}
	}
	listed := map[string]bool{}
	for in, err := range c.Pending(context.Background()) {
		if err != nil {
			w.broken(tally.Lost, "what is pending cannot be listed: %v", err)
			return err
		}
		listed[in.Action()] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life++
	for action := range received {
		if !strings.Contains(action, "/anonymous-") {
			w.known[action] = true
		}
	}
	for action := range w.known {
		o, err := c.Outcome(context.Background(), action)
		if err != nil {
			// What nobody named leaves nothing once it is settled and pruned.
			if !strings.HasPrefix(action, "anonymous/") || !errors.Is(err, oncehttp.ErrNotFound) {
				w.broken(tally.Lost, "%s was begun, told or received: %v", action, err)
			}
			continue
		}
		key := o.Key
		if key == "" {
			key = "-"
		}
		w.hold(action, telling{life: w.life, state: o.State, attempts: o.Attempts, key: key})
		if o.Attempts < received[action] {
			w.broken(tally.Lies, "%s was received %d times, and %d attempts are recorded", action, received[action], o.Attempts)
		}
		if listed[action] != (o.State == oncehttp.Pending) {
			w.broken(tally.Lost, "%s is %v, and listed as pending: %v", action, o.State, listed[action])
		}
	}
	return nil
}

// patience is how many passes an action under a contract may take to settle.
const patience = 50

// settle is the last life, which nobody kills: it drives what is left until only
// what has no contract is pending.
func (w *world) settle() error {
	if err := w.ledger.quiet(); err != nil {
		return err
	}
	c, err := oncehttp.Open(w.journalPath(), config(true))
	if err != nil {
		w.broken(tally.Lost, "the journal does not open: %v", err)
		return err
	}
	defer c.Close()
	if err := w.lookThrough(c); err != nil {
		return err
	}
	for pass := 0; ; pass++ {
		for _, err := range c.Resume(context.Background()) {
			if err != nil {
				return err
			}
		}
		var open []string
		for in, err := range c.Pending(context.Background()) {
			if err != nil {
				return err
			}
			action := in.Action()
			if strings.HasPrefix(action, "plain/") || strings.HasPrefix(action, "ask/") {
				continue
			}
			if strings.HasPrefix(action, "anonymous/") {
				_, err = in.Do(context.Background())
			} else {
				_, err = c.Do(action, requestOf(w.URL, action))
			}
			if err != nil {
				open = append(open, fmt.Sprintf("%s (%v)", action, err))
			}
		}
		if len(open) == 0 {
			break
		}
		if pass == patience {
			w.broken(tally.Lost, "under a contract, and not to be settled: %v", open)
			break
		}
	}
	if err := w.ledger.quiet(); err != nil {
		return err
	}
	if err := w.lookThrough(c); err != nil {
		return err
	}
	return w.balance()
}

// balance is the account at the end: what the server did for each action.
func (w *world) balance() error {
	requests, err := w.ledger.requests()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	keys, bodies, received := map[string]string{}, map[string]string{}, map[string]int{}
	for _, r := range requests {
		if key, ok := keys[r.Action]; ok && key != r.Key {
			w.broken(tally.Lies, "%s was sent under two keys", r.Action)
		}
		keys[r.Action] = r.Key
		if r.Body == "" {
			received[r.Action]++
			continue
		}
		if body, ok := bodies[r.Action]; ok && body != r.Body {
			w.broken(tally.Lies, "%s was sent with two payloads", r.Action)
		}
		bodies[r.Action] = r.Body
		if strings.Contains(r.Action, "/anonymous-") {
			w.known[r.Action] = true
		}
	}
	for action := range w.known {
		n, err := w.ledger.effectsOf(action)
		if err != nil {
			return err
		}
		state := w.told[action].state
		switch kind, _, _ := strings.Cut(action, "/"); {
		case n > 1:
			w.broken(tally.Duplicates, "%s has %d effects", action, n)
		case kind == "plain" || kind == "ask":
			if received[action] > 1 {
				w.broken(tally.Lies, "%s is not protected, and was sent %d times", action, received[action])
			}
		case strings.Contains(action, "/anonymous-"):
			if n != 1 {
				w.broken(tally.Lost, "%s was received, and has %d effects", action, n)
			}
		case kind == "anonymous": // see its path
		case state == oncehttp.Pending:
			w.broken(tally.Lost, "%s is under a contract and stays pending", action)
		case kind == "refuse" && (state != oncehttp.Rejected || n != 0), kind == "keyed" && (state != oncehttp.Confirmed || n != 1):
			w.broken(tally.Lies, "%s is %v and has %d effects", action, state, n)
		case w.resolved[action] && kind == "void" && state != oncehttp.Rejected:
			w.broken(tally.Lies, "%s was resolved, and is %v", action, state)
		}
	}
	return nil
}
