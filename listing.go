package oncehttp

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// findListed looks for the record's effect in the list that answers.
func (l Lookup) findListed(doc answerBody, f facts, c *Contract, r record, now time.Time) (Finding, string) {
	list, ok := doc.at(strings.TrimSuffix(l.Items, "/*"))
	if !ok || list[0] != '[' {
		return Finding{}, "its answer lacks the list"
	}
	var found Finding
	items := 0
	for item := range list.items() {
		if items++; !l.names(item, r) {
			continue
		}
		reference, named := l.reference(item)
		switch {
		case !l.inState(item):
			return Finding{}, "what it shows is in no state that proves the effect"
		case !named:
			return Finding{}, "its answer lacks the reference"
		case found.Kind == CannotTell:
			found = Finding{Kind: Found, Reference: reference}
		case l.Reference == "" || reference != found.Reference:
			found.Repeated = true
		}
	}
	if found.Kind == Found {
		return found, ""
	}
	switch p := l.paging(f.header, doc, items); {
	case p.more:
		return Finding{}, "its list has another page"
	case items > 0 && !p.ends:
		return Finding{}, "its list is of others, and does not say that it ends there"
	case !l.mayName(c, r):
		return Finding{}, "no id was planted by which its list could name the effect"
	}
	return l.absent(f, c, r, now)
}

// paging is what an answer says of the rest of its list: that there is more, or
// that there is none, in any of the ways of many APIs. A wrong more costs lookups;
// to miss one could prove what is false, so that more outweighs ends.
type paging struct {
	items      float64
	more, ends bool
}

func (l Lookup) paging(h http.Header, doc answerBody, items int) paging {
	p := paging{items: float64(items), ends: items < l.limit()}
	for _, line := range h.Values("Link") { // RFC 8288
		plain := plainName(line)
		pages := slices.ContainsFunc([]string{"relfirst", "relprev", "rellast"}, func(rel string) bool { return strings.Contains(plain, rel) })
		next := strings.Contains(plain, "relnext")
		p.more, p.ends = p.more || next, p.ends || pages && !next
	}
	for name, lines := range h {
		plain := strings.TrimPrefix(plainName(name), "x")
		if strings.Contains(plain, "next") || strings.Contains(plain, "continuation") || strings.HasPrefix(plain, "total") {
			for _, line := range lines {
				p.member(plain, headerValue(line))
			}
		}
	}
	if _, total, ok := strings.Cut(h.Get("Content-Range"), "/"); ok {
		p.member("total", headerValue(total))
	}
	var value any
	if json.Unmarshal(doc, &value) != nil {
		p.more = true
	}
	p.members(value, 4)
	return p
}

// headerValue is a header's text as JSON would have it.
func headerValue(text string) any {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	return text
}

// members reads the members beside the list, to some depth.
func (p *paging) members(value any, depth int) {
	members, _ := value.(map[string]any)
	for name, value := range members {
		if depth == 0 {
			p.more = true
			return
		}
		p.member(plainName(name), value)
		p.members(value, depth-1)
	}
}

// Names that say that a list ends, by a no, by a yes, by one page, and by as many
// items as there are.
var (
	endsByNo    = []string{"next", "nextpage", "nexturl", "nextlink", "odatanextlink", "nexthref", "nextcursor", "nexttoken", "nextpagetoken", "hasmore", "hasnext", "hasnextpage", "more", "moreresults", "truncated", "istruncated"}
	endsByYes   = []string{"last", "islast", "lastpage", "islastpage", "done"}
	endsByPages = []string{"pages", "totalpages", "pagecount", "lastpage", "pagetotal"}
	endsByTotal = []string{"total", "totalcount", "totalresults", "totalitems", "totalrecords", "totalelements", "totalsize", "totalrows"}
)

func (p *paging) member(plain string, value any) {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(plain, s) })
	}
	is := func(names []string) bool { return slices.Contains(names, plain) }
	number, isNumber := value.(float64)
	yes, isBool := value.(bool)
	more, ends := false, false
	switch {
	case has("next", "more", "truncated", "incomplete", "cursor", "continuation", "scroll"):
		more = tells(value)
		ends = is(endsByNo) && !more
	case isBool && is(endsByYes):
		more, ends = !yes, yes
	case isNumber && has("page") && has("per", "size", "limit"):
	case isNumber && has("page"):
		more, ends = number > 1, is(endsByPages) && number <= 1
	case isNumber && (has("total") || strings.HasSuffix(plain, "count")):
		more, ends = number > p.items, is(endsByTotal) && number == p.items
	}
	p.more, p.ends = p.more || more, p.ends || ends
}

// tells: a member is there, and is neither no nor nothing.
func tells(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if tells(inner) {
				return true
			}
		}
		return false
	case []any:
		return len(v) > 0
	case string:
		return v != "" && v != "false" && v != "0"
	case float64:
		return v != 0
	}
	return value == true
}

// limit is how many items the URL asks for; zero: it does not say.
func (l Lookup) limit() int {
	_, query, _ := strings.Cut(l.URL, "?")
	values, _ := url.ParseQuery(query)
	for name := range values {
		switch plainName(name) {
		case "limit", "perpage", "pagesize", "pagelimit", "size", "count", "top", "first", "take", "rows", "maxresults", "maxitems", "max":
			if n, err := strconv.Atoi(values.Get(name)); err == nil {
				return n
			}
		}
	}
	return 0
}
