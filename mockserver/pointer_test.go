package mockserver

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPointerFindsWhatItPointsTo(t *testing.T) {
	t.Parallel()
	const text = `{"a":{"b":["x",{"c":"y"},{"c":7},{"c":true}]},"":"empty","m~n":"tilde","s/t":"slash","*":"star","z":null}`
	v, ok := plainJSON([]byte(text))
	require.True(t, ok)
	for pointer, want := range map[string]string{
		"/a/b/0": `["x"]`, "/a/b/1/c": `["y"]`, "/a/b/*/c": `["y",7,true]`, "/": `["empty"]`, "/m~0n": `["tilde"]`, "/s~1t": `["slash"]`,
		"/*": `["star"]`, "/z": `[null]`, "/a/b/9": `null`, "/a/b/-1": `null`, "/a/b/x": `null`, "/a/b/0/c": `null`, "/none": `null`, "": `[` + text + `]`,
	} {
		got, err := json.Marshal(valuesOf(v, tokens(pointer)))
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got), pointer)
	}
	assert.Equal(t, "7", scalarAt(v, "/a/b/2/c"))
	assert.Equal(t, "true", scalarAt(v, "/a/b/3/c"))
	assert.Empty(t, scalarAt(v, "/a"))
	assert.Empty(t, scalarAt(v, "/none"))
}

func TestWhatAPointerNamesIsTakenOut(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string]string{
		"/a":     `{"l":[{"x":1,"y":2},{"x":3}],"n":5}`,
		"/a/b":   `{"a":{},"l":[{"x":1,"y":2},{"x":3}],"n":5}`,
		"/l/*/x": `{"a":{"b":1},"l":[{"y":2},{}],"n":5}`,
		"/l/*":   `{"a":{"b":1},"l":[],"n":5}`,
		"/l/0":   `{"a":{"b":1},"l":[null,{"x":3}],"n":5}`,
		"/l/0/x": `{"a":{"b":1},"l":[{"y":2},{"x":3}],"n":5}`,
		"/l/7":   `{"a":{"b":1},"l":[{"x":1,"y":2},{"x":3}],"n":5}`,
		"/n/b":   `{"a":{"b":1},"l":[{"x":1,"y":2},{"x":3}],"n":5}`,
		"/q/b":   `{"a":{"b":1},"l":[{"x":1,"y":2},{"x":3}],"n":5}`,
	} {
		v, ok := plainJSON([]byte(`{"a":{"b":1},"l":[{"x":1,"y":2},{"x":3}],"n":5}`))
		require.True(t, ok)
		got, err := json.Marshal(without(v, tokens(pointer)))
		require.NoError(t, err)
		assert.Equal(t, want, string(got), pointer)
	}
}

func TestABodyIsEditedWhereItIsAnObject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, pointer, want string }{
		{"", "/a/b", `{"a":{"b":"v"}}` + "\n"},
		{`{"a":{"c":1.50}}`, "/a/b", `{"a":{"b":"v","c":1.50}}` + "\n"},
		{`{"a":null}`, "/a/b", `{"a":{"b":"v"}}` + "\n"},
		{`{"a":1}`, "/a/b", `{"a":1}`},
		{`{"a":1}`, "/a", `{"a":"v"}` + "\n"},
		{`[1]`, "/0", `[1]`},
		{`<a/>`, "/a", `<a/>`},
		{`{"a":1,"a":2}`, "/b", `{"a":1,"a":2}`},
		{`{}`, "/a/*/b", `{"a":[{"b":"v"}]}` + "\n"},
		{`{"a":[{"c":1},{"b":2}]}`, "/a/*/b", `{"a":[{"b":"v","c":1},{"b":2}]}` + "\n"},
		{`{"a":[]}`, "/a/*", `{"a":["v"]}` + "\n"},
		{`{"a":[1]}`, "/a/*/b", `{"a":[1]}`},
		{`{"a":{}}`, "/a/*", `{"a":{"*":"v"}}` + "\n"},
	} {
		got := Answer{Body: c.body}.edited(c.pointer, "v")
		assert.Equal(t, c.want, got.Body, "%+v", c)
		assert.Equal(t, c.body == "", got.Header.Get("Content-Type") == "application/json", "%+v", c)
	}
}
