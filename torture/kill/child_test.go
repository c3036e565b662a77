//go:build unix

package kill

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// jobVar in the environment makes this test binary a process that may be
// killed.
const jobVar = "ONCEHTTP_TORTURE_KILL"

// A job is what such a process does.
type job struct {
	Role string
	// Dir has everything of a world: see journalPath, effectsPath, requestsPath.
	Dir, URL string
	// Life numbers the clients of a world.
	Life int
	// StopAt and StopOn: it says so, and waits for a line, when it gets to this
	// point for the StopOn-th time.
	StopAt Point
	StopOn int
	// Seed draws what the worker does.
	Seed uint64
	// KillAt is the number of the system call in whose place the traced client is
	// killed; 0: none.
	KillAt int
}

const (
	roleClient = "client" // runs the program
	roleWorker = "worker" // does actions until it is killed
	roleServer = "server"
	roleTracer = "tracer" // runs a client and counts its system calls
)

func (j job) journalPath() string  { return filepath.Join(j.Dir, "journal", "intents.db") }
func (j job) effectsPath() string  { return filepath.Join(j.Dir, "effects") }
func (j job) requestsPath() string { return filepath.Join(j.Dir, "requests") }

func TestMain(m *testing.M) {
	text := os.Getenv(jobVar)
	if text == "" {
		os.Exit(m.Run())
	}
	var j job
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = j.do()
	}
	if err != nil {
		say("error %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
	os.Exit(0)
}

func (j job) do() error {
	if j.Role == roleTracer {
		return trace(j)
	}
	s := newStops(j)
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			s.goOn <- struct{}{}
		}
		os.Exit(2) // the parent has ended
	}()
	switch j.Role {
	case roleClient:
		p := &program{job: j, stops: s, say: say}
		err := p.run()
		s.sayReached()
		return err
	case roleWorker:
		return work(j)
	case roleServer:
		return serve(j, s)
	}
	return errors.New("no such role: " + j.Role)
}

var saying sync.Mutex

// say tells the parent. A line that was written is read, whatever becomes of the
// process.
func say(format string, args ...any) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Fprintf(os.Stdout, format+"\n", args...)
}

// stops counts how often each point was reached, and stops at one.
type stops struct {
	at   Point
	on   int
	goOn chan struct{}

	mu     sync.Mutex
	counts map[Point]int
}

func newStops(j job) *stops {
	return &stops{at: j.StopAt, on: j.StopOn, goOn: make(chan struct{}), counts: map[Point]int{}}
}

// here is called at a point. A nil stops never stops.
func (s *stops) here(p Point) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.counts[p]++
	n := s.counts[p]
	s.mu.Unlock()
	if p == s.at && n == s.on {
		say("stopped")
		<-s.goOn
	}
}

func (s *stops) sayReached() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for point, n := range s.counts {
		say("reached %d %s", n, point)
	}
}
