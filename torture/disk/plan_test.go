//go:build linux

package disk

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/oncehttp/oncehttp"
)

// A plan is the history of a journal that a seed expands to. The process that
// makes it and the one that checks what is left know all of it, so a word of
// acknowledgement is "entry, step", and every byte can be compared.
type plan struct {
	seed    uint64
	writers int
	entries []*planned
	// phases follow one another; between two of them the journal is compacted,
	// or closed and opened again.
	phases []phase
}

// A phase has a list of writes for each writer. An entry has one writer.
type phase struct {
	writes  [][]write
	compact bool // before it, else reopen
}

// A write is the step-th of an entry: 1 creates it.
type write struct{ entry, step int }

// planned is an entry: states[s] is what it is after s writes; nil: it is not
// there.
type planned struct {
	id     uuid.UUID
	states []*oncehttp.Entry
	writer int
}

// last is the number of writes.
func (p *planned) last() int { return len(p.states) - 1 }

// begin is when the first entry was created, as its id has it.
var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// entryID is a UUIDv7 (RFC 9562 section 5.7) of the n-th second.
func entryID(seed uint64, n int) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:], uint64(begin.Add(time.Duration(n)*time.Second).UnixMilli())<<16)
	binary.BigEndian.PutUint64(id[8:], seed<<16|uint64(n))
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	return id
}

// newPlan of about the given number of writes.
func newPlan(seed uint64, writers, writes int) *plan {
	random := rand.New(rand.NewPCG(seed, 1))
	p := &plan{seed: seed, writers: writers}
	large := random.IntN(3) == 0
	for done := 0; done < writes; {
		ph := phase{writes: make([][]write, writers), compact: random.IntN(3) == 0}
		for range min(writes-done, 8+random.IntN(12)) {
			w := random.IntN(writers)
			ph.writes[w] = append(ph.writes[w], p.next(random, w, large))
			done++
		}
		p.phases = append(p.phases, ph)
	}
	return p
}

// next is one more write of a writer: of an entry that it has, or of a new one.
func (p *plan) next(random *rand.Rand, writer int, large bool) write {
	var mine []int
	freed := ""
	for n, e := range p.entries {
		switch now := e.states[e.last()]; {
		case e.writer != writer:
		case now != nil:
			mine = append(mine, n)
		default:
			freed = e.states[e.last()-1].Names[0]
		}
	}
	if len(mine) == 0 || random.IntN(100) < 35 {
		n := len(p.entries)
		e := &planned{id: entryID(p.seed, n), writer: writer, states: []*oncehttp.Entry{nil}}
		p.entries = append(p.entries, e)
		names := []string{fmt.Sprintf("action/%x/%d", p.seed, n)}
		if random.IntN(3) == 0 {
			names = append(names, fmt.Sprintf("key/%d", n))
		}
		if freed != "" && random.IntN(2) == 0 && !p.taken(freed) {
			names[0] = freed
		}
		p.grow(random, n, &oncehttp.Entry{ID: e.id, Names: names}, large)
		return write{n, 1}
	}
	n := mine[random.IntN(len(mine))]
	e := p.entries[n]
	before := *e.states[e.last()]
	if !before.Open && random.IntN(2) == 0 {
		e.states = append(e.states, nil)
	} else {
		p.grow(random, n, &before, large)
	}
	return write{n, e.last()}
}

func (p *plan) taken(name string) bool {
	for _, e := range p.entries {
		if now := e.states[e.last()]; now != nil && now.Names[0] == name {
			return true
		}
	}
	return false
}

// grow adds a state to entry n, which has been e.
func (p *plan) grow(random *rand.Rand, n int, e *oncehttp.Entry, large bool) {
	step := uint64(len(p.entries[n].states))
	e.Revision = step
	e.Open = random.IntN(100) < 60
	e.Due = time.Time{}
	if e.Open && random.IntN(2) == 0 {
		e.Due = begin.Add(time.Duration(random.IntN(100)) * time.Minute)
	}
	e.Record = p.bytes(n, step, 0, 40+random.IntN(600))
	if step == 1 || random.IntN(4) == 0 {
		e.Request = p.bytes(n, step, 1, bodySize(random, large))
	}
	if step > 1 && random.IntN(3) == 0 {
		e.Response = p.bytes(n, step, 2, bodySize(random, large))
	}
	p.entries[n].states = append(p.entries[n].states, e)
}

// bodySize is none, a short one that is kept with the record, or one with a
// place of its own, of one chunk or, if large, of several.
func bodySize(random *rand.Rand, large bool) int {
	switch k := random.IntN(10); {
	case k == 0:
		return 0
	case k < 6:
		return 1 + random.IntN(1000)
	case k == 9 && large:
		return 33_000 + random.IntN(40_000)
	default:
		return 1025 + random.IntN(9000)
	}
}

// bytes that no other place holds. No sector of them is like another.
func (p *plan) bytes(n int, step uint64, which byte, length int) []byte {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], p.seed)
	binary.LittleEndian.PutUint64(seed[8:], uint64(n))
	binary.LittleEndian.PutUint64(seed[16:], step)
	seed[24] = which
	b := make([]byte, length)
	rand.NewChaCha8(seed).Read(b)
	return b
}

// apply makes the write on a journal.
func (p *plan) apply(j oncehttp.Journal, w write) error {
	e := p.entries[w.entry]
	before, after := e.states[w.step-1], e.states[w.step]
	switch {
	case after == nil:
		return j.Delete(context.Background(), e.id, before.Revision)
	case before == nil:
		_, err := j.Create(context.Background(), *after)
		return err
	}
	change := *after
	change.Revision = before.Revision
	change.Names = nil
	// A body that stays is left out; an empty one removes what there was.
	if string(before.Request) == string(after.Request) {
		change.Request = nil
	}
	if string(before.Response) == string(after.Response) {
		change.Response = nil
	}
	return j.Update(context.Background(), change)
}
