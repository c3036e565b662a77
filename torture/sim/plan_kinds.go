package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// Kinds are the less usual ways in which a contract may say what its terms say.
// The zero value has none.
type Kinds struct {
	// Items is how many items of an array have a key each, instead of the request.
	Items int
	// Until is where the end of the window travels with the key.
	Until oncehttp.CarrierKind
	// Stamped: the API counts the window from the time that a companion tells.
	Stamped bool
	// Window is what the contract says of the length of a window that ends.
	Window oncehttp.WindowKind
	// Refuses: the contract says that an expired key is told, where it is.
	Refuses bool
	// Wait is how hints tell a pause; zero: in milliseconds. AbsentNo as in
	// oncehttp.Hint.
	Wait     oncehttp.HintKind
	AbsentNo bool
	// State is the word that lookups show of an effect: of "done" and "held" only the
	// first proves it. Empty: none.
	State string
	// Settle as in oncehttp.Lookup.
	Settle time.Duration
	// Own is how the API's own answers are marked, where they are.
	Own own
	// Except as in oncehttp.Stored.
	Except []int
	// Form of the keys that the client mints, and UUID as in oncehttp.KeyRule. Both
	// zero: the run mints them.
	Form oncehttp.KeyForm
	UUID oncehttp.UUIDRule
	// Pins beside that of credentials.
	Pins oncehttp.Pin
}

// own is how the API's own answers are marked.
type own string

const (
	ownHeader  own = ""
	ownPointer own = "pointer" // into the body
	ownEcho    own = "echo"    // of the key
)

func newKinds(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0x6b696e64))} }

// vary draws the kinds of drawn terms. Many have none.
func (t *Terms) vary(d dice) {
	if !t.Drawn || d.chance(0.4) {
		return
	}
	switch {
	case d.chance(0.15):
		t.Carrier, t.SentWithin = oncehttp.CarrierXML, false
		if t.Plant != oncehttp.CarrierNone {
			t.Plant = oncehttp.CarrierHeader
		}
	case t.Carrier == oncehttp.CarrierJSON && d.chance(0.5):
		t.Items = 1 + d.IntN(3)
	}
	if d.chance(0.3) {
		t.Until = pick(d, oncehttp.CarrierHeader, oncehttp.CarrierQuery, oncehttp.CarrierJSON)
	}
	t.SentIMF = t.SentIMF || d.chance(0.1)
	t.Stamped = (t.SentIMF || t.SentMicros || t.SentWithin) && d.chance(0.5)
	t.Window = pick(d, oncehttp.WindowFloor, oncehttp.WindowFloor, oncehttp.WindowUnknown, oncehttp.WindowExact, oncehttp.WindowAccount)
	t.Refuses = d.chance(0.3)
	if t.Hints {
		t.Wait = pick(d, waits...)
		t.AbsentNo = d.chance(0.4)
	}
	t.Own = pick(d, ownHeader, ownPointer, ownEcho)
	if t.Find != findNone {
		t.Find = pick(d, t.Find, t.Find, findBody, findPath, findDay)
		t.State = pick(d, "", "", "done", "held")
		t.Settle = pick(d, 0, 0, 20*time.Second, 5*time.Minute)
	}
	if t.Own == ownEcho && (t.Find != findNone || t.Items > 0) { // no question has a key, no item the intent's
		t.Own = ownPointer
	}
	if d.chance(0.2) {
		t.Mark = markPointer
	}
	if t.Mark == markEcho && t.Items > 0 {
		t.Mark = markHeader
	}
	if d.chance(0.3) {
		t.Except = [][]int{{402}, {402, 422}, {404, 500}}[d.IntN(3)]
	}
	if t.Carrier != oncehttp.CarrierPath { // which wants to know the keys before
		t.varyKeys(d)
		t.Pins = pick(d, 0, 0, oncehttp.PinHost, oncehttp.PinPath, oncehttp.PinHost|oncehttp.PinMethod, oncehttp.PinPath|oncehttp.PinHost|oncehttp.PinMethod)
	}
}

var waits = []oncehttp.HintKind{oncehttp.HintMillis, oncehttp.HintSeconds, oncehttp.HintDuration, oncehttp.HintDate, oncehttp.HintUnix, oncehttp.HintRFC3339}

func (t *Terms) varyKeys(d dice) {
	switch d.IntN(6) {
	case 0:
		t.Form = oncehttp.FormHex
	case 1:
		t.Form = oncehttp.FormLong
	case 2:
		t.Form = oncehttp.FormDerived
		if t.Items == 0 && d.chance(0.5) {
			t.UUID = oncehttp.UUIDAny
		}
	case 3:
		t.UUID = oncehttp.UUIDAny
		if t.Items == 0 && d.chance(0.5) {
			t.UUID = oncehttp.UUIDRandom
		}
	}
}

// minted: the client makes the keys itself.
func (k Kinds) minted() bool { return k.Form != oncehttp.FormUUID || k.UUID != oncehttp.UUIDNone }

