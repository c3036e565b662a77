//go:build unix

package kill

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/oncehttp/oncehttp/torture/tally"
)

// A pairCase kills two lives of a client: the first at a point, the second,
// which goes on with what the first has left, at another point or in place of
// a system call. There are too many pairs to do them all, so each is drawn by
// its seed.
type pairCase struct {
	counted
	seed uint64
}

func (c pairCase) String() string { return fmt.Sprintf("pair/%d", c.seed) }

func (c pairCase) in(w *world) error {
	rng := rand.New(rand.NewPCG(c.seed, 2))
	draw := func(j job) job {
		j.StopAt = ClientPoints[rng.IntN(len(ClientPoints))]
		j.StopOn = 1 + rng.IntN(c.points[j.StopAt])
		return j
	}
	lives := []job{draw(job{Role: roleClient}), draw(job{Role: roleClient, Life: 1})}
	if c.calls > 0 && rng.IntN(2) == 0 {
		lives[1] = job{Role: roleTracer, Life: 1, KillAt: 1 + rng.IntN(c.calls)}
	}
	if err := w.startServer(job{}); err != nil {
		return err
	}
	for _, life := range lives {
		p, err := w.startClient(life)
		if err != nil {
			return err
		}
		if life.Role == roleTracer {
			if err := p.end(); err != nil {
				w.broken(tally.Panics, "system call %d: %v", life.KillAt, err)
				return err
			}
			if w.traced >= life.KillAt {
				w.killed()
			}
			continue
		}
		// A second life has less to do, and may come to its end.
		if err := wait(p.stopped, p.heard); err != nil && !(errors.Is(err, errEnded) && p.end() == nil) {
			p.kill()
			w.broken(tally.Panics, "%s for the %d. time: %v", life.StopAt, life.StopOn, err)
			return err
		}
		if err := w.kill(p); err != nil {
			return err
		}
	}
	return w.after(len(lives))
}
