package oncehttp

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// maxXMLDepth is how many elements may stand in each other.
const maxXMLDepth = 1000

var (
	errNotXML  = errors.New("the body is not XML in UTF-8; send a well-formed document")
	errDoctype = errors.New("the body has a document type declaration; leave it out")
)

// An xmlElement is one that is open.
type xmlElement struct {
	name       string // as it stands, with its prefix
	start      int    // of its tag
	inside     int    // after it
	selfClosed bool   // the tag is <a/>
	onPath     bool   // it is where the path leads, so far
	text       strings.Builder
	elements   bool // it has some
}

// xmlSites finds the element at a path of local names. One that is missing
// becomes its parent's last, under the parent's prefix. The text is read as it
// stands: no entity is expanded but XML's own five.
func xmlSites(text []byte, path string) ([]site, error) {
	names := strings.Split(strings.TrimPrefix(path, "/"), "/")
	d := xml.NewDecoder(bytes.NewReader(text))
	var (
		open           []*xmlElement
		parents, roots int
		missing, there *site
	)
	for {
		before := int(d.InputOffset())
		token, err := d.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, errNotXML
		}
		after := int(d.InputOffset())
		switch token := token.(type) {
		case xml.Directive:
			return nil, errDoctype
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text.Write(token)
			} else if len(bytes.TrimSpace(token)) > 0 {
				return nil, errNotXML
			}
		case xml.StartElement:
			e := &xmlElement{name: rawName(token.Name), start: before, inside: after, selfClosed: bytes.HasSuffix(text[:after], []byte("/>"))}
			depth := len(open)
			if depth == 0 {
				roots++
				e.onPath = token.Name.Local == names[0]
			} else {
				open[depth-1].elements = true
				e.onPath = open[depth-1].onPath && depth < len(names) && token.Name.Local == names[depth]
			}
			if open = append(open, e); len(open) > maxXMLDepth {
				return nil, errNotXML
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1].name != rawName(token.Name) {
				return nil, errNotXML
			}
			e := open[len(open)-1]
			open = open[:len(open)-1]
			switch {
			case !e.onPath:
			case len(open) == len(names)-2:
				parents++
				missing = e.lacks(names[len(names)-1], before)
			case len(open) == len(names)-1 && there != nil:
				return nil, errors.New("it stands twice; set it once")
			case len(open) == len(names)-1 && e.elements:
				return nil, errors.New("what stands there is not text; send text, or leave it out")
			case len(open) == len(names)-1:
				there = e.holds(before, after)
			}
		}
	}
	switch {
	case len(open) > 0 || roots != 1:
		return nil, errNotXML
	case parents > 1:
		return nil, errors.New("the element that it goes into stands twice")
	case parents == 0:
		return nil, errors.New("the element that it goes into is not there; send it")
	case there != nil:
		return []site{*there}, nil
	}
	return []site{*missing}, nil
}

// lacks is the site of a child that is not there; the element's end begins at an
// index.
func (e *xmlElement) lacks(child string, end int) *site {
	if prefix, _, ok := strings.Cut(e.name, ":"); ok {
		child = prefix + ":" + child
	}
	s := &site{at: end, end: end, before: "<" + child + ">", after: "</" + child + ">", from: end, to: end}
	if e.selfClosed {
		s.at, s.from = end-len("/>"), end-len("/>")
		s.before, s.after = ">"+s.before, s.after+"</"+e.name+">"
		s.rest = "></" + e.name + ">"
	}
	return s
}

// holds is the site of an element whose end stands at end, and after is beyond.
func (e *xmlElement) holds(end, after int) *site {
	s := &site{value: strings.TrimSpace(e.text.String()), at: e.inside, end: end, from: e.start, to: after}
	if e.selfClosed {
		s.at, s.before, s.after = end-len("/>"), ">", "</"+e.name+">"
	}
	return s
}

// allXMLNames: each is the name of an element, without a prefix.
func allXMLNames(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		token, _ := xml.NewDecoder(strings.NewReader("<" + name + "/>")).RawToken()
		start, ok := token.(xml.StartElement)
		return !ok || start.Name.Local != name || strings.Contains(name, ":")
	})
}

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func escapeXML(s string) string {
	var out bytes.Buffer
	xml.EscapeText(&out, []byte(s)) // a buffer takes everything
	return out.String()
}
