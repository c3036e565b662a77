package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

var (
	errFull = fmt.Errorf("%w: no room: %w", oncehttp.ErrJournal, syscall.ENOSPC)
	errFate = fmt.Errorf("%w: %w: the disk said so", oncehttp.ErrJournal, oncehttp.ErrFateUnknown)
	errDead = fmt.Errorf("%w: the process is gone", oncehttp.ErrJournal)
)

// A journal is the real one, with the faults that a life has planned. When the
// process dies it takes nothing more: what is in the file then is what was
// acknowledged, and perhaps the write that was cut off.
type journal struct {
	oncehttp.Journal
	life *life

	mu      sync.Mutex // guards what follows
	writes  int
	unknown bool // a write had an unknown fate
}

// fault is what becomes of the next write.
func (j *journal) fault() (JournalFault, error) {
	j.mu.Lock()
	j.writes++
	n := j.writes
	j.mu.Unlock()
	if slow := j.life.plan.Saves[n]; slow > 0 && j.life.sleep(slow) {
		j.life.met("slow save")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.refusal(); err != nil {
		return "", err
	}
	f := j.life.plan.Journal[n]
	if f != "" {
		j.life.met("journal " + string(f))
	}
	if f == JournalLost || f == JournalKept {
		j.unknown = true
		r := j.life.record
		r.mu.Lock()
		r.run.Lives[j.life.number].Unsure = true
		r.mu.Unlock()
	}
	return f, nil
}

// refusal needs the lock.
func (j *journal) refusal() error {
	if j.life.dead.Load() {
		return errDead
	}
	if j.unknown {
		return errFate
	}
	return nil
}

func (j *journal) readable() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.refusal()
}

// write does one write as planned, and records that it was acknowledged.
func (j *journal) write(action string, do func() error) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, oncehttp.ErrConflict) && j.life.closing.Load() {
			j.life.unclean.Store(true)
		}
	}()
	f, err := j.fault()
	if err != nil {
		return err
	}
	switch f {
	case JournalFull:
		return errFull
	case JournalLost:
		return errFate
	case JournalCrashBefore:
		j.life.die()
		return errDead
	}
	if err := do(); err != nil {
		return err
	}
	switch f {
	case JournalKept:
		return errFate
	case JournalCrashAfter:
		j.life.die()
		return errDead
	}
	r := j.life.record
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.life.dead.Load() {
		return errDead
	}
	seq, now := r.next()
	r.run.Saved = append(r.run.Saved, judge.Save{Seq: seq, Time: now, Life: j.life.number, Action: r.plan(action)})
	return nil
}

func (j *journal) Create(ctx context.Context, e oncehttp.Entry) (kept oncehttp.Entry, err error) {
	action := actionOf(e.Record)
	if strings.HasPrefix(action, "anonymous/") {
		j.life.record.meet(action, e.Record)
	}
	var refused error // by the journal itself, with an entry
	err = j.write(action, func() error {
		kept, err = j.Journal.Create(ctx, e)
		if err == nil {
			j.life.approve(action, e.Request)
		}
		refused = err
		return err
	})
	if err != nil && !errors.Is(err, refused) {
		kept = oncehttp.Entry{}
	}
	return kept, err
}

func (j *journal) Update(ctx context.Context, e oncehttp.Entry) error {
	return j.write(actionOf(e.Record), func() error { return j.Journal.Update(ctx, e) })
}

func (j *journal) Get(ctx context.Context, id uuid.UUID) (oncehttp.Entry, error) {
	if err := j.readable(); err != nil {
		return oncehttp.Entry{}, err
	}
	return j.Journal.Get(ctx, id)
}

func (j *journal) Find(ctx context.Context, name string) (oncehttp.Entry, error) {
	if err := j.readable(); err != nil {
		return oncehttp.Entry{}, err
	}
	return j.Journal.Find(ctx, name)
}

func (j *journal) Body(ctx context.Context, id uuid.UUID, which oncehttp.Body) ([]byte, error) {
	if err := j.readable(); err != nil {
		return nil, err
	}
	return j.Journal.Body(ctx, id, which)
}

func (j *journal) Due(ctx context.Context, by time.Time) iter.Seq2[oncehttp.Entry, error] {
	return j.list(j.Journal.Due(ctx, by))
}

func (j *journal) Open(ctx context.Context) iter.Seq2[oncehttp.Entry, error] {
	return j.list(j.Journal.Open(ctx))
}

func (j *journal) list(entries iter.Seq2[oncehttp.Entry, error]) iter.Seq2[oncehttp.Entry, error] {
	return func(yield func(oncehttp.Entry, error) bool) {
		if err := j.readable(); err != nil {
			yield(oncehttp.Entry{}, err)
			return
		}
		entries(yield)
	}
}

// Standing says what a life has planned of it.
func (j *journal) Standing() oncehttp.Standing {
	s := j.Journal.Standing()
	if t := j.life.seen(); t.After(s.Seen) {
		s.Seen = t
	}
	return s
}

// actionOf is the action that an encoded record speaks of.
func actionOf(record []byte) string {
	_, rest, _ := strings.Cut(string(record[:min(len(record), 128)]), `"action":"`)
	action, _, _ := strings.Cut(rest, `"`)
	return action
}

// meet learns which planned action an anonymous one is, by its path.
func (r *record) meet(action string, text []byte) {
	var rec struct {
		Begun struct {
			URL string `json:"url"`
		} `json:"begun"`
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		panic(err)
	}
	u, err := url.Parse(rec.Begun.URL)
	if err != nil {
		panic(err)
	}
	name := first(u.Path)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned[action] = name
	if _, known := r.actual[name]; !known {
		r.actual[name] = action
	}
}

func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}

// approve notes the payload that an action was begun with.
func (l *life) approve(action string, body []byte) {
	r := l.record
	r.mu.Lock()
	defer r.mu.Unlock()
	name := r.plan(action)
	if l.world.plan.Client.Sealed {
		return // scenes have no other wordings
	}
	a, p := r.run.Actions[name], l.world.plan
	a.BodySHA256, a.Payload = sum(body), sum(body)
	planned := l.actions[name]
	for _, text := range []string{planned.Body, payload("another")} {
		if p.says(planned, string(body)) == p.says(planned, p.written(planned, text)) {
			a.Payload = sum([]byte(text))
		}
	}
	r.run.Actions[name] = a
	if strings.HasPrefix(action, "anonymous/") {
		r.actual[name] = action
	}
}
