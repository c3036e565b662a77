//go:build unix

package kill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// api is a server that keeps its side of the bargain when it is killed: effect,
// key and answer are one line of a file, which counts when it is whole, so that
// there is all of it or nothing. What the action's name holds says how it fails: of
// "lost" the first answer of a life is lost, of "half" it is cut, "refuse" is
// refused, "happy" has a 103 first.
type api struct {
	*stops
	effects, requests *os.File
	active            atomic.Int64

	mu     sync.Mutex // guards what follows, and the files
	known  map[string]execution
	failed map[string]bool
}

// An execution is a line of the file of effects.
type execution struct {
	Action, Key, Body string
	Status            int
	Answer            string
	// Effect is false for a refusal.
	Effect bool
}

// A request is a line of the file of requests: one when its header is there,
// and one more, with Body, when all of it is.
type request struct{ Action, Key, Body string }

// readLines leaves out a last line that is not whole: whoever writes it has not
// come to its end, or was killed before.
func readLines[T any](path string) ([]T, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []T
	for line := range bytes.Lines(text[:bytes.LastIndexByte(text, '\n')+1]) {
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, one)
	}
	return all, err
}

func appendLine(f *os.File, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

// openLines opens a file to append lines to, and cuts off a last one that is
// not whole.
func openLines(path string) (*os.File, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return f, f.Truncate(int64(bytes.LastIndexByte(text, '\n') + 1))
}

// serve goes on where the server before it was killed, on the same socket: the
// parent keeps it open.
func serve(j job, s *stops) error {
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	a := &api{stops: s, known: map[string]execution{}, failed: map[string]bool{}}
	done, err := readLines[execution](j.effectsPath())
	if err != nil {
		return err
	}
	for _, e := range done {
		if e.Key != "" {
			a.known[e.Key] = e
		}
	}
	for path, f := range map[string]**os.File{j.effectsPath(): &a.effects, j.requestsPath(): &a.requests} {
		if *f, err = openLines(path); err != nil {
			return err
		}
	}
	return http.Serve(listener, a)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/quiet": // answers when nothing else is under way
		for a.active.Load() > 0 {
			time.Sleep(time.Millisecond)
		}
		return
	case "/reached":
		a.sayReached()
		return
	}
	a.active.Add(1)
	defer a.active.Add(-1)
	q := request{Action: strings.TrimPrefix(r.URL.Path, "/"), Key: r.Header.Get("Idempotency-Key")}
	a.note(q)
	a.here(ServerReceived)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	sum := sha256.Sum256(body)
	q.Body = hex.EncodeToString(sum[:])
	a.note(q)
	e, replayed := a.once(q)
	a.here(ServerStored)
	fails := a.fails(q.Action)
	if fails && strings.Contains(q.Action, "lost") {
		panic(http.ErrAbortHandler)
	}
	if strings.Contains(q.Action, "happy") {
		w.WriteHeader(http.StatusEarlyHints)
	}
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(e.Answer)))
	w.WriteHeader(e.Status)
	half := len(e.Answer) / 2
	flush := http.NewResponseController(w).Flush
	flush()
	a.here(ServerHeader)
	io.WriteString(w, e.Answer[:half])
	flush()
	a.here(ServerHalf)
	if fails {
		panic(http.ErrAbortHandler)
	}
	io.WriteString(w, e.Answer[half:])
	flush()
	a.here(ServerAnswered)
}

// once executes, or finds what was executed under the key.
func (a *api) once(q request) (e execution, replayed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e, ok := a.known[q.Key]; ok && q.Key != "" {
		if e.Body != q.Body || e.Action != q.Action {
			return execution{Status: http.StatusUnprocessableEntity, Answer: `{"code":"idempotency_key_mismatch"}`}, false
		}
		return e, true
	}
	a.here(ServerExecutes)
	e = execution{Action: q.Action, Key: q.Key, Body: q.Body, Effect: true, Status: http.StatusCreated}
	if strings.HasPrefix(q.Action, "refuse/") {
		e.Effect, e.Status = false, http.StatusPaymentRequired
	}
	e.Answer = fmt.Sprintf(`{"did":%q,"pad":%q}`, q.Action, strings.Repeat("a", 1500))
	if err := appendLine(a.effects, e); err != nil {
		panic(err)
	}
	if q.Key != "" {
		a.known[q.Key] = e
	}
	return e, false
}

func (a *api) note(q request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := appendLine(a.requests, q); err != nil {
		panic(err)
	}
}

// fails says whether this answer is the one that fails.
func (a *api) fails(action string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed[action] || !strings.Contains(action, "lost") && !strings.Contains(action, "half") {
		return false
	}
	a.failed[action] = true
	return true
}
