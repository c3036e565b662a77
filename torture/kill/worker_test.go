//go:build unix

package kill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/oncehttp/oncehttp"
)

// work does actions, several at a time, until it is killed.
func work(j job) error {
	p := &program{job: j, say: say}
	cfg := config(false)
	cfg.OnEvent = p.onEvent
	cfg.Lookup = p.lookup
	c, err := oncehttp.Open(j.journalPath(), cfg)
	if err != nil {
		return err
	}
	say("opened")
	failed := make(chan error, workers+1)
	var all sync.WaitGroup
	for n := range workers {
		all.Go(func() { failed <- p.work(c, n) })
	}
	all.Go(func() {
		for {
			if err := p.resume(c); err != nil {
				failed <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	return <-failed
}

const workers = 5

// work does new actions and, one time in three, one that this life or an
// earlier one may know already.
func (p *program) work(c *oncehttp.Client, worker int) error {
	rng := rand.New(rand.NewPCG(p.Seed, uint64(worker)))
	kinds := []string{"keyed/", "keyed/lost", "plain/", "keyed/happy", "ask/lost", "refuse/", "keyed/half", "plain/lost"}
	for n := 0; ; n++ {
		life, number := p.Life, n
		if rng.IntN(3) == 0 {
			life, number = rng.IntN(p.Life+1), rng.IntN(n+1)
		}
		action := fmt.Sprintf("%s-%d-%d-%d", kinds[(worker+number)%len(kinds)], life, worker, number)
		if err := p.either(c, action, rng.IntN(2) == 0); err != nil {
			return fmt.Errorf("%s: %w", action, err)
		}
		if rng.IntN(50) == 0 {
			if err := c.Compact(context.Background()); err != nil {
				return err
			}
		}
	}
}

// either begins an action and does it, or does it at once.
func (p *program) either(c *oncehttp.Client, action string, begin bool) error {
	if !begin {
		_, err := p.perform(c, action)
		return err
	}
	in, err := c.Begin(action, requestOf(p.URL, action))
	if err != nil {
		return err
	}
	o, err := in.Do(context.Background())
	var pending *oncehttp.PendingError
	if err != nil && !errors.As(err, &pending) {
		return err
	}
	p.tellOutcome(o)
	return nil
}
