//go:build linux

package disk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/tally"
)

func init() { jobs["damage"] = job.damage }

// damage spoils a journal again and again, and uses what is left: in a process
// of its own, since a fault in a mapped page may end it.
func (j job) damage() {
	p := newPlan(j.Seed, 1, 60)
	shapes := [][]byte{}
	for _, shape := range []func(string) error{
		func(path string) error { return p.carryOut(path, true) },
		func(path string) error { return p.carryOut(path, false) }, // as a crash leaves it
		func(path string) error { return unlist(path, p) },
	} {
		os.Remove(j.Path)
		err := shape(j.Path)
		b, readErr := os.ReadFile(j.Path)
		if err != nil || readErr != nil {
			panic(errors.Join(err, readErr))
		}
		shapes = append(shapes, b)
	}
	random := rand.New(rand.NewPCG(j.Seed, 5))
	for n := range j.Writes {
		shape := random.IntN(len(shapes))
		d := spoils[(n+int(j.Seed))%len(spoils)]
		b, how := d.spoil(random, bytes.Clone(shapes[shape]))
		where := fmt.Sprintf("seed %d, shape %d, %s: %s", j.Seed, shape, d.name, how)
		say("try %s", where)
		if err := os.WriteFile(j.Path, b, 0o600); err != nil {
			panic(err)
		}
		u := use{plan: p, hides: d.hides, older: !bytes.Equal(metas(b), metas(shapes[shape]))}
		u.all(j.Path, b)
		found := u.findings
		for _, f := range found {
			say("found %s %s: %s", f.count, where, f.text)
		}
	}
}

