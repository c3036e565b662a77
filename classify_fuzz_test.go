package oncehttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowCode reads the code of an error at the usual places.
func slowCode(body []byte) string {
	for _, place := range codePlaces() {
		if code, ok := slowTextAt(body, place); ok && isCode(code) {
			return code
		}
	}
	return ""
}

// slowHeader reports whether a line has the value, or any where value is "".
func slowHeader(h http.Header, name, value string) bool {
	for _, line := range h[http.CanonicalHeaderKey(name)] {
		line = strings.TrimSpace(line)
		if value == "" && line != "" || value != "" && strings.EqualFold(line, strings.TrimSpace(value)) {
			return true
		}
	}
	return false
}

// slowRule is the first rule that matches, or nil.
func slowRule(c *Contract, f facts) *Answer {
	for i, a := range c.Answers {
		if f.status == 0 && !slices.Contains(a.Status, f.interim) {
			continue
		}
		if f.status != 0 && len(a.Status) == 0 && f.status < 400 {
			continue
		}
		if f.status != 0 && len(a.Status) > 0 && !slices.Contains(a.Status, f.status) || a.Header != "" && !slowHeader(f.header, a.Header, a.HeaderValue) {
			continue
		}
		places := a.At
		if places == nil {
			places = codePlaces()
		}
		coded := len(a.Codes) == 0
		for _, place := range places {
			for _, code := range slowTexts(f.body, place, true) {
				for _, pattern := range a.Codes {
					coded = coded || slowGlob(strings.ToLower(pattern), strings.ToLower(strings.TrimSpace(code)))
				}
			}
		}
		if coded {
			return &c.Answers[i]
		}
		if missing := f.cut || f.long || slowUnreadable(f); missing && !slowWhole(f.body) && (f.status/100 != 2 || a.Verdict != VerdictDone) {
			return &Answer{Verdict: verdictUnread}
		}
	}
	return nil
}

// slowWhole: the body is JSON, with a byte order mark or without.
func slowWhole(body []byte) bool { return json.Valid(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))) }

// slowUnreadable: the header tells of a body that is there whole and is JSON,
// XML, or either compressed.
func slowUnreadable(f facts) bool {
	typed := slices.Contains([]string{"application/json", "Application/Problem+JSON; charset=utf-8", "text/xml"}, f.header.Get("Content-Type"))
	compressed := f.header.Get("Content-Encoding") == "gzip"
	return len(f.body) > 0 && (f.status/100 == 2 && (typed || compressed) || f.status/100 == 4 && compressed)
}

// slowGlob: a * at either end stands for any text.
func slowGlob(pattern, s string) bool {
	if len(pattern) > 0 && pattern[0] == '*' {
		for i := range len(s) + 1 {
			if slowGlob(pattern[1:], s[i:]) {
				return true
			}
		}
		return false
	}
	if pattern == "*" || pattern == s {
		return true
	}
	return strings.HasSuffix(pattern, "*") && strings.HasPrefix(s, pattern[:len(pattern)-1])
}

// verdicts are the cells of the contract's verdicts: effect, settles, again,
// reason.
var verdicts = map[Verdict]string{
	VerdictUnknown: "maybe no no Unknown", VerdictDone: "done yes no -", VerdictInProgress: "maybe no now InProgress", VerdictMismatch: "none no no Refused",
	VerdictKeySpent: "none no no StoredFailure", VerdictKeyExpired: "none no no KeyExpired", VerdictThrottled: "none no now Throttled", VerdictRefused: "none no no Refused",
	VerdictKeysDown: "none no now Throttled", verdictUnread: "maybe no now Unknown",
}

