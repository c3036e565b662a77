//go:build linux

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/tally"
)

// A memory is what a child has said so far, and so what a power cut must leave.
type memory interface {
	// learn reads on in what was said.
	learn(said []string)
	clone() memory
	// demands tells memories apart that ask for other things.
	demands() string
	// check uses the journal at path, in a directory of its own; there: it was
	// left by the power cut, else there is none yet.
	check(path string, there bool) findings
}

// memory of what the job's child says.
func (j job) memory() memory {
	if j.Kind == "client" {
		return newTold(j)
	}
	return newKnown(newPlan(j.Seed, j.Writers, j.Writes))
}

// known is the memory of a plan that is carried out.
type known struct {
	plan  *plan
	lines int
	// opened: the journal was open, so it is on disk.
	opened bool
	// acked is how many writes of each entry were acknowledged.
	acked []int
	// refused is the step of an entry of which the journal has said that nothing
	// was written, or 0.
	refused []int
	// inPlace: the file is the journal's own, no copy of it.
	inPlace bool
}

func newKnown(p *plan) *known {
	return &known{plan: p, acked: make([]int, len(p.entries)), refused: make([]int, len(p.entries))}
}

func (k *known) learn(said []string) {
	for ; k.lines < len(said); k.lines++ {
		line := said[k.lines]
		var n, step int
		var classes string
		if line == "opened" {
			k.opened = true
		} else if read, _ := fmt.Sscanf(line, "ack %d %d", &n, &step); read == 2 {
			k.acked[n] = step
		} else if read, _ := fmt.Sscanf(line, "try %d %d", &n, &step); read == 2 {
			k.refused[n] = 0
		} else if read, _ := fmt.Sscanf(line, "error %d %d %s", &n, &step, &classes); read == 3 && !strings.Contains(classes, "fate") {
			k.refused[n] = step
		}
	}
}

func (k *known) clone() memory {
	c := *k
	c.acked, c.refused = slices.Clone(k.acked), slices.Clone(k.refused)
	return &c
}

func (k *known) demands() string { return fmt.Sprint(k.opened, k.acked, k.refused) }

// A finding is something broken, under a name of package tally.
type finding struct{ count, text string }

func (f finding) String() string { return f.count + ": " + f.text }

// findings are collected on the way.
type findings []finding

func (f *findings) add(count, format string, args ...any) {
	*f = append(*f, finding{count, fmt.Sprintf(format, args...)})
}

func (f *findings) lost(format string, args ...any) { f.add(tally.Lost, format, args...) }
func (f *findings) lie(format string, args ...any)  { f.add(tally.Lies, format, args...) }

// rescue makes a finding of a panic.
func (f *findings) rescue() {
	if p := recover(); p != nil {
		f.add(tally.Panics, "panic: %v", p)
	}
}

const journalName = "intents.db"

// checkImage puts what a power cut has left into an empty directory, and uses
// it. An image is in another file than its journal was, so it is a copy, and
// says so; what it holds can be read, and it can be adopted.
func checkImage(dir string, img image, m memory) (found findings) {
	defer found.rescue()
	defer func() {
		left, err := os.ReadDir(dir)
		if err != nil {
			panic(err)
		}
		for _, entry := range left {
			os.Remove(filepath.Join(dir, entry.Name()))
		}
	}()
	for name, b := range img {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			panic(err)
		}
	}
	_, there := img[journalName]
	found = m.check(filepath.Join(dir, journalName), there)
	left, err := os.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	for _, entry := range left {
		if len(found) == 0 && strings.HasSuffix(entry.Name(), ".compact") {
			found.lie("%s was not swept away", entry.Name())
		}
	}
	return found
}

func (k *known) check(path string, there bool) (found findings) {
	if !there && k.opened {
		found.lost("the file is gone")
		return found
	}
	j, err := openJournal(path, false)
	if err != nil {
		found.lost("it does not open: %v", err)
		return found
	}
	if copied := there && !k.inPlace; j.Standing().Copied != copied {
		found.lie("Standing.Copied is %t", !copied)
	}
	present := found.checkEntries(j, k)
	if err := j.Close(); err != nil {
		found.lie("it does not close: %v", err)
	}
	if len(found) == 0 {
		found.checkStructure(path)
	}
	if len(found) == 0 {
		found.checkUse(path, k.plan, present)
	}
	return found
}

// checkEntries compares all that a journal tells with the plan, and returns the
// step at which each entry is; 0: it is not there.
func (f *findings) checkEntries(j oncehttp.Journal, k *known) []int {
	p := k.plan
	present := make([]int, len(p.entries))
	holders := map[string]int{}
	for n, e := range p.entries {
		for _, s := range e.states[1:2] {
			for _, name := range s.Names {
				if _, held := holders[name]; !held {
					holders[name] = -1
				}
			}
		}
		present[n] = f.checkEntry(j, n, e, k)
		if present[n] == 0 {
			continue
		}
		for _, name := range e.states[1].Names {
			if holders[name] >= 0 {
				f.lie("entries %d and %d both have the name %s", holders[name], n, name)
			}
			holders[name] = n
		}
	}
	for name, n := range holders {
		got, err := j.Find(context.Background(), name)
		switch {
		case n < 0 && !errors.Is(err, oncehttp.ErrNotFound):
			f.lie("nobody has the name %s, and it finds %s, %v", name, got.ID, err)
		case n >= 0 && err != nil:
			f.lost("name %s of entry %d: %v", name, n, err)
		case n >= 0 && got.ID != p.entries[n].id:
			f.lie("name %s of entry %d finds %s", name, n, got.ID)
		}
	}
	f.checkLists(j, p, present)
	return present
}

