package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oncehttp/oncehttp"
)

// location is where an answer without a body may name its effect.
const location = "header Location"

// leaves are the values in an answer's body that are neither objects nor lists,
// by their JSON pointers, and its Location. In XML they are the texts of elements,
// by paths of local names. Of another body there are none.
func (a answer) leaves() map[string]string {
	out := map[string]string{}
	if l := a.header.Get("Location"); l != "" {
		out[location] = l
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) == nil {
		gather(out, "", doc)
	} else if bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("<")) {
		gatherXML(out, a.body)
	}
	return out
}

// gatherXML stops where the text is no XML. Elements of one path are one leaf.
func gatherXML(out map[string]string, body []byte) {
	d := xml.NewDecoder(bytes.NewReader(body))
	at := ""
	for {
		t, err := d.Token()
		if err != nil {
			return
		}
		switch t := t.(type) {
		case xml.StartElement:
			at += "/" + t.Name.Local
		case xml.EndElement:
			at = at[:strings.LastIndexByte(at, '/')]
		case xml.CharData:
			if text := strings.TrimSpace(string(t)); text != "" {
				out[at] = strings.TrimSpace(out[at] + " " + text)
			}
		}
	}
}

func gather(out map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			gather(out, at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), member)
		}
	case []any:
		for i, item := range v {
			gather(out, at+"/"+strconv.Itoa(i), item)
		}
	case string:
		out[at] = v
	case nil:
		out[at] = ""
	default: // json.Number, bool
		out[at] = fmt.Sprint(v)
	}
}

// differing are the places where two answers differ, but for the contract's
// marks, sorted. What calls an effect by its name counts, though it is a mark of
// the API's own: a request's id does not.
func differing(c oncehttp.Contract, a, b answer) []string {
	one, two := a.leaves(), b.leaves()
	var places []string
	for place := range one {
		if one[place] != two[place] {
			places = append(places, place)
		}
	}
	for place := range two {
		if _, ok := one[place]; !ok {
			places = append(places, place)
		}
	}
	places = slices.DeleteFunc(places, func(p string) bool {
		_, names := nameRank(p)
		return slices.Contains(c.Replay.At, p) || slices.Contains(c.Ignored.At, p) || slices.Contains(c.Origin.At, p) && !names
	})
	slices.Sort(places)
	return places
}

// alike reports whether two answers say the same, but for the contract's marks.
func alike(c oncehttp.Contract, a, b answer) bool {
	return len(differing(c, a, b)) == 0 && (len(a.leaves()) > 0 || bytes.Equal(a.body, b.body))
}

// naming is the place where two answers, which tell of two effects, call them by
// different names; empty: it cannot be told. Nearer to the root is better, id is
// better than order_id, and what numbers requests is none.
func naming(c oncehttp.Contract, a, b answer) string {
	best, cost := "", 0
	for _, place := range differing(c, a, b) {
		rank, ok := nameRank(place)
		if ok && a.leaves()[place] != "" && b.leaves()[place] != "" && (best == "" || rank < cost) {
			best, cost = place, rank
		}
	}
	return best
}

func nameRank(place string) (int, bool) {
	if place == location {
		return 1000, true
	}
	depth := strings.Count(place, "/")
	words := strings.ToLower(strings.ReplaceAll(place, "-", "_"))
	for _, no := range []string{"request", "trace", "correlation", "idempot"} {
		if strings.Contains(words, no) {
			return 0, false
		}
	}
	last := place[strings.LastIndexByte(place, '/')+1:]
	switch lower := strings.ToLower(last); {
	case lower == "id":
		return depth, true
	case lower == "uuid", lower == "guid", lower == "token", lower == "reference":
		return 100 + depth, true
	case strings.HasSuffix(lower, "_id"), strings.HasSuffix(last, "Id"), strings.HasSuffix(last, "ID"), strings.HasSuffix(lower, "-id"):
		return 200 + depth, true
	}
	return 0, false
}
