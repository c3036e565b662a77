package mockserver

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Plant is a field of the request that the API keeps with the effect.
type Plant struct {
	// Kind is header, form or json, and Name as of a [Carrier]. Zero: nothing.
	Kind CarrierKind `json:"kind,omitzero"`
	Name string      `json:"name,omitzero"`
}

// A Find is a way to ask for effects by GET. A tenant sees its own effects only,
// whatever their age.
type Find struct {
	// URL is path and query of the GETs that ask, in which {key} stands for a key,
	// {id} for a value that was planted, {since} for a day as 2006-01-02 from which
	// on effects are listed, {/name} for what the JSON pointer /name finds in the
	// body of the request that made the effect, {query.name} for a parameter of its
	// query, {path.2} for the second segment of its path. Other parameters of the GET do not matter.
	URL string `json:"url,omitzero"`
	// Items points (RFC 6901) to the list that answers, which is empty when nothing
	// is found; "/*": the answer itself is the list. Empty: the answer is one
	// effect, or Absent.
	Items string `json:"items,omitzero"`
	// Where points into an item to the key, if the URL has {key} or there is no
	// Plant, else to what was planted.
	Where string `json:"where,omitzero"`
	// State points into the item or the answer to the word Says.
	State string `json:"state,omitzero"`
	Says  string `json:"says,omitzero"`
	// Reference points into the item or the answer to [Effect].ID.
	Reference string `json:"reference,omitzero"`
	// Stored: the answer is what is stored under the key, effect or not, as it was.
	Stored bool `json:"stored,omitzero"`
	// Absent answers when one effect is asked for and not found. Default: 404
	// not_found.
	Absent Answer `json:"absent,omitzero"`
	// Lag is how old an effect must be to be found. Default none.
	Lag time.Duration `json:"-"`
}

// A finding is a find that is ready to be asked.
type finding struct {
	Find
	template
}

func findingsOf(finds []Find) []finding {
	out := make([]finding, len(finds))
	for i, f := range finds {
		t, err := parseTemplate(f.URL)
		if err != nil {
			panic("mockserver: profile: finds: " + err.Error()) // it was checked
		}
		out[i] = finding{f, t}
	}
	return out
}

// find answers a request that asks for effects.
func (x *exchange) find() (Answer, bool) {
	if x.r.Method != http.MethodGet {
		return Answer{}, false
	}
	for _, f := range x.finds {
		if asked, ok := f.match(x.r.URL); ok {
			x.mu.Lock()
			defer x.mu.Unlock()
			return x.answerTo(f, asked, time.Now()), true
		}
	}
	return Answer{}, false
}

// answerTo needs the lock.
func (x *exchange) answerTo(f finding, asked map[string]string, now time.Time) Answer {
	absent := f.Absent.clone()
	if absent.Status == 0 {
		absent = problem(http.StatusNotFound, "not_found", "no such effect is visible")
	}
	if f.Stored {
		if rec := x.store.latest(x.entry.Tenant, asked["key"], now); rec != nil && now.Sub(rec.stored) >= f.Lag {
			return rec.answer.clone()
		}
		return absent
	}
	items := []any{}
	for _, e := range x.effects {
		if e.Overwritten || e.Tenant != x.entry.Tenant || now.Sub(e.Time) < f.Lag || !e.fits(asked) {
			continue
		}
		if f.Items == "" {
			a := e.Answer.clone()
			a.Status = http.StatusOK
			if f.State != "" {
				a = a.edited(f.State, f.Says)
			}
			if f.Reference != "" {
				a = a.edited(f.Reference, e.ID)
			}
			return a
		}
		items = append(items, f.item(e))
	}
	if f.Items == "" {
		return absent
	}
	if f.Items != "/*" {
		return Answer{Status: http.StatusOK}.edited(f.Items, items)
	}
	list, _ := json.Marshal(items)
	return Answer{Status: http.StatusOK, Body: string(list) + "\n"}.with("Content-Type", "application/json")
}

// item is an effect in a list.
func (f finding) item(e Effect) map[string]any {
	v, _ := plainJSON([]byte(e.Answer.Body))
	item, ok := v.(map[string]any)
	if !ok {
		item = map[string]any{"id": e.ID}
	}
	if f.State != "" {
		withValue(item, tokens(f.State), f.Says)
	}
	if f.Reference != "" {
		withValue(item, tokens(f.Reference), e.ID)
	}
	if f.Where != "" {
		value := e.Planted
		if value == "" || strings.Contains(f.URL, "{key}") {
			value = e.Key
		}
		withValue(item, tokens(f.Where), value)
	}
	return item
}

// fits reports whether an effect is one that is asked for.
func (e Effect) fits(asked map[string]string) bool {
	for name, value := range asked {
		switch name {
		case "key":
			if e.Key != value {
				return false
			}
		case "id":
			if e.Planted != value {
				return false
			}
		case "since":
			if e.Time.UTC().Format(time.DateOnly) < value {
				return false
			}
		default:
			if e.asked[name] != value {
				return false
			}
		}
	}
	return true
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

// planted is the value by which the request's effect can be found.
func (x *exchange) planted() string {
	plant := x.cfg.Profile.Plant
	if plant == (Plant{}) {
		return ""
	}
	values, _ := valuesAt(plant.Kind, plant.Name, x.r, x.body)
	return strings.Join(values, ",")
}

// asked is what the request says at the placeholders of the finds.
func (x *exchange) asked() map[string]string {
	if len(x.finds) == 0 {
		return nil
	}
	out := map[string]string{}
	var body any
	var query url.Values
	for _, f := range x.finds {
		for _, name := range f.names() {
			switch parameter, inQuery := strings.CutPrefix(name, "query."); {
			case inQuery:
				if query == nil {
					query = x.r.URL.Query()
				}
				out[name] = query.Get(parameter)
			case segmentNumber(name) > 0:
				if segments := strings.Split(x.r.URL.EscapedPath(), "/"); segmentNumber(name) < len(segments) {
					out[name], _ = url.PathUnescape(segments[segmentNumber(name)])
				}
			case name[0] == '/':
				if form, ok := formOf(x.r, x.body); ok && form != nil {
					out[name] = form.Get(strings.Join(tokens(name), "/"))
					continue
				}
				if body == nil {
					body, _ = plainJSON(x.body)
				}
				out[name] = scalarAt(body, name)
			}
		}
	}
	return out
}
