//go:build unix

package kill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/tally"
)

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
		w.vouches(action, o)
		if listed[action] != (o.State == oncehttp.Pending) {
			w.broken(tally.Lost, "%s is %v, and listed as pending: %v", action, o.State, listed[action])
		}
	}
	return nil
}

// vouches holds what else an outcome says against the effects: nobody sends
// meanwhile.
func (w *world) vouches(action string, o *oncehttp.Outcome) {
	if strings.HasPrefix(action, "anonymous/") {
		return
	}
	n, err := w.ledger.effectsOf(action)
	if err != nil {
		w.broken(tally.Panics, "the ledger cannot be read: %v", err)
	}
	if o.State == oncehttp.Pending && !o.MayHaveExecuted && n > 0 {
		w.broken(tally.Lies, "%s is told to have had no effect, and has one", action)
	}
	if a := o.Response; w.mock == nil && a != nil && !a.BodyIncomplete && !strings.Contains(string(a.Body), fmt.Sprintf("%q", action)) {
		w.broken(tally.Lost, "%s has an answer that is not its own: %d bytes", action, len(a.Body))
	}
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
