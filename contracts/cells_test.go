package contracts

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A mishap is what happens to an action's first request, and perhaps its second.
type mishap struct {
	name   string
	script []mockserver.Fault
}

func mishaps() []mishap {
	portal := mockserver.Fault{Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}}, Body: "<html>please log in</html>"}
	return []mishap{
		{"answer lost", []mockserver.Fault{mockserver.Lost()}},
		{"request lost", []mockserver.Fault{{See: mockserver.SeeReset}}},
		{"500 and nothing done", []mockserver.Fault{{Origin: true, Status: 500}}},
		{"500 and done", []mockserver.Fault{{Origin: true, Commit: true, Status: 500}}},
		{"502 of a proxy", []mockserver.Fault{mockserver.Gateway(502)}},
		{"504 of a proxy, and done", []mockserver.Fault{mockserver.Gateway(504).Committed()}},
		{"answer lost, then 403 of a firewall", []mockserver.Fault{mockserver.Lost(), mockserver.Gateway(403)}},
		{"answer cut short", []mockserver.Fault{{Commit: true, See: mockserver.SeeTruncated, Keep: 4}}},
		{"a portal's 200", []mockserver.Fault{portal}},
	}
}

// outages are how long the host is gone after the mishap.
func outages() []time.Duration { return []time.Duration{0, 20 * minute, 3 * day} }

// A tally counts how a contract's cells end.
type tally struct{ cells, settled, person, misled int }

// TestWhoEndsAContractsFaultCells plays every mishap before every outage, lets
// the client go on for forty days, and counts: settled as it is, left to a
// person, told what is not so. The last is possible only where no mark tells the
// API's own success from another's.
func TestWhoEndsAContractsFaultCells(t *testing.T) {
	rows := map[string]tally{}
	for _, c := range every() {
		t.Run(c.Name, func(t *testing.T) {
			var sum tally
			for _, m := range mishaps() {
				for _, outage := range outages() {
					inWorld(t, c, mockserver.Config{Script: m.script}, func(w *world) {
						sum.add(w, w.cell(outage), m.name)
					})
				}
			}
			rows[c.Name] = sum
		})
	}
	if len(rows) == len(every()) {
		compareTable(t, "../docs/contracts.md", "kinds", kindTable(rows))
		compareTable(t, "../docs/contracts.md", "cells", cellTable(rows))
	}
}

// cell drives the action through an outage and forty days, with a restart.
func (w *world) cell(outage time.Duration) *oncehttp.Outcome {
	c := w.open("a", func(cfg *oncehttp.Config) { cfg.Retry.MaxAttempts = 2 })
	defer w.outage(outage)()
	w.do(c, w.request(""))
	require.NoError(w.t, c.Close())
	c = w.open("a", nil)
	defer c.Close()
	return w.run(c, 40*day)
}

// outage lets the host be gone for so long, from just after the first request.
// The function returned ends it.
func (w *world) outage(d time.Duration) (end func()) {
	if d == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	sleep := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	var over sync.WaitGroup
	over.Go(func() {
		sleep(100 * time.Millisecond)
		w.server.RefuseDials(-1)
		sleep(d)
		w.server.RefuseDials(0)
	})
	return func() { cancel(); over.Wait() }
}

func (s *tally) add(w *world, o *oncehttp.Outcome, mishap string) {
	effects := w.effects()
	assert.LessOrEqual(w.t, effects, w.effectsOfOne(), "%s: one action, and more than one effect", mishap)
	s.cells++
	switch {
	case o.State == oncehttp.Pending:
		s.person++
	case (o.State == oncehttp.Confirmed) == (effects > 0):
		s.settled++
	default:
		s.misled++
		assert.True(w.t, isZero(w.contract.Origin), "%s: told %s, and there are %d effects", mishap, o.State, effects)
	}
}

// kinds are what moves the shares, from the least to the most.
func kinds() []struct {
	name string
	is   func(oncehttp.Contract) bool
} {
	key := func(c oncehttp.Contract) bool { return c.Carrier.Kind != oncehttp.CarrierNone }
	found := func(c oncehttp.Contract) bool { return len(c.Lookups) > 0 }
	own := func(c oncehttp.Contract) bool { return !isZero(c.Origin) }
	return []struct {
		name string
		is   func(oncehttp.Contract) bool
	}{
		{"no key", func(c oncehttp.Contract) bool { return !key(c) && !found(c) }},
		{"no key, a look-up", func(c oncehttp.Contract) bool { return !key(c) && found(c) }},
		{"a key", func(c oncehttp.Contract) bool { return key(c) && !found(c) && !own(c) }},
		{"a key, a mark of its own answers", func(c oncehttp.Contract) bool { return key(c) && !found(c) && own(c) }},
		{"a key, a look-up", func(c oncehttp.Contract) bool { return key(c) && found(c) && !own(c) }},
		{"a key, a look-up and a mark", func(c oncehttp.Contract) bool { return key(c) && found(c) && own(c) }},
	}
}

func kindTable(rows map[string]tally) string {
	var b strings.Builder
	b.WriteString("| the API has | contracts | settles by itself | ends with a person | told what is not so |\n|---|---|---|---|---|\n")
	for _, kind := range kinds() {
		var sum tally
		n := 0
		for _, c := range every() {
			if kind.is(c) {
				r := rows[c.Name]
				sum.cells, sum.settled, sum.person, sum.misled = sum.cells+r.cells, sum.settled+r.settled, sum.person+r.person, sum.misled+r.misled
				n++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", kind.name, n, sum.share(sum.settled), sum.share(sum.person), sum.share(sum.misled))
	}
	return b.String()
}

// share is a part of the cells in hundredths.
func (s tally) share(n int) string { return fmt.Sprintf("%d %%", (100*n+s.cells/2)/max(1, s.cells)) }

func cellTable(rows map[string]tally) string {
	var b strings.Builder
	b.WriteString("| contract | key | window | mark of its own answers | look-up | settles by itself | ends with a person | told what is not so |\n|---|---|---|---|---|---|---|---|\n")
	for _, c := range every() {
		r := rows[c.Name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", c.Name, carrierText(c), windowText(c),
			yes(!isZero(c.Origin)), yes(len(c.Lookups) > 0), r.share(r.settled), r.share(r.person), r.share(r.misled))
	}
	return b.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// compareTable compares what stands between two marks of a page.
func compareTable(t *testing.T, path, name, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s has no mark %q", path, begin)
	got, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s has no mark %q", path, end)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+want+end+after), 0o644))
		return
	}
	assert.Equal(t, want, got, "the table of %s is not current: go test ./contracts -update", path)
}