// rule is what the contract says of keys.
func (t Terms) rule() oncehttp.KeyRule {
	r := oncehttp.KeyRule{Form: t.Form, UUID: t.UUID}
	switch t.Form {
	case oncehttp.FormHex:
		if t.Items == 0 {
			r.Alphabet = hexDigits
		}
	case oncehttp.FormLong:
		r.Min = 33
	}
	return r
}

const hexDigits = "0123456789abcdef"

// chosen is a key that a caller sets, made of the name of an action.
func (t Terms) chosen(name string) string {
	switch {
	case t.UUID != oncehttp.UUIDNone:
		return fmt.Sprintf("0000%x-c405-4e00-8000-000000000000", name) // a name has two letters
	case t.Form == oncehttp.FormHex:
		return fmt.Sprintf("c405e%x", name)
	case t.Form == oncehttp.FormLong:
		return "chosen-" + name + strings.Repeat("-", 33)
	}
	return "chosen-" + name
}

// chosenOf is the one of an item.
func (t Terms) chosenOf(adopted string, item int) string {
	if t.UUID != oncehttp.UUIDNone {
		return adopted[:len(adopted)-1] + fmt.Sprint(item)
	}
	return fmt.Sprintf("%s-%d", adopted, item)
}

// shape is a regular expression for every key of an action; empty: any.
func (t Terms) shape(a Action) string {
	if a.Protection != judge.Keyed || a.Adopted != "" || !t.minted() {
		return ""
	}
	const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-%c[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
	of := fmt.Sprintf(uuid, '4')
	switch {
	case t.Form == oncehttp.FormHex:
		of = `[0-9a-f]{32}`
	case t.Form == oncehttp.FormLong:
		of = `[0-9a-f]{64}`
	case t.Form == oncehttp.FormDerived && !a.Anonymous, t.UUID == oncehttp.UUIDAny && t.Items > 0:
		of = fmt.Sprintf(uuid, '5')
	}
	if t.Items > 0 && t.UUID == oncehttp.UUIDNone {
		of += `-\d`
	}
	return of
}

// byID: lookups ask by what was planted.
func (t Terms) byID(keyed bool) bool { return !keyed || t.Items > 0 }

// unmarkable: an answer without a body lacks a mark in it.
func (t Terms) unmarkable() bool { return t.Own == ownPointer || t.Mark == markPointer }

// trusted is the window that the contract lets a client rely on; 0: for ever.
func (a API) trusted() time.Duration {
	if a.Terms.Window == oncehttp.WindowUnknown {
		return 5 * time.Minute
	}
	return a.Window
}

// until: the end of the window travels with the key.
func (a API) until() bool {
	return a.Terms.Until != oncehttp.CarrierNone && a.Window > 0 && a.Terms.Window != oncehttp.WindowUnknown
}

// refuses: the contract says that an expired key is told.
func (a API) refuses() bool { return a.Terms.Refuses && a.Tells }

// addKinds is what kinds ask of an action.
func (p *Plan) addKinds(a *Action) {
	t, d := p.API.Terms, p.kinds
	if t.unmarkable() && a.Status == 204 {
		a.Status = 200
	}
	if t.Find == findAll && a.Body != "" && t.Plant != oncehttp.CarrierNone {
		a.Ref = d.chance(0.2)
	}
	if a.Protection != judge.Keyed {
		return
	}
	if len(t.Except) > 0 && a.Effective() && !slices.Contains(a.Kinds, faultEndless) && d.chance(0.5) {
		a.First = append(a.First, pick(d, t.Except...))
	}
	// http.Client shows what a caller has in its URL; short keys are not looked for.
	shown := t.Carrier == oncehttp.CarrierQuery && t.minted()
	switch {
	case shown:
		a.Adopted = ""
	case a.Adopted != "":
		a.Adopted = t.chosen(a.Name)
	}
	if t.Pins&oncehttp.PinHost != 0 {
		a.Elsewhere = d.chance(0.3)
	}
	byKey := t.Find != findNone && !t.Find.byValue() && !t.byID(true) // which two of one key share
	if t.Pins == 0 || byKey || shown || d.chance(0.5) {
		return
	}
	for i := range p.Actions {
		if b := &p.Actions[i]; b.Protection == judge.Keyed && b.Adopted == "" && p.twins(*a, *b) {
			b.Adopted = t.chosen(b.Name)
			a.Adopted, a.Twin = b.Adopted, b.Name
			return
		}
	}
}

// twins: one key is another for each of two actions.
func (p *Plan) twins(a, b Action) bool {
	pins := p.API.Terms.Pins
	return pins&oncehttp.PinPath != 0 || pins&oncehttp.PinHost != 0 && a.Elsewhere != b.Elsewhere || pins&oncehttp.PinMethod != 0 && a.Method != b.Method
}

// names of the kinds, for the print of a plan.
func (k Kinds) String() string {
	text := fmt.Sprintf("items=%d until=%d window=%d wait=%d state=%q settle=%v own=%q except=%v form=%d uuid=%d pins=%d",
		k.Items, k.Until, k.Window, k.Wait, k.State, k.Settle, k.Own, k.Except, k.Form, k.UUID, k.Pins)
	return text + flags(map[string]bool{"stamped": k.Stamped, "refuses": k.Refuses, "absentno": k.AbsentNo})
}
