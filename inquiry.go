package oncehttp

import (
	"strings"
	"time"
)

// A Lookup is a request that shows whether an effect exists. It is a GET to the
// intent's own scheme and host, with the intent's credentials.
type Lookup struct {
	// URL is its path and query, in which {key} stands for the key, {id} for the
	// intent's id that was planted, and {since} for the day before the first
	// attempt, as 2006-01-02; {/name} is the value that the JSON pointer /name
	// finds in the request's body, {query.name} a parameter of its query.
	URL string
	// Items is a pointer to a list, each item of which is an effect; Where, a
	// pointer into an item, must then have the value of the key or of the planted
	// id, where the API's own filter is not enough. Empty: the answer is the
	// effect.
	Items, Where string
	// Reference is a pointer, into the item or the answer, to what the effect is
	// called.
	Reference string
	// Stored: the answer is the first answer itself, kept under the key.
	Stored bool
	// Proof: that it does not find the effect is proof that there is none, after
	// Settle, said twice and spaced. Zero: it proves nothing.
	Proof bool
	// Settle is how long after an attempt its effect may still come to show here.
	// Zero: Contract.Stored.Settle, or a minute.
	Settle time.Duration
}

// A Plant is a field of the request that the API keeps with the effect and can
// be asked for: metadata, a memo, a reference.
type Plant struct {
	// Kind and Name are as of a [Carrier]: a header, a form field or a JSON
	// string. Zero: nothing.
	Kind CarrierKind
	Name string
}

func (k *contractCheck) lookup(field string, l Lookup, c *Contract) {
	k.failIf(!strings.HasPrefix(l.URL, "/"), "%s.URL %q is not a path; start it with /", field, l.URL)
	k.pointer(field+".Items", l.Items)
	k.pointer(field+".Where", l.Where)
	k.pointer(field+".Reference", l.Reference)
	k.failIf(l.Where != "" && l.Items == "", "%s.Where is set without Items; name the list", field)
	k.failIf(l.Settle < 0, "%s.Settle is %v; it cannot be negative", field, l.Settle)
	k.failIf(strings.Contains(l.URL, "{id}") && c.Plant.Kind == CarrierNone, "%s.URL has {id} and Plant is not set", field)
	k.failIf(strings.Contains(l.URL, "{key}") && c.Carrier.Kind == CarrierNone, "%s.URL has {key} and Carrier is not set", field)
}

func (k *contractCheck) plant(p Plant) {
	if p.Kind == CarrierNone {
		k.failIf(p.Name != "", "Plant.Name is set without a Kind")
		return
	}
	k.place("Plant", p.Kind, p.Name)
}
