package journaltest_test

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/oncehttp/oncehttp"
)

// memory is a right journal, but for its fault.
type memory struct {
	fault string

	mu      sync.Mutex
	seen    time.Time
	entries map[uuid.UUID]*oncehttp.Entry
	names   map[string]uuid.UUID
}

func newMemory(fault string) *memory {
	return &memory{fault: fault, entries: map[uuid.UUID]*oncehttp.Entry{}, names: map[string]uuid.UUID{}}
}

func (m *memory) open() (oncehttp.Journal, error) {
	if m.fault == "a journal opened again is empty" {
		m = newMemory(m.fault)
	}
	return &handle{m: m}, nil
}

// handle is a memory that is open.
type handle struct {
	m      *memory
	closed bool // guarded by m.mu
}

func (h *handle) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.m.mu.Lock()
	if h.closed && h.m.fault != "calls after Close go on" {
		h.m.mu.Unlock()
		return oncehttp.ErrClosed
	}
	return nil
}

// shown is an entry as reads return it.
func (h *handle) shown(e *oncehttp.Entry) oncehttp.Entry {
	if e == nil { // a name without an entry
		return oncehttp.Entry{}
	}
	out := *e
	out.Copied = h.m.fault == "every entry is of a copy"
	out.Names, out.Request, out.Response = nil, nil, nil
	if h.m.fault != "a returned record is the stored one" {
		out.Record = bytes.Clone(e.Record)
	}
	return out
}

func rounded(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	if cut := t.Truncate(time.Microsecond); cut.Equal(t) {
		return cut
	} else {
		return cut.Add(time.Microsecond)
	}
}

func (h *handle) Create(ctx context.Context, e oncehttp.Entry) (oncehttp.Entry, error) {
	if err := ctx.Err(); err != nil && h.m.fault == "a refusal for an ended context is written all the same" {
		h.Create(context.WithoutCancel(ctx), e)
		return oncehttp.Entry{}, err
	}
	if err := h.enter(ctx); err != nil {
		return oncehttp.Entry{}, err
	}
	m := h.m
	defer m.mu.Unlock()
	if _, taken := m.entries[e.ID]; taken && m.fault != "Create writes over a taken ID" {
		return oncehttp.Entry{}, oncehttp.ErrConflict
	}
	for i, name := range e.Names {
		id, taken := m.names[name]
		switch {
		case taken && m.fault == "Create writes over a taken name":
		case taken && m.fault == "a refused Create does not return the holder":
			return oncehttp.Entry{}, oncehttp.ErrExists
		case taken:
			if m.fault == "a refused Create keeps its names" {
				for _, earlier := range e.Names[:i] {
					m.names[earlier] = id
				}
			}
			return h.shown(m.entries[id]), oncehttp.ErrExists
		}
		if m.fault == "the check and the taking of a name are apart" {
			m.mu.Unlock()
			time.Sleep(time.Millisecond)
			m.mu.Lock()
		}
	}
	for _, name := range e.Names {
		m.names[name] = e.ID
	}
	e.Revision = 1
	if m.fault == "the revision starts at zero" {
		e.Revision = 0
	}
	e.Due = rounded(e.Due)
	if m.fault == "Due is rounded down" {
		e.Due = e.Due.Truncate(time.Millisecond)
	}
	stored := e
	stored.Names = slices.Clone(e.Names)
	if m.fault != "a record passed in is kept" {
		stored.Record = bytes.Clone(e.Record)
	}
	stored.Request, stored.Response = bytes.Clone(e.Request), bytes.Clone(e.Response)
	m.entries[e.ID] = &stored
	m.wrote()
	return h.shown(&stored), nil
}

func (h *handle) Update(ctx context.Context, e oncehttp.Entry) error {
	if err := h.enter(ctx); err != nil {
		return err
	}
	m := h.m
	defer m.mu.Unlock()
	old, found := m.entries[e.ID]
	if !found {
		return oncehttp.ErrNotFound
	}
	if e.Revision != old.Revision && m.fault != "Update does not compare the revision" {
		return oncehttp.ErrConflict
	}
	stored := e
	stored.Names, stored.Due, stored.Record = old.Names, rounded(e.Due), bytes.Clone(e.Record)
	stored.Revision = old.Revision + 1
	switch m.fault {
	case "Update does not grow the revision":
		stored.Revision = old.Revision
	case "Update changes names":
		for _, name := range e.Names {
			m.names[name] = e.ID
		}
	case "Update leaves the due time":
		stored.Due = old.Due
	}
	stored.Request, stored.Response = bytes.Clone(e.Request), bytes.Clone(e.Response)
	if e.Request == nil && m.fault != "Update loses a body that it is not given" {
		stored.Request = old.Request
	}
	if e.Response == nil || len(e.Response) == 0 && m.fault == "an empty body does not remove the stored one" {
		stored.Response = old.Response
	}
	m.entries[e.ID] = &stored
	return nil
}

func (h *handle) Get(ctx context.Context, id uuid.UUID) (oncehttp.Entry, error) {
	if err := h.enter(ctx); err != nil {
		return oncehttp.Entry{}, err
	}
	defer h.m.mu.Unlock()
	e, found := h.m.entries[id]
	if !found {
		return oncehttp.Entry{}, oncehttp.ErrNotFound
	}
	return h.shown(e), nil
}

