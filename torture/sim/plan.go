package sim

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// A Plan is all that is decided before a run: who calls what and when, how the
// server answers, and what goes wrong. It is made of one seed.
type Plan struct {
	Seed uint64
	// Scene that it plays, if it does.
	Scene scene
	// On are the faults that may happen in this run; the others never do.
	On      faults
	Actions []Action
	Lives   []Life
	API     API
	Client  Client

	sent  map[int]bool // anonymous actions that are sent by now
	more  dice         // for what came to plans later
	terms dice         // for what came with the contract's terms
	kinds dice         // for what came with their kinds
}

// API is the contract and how the server keeps it.
type API struct {
	// Window of the contract; 0: for ever. TTL is how long the server remembers
	// in fact; negative: for ever.
	Window, TTL time.Duration
	// Origin: the API's own answers carry a marker. NoReplay: repeats carry none.
	Origin, NoReplay bool
	Quoted           bool
	HTTP2            bool
	// Refusals and Settle as in oncehttp.Stored.
	Refusals bool
	Settle   time.Duration
	// Waits: a repeat waits for the first instead of 409. Bare: 409 without
	// Retry-After. Tells: an expired key is told, not taken for a new one.
	Waits, Bare, Tells bool
	FromCompletion     bool
	// Work is how long an execution takes.
	Work time.Duration
	// Lag is how old an effect must be to be found by Client.Lookup.
	Lag time.Duration
	// Arrives is how much later than it was sent a request may arrive, at most:
	// what an honest network and the contract's window allow.
	Arrives time.Duration
	Terms   Terms
}

// Client is the part of the configuration that is planned.
type Client struct {
	Retry       oncehttp.Retry // without BackOff
	Share       float64
	Concurrency int
	GateOff     bool
	// Jitter is the client's own, whose chance no seed decides; else the same
	// from the seed.
	Jitter      bool
	MaxResponse int64
	// Lookup: somebody is asked. LookupFails is the share of errors.
	Lookup      bool
	LookupFails float64
	Authorize   bool
	// Rotates is how often Authorize brings another token; 0: never. There are
	// two, so that the first comes back.
	Rotates time.Duration
	// MaxUnresolved as in the configuration.
	MaxUnresolved int
	// Sealed: bodies are encrypted in the journal.
	Sealed bool
}

// An Action is one logical operation, and what the server does about it.
type Action struct {
	Name       string
	Protection judge.Protection
	Method     string
	Body       string
	// Adopted is the key that the caller sets; empty: none.
	Adopted string
	// Anonymous: it has no name, and is sent through RoundTrip.
	Anonymous bool
	// Credentials: its callers bring them along; Userinfo: in the URL.
	Credentials, Userinfo bool
	// Long: its answer is longer than the client keeps.
	Long bool
	// First are the answers of the first executions, without effect; then Status.
	First  []int
	Status int
	// Hints go with First.
	Hints []Hint
	// Keyless: a contract without a key speaks of it, which has the lookups.
	Keyless bool
	// Ref: its callers have written something where an id would be planted.
	Ref bool
	// Elsewhere: at the API's other host. Twin is another action with the same
	// Adopted, which is not the same key to the API.
	Elsewhere bool
	Twin      string
	// Faults of its requests, in the order in which they are received.
	// Kinds says what kind of mishap each is.
	Faults []mockserver.Fault
	Kinds  []fault
}

// Nobody is ever told these.
const (
	secretToken = "s3cr3t-t0k3n"
	secretMark  = "m4rk-in-b0dy"
)

func payload(what string) string { return `{"pay":"` + what + `","card":"` + secretMark + `"}` }

// respell writes the same payload in another way, and as long.
func respell(what string) string { return `{"card":"` + secretMark + `","pay":"` + what + `"}` }

// Effective says that an execution makes an effect in the end.
func (a Action) Effective() bool { return a.Status < 400 }

// A Life is one process of the client.
type Life struct {
	// Asleep is the time before it.
	Asleep  time.Duration
	Callers [][]Step
	// Passes of Resume, and the pauses before them; Run: one Run instead.
	Passes []time.Duration
	Run    bool
	// Break ends each pass after its first outcome.
	Break bool
	// Outages of the server.
	Outages []Outage
	// Journal says what becomes of the n-th write.
	Journal map[int]JournalFault
	// Saves and Dials say how long the n-th write or connection takes.
	Saves, Dials map[int]time.Duration
	// Copied: its journal is a copy of the last one's.
	Copied bool
	// NoContract: it has none, and begins nothing.
	NoContract bool
	// Longer: its contract promises ten times the window.
	Longer bool
	// Ahead is how much later than now the journal was last written, as it says.
	Ahead time.Duration
	End   End
	// At is when it ends, for EndCrash and EndClose.
	At time.Duration
}

// End is how a life ends.
type End string

