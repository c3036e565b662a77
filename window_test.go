package oncehttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAWindowOfEveryKindHasItsUsablePart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		window  Window
		want    time.Duration
		forever bool
	}{
		{Window{Length: time.Hour}, 53 * time.Minute, false},
		{Window{Length: time.Hour, Kind: WindowExact}, 53 * time.Minute, false},
		{Window{Length: time.Hour, Kind: WindowAccount}, 53 * time.Minute, false},
		{Window{Length: time.Hour, Anchor: AnchorDone}, 53 * time.Minute, false},
		{Window{Length: time.Hour, After: ExpiryExecutes}, 53 * time.Minute, false},
		{Window{Length: time.Hour, After: ExpiryRefuses}, 59 * time.Minute, false},
		{Window{Kind: WindowUnknown}, 3*time.Minute + 30*time.Second, false},
		{Window{Kind: WindowForever}, 0, true},
	} {
		usable, forever := c.window.usable(0.9, time.Minute)
		assert.Equal(t, c.want, usable, c.window)
		assert.Equal(t, c.forever, forever, c.window)
	}
}

func TestAWindowCountsFromTheTimeThatACompanionTold(t *testing.T) {
	t.Parallel()
	stamped := Window{Length: time.Hour, Anchor: AnchorStamp}
	first := stepStart.Add(10 * time.Minute)
	until := func(w Window, r record) time.Time {
		r.Begun.Wire = "k"
		at, bounded := r.safeUntil(w, 1, 0)
		assert.Equal(t, !at.IsZero(), bounded)
		return at
	}
	told := begun{Stamped: stepStart.Add(999 * time.Millisecond)}
	assert.Equal(t, stepStart.Add(time.Hour), until(stamped, record{First: first, Begun: told}), "an HTTP date is whole seconds")
	assert.Equal(t, first.Add(time.Hour), until(Window{Length: time.Hour}, record{First: first, Begun: told}))
	assert.Equal(t, first.Add(time.Hour), until(stamped, record{First: first}), "it told none")
	expiring := told
	expiring.Companions = []Companion{{Kind: CarrierHeader, Name: "Until", Value: CompanionUntil}}
	assert.Equal(t, stepStart.Add(time.Hour), until(Window{Length: time.Hour}, record{First: first, Begun: expiring}), "the API was told the end")
	told.Born = stepStart.Add(-time.Minute)
	assert.Equal(t, told.Born.Add(time.Hour), until(stamped, record{First: first, Begun: told}), "what was begun elsewhere was told there")
	assert.Zero(t, until(stamped, record{Begun: begun{Stamped: stepStart}}), "it has not begun")
}

func TestAWindowEndsWhenACompanionToldThatItDoes(t *testing.T) {
	t.Parallel()
	first := stepStart.Add(10 * time.Minute)
	for _, c := range []struct {
		stamped    time.Time
		told, w    Window
		until, why string
	}{
		{stepStart, Window{Length: time.Hour}, Window{Length: time.Hour}, "1h0m0s", "as it was told at an attempt before"},
		{stepStart.Add(900 * time.Millisecond), Window{Length: time.Hour}, Window{Length: time.Hour}, "1h0m0s", "RFC 3339 is written in whole seconds"},
		{stepStart.Add(400 * time.Millisecond), Window{Length: 1500 * time.Millisecond}, Window{Length: 1500 * time.Millisecond}, "1s", "so is the end, not the beginning"},
		{stepStart, Window{Length: time.Hour}, Window{Length: 20 * time.Minute}, "20m0s", "today's window is smaller"},
		{time.Time{}, Window{Length: time.Hour}, Window{Length: time.Hour}, "1h10m0s", "it told none"},
	} {
		r := record{First: first, Begun: begun{Wire: "k", Stamped: c.stamped, Window: c.told, Companions: []Companion{{Value: CompanionText}, {Value: CompanionUntil}}}}
		at, bounded := r.safeUntil(c.w, 1, 0)
		assert.True(t, bounded)
		assert.Equal(t, c.until, at.Sub(stepStart).String(), c.why)
	}
}

func TestOfTwoWindowsTheSmallerCountsAndWhatBothAllow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ then, now, want Window }{
		{Window{Length: time.Hour}, Window{Length: 2 * time.Hour}, Window{Length: time.Hour}},
		{Window{Length: 2 * time.Hour, Kind: WindowAccount}, Window{Length: time.Hour, Kind: WindowExact}, Window{Length: time.Hour, Kind: WindowExact}},
		{Window{Length: time.Hour}, Window{Kind: WindowForever}, Window{Length: time.Hour}},
		{Window{Kind: WindowForever}, Window{Kind: WindowUnknown}, Window{Kind: WindowUnknown}},
		{Window{Length: time.Hour, After: ExpiryRefuses}, Window{Length: 2 * time.Hour}, Window{Length: time.Hour}},
		{Window{Length: 2 * time.Hour}, Window{Length: time.Hour, After: ExpiryRefuses}, Window{Length: time.Hour}},
		{Window{Length: time.Hour, After: ExpiryRefuses}, Window{Length: 2 * time.Hour, After: ExpiryRefuses}, Window{Length: time.Hour, After: ExpiryRefuses}},
		{Window{Length: time.Hour}, Window{Length: 2 * time.Hour, Anchor: AnchorStamp}, Window{Length: time.Hour, Anchor: AnchorStamp}},
	} {
		r := record{Begun: begun{Window: c.then}}
		assert.Equal(t, c.want, r.window(&Contract{Window: c.now}), "%+v, %+v", c.then, c.now)
		assert.Equal(t, c.then, r.window(nil))
	}
}
