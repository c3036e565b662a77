package oncehttp

import (
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Lookup is a request that shows whether an effect exists. It is a GET to the
// intent's own scheme and host, with the intent's credentials and its other
// headers, without its key. Its answer counts only where it is JSON, arrived
// whole, and carries the contract's Origin mark if there is one: a redirect, a 401
// or a 5xx cannot tell. That an effect is not found proves nothing where the list
// may have another page, or the answer came out of a cache.
type Lookup struct {
	// URL is its path and query, escaped, in which {key} stands for the key, {id}
	// for the intent's id that was planted, and {since} for the day before the
	// first attempt, as 2006-01-02; {/name} is the value that the JSON pointer
	// /name finds in the request's body, {query.name} a parameter of its query,
	// {path.2} the second segment of its path.
	// Values are escaped for where they stand. The lookup cannot tell where one is
	// missing or empty, is a step of a path (..), or would end the quotes that the
	// URL puts around it.
	URL string
	// Items is a pointer to a list, each item of which is an effect; "/*": the
	// answer itself is the list. Empty: the answer is the effect, and a 404 says that
	// there is none. A list that has only other items proves nothing, unless the
	// answer says by a Link, a member or a header that the list ends there, or the
	// list has fewer items than a limit in the URL (limit, per_page, page_size ...);
	// such a limit is a promise that the API heeds it.
	//
	// Where is a pointer, into the item or the answer, to what must be the key or the
	// planted id. Empty: what the URL asks for is enough. If it is set, the contract
	// has a Plant, and no id was planted, then a list proves no absence unless its URL
	// asks for {key}.
	Items, Where string
	// State is a pointer, into the item or the answer, to a word that must match one
	// of Is, as [Answer].Codes do, for the effect to be there: the status of a
	// payment, or of the first answer where the API wraps that. In any other state
	// the lookup cannot tell. Set it for an API that also shows what it declined.
	State string
	Is    []string
	// Reference is a pointer, into the item or the answer, to what the effect is
	// called. Where it finds nothing the lookup cannot tell.
	Reference string
	// Proof: if the lookup does not find the effect when asked Settle after the last
	// attempt, and again Settle later, this proves that there is none. Where Proof is
	// not set, or the contract's own Proof is weaker than the vendor's word, it proves
	// nothing. Where the contract has no Origin, a 404 in JSON from something in
	// between, such as a gateway that has lost its route, is taken for the API's own:
	// ask for a list there.
	Proof bool
	// Settle is how long after an attempt its effect may still come to show here.
	// Zero: Contract.Stored.Settle, or a minute.
	Settle time.Duration
}

// A Plant is a field of the request that the API keeps with the effect, and by
// which the effect can be found: metadata, a memo, a reference.
type Plant struct {
	// Kind and Name are as of a [Carrier]: a header, a form field or a JSON
	// string. Zero: nothing.
	Kind CarrierKind
	Name string
}

// settle is how long after an attempt its effect may still come to show.
func (l Lookup) settle(c *Contract) time.Duration {
	if l.Settle > 0 {
		return l.Settle
	}
	return c.settle()
}

// settle is the time after which what does not show is not there; c may be nil.
func (c *Contract) settle() time.Duration {
	if c != nil && c.Stored.Settle > 0 {
		return c.Stored.Settle
	}
	return usualSettle
}

// canBeAsked: one of the contract's lookups has all that it needs of the record,
// as far as that shows without the request's body.
func (c *Contract) canBeAsked(r record) bool {
	return c != nil && slices.ContainsFunc(c.Lookups, func(l Lookup) bool { return l.fits(r) })
}

func (l Lookup) fits(r record) bool {
	lacks := func(name string, there bool) bool { return !there && strings.Contains(l.URL, name) }
	return !lacks("{id}", r.Begun.PlantedID != "") && !lacks("{key}", r.Begun.Key != "") && !lacks("{/", r.Begun.Size > 0) &&
		(l.Where == "" || r.Begun.Key != "" || r.Begun.PlantedID != "")
}

// target is the path and query to ask at about a record with this body; false
// where a value is missing.
func (l Lookup) target(r record, body []byte) (string, bool) {
	var b strings.Builder
	for text, name := range pieces(l.URL) {
		b.WriteString(text)
		if name == "" {
			break
		}
		value := r.valueOf(name, body)
		inQuery := strings.Contains(b.String(), "?")
		switch {
		case value == "", quoted(text) && strings.ContainsAny(value, "'\"\\"), !inQuery && climbs(value):
			return "", false
		case inQuery:
			b.WriteString(url.QueryEscape(value))
		default:
			b.WriteString(url.PathEscape(value))
		}
	}
	return b.String(), true
}

// pieces yields the texts of a template, each with the name of the placeholder
// after it; the last has none.
func pieces(template string) iter.Seq2[string, string] {
	return func(yield func(text, name string) bool) {
		for {
			text, rest, _ := strings.Cut(template, "{")
			name, after, closed := strings.Cut(rest, "}")
			if !closed || name == "" {
				yield(template, "")
				return
			}
			if !yield(text, name) {
				return
			}
			template = after
		}
	}
}

// valueOf is what a placeholder stands for; empty: there is no one value.
func (r record) valueOf(name string, body []byte) string {
	switch parameter, ofQuery := strings.CutPrefix(name, "query."); {
	case name == "key":
		return r.Begun.Key
	case name == "id":
		return r.Begun.PlantedID
	case name == "since" && !r.First.IsZero():
		return r.First.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	case ofQuery:
		if u, err := url.Parse(r.Begun.URL); err == nil {
			if values := u.Query()[parameter]; len(values) == 1 {
				return values[0]
			}
		}
	case segmentNumber(name) > 0:
		if u, err := url.Parse(r.Begun.URL); err == nil {
			segments := strings.Split(u.EscapedPath(), "/")
			if n := segmentNumber(name); n < len(segments) {
				value, _ := url.PathUnescape(segments[n])
				return value
			}
		}
	case strings.HasPrefix(name, "/"):
		if doc, ok := readAnswerBody(body); ok {
			value, _ := doc.textAt(name)
			return value
		}
	}
	return ""
}

// segmentNumber is n of path.n, from 1; else zero.
func segmentNumber(name string) int {
	digits, ok := strings.CutPrefix(name, "path.")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

// quoted: what follows the text stands between quotes.
func quoted(text string) bool {
	return slices.ContainsFunc([]string{"'", `"`, "%27", "%22"}, func(q string) bool { return strings.HasSuffix(text, q) })
}

// climbs: as a part of a path it could lead to another one (RFC 3986 section
// 5.2.4), before or after a server has undone its escapes.
func climbs(value string) bool {
	steps := strings.FieldsFunc(value, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.Contains(steps, ".") || slices.Contains(steps, "..")
}

// find reads the answer to a lookup about a record. Unless it is Found, or
// NotFound with proof, why says what kept it from telling.
func (l Lookup) find(f facts, c *Contract, r record, now time.Time) (_ Finding, why string) {
	doc, isJSON := readAnswerBody(f.body)
	_, plain := canonicalJSON(doc, nil)
	switch status := f.status; {
	case f.cut:
		return Finding{}, "its answer was cut off"
	case f.long:
		return Finding{}, "its answer is longer than Config.MaxResponseBody"
	case !c.Origin.isZero() && !c.Origin.marks(f):
		return Finding{}, fmt.Sprintf("something between us and the API answered %d", status)
	case isJSON && !plain:
		return Finding{}, "its answer is JSON without one meaning: a name twice, or broken text"
	case isJSON && status == http.StatusNotFound && l.Items == "":
		return l.absent(f, c, r, now)
	case status != http.StatusOK && status != http.StatusCreated:
		return Finding{}, fmt.Sprintf("it was answered %d", status)
	case !isJSON:
		return Finding{}, "its answer is no JSON"
	case l.Items != "":
		return l.findListed(doc, f, c, r, now)
	case doc[0] != '{':
		return Finding{}, "its answer is no JSON object"
	case !l.names(doc, r):
		return Finding{}, "its answer is about something else"
	case !l.inState(doc):
		return Finding{}, "what it shows is in no state that proves the effect"
	}
	reference, named := l.reference(doc)
	if !named {
		return Finding{}, "its answer lacks the reference"
	}
	return Finding{Kind: Found, Reference: reference}, ""
}

// absent is what it means that the effect does not show.
func (l Lookup) absent(f facts, c *Contract, r record, now time.Time) (Finding, string) {
	if !l.Proof || c.Proof > ProofVendor {
		return Finding{}, "it does not show the effect, which proves nothing"
	}
	if l.asksElsewhere(c, r) {
		return Finding{}, "the contract has the key, or the planted id, in another place than when it was written, so it does not show there"
	}
	if age, ok := decimalWait(f.header.Get("Age"), time.Second); ok && age > 0 {
		return Finding{}, "its answer came out of a cache" // RFC 9111 section 5.1
	}
	if strings.Contains(l.URL, "{since}") && (now.Sub(answerTime(f.header, now)) > sinceSlack || r.First.After(now)) {
		return Finding{}, "the clock here is ahead of the API's, or was, so {since} may leave the effect out"
	}
	return Finding{Kind: NotFound}, ""
}

// asksElsewhere: the lookup may go by what the record has written, and the contract
// of today reads, in two places; or by a key that the record does not have.
func (l Lookup) asksElsewhere(c *Contract, r record) bool {
	byKey := l.Where != "" || strings.Contains(l.URL, "{key}")
	byID := l.Where != "" || strings.Contains(l.URL, "{id}")
	replanted := r.Begun.PlantedID != "" && c.Plant.Kind != CarrierNone && !r.Begun.Planted.spot().is(c.Plant.spot())
	unkeyed := r.Begun.Key == "" && c.Carrier.Kind != CarrierNone
	return byKey && (unkeyed || r.Begun.moved(c)) || byID && replanted
}

// sinceSlack is how far this machine's clock may be ahead: a date begins at least
// 12 hours before the first attempt wherever on earth the API reckons it.
const sinceSlack = 6 * time.Hour

// mayName: a list that has the effect would name it. What Where points to may be
// what is planted, which a record may lack: planting is off, or the caller has
// written something there.
func (l Lookup) mayName(c *Contract, r record) bool {
	switch {
	case l.Where == "" || r.Begun.PlantedID != "":
		return true
	case r.Begun.Carrier.spot().batch(): // no item has the intent's own key
		return false
	}
	return c.Plant.Kind == CarrierNone || strings.Contains(l.URL, "{key}")
}

// names: what was found is about the record, as far as Where can tell.
func (l Lookup) names(doc answerBody, r record) bool {
	if l.Where == "" {
		return true
	}
	value, _ := doc.textAt(l.Where)
	return value != "" && (value == r.Begun.Key || value == r.Begun.PlantedID)
}

func (l Lookup) inState(doc answerBody) bool {
	if l.State == "" {
		return true
	}
	word, ok := doc.textAt(l.State)
	return ok && slices.ContainsFunc(l.Is, func(state string) bool { return matchesCode(state, word) })
}

func (l Lookup) reference(doc answerBody) (_ string, named bool) {
	if l.Reference == "" {
		return "", true
	}
	text, _ := doc.textAt(l.Reference)
	return text, text != ""
}

func (k *contractCheck) lookup(field string, l Lookup, c *Contract) {
	k.failIf(!strings.HasPrefix(l.URL, "/"), "%s.URL %q is not a path; start it with /", field, l.URL)
	plain := ""
	for text, name := range pieces(l.URL) {
		parameter, ofQuery := strings.CutPrefix(name, "query.")
		ofBody := strings.HasPrefix(name, "/") && pointerProblem(name) == ""
		known := ofQuery && parameter != "" || ofBody || segmentNumber(name) > 0 || slices.Contains([]string{"", "key", "id", "since"}, name)
		k.failIf(!known, "%s.URL has {%s}; use {key}, {id}, {since}, {/pointer}, {query.name} or {path.2}", field, name)
		plain += text
	}
	_, err := url.ParseRequestURI(plain)
	k.failIf(err != nil || strings.ContainsAny(plain, "#{} "), "%s.URL %q is not an escaped path and query", field, l.URL)
	k.pointer(field+".Items", l.Items)
	k.pointer(field+".Where", l.Where)
	k.pointer(field+".State", l.State)
	k.failIf((l.State == "") != (len(l.Is) == 0), "%s.State and %s.Is go together; set both or none", field, field)
	for i, state := range l.Is {
		k.code(fmt.Sprintf("%s.Is[%d]", field, i), state)
	}
	k.pointer(field+".Reference", l.Reference)
	k.failIf(l.Settle < 0, "%s.Settle is %v; it cannot be negative", field, l.Settle)
	k.failIf(strings.Contains(l.URL, "{id}") && c.Plant.Kind == CarrierNone, "%s.URL has {id} and Plant is not set", field)
	k.failIf(strings.Contains(l.URL, "{key}") && c.Carrier.Kind == CarrierNone, "%s.URL has {key} and Carrier is not set", field)
	k.failIf(l.Where != "" && c.Carrier.spot().batch() && c.Plant.Kind == CarrierNone, "%s.Where is set, Carrier.Name has a * and Plant is not set: no item has the intent's own key", field)
	k.failIf(strings.Contains(l.URL, "{key}") && c.Carrier.spot().batch(), "%s.URL has {key} and Carrier.Name a *: no item has the intent's own key", field)
}

func (k *contractCheck) plant(c *Contract) {
	p := c.Plant
	if p.Kind == CarrierNone {
		k.failIf(p.Name != "", "Plant.Name is set without a Kind")
		return
	}
	k.failIf(p.Kind != CarrierHeader && p.Kind != CarrierJSON && p.Kind != CarrierForm, "Plant.Kind is %d; use CarrierHeader, CarrierJSON or CarrierForm", p.Kind)
	k.failIf(p.Kind == CarrierJSON && slices.Contains(strings.Split(p.Name, "/"), "*"), "Plant.Name %q has a *; an id is planted once", p.Name)
	at := p.spot()
	k.failIf(at.is(c.Carrier.spot()), "Plant is the Carrier's field, which has the key; ask for {key}")
	k.failIf(slices.ContainsFunc(c.Companions, func(m Companion) bool { return at.is(m.spot()) }), "Plant is where a companion is; name another place")
	k.place("Plant", p.Kind, p.Name)
}
