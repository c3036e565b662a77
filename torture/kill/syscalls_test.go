//go:build unix

package kill

import (
	"errors"
	"fmt"

	"github.com/oncehttp/oncehttp/torture/tally"
)

var errNoTrace = errors.New("system calls cannot be traced here")

// callCase is a world whose client is killed in place of one system call that
// can change its journal.
type callCase int

func (c callCase) String() string { return fmt.Sprintf("system_call/%d", int(c)) }

// in does the case. 0 kills nobody.
func (c callCase) in(w *world) error {
	if err := w.startServer(job{}); err != nil {
		return err
	}
	p, err := w.startClient(job{Role: roleTracer, KillAt: int(c)})
	if err != nil {
		return err
	}
	if err := p.end(); err != nil {
		if !w.untraceable {
			w.broken(tally.Panics, "%v: %v", c, err)
		}
		return errors.Join(errNoTrace, err)
	}
	if c == 0 {
		return nil
	}
	if w.traced < int(c) {
		return errEnded // the run made fewer such calls
	}
	w.killed()
	return w.after(1)
}
