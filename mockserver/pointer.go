package mockserver

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// tokens are those of a JSON pointer (RFC 6901).
func tokens(pointer string) []string {
	parts := strings.Split(pointer, "/")[1:]
	for i, t := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return parts
}

func isPointer(s string) bool { return s == "" || s[0] == '/' }

// hasStar reports whether a pointer means every item of an array.
func hasStar(pointer string) bool { return slices.Contains(tokens(pointer), "*") }

// valuesOf are the values at a path into v, of which a * stands for every item
// of an array.
func valuesOf(v any, path []string) []any {
	if len(path) == 0 {
		return []any{v}
	}
	switch v := v.(type) {
	case map[string]any:
		if inner, ok := v[path[0]]; ok {
			return valuesOf(inner, path[1:])
		}
	case []any:
		if path[0] == "*" {
			var all []any
			for _, item := range v {
				all = append(all, valuesOf(item, path[1:])...)
			}
			return all
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(v) {
			return valuesOf(v[i], path[1:])
		}
	}
	return nil
}

// textsAt are the strings at a path; a null counts as absent. Not ok: there is
// something else.
func textsAt(v any, path []string) (texts []string, ok bool) {
	for _, found := range valuesOf(v, path) {
		switch found := found.(type) {
		case string:
			texts = append(texts, found)
		case nil:
		default:
			return texts, false
		}
	}
	return texts, true
}

// without removes what a path points to from v.
func without(v any, path []string) any {
	if len(path) == 0 {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		inner, ok := v[path[0]]
		switch {
		case !ok:
		case len(path) == 1:
			delete(v, path[0])
		default:
			v[path[0]] = without(inner, path[1:])
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		switch {
		case path[0] == "*" && len(path) == 1:
			return []any{}
		case path[0] == "*":
			for i := range v {
				v[i] = without(v[i], path[1:])
			}
		case err != nil || i < 0 || i >= len(v):
		case len(path) == 1:
			v[i] = nil // the places of the others stay
		default:
			v[i] = without(v[i], path[1:])
		}
	}
	return v
}

// withValue puts a value at a path into an object, whose members on the way are
// made where they are absent, an array of one item where the next token is a *.
// False: something else is in the way.
func withValue(object map[string]any, path []string, value any) bool {
	if len(path) == 0 {
		return false
	}
	name, path := path[0], path[1:]
	if len(path) == 0 {
		object[name] = value
		return true
	}
	inner := object[name]
	if list, isList := inner.([]any); path[0] == "*" && (isList || inner == nil) {
		if len(list) == 0 {
			list = []any{nil}
		}
		held := map[string]any{"*": list[0]}
		if !withValue(held, path, value) {
			return false
		}
		list[0] = held["*"]
		object[name] = list
		return true
	}
	next, isObject := inner.(map[string]any)
	if inner != nil && !isObject {
		return false
	}
	if next == nil {
		next = map[string]any{}
	}
	object[name] = next
	return withValue(next, path, value)
}

// scalarAt is the text of a string, number or boolean at a pointer.
func scalarAt(v any, pointer string) string {
	for _, found := range valuesOf(v, tokens(pointer)) {
		switch found := found.(type) {
		case string:
			return found
		case json.Number:
			return found.String()
		case bool:
			return strconv.FormatBool(found)
		}
	}
	return ""
}

// holds reports whether the JSON body has something but null at a pointer.
func (a Answer) holds(pointer string) bool {
	v, _ := plainJSON([]byte(a.Body))
	return slices.ContainsFunc(valuesOf(v, tokens(pointer)), func(found any) bool { return found != nil })
}

// edited is an answer whose JSON body has another value at a pointer. An empty
// body becomes an object; one that is no JSON object stays.
func (a Answer) edited(pointer string, value any) Answer {
	object := map[string]any{}
	if strings.TrimSpace(a.Body) != "" {
		v, _ := plainJSON([]byte(a.Body))
		var ok bool
		if object, ok = v.(map[string]any); !ok {
			return a
		}
	}
	if !withValue(object, tokens(pointer), value) {
		return a
	}
	out, err := json.Marshal(object)
	if err != nil {
		return a
	}
	if a.Body == "" {
		a = a.with("Content-Type", "application/json")
	}
	a.Body = string(out) + "\n"
	return a
}
