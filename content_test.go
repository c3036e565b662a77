package oncehttp

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMultipartIsComparedByParts(t *testing.T) {
	t.Parallel()
	of := func(boundary, body string) payload {
		return payload{
			Method: "POST", URL: "https://h/", Body: []byte(strings.ReplaceAll(body, "B", boundary)),
			Header: http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}},
		}
	}
	field := func(name, value string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	const file = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n1\r\n2\r\n"
	form := field("a", "1") + file + "--B--\r\n"
	for _, c := range []struct {
		name, other string
		equal       bool
	}{
		{"the same", form, true},
		{"no line end at the end", strings.TrimSuffix(form, "\r\n"), true},
		{"order and spelling of part headers", field("a", "1") +
			"--B\r\ncontent-type:  Text/Plain\r\nContent-disposition: form-data; filename=a.txt; name=f\r\n\r\n1\r\n2\r\n--B--\r\n", true},
		{"order of parts", file + field("a", "1") + "--B--\r\n", false},
		{"value", strings.Replace(form, "1\r\n2", "1\r\n3", 1), false},
		{"name", strings.Replace(form, `name="a"`, `name="b"`, 1), false},
		{"filename", strings.Replace(form, "a.txt", "b.txt", 1), false},
		{"type of a part", strings.Replace(form, "text/plain", "text/html", 1), false},
		{"one part less", field("a", "1") + "--B--\r\n", false},
		{"one part more", field("a", "1") + form, false},
		{"another header", strings.Replace(form, "\r\nContent-Type", "\r\nX-A: 1\r\nContent-Type", 1), false},
		{"parts that run together", field("a", "1\r\n2") + strings.Replace(file, "1\r\n2", "", 1) + "--B--\r\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, ok := splitParts([]byte(c.other), "B")
			require.True(t, ok)
			var differs []string
			if !c.equal {
				differs = []string{"body"}
			}
			requireVerdict(t, of("one", form), of("two", c.other), identity{}, differs...)
		})
	}
	for name, malformed := range map[string]string{
		"empty":             "",
		"no end":            field("a", "1"),
		"text before":       "hello\r\n" + form,
		"text after":        form + "bye",
		"blank at boundary": strings.Replace(form, "--B\r\n", "--B \r\n", 1),
		"longer boundary":   strings.Replace(form, "--B\r\nContent-Disposition: form-data; name=\"f\"", "--Bx\r\nContent-Disposition: form-data; name=\"f\"", 1),
		"bare line feeds":   strings.ReplaceAll(form, "\r\n", "\n"),
		"folded header":     strings.Replace(form, "form-data; ", "form-data;\r\n ", 1),
		"folded, a colon":   strings.Replace(form, "form-data; ", "form-data;\r\n x=\"a:b\"; ", 1),
		"no colon":          strings.Replace(form, "Content-Type: ", "Content-Type ", 1),
		"no header end":     "--B\r\nContent-Type: a/b\r\n--B--\r\n",
		"line feed inside":  strings.Replace(form, "Content-Type: text", "Content-Type: a\nb", 1),
	} {
		_, ok := splitParts([]byte(malformed), "B")
		assert.False(t, ok, name)
		requireVerdict(t, of("one", malformed), of("one", malformed), identity{})
		assert.NotEmpty(t, differences(of("one", malformed+"B"), of("two", malformed+"B"), identity{}), name)
		assert.NotEqual(t, fingerprint(of("one", malformed), identity{}), fingerprint(of("one", form), identity{}), name)
	}
	none := func(boundary string) payload { return of(boundary, "\r\n--B--\r\n") }
	requireVerdict(t, none("one"), none("two"), identity{})
}
