package sim

import (
	"sort"
	"sync"
	"time"

	"github.com/oncehttp/oncehttp/torture/judge"
)

// A record of a run grows from many goroutines. Its numbers order what
// happened.
type record struct {
	mu sync.Mutex // guards what follows
	// times by Seq, from 1.
	times []time.Time
	run   judge.Run
	// names of anonymous actions, as the plan has them, and back.
	planned, actual map[string]string
	// last is when each action was last sent.
	last map[string]time.Time
}

func newRecord() *record {
	return &record{planned: map[string]string{}, actual: map[string]string{}, last: map[string]time.Time{}}
}

// next is the next number, and its time. The lock is held.
func (r *record) next() (int64, time.Time) {
	now := time.Now()
	r.times = append(r.times, now)
	return int64(len(r.times)), now
}

func (r *record) now() (int64, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next()
}

// after is the first number given out at a later time.
func (r *record) after(t time.Time) int64 {
	return int64(sort.Search(len(r.times), func(i int) bool { return r.times[i].After(t) })) + 1
}

// plan is the plan's name of an action.
func (r *record) plan(action string) string {
	if name, ok := r.planned[action]; ok {
		return name
	}
	return action
}

// real is the client's name of an action; false while an anonymous one has none.
func (r *record) real(a Action) (string, bool) {
	if !a.Anonymous {
		return a.Name, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name, ok := r.actual[a.Name]
	return name, ok
}
