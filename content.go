package oncehttp

import (
	"bytes"
	"maps"
	"mime"
	"slices"
	"strconv"
	"strings"
)

// bodyContent is a body in the form in which it is compared.
type bodyContent struct {
	mediaType string
	form      string // "json", "multipart" or "bytes"
	body      []byte // canonical for JSON, nil for multipart
	parts     []bodyPart
}

// A bodyPart is a part of a multipart body.
type bodyPart struct {
	header []string // name, value, name, value ..., sorted by name
	body   []byte
}

func (c bodyContent) equal(d bodyContent) bool {
	return c.form == d.form && bytes.Equal(c.body, d.body) &&
		slices.EqualFunc(c.parts, d.parts, func(a, b bodyPart) bool {
			return slices.Equal(a.header, b.header) && bytes.Equal(a.body, b.body)
		})
}

// readContent reads the body as its content type says; one that is something
// else, or that can be read in two ways, is its bytes.
func readContent(p payload, id identity) bodyContent {
	header := strings.Join(headerValues(p.Header, "Content-Type"), ", ")
	name, params, err := mime.ParseMediaType(header)
	if err != nil {
		return bodyContent{mediaType: header, form: "bytes", body: p.Body}
	}
	foldCharset(params)
	switch {
	case jsonMediaType(name):
		if params["charset"] == "utf-8" {
			delete(params, "charset") // RFC 8259 section 8.1: it always is
		}
		if _, other := params["charset"]; other {
			break
		}
		if text, ok := canonicalJSON(p.Body, newPointerSet(id.ignore)); ok {
			return bodyContent{mediaType: formatMediaType(name, params), form: "json", body: text}
		}
	case strings.HasPrefix(name, "multipart/") && params["boundary"] != "":
		if parts, ok := splitParts(p.Body, params["boundary"]); ok {
			delete(params, "boundary")
			return bodyContent{mediaType: formatMediaType(name, params), form: "multipart", parts: parts}
		}
	}
	return bodyContent{mediaType: formatMediaType(name, params), form: "bytes", body: p.Body}
}

// jsonMediaType: those with the suffix (RFC 6839 section 3.1), and those that
// are JSON by another name. AWS's are of its JSON protocols
// (https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html).
func jsonMediaType(mediaType string) bool {
	switch mediaType {
	case "application/json", "text/json", "application/x-amz-json-1.0", "application/x-amz-json-1.1":
		return true
	}
	return strings.HasSuffix(mediaType, "+json")
}

// foldCharset spells a charset in lower case: its case says nothing (RFC 9110
// section 8.3.2), that of other parameters may.
func foldCharset(params map[string]string) {
	if charset, ok := params["charset"]; ok {
		params["charset"] = strings.ToLower(charset)
	}
}

func formatMediaType(name string, params map[string]string) string {
	if len(params) == 0 {
		return name
	}
	var b strings.Builder
	b.WriteString(name)
	for _, key := range slices.Sorted(maps.Keys(params)) {
		b.WriteString("; " + key + "=" + strconv.Quote(params[key]))
	}
	return b.String()
}

// splitParts cuts a multipart body (RFC 2046 section 5.1.1) at its boundary,
// without copying it. It is stricter than receivers are: text before the first
// or after the last boundary, blanks after a boundary, folded or malformed
// header lines are refused, since receivers differ in what they make of them.
func splitParts(body []byte, boundary string) ([]bodyPart, bool) {
	delimiter := []byte("\r\n--" + boundary)
	rest, ok := bytes.CutPrefix(body, delimiter)
	if !ok {
		if rest, ok = bytes.CutPrefix(body, delimiter[2:]); !ok {
			return nil, false
		}
	}
	var parts []bodyPart
	for {
		if end, last := bytes.CutPrefix(rest, []byte("--")); last {
			return parts, len(end) == 0 || string(end) == "\r\n"
		}
		if rest, ok = bytes.CutPrefix(rest, []byte("\r\n")); !ok {
			return nil, false
		}
		var raw []byte
		if raw, rest, ok = bytes.Cut(rest, delimiter); !ok {
			return nil, false
		}
		p, ok := readPart(raw)
		if !ok {
			return nil, false
		}
		parts = append(parts, p)
	}
}

// readPart reads header lines, an empty line, and a body.
func readPart(raw []byte) (bodyPart, bool) {
	body, bare := bytes.CutPrefix(raw, []byte("\r\n"))
	if bare {
		return bodyPart{body: body}, true
	}
	head, body, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !ok {
		return bodyPart{}, false
	}
	var fields [][2]string
	for line := range strings.SplitSeq(string(head), "\r\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") || strings.ContainsAny(line, "\r\n") {
			return bodyPart{}, false
		}
		name, value = strings.ToLower(name), strings.Trim(value, " \t")
		if name == "content-disposition" || name == "content-type" {
			value = normalParameters(value)
		}
		fields = append(fields, [2]string{name, value})
	}
	slices.SortStableFunc(fields, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	p := bodyPart{body: body}
	for _, f := range fields {
		p.header = append(p.header, f[0], f[1])
	}
	return p, true
}

// normalParameters spells a header value of the form "name; key=value" in one
// way; one that cannot be read stays as it is.
func normalParameters(value string) string {
	name, params, err := mime.ParseMediaType(value)
	if err != nil {
		return value
	}
	foldCharset(params)
	return formatMediaType(name, params)
}
