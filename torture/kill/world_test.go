//go:build unix

package kill

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/scratch"
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

	notes    sync.Mutex // guards what follows; taken last
	tally    tally.Tally
	findings []string
}

type telling struct {
	life     int
	state    oncehttp.State
	attempts int
	key      string
}

// newWorld has its server in a process of its own, which is not started yet.
func newWorld() (*world, error) {
	dir, err := scratch.Dir() // a kill does not lose what the kernel has
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

// killed notes that a process was killed.
func (w *world) killed() {
	w.notes.Lock()
	defer w.notes.Unlock()
	w.tally["kills"]++
}

// broken notes a broken promise.
func (w *world) broken(count, format string, args ...any) {
	w.notes.Lock()
	defer w.notes.Unlock()
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