// carryOut makes a journal of all that is planned.
func (p *plan) carryOut(path string, closed bool) error {
	j, err := openJournal(path, false)
	if err != nil {
		return err
	}
	for _, ph := range p.phases {
		for _, w := range ph.writes[0] {
			if err := p.apply(j, w); err != nil {
				return err
			}
		}
	}
	if closed {
		return j.Close()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// unlist leaves the list of free pages out of the file, as a commit does when it
// is long.
func unlist(path string, p *plan) error {
	if err := p.carryOut(path, true); err != nil {
		return err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true, Timeout: time.Second})
	if err != nil {
		return err
	}
	return errors.Join(db.Update(func(*bbolt.Tx) error { return nil }), db.Close())
}

// spoils are the ways in which a file is damaged. Some may hide an entry: a key
// of an index or of the tree has no checksum, and is then not found.
var spoils = []struct {
	name  string
	hides bool
	spoil func(random *rand.Rand, b []byte) ([]byte, string)
}{
	{"cut short", false, func(random *rand.Rand, b []byte) ([]byte, string) {
		n := random.IntN(len(b)/pageBytes+1)*pageBytes + random.IntN(2)*random.IntN(pageBytes)
		n = min(n, len(b))
		return b[:n], fmt.Sprintf("to %d bytes", n)
	}},
	{"a bit flipped", true, func(random *rand.Rand, b []byte) ([]byte, string) {
		at := random.IntN(len(b))
		if random.IntN(3) > 0 { // into what a page is made of
			at = random.IntN(len(b)/pageBytes)*pageBytes + random.IntN(200)
		}
		bit := random.IntN(8)
		b[at] ^= 1 << bit
		return b, fmt.Sprintf("bit %d of byte %d", bit, at)
	}},
	{"a page zeroed", false, func(random *rand.Rand, b []byte) ([]byte, string) {
		page := random.IntN(len(b) / pageBytes)
		clear(b[page*pageBytes:][:pageBytes])
		return b, fmt.Sprintf("page %d", page)
	}},
	{"a sector of noise", true, func(random *rand.Rand, b []byte) ([]byte, string) {
		at := random.IntN(len(b)/sectorBytes) * sectorBytes
		for n := range sectorBytes {
			b[at+n] = byte(random.Uint32())
		}
		return b, fmt.Sprintf("at %d", at)
	}},
	{"two pages swapped", false, func(random *rand.Rand, b []byte) ([]byte, string) {
		one, two := random.IntN(len(b)/pageBytes)*pageBytes, random.IntN(len(b)/pageBytes)*pageBytes
		kept := bytes.Clone(b[one:][:pageBytes])
		copy(b[one:], b[two:][:pageBytes])
		copy(b[two:], kept)
		return b, fmt.Sprintf("at %d and %d", one, two)
	}},
	{"a page doubled", false, func(random *rand.Rand, b []byte) ([]byte, string) {
		one, two := random.IntN(len(b)/pageBytes)*pageBytes, random.IntN(len(b)/pageBytes)*pageBytes
		copy(b[two:], b[one:][:pageBytes])
		return b, fmt.Sprintf("from %d to %d", one, two)
	}},
	{"a branch bent", true, bendBranch},
	{"a foreign file", true, func(random *rand.Rand, b []byte) ([]byte, string) {
		switch random.IntN(4) {
		case 0:
			return nil, "empty"
		case 1:
			return bytes.Repeat([]byte("no journal\n"), 1+random.IntN(5000)), "of text"
		case 2:
			return append([]byte("SQLite format 3\x00"), b[16:]...), "with another head"
		default:
			return make([]byte, random.IntN(10)*pageBytes+random.IntN(3)*100), "of zeros"
		}
	}},
}

// bendBranch makes a child of a branch page another page: one that is above it,
// most of all.
func bendBranch(random *rand.Rand, b []byte) ([]byte, string) {
	var branches []int
	for at := 2 * pageBytes; at < len(b); at += pageBytes {
		if binary.NativeEndian.Uint64(b[at:]) == uint64(at/pageBytes) && binary.NativeEndian.Uint16(b[at+8:]) == 1 {
			branches = append(branches, at)
		}
	}
	if len(branches) == 0 {
		return b, "there is none"
	}
	at := branches[random.IntN(len(branches))]
	count := int(binary.NativeEndian.Uint16(b[at+10:]))
	child := at + 16 + 16*random.IntN(max(count, 1)) + 8
	target := uint64(random.IntN(len(b) / pageBytes))
	if random.IntN(2) == 0 {
		target = uint64(branches[random.IntN(len(branches))] / pageBytes)
	}
	binary.NativeEndian.PutUint64(b[child:], target)
	return b, fmt.Sprintf("page %d leads to page %d", at/pageBytes, target)
}

// metas are the parts of the meta pages that count.
func metas(b []byte) []byte {
	const length = 80
	if len(b) < pageBytes+length {
		return nil
	}
	return append(bytes.Clone(b[:length]), b[pageBytes:][:length]...)
}

// use is how a damaged file is used. Whatever the damage, what is read without
// an error is right, every error is one of the journal's, a file that is refused
// is as it was, and the lock is free afterwards.
type use struct {
	findings
	plan *plan
	// hides: an entry may not be found.
	hides bool
	// older: a meta page is damaged. It may be the one of the last transaction,
	// cut off by a crash: the journal goes by the other, and its log says so.
	older bool
}

func (u *use) all(path string, file []byte) {
	defer u.rescue()
	j, err := openJournal(path, false)
	if err != nil {
		u.bad("it does not open", err)
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, file) {
			u.lie("a file that was refused is not as it was: %v", err)
		}
	} else {
		for n := range u.plan.entries {
			u.read(j, n)
		}
		ctx := context.Background()
		u.list("Open", j.Open(ctx))
		u.list("Due", j.Due(ctx, begin.AddDate(1, 0, 0)))
		u.list("Settled", j.Settled(ctx, time.Time{}, begin.AddDate(10, 0, 0)))
		u.write(j)
		u.bad("close", j.Close())
	}
	if j, err := openJournal(path, false); errors.Is(err, oncehttp.ErrJournalLocked) {
		u.lie("the lock is not free: %v", err)
	} else if err == nil {
		j.Close()
	}
}

