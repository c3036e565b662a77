package oncehttp

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowJSON does what canonicalJSON does, by encoding/json and big numbers: a
// text that is equal for equal values.
func slowJSON(text string, ignore []string) (string, bool) {
	if !utf8.ValidString(text) || !json.Valid([]byte(text)) || loneSurrogate(text) || !singleKeys(text) {
		return "", false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return "", false
	}
	tagged, ok := tagJSON(v, "", ignore)
	if !ok {
		return "", false
	}
	out, err := json.Marshal(tagged)
	return string(out), err == nil
}

var jsonEscapes = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)

func loneSurrogate(text string) bool {
	highEnd := -1 // where an open high surrogate ends
	for _, at := range jsonEscapes.FindAllStringIndex(text, -1) {
		code := strings.ToLower(text[at[0]:at[1]])
		high := code >= `\ud800` && code < `\udc00` && len(code) == 6
		low := code >= `\udc00` && code < `\ue000` && len(code) == 6
		if low != (highEnd == at[0]) {
			return true
		}
		switch {
		case high && highEnd >= 0 && !low:
			return true
		case high:
			highEnd = at[1]
		case highEnd >= 0 && !low:
			return true
		default:
			highEnd = -1
		}
	}
	return highEnd >= 0
}

// singleKeys also holds the nesting to maxJSONDepth.
func singleKeys(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	type level struct {
		keys map[string]bool
		key  bool // a key comes next
	}
	stack := []level{{}}
	for {
		token, err := d.Token()
		if err != nil {
			return true
		}
		top := &stack[len(stack)-1]
		switch token {
		case json.Delim('{'):
			top.key = top.keys != nil
			stack = append(stack, level{map[string]bool{}, true})
		case json.Delim('['):
			top.key = top.keys != nil
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		default:
			if name, isText := token.(string); isText && top.key {
				if top.keys[name] {
					return false
				}
				top.keys[name], top.key = true, false
			} else {
				top.key = top.keys != nil
			}
		}
		if len(stack) > maxJSONDepth+1 {
			return false
		}
	}
}

func tagJSON(v any, at string, ignore []string) (any, bool) {
	switch v := v.(type) {
	case json.Number:
		return slowNumber(string(v))
	case string:
		return "s" + v, true
	case []any:
		list := []any{}
		for i, item := range v {
			inner := at + "/" + strconv.Itoa(i)
			t, ok := tagJSON(item, inner, ignore)
			if !ok {
				return nil, false
			}
			if !slices.Contains(ignore, inner) {
				list = append(list, t)
			}
		}
		return list, true
	case map[string]any:
		object := map[string]any{}
		for key, item := range v {
			inner := at + "/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
			t, ok := tagJSON(item, inner, ignore)
			if !ok {
				return nil, false
			}
			if !slices.Contains(ignore, inner) {
				object[key] = t
			}
		}
		return object, true
	}
	return v, true
}

// slowNumber writes a number as n<integer>e<exponent>, the integer without a
// zero at its end.
func slowNumber(s string) (string, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	m, _ := new(big.Int).SetString(whole+fraction, 10)
	if m.Sign() == 0 {
		return "n0", true
	}
	e := new(big.Int)
	if exponent != "" {
		e.SetString(strings.TrimPrefix(exponent, "+"), 10)
	}
	if len(strings.TrimPrefix(e.String(), "-")) > maxExponentDigits {
		return "", false
	}
	e.Sub(e, big.NewInt(int64(len(fraction))))
	ten, rest := big.NewInt(10), new(big.Int)
	for {
		quotient, _ := new(big.Int).QuoRem(m, ten, rest)
		if rest.Sign() != 0 {
			return fmt.Sprintf("n%se%s", m, e), true
		}
		m = quotient
		e.Add(e, big.NewInt(1))
	}
}

func TestSpellingChangesNothingAndAnyLeafChangesTheFingerprint(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		v := randomJSON(r, 4)
		a, b := jsonPayload(respellJSON(v, r)), jsonPayload(respellJSON(v, r))
		_, ok := canonicalJSON(a.Body, nil)
		require.True(t, ok, "seed %d: %s", seed, a.Body)
		require.Equal(t, fingerprint(a, identity{}), fingerprint(b, identity{}), "seed %d: %s and %s", seed, a.Body, b.Body)
		require.Empty(t, differences(a, b, identity{}), "seed %d", seed)

		changed, pointer := changeLeaf(v, "", r)
		c := jsonPayload(respellJSON(changed, r))
		slowA, _ := slowJSON(string(a.Body), nil)
		slowC, _ := slowJSON(string(c.Body), nil)
		if slowA == slowC {
			continue // 1e+00 and 1e+001 are one number
		}
		require.NotEqual(t, fingerprint(a, identity{}), fingerprint(c, identity{}), "seed %d: %s and %s", seed, a.Body, c.Body)
		if pointer == "" {
			pointer = "body"
		}
		require.Equal(t, []string{placeName(pointer)}, differences(a, c, identity{}), "seed %d", seed)
		if pointer != "body" {
			require.Equal(t, fingerprint(a, identity{ignore: []string{pointer}}),
				fingerprint(c, identity{ignore: []string{pointer}}), "seed %d: without %s", seed, pointer)
		}
	}
}

func FuzzFingerprintAgainstTheSlowOne(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":{"x":1.0,"y":[1e2,-0,"\u00e9\ud83d\ude00"]}}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `["\ud800"]`, `["\\ud800"]`,
		`["\ud83d\\ude00"]`, `[0.10e-5,1E+400,10e999999999999999999]`, `[1,]`, `{}`, ` null `, "\"\xff\"", `["\ufffd"]`, `1 2`, `"\u0000"`,
		`{"":{"":[[],{}]}}`, `[12e18446744073709551616]`, `[0e18446744073709551616]`, strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
	} {
		f.Add(seed, `{"a":1}`, "/a", uint64(1))
		f.Add(seed, seed, "/b/y/0", uint64(2))
	}
	f.Add(`[1,2]`, `[3,2]`, "/0", uint64(3))
	f.Add(`{"a":[{"b":1}]}`, `{"a":[{"b":2}]}`, "/a/0/b", uint64(4))
	f.Fuzz(func(t *testing.T, a, b, ignored string, seed uint64) {
		if len(a)+len(b) > 1<<14 {
			t.Skip("the slow one is slow")
		}
		id := identity{ignore: []string{ignored}}
		if validIgnore(id.ignore) != nil {
			id.ignore = nil
		}
		slowA, okA := slowJSON(a, id.ignore)
		slowB, okB := slowJSON(b, id.ignore)
		_, ok := canonicalJSON([]byte(a), newPointerSet(id.ignore))
		require.Equal(t, okA, ok, "%q", a)

		same := a == b
		if okA && okB {
			same = slowA == slowB
		}
		pa, pb := jsonPayload(a), jsonPayload(b)
		require.Equal(t, same, fingerprint(pa, id) == fingerprint(pb, id), "%q and %q", a, b)
		require.Equal(t, same, len(differences(pa, pb, id)) == 0, "%q and %q", a, b)

		if okA {
			c := jsonPayload(respellJSON(decodeJSON(pa.Body), rand.New(rand.NewPCG(seed, 0))))
			assert.Equal(t, fingerprint(pa, id), fingerprint(c, id), "%q and %q", a, c.Body)
			assert.Empty(t, differences(pa, c, id))
		}
	})
}
