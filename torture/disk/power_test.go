//go:build linux

package disk

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oncehttp/oncehttp/torture/tally"
)

// workers check images at the same time.
const workers = 2

// A survey checks images, each distinct one once for what was acknowledged by
// then, and counts.
type survey struct {
	// repeat is the command that does it again.
	repeat string
	found  findings
	tally  tally.Tally

	seed   maphash.Seed
	mu     sync.Mutex
	images map[uint64]bool
	asked  map[uint64]bool
}

func newSurvey(repeat string) *survey {
	return &survey{repeat: repeat, seed: maphash.MakeSeed(), tally: tally.Tally{}, images: map[uint64]bool{}, asked: map[uint64]bool{}}
}

// fresh says whether the image is to be checked: it is another one, or more was
// acknowledged.
func (s *survey) fresh(img image, m memory) bool {
	var sum maphash.Hash
	sum.SetSeed(s.seed)
	for _, name := range slices.Sorted(maps.Keys(img)) {
		fmt.Fprintf(&sum, "%s\n", name)
	}
	sum.Write(img[journalName])
	// Beside the journal lies at most what will be its next file: whether it is
	// whole makes no other image.
	one := sum.Sum64()
	fmt.Fprint(&sum, m.demands())
	two := sum.Sum64()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[two] {
		return false
	}
	s.asked[two] = true
	if !s.images[one] {
		s.images[one] = true
		s.tally["images"]++
	}
	return true
}

func (s *survey) report(where string, found findings) {
	if len(found) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range found {
		s.tally[f.count]++
		s.found = append(s.found, finding{f.count, where + ": " + f.text})
	}
}

// failures tells the first of what was found, and fails the test.
func (s *survey) failures(t testing.TB) {
	t.Helper()
	for n, f := range s.found {
		if n == 10 {
			t.Errorf("and %d more", len(s.found)-n)
			break
		}
		t.Error(f)
	}
	if len(s.found) > 0 {
		t.Errorf("again: %s", s.repeat)
	}
}

// powerCuts rebuilds what a power cut may leave of a run, and checks it: at each
// moment, or, after a fault at event number from, at some later ones.
func (s *survey) powerCuts(t testing.TB, j job, r *run, from int) {
	t.Helper()
	type question struct {
		img    image
		memory memory
		where  string
	}
	questions := make(chan question, workers)
	var checking sync.WaitGroup
	for range workers {
		dir, done := scratchDir(t)
		checking.Go(func() {
			defer done()
			for q := range questions {
				s.report(q.where, checkImage(dir, q.img, q.memory))
			}
		})
	}
	random := rand.New(rand.NewPCG(j.Seed, 2))
	d, m := newDisk(filepath.Dir(j.Path)), j.memory()
	moment := 0
	cut := func() {
		moment++
		m.learn(d.said)
		now := m.clone()
		n := 0
		d.eachCut(random, from > 0 || j.Kind == "client", func(img image) {
			n++
			if s.fresh(img, now) {
				questions <- question{img, now, fmt.Sprintf("%s, seed %d, moment %d (after %q), image %d", j.Kind, j.Seed, moment, last(d.said), n)}
			}
		})
	}
	for n, e := range r.events {
		maybe := cut
		if n < from || from > 0 && random.IntN(4) > 0 {
			maybe = func() {}
		}
		if err := d.step(e, maybe); err != nil {
			t.Fatal(err)
		}
	}
	cut()
	close(questions)
	checking.Wait()
}

func last(said []string) string {
	if len(said) == 0 {
		return ""
	}
	return strings.TrimSpace(said[len(said)-1])
}

// powerRun makes one run of a job, and checks all that power cuts may leave.
func (s *survey) powerRun(t testing.TB, j job) {
	t.Helper()
	dir, done := scratchDir(t)
	defer done()
	j.Path = filepath.Join(dir, journalName)
	r := j.trace(t, diskTime...)
	where := fmt.Sprintf("%s, seed %d", j.Kind, j.Seed)
	if r.died != "" {
		s.report(where, findings{{tally.Panics, r.died}})
	}
	for _, line := range r.said {
		if strings.HasPrefix(line, "error") || strings.HasPrefix(line, "not ") {
			s.report(where, findings{{tally.Lies, "without a fault: " + line}})
		}
	}
	s.powerCuts(t, j, r, 0)
}

// diskTime is what a sync takes, so that writers meet as they do on a disk.
var diskTime = []string{"-e", "inject=fdatasync:delay_exit=300"}
