package oncehttp

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An outage in virtual time: clients send requests as Poisson processes. The
// server serves 1,000 calls a second from a queue of at most one second,
// answers 503 beyond that, at a tenth of the cost, and 503 to everything while
// it is down. Every client has one gate, and its requests wait for ever.
const (
	outageCapacity = 1000.0 // calls per second: twice what is offered
	outageRTT      = 10 * time.Millisecond
	outageStart    = 10 * time.Second
	outageEnd      = 70 * time.Second
	arrivalsEnd    = 370 * time.Second
	outageStop     = 670 * time.Second
)

type outage struct {
	clients     int
	rate        float64 // requests per client and second
	base, limit time.Duration
	// dated: while it is down the server answers with the date of its return.
	dated bool

	random *rand.Rand
	agenda agenda
	seq    int
	now    time.Duration
	free   time.Duration // when the server's queue is empty

	calls         []int // by second
	during        int   // calls while down
	refusedAfter  int
	early, solved int // requests that arrived while down, and those served
	all, served   int
	drained       time.Duration // when the last of the early ones was served
}

type agendaItem struct {
	at  time.Duration
	seq int
	do  func()
}

type agenda []agendaItem

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(agendaItem)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (o *outage) at(t time.Duration, do func()) {
	o.seq++
	heap.Push(&o.agenda, agendaItem{t, o.seq, do})
}

func (o *outage) down() bool { return o.now >= outageStart && o.now < outageEnd }

// call is one attempt; answered is called after the round trip.
func (o *outage) call(answered func(ok bool, wish time.Duration)) {
	o.calls[int(o.now/time.Second)]++
	if o.down() {
		o.during++
		wish := time.Duration(0)
		if o.dated {
			wish = outageEnd
		}
		o.at(o.now+outageRTT, func() { answered(false, wish) })
		return
	}
	o.free = max(o.free, o.now)
	cost := time.Duration(float64(time.Second) / outageCapacity)
	if o.free-o.now > time.Second {
		o.free += cost / 10
		if o.now >= outageEnd {
			o.refusedAfter++
		}
		o.at(o.now+outageRTT, func() { answered(false, 0) })
		return
	}
	o.free += cost
	o.at(o.free+outageRTT, func() { answered(true, 0) })
}

func (o *outage) run() {
	o.calls = make([]int, outageStop/time.Second+1)
	for range o.clients {
		c := &outageClient{o: o, waiting: map[uint64]*outageRequest{}, policy: gatePolicy{after: 3, base: o.base, limit: o.limit, patience: 30 * time.Second, parked: 1 << 20}}
		o.arrive(c)
	}
	for len(o.agenda) > 0 && o.agenda[0].at <= outageStop {
		next := heap.Pop(&o.agenda).(agendaItem)
		o.now = next.at
		next.do()
	}
}

func (o *outage) arrive(c *outageClient) {
	next := o.now + time.Duration(o.random.ExpFloat64()/o.rate*float64(time.Second))
	if next >= arrivalsEnd {
		return
	}
	o.at(next, func() {
		o.all++
		if o.down() {
			o.early++
		}
		c.ask(&outageRequest{arrived: o.now, parked: o.all%2 == 0})
		o.arrive(c)
	})
}

type outageRequest struct {
	arrived time.Duration
	fails   int
	parked  bool
}

// outageClient is the shell of a gate, in virtual time.
type outageClient struct {
	o       *outage
	gate    gate
	policy  gatePolicy
	lastID  uint64
	waiting map[uint64]*outageRequest
	woken   time.Time
}

var outageEpoch = time.Unix(1_700_000_000, 0)

func (c *outageClient) ask(r *outageRequest) {
	c.lastID++
	c.waiting[c.lastID] = r
	e := gateEvent{kind: gateAsk, id: c.lastID, parked: r.parked}
	if r.fails > 0 {
		e.waited = outageEpoch.Add(c.o.now)
	}
	c.step(e)
}

func (c *outageClient) step(e gateEvent) {
	o := c.o
	d := c.gate.step(e, c.policy, outageEpoch.Add(o.now), o.random.Float64())
	for _, id := range d.pass {
		r := c.waiting[id]
		delete(c.waiting, id)
		c.send(r, d.round)
	}
	if !d.wake.IsZero() && !d.wake.Equal(c.woken) {
		c.woken = d.wake
		o.at(d.wake.Sub(outageEpoch), func() { c.step(gateEvent{kind: gateWoke}) })
	}
}

func (c *outageClient) send(r *outageRequest, round uint64) {
	o := c.o
	o.call(func(ok bool, wish time.Duration) {
		if ok {
			o.served++
			if r.arrived >= outageStart && r.arrived < outageEnd {
				o.solved++
				o.drained = o.now
			}
			c.step(gateEvent{kind: gateUp, round: round})
			return
		}
		e := gateEvent{kind: gateDown, round: round}
		if wish > 0 {
			e.wish = outageEpoch.Add(wish)
		}
		c.step(e)
		wait := max(0, wish-o.now) + fullJitter(o.random.Float64(), r.fails, o.base, o.limit)
		r.fails++
		o.at(o.now+wait, func() { c.ask(r) })
	})
}

func TestAGateCarriesAFleetThroughAnOutage(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, c := range []struct {
		o          outage
		perRequest float64
		peak       float64
	}{
		{outage{clients: 1000, rate: 0.5, base: 500 * time.Millisecond, limit: 30 * time.Second}, 0.5, 2.5},
		{outage{clients: 1000, rate: 0.5, base: usualBase, limit: usualCap}, 0.5, 2.5},
		{outage{clients: 10, rate: 50, base: 500 * time.Millisecond, limit: 30 * time.Second}, 0.02, 2.5},
		{outage{clients: 10, rate: 50, base: usualBase, limit: usualCap}, 0.02, 2.5},
		{outage{clients: 1000, rate: 0.5, base: 500 * time.Millisecond, limit: 30 * time.Second, dated: true}, 0.5, 3},
		{outage{clients: 1000, rate: 0.5, base: usualBase, limit: usualCap, dated: true}, 0.5, 3},
		{outage{clients: 10, rate: 50, base: usualBase, limit: usualCap, dated: true}, 0.02, 3},
	} {
		o := c.o
		o.random = rand.New(rand.NewPCG(seed, 1))
		o.run()
		name := fmt.Sprintf("%4d clients x %4.1f/s, base %v, cap %v, dated %t", o.clients, o.rate, o.base, o.limit, o.dated)
		offered := float64(o.clients) * o.rate
		ideal := offered * (outageEnd - outageStart).Seconds() / (outageCapacity - offered)
		perRequest := float64(o.during) / float64(o.early)
		drain := (o.drained - outageEnd).Seconds() / ideal
		peak := float64(slices.Max(o.calls[outageEnd/time.Second:])) / outageCapacity
		t.Logf("%s: %.4f calls per request in the outage, peak in it %d/s, after it %.2f x capacity, %d refused after it, drained in %.2f x ideal",
			name, perRequest, slices.Max(o.calls[outageStart/time.Second:outageEnd/time.Second]), peak, o.refusedAfter, drain)
		require.Equal(t, o.all, o.served, name)
		require.Equal(t, o.early, o.solved, name)
		assert.LessOrEqual(t, perRequest, c.perRequest, name)
		assert.LessOrEqual(t, drain, 1.5, name)
		assert.LessOrEqual(t, peak, c.peak, name)
	}
}
