//go:build unix

package oncehttp_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

var killSeed = flag.Uint64("kill.seed", 0, "seed of the kill test; 0: another one each time")

const (
	killWorlds   = 25 // each with a journal and an API of its own
	killsInWorld = 10
)

// What a process does at a moment is not repeated by a seed; the faults, the
// actions and the delays until a kill are.
func TestNothingIsLostOrRepeatedWhenTheProcessIsKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed: -kill.seed=%d", seed)
	for n := range killWorlds {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newKillWorld(t, rand.New(rand.NewPCG(seed, uint64(n))))
			for life := range killsInWorld {
				w.live(life)
				if w.rng.IntN(3) == 0 {
					w.look()
				}
			}
			w.settleAll()
		})
	}
}

// A killWorld is an API, a journal, and what was said by the processes that
// are no more.
type killWorld struct {
	*testing.T
	rng     *rand.Rand
	api     *mockserver.Server
	journal string

	mu    sync.Mutex          // guards what follows
	life  int                 // grows with each process and each look into the journal
	known map[string]bool     // every action that was begun, told of or received
	told  map[string]toldLine // the last that was told of each
}

type toldLine struct {
	life     int
	state    oncehttp.State
	attempts int
	key      string
}

func newKillWorld(t *testing.T, rng *rand.Rand) *killWorld {
	w := &killWorld{T: t, rng: rng, journal: journalPath(t), known: map[string]bool{}, told: map[string]toldLine{}}
	w.api = mockserver.Start(mockserver.Config{
		Execute: func(r *http.Request) mockserver.Answer {
			if strings.HasPrefix(r.URL.Path, "/refuse") {
				return mockserver.Answer{Status: http.StatusPaymentRequired, Body: `{"code":"declined"}`}
			}
			return mockserver.Answer{Status: http.StatusCreated, Body: `{"ok":true}`}
		},
		// In progress, without a second's wait as most APIs ask for.
		Profile: mockserver.Profile{InFlight: mockserver.Answer{Status: http.StatusConflict, Body: `{"code":"idempotency_in_progress"}`}},
	})
	t.Cleanup(w.api.Close)
	faults := make([]mockserver.Fault, 20_000)
	for i := range faults {
		if rng.IntN(4) == 0 {
			faults[i] = mockserver.Lost()
		} else {
			faults[i].After = time.Duration(rng.IntN(3)) * time.Millisecond
		}
		faults[i].Before = time.Duration(rng.IntN(3)) * time.Millisecond
	}
	w.api.Script(faults...)
	return w
}

// live starts a process and kills it, sometimes while it still starts.
func (w *killWorld) live(life int) {
	w.mu.Lock()
	w.life++
	w.mu.Unlock()
	p := start(w.T, doomed{URL: w.api.URL, Journal: w.journal, Life: life, Seed: w.rng.Uint64()}, w.hear)
	delay := time.Duration(w.rng.IntN(30_000)) * time.Microsecond
	if w.rng.IntN(4) > 0 {
		p.waitFor(w.T, "opened")
	}
	time.Sleep(delay)
	p.kill(w.T)
}

// hear takes a line that a process said, and holds it against what was said
// before and against what the API has done.
func (w *killWorld) hear(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var action, state string
	now := toldLine{life: w.life}
	switch {
	case line == "opened":
		return
	case strings.HasPrefix(line, "begun "):
		w.known[strings.TrimPrefix(line, "begun ")] = true
		return
	case !strings.HasPrefix(line, "told "):
		w.Errorf("a process said: %s", line)
		return
	}
	// The key is missing under no contract.
	if n, err := fmt.Sscanf(line, "told %s %s %d %s", &action, &state, &now.attempts, &now.key); n < 3 {
		w.Errorf("a process said: %s (%v)", line, err)
	}
	assert.NoError(w, now.state.UnmarshalText([]byte(state)))
	w.agrees(action, now)
	w.known[action] = true
	if now.state != oncehttp.Pending || w.told[action].state == oncehttp.Pending {
		w.told[action] = now
	}
}

// agrees checks what is told of an action. The lock is held. In one life what
// was Pending for one caller may be heard after what settled it for another.
func (w *killWorld) agrees(action string, now toldLine) {
	if before, ok := w.told[action]; ok {
		assert.Equal(w, before.key, now.key, "%s has another key", action)
		if before.state != oncehttp.Pending && (now.state != oncehttp.Pending || now.life > before.life) {
			assert.Equal(w, before.state, now.state, "%s was settled and changed", action)
		}
	}
	switch effects := w.api.EffectsOf("POST /" + action); now.state {
	case oncehttp.Confirmed:
		assert.Equal(w, 1, effects, "%s is told Confirmed", action)
	case oncehttp.Rejected:
		assert.Zero(w, effects, "%s is told Rejected", action)
	}
}

