package sim

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// A life is one process of the client.
type life struct {
	*world
	number int
	plan   Life
	opened time.Time
	client *oncehttp.Client
	wire   *wire

	// dead: the process has died. Nothing of it reaches the journal, the network
	// or the record any more; died is closed then. over is closed when it ends
	// in any way.
	dead atomic.Bool
	// closing: it has begun to close. unclean: a save failed since.
	closing, unclean atomic.Bool
	once             sync.Once
	died, over       chan struct{}
}

// die ends the process at this point. It returns at once: somebody in the
// middle of a write may call it.
func (l *life) die() {
	l.once.Do(func() {
		r := l.record
		r.mu.Lock()
		defer r.mu.Unlock()
		l.dead.Store(true)
		run := &r.run.Lives[l.number]
		run.Killed = true
		run.Ended, _ = r.next()
		close(l.died)
	})
}

// sleep is false when the life ends first.
func (l *life) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.died:
	case <-l.over:
	}
	return false
}

// open starts the process. False if it could not.
func (w *world) open(number int, plan Life) (*life, bool) {
	l := &life{world: w, number: number, plan: plan, opened: time.Now(), died: make(chan struct{}), over: make(chan struct{})}
	l.wire = &wire{Transport: w.server.Transport(), life: l}
	l.slowDials(l.wire.Transport)
	if err := w.restore(number); err != nil {
		w.find("lost", "a journal opens again", "", "life %d: %v", number, err)
		return nil, false
	}
	inner, err := oncehttp.OpenBolt(w.path, time.Second, nil)
	if err != nil {
		w.find("lost", "a journal opens again", "", "life %d: %v", number, err)
		return nil, false
	}
	r := w.record
	r.mu.Lock()
	seq, now := r.next()
	r.run.Lives = append(r.run.Lives, judge.Life{Opened: seq, OpenedTime: now, Behind: l.seen(), Copied: plan.Copied, NoContract: plan.NoContract})
	r.mu.Unlock()
	l.client, err = oncehttp.New(&journal{Journal: inner, life: l}, l.config())
	if err != nil {
		w.find("lies", "a client opens", "", "life %d: %v", number, err)
		_ = inner.Close()
		return nil, false
	}
	return l, true
}

// seen is when the journal was last written, if it says that it was in the
// future: the clock was set back.
func (l *life) seen() (t time.Time) {
	if l.plan.Ahead > 0 {
		t = l.opened.Add(l.plan.Ahead)
	}
	return t
}

// live runs one process from its start to its end.
func (w *world) live(number int, plan Life) {
	time.Sleep(plan.Asleep)
	l, ok := w.open(number, plan)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var callers, rest sync.WaitGroup
	for n, steps := range plan.Callers {
		callers.Go(func() { l.caller(n, steps) })
	}
	callers.Go(func() { l.passes(ctx, len(plan.Callers)) })
	if plan.Run {
		rest.Go(func() {
			op := judge.Op{Kind: judge.OpRun, Caller: len(plan.Callers)}
			op.Call, op.CallTime = l.record.now()
			op.Err = l.client.Run(ctx)
			l.note(op)
		})
	}
	rest.Go(func() {
		for _, o := range plan.Outages {
			l.outage(o)
		}
	})
	done := make(chan struct{})
	go func() {
		callers.Wait()
		if plan.Run {
			l.sleep(time.Minute)
		}
		close(done)
	}()
	var timer <-chan time.Time
	if plan.At > 0 {
		timer = time.After(plan.At)
	}
	select {
	case <-done:
	case <-l.died:
	case <-timer:
	}
	end := plan.End
	l.closing.Store(true)
	if end == EndCrash {
		l.die()
	}
	if l.dead.Load() {
		end = EndCrash
	}
	w.met("end " + string(end))
	if end == EndShutdown {
		patience, enough := context.WithTimeout(context.Background(), 10*time.Second)
		cancel()
		err := l.client.Shutdown(patience)
		enough()
		l.closed(err)
	} else {
		l.closed(l.client.Close())
	}
	cancel()
	close(l.over)
	callers.Wait()
	rest.Wait()
	<-done
	w.server.RefuseDials(0)
	l.wire.CloseIdleConnections()
	w.searchJournal(number)
}

// closed records the end of a life that did not die before.
func (l *life) closed(err error) {
	if l.dead.Load() {
		return
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, oncehttp.ErrJournal) {
		l.find("lies", "a client closes", "", "life %d: %v", l.number, err)
	}
	r := l.record
	r.mu.Lock()
	defer r.mu.Unlock()
	r.run.Lives[l.number].Ended, _ = r.next()
	r.run.Lives[l.number].Clean = err == nil && !l.unclean.Load()
}

// passes are passes of Resume.
func (l *life) passes(ctx context.Context, caller int) {
	for _, pause := range l.plan.Passes {
		if !l.sleep(pause) {
			return
		}
		l.pass(ctx, caller)
	}
}

func (l *life) pass(ctx context.Context, caller int) {
	call, at := l.record.now()
	defer func() { l.note(judge.Op{Kind: judge.OpPass, Caller: caller, Call: call, CallTime: at}) }()
	for o, err := range l.client.Resume(ctx) {
		if o != nil {
			l.note(judge.Op{Kind: judge.OpResume, Action: o.Action, Caller: caller, Call: call, CallTime: at, Outcome: o, Err: err})
		}
		if l.plan.Break {
			break
		}
	}
}

// note records the return of a call, unless its process has died.
func (l *life) note(op judge.Op) {
	r := l.record
	r.mu.Lock()
	defer r.mu.Unlock()
	op.Life = l.number
	op.Action = r.plan(op.Action)
	if l.dead.Load() {
		op.Outcome, op.Err, op.Listed = nil, nil, nil
	} else {
		op.Return, op.ReturnTime = r.next()
	}
	r.run.Ops = append(r.run.Ops, op)
}

// lastLife is a process without faults, after everything has calmed down.
func (w *world) lastLife(number int) {
	time.Sleep(time.Minute + w.plan.API.Arrives + w.plan.API.Work)
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	w.server.ScriptEachKey(calm)
	w.server.Reconcile()
	l, ok := w.open(number, Life{})
	if !ok {
		return
	}
	ctx := context.Background()
	l.readAll(ctx)
	for _, pause := range []time.Duration{0, time.Minute, 2 * time.Hour, 25 * time.Hour, 50 * time.Hour} {
		time.Sleep(pause)
		l.pass(ctx, 0)
	}
	_ = w.server.WaitIdle(ctx) // never ends early
	l.readAll(ctx)
	l.list(ctx, 0)
	l.closing.Store(true)
	l.closed(l.client.Close())
	close(l.over)
	w.searchJournal(number)
	l.wire.CloseIdleConnections()
}

func (l *life) readAll(ctx context.Context) {
	for _, a := range l.world.plan.Actions {
		l.read(ctx, 0, a)
	}
}