// slowClassify is the table of the design and its rules for contracts, as cells.
func slowClassify(f facts, h history, c *Contract) (cells string, contradicts bool) {
	p := h.protection
	sent := p // protection of this attempt's answer
	row := func() string {
		name := strconv.Itoa(f.status)
		switch {
		case f.status == 0:
			name = [...]string{"lost", "never connected", "never trusted", "never sent", "stream refused"}[f.failure]
		case f.status/100 == 2 && f.cut:
			name = "200, body cut"
		case f.status == 401 && h.renewable:
			name = "401, credentials renewable"
		case f.status == 409 && f.header.Get("Retry-After") != "":
			name = "409, Retry-After"
		case f.status == 409 && saysInProgress(slowCode(f.body)):
			name = "409, code in progress"
		case f.status == 409 && slowCode(f.body) != "":
			name = "409, another code"
		case f.status == 410 && h.method == http.MethodDelete:
			name = "410, DELETE"
		case f.status == 503 && f.header.Get("Retry-After") != "":
			name = "503, Retry-After"
		}
		line := "maybe no no Unknown"
		for _, row := range stated {
			if listNames(row.seen, name) {
				line = row.says
			}
		}
		usual, special, _ := strings.Cut(line, "|")
		if when, says, _ := strings.Cut(special, ": "); when == "keyed" && (sent == keyed || f.status == http.StatusConflict && f.wire != "") || when == "exposed" && h.exposed {
			return says
		}
		return usual
	}
	finish := func(line string) string {
		cell := strings.Fields(line)
		ambiguous := (h.exposed || cell[0] == "maybe") && cell[1] == "no"
		if cell[0] == "done" && (p != keyed || contradicts || c != nil && !c.Stored.bringsAnswer() || !f.cut) || ambiguous && (p == unprotected || contradicts) {
			cell[2] = "no"
		}
		return strings.Join(cell, " ")
	}
	if f.status == 0 && c != nil && f.failure == lost && f.interim != 0 {
		if a := slowRule(c, f); a != nil {
			return finish(verdicts[a.Verdict]), false
		}
	}
	if f.status == 0 || c == nil {
		return finish(row()), false
	}
	marked := func(m Marker) bool {
		values := m.Values
		if m.Echo {
			values = nil
			if f.wire != "" {
				values = []string{f.wire}
			}
		}
		if slices.Contains(m.Status, f.status) {
			return true
		}
		for _, place := range m.At {
			for _, v := range slowTexts(f.body, place, true) {
				for _, want := range values {
					if strings.EqualFold(strings.TrimSpace(v), strings.TrimSpace(want)) {
						return true
					}
				}
			}
		}
		for _, name := range m.Headers {
			for _, value := range values {
				if slowHeader(f.header, name, value) {
					return true
				}
			}
		}
		return false
	}
	if len(c.Origin.Headers) > 0 && !marked(c.Origin) && (f.status/100 == 2 || f.status/100 == 4) {
		return finish("maybe no now Unknown"), false
	}
	if marked(c.Ignored) {
		contradicts = true
		if sent == keyed {
			sent = unprotected
		}
		return finish(row()), true
	}
	line, ruled, unread, replayed := row(), false, false, marked(c.Replay)
	// A refusal that may settle when it comes again; not one of credentials.
	unmarked4xx := strings.HasPrefix(line, "none no no Refused") && f.status/100 == 4
	if a := slowRule(c, f); a != nil {
		ruled, replayed = true, replayed && a.Verdict != VerdictInProgress
		if a.Verdict == VerdictKeyIgnored {
			contradicts = true
		} else if a.Verdict != verdictUnread || f.cut || f.long || f.status/100 != 4 || !strings.HasPrefix(line, "maybe") && !strings.Contains(line, " now ") {
			line, unread = verdicts[a.Verdict], a.Verdict == verdictUnread
			unmarked4xx = a.Verdict == VerdictRefused
			if a.Verdict == VerdictDone && f.cut {
				line = "done yes now -"
			}
		}
	}
	cell := strings.Fields(line)
	if unread && !f.cut {
		cell[2] = "no" // it would be as long, or as it is, again
	}
	except := slices.Contains(c.Stored.Except, f.status)
	switch {
	case replayed && f.status/100 == 5:
		cell = strings.Fields("maybe yes no StoredFailure")
	case replayed:
		cell[1] = "yes"
		if cell[0] != "done" {
			cell[2] = "no"
		}
	case !ruled && c.Stored.Failures == KeepingYes && !except && (f.status == 500 || f.status == 507) && (len(c.Origin.Headers) == 0 || marked(c.Origin)):
		cell = strings.Fields("maybe no no StoredFailure")
	case unmarked4xx && (c.Stored.Refusals && !except && p == keyed && !contradicts || c.Stored.Settle > 0 && h.refused && h.apart > c.Stored.Settle):
		cell[1] = "yes"
	}
	if cell[0] == "done" && f.status/100 == 2 && !replayed && h.inProgress && p == keyed {
		contradicts = true
	}
	if c.Repeats && cell[0] == "none" && cell[1] == "no" {
		cell[0] = "maybe"
	}
	renews := f.status == 401 && h.renewable && (!ruled || contradicts) && cell[2] == "now"
	if len(c.Hints.Headers) > 0 && !replayed && cell[0] != "done" && !renews && (len(c.Origin.Headers) == 0 || marked(c.Origin)) {
		hint, says := c.Hints.Headers[0], ""
		for i, line := range f.header[http.CanonicalHeaderKey(hint.Header)] {
			if line = strings.ToLower(strings.TrimSpace(line)); i == 0 && (line == "true" || line == "false") {
				says = line
			}
		}
		if !slowHeader(f.header, hint.Header, "") && f.header[http.CanonicalHeaderKey(hint.Header)] == nil && hint.AbsentNo && f.status >= 400 && !ruled {
			says = "false"
		}
		switch {
		case says == "false":
			if cell[2] = "no"; cell[0] == "none" && cell[3] == "Throttled" {
				cell[3] = "Refused"
			}
		case says == "true" && !ruled && cell[2] == "no" && (cell[0] == "none" || p == keyed):
			cell[2] = "now"
			if better, ok := map[string]string{"Refused": "Throttled", "StoredFailure": "ServerError"}[cell[3]]; ok {
				cell[3] = better
			}
		}
	}
	return finish(strings.Join(cell, " ")), contradicts
}

