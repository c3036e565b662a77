package oncehttp

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func seatIDs(seats []seat) []int {
	ids := []int{}
	for _, s := range seats {
		ids = append(ids, s.id)
	}
	return ids
}

func TestTheFirstWhoAsksDrivesAndTheOthersShare(t *testing.T) {
	t.Parallel()
	var o owners
	o, g, told := o.step(ownerEvent{kind: ownBegin, seat: seat{id: 0}})
	require.Equal(t, grantDrive, g)
	require.Empty(t, told)
	for id := 1; id < 50; id++ {
		o, g, told = o.step(ownerEvent{kind: ownBegin, seat: seat{id: id}})
		require.Equal(t, grantSeat, g)
		require.Empty(t, told)
	}
	o, g, _ = o.step(ownerEvent{kind: ownResume, seat: seat{id: 50}})
	require.Equal(t, grantNothing, g, "a pass leaves what is driven to its driver")
	o, g, told = o.step(ownerEvent{kind: ownDone})
	require.Equal(t, grantNothing, g)
	require.Len(t, told, 50)
	_, g, told = o.step(ownerEvent{kind: ownBegin, seat: seat{id: 51}})
	require.Equal(t, grantTooLate, g)
	require.Empty(t, told)
}

func TestOnlyTheLastLeaveStopsTheDriver(t *testing.T) {
	t.Parallel()
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		var o owners
		for id := range 3 {
			o, _, _ = o.step(ownerEvent{kind: ownBegin, seat: seat{id: id}})
		}
		for i, id := range order {
			var g grant
			var told []seat
			o, g, told = o.step(ownerEvent{kind: ownLeave, seat: seat{id: id}})
			assert.Equal(t, []int{id}, seatIDs(told))
			want := grantNothing
			if i == 2 {
				want = grantStop
			}
			assert.Equal(t, want, g, "leave %d of %v", i, order)
			_, g, told = o.step(ownerEvent{kind: ownLeave, seat: seat{id: id}})
			assert.Equal(t, grantNothing, g, "leaving twice")
			assert.Empty(t, told)
		}
		assert.True(t, o.driving, "the attempt under way is still the client's")
	}
}

func TestAWaitSendsAwayWhoseTimeEndsBeforeIt(t *testing.T) {
	t.Parallel()
	var o owners
	for id, until := range []time.Time{{}, stepStart.Add(time.Second), stepStart.Add(2 * time.Second)} {
		o, _, _ = o.step(ownerEvent{kind: ownBegin, seat: seat{id: id, until: until}})
	}
	o, g, told := o.step(ownerEvent{kind: ownWaiting, until: stepStart.Add(2 * time.Second)})
	assert.Equal(t, grantNothing, g)
	assert.Equal(t, []int{1}, seatIDs(told))
	o, _, told = o.step(ownerEvent{kind: ownWaiting, until: stepStart.Add(time.Hour)})
	assert.Equal(t, []int{2}, seatIDs(told))
	assert.Equal(t, []int{0}, seatIDs(o.seats), "who has no deadline waits")
}

func TestAClosedClientTellsEverybodyAndSeatsNobody(t *testing.T) {
	t.Parallel()
	var o owners
	for id := range 2 {
		o, _, _ = o.step(ownerEvent{kind: ownBegin, seat: seat{id: id}})
	}
	o, g, told := o.step(ownerEvent{kind: ownClose})
	assert.Equal(t, grantStop, g)
	assert.Equal(t, []int{0, 1}, seatIDs(told))
	for _, kind := range []ownerEventKind{ownBegin, ownResume} {
		_, g, _ = o.step(ownerEvent{kind: kind, seat: seat{id: 2}})
		assert.Equal(t, grantClosed, g)
	}
	_, g, _ = owners{}.step(ownerEvent{kind: ownClose})
	assert.Equal(t, grantNothing, g, "nobody drives, nobody is stopped")
}

func TestAWordIsLookedAtByTheDriverIfThereIsOne(t *testing.T) {
	t.Parallel()
	_, g, _ := owners{}.step(ownerEvent{kind: ownResolve})
	assert.Equal(t, grantNothing, g)
	_, g, _ = owners{driving: true}.step(ownerEvent{kind: ownResolve})
	assert.Equal(t, grantLook, g)
}

// TestEverySeatIsToldOnce visits all that three seats, a pass and a close can
// do, in every order.
func TestEverySeatIsToldOnce(t *testing.T) {
	t.Parallel()
	type state struct {
		o       owners
		sitting [4]bool
		drivers int
	}
	key := func(s state) string { return fmt.Sprint(s) }
	seen := map[string]bool{}
	queue := []state{{}}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if seen[key(s)] {
			continue
		}
		seen[key(s)] = true
		require.LessOrEqual(t, s.drivers, 1)
		require.Equal(t, s.drivers == 1, s.o.driving)
		var events []ownerEvent
		for id := range 4 {
			until := stepStart.Add(time.Duration(id) * time.Second)
			kind := ownBegin
			if id == 3 {
				kind = ownResume
			}
			if !s.sitting[id] {
				events = append(events, ownerEvent{kind: kind, seat: seat{id: id, until: until}})
			}
			events = append(events, ownerEvent{kind: ownLeave, seat: seat{id: id}})
		}
		events = append(events, ownerEvent{kind: ownWaiting, until: stepStart.Add(2 * time.Second)}, ownerEvent{kind: ownResolve}, ownerEvent{kind: ownClose})
		if s.o.driving {
			events = append(events, ownerEvent{kind: ownDone})
		}
		before := seatIDs(s.o.seats)
		for _, e := range events {
			next := s
			var g grant
			var told []seat
			next.o, g, told = s.o.step(e)
			require.Equal(t, before, seatIDs(s.o.seats), "a step changed the owners that it came from")
			for _, one := range told {
				require.True(t, next.sitting[one.id], "told without a seat, or twice")
				next.sitting[one.id] = false
			}
			switch g {
			case grantDrive:
				next.drivers++
				next.sitting[e.seat.id] = true
			case grantSeat:
				next.sitting[e.seat.id] = true
			case grantStop:
				require.Empty(t, next.o.seats)
			}
			if e.kind == ownDone {
				next.drivers--
				require.Equal(t, [4]bool{}, next.sitting, "the end leaves nobody waiting")
			}
			queue = append(queue, next)
		}
	}
	require.Greater(t, len(seen), 30)
}
