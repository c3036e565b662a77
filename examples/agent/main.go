// Command agent is a harness that lets a language model call tools with effects
// in the world. The model asks twice, words its request anew and changes its
// mind; none of that makes a second effect, since the harness, and not the
// model, names the actions. The model is a script here, and the API is the mock
// server of this module, in memory.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// tool is what the model is shown of a tool, and how it is run. There is no
// place for a key in the schema: the model could neither make a good one nor
// keep it.
type tool struct {
	Name       string            `json:"name"`
	Parameters map[string]string `json:"parameters"`

	path string
	// anyWording: another wording is the same deed. Else it is a mismatch, and
	// nothing is sent: an amount is not a wording.
	anyWording bool
}

var tools = []tool{
	{Name: "send_mail", Parameters: map[string]string{"to": "string", "text": "string"}, path: "/mails", anyWording: true},
	{Name: "refund", Parameters: map[string]string{"charge": "string", "amount": "integer"}, path: "/refunds"},
}

// call is what the model asks for. Its id is new on every try, so it names
// nothing.
type call struct {
	id, tool, arguments string
}

// harness runs the calls of one run of the agent.
type harness struct {
	client *oncehttp.Client
	run    string
	// step is the place in the plan. It is the harness's own count, stored with
	// the run; the model asking again does not move it.
	step int
}

// do runs a call and returns what the model is told.
func (h *harness) do(c call) (told string, err error) {
	for _, t := range tools {
		if t.Name != c.tool {
			continue
		}
		req, err := http.NewRequest(http.MethodPost, "https://api.example.com"+t.path, strings.NewReader(c.arguments))
		if err != nil {
			return "", err
		}
		req.Header.Set("Content-Type", "application/json")
		var opts []oncehttp.ActionOption
		if t.anyWording {
			opts = append(opts, oncehttp.KeepFirst())
		}
		action := fmt.Sprintf("%s/step-%d/%s", h.run, h.step, t.Name)
		outcome, err := h.client.Do(action, req, opts...)
		var pending *oncehttp.PendingError
		var mismatch *oncehttp.MismatchError
		switch {
		case errors.As(err, &pending):
			return "Not known yet whether it was done. Do not do it in another way.", nil
		case errors.As(err, &mismatch):
			return fmt.Sprintf("This step already did it with another %s. A person must decide.", strings.Join(mismatch.Differs, ", ")), nil
		case err != nil:
			return "", err // nothing was sent
		case outcome.State == oncehttp.Rejected:
			return fmt.Sprintf("Refused with status %d.", outcome.Response.StatusCode), nil
		case outcome.Reworded:
			return "Done, with your first wording.", nil
		}
		return "Done.", nil
	}
	return "There is no such tool.", nil
}

func run(out io.Writer) error {
	api := mockserver.Memory(mockserver.Config{})
	defer api.Close()
	dir, err := os.MkdirTemp("", "oncehttp-agent-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	client, err := oncehttp.Open(filepath.Join(dir, "intents.db"), oncehttp.Config{
		Transport: api.Transport(), // yours needs none
		Contracts: []oncehttp.Contract{oncehttp.IdempotencyKey("api.example.com", 24*time.Hour)},
		Retry:     oncehttp.Retry{MaxAttempts: 2, Base: time.Millisecond, Cap: time.Millisecond},
	})
	if err != nil {
		return err
	}
	defer client.Close()

	schema, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "What the model sees: %s\n\n", schema)

	api.ScriptPath("/mails", mockserver.Lost(), mockserver.Lost()) // sent, and both answers lost
	h := &harness{client: client, run: "run-7"}
	steps := [][]call{
		{
			{"call_a1", "send_mail", `{"to":"mia@example.com","text":"Your refund is on its way."}`},
			{"call_b2", "send_mail", `{"to":"mia@example.com","text":"Hi Mia! We are refunding you."}`},
		},
		{
			{"call_c3", "refund", `{"charge":"ch_1","amount":500}`},
			{"call_d4", "refund", `{"amount":500,"charge":"ch_1"}`},
			{"call_e5", "refund", `{"charge":"ch_1","amount":900}`},
		},
	}
	for _, calls := range steps {
		h.step++
		fmt.Fprintf(out, "step %d:\n", h.step)
		for _, c := range calls {
			told, err := h.do(c)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "  %s %s %s\n    -> %s\n", c.id, c.tool, c.arguments, told)
		}
	}
	fmt.Fprintf(out, "\nmails sent: %d, refunds made: %d\n", api.EffectsOf("POST /mails"), api.EffectsOf("POST /refunds"))
	return nil
}
