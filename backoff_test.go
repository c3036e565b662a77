package oncehttp

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seededChance returns a source of chance that a failed test can be run with again.
func seededChance(t testing.TB) *rand.Rand {
	const seed = 20261129
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

func TestEveryWaitIsBetweenZeroAndItsBound(t *testing.T) {
	t.Parallel()
	indexes := []int{math.MinInt, -1}
	for n := range 10_001 {
		indexes = append(indexes, n)
	}
	indexes = append(indexes, math.MaxInt)
	for _, base := range []time.Duration{math.MinInt64, -1, 0, 1, 100 * time.Millisecond, time.Hour, math.MaxInt64} {
		for _, limit := range []time.Duration{math.MinInt64, 0, 1, 2 * time.Second, math.MaxInt64} {
			before := time.Duration(0)
			for _, n := range indexes {
				longest := longestWait(n, base, limit)
				if longest < before {
					require.Fail(t, "the bound shrank", "n=%d base=%v cap=%v", n, base, limit)
				}
				before = longest
				for _, u := range []float64{0, 0.5, math.Nextafter(1, 0), 1, -1, 2, math.NaN(), math.Inf(1)} {
					d := fullJitter(u, n, base, limit)
					if d < 0 || d > longest || d > max(0, limit) {
						require.Fail(t, "out of bounds", "u=%v n=%d base=%v cap=%v: %v", u, n, base, limit, d)
					}
				}
			}
		}
	}
}

func TestTheBoundDoublesUpToTheCap(t *testing.T) {
	t.Parallel()
	for n, want := range []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond,
		3200 * time.Millisecond, 6400 * time.Millisecond, 12800 * time.Millisecond, 20 * time.Second, 20 * time.Second} {
		assert.Equal(t, want, fullJitter(1, n, 200*time.Millisecond, 20*time.Second), "n=%d", n)
		assert.Equal(t, want/2, fullJitter(0.5, n, 200*time.Millisecond, 20*time.Second), "n=%d", n)
	}
	assert.Equal(t, time.Duration(1<<62), longestWait(62, 1, math.MaxInt64))
	assert.Equal(t, time.Duration(math.MaxInt64), longestWait(63, 1, math.MaxInt64))
}

func TestWaitsAreUniformAtTheCapToo(t *testing.T) {
	t.Parallel()
	chance := seededChance(t)
	const limit, samples, buckets = 8 * time.Second, 100_000, 20
	for _, n := range []int{3, 10, 10_000} { // 1 s doubled three times is the cap
		var sum time.Duration
		distinct := map[time.Duration]bool{}
		var histogram [buckets]int
		for range samples {
			d := fullJitter(chance.Float64(), n, time.Second, limit)
			sum += d
			distinct[d] = true
			histogram[min(buckets-1, int(d*buckets/limit))]++
		}
		assert.InEpsilon(t, limit/2, sum/samples, 0.02, "mean at n=%d", n)
		assert.Greater(t, len(distinct), samples*9/10, "distinct at n=%d", n)
		for i, count := range histogram {
			assert.InEpsilon(t, samples/buckets, count, 0.08, "bucket %d at n=%d", i, n)
		}
	}
}

func TestFullJitterGoesOnWhereItWasTold(t *testing.T) {
	t.Parallel()
	b := NewFullJitter(100*time.Millisecond, time.Second)
	b.random = func() float64 { return math.Nextafter(1, 0) }
	rounded := func() time.Duration { return b.NextBackOff().Round(time.Millisecond) }
	assert.Equal(t, 100*time.Millisecond, rounded())
	assert.Equal(t, 200*time.Millisecond, rounded())
	b.at(3)
	assert.Equal(t, 800*time.Millisecond, rounded())
	assert.Equal(t, time.Second, rounded())
	b.Reset()
	assert.Equal(t, 100*time.Millisecond, rounded())
	b.at(-7)
	assert.Equal(t, 100*time.Millisecond, rounded())
	b.at(math.MaxInt)
	for range 3 {
		assert.Equal(t, time.Second, rounded(), "the index does not wrap")
	}
}

