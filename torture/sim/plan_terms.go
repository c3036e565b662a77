package sim

import (
	"math/rand/v2"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// Terms are what a contract may say beside the header of a key and its window.
// The zero value says nothing: the key is in the header.
type Terms struct {
	// Drawn: they are not the zero value.
	Drawn bool
	// Carrier is where the key travels.
	Carrier oncehttp.CarrierKind
	// SentIMF, SentMicros and Version travel with the key, in a header, in the
	// query and in a header; SentWithin in the body.
	SentIMF, SentMicros, Version, SentWithin bool
	// Plant is where an id is written by which effects can be found.
	Plant oncehttp.CarrierKind
	// Find is how effects can be asked for; with Proof, none found is proof.
	Find  find
	Proof bool
	// Strays are what becomes of the first lookups.
	Strays []mockserver.Fault
	// Pinned: a key is known together with the credentials it came with.
	Pinned bool
	// Hints: answers may say whether and when to ask again. Least and Running as
	// in oncehttp.Hints.
	Hints          bool
	Least, Running time.Duration
	// KeepsFailures: the API keeps its 500 under the key; SaysFailures: the
	// contract says so, or with SaysNot that it does not.
	KeepsFailures, SaysFailures, SaysNot bool
	// Mark is what marks the answer to a repeat, instead of a header of its own.
	Mark mark
	Kinds
}

// find is a way to ask the API for an effect.
type find string

const (
	findNone find = ""
	findOne  find = "one"   // by the key or the planted id; 404 if there is none
	findList find = "list"  // the same, in a list
	findAll  find = "since" // a list of everything, from which the client picks
	findBody find = "body"  // by what the request's body says
	findPath find = "path"  // by a segment of its path
	findDay  find = "day"   // a list by what its body says, from a day on
)

// byValue: nothing has to be written into the request to find its effect.
func (f find) byValue() bool { return f == findBody || f == findPath || f == findDay }

// mark is how a repeat is marked.
type mark string

const (
	markHeader  mark = ""
	markStatus  mark = "status"
	markEcho    mark = "echo"    // of the key
	markPointer mark = "pointer" // into the body
)

// newTerms draws them. Half of all plans have none.
func newTerms(seed uint64) (Terms, dice) {
	d := dice{rand.New(rand.NewPCG(seed, 0x7465726d))}
	if d.chance(0.5) {
		return Terms{}, d
	}
	return drawTerms(d), d
}

func drawTerms(d dice) (t Terms) {
	t.Drawn = true
	t.Carrier = pick(d, oncehttp.CarrierHeader, oncehttp.CarrierJSON, oncehttp.CarrierJSON, oncehttp.CarrierForm, oncehttp.CarrierQuery, oncehttp.CarrierPath)
	if d.chance(0.3) {
		t.SentIMF, t.SentMicros, t.Version = d.chance(0.5), d.chance(0.5), d.chance(0.5)
		t.SentWithin = d.chance(0.5)
	}
	if d.chance(0.4) {
		t.Plant = pick(d, oncehttp.CarrierHeader, oncehttp.CarrierJSON)
		if t.Carrier == oncehttp.CarrierForm {
			t.Plant = pick(d, oncehttp.CarrierHeader, oncehttp.CarrierForm)
		}
	}
	if d.chance(0.4) {
		t.Find, t.Proof = pick(d, findOne, findOne, findList, findAll), d.chance(0.6)
		for range d.IntN(4) {
			t.Strays = append(t.Strays, stray(d))
		}
	}
	t.Pinned = d.chance(0.3)
	if d.chance(0.4) {
		t.Hints = true
		t.Least = pick(d, 0, 0, 2*time.Second)
		t.Running = pick(d, 0, 0, time.Minute)
	}
	t.KeepsFailures = d.chance(0.3)
	t.SaysFailures = t.KeepsFailures && d.chance(0.7)
	t.SaysNot = !t.KeepsFailures && d.chance(0.3)
	t.Mark = pick(d, markHeader, markHeader, markStatus, markEcho)
	return t
}

// stray is what may become of a lookup: nothing of it is proof.
func stray(d dice) mockserver.Fault {
	switch d.IntN(5) {
	case 0:
		return mockserver.Gateway(pick(d, 404, 404, 401, 500, 502, 503))
	case 1:
		return mockserver.Fault{See: pick(d, mockserver.SeeReset, mockserver.SeeClose)}
	case 2:
		return mockserver.Fault{See: mockserver.SeeTruncated, Keep: d.IntN(9), Framing: mockserver.FramingLength}
	case 3:
		return mockserver.Redirect(302, "/login")
	}
	return mockserver.Status(pick(d, 429, 503)).With("Retry-After", pick(d, "1", "60", "3600"))
}

// inHeader: the key is in a header.
func (t Terms) inHeader() bool {
	return t.Carrier == oncehttp.CarrierNone || t.Carrier == oncehttp.CarrierHeader
}

// anywhere are those terms that any scene may have.
func (t Terms) anywhere() Terms {
	kinds := t.Kinds
	kinds.Wait, kinds.AbsentNo, kinds.State, kinds.Settle = 0, false, "", 0
	return Terms{Drawn: t.Drawn, Carrier: t.Carrier, SentIMF: t.SentIMF, SentMicros: t.SentMicros, Version: t.Version, SentWithin: t.SentWithin,
		Plant: t.Plant, Mark: t.Mark, Kinds: kinds}
}

// clientTerms sets what the terms ask of the client.
func (p *Plan) clientTerms() {
	c, t := &p.Client, p.API.Terms
	if t.Find != findNone {
		c.MaxResponse = 1 << 14 // a list is longer than an answer
	}
	if t.Pinned {
		c.Authorize = true
		c.Rotates = pick(p.terms, 5*time.Second, time.Minute, time.Hour)
	}
}

// within: the key is in the body.
func (t Terms) within() bool {
	return t.Carrier == oncehttp.CarrierJSON || t.Carrier == oncehttp.CarrierForm || t.Carrier == oncehttp.CarrierXML
}

// asks says whether the contract of an action has lookups that can be asked: by
// the key, or by what was planted.
func (p *Plan) asks(a Action) bool {
	t := p.API.Terms
	planted := t.Plant != oncehttp.CarrierNone && !a.Ref
	return t.Find != findNone && (a.Protection == judge.Keyed || a.Keyless && (planted || t.Find.byValue()))
}

// proves: a lookup may prove that an action had no effect.
func (p *Plan) proves(a Action) bool { return p.API.Terms.Proof && p.asks(a) }

// A Hint is what an answer says of another attempt, beside Retry-After.
type Hint struct {
	Again string        // "true", "false" or empty
	Wait  time.Duration // none: it does not say
}

func (p *Plan) newHint(d dice) (h Hint) {
	h.Again = pick(d, "", "true", "false")
	if d.chance(0.5) {
		h.Wait = d.upTo(10 * time.Minute)
	}
	if h.Wait > 0 && p.API.Terms.Wait >= oncehttp.HintDate {
		h.Wait = p.kinds.within(10 * time.Minute) // since the run began, as a scene does
		if p.Scene == sceneNone {
			h.Wait = p.kinds.upTo(24 * time.Hour)
		}
	}
	return h
}

// headers of a hint, which tells a pause in one way.
func (h Hint) headers(wait oncehttp.HintKind) map[string]string {
	headers := map[string]string{}
	if h.Again != "" {
		headers[hintAgain] = h.Again
	}
	if h.Wait > 0 {
		headers[hintWait] = pauseText(wait, h.Wait)
	}
	return headers
}

// addTerms gives an action what the contract's terms ask of it and of its
// answers. Its requests without a contract stay as they are.
func (p *Plan) addTerms(a *Action) {
	t, d := p.API.Terms, p.terms
	if !t.Drawn {
		return
	}
	defer p.addKinds(a)
	if a.Protection != judge.Keyed && t.Find != findNone && !a.Anonymous && a.Body != "" && d.chance(0.5) {
		a.Keyless = true
	}
	if a.Protection == judge.Keyed && a.Body == "" && (t.within() || t.SentWithin) {
		a.Body = payload(a.Name)
	}
	a.Ref = a.Body != "" && t.Plant != oncehttp.CarrierNone && t.Find != findAll && d.chance(0.2)
	if a.Protection != judge.Keyed || !t.Hints {
		return
	}
	for n, f := range a.Faults {
		if f.Status >= 400 && f.Status != 401 && d.chance(0.6) {
			for name, value := range p.newHint(d).headers(t.Wait) {
				f = f.With(name, value)
			}
			a.Faults[n] = f
		}
	}
	for _, status := range a.First {
		h := Hint{}
		if status != 401 && d.chance(0.6) {
			h = p.newHint(d)
		}
		a.Hints = append(a.Hints, h)
	}
}