// look opens the journal, and holds all of it against what was said.
func (w *killWorld) look() {
	c, err := oncehttp.Open(w.journal, killConfig())
	require.NoError(w, err)
	w.lookThrough(c)
	require.NoError(w, c.Close())
}

func (w *killWorld) lookThrough(c *oncehttp.Client) {
	received := map[string]int{}
	for _, r := range w.api.Requests() {
		received[strings.TrimPrefix(r.Path, "/")]++
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life++
	for action := range received {
		w.known[action] = true
	}
	for action := range w.known {
		o, err := c.Outcome(w.Context(), action)
		if !assert.NoError(w, err, "%s was begun or sent, and is lost", action) {
			continue
		}
		now := toldLine{life: w.life, state: o.State, attempts: o.Attempts, key: o.Key}
		w.agrees(action, now)
		assert.GreaterOrEqual(w, o.Attempts, w.told[action].attempts, "%s has fewer attempts than were told", action)
		assert.GreaterOrEqual(w, o.Attempts, received[action], "%s was received more often than it was recorded as started", action)
		w.told[action] = now
	}
}

// settleAll is the last life. Nobody kills it.
func (w *killWorld) settleAll() {
	c, err := oncehttp.Open(w.journal, killConfig())
	require.NoError(w, err)
	defer c.Close()
	w.lookThrough(c)
	for pass := 0; ; pass++ {
		for o, err := range c.Resume(w.Context()) {
			require.NoError(w, err)
			require.NotEmpty(w, o.Action)
		}
		open := 0
		for in, err := range c.Pending(w.Context()) {
			require.NoError(w, err)
			if _, err := c.Do(in.Action(), killRequest(w.Context(), w.api.URL, in.Action())); err != nil && !strings.HasPrefix(in.Action(), "plain/") {
				open++
			}
		}
		if open == 0 {
			break
		}
		require.Less(w, pass, 50, "%d actions under a contract do not settle", open)
	}
	require.NoError(w, w.api.WaitIdle(w.Context()))
	w.lookThrough(c)
	w.balance(c)
}

// balance is the account at the end: what the API did for each action.
func (w *killWorld) balance(c *oncehttp.Client) {
	keys, payloads, received := map[string]string{}, map[string]string{}, map[string]int{}
	for _, r := range w.api.Requests() {
		action := strings.TrimPrefix(r.Path, "/")
		if key, ok := keys[action]; ok {
			assert.Equal(w, key, r.Key, "%s was sent under two keys", action)
		}
		keys[action] = r.Key
		received[action]++
		if !r.Reached {
			continue
		}
		if payload, ok := payloads[action]; ok {
			assert.Equal(w, payload, r.BodySHA256, "%s was sent with two payloads", action)
		}
		payloads[action] = r.BodySHA256
	}
	pending := 0
	for action := range w.known {
		effects := w.api.EffectsOf("POST /" + action)
		state := w.told[action].state
		switch kind, _, _ := strings.Cut(action, "/"); kind {
		case "keyed":
			assert.Equal(w, oncehttp.Confirmed, state, action)
			assert.Equal(w, 1, effects, action)
		case "refuse":
			assert.Equal(w, oncehttp.Rejected, state, action)
			assert.Zero(w, effects, action)
		case "plain":
			assert.LessOrEqual(w, received[action], 1, action)
			assert.LessOrEqual(w, effects, 1, action)
			if state == oncehttp.Pending {
				pending++
			}
		}
	}
	w.Logf("%d actions, %d requests, %d without a contract stay pending", len(w.known), len(w.api.Requests()), pending)
}

// A process is this test binary, with a job.
type process struct {
	cmd   *exec.Cmd
	first chan string   // the first line that it says
	heard chan struct{} // closed when it has said all
}

func start(t *testing.T, d doomed, hear func(string)) *process {
	job, err := json.Marshal(d)
	require.NoError(t, err)
	p := &process{cmd: exec.Command(os.Args[0]), first: make(chan string, 1), heard: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), killJob+"="+string(job))
	p.cmd.Stderr = os.Stderr
	_, err = p.cmd.StdinPipe() // it ends when this process does
	require.NoError(t, err)
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.heard)
		for scan := bufio.NewScanner(stdout); scan.Scan(); {
			hear(scan.Text())
			select {
			case p.first <- scan.Text():
			default: // not the first
			}
		}
	}()
	return p
}

// waitFor waits until the process has said its first line.
func (p *process) waitFor(t *testing.T, line string) {
	select {
	case said := <-p.first:
		require.Equal(t, line, said)
	case <-p.heard:
		require.Fail(t, "the process ended early")
	}
}

// kill ends the process, and returns when all that it said was heard.
func (p *process) kill(t *testing.T) {
	require.NoError(t, p.cmd.Process.Kill())
	<-p.heard
	p.cmd.Wait()
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGKILL, status.Signal(), "the process was to be killed, and ended by itself: %v", p.cmd.ProcessState)
}
