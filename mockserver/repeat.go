package mockserver

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
)

// repeat answers a repeat of what is done.
func (x *exchange) repeat(was past) Answer {
	p := x.cfg.Profile
	a := was.answer
	switch {
	case was.id == "" && p.Spent.Status != 0:
		a = x.worded(p.Spent, "")
	case was.id == "":
	case p.Repeat.Status != 0:
		a = x.worded(p.Repeat, was.id)
	case p.RepeatCurrent:
		a = a.edited("/state", "changed")
	}
	return x.marked(a, p.Replayed, was.stored)
}

// worded is an answer of the profile with its placeholders filled in, escaped as
// the body's kind wants it.
func (x *exchange) worded(a Answer, id string) Answer {
	a = a.clone()
	plain := strings.NewReplacer("{key}", x.key, "{id}", id)
	for _, values := range a.Header {
		for i := range values {
			values[i] = plain.Replace(values[i])
		}
	}
	escape := func(s string) string { return s }
	switch body := strings.TrimSpace(a.Body); {
	case strings.HasPrefix(body, "<"):
		escape = escapeXML
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		escape = escapeJSON
	}
	a.Body = strings.NewReplacer("{key}", escape(x.key), "{id}", escape(id)).Replace(a.Body)
	return a
}

func escapeXML(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a bytes.Buffer takes everything
	return b.String()
}

func escapeJSON(s string) string {
	b, _ := json.Marshal(s) // strings always marshal
	return string(b[1 : len(b)-1])
}