func (h *handle) Find(ctx context.Context, name string) (oncehttp.Entry, error) {
	if err := h.enter(ctx); err != nil {
		return oncehttp.Entry{}, err
	}
	defer h.m.mu.Unlock()
	id, found := h.m.names[name]
	if !found {
		return oncehttp.Entry{}, oncehttp.ErrNotFound
	}
	return h.shown(h.m.entries[id]), nil
}

func (h *handle) Body(ctx context.Context, id uuid.UUID, which oncehttp.Body) ([]byte, error) {
	if err := h.enter(ctx); err != nil {
		return nil, err
	}
	defer h.m.mu.Unlock()
	e, found := h.m.entries[id]
	if !found {
		return nil, oncehttp.ErrNotFound
	}
	body := e.Request
	if which == oncehttp.ResponseBody {
		body = e.Response
	}
	if len(body) == 0 {
		return nil, nil
	}
	return bytes.Clone(body), nil
}

func (h *handle) Delete(ctx context.Context, id uuid.UUID, revision uint64) error {
	if err := h.enter(ctx); err != nil {
		return err
	}
	m := h.m
	defer m.mu.Unlock()
	e, found := m.entries[id]
	switch {
	case !found:
		return oncehttp.ErrNotFound
	case e.Open && m.fault != "Delete removes an open entry", e.Revision != revision:
		return oncehttp.ErrConflict
	}
	delete(m.entries, id)
	if m.fault != "Delete leaves the names" {
		for _, name := range e.Names {
			delete(m.names, name)
		}
	}
	return nil
}

// list yields what keep keeps, in order.
func (h *handle) list(ctx context.Context, order func(a, b oncehttp.Entry) int, keep func(e *oncehttp.Entry) bool) iter.Seq2[oncehttp.Entry, error] {
	return func(yield func(oncehttp.Entry, error) bool) {
		if err := h.enter(ctx); err != nil {
			yield(oncehttp.Entry{}, err)
			return
		}
		var all []oncehttp.Entry
		for _, e := range h.m.entries {
			if keep(e) {
				all = append(all, h.shown(e))
			}
		}
		h.m.mu.Unlock()
		slices.SortFunc(all, order)
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
			if h.m.fault == "a list yields an entry twice" && !yield(e, nil) {
				return
			}
		}
	}
}

func byID(a, b oncehttp.Entry) int { return bytes.Compare(a.ID[:], b.ID[:]) }

func (h *handle) Due(ctx context.Context, by time.Time) iter.Seq2[oncehttp.Entry, error] {
	order := func(a, b oncehttp.Entry) int { return a.Due.Compare(b.Due) }
	if h.m.fault == "Due is in the order of creation" {
		order = byID
	}
	return h.list(ctx, order, func(e *oncehttp.Entry) bool {
		if h.m.fault == "Due lists what is never due by itself" && e.Due.IsZero() {
			return e.Open
		}
		return e.Open && !e.Due.IsZero() && !e.Due.After(by)
	})
}

func (h *handle) Open(ctx context.Context) iter.Seq2[oncehttp.Entry, error] {
	open := func(e *oncehttp.Entry) bool {
		return e.Open && !(h.m.fault == "Open leaves out what is not due by itself" && e.Due.IsZero())
	}
	if h.m.fault != "Open holds a lock while it yields" {
		return h.list(ctx, byID, open)
	}
	return func(yield func(oncehttp.Entry, error) bool) {
		if err := h.enter(ctx); err != nil {
			yield(oncehttp.Entry{}, err)
			return
		}
		defer h.m.mu.Unlock()
		for _, e := range h.m.entries {
			if open(e) && !yield(h.shown(e), nil) {
				return
			}
		}
	}
}

func (h *handle) Settled(ctx context.Context, from, before time.Time) iter.Seq2[oncehttp.Entry, error] {
	return h.list(ctx, byID, func(e *oncehttp.Entry) bool {
		sec, nsec := e.ID.Time().UnixTime()
		created := time.Unix(sec, nsec)
		switch h.m.fault {
		case "Settled includes its limit":
			return !e.Open && !created.After(before)
		case "Settled begins too early":
			return !e.Open && created.Before(before)
		}
		return !e.Open && !created.Before(from) && created.Before(before)
	})
}

func (m *memory) wrote() {
	if m.fault != "the clock is not kept" && time.Now().After(m.seen) {
		m.seen = time.Now()
	}
}

func (h *handle) Standing() oncehttp.Standing {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	s := oncehttp.Standing{Seen: h.m.seen, Copied: h.m.fault == "every journal is a copy"}
	if h.m.fault == "the clock is ahead" {
		s.Seen = s.Seen.Add(time.Hour)
	}
	return s
}

// Compact has nothing to give back.
func (h *handle) Compact(ctx context.Context) error {
	if h.m.fault == "Compact loses what is settled" {
		h.m.mu.Lock()
		defer h.m.mu.Unlock()
		for id, e := range h.m.entries {
			if !e.Open {
				delete(h.m.entries, id)
			}
		}
		return nil
	}
	if h.m.fault == "Compact does not heed its context" {
		ctx = context.WithoutCancel(ctx)
	}
	if err := h.enter(ctx); err != nil {
		return err
	}
	h.m.mu.Unlock()
	return nil
}

func (h *handle) Close() error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if h.closed && h.m.fault == "a second Close is an error" {
		return oncehttp.ErrClosed
	}
	h.closed = true
	return nil
}