func TestNewFullJitterNeverRunsHot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ base, limit, wantBase, wantCap time.Duration }{
		{0, 0, 200 * time.Millisecond, 20 * time.Second},
		{-1, -1, 200 * time.Millisecond, 20 * time.Second},
		{time.Second, time.Millisecond, time.Second, time.Second},
		{time.Minute, 0, time.Minute, time.Minute},
		{time.Second, time.Hour, time.Second, time.Hour},
	} {
		b := NewFullJitter(tt.base, tt.limit)
		assert.Equal(t, tt.wantBase, b.base)
		assert.Equal(t, tt.wantCap, b.limit)
		d := b.NextBackOff()
		assert.True(t, d >= 0 && d <= b.base)
	}
}

func TestTwoFullJittersDoNotWalkInStep(t *testing.T) {
	t.Parallel()
	a, b := NewFullJitter(time.Hour, time.Hour), NewFullJitter(time.Hour, time.Hour)
	same := 0
	for range 100 {
		if a.NextBackOff() == b.NextBackOff() {
			same++
		}
	}
	assert.Less(t, same, 5)
}

// A rowUpdate is something that a client of the contention simulation does at a
// moment, in milliseconds.
type rowUpdate struct {
	at  float64
	seq int
	do  func()
}

type rowUpdates []rowUpdate

func (u rowUpdates) Len() int { return len(u) }
func (u rowUpdates) Less(i, j int) bool {
	return u[i].at < u[j].at || u[i].at == u[j].at && u[i].seq < u[j].seq
}
func (u rowUpdates) Swap(i, j int) { u[i], u[j] = u[j], u[i] }
func (u *rowUpdates) Push(x any)   { *u = append(*u, x.(rowUpdate)) }
func (u *rowUpdates) Pop() any {
	last := (*u)[len(*u)-1]
	*u = (*u)[:len(*u)-1]
	return last
}

// contend has clients that each update one row once, under optimistic locking:
// read its version, write if it has not changed, else back off and read again.
// It returns the writes made. The model is that of the AWS Architecture Blog's
// "Exponential Backoff And Jitter": a network delay of 10±2 ms, a base of 5 ms,
// a cap of 2 s, and waits that start with the second bound, 10 ms.
func contend(chance *rand.Rand, clients int) (writes int) {
	var queue rowUpdates
	now, seq, version := 0.0, 0, 0
	after := func(ms float64, do func()) {
		seq++
		heap.Push(&queue, rowUpdate{now + ms, seq, do})
	}
	network := func() float64 { return math.Abs(10 + 2*chance.NormFloat64()) }
	for range clients {
		failures := 0
		var read func()
		read = func() {
			seen := version
			after(network()+network(), func() { // the version comes back, the write arrives
				writes++
				if version == seen {
					version++
					return
				}
				failures++
				wait := fullJitter(chance.Float64(), failures, 5*time.Millisecond, 2*time.Second)
				after(network()+wait.Seconds()*1000+network(), read)
			})
		}
		after(network(), read)
	}
	for len(queue) > 0 {
		next := heap.Pop(&queue).(rowUpdate)
		now = next.at
		next.do()
	}
	return writes
}

func TestFullJitterContendsAsWellAsTheModel(t *testing.T) {
	t.Parallel()
	chance := seededChance(t)
	const runs = 100
	for _, tt := range []struct {
		clients int
		want    float64
	}{{50, 332}, {100, 795}, {190, 1771}} {
		writes := 0
		for range runs {
			writes += contend(chance, tt.clients)
		}
		mean := float64(writes) / runs
		t.Logf("%d clients: %.0f writes", tt.clients, mean)
		assert.InEpsilon(t, tt.want, mean, 0.05, "%d clients", tt.clients)
	}
}
