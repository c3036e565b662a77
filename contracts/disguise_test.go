package contracts

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// A disguise is what APIs that share their words say in place of a plain status.
type disguise struct {
	contracts []oncehttp.Contract
	words     []worded
}

// A worded is one answer as an API words it, and what is to be made of it.
type worded struct {
	name   string
	answer mockserver.Fault
	// first is what the caller is told where it answers the first attempt; after,
	// where it answers the repeat of one that took effect unseen. Empty where no
	// repeat is sent.
	first, after string
	// reference that is taken from a success.
	reference string
}

const (
	done      = "Confirmed"
	refused   = "Rejected Refused"
	running   = "Pending InProgress"
	throttled = "Pending Throttled"
	unknown   = "Pending Unknown"
	failing   = "Pending ServerError"
	spent     = "Pending StoredFailure"
)

func told(o *oncehttp.Outcome) string {
	return strings.TrimSpace(o.State.String() + " " + string(o.Reason))
}

// says is an answer in JSON or XML; headers are name, value, name, value.
func says(status int, body string, headers ...string) mockserver.Fault {
	media := "application/json"
	if strings.HasPrefix(body, "<") {
		media = "text/xml"
	}
	f := mockserver.Fault{Status: status, Body: body}.With("Content-Type", media)
	for pair := range slices.Chunk(headers, 2) {
		f = f.With(pair[0], pair[1])
	}
	return f
}

// TestASuccessInDisguiseIsJudgedForWhatItIs plays each answer in two places: as
// the first that comes, and after an answer that was lost. One that says that an
// attempt runs is followed to its end.
func TestASuccessInDisguiseIsJudgedForWhatItIs(t *testing.T) {
	t.Parallel()
	for _, d := range disguises() {
		for _, c := range d.contracts {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				for _, a := range d.words {
					a.onFirst(t, c)
					a.afterLost(t, c)
				}
			})
		}
	}
}

// patient is a client's call of n attempts, however long the API wants it to wait.
func patient(n int) func(*oncehttp.Config) {
	return func(cfg *oncehttp.Config) { cfg.Retry.MaxAttempts, cfg.Retry.MaxElapsed = n, hour }
}

func (a worded) onFirst(t *testing.T, c oncehttp.Contract) {
	answer := a.answer
	answer.Commit = a.first == done || a.first == running
	inWorld(t, c, mockserver.Config{Script: []mockserver.Fault{answer}}, func(w *world) {
		client := w.open("a", patient(1))
		defer client.Close()
		o := w.do(client, w.request(""))
		assert.Equal(w.t, a.first, told(o), "%s, on the first attempt", a.name)
		assert.Equal(w.t, 1, o.Attempts, a.name)
		a.ended(w, client, o, answer.Commit)
	})
}

func (a worded) afterLost(t *testing.T, c oncehttp.Contract) {
	if a.after == "" {
		return
	}
	inWorld(t, c, mockserver.Config{Script: []mockserver.Fault{mockserver.Lost(), a.answer}}, func(w *world) {
		client := w.open("a", patient(2))
		defer client.Close()
		o := w.do(client, w.request(""))
		foreign := len(c.Origin.Headers) > 0 && a.answer.Header.Get(c.Origin.Headers[0]) == ""
		if len(c.Lookups) > 0 && !foreign && (a.after == unknown || a.after == spent) {
			a.after, a.reference = done, "effect-000001" // nothing is sent again, so the API is asked
		}
		assert.Equal(w.t, a.after, told(o), "%s, after an answer that was lost", a.name)
		assert.Equal(w.t, 2, o.Attempts, a.name)
		assert.Equal(w.t, o.State == oncehttp.Pending, o.MayHaveExecuted, a.name)
		a.ended(w, client, o, true)
	})
}

// ended checks the effects, and what is told of them once a running attempt has
// ended.
func (a worded) ended(w *world, client *oncehttp.Client, o *oncehttp.Outcome, effect bool) {
	w.t.Helper()
	want := 0
	if effect {
		want = 1
	}
	assert.Equal(w.t, want, w.effects(), a.name)
	if o.State == oncehttp.Confirmed {
		assert.Equal(w.t, a.reference, o.Reference, a.name)
	}
	if told(o) == running {
		o = w.run(client, 4*minute)
		if p := profileOf(w.contract); p.Repeat.Status/100 == 4 && w.contract.Stored.Repeat == oncehttp.RepeatEmpty && len(w.contract.Lookups) == 0 {
			// A repeat is refused whatever came of the first: nobody can tell.
			assert.Equal(w.t, oncehttp.Pending, o.State, "%s, and then it has ended", a.name)
		} else {
			assert.Equal(w.t, done, told(o), "%s, and then it has ended", a.name)
		}
		assert.Equal(w.t, 1, w.effects(), "%s, and then it has ended", a.name)
	}
	assert.False(w.t, o.MayHaveRepeated, a.name)
}

