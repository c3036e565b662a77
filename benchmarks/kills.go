package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

var kills = comparison{
	name:  "kills",
	claim: "A process that is killed between the send and the answer, and started again, does not charge twice.",
	how: "A process charges 20 orders, one after the other; it is killed (SIGKILL) the first time that the server gets each of them, before the answer, and started again. The first two note in a " +
		"synced file what is done, and begin an order that is not with a fresh key. In the third the application makes the key from the order's name and the server remembers it: " +
		"that is right too, as long as the body is the same after the restart and the key is not too old. All other clients here keep a key in memory only, if at all, and do as the first two.",
	heads: []string{"kills", "orders", "charges", "charged twice"},
	run: func(size scale) []row {
		n := 20
		if size == short {
			n = 8
		}
		var rows []row
		retryable := "go-retryablehttp " + version("github.com/hashicorp/go-retryablehttp")
		for _, l := range []struct{ name, life string }{
			{"net/http, fresh key", lifeBare}, {retryable + ", fresh key", lifeFresh}, {retryable + ", key from the order", lifeDerived}, {ourName, lifeOurs},
		} {
			k := kill(l.life, n)
			rows = append(rows, row{l.name, []string{fmt.Sprint(k.kills), fmt.Sprint(n), fmt.Sprint(k.effects), fmt.Sprint(k.repeated)}})
		}
		return rows
	},
}

// How a child does its orders.
const (
	lifeBare    = "bare"
	lifeFresh   = "fresh"
	lifeDerived = "derived"
	lifeOurs    = "ours"
)

// childJob in the environment makes this program a process that charges orders.
const childJob = "ONCEHTTP_BENCHMARK_JOB"

type job struct {
	Life, URL, Dir string
	Orders         int
}

type killed struct{ kills, effects, repeated int }

func kill(life string, orders int) killed {
	dir, err := os.MkdirTemp("", "oncehttp-benchmark-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var mu sync.Mutex
	seen := map[string]bool{}
	var died atomic.Int64
	var child atomic.Pointer[process]
	server := mockserver.Start(mockserver.Config{Execute: func(r *http.Request) mockserver.Answer {
		mu.Lock()
		first := !seen[r.URL.Path]
		seen[r.URL.Path] = true
		mu.Unlock()
		if first {
			died.Add(1)
			p := child.Load()
			<-p.started
			p.cmd.Process.Kill()
			<-p.gone
		}
		return mockserver.Answer{Status: http.StatusCreated, Body: `{"ok":true}`}
	}})
	defer server.Close()
	text, err := json.Marshal(job{life, server.URL, dir, orders})
	if err != nil {
		panic(err)
	}
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	for lives := 0; ; lives++ {
		var said bytes.Buffer
		p := &process{exec.Command(program), make(chan struct{}), make(chan struct{})}
		p.cmd.Env = append(os.Environ(), childJob+"="+string(text))
		p.cmd.Stderr = &said
		child.Store(p)
		if err := p.cmd.Start(); err != nil {
			panic(err)
		}
		close(p.started)
		err := p.cmd.Wait()
		close(p.gone)
		if err == nil {
			break
		}
		if p.cmd.ProcessState.Exited() || lives > 2*orders {
			panic(fmt.Sprintf("the child that charges orders, life %d: %v: %s", lives, err, said.String()))
		}
	}
	k := tally(server, make([]bool, orders))
	return killed{int(died.Load()), k.effects, k.repeated}
}

type process struct {
	cmd           *exec.Cmd
	started, gone chan struct{}
}

func isChild() bool { return os.Getenv(childJob) != "" }

func runChild() int {
	var j job
	err := json.Unmarshal([]byte(os.Getenv(childJob)), &j)
	if err == nil {
		if j.Life == lifeOurs {
			err = j.ours()
		} else {
			err = j.naive()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// naive notes each order when its answer is there. A crash before that leaves
// an order that looks as if it had not been begun.
func (j job) naive() error {
	done, err := os.OpenFile(filepath.Join(j.Dir, "done"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer done.Close()
	noted, err := os.ReadFile(done.Name())
	if err != nil {
		return err
	}
	send := http.DefaultClient.Do
	if j.Life != lifeBare {
		send = openRetryable(setup{base: ownTransport(), quick: true}).StandardClient().Do
	}
	for i := bytes.Count(noted, []byte("\n")); i < j.Orders; i++ {
		key := uuid.New()
		if j.Life == lifeDerived {
			key = uuid.NewSHA1(uuid.NameSpaceURL, []byte(path(i)))
		}
		req := post(context.Background(), j.URL+path(i), `{"amount":500}`)
		req.Header.Set("Idempotency-Key", key.String())
		if err := finish(send(req)); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(done, path(i)); err != nil {
			return err
		}
		if err := done.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// ours does every order in every life: the journal knows what is done.
func (j job) ours() error {
	c, err := oncehttp.Open(filepath.Join(j.Dir, "intents.db"), oncehttp.Config{
		Retry:     quickRetry,
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("127.0.0.1", 24*time.Hour)},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	for i := range j.Orders {
		if _, err := c.Do("order"+path(i), post(context.Background(), j.URL+path(i), `{"amount":500}`)); err != nil {
			return err
		}
	}
	return nil
}
