//go:build unix

package oncehttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncehttp/oncehttp"
)

// killJob in the environment makes this test binary a process that is going to
// be killed.
const killJob = "ONCEHTTP_KILL_JOB"

// A doomed is what such a process does.
type doomed struct {
	URL, Journal string
	// Life numbers the processes on one journal; Seed draws what this one does.
	Life int
	Seed uint64
	// StopAt makes it do one action, Action, and stop at a point for ever.
	StopAt, Action string
}

func TestMain(m *testing.M) {
	if text := os.Getenv(killJob); text != "" {
		var d doomed
		err := json.Unmarshal([]byte(text), &d)
		if err == nil {
			err = d.run()
		}
		fmt.Println("error", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// say tells the parent. A line that was written is read, whatever becomes of
// the process.
func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func sayTold(o *oncehttp.Outcome) {
	say("told %s %s %d %s", o.Action, o.State, o.Attempts, o.Key)
}

// killConfig is the same in every life. What is below /plain has no contract.
func killConfig() oncehttp.Config {
	cfg := oncehttp.Config{Retry: oncehttp.Retry{Base: time.Millisecond, Cap: 4 * time.Millisecond, AttemptTimeout: 30 * time.Second}}
	for _, path := range []string{"/keyed", "/refuse"} {
		contract := oncehttp.IdempotencyKey("127.0.0.1", 24*time.Hour)
		contract.Match.Path = path
		cfg.Contracts = append(cfg.Contracts, contract)
	}
	return cfg
}

// killRequest is a function of the action, in every life.
func killRequest(ctx context.Context, url, action string) *http.Request {
	body := fmt.Sprintf(`{"action":%q,"pad":%q}`, action, strings.Repeat("x", len(action)*7%400))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/"+action, strings.NewReader(body))
	if err != nil {
		panic(err) // the action is ours
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

func (d doomed) run() error {
	go func() {
		io.Copy(io.Discard, os.Stdin) // ends with the parent
		os.Exit(2)
	}()
	cfg := killConfig()
	if d.StopAt != "" {
		return d.stopAt(cfg)
	}
	cfg.OnEvent = func(e oncehttp.Event) {
		if e.Kind == oncehttp.EventBegun {
			say("begun %s", e.Action)
		}
	}
	c, err := oncehttp.Open(d.Journal, cfg)
	if err != nil {
		return err
	}
	say("opened")
	var workers sync.WaitGroup
	for w := range 6 {
		workers.Go(func() { d.work(c, w) })
	}
	for {
		for o, err := range c.Resume(context.Background()) {
			if err != nil {
				return err
			}
			sayTold(o)
		}
		time.Sleep(time.Millisecond)
	}
}

// work does new actions and, one time in three, one that this life or an
// earlier one may know already.
func (d doomed) work(c *oncehttp.Client, w int) {
	rng := rand.New(rand.NewPCG(d.Seed, uint64(w)))
	kinds := []string{"keyed", "keyed", "keyed", "plain", "plain", "refuse"}
	for n := 0; ; n++ {
		life, number := d.Life, n
		if rng.IntN(3) == 0 {
			life, number = rng.IntN(d.Life+1), rng.IntN(n+1)
		}
		kind := kinds[(w+number)%len(kinds)]
		action := fmt.Sprintf("%s/%d-%d-%d", kind, life, w, number)
		req := killRequest(context.Background(), d.URL, action)
		var o *oncehttp.Outcome
		var err error
		if rng.IntN(2) == 0 {
			o, err = c.Do(action, req)
		} else {
			var in *oncehttp.Intent
			if in, err = c.Begin(action, req); err == nil {
				o, err = in.Do(context.Background())
			}
		}
		var pending *oncehttp.PendingError
		if err != nil && !errors.As(err, &pending) {
			say("error %v", err)
			return
		}
		sayTold(o)
	}
}

// stopAt does one action and stops at a point.
func (d doomed) stopAt(cfg oncehttp.Config) error {
	j, err := oncehttp.OpenBolt(d.Journal, time.Second, nil)
	if err != nil {
		return err
	}
	c, err := oncehttp.New(stoppingJournal{Journal: j, at: d.StopAt}, cfg)
	if err != nil {
		return err
	}
	_, err = c.Do(d.Action, killRequest(context.Background(), d.URL, d.Action))
	return errors.Join(errors.New("it was to be killed before this"), err)
}

// stoppingJournal stops for ever before or after one of the two commits of an
// action.
type stoppingJournal struct {
	oncehttp.Journal
	at string
}

func (j stoppingJournal) here(point string) {
	if j.at == point {
		say("stopped")
		select {}
	}
}

func (j stoppingJournal) Create(ctx context.Context, e oncehttp.Entry) (oncehttp.Entry, error) {
	j.here(beforeCreate)
	e, err := j.Journal.Create(ctx, e)
	j.here(afterCreate)
	return e, err
}

func (j stoppingJournal) Update(ctx context.Context, e oncehttp.Entry) error {
	j.here(beforeRecord)
	err := j.Journal.Update(ctx, e)
	j.here(afterRecord)
	return err
}
