package oncehttp

import "time"

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
	case share < 1:
		length = min(length, time.Duration(share*float64(length)))
	}
	return max(0, length-max(0, attempt)), false
}
