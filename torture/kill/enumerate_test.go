//go:build unix

package kill

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oncehttp/oncehttp/torture/tally"
)

// who is killed when a point is reached.
type who string

const (
	theClient who = "client"
	theServer who = "server"
	both      who = "both"
)

// A pointCase is one world: a process stops at a point, somebody is killed, and
// a life follows that nobody kills.
type pointCase struct {
	point Point
	on    int
	kills who
}

func (c pointCase) String() string { return fmt.Sprintf("%s/%d/%s", c.point, c.on, c.kills) }

// in does the case in a world of its own.
func (c pointCase) in(w *world) error {
	atServer := slices.Contains(ServerPoints, c.point)
	client, server := job{Role: roleClient}, job{}
	if atServer {
		server.StopAt, server.StopOn = c.point, c.on
	} else {
		client.StopAt, client.StopOn = c.point, c.on
	}
	if err := w.startServer(server); err != nil {
		return err
	}
	p, err := w.startClient(client)
	if err != nil {
		return err
	}
	stops := p
	if atServer {
		stops = w.server
	}
	if err := wait(stops.stopped, p.heard); err != nil {
		if errors.Is(err, errEnded) && p.end() == nil {
			return err // this run came to the point less often than others: chance is in its waits
		}
		p.kill()
		w.broken(tally.Panics, "%s for the %d. time: %v", c.point, c.on, err)
		return err
	}
	if c.kills != theServer {
		if err := w.kill(p); err != nil {
			return err
		}
	}
	if c.kills != theClient {
		if err := w.killServer(); err != nil {
			return err
		}
	} else if atServer {
		if err := w.server.goOn(); err != nil {
			return err
		}
	}
	if c.kills == theServer {
		if !atServer {
			if err := p.goOn(); err != nil {
				return err
			}
		}
		if err := p.end(); err != nil {
			w.broken(tally.Panics, "the client did not come to its end: %v", err)
		}
	}
	return w.after(1)
}

// after is what follows a kill: a look at what is left, a life that goes on with
// it, and the account.
func (w *world) after(life int) error {
	if err := w.look(); err != nil {
		return err
	}
	w.mu.Lock()
	w.life++
	w.mu.Unlock()
	p := &program{job: w.job, say: func(format string, args ...any) { w.hear(fmt.Sprintf(format, args...)) }}
	p.Life = life
	if err := p.run(); err != nil {
		w.broken(tally.Panics, "the next life did not come to its end: %v", err)
	}
	return w.settle()
}
