package contracts

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// An axis is one thing that APIs do differently, shown by a contract that says
// it: the same play once with the contract's field and once without it.
type axis struct {
	name     string
	contract oncehttp.Contract
	// field that says it, and take it away, or say something else.
	field  string
	change func(*oncehttp.Contract)
	// api: the field only describes what the API does, so that it is the API that
	// changes; else it is the same API, and only the client's contract changes.
	api bool
	// cfg and profile of the API.
	cfg     mockserver.Config
	profile func(*mockserver.Profile)
	play    func(w *world) string
	// with the field and without it.
	with, without string
}

// axisNames are what can differ, in the order of [axes].
func axisNames() []string {
	return []string{
		"the host's path selects", "methods that take a key", "where the key travels", "what travels with it",
		"quotes", "form and length of keys", "random or derived", "requests refused without a key",
		"what a key is known together with", "what is compared", "another payload under a known key",
		"a repeat while the first runs", "a repeat of a success", "failures that are kept",
		"how long a key lasts", "where its time begins", "what follows its end", "the mark of a repeat",
		"the mark of a key that was ignored", "keys that cannot be looked up", "hints about another attempt",
		"units of a delay", "look-ups", "no key at all",
	}
}

// TestEachAxisOfAContractChangesWhatItSays plays every row both ways, and keeps
// the table of the documentation.
func TestEachAxisOfAContractChangesWhatItSays(t *testing.T) {
	var table strings.Builder
	table.WriteString("| what differs | contract | field | with it | without it |\n|---|---|---|---|---|\n")
	rows := axes()
	for i, a := range rows {
		t.Run(fmt.Sprintf("%d %s, %s", i, a.name, a.contract.Name), func(t *testing.T) {
			changed := a.contract
			a.change(&changed)
			assert.Equal(t, a.with, a.played(t, a.contract, a.contract), "with %s", a.field)
			api := a.contract
			if a.api {
				api = changed
			}
			assert.Equal(t, a.without, a.played(t, changed, api), "without %s", a.field)
		})
		field := "`" + a.field + "`"
		if a.api {
			field += " of the API"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", a.name, a.contract.Name, field, a.with, a.without)
	}
	compareTable(t, "../docs/contracts.md", "axes", table.String())
}

// TestEveryAxisHasARow and none that changes nothing.
func TestEveryAxisHasARow(t *testing.T) {
	t.Parallel()
	require.Len(t, axisNames(), 24)
	var names []string
	for _, a := range axes() {
		names = append(names, a.name)
		assert.NotEqual(t, a.with, a.without, "%s of %s shows nothing", a.name, a.contract.Name)
	}
	assert.Equal(t, axisNames(), slices.Compact(names))
}

// played is the row's play between a client that holds one contract and an API
// that keeps another.
func (a axis) played(t *testing.T, client, api oncehttp.Contract) (told string) {
	t.Helper()
	if len(client.Match.Hosts) == 0 {
		client, api = On(client, "api.example.com"), On(api, "api.example.com")
	}
	dir := fastDir(t)
	synctest.Test(t, func(t *testing.T) {
		cfg := a.cfg
		cfg.Profile = profileOf(api)
		if a.profile != nil {
			a.profile(&cfg.Profile)
		}
		w := &world{t: t, contract: client, sample: sampleOf(a.contract), server: mockserver.Memory(cfg), dir: dir}
		defer w.server.Close()
		told = a.play(w)
	})
	return told
}

// sum is what the caller is told, and what happened.
func (w *world) sum(o *oncehttp.Outcome) string {
	return fmt.Sprintf("%s, %s", told(o), w.happened())
}

func (w *world) happened() string {
	return fmt.Sprintf("%s, %s", counted(w.sent(), "request"), counted(w.effects(), "effect"))
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// once drives the action in one call of n attempts at most.
func once(n int) func(*world) string {
	return func(w *world) string {
		c := w.open("a", patient(n))
		defer c.Close()
		return w.sum(w.do(c, w.request("")))
	}
}

// later makes one attempt, and is started again after a while.
func later(d time.Duration) func(*world) string {
	return func(w *world) string { return w.sum(w.restarted(d, nil)) }
}

func (w *world) restarted(d time.Duration, change func(*oncehttp.Config)) *oncehttp.Outcome {
	c := w.open("a", patient(1))
	w.do(c, w.request(""))
	require.NoError(w.t, c.Close())
	time.Sleep(d)
	c = w.open("a", change)
	defer c.Close()
	return w.run(c, 2*minute)
}

// repeated does the action, and again by a client that knows only its key.
func repeated(w *world) string {
	o := w.after(func(b *oncehttp.Client, key string) *oncehttp.Outcome { return w.do(b, w.request(key)) })
	if o.Reference != "" {
		return fmt.Sprintf("%s as %s, %s", told(o), o.Reference, w.happened())
	}
	return w.sum(o)
}

// overlapping is the same while the first still runs.
func overlapping(w *world) string {
	a, b := w.open("a", nil), w.open("b", patient(1))
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
	o := w.do(b, w.request(in.Key()))
	<-done
	return told(o) + ", " + counted(w.effects(), "effect")
}

// again calls the action a second time, with another request.
func again(change func(*http.Request)) func(*world) string {
	return func(w *world) string {
		c := w.open("a", nil)
		defer c.Close()
		w.do(c, w.request(""))
		req := w.request("")
		change(req)
		o, err := c.Do(action, req)
		if errors.Is(err, oncehttp.ErrMismatch) {
			return "mismatch, " + w.happened()
		}
		require.NoError(w.t, err)
		return w.sum(o)
	}
}

// ownKey is a request whose key the caller has chosen.
func ownKey(key string) func(*world) string {
	return func(w *world) string {
		c := w.open("a", nil)
		defer c.Close()
		o, err := c.Do(action, w.request(key))
		if errors.Is(err, oncehttp.ErrInvalidRequest) {
			return "refused here, " + w.happened()
		}
		require.NoError(w.t, err)
		return w.sum(o)
	}
}

// paused tells whether the second request came at least so long after the first.
func paused(d time.Duration) func(*world) string {
	return func(w *world) string {
		c := w.open("a", patient(2))
		defer c.Close()
		o := w.do(c, w.request(""))
		r := w.server.Requests()
		require.Len(w.t, r, 2)
		if r[1].Time.Sub(r[0].Time) < d {
			return fmt.Sprintf("%s, sooner than %v", told(o), d)
		}
		return fmt.Sprintf("%s, %v later", told(o), d)
	}
}

// A tap shows each request as it is sent.
type tap struct {
	base http.RoundTripper
	seen []string
}

func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL)
	for name, values := range r.Header {
		fmt.Fprintf(&b, "%s: %s\n", http.CanonicalHeaderKey(name), strings.Join(values, ", "))
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		b.Write(body)
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(strings.NewReader(string(body)))
	}
	t.seen = append(t.seen, b.String())
	return t.base.RoundTrip(r)
}

// carried loses the first answer, and tells what stands around the key.
func carried(w *world) string {
	wire := &tap{}
	c := w.open("a", func(cfg *oncehttp.Config) {
		patient(2)(cfg)
		wire.base = cfg.Transport
		cfg.Transport = wire
	})
	defer c.Close()
	o := w.do(c, w.request(""))
	if o.Key == "" {
		return w.sum(o)
	}
	first, last := wire.seen[0], wire.seen[len(wire.seen)-1]
	require.Equal(w.t, where(first, o.Key), where(last, o.Key))
	return fmt.Sprintf("%s in `%s`", w.sum(o), where(first, o.Key))
}

// where is the text before and after the key, in which it is called KEY.
func where(dump, key string) string {
	i := strings.Index(dump, key)
	if i < 0 {
		return "nothing"
	}
	before, after := dump[:i], dump[i+len(key):]
	before = before[strings.LastIndexAny(before, "\n&?{/")+1:]
	before = before[strings.LastIndex(before, "><")+1:]
	if end := strings.IndexAny(after, "\n&?},/"); end >= 0 {
		after = after[:end]
	}
	return before + "KEY" + after
}
