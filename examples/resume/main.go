// Command resume shows what is left of an action when its process is killed at
// the worst moment: after the API has charged the card, before it has answered.
// The next process finds the action in the journal and settles it, with one
// charge made. It needs no network: the API is the mock server of this module,
// on the loopback interface.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// The first process is this program again, told by its environment what to do.
const envJournal, envURL = "RESUME_EXAMPLE_JOURNAL", "RESUME_EXAMPLE_URL"

func main() {
	var err error
	if journal := os.Getenv(envJournal); journal != "" {
		err = firstProcess(journal, os.Getenv(envURL))
	} else {
		err = run(os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	api := mockserver.Start(mockserver.Config{})
	defer api.Close()
	// The first request is charged, and then the API takes for ever to answer.
	api.Script(mockserver.Fault{Commit: true, See: mockserver.SeeNothing})
	dir, err := os.MkdirTemp("", "oncehttp-resume-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	journal := filepath.Join(dir, "intents.db")

	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, self)
	child.Env = append(os.Environ(), envJournal+"="+journal, envURL+"="+api.URL)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		return err
	}
	for api.EffectsTotal() == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := child.Process.Kill(); err != nil { // SIGKILL: nothing runs after it
		return err
	}
	fmt.Fprintf(out, "first process: %v, with the card charged and no answer seen\n\n", child.Wait())

	// The second process: this one.
	client, err := open(journal)
	if err != nil {
		return err
	}
	defer client.Close()
	for intent, err := range client.Pending(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "second process finds in the journal:")
		summary, _, _ := strings.Cut(intent.Outcome().Explain(), "\n")
		fmt.Fprintf(out, "  %s\n\n", summary)
	}
	fmt.Fprintln(out, "it resumes, with the same key and the same bytes:")
	for outcome, err := range client.Resume(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %s: %s after %d attempts\n", outcome.Action, outcome.State, outcome.Attempts)
		if r := outcome.Response; r != nil {
			fmt.Fprintf(out, "  the API's own answer, status %d, replayed: %t\n", r.StatusCode, r.Replayed)
		}
	}

	// Code that does not know of the crash just does the action again.
	req, err := charge(ctx, api.URL)
	if err != nil {
		return err
	}
	outcome, err := client.Do("order-42/charge", req)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nthe same action once more: %s, from the journal: %t\n", outcome.State, outcome.FromJournal)
	fmt.Fprintf(out, "effects: %d\n", api.EffectsTotal())
	return nil
}

// firstProcess never gets to its end.
func firstProcess(journal, url string) error {
	client, err := open(journal)
	if err != nil {
		return err
	}
	req, err := charge(context.Background(), url)
	if err != nil {
		return err
	}
	_, err = client.Do("order-42/charge", req)
	return errors.Join(errors.New("the first process should have been killed"), err)
}

func open(journal string) (*oncehttp.Client, error) {
	return oncehttp.Open(journal, oncehttp.Config{
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("127.0.0.1", 24*time.Hour)},
	})
}

func charge(ctx context.Context, url string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/charges", strings.NewReader(`{"card":"4242","amount":500}`))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}