const (
	EndShutdown End = "shutdown" // when all callers are done
	EndQuiet    End = "quiet"    // Close when all callers are done
	EndClose    End = "close"    // Close at a time, whatever goes on
	EndCrash    End = "crash"    // the process dies at a time, or at a write
)

// JournalFault is what becomes of a write.
type JournalFault string

const (
	JournalFull        JournalFault = "full"         // no room for this one
	JournalLost        JournalFault = "unknown lost" // fate unknown, not written
	JournalKept        JournalFault = "unknown kept" // fate unknown, written
	JournalCrashBefore JournalFault = "crash before"
	JournalCrashAfter  JournalFault = "crash after"
)

// An Outage of the server.
type Outage struct {
	After time.Duration // since the one before
	// Crash kills the server. Refuse dials, that many, or for a time.
	Crash     bool
	Refuse    int
	RefuseFor time.Duration
}

// Call is what a caller does.
type Call string

const (
	CallDo        Call = "do"
	CallBegin     Call = "begin" // and no more
	CallBeginDo   Call = "begin+do"
	CallRoundTrip Call = "round trip"
	CallClient    Call = "http.Client" // with a Timeout
	CallRead      Call = "read"
	CallPending   Call = "pending"
	CallResolve   Call = "resolve"
	CallPrune     Call = "prune" // what is older than a minute
)

// A Step of a caller.
type Step struct {
	After  time.Duration // since the one before
	Call   Call
	Action int
	// Patience ends the call's context; 0: none.
	Patience time.Duration
	// Reworded: with another payload. KeepFirst, Born: the options.
	Reworded, KeepFirst bool
	// Respelled: the same payload, written in another way.
	Respelled bool
	Born      time.Duration // ago
	Force     bool          // resolve
	// Says is what a person says, right or wrong; zero: what the books show.
	Says oncehttp.State
}

// begins is the time at the beginning of every run: that of a bubble.
var begins = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A dice throws what a plan is made of.
type dice struct{ *rand.Rand }

func (d dice) chance(p float64) bool { return d.Float64() < p }

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// upTo is a duration, small ones as likely as large ones.
func (d dice) upTo(most time.Duration) time.Duration {
	if most <= time.Millisecond {
		return most
	}
	scale := time.Duration(1) << (10 * d.IntN(4))
	return max(time.Millisecond, d.within(max(most/scale, time.Millisecond)))
}

func (d dice) within(most time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(most) + 1)).Truncate(time.Millisecond)
}

// NewPlan makes the plan of a seed, always the same.
func NewPlan(seed uint64) Plan {
	d := dice{rand.New(rand.NewPCG(seed, 0x6f6e6365))}
	more := dice{rand.New(rand.NewPCG(seed, 0x6d6f7265))}
	terms, theirs := newTerms(seed)
	kinds := newKinds(seed)
	if theirs.chance(0.1) {
		return newTermsScene(seed, d, more, theirs, kinds)
	}
	terms.vary(kinds)
	if more.chance(0.3) {
		return newScene(seed, d, more, terms.anywhere(), theirs, kinds)
	}
	p := Plan{Seed: seed, On: newFaults(d), sent: map[int]bool{}, more: more, terms: theirs, kinds: kinds}
	p.API.Terms = terms
	p.planClient(d)
	p.planAPI(d)
	if more.chance(0.05) {
		p.Client.MaxUnresolved = 1 + more.IntN(3)
	}
	n := 1 + d.IntN(pick(d, 2, 4, 12))
	for i := range n {
		p.Actions = append(p.Actions, p.newAction(d, i))
	}
	callers := 1 + d.IntN(pick(d, 2, 4, 8))
	for range 1 + d.IntN(4) {
		p.Lives = append(p.Lives, p.newLife(d, callers))
	}
	return p
}

func (p *Plan) planClient(d dice) {
	c := &p.Client
	c.Retry = oncehttp.Retry{
		MaxAttempts:    1 + d.IntN(6),
		MaxElapsed:     pick(d, time.Second, 10*time.Second, time.Minute, 10*time.Minute),
		AttemptTimeout: pick(d, 100*time.Millisecond, time.Second, 5*time.Second, 30*time.Second),
		Base:           pick(d, time.Millisecond, 200*time.Millisecond, time.Second),
		Cap:            pick(d, time.Second, 20*time.Second, 10*time.Minute),
	}
	c.Share = pick(d, 0.9, 0.9, 0.5, 1)
	c.Concurrency = pick(d, 1, 2, 8)
	c.GateOff = d.chance(0.25)
	c.Jitter = d.chance(0.1)
	c.MaxResponse = pick[int64](d, 64, 1<<14)
	c.Lookup = p.On.has(faultLookup)
	if p.On.has(faultLookupFails) {
		c.LookupFails = 0.3
	}
	c.Authorize = p.On.has(faultAuthorize) || d.chance(0.2)
	p.clientTerms()
}

