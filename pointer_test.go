package oncehttp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pointerText reads a body and returns the text at a pointer.
func pointerText(body, pointer string) (string, bool) {
	doc, ok := readAnswerBody([]byte(body))
	if !ok {
		return "", false
	}
	return doc.textAt(pointer)
}

func TestAPointerNamesAValueAsRFC6901Says(t *testing.T) {
	t.Parallel()
	const body = ` {"foo": ["bar", "baz", {"x": [1, [2], {}]}], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
		" ": 7, "m~n": 8, "~1": 9, "\u00e9": "é", "big": 12345678901234567890.10e+2, "no": false, "yes":true, "nil": null,
		"s": "a\u0062c\n", "o": {"o": {"o": "deep"}}, "twice": 1, "twice": {"n": "last"}, "00": "zeros", "brackets": "]}[{,:\"", "after": 1} ` + "\n"
	for pointer, want := range map[string]string{
		"/foo/0": "bar", "/foo/1": "baz", "/foo/2/x/0": "1", "/foo/2/x/1/0": "2", "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3", "/g|h": "4",
		`/i\j`: "5", `/k"l`: "6", "/ ": "7", "/m~0n": "8", "/~01": "9", "/é": "é", "/big": "12345678901234567890.10e+2", "/no": "false", "/yes": "true",
		"/s": "abc\n", "/o/o/o": "deep", "/twice/n": "last", "/00": "zeros", "/brackets": `]}[{,:"`, "/after": "1",
	} {
		got, ok := pointerText(body, pointer)
		assert.True(t, ok, pointer)
		assert.Equal(t, want, got, pointer)
	}
	for _, pointer := range []string{
		"", "/foo", "/o", "/nil", "/nil/x", "/none", "/foo/3", "/foo/-", "/foo/-1", "/foo/00", "/foo/01", "/foo/+1", "/foo/ 1", "/foo/", "/foo/x",
		"/foo/99999999999999999999", "/foo/0/0", "/o/o/o/o", "/no/0", "/twice/x", "foo", "/foo//0",
	} {
		got, ok := pointerText(body, pointer)
		assert.False(t, ok, pointer)
		assert.Empty(t, got, pointer)
	}
	got, ok := pointerText(` "whole" `, "")
	assert.True(t, ok)
	assert.Equal(t, "whole", got)
}