// TestAProxysPageIsNoSuccessInDisguise: the same status with a proxy's page in
// place of the API's words.
func TestAProxysPageIsNoSuccessInDisguise(t *testing.T) {
	t.Parallel()
	for _, d := range disguises() {
		for _, a := range d.words {
			if a.answer.Status < 300 {
				continue // without Origin a portal's 200 looks like a success
			}
			c, page := d.contracts[0], mockserver.Gateway(a.answer.Status)
			inWorld(t, c, mockserver.Config{Script: []mockserver.Fault{page}}, func(w *world) {
				client := w.open("a", patient(1))
				defer client.Close()
				assert.NotEqual(w.t, done, told(w.do(client, w.request(""))), "%s: %s", c.Name, a.name)
			})
			inWorld(t, c, mockserver.Config{Script: []mockserver.Fault{mockserver.Lost(), page}}, func(w *world) {
				client := w.open("a", patient(2))
				defer client.Close()
				o := w.do(client, w.request(""))
				if len(c.Lookups) > 0 && o.State == oncehttp.Confirmed {
					assert.Equal(w.t, "effect-000001", o.Reference, "%s: %s, not by a lookup", c.Name, a.name)
					return
				}
				assert.Equal(w.t, oncehttp.Pending, o.State, "%s: %s, after an answer that was lost", c.Name, a.name)
				assert.True(w.t, o.MayHaveExecuted, "%s: %s", c.Name, a.name)
			})
		}
	}
}

// TestNoContractWithADisguiseIsForgotten: whoever adds a rule that knows a
// success, a running attempt or an error in a 200 says here how the API words it.
func TestNoContractWithADisguiseIsForgotten(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	for _, d := range disguises() {
		for _, c := range d.contracts {
			assert.False(t, rows[c.Name], "%s has two rows", c.Name)
			rows[c.Name] = true
		}
	}
	for _, c := range every() {
		wears := slices.ContainsFunc(c.Answers, func(a oncehttp.Answer) bool {
			return a.Verdict == oncehttp.VerdictDone || a.Verdict == oncehttp.VerdictInProgress || a.Verdict == oncehttp.VerdictUnknown ||
				slices.ContainsFunc(a.Status, func(s int) bool { return s/100 == 2 })
		})
		assert.False(t, wears && !rows[c.Name], "%s has a rule for a disguise, and disguises no row of it", c.Name)
	}
}

// TestAContractOfOnesOwnMayNameAnyStatusForARunningAttempt: no vendor here uses
// 202 or 425 so, and without a rule 202 is a success and 425 a throttle.
func TestAContractOfOnesOwnMayNameAnyStatusForARunningAttempt(t *testing.T) {
	t.Parallel()
	for status, plain := range map[int]string{http.StatusAccepted: done, http.StatusTooEarly: throttled} {
		c := oncehttp.IdempotencyKey("api.example.com", day)
		c.Name = "own"
		answer := says(status, `{"state":"running"}`)
		worded{"without a rule", answer, plain, "", ""}.onFirst(t, c)
		c.Answers = []oncehttp.Answer{{Status: []int{status}, At: []string{"/state"}, Codes: []string{"running"}, Verdict: oncehttp.VerdictInProgress}}
		a := worded{"with one", answer, running, running, ""}
		a.onFirst(t, c)
		a.afterLost(t, c)
		a = worded{"with one, and another word", says(status, `{"state":"done"}`), plain, "", ""}
		a.onFirst(t, c)
	}
}

// TestAnExecutionThatHasEndedIsNotTakenForARefusal: the same 400 says that the
// name is another input's, so that it can only be left to a person, however often
// it comes.
func TestAnExecutionThatHasEndedIsNotTakenForARefusal(t *testing.T) {
	t.Parallel()
	ended := says(400, `{"__type":"com.amazonaws.swf.service.v2.model#ExecutionAlreadyExists","message":"Execution Already Exists"}`, "X-Amzn-Requestid", "a1")
	inWorld(t, AWSStepFunctions, mockserver.Config{Script: []mockserver.Fault{mockserver.Lost(), ended.Always()}}, func(w *world) {
		client := w.open("a", nil)
		defer client.Close()
		o := w.do(client, w.request(""))
		require.Equal(w.t, unknown, told(o))
		assert.Equal(w.t, unknown, told(w.run(client, 30*day)))
		assert.Equal(w.t, 2, w.sent())
		assert.Equal(w.t, 1, w.effects())
	})
}

// TestNoRefusalSettlesThatAProxyCouldHaveMade: what an API keeps of refusals helps
// only where its own can be told from those of whatever stands before it.
func TestNoRefusalSettlesThatAProxyCouldHaveMade(t *testing.T) {
	t.Parallel()
	for _, c := range every() {
		assert.False(t, c.Stored.Refusals && isZero(c.Origin), "%s: after a lost answer a proxy's 404 would be told as Rejected; set Origin, or leave Stored.Refusals out", c.Name)
	}
}