func (p *Plan) planAPI(d dice) {
	a := &p.API
	a.Window = pick(d, time.Minute, time.Hour, 24*time.Hour, 0)
	a.TTL = a.Window
	if a.Window == 0 {
		a.TTL = -1
	}
	if p.On.has(faultShortMemory) {
		a.TTL = pick(d, time.Second, 30*time.Second, 10*time.Minute)
	}
	a.Origin = d.chance(0.4)
	a.NoReplay = d.chance(0.15)
	a.Quoted = d.chance(0.2) && a.Terms.inHeader()
	a.Refusals = d.chance(0.25)
	if d.chance(0.25) {
		a.Settle = pick(d, time.Minute, 10*time.Minute)
	}
	if p.On.has(faultShortMemory) || p.On.has(faultForget) {
		a.Refusals, a.Settle = false, 0 // what is forgotten settles nothing
	}
	a.Waits, a.Bare, a.Tells, a.FromCompletion = d.chance(0.15), d.chance(0.3), d.chance(0.2), d.chance(0.2)
	if a.Refusals || a.Settle > 0 {
		a.Tells = false // cut off, it would be a refusal like any other
	} else if a.Terms.Refuses {
		a.Tells = true
	}
	if a.Window > 0 && a.Window < a.trusted() {
		a.Window, a.TTL = time.Hour, max(a.TTL, time.Hour)
	}
	a.FromCompletion = a.FromCompletion && !a.Terms.Stamped
	timeout := p.Client.Retry.AttemptTimeout
	if d.chance(0.5) {
		a.Work = d.upTo(pick(d, timeout/2, timeout+timeout/2, 40*time.Second))
	}
	// What is still on its way when nobody sends any more must arrive before the
	// key is forgotten, and must have shown its effect after the settle time.
	a.Arrives = 3 * time.Hour
	if window := a.trusted(); window > 0 {
		a.Arrives = min(a.Arrives, time.Duration((1-p.Client.Share)*float64(window))+min(timeout, window/2))
	}
	if asked := p.Client.Lookup || a.Terms.Find != findNone; asked || a.Settle > 0 {
		settle := time.Hour
		if a.Settle > 0 {
			settle = a.Settle
		}
		if asked && (p.Client.Lookup || a.Terms.Settle == 0) {
			settle = min(settle, time.Minute) // where a contract says nothing, and where there is none
		}
		if a.Terms.Settle > 0 {
			settle = min(settle, a.Terms.Settle)
		}
		a.Work = min(a.Work, settle/2)
		a.Arrives = min(a.Arrives, settle-a.Work)
		a.Lag = d.upTo(settle)
	}
	a.Arrives -= min(a.Arrives, time.Second)
}

var statuses = []int{200, 201, 202, 204}

func (p *Plan) newAction(d dice, i int) Action {
	a := Action{Name: "a" + string(rune('a'+i)), Status: pick(d, statuses...)}
	a.Protection = pick(d, judge.Keyed, judge.Keyed, judge.Keyed, judge.Idempotent, judge.Unprotected)
	switch a.Protection {
	case judge.Idempotent:
		a.Method = pick(d, http.MethodPut, http.MethodDelete)
	case judge.Unprotected:
		a.Method = pick(d, http.MethodPost, http.MethodPatch)
	default:
		a.Method = pick(d, http.MethodPost, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete)
	}
	if a.Method != http.MethodDelete || d.chance(0.5) {
		a.Body = payload(a.Name)
	}
	a.Long = d.chance(0.1)
	a.Credentials = p.more.chance(0.1)
	a.Userinfo = a.Credentials && p.more.chance(0.5)
	if p.On.has(faultRefused) && d.chance(0.4) {
		a.Status = pick(d, 400, 402, 404, 409, 422)
	}
	if p.On.has(faultAtFirst) {
		for range d.IntN(3) {
			a.First = append(a.First, pick(d, 401, 403, 408, 409, 423, 425, 429, 500, 502, 503, 504))
		}
	}
	switch {
	case a.Protection != judge.Idempotent && d.chance(0.1):
		a.Anonymous = true
		if a.Protection == judge.Keyed && d.chance(0.5) {
			a.Adopted = "chosen-" + a.Name
		}
	case a.Protection == judge.Keyed && d.chance(0.1):
		a.Adopted = "chosen-" + a.Name
	}
	for range d.IntN(5) {
		n := len(a.Faults)
		if f, kind, ok := p.newFault(d, a, n); ok {
			a.Faults = append(a.Faults, f)
			a.Kinds = append(a.Kinds, kind)
		}
	}
	p.addTerms(&a)
	return a
}

// Honest says that the server keeps its contract for an action.
func (p Plan) Honest(a Action) bool {
	if a.Protection != judge.Keyed {
		return true
	}
	for _, f := range a.Faults {
		if f.Forget {
			return false
		}
	}
	return !p.On.has(faultShortMemory)
}