// FuzzClassify compares the judgement of an attempt, the contract's rules and
// markers included, with the design's table and rules, written a second time.
func FuzzClassify(f *testing.F) {
	for i, status := range []int{0, 200, 202, 303, 307, 400, 401, 404, 408, 409, 410, 422, 429, 500, 503, 598} {
		f.Add(status, uint32(i), uint16(i)*911, "Transient-Error", "true", []byte(`{"error":{"code":"in_progress"}}`), "/error/code", "in_*")
		f.Add(status, ^uint32(i), uint16(i)*577, "Retry-After", "1", []byte(`{"type":"https://errors.test/key_reused"}`), "", "*key*")
		f.Add(status, uint32(1)<<i, uint16(1)<<i, "Idempotent-Replayed", " TRUE ", []byte(`{"code":409,"a":[{"b/c":"x"}]}`), "/a/0/b~1c", "X")
	}
	f.Add(403, uint32(1<<15), uint16(1<<4|2<<5), "", "", []byte(`{}`), "/a", "x")                            // refused after a lost answer, and refusals are kept
	f.Add(404, uint32(1<<14), uint16(1<<10), "", "", []byte(`{}`), "/a", "x")                                // the first refusal, long after the settle time
	f.Add(200, uint32(6<<1|1), uint16(1<<10), "", "", []byte(`{"a":"x"}`), "/a", "x")                        // the key was ignored, the body is cut
	f.Add(500, uint32(1<<20|1<<22), uint16(2<<5), "X-Should-Retry", "true", []byte(`{}`), "/a", "x")         // a failure is kept, and another attempt asked for
	f.Add(429, uint32(1<<23|1<<24|1<<25), uint16(2<<5), "", "", []byte(`{}`), "/a", "x")                     // absent means no
	f.Add(409, uint32(1<<26), uint16(1<<4|2<<5), "Idempotency-Key", "K-1", []byte(`{}`), "/a", "x")          // the key comes back
	f.Add(0, uint32(1<<30|1<<31), uint16(2<<5), "", "", []byte(`{}`), "/a", "x")                             // 102, and nothing more
	f.Add(200, uint32(1<<29|2<<1), uint16(2<<5), "", "", []byte(`{"a":`), "/a/*/b", "x")                     // a code that is too far down
	f.Add(400, uint32(1<<19|1<<5), uint16(2<<5), "", "", []byte(`{"a":[{"b":1},{"b":"x"}]}`), "/a/*/b", "x") // no key can be looked up
	f.Add(400, uint32(1<<1|1<<15), uint16(1<<4|2<<5|1<<14), "", "", []byte("\x1f\x8b"), "/a", "x")           // a refusal that is compressed, and refusals are kept
	f.Add(200, uint32(0), uint16(2<<5|1<<12), "", "", []byte("\ufeff{\"a\":"), "/a", "x")                    // a success that is damaged
	f.Add(400, uint32(0), uint16(2<<5|1<<12), "", "", []byte("\ufeff{\"a\":\"x\"}"), "/a", "x")              // behind a byte order mark
	f.Fuzz(func(t *testing.T, status int, bits uint32, past uint16, name, value string, body []byte, pointer, pattern string) {
		if len(body)+len(name)+len(value)+len(pointer)+len(pattern) > 4<<10 {
			t.Skip("the slow one is slow")
		}
		bit := func(n int) bool { return bits>>n&1 == 1 }
		seen := facts{status: status % 1000, header: http.Header{}, body: body, cut: bit(0)}
		if seen.status < 100 {
			seen = facts{failure: failure(past % 5), header: http.Header{}}
		} else if name != "" {
			seen.header.Add(name, value)
		}
		if seen.header.Get("Content-Type") != "" || seen.header.Get("Content-Encoding") != "" {
			return // the bits say what they are
		}
		if kind := past >> 12 & 3; kind > 0 && seen.status > 0 {
			seen.header.Set("Content-Type", []string{"application/json", "Application/Problem+JSON; charset=utf-8", "text/xml"}[kind-1])
		}
		if past>>14&1 == 1 && seen.status > 0 {
			seen.header.Set("Content-Encoding", []string{"gzip", "Identity"}[past>>15])
		}
		h := history{method: []string{"POST", "DELETE"}[past>>3&1], exposed: past>>4&1 == 1, protection: protection(past >> 5 % 3), renewable: past>>7&1 == 1,
			refused: past>>8&1 == 1, apart: time.Duration(past>>9&3) * time.Minute, inProgress: past>>11&1 == 1}
		c := plainContract()
		rule := Answer{Codes: []string{pattern}, At: []string{pointer}, Verdict: Verdict(bits >> 1 % 9)}
		if bit(5) {
			rule.Status = []int{seen.status, 200}
		}
		if bit(6) {
			rule.Header, rule.HeaderValue = "Transient-Error", "true"
		}
		if bit(7) {
			rule.Codes, rule.At = nil, nil
		}
		if bit(8) {
			rule.At = nil
		}
		if rule.Verdict == VerdictDone {
			rule.Reference = pointer
		}
		c.Answers = append(c.Answers, rule)
		if bit(9) && bit(10) {
			c.Origin = Marker{Headers: []string{"X-Api"}, Values: []string{"1"}}
		}
		if bit(11) {
			c.Ignored = Marker{At: []string{"/absent", pointer}, Values: []string{"ignored", pattern}}
		}
		if bit(12) {
			seen.header.Set("Idempotent-Replay", "true")
		}
		if bit(13) {
			seen.header.Set("X-Api", "1")
		}
		if bit(14) {
			c.Stored.Settle = time.Minute
		}
		c.Stored.Refusals, c.Repeats = bit(15), bit(17)
		if bit(16) {
			c.Stored.Repeat = RepeatEmpty
		}
		if bit(19) {
			c.Answers[1].Verdict, c.Answers[1].Reference = VerdictKeysDown, ""
		}
		c.Stored.Failures = Keeping(bits >> 20 & 1)
		if bit(21) {
			c.Stored.Except = []int{seen.status}
		}
		if bit(22) && name != "" {
			c.Hints.Headers = []Hint{{Header: name, AbsentNo: bit(23)}}
		}
		if bit(23) && bit(24) {
			c.Hints.Headers = []Hint{{Header: "X-Absent", AbsentNo: bit(25)}}
		}
		if bit(26) && name != "" {
			c.Replay = Marker{Headers: []string{name}, At: []string{pointer, "/a/0"}, Echo: true}
			seen.wire = "k-1"
			if bit(27) {
				seen.wire = value
			}
		}
		if bit(28) {
			c.Replay.Status = []int{208, seen.status}
		}
		if seen.long = bit(29) && !seen.cut; bit(30) {
			seen.interim = 102
			if bit(31) {
				c.Answers[1].Status, c.Answers[1].Verdict, c.Answers[1].Reference = []int{102}, VerdictInProgress, ""
			}
		}
		if bit(18) {
			c = nil
		}
		if h.protection == keyed && c == nil || c != nil && len(checkContract(c, 0)) > 0 {
			return // a key needs a contract
		}
		if doc, ok := readDocument(body); ok && doc.json == nil {
			return // XML has a test of its own
		}

		j := classify(seen, h, c, classifyNow)
		want, contradicts := slowClassify(seen, h, c)
		cells := strings.Fields(judgementCell(j, h.exposed))
		require.Equal(t, want, strings.Join(cells[:4], " "))
		require.Equal(t, contradicts, j.contradicts != "")
		state := Pending
		switch got := strings.Fields(want); {
		case got[0] == "done":
			state = Confirmed
		case got[0] == "none" && got[2] == "no" && (!h.exposed || got[1] == "yes"):
			state = Rejected
		}
		require.Equal(t, state, j.state(h.exposed))
		require.False(t, j.renew && j.again != againNow)
		wait, asked := retryAfter(seen.header, classifyNow)
		require.True(t, seen.status == 0 || j.asked == asked && j.wait == wait, "the server's wish is heard on every answer")
		if c != nil && j.reference != "" {
			reference, _ := slowTextAt(body, pointer)
			require.Equal(t, reference, j.reference)
		}
	})
}
