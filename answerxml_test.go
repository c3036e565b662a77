package oncehttp

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnXMLAnswerIsReadByPathsOfLocalNames(t *testing.T) {
	t.Parallel()
	const body = "\ufeff" + `<?xml version="1.0"?><!DOCTYPE reply SYSTEM "reply.dtd"><!-- one -->
		<p:reply xmlns:p="urn:x" version="1.4"><error code=" 9 " x:why="w">Request <b>not</b> in&#32;progress &amp; <![CDATA[<so> ]]></error>
		<error code="5"/><list><error code="1">deep</error></list><p:id>  7 </p:id></p:reply>` + "\n"
	doc, ok := readDocument([]byte(body))
	require.True(t, ok)
	for path, want := range map[string][]string{
		"/reply/error/@code": {"9", "5"}, "/reply/error/@why": {"w"}, "/reply/@version": {"1.4"}, "/reply/id": {"7"}, "/reply/*/error/@code": {"1"},
		"/reply/error":      {"Request  in progress & <so>", ""},
		"/reply/list/error": {"deep"}, "/*/*/error": {"deep"}, "/reply/error/b": {"not"}, "/reply/list": {""},
		"/error": nil, "/reply/error/error": nil, "/reply/@none": nil, "/reply/@p": nil, "/reply/p:id": nil, "/reply/list/error/b/c/d": nil, "": nil, "/@version": nil,
	} {
		assert.Equal(t, want, slices.Collect(doc.texts(path)), path)
	}
	assert.True(t, doc.holds("/reply/error"))
	assert.False(t, doc.holds("/reply/list"))
	assert.False(t, doc.holds("/reply/none"))
	latin, ok := readDocument([]byte("<?xml version='1.0' encoding='ISO-8859-1'?><e code='7'>Zahlung l\xe4uft</e>"))
	require.True(t, ok)
	assert.Equal(t, []string{"Zahlung läuft"}, slices.Collect(latin.texts("/e")))
}

func TestWhatIsNoWholeXMLDocumentHasNoValues(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", " ", "<", "<a>", "<a><b></a>", "<a/><b/>", "x<a/>", "<a/>x", "<!-- a -->", "<?xml version='1.0'?>", "<a>\xff</a>", "<a", `<a b="1/>`,
		`<!DOCTYPE a [<!ENTITY e "expanded">]><a>&e;</a>`, // nothing of a document type's is expanded
		"<?xml version='1.0' encoding='UTF-16'?>\x00<\x00a\x00/\x00>",
		strings.Repeat("<a>", 10_001) + strings.Repeat("</a>", 10_001), strings.Repeat("<a>", 100_000),
	} {
		_, ok := readDocument([]byte(body))
		assert.False(t, ok, "%.40q", body)
	}
	deep := strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000)
	_, ok := readDocument([]byte(deep))
	assert.True(t, ok)
}

// xmlNode is an element as encoding/xml decodes it, the whole at once.
type xmlNode struct {
	XMLName  xml.Name
	Attr     []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []xmlNode  `xml:",any"`
}

func (n xmlNode) texts(names []string) []string {
	if names[0] != "*" && names[0] != n.XMLName.Local || len(names) == 1 && strings.HasPrefix(names[0], "@") {
		return nil
	}
	if len(names) == 1 {
		return []string{strings.TrimSpace(n.Text)}
	}
	if name, ok := strings.CutPrefix(names[1], "@"); ok && len(names) == 2 {
		var found []string
		for _, a := range n.Attr {
			if name != "" && a.Name.Local == name && a.Name.Space != "xmlns" {
				found = append(found, strings.TrimSpace(a.Value))
			}
		}
		return found
	}
	var found []string
	for _, c := range n.Children {
		found = append(found, c.texts(names[1:])...)
	}
	return found
}

// checkXMLPath compares what a path names in a document with what that is once
// it is decoded.
func checkXMLPath(t *testing.T, text []byte, path string) {
	got := slices.Collect(xmlTexts(text, path)) // no panic, whatever the path
	names := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if slices.ContainsFunc(names[:len(names)-1], func(s string) bool { return strings.HasPrefix(s, "@") }) {
		return // an attribute has nothing below it
	}
	var root xmlNode
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = readAsLatin1
	require.NoError(t, d.Decode(&root), "it is whole")
	require.Equal(t, root.texts(names), got)
}