// bad notes an error that damage may not give.
func (u *use) bad(what string, err error) {
	hidden := errors.Is(err, oncehttp.ErrNotFound) && (u.hides || u.older)
	if err != nil && !errors.Is(err, oncehttp.ErrJournal) && !hidden {
		u.lie("%s: %v", what, err)
	}
}

// state is the one of an entry that was read, or nil.
func (u *use) state(got oncehttp.Entry, e *planned) *oncehttp.Entry {
	step := int(got.Revision)
	if got.ID != e.id || step > e.last() || step < e.last() && !u.older || e.states[step] == nil {
		return nil
	}
	want := e.states[step]
	if got.Open != want.Open || !got.Due.Equal(want.Due) || !bytes.Equal(got.Record, want.Record) {
		return nil
	}
	return want
}

func (u *use) read(j oncehttp.Journal, n int) {
	ctx := context.Background()
	e := u.plan.entries[n]
	got, err := j.Get(ctx, e.id)
	if errors.Is(err, oncehttp.ErrNotFound) && e.states[e.last()] == nil {
		return
	}
	u.bad(fmt.Sprintf("entry %d", n), err)
	if err != nil {
		return
	}
	want := u.state(got, e)
	if want == nil {
		u.lie("entry %d is wrong", n)
		return
	}
	for _, name := range want.Names {
		got, err := j.Find(ctx, name)
		u.bad("name "+name, err)
		if err == nil && got.ID != e.id {
			u.lie("name %s finds %s", name, got.ID)
		}
	}
	for which, want := range map[oncehttp.Body][]byte{oncehttp.RequestBody: want.Request, oncehttp.ResponseBody: want.Response} {
		body, err := j.Body(ctx, e.id, which)
		u.bad(fmt.Sprintf("body %d of entry %d", which, n), err)
		if err == nil && !bytes.Equal(body, want) {
			u.lie("body %d of entry %d is wrong", which, n)
		}
	}
}

func (u *use) list(name string, list iter.Seq2[oncehttp.Entry, error]) {
	for got, err := range list {
		u.bad(name, err)
		if err != nil {
			return
		}
		n := slices.IndexFunc(u.plan.entries, func(e *planned) bool { return e.id == got.ID })
		if n < 0 || u.state(got, u.plan.entries[n]) == nil {
			u.lie("%s lists a wrong entry %s", name, got.ID)
		}
	}
}

func (u *use) write(j oncehttp.Journal) {
	for n, e := range u.plan.entries {
		if want := e.states[e.last()]; want != nil && n%5 == 0 {
			change := *want
			change.Request, change.Response = nil, nil
			err := j.Update(context.Background(), change)
			if !u.older || !errors.Is(err, oncehttp.ErrConflict) {
				u.bad(fmt.Sprintf("update of entry %d", n), err)
			}
		}
	}
	_, err := j.Create(context.Background(), oncehttp.Entry{ID: entryID(u.plan.seed, 20_000), Names: []string{"made"}, Record: []byte("made")})
	u.bad("create", err)
}

// damageRun has a child damage a journal n times.
func (s *survey) damageRun(t testing.TB, seed uint64, n int) {
	t.Helper()
	dir, done := scratchDir(t)
	defer done()
	r := job{Kind: "damage", Path: filepath.Join(dir, journalName), Seed: seed, Writes: n}.run(t)
	attempt := ""
	for _, line := range r.said {
		if what, is := strings.CutPrefix(line, "try "); is {
			attempt = what
			s.tally["faults"]++
		} else if what, is := strings.CutPrefix(line, "found "); is {
			count, text, _ := strings.Cut(what, " ")
			s.report("damage", findings{{count, text}})
		}
	}
	if r.died != "" {
		s.report("damage: "+attempt, findings{{tally.Panics, r.died}})
	}
}
