package oncehttp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// jsonSpeller writes a decoded JSON value in a spelling drawn at random.
type jsonSpeller struct {
	*rand.Rand
	bytes.Buffer
}

func (s *jsonSpeller) space() {
	for range s.IntN(3) {
		s.WriteByte(" \t\r\n"[s.IntN(4)])
	}
}

func (s *jsonSpeller) value(v any) {
	s.space()
	defer s.space()
	switch v := v.(type) {
	case json.Number:
		s.number(string(v))
	case string:
		s.text(v)
	case []any:
		s.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				s.WriteByte(',')
			}
			s.value(item)
		}
		s.space()
		s.WriteByte(']')
	case map[string]any:
		s.WriteByte('{')
		keys := slices.Sorted(maps.Keys(v))
		s.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for i, key := range keys {
			if i > 0 {
				s.WriteByte(',')
			}
			s.space()
			s.text(key)
			s.space()
			s.WriteByte(':')
			s.value(v[key])
		}
		s.space()
		s.WriteByte('}')
	default:
		fmt.Fprint(s, map[any]string{nil: "null", true: "true", false: "false"}[v])
	}
}

func (s *jsonSpeller) text(text string) {
	s.WriteByte('"')
	for _, r := range text {
		switch {
		case r < ' ' || r == '"' || r == '\\' || s.IntN(4) == 0:
			if r > 0xFFFF {
				r -= 0x10000
				fmt.Fprintf(s, `\u%04x\u%04X`, 0xD800+r>>10, 0xDC00+r&0x3FF)
			} else {
				fmt.Fprintf(s, `\u%04x`, r)
			}
		case r == '/' && s.IntN(2) == 0:
			s.WriteString(`\/`)
		default:
			s.WriteRune(r)
		}
	}
	s.WriteByte('"')
}

// number moves the point and makes up for it in the exponent.
func (s *jsonSpeller) number(literal string) {
	normal, ok := slowNumber(literal)
	digits, exponent, _ := strings.Cut(strings.TrimPrefix(normal, "n"), "e")
	e, err := strconv.ParseInt(exponent, 10, 64)
	switch {
	case normal == "n0":
		s.WriteString([]string{"0", "-0", "0.00", "0e7", "-0E-3"}[s.IntN(5)])
		return
	case !ok || err != nil || max(e, -e) > 1e17:
		s.WriteString(literal)
		return
	}
	if strings.HasPrefix(digits, "-") {
		s.WriteByte('-')
		digits = digits[1:]
	}
	zeros := s.IntN(3)
	digits += strings.Repeat("0", zeros)
	e -= int64(zeros)
	if cut := 1 + s.IntN(len(digits)); cut < len(digits) {
		e += int64(len(digits) - cut)
		digits = digits[:cut] + "." + digits[cut:]
	} else if s.IntN(2) == 0 {
		digits += ".0"
	}
	s.WriteString(digits)
	if e != 0 || s.IntN(2) == 0 {
		fmt.Fprintf(s, []string{"e%d", "E%d", "e%+d", "E%+03d"}[s.IntN(4)], e)
	}
}

func respellJSON(v any, r *rand.Rand) string {
	s := &jsonSpeller{Rand: r}
	s.value(v)
	return s.String()
}

// randomJSON returns a decoded document of at most depth levels.
func randomJSON(r *rand.Rand, depth int) any {
	switch kind := r.IntN(8); {
	case kind < 2 && depth > 0:
		list := make([]any, r.IntN(5))
		for i := range list {
			list[i] = randomJSON(r, depth-1)
		}
		return list
	case kind < 5 && depth > 0:
		object := map[string]any{}
		for range r.IntN(5) {
			object[randomText(r)] = randomJSON(r, depth-1)
		}
		return object
	case kind < 6:
		return randomText(r)
	case kind < 7:
		return json.Number(strconv.FormatFloat(r.NormFloat64()*1e3, "eg"[r.IntN(2)], r.IntN(5), 64))
	}
	return []any{nil, true, false}[r.IntN(3)]
}

func randomText(r *rand.Rand) string {
	letters := []rune("abAB01/~\"\\\n\x00é€😀 ")
	text := make([]rune, r.IntN(6))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}

// changeLeaf changes one value that holds no others, and returns its pointer.
func changeLeaf(v any, at string, r *rand.Rand) (any, string) {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			i, pointer := r.IntN(len(v)), ""
			v = slices.Clone(v)
			v[i], pointer = changeLeaf(v[i], at+"/"+strconv.Itoa(i), r)
			return v, pointer
		}
	case map[string]any:
		if len(v) > 0 {
			keys := slices.Sorted(maps.Keys(v))
			key, pointer := keys[r.IntN(len(keys))], ""
			v = maps.Clone(v)
			v[key], pointer = changeLeaf(v[key], at+"/"+escapePointer.Replace(key), r)
			return v, pointer
		}
	case string:
		return v + "x", at
	case json.Number:
		return v + "1", at // a digit more of the fraction or the exponent
	}
	return json.Number("77"), at
}
