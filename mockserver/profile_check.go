package mockserver

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ParseProfile reads a profile from JSON. What it does not know, or what cannot
// be played, is an error that names the field.
func ParseProfile(data []byte) (Profile, error) {
	var p Profile
	if err := json.Unmarshal(data, &p); err != nil {
		return Profile{}, fmt.Errorf("mockserver: profile: %w", err)
	}
	if err := p.check(); err != nil {
		return Profile{}, fmt.Errorf("mockserver: profile %q: %w", p.Name, err)
	}
	return p, nil
}

//go:embed profiles.json
var profiles []byte

// Profiles returns what is known of some public APIs: how they keep and word
// their side of the bargain. Each names its source.
func Profiles() []Profile {
	var list []Profile
	if err := json.Unmarshal(profiles, &list); err != nil {
		panic("mockserver: profiles.json: " + err.Error()) // a test reads it
	}
	return list
}

// ProfileNamed returns the profile of a name, as stripe-v1; false: there is none.
func ProfileNamed(name string) (Profile, bool) {
	list := Profiles()
	i := slices.IndexFunc(list, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return list[i], true
}

// check says why a profile cannot be played.
func (p Profile) check() error {
	c := profileCheck{}
	c.carrier(p)
	c.sizes(p)
	for _, m := range p.KeyIgnored {
		c.failIf(m == "" || m != strings.ToUpper(m), "keyIgnored: %q is no method in capitals, nor *", m)
	}
	for _, s := range p.Scope {
		c.oneOf("scope", s, ScopeHost, ScopeMethod, ScopePath, ScopeCredential)
	}
	for _, part := range p.Compared.Parts {
		c.oneOf("compared.parts", part, PartMethod, PartPath, PartQuery, PartBody, PartBytes)
	}
	for _, pointer := range p.Compared.Except {
		c.pointer("compared.except", pointer)
		c.failIf(pointer == "", "compared.except: an empty pointer is the whole body; leave the part body out instead")
	}
	c.oneOf("keyUUID", p.KeyUUID, UUIDNone, UUIDAny, UUIDRandom)
	c.oneOf("onMismatch", p.OnMismatch, MismatchRefused, MismatchIgnored, MismatchExecutes, MismatchOverwrites, MismatchDrops)
	c.mark("replayed", p.Replayed)
	c.mark("ignored", p.Ignored)
	c.mark("origin", p.Origin)
	c.answers(p)
	c.window(p)
	c.finds(p)
	return errors.Join(c.failures...)
}

// A profileCheck collects what is wrong.
type profileCheck struct {
	failures []error
}

func (c *profileCheck) failIf(wrong bool, format string, args ...any) {
	if wrong {
		c.failures = append(c.failures, fmt.Errorf(format, args...))
	}
}

func (c *profileCheck) oneOf(field string, value any, known ...any) {
	if err := oneOf(field, value, known...); err != nil {
		c.failures = append(c.failures, err)
	}
}

// oneOf says which values a field takes, where it has none of them. The empty
// one is that of a field left out.
func oneOf(field string, value any, known ...any) error {
	if slices.Contains(known, value) {
		return nil
	}
	var names []string
	for _, k := range known {
		if name := fmt.Sprint(k); name != "" {
			names = append(names, name)
		}
	}
	return fmt.Errorf("%s: there is no %q (it takes %s)", field, value, strings.Join(names, ", "))
}

func (c *profileCheck) pointer(field, pointer string) {
	c.failIf(!isPointer(pointer), "%s: %q is no JSON pointer; start it with /", field, pointer)
}

func (c *profileCheck) carrier(p Profile) {
	k := p.Carrier
	c.oneOf("carrier.kind", k.Kind, CarrierDefault, CarrierHeader, CarrierJSON, CarrierForm, CarrierQuery, CarrierPath, CarrierXML, CarrierNone)
	switch k.Kind {
	case CarrierDefault:
		c.failIf(k != Carrier{}, "carrier: it has no kind")
	case CarrierNone:
		c.failIf(k.Name != "", "carrier.name: there is no carrier to name")
		c.failIf(p.KeyRequired, "keyRequired: there is no carrier")
		c.failIf(len(p.Companions) > 0, "companions: there is no carrier that they travel with")
	case CarrierPath:
		c.failIf(strings.Count(k.Name, "{key}") != 1 || !slices.Contains(strings.Split(k.Name, "/"), "{key}") || k.Name[0] != '/',
			"carrier.name: %q is no path with one segment {key}", k.Name)
	case CarrierJSON:
		c.failIf(k.Name == "" || k.Name[0] != '/', "carrier.name: %q is no JSON pointer to a member", k.Name)
	case CarrierXML:
		c.failIf(k.Name == "" || k.Name[0] != '/', "carrier.name: %q is no path of names that starts with /", k.Name)
	default:
		c.failIf(k.Name == "", "carrier.name: it is empty")
	}
	c.failIf(k.Kind != CarrierDefault && (p.KeyHeader != "" || p.KeyQuoted), "keyHeader and keyQuoted are for a profile without a carrier; say it there")
	c.failIf(k.Quoted && k.Kind != CarrierHeader, "carrier.quoted: only headers are")
	for i, m := range p.Companions {
		field := fmt.Sprintf("companions[%d]", i)
		c.place(field, m.Kind, m.Name, CarrierDefault, CarrierHeader, CarrierQuery, CarrierForm, CarrierJSON)
		c.oneOf(field+".stamp", m.Stamp, StampNone, StampIMF, StampMicros, StampUntil)
		c.failIf(m.Value != "" && m.Stamp != StampNone, "%s: it has a value and a stamp; only one can be", field)
	}
}

// place is a place in a request of one of some kinds.
func (c *profileCheck) place(field string, kind CarrierKind, name string, kinds ...any) {
	c.oneOf(field+".kind", kind, kinds...)
	c.failIf(name == "", "%s.name: it is empty", field)
	c.failIf(kind == CarrierJSON && (!isPointer(name) || hasStar(name)), "%s.name: %q is no JSON pointer to one member", field, name)
}

func (c *profileCheck) sizes(p Profile) {
	most := p.KeyMax
	setDefault(&most, 255)
	c.failIf(p.KeyMin < 0 || p.KeyMax < 0, "keyMin and keyMax are never negative")
	c.failIf(p.KeyMin > most, "keyMin: %d is more than keyMax, which is %d", p.KeyMin, most)
}

func (c *profileCheck) mark(field string, m Mark) {
	c.oneOf(field+".says", m.Says, MarkText, MarkKey, MarkTime, MarkFresh)
	c.pointer(field+".pointer", m.Pointer)
	c.pointer(field+".inErrors", m.InErrors)
	c.failIf(m.Pointer == "" && m.InErrors != "", "%s.inErrors: pointer is not set", field)
	c.failIf(m.Status != 0 && (m.Status < 200 || m.Status > 999), "%s.status: %d is no final status", field, m.Status)
	c.failIf(m.Header == "" && m.Pointer == "" && (m.Value != "" || m.Says != MarkText), "%s: it has a value and no place", field)
}

func (c *profileCheck) answers(p Profile) {
	for field, a := range map[string]Answer{
		"keyMissing": p.KeyMissing, "keyInvalid": p.KeyInvalid, "expired": p.Expired, "success": p.Success,
		"repeat": p.Repeat, "spent": p.Spent, "inFlight": p.InFlight, "mismatch": p.Mismatch,
		"indeterminate": p.Indeterminate, "keysDown": p.KeysDown, "throttled": p.Throttled,
	} {
		c.answer(field, a, field == "inFlight")
	}
	c.failIf(p.Success.Status >= 400, "success.status: %d is an error", p.Success.Status)
	c.failIf(p.Repeat.Status != 0 && p.RepeatCurrent, "repeat and repeatCurrent: only one can be")
	c.failIf(p.InFlightWaits && p.InFlightExecutes, "inFlightWaits and inFlightExecutes: only one can be")
	c.failIf(p.KeysDown.Status != 0 && p.KeysDownExecutes, "keysDown and keysDownExecutes: only one can be")
	for _, s := range p.Released {
		c.failIf(len(s) != 3 || s[0] < '1' || s[0] > '9' || s[1:] != "xx" && strings.Trim(s[1:], "0123456789") != "",
			"released: %q is no status as 404, nor a class as 5xx", s)
	}
}

// answer checks one that is whole. Interim: a 102 after which none comes is too.
func (c *profileCheck) answer(field string, a Answer, interim bool) {
	if a.Status == 0 {
		c.failIf(a.Body != "" || len(a.Header) > 0, "%s: it has no status", field)
		return
	}
	c.failIf((a.Status < 200 || a.Status > 999) && !(interim && a.Status == http.StatusProcessing), "%s.status: %d is no final status", field, a.Status)
}

func (c *profileCheck) window(p Profile) {
	c.failIf(p.FromCompletion && p.FromStamp, "fromCompletion and fromStamp: only one can be")
	c.failIf(p.FromStamp && !slices.ContainsFunc(p.Companions, func(m Companion) bool { return m.Stamp == StampIMF || m.Stamp == StampMicros }),
		"fromStamp: no companion tells the time of the first attempt")
}

func (c *profileCheck) finds(p Profile) {
	if p.Plant != (Plant{}) {
		c.place("plant", p.Plant.Kind, p.Plant.Name, CarrierHeader, CarrierForm, CarrierJSON)
	}
	for i, f := range p.Finds {
		field := fmt.Sprintf("finds[%d]", i)
		_, err := parseTemplate(f.URL)
		c.failIf(err != nil, "%s.url: %v", field, err)
		c.pointer(field+".items", f.Items)
		c.pointer(field+".where", f.Where)
		c.pointer(field+".reference", f.Reference)
		c.failIf(f.Where != "" && f.Items == "", "%s: where is set without items", field)
		c.failIf(f.Stored && (f.Items != "" || !strings.Contains(f.URL, "{key}")), "%s: what is stored is asked for by {key} and no list", field)
		c.pointer(field+".state", f.State)
		c.failIf((f.State == "") != (f.Says == ""), "%s: state and says go together", field)
		c.failIf(f.Lag < 0, "%s.lag: it is negative", field)
		c.answer(field+".absent", f.Absent, false)
	}
}
