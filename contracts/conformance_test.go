package contracts

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

var update = flag.Bool("update", false, "write the golden files, the profiles and the tables anew")

// A scenario ends with what the caller is told.
type scenario struct {
	name   string
	script []mockserver.Fault
	work   time.Duration
	play   func(w *world) *oncehttp.Outcome
}

func scenarios() []scenario {
	return []scenario{
		{"lost answer", []mockserver.Fault{mockserver.Lost()}, 0, func(w *world) *oncehttp.Outcome {
			c := w.open("a", nil)
			defer c.Close()
			return w.do(c, w.request(""))
		}},
		{"duplicate in flight", nil, 3 * time.Second, func(w *world) *oncehttp.Outcome {
			return w.beside(func(b *oncehttp.Client, key string) *oncehttp.Outcome {
				w.do(b, w.request(key))
				return w.run(b, 10*minute)
			})
		}},
		{"5xx without effect", []mockserver.Fault{{Origin: true, Status: 500}}, 0, func(w *world) *oncehttp.Outcome {
			c := w.open("a", nil)
			defer c.Close()
			return w.do(c, w.request(""))
		}},
		{"5xx after the effect", []mockserver.Fault{{Origin: true, Commit: true, Status: 500}}, 0, func(w *world) *oncehttp.Outcome {
			c := w.open("a", nil)
			defer c.Close()
			return w.do(c, w.request(""))
		}},
		{"mismatch", nil, 0, func(w *world) *oncehttp.Outcome {
			return w.after(func(b *oncehttp.Client, key string) *oncehttp.Outcome {
				w.sample = w.sample.withAmount(7)
				return w.do(b, w.request(key))
			})
		}},
		{"expiry", []mockserver.Fault{mockserver.Lost()}, 0, func(w *world) *oncehttp.Outcome {
			c := w.open("a", func(cfg *oncehttp.Config) { cfg.Retry.MaxAttempts = 1 })
			w.do(c, w.request(""))
			require.NoError(w.t, c.Close())
			time.Sleep(800 * day)
			c = w.open("a", nil)
			defer c.Close()
			return w.run(c, time.Minute)
		}},
		{"repeat of success", nil, 0, func(w *world) *oncehttp.Outcome {
			return w.after(func(b *oncehttp.Client, key string) *oncehttp.Outcome {
				return w.do(b, w.request(key))
			})
		}},
	}
}

// after lets one client do the action, and another, which knows only its key,
// whatever comes next.
func (w *world) after(then func(b *oncehttp.Client, key string) *oncehttp.Outcome) *oncehttp.Outcome {
	a, b := w.open("a", nil), w.open("b", nil)
	defer a.Close()
	defer b.Close()
	return then(b, w.do(a, w.request("")).Key)
}

// beside is the same while the first client's request still runs.
func (w *world) beside(then func(b *oncehttp.Client, key string) *oncehttp.Outcome) *oncehttp.Outcome {
	a, b := w.open("a", nil), w.open("b", nil)
	defer a.Close()
	defer b.Close()
	in, err := a.Begin(action, w.request(""))
	require.NoError(w.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.Do(w.t.Context())
	}()
	time.Sleep(time.Second)
	o := then(b, in.Key())
	<-done
	return o
}

// TestEveryContractKeepsItsPromiseInEveryScenario plays each contract's API, and
// compares what the caller is told, the requests and the effects with the golden
// file. Whatever it holds, nothing is told that is not so.
func TestEveryContractKeepsItsPromiseInEveryScenario(t *testing.T) {
	var golden strings.Builder
	for _, c := range every() {
		var lines []string
		t.Run(c.Name, func(t *testing.T) {
			for _, s := range scenarios() {
				inWorld(t, c, mockserver.Config{Script: s.script, Work: s.work}, func(w *world) {
					o := s.play(w)
					line := fmt.Sprintf("%-21s %s", s.name, o.State)
					if o.Reason != "" {
						line += " " + string(o.Reason)
					}
					line += fmt.Sprintf(", %d requests, %d effects", w.sent(), w.effects())
					lines = append(lines, line)
					w.truthful(s.name, o)
				})
			}
		})
		fmt.Fprintf(&golden, "%s\n", c.Name)
		for _, line := range lines {
			fmt.Fprintf(&golden, "    %s\n", line)
		}
	}
	compareGolden(t, "testdata/conformance.golden", golden.String())
}

// truthful is what holds of every contract in every scenario.
func (w *world) truthful(scenario string, o *oncehttp.Outcome) {
	effects := w.effects()
	switch o.State {
	case oncehttp.Confirmed:
		assert.Positive(w.t, effects, "%s: Confirmed without an effect", scenario)
	case oncehttp.Rejected:
		if scenario != "mismatch" { // where the effect is another payload's
			assert.Zero(w.t, effects, "%s: Rejected with an effect", scenario)
		}
	}
	other := scenario == "mismatch" || scenario == "duplicate in flight" || scenario == "repeat of success"
	if w.contract.Carrier.Kind == oncehttp.CarrierNone && other {
		return // two journals, and no key to tell that they mean one action
	}
	if scenario == "mismatch" && (w.contract.Compared.Mismatch == oncehttp.MismatchExecutes || w.contract.Compared.Mismatch == oncehttp.MismatchOverwrites) {
		return // nobody but the API's own ledger knows
	}
	assert.LessOrEqual(w.t, effects, w.effectsOfOne(), "%s: one action, and more than one effect", scenario)
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "%s is not what this code does. If that is meant: go test ./contracts -update, and read the difference", path)
}