func TestWhatIsNoJSONHasNoValues(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", " ", "x", `{"a":1`, `{"a":1}x`, `{"a":1,}`, `{'a':1}`, "\ufeff", "\ufeff\ufeff" + `{"a":1}`, " \ufeff" + `{"a":1}`, `{"a":1}{"a":1}`, `{"a":01}`, `{"a":"` + "\n" + `"}`,
		strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), strings.Repeat(`{"a":`, 1_000_000),
	} {
		_, ok := pointerText(body, "/a")
		assert.False(t, ok, "%.20q", body)
	}
	deep := `{"deep":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `,"a":1}`
	got, ok := pointerText(deep, "/a")
	assert.True(t, ok)
	assert.Equal(t, "1", got)
}

func TestAWrongPointerIsTold(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string]string{
		"": "", "/": "", "/a/b": "", "/~0~1": "", "/é": "",
		"a": "does not start", "/~": "~0", "/~2": "~0", "/a~/b": "~0", "/\xff": "UTF-8",
	} {
		problem := pointerProblem(pointer)
		if want == "" {
			assert.Empty(t, problem, pointer)
		} else {
			assert.Contains(t, problem, want, pointer)
		}
	}
}

// slowTextAt is that by decoding the whole body.
func slowTextAt(body []byte, pointer string) (string, bool) {
	for _, text := range slowTexts(body, pointer, false) {
		return text, true
	}
	return "", false
}

// slowTexts are all that a pointer names; with star, * is every item of an array.
func slowTexts(body []byte, pointer string, star bool) (texts []string) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if !json.Valid(body) || dec.Decode(&v) != nil {
		return nil
	}
	at := []any{v}
	if pointer != "" {
		for token := range strings.SplitSeq(pointer[1:], "/") {
			var below []any
			for _, v := range at {
				switch x := v.(type) {
				case map[string]any:
					if v, ok := x[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]; ok {
						below = append(below, v)
					}
				case []any:
					i, err := strconv.ParseUint(token, 10, 31)
					if star && token == "*" {
						below = append(below, x...)
					} else if err == nil && int(i) < len(x) && (len(token) == 1 || token[0] != '0') {
						below = append(below, x[i])
					}
				}
			}
			at = below
		}
	}
	for _, v := range at {
		switch x := v.(type) {
		case string:
			texts = append(texts, x)
		case json.Number:
			texts = append(texts, x.String())
		case bool:
			texts = append(texts, strconv.FormatBool(x))
		}
	}
	return texts
}

func TestAStarNamesEveryItemOfAnArray(t *testing.T) {
	t.Parallel()
	doc, ok := readDocument([]byte(`{"errors":[{"code":"a","at":[1,[2,3]]},{"code":null},7,{"code":"b","at":[]}],"*":{"x":"star"},"none":[]}`))
	require.True(t, ok)
	for pointer, want := range map[string][]string{
		"/errors/*/code": {"a", "b"}, "/errors/*": {"7"}, "/errors/*/at/*": {"1"}, "/errors/*/at/*/*": {"2", "3"}, "/errors/0/at/1/*": {"2", "3"},
		"/*/x": {"star"}, "/none/*": nil, "/none/*/x": nil, "/errors/3/*": nil, "*": nil, "/errors/-": nil,
	} {
		assert.Equal(t, want, slices.Collect(doc.texts(pointer)), pointer)
	}
	assert.True(t, doc.holds("/errors/*/at"))
	assert.True(t, doc.holds("/errors/*/code"))
	assert.False(t, doc.holds("/errors/1/*"))
	first, ok := doc.text("/errors/*/code")
	assert.True(t, ok)
	assert.Equal(t, "a", first)
}

func FuzzPointer(f *testing.F) {
	f.Add([]byte(`{"error":{"code":"x","n":[1,2.50,{"a/b":null}]}}`), "/error/n/1")
	f.Add([]byte(`{"a":1,"a":{"b":"\ud83d\ude00"}}`), "/a/b")
	f.Add([]byte("{\"\xff\":[true]}"), "/\ufffd/0")
	f.Add([]byte(`[1,2]`), "/01")
	f.Add([]byte("\ufeff [1,\"\\ud800\"]"), "/1")
	f.Add([]byte(` [ [ ] , { } , "a" ] `), "/2")
	f.Add([]byte(`{"~1":{"":-0.0e-0}}`), "/~01/")
	f.Add([]byte(`{"a":[{"b":1},{"b":[2,{"*":3}]},4]}`), "/a/*/b")
	f.Add([]byte(`[[1,{"*":"x"}],[],2]`), "/*/*")
	f.Add([]byte(`<a><b c="1">x<d/>y</b><b>z</b></a>`), "/a/b")
	f.Add([]byte(`<a><b c="1">x</b><n:b c="2" n:c="3"/></a>`), "/a/b/@c")
	f.Add([]byte(`<a b="1"><c/></a>`), "/a/@")
	f.Add([]byte(`<a xmlns="u" xmlns:b="v" b="1" b:b=" 2 "/>`), "/a/@b")
	f.Add([]byte(`<!DOCTYPE a><a>&lt;<![CDATA[>]]><!-- c --></a>`), "/*")
	f.Add([]byte("\ufeff<?xml version='1.0' encoding='latin1'?><a>\xe4</a> "), "/a")
	f.Fuzz(func(t *testing.T, body []byte, pointer string) {
		if len(body)+len(pointer) > 1<<14 {
			t.Skip("the slow one is slow")
		}
		doc, isJSON := readAnswerBody(body)
		require.Equal(t, json.Valid(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))), isJSON)
		if !isJSON {
			if d, ok := readDocument(body); ok {
				checkXMLPath(t, d.xml, pointer)
			}
			return
		}
		got, ok := doc.textAt(pointer) // no panic, whatever the pointer
		if pointerProblem(pointer) != "" {
			return
		}
		want, wantOK := slowTextAt(body, pointer)
		require.Equal(t, wantOK, ok)
		require.Equal(t, want, got)
		if v, ok := doc.at(pointer); ok {
			require.True(t, json.Valid(v), "a value is a whole JSON text: %q", v)
		}
		for v := range doc.each(pointer) {
			require.True(t, json.Valid(v), "so is each: %q", v)
		}
		require.Equal(t, slowTexts(body, pointer, true), slices.Collect(document{json: doc}.texts(pointer)))
	})
}
