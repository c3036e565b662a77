package oncehttp

import "time"

// A Window is how long a key is remembered, counted from before the first byte
// of the first attempt that may have had an effect.
type Window struct {
	// Length of the window. It is zero with WindowUnknown or WindowForever, and
	// where there is no key; else it must be set.
	Length time.Duration
	// Kind says what Length is. Default WindowFloor.
	Kind WindowKind
	// Anchor is where the API itself begins to count. Where the client begins is
	// changed only by AnchorStamp, and, whatever the anchor, by CompanionUntil.
	Anchor Anchor
	// After is what the API does with a key that it has forgotten.
	After Expiry
}

// WindowKind says what the length of a [Window] is. The client uses a length in
// the same way whether it is the least, the exact or an account's.
type WindowKind uint8

const (
	// WindowFloor: at least this long.
	WindowFloor WindowKind = iota
	// WindowUnknown: the API does not say. Keys are trusted for five minutes.
	WindowUnknown
	// WindowForever: keys are never forgotten.
	WindowForever
	// WindowExact: exactly this long.
	WindowExact
	// WindowAccount: set for each account. Length is the shortest that may be set;
	// a copy of the contract with your account's own is better.
	WindowAccount
)

// Anchor is where an API begins to count a window.
type Anchor uint8

const (
	// AnchorFirst: at the first request.
	AnchorFirst Anchor = iota
	// AnchorDone: when the first request is done.
	AnchorDone
	// AnchorStamp: at the time that a companion gave it.
	AnchorStamp
)

// Expiry is what an API does with a forgotten key.
type Expiry uint8

const (
	// ExpiryUnknown: it is not known; this counts as ExpiryExecutes.
	ExpiryUnknown Expiry = iota
	// ExpiryExecutes: it takes the request for a new one.
	ExpiryExecutes
	// ExpiryRefuses: it refuses the request, so that the window can be used to its
	// end.
	ExpiryRefuses
)

// unknownWindow is how long keys are trusted where the API does not say.
const unknownWindow = 5 * time.Minute

// usable is the part of the window in which an exposed intent may be sent
// again: share (0 to 1) of its length, less the time one attempt may take. It
// is never negative; forever means that it does not end.
func (w Window) usable(share float64, attempt time.Duration) (d time.Duration, forever bool) {
	length := w.Length
	switch w.Kind {
	case WindowForever:
		return 0, true
	case WindowUnknown:
		length = unknownWindow
	}
	switch {
	case length <= 0 || !(share > 0): // NaN too
		return 0, false
	case share < 1 && w.After != ExpiryRefuses:
		length = min(length, time.Duration(share*float64(length)))
	}
	return max(0, length-max(0, attempt)), false
}
