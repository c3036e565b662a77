package oncehttp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// differences names what makes the fingerprints of two payloads differ, as
// [MismatchError] describes it. It is empty exactly where they are equal.
func differences(a, b payload, id identity) []string {
	var names []string
	differs := func(name string, yes bool) {
		if yes {
			names = append(names, name)
		}
	}
	differs("method", cmp.Or(a.Method, http.MethodGet) != cmp.Or(b.Method, http.MethodGet))
	whereA, hostA := normalURL(a.URL, a.Host)
	whereB, hostB := normalURL(b.URL, b.Host)
	differs("url", whereA != whereB)
	differs("host", hostA != hostB)
	headersA, headersB := significantHeaders(a.Header, id.significant), significantHeaders(b.Header, id.significant)
	for _, name := range id.significant {
		name = http.CanonicalHeaderKey(name)
		differs("header "+placeName(name), !slices.Equal(headersA[name], headersB[name]))
	}
	contentA, contentB := readContent(a, id), readContent(b, id)
	differs("content-type", contentA.mediaType != contentB.mediaType)
	switch {
	case contentA.equal(contentB):
	case contentA.form == "json" && contentB.form == "json":
		d := jsonDiffer{room: maxDiffers - len(names)}
		d.values(decodeJSON(a.Body), decodeJSON(b.Body), newPointerSet(id.ignore))
		names = append(names, d.names...)
	default:
		names = append(names, "body")
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// decodeJSON decodes what canonicalJSON has accepted.
func decodeJSON(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// jsonDiffer collects the pointers of values that differ.
type jsonDiffer struct {
	room  int      // for names; one is kept whatever it says
	path  []string // of the value at hand; joined only for a name that is kept
	names []string
}

func (d *jsonDiffer) full() bool { return len(d.names) > 0 && len(d.names) >= d.room }

func (d *jsonDiffer) add() {
	var b strings.Builder
	for _, token := range d.path {
		b.WriteString("/" + escapePointer.Replace(shorten(token, maxNameBytes)))
		if b.Len() > maxNameBytes {
			break
		}
	}
	d.names = append(d.names, cmp.Or(placeName(b.String()), "body"))
}

// values compares two values in the place that path names.
func (d *jsonDiffer) values(a, b any, ignore *pointerSet) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			keys := maps.Clone(a)
			maps.Copy(keys, b)
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				va, inA := a[key]
				vb, inB := b[key]
				d.below(key, va, vb, inA && inB, ignore)
			}
			return
		}
	case []any:
		if b, ok := b.([]any); ok {
			both := min(len(a), len(b))
			for i := range both {
				d.below(strconv.Itoa(i), a[i], b[i], true, ignore)
			}
			for i := both; i < max(len(a), len(b)) && !d.full(); i++ {
				d.below(strconv.Itoa(i), nil, nil, false, ignore)
			}
			return
		}
	case json.Number:
		if b, ok := b.(json.Number); ok && sameNumber(a, b) {
			return
		}
	case string, bool, nil:
		if a == b {
			return
		}
	}
	d.add()
}

// below compares what is under one token: two values, or one that only one side
// has.
func (d *jsonDiffer) below(token string, a, b any, both bool, ignore *pointerSet) {
	ignore = ignore.name(token)
	if ignore.here() || d.full() {
		return
	}
	d.path = append(d.path, token)
	if both {
		d.values(a, b, ignore)
	} else {
		d.add()
	}
	d.path = d.path[:len(d.path)-1]
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	ca, _ := canonicalJSON([]byte(a), nil)
	cb, _ := canonicalJSON([]byte(b), nil)
	return bytes.Equal(ca, cb)
}
