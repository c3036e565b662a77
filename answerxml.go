package oncehttp

import (
	"bytes"
	"encoding/xml"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// A document is an answer's body that can be read: one whole JSON text, or one
// whole XML document.
type document struct {
	json answerBody
	xml  []byte
}

// readDocument reports whether the body is one. A body that was cut short is
// none.
func readDocument(body []byte) (document, bool) {
	if text, ok := readAnswerBody(body); ok {
		return document{json: text}, true
	}
	body = bytes.TrimPrefix(body, []byte(byteOrderMark))
	return document{xml: body}, wholeXML(body)
}

// texts yields every text that a path names: a JSON pointer in which * stands
// for every item of an array; in XML a path of local names, see xmlTexts.
func (d document) texts(path string) iter.Seq[string] {
	if d.json == nil {
		return xmlTexts(d.xml, path)
	}
	return func(yield func(string) bool) {
		for v := range d.json.each(path) {
			if text, ok := v.text(); ok && !yield(text) {
				return
			}
		}
	}
}

// text is the first of them.
func (d document) text(path string) (string, bool) {
	for text := range d.texts(path) {
		return text, true
	}
	return "", false
}

// holds reports whether there is something at a path that is neither empty nor
// null.
func (d document) holds(path string) bool {
	if d.json == nil {
		for text := range d.texts(path) {
			if text != "" {
				return true
			}
		}
		return false
	}
	for v := range d.json.each(path) {
		if !v.isNull() && string(v) != `""` {
			return true
		}
	}
	return false
}

// codePlaces are where errors of its kind have their code: of XML, those of
// Amazon's protocols (https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html,
// aws-query-protocol.html, aws-ec2-query-protocol.html).
func (d document) codePlaces() []string {
	if d.json == nil {
		return []string{"/ErrorResponse/Error/Code", "/Error/Code", "/Response/Errors/Error/Code"}
	}
	return codePlaces()
}

// isXML: RFC 7303 sections 9.1, 9.2 and 4.2.
func isXML(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind == "application/xml" || kind == "text/xml" || strings.HasSuffix(kind, "+xml")
}

// deepestXML is how many levels of elements are read, as of JSON.
const deepestXML = 10_000

// wholeXML reports whether text is one XML document. Entities of its own (a
// document type's) are not known here, and not expanded: what uses one is none.
func wholeXML(text []byte) bool {
	i := skipSpace(text, 0)
	return i < len(text) && text[i] == '<' && walkXML(text, nil, "", nil)
}

// xmlTexts yields the texts, without white space around them, of the elements of
// text, which is whole, that a path names from the root on by their local names;
// of the attribute, where the last is @name. A * is any element. Text of
// elements inside does not count.
func xmlTexts(text []byte, path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		names := strings.Split(strings.TrimPrefix(path, "/"), "/")
		last, attribute := len(names)-1, ""
		if name, ok := strings.CutPrefix(names[last], "@"); ok {
			if names, attribute = names[:last], name; name == "" {
				return // no attribute has an empty name
			}
		}
		walkXML(text, names, attribute, yield)
	}
}

// walkXML yields what names and attribute name, and reports whether it came to
// the end of one document. It does not recurse.
func walkXML(text []byte, names []string, attribute string, yield func(string) bool) (whole bool) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = readAsLatin1
	var depth, matched, roots int // open elements; how many of them names names; elements that are in none
	var content strings.Builder
	here := func() bool { return depth > 0 && matched == depth && depth == len(names) }
	for {
		token, err := d.Token()
		if err != nil {
			return err == io.EOF && roots == 1
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			if depth++; depth > deepestXML || roots > 1 {
				return false
			}
			if matched == depth-1 && depth <= len(names) && (names[matched] == "*" || names[matched] == t.Name.Local) {
				matched++
			}
			if !here() {
				continue
			}
			content.Reset()
			for _, a := range t.Attr {
				declares := a.Name.Space == "xmlns" // a prefix; it is no attribute
				if attribute != "" && a.Name.Local == attribute && !declares && !yield(strings.TrimSpace(a.Value)) {
					return true
				}
			}
		case xml.EndElement:
			if here() && attribute == "" && !yield(strings.TrimSpace(content.String())) {
				return true
			}
			depth--
			matched = min(matched, depth)
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(t)) > 0 {
				return false
			}
			if here() {
				content.Write(t)
			}
		}
	}
}

// readAsLatin1 reads a document in another charset than UTF-8 byte by byte. In
// every charset of which ASCII is a part, codes come out right.
func readAsLatin1(_ string, r io.Reader) (io.Reader, error) {
	text, err := io.ReadAll(r)
	out := make([]byte, 0, len(text))
	for _, b := range text {
		out = utf8.AppendRune(out, rune(b))
	}
	return bytes.NewReader(out), err
}