// checkEntry returns the step that entry n is at: the one that was acknowledged,
// or the next.
func (f *findings) checkEntry(j oncehttp.Journal, n int, e *planned, k *known) int {
	got, err := j.Get(context.Background(), e.id)
	least, most := k.acked[n], min(k.acked[n]+1, e.last())
	if k.refused[n] == most {
		most = least
	}
	step := int(got.Revision)
	if errors.Is(err, oncehttp.ErrNotFound) {
		if e.states[least] != nil && e.states[most] != nil {
			f.lost("entry %d is gone, acknowledged at step %d", n, least)
		}
		return 0
	}
	if err != nil {
		f.lost("entry %d: %v", n, err)
		return 0
	}
	if step < least {
		f.lost("entry %d is at step %d, acknowledged at %d", n, step, least)
	} else if step > most {
		f.lie("entry %d is at step %d, acknowledged at %d, refused at %d", n, step, least, k.refused[n])
	}
	if step > e.last() || e.states[step] == nil {
		return 0
	}
	want := e.states[step]
	if got.ID != e.id || got.Open != want.Open || !got.Due.Equal(want.Due) || !bytes.Equal(got.Record, want.Record) {
		f.lie("entry %d is at step %d with what was not written in it", n, step)
	}
	for which, want := range map[oncehttp.Body][]byte{oncehttp.RequestBody: want.Request, oncehttp.ResponseBody: want.Response} {
		body, err := j.Body(context.Background(), e.id, which)
		if err != nil {
			f.lost("body %d of entry %d: %v", which, n, err)
		} else if !bytes.Equal(body, want) {
			f.lie("body %d of entry %d at step %d is not what was written", which, n, step)
		}
	}
	return step
}

// checkLists: each entry is listed where it belongs, in order, and no other is.
func (f *findings) checkLists(j oncehttp.Journal, p *plan, present []int) {
	ctx := context.Background()
	var open, settled, due []uuid.UUID
	var dues []*oncehttp.Entry
	by := begin.Add(50 * time.Minute)
	for n, step := range present {
		if step == 0 {
			continue
		}
		e := p.entries[n].states[step]
		switch {
		case !e.Open:
			settled = append(settled, e.ID)
			continue
		case !e.Due.IsZero() && !e.Due.After(by):
			dues = append(dues, e)
		}
		open = append(open, e.ID)
	}
	slices.SortStableFunc(dues, func(a, b *oncehttp.Entry) int { return a.Due.Compare(b.Due) })
	for _, e := range dues {
		due = append(due, e.ID)
	}
	f.checkList("Open", j.Open(ctx), open)
	f.checkList("Settled", j.Settled(ctx, time.Time{}, begin.AddDate(10, 0, 0)), settled)
	f.checkList("Due", j.Due(ctx, by), due)
}

func (f *findings) checkList(name string, list iter.Seq2[oncehttp.Entry, error], want []uuid.UUID) {
	var got []uuid.UUID
	for e, err := range list {
		if err != nil {
			f.lost("%s: %v", name, err)
			return
		}
		got = append(got, e.ID)
	}
	if slices.Equal(got, want) {
		return
	}
	for _, id := range want {
		if !slices.Contains(got, id) {
			f.lost("%s does not list %s", name, id)
			return
		}
	}
	f.lie("%s lists %v, not %v", name, got, want)
}

// checkStructure has bbolt check its pages, and counts what is in the indexes
// by what the entries are.
func (f *findings) checkStructure(path string) {
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true, Timeout: time.Second})
	if err != nil {
		f.lie("bbolt does not open it: %v", err)
		return
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		var all []error
		for err := range tx.Check() {
			all = append(all, err)
		}
		entries := tx.Bucket([]byte("entries"))
		here := func(id []byte) bool { return entries.Get(id) != nil }
		entry := func(bucket string, id func(k, v []byte) []byte) {
			tx.Bucket([]byte(bucket)).ForEach(func(k, v []byte) error {
				if !here(id(k, v)) {
					all = append(all, fmt.Errorf("bucket %s speaks of an entry that is not there", bucket))
				}
				return nil
			})
		}
		entry("names", func(k, v []byte) []byte { return v })
		entry("open", func(k, v []byte) []byte { return k[8:] })
		entry("bodies", func(k, v []byte) []byte { return k[:16] })
		return errors.Join(all...)
	})
	if err != nil {
		f.lie("its structure: %v", err)
	}
}

// checkUse goes on with the journal as if the original were gone.
func (f *findings) checkUse(path string, p *plan, present []int) {
	j, err := openJournal(path, true)
	if err != nil {
		f.lost("it cannot be adopted: %v", err)
		return
	}
	made := oncehttp.Entry{ID: entryID(p.seed, 10_000), Names: []string{"made"}, Record: []byte("made"), Request: p.bytes(10_000, 1, 1, 5000)}
	if _, err := j.Create(context.Background(), made); err != nil {
		f.lie("nothing can be created: %v", err)
	}
	for n, step := range present {
		if step > 0 && (n%3 == 0 || step%4 == 0) {
			e := *p.entries[n].states[step]
			e.Request, e.Response = nil, []byte("more")
			if err := j.Update(context.Background(), e); err != nil {
				f.lie("entry %d cannot be updated: %v", n, err)
			}
			break
		}
	}
	body, err := j.Body(context.Background(), made.ID, oncehttp.RequestBody)
	if err != nil || !bytes.Equal(body, made.Request) {
		f.lie("what was created is not there: %v", err)
	}
	if err := j.Close(); err != nil {
		f.lie("it does not close when it was adopted: %v", err)
	}
}
