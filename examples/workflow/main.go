// Command workflow runs a job of two steps, book a room and then tell the guest,
// and stops in the middle of the second. Each step is an action of its own, so
// the job is simply run again from the top: the room that is booked is not
// booked again, and the message goes out once. The APIs are the mock server of
// this module, in memory.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer) error {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	dir, err := os.MkdirTemp("", "oncehttp-workflow-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	open := func() (*oncehttp.Client, error) {
		return oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
			Transport: api.Transport(), // yours needs none
			Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)},
		})
	}

	fmt.Fprintln(out, "1. The first process. The message is sent, and the process ends before")
	fmt.Fprintln(out, "   the answer comes:")
	client, err := open()
	if err != nil {
		return err
	}
	api.ScriptPath("/messages", mockserver.Fault{Commit: true, See: mockserver.SeeNothing})
	var end sync.WaitGroup
	end.Go(func() {
		for api.EffectsOf("POST /messages") == 0 {
			time.Sleep(time.Millisecond)
		}
		client.Close() // a kill leaves the same: see examples/resume
	})
	err = stay(out, client, "stay-7")
	end.Wait()
	if pending := (*oncehttp.PendingError)(nil); !errors.As(err, &pending) {
		return fmt.Errorf("want a PendingError, got %v", err)
	}
	fmt.Fprintf(out, "   stopped: %v\n\n", errors.Is(err, oncehttp.ErrClosed))

	fmt.Fprintln(out, "2. The second process runs the same job from the top:")
	if client, err = open(); err != nil {
		return err
	}
	defer client.Close()
	if err := stay(out, client, "stay-7"); err != nil {
		return err
	}

	requests := map[string]int{}
	for _, r := range api.Requests() {
		requests[r.Path]++
	}
	fmt.Fprintf(out, "\nrequests: %d to book, %d to send\n", requests["/bookings"], requests["/messages"])
	fmt.Fprintf(out, "effects: %d booking, %d message\n", api.EffectsOf("POST /bookings"), api.EffectsOf("POST /messages"))
	return nil
}

// stay is the whole job. It knows nothing of restarts: what is done is answered
// from the journal, what is open is taken up. What a later step sends must
// depend only on what earlier steps were answered, since one action never has
// two payloads.
func stay(out io.Writer, client *oncehttp.Client, id string) error {
	booked, err := step(out, client, id+"/book", "/bookings", `{"room":12,"nights":2}`)
	if err != nil {
		return err
	}
	var booking struct{ ID string }
	if err := json.Unmarshal(booked.Response.Body, &booking); err != nil {
		return err
	}
	_, err = step(out, client, id+"/tell-guest", "/messages", fmt.Sprintf(`{"to":"guest","booking":%q}`, booking.ID))
	return err
}

func step(out io.Writer, client *oncehttp.Client, action, path, body string) (*oncehttp.Outcome, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://api.example.com"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	outcome, err := client.Do(action, req)
	if err != nil {
		return nil, err
	}
	if outcome.State == oncehttp.Rejected {
		return nil, fmt.Errorf("%s was refused with %d", action, outcome.Response.StatusCode)
	}
	fmt.Fprintf(out, "   %s: %s, from the journal: %t\n", action, outcome.State, outcome.FromJournal)
	return outcome, nil
}
