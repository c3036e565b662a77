package sim

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// window is what the contract says of it.
func (a API) window() oncehttp.Window {
	w := oncehttp.Window{Length: a.Window, Kind: a.Terms.Window}
	switch {
	case w.Kind == oncehttp.WindowUnknown:
		w.Length = 0
	case a.Window == 0:
		w.Kind = oncehttp.WindowForever
	}
	switch {
	case a.Terms.Stamped:
		w.Anchor = oncehttp.AnchorStamp
	case a.FromCompletion:
		w.Anchor = oncehttp.AnchorDone
	}
	if a.refuses() {
		w.After = oncehttp.ExpiryRefuses
	}
	return w
}

// origin is the mark of the API's own answers, as the client and the server are
// told.
func (a API) origin() (oncehttp.Marker, mockserver.Mark) {
	switch {
	case !a.Origin:
		return oncehttp.Marker{}, mockserver.Mark{}
	case a.Terms.Own == ownPointer:
		return oncehttp.Marker{At: []string{"/" + markField}, Values: []string{"1"}}, mockserver.Mark{Pointer: "/" + markField, Value: "1"}
	case a.Terms.Own == ownEcho:
		return oncehttp.Marker{Headers: []string{echoHeader}, Echo: true}, mockserver.Mark{Header: echoHeader, Says: mockserver.MarkKey}
	}
	return oncehttp.Marker{Headers: []string{marker}}, mockserver.Mark{Header: marker, Value: "1"}
}

// untilWhere is the place of the window's end, likewise.
func (t Terms) untilWhere() (oncehttp.CarrierKind, mockserver.CarrierKind, string) {
	switch {
	case t.Until == oncehttp.CarrierQuery:
		return oncehttp.CarrierQuery, mockserver.CarrierQuery, untilField
	case t.Until == oncehttp.CarrierJSON && t.Carrier == oncehttp.CarrierJSON:
		return oncehttp.CarrierJSON, mockserver.CarrierJSON, "/" + untilField
	case t.Until == oncehttp.CarrierJSON && t.Carrier == oncehttp.CarrierForm:
		return oncehttp.CarrierForm, mockserver.CarrierForm, untilField
	}
	return oncehttp.CarrierHeader, mockserver.CarrierHeader, untilHeader
}

// scope is what the server knows a key together with.
func (t Terms) scope() (s []mockserver.Scope) {
	for pin, scope := range map[oncehttp.Pin]mockserver.Scope{
		oncehttp.PinHost: mockserver.ScopeHost, oncehttp.PinMethod: mockserver.ScopeMethod, oncehttp.PinPath: mockserver.ScopePath,
	} {
		if t.Pins&pin != 0 {
			s = append(s, scope)
		}
	}
	slices.Sort(s)
	return s
}

// waits is how hints tell a pause.
func (t Terms) waits() oncehttp.HintKind {
	if t.Wait == oncehttp.HintAgain {
		return oncehttp.HintMillis
	}
	return t.Wait
}

// pauseText is a pause as a hint tells it, or a time since the run began.
func pauseText(kind oncehttp.HintKind, d time.Duration) string {
	switch at := begins.Add(d); kind {
	case oncehttp.HintSeconds:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	case oncehttp.HintDuration:
		return d.String()
	case oncehttp.HintDate:
		return at.Format(http.TimeFormat)
	case oncehttp.HintUnix:
		return strconv.FormatInt(at.Unix(), 10)
	case oncehttp.HintRFC3339:
		return at.Format(time.RFC3339)
	}
	return strconv.FormatInt(d.Milliseconds(), 10)
}

// pauseOf reads one that came at a time; zero: it says none.
func pauseOf(kind oncehttp.HintKind, text string, at time.Time) time.Duration {
	var until time.Time
	var err error
	switch kind {
	case oncehttp.HintSeconds:
		var n float64
		n, err = strconv.ParseFloat(text, 64)
		until = at.Add(time.Duration(n * float64(time.Second)))
	case oncehttp.HintDuration:
		var d time.Duration
		d, err = time.ParseDuration(text)
		until = at.Add(d)
	case oncehttp.HintDate:
		until, err = time.Parse(http.TimeFormat, text)
	case oncehttp.HintUnix:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		until = time.Unix(n, 0)
	case oncehttp.HintRFC3339:
		until, err = time.Parse(time.RFC3339, text)
	default:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		until = at.Add(time.Duration(n) * time.Millisecond)
	}
	if err != nil {
		return 0
	}
	return max(0, until.Sub(at))
}
