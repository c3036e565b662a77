package oncehttp

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateGolden = flag.Bool("update", false, "rewrite testdata/classify.golden and testdata/states.golden")

var (
	effectNames     = [...]string{"none", "maybe", "done"}
	againNames      = [...]string{"no", "later", "now"}
	protectionNames = [...]string{"unprotected", "idempotent", "keyed"}
	// classifyNow is when the answers of these tests come.
	classifyNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// plainContract is the common contract; its facts are the user's own word.
func plainContract() *Contract {
	c := IdempotencyKey("*", 24*time.Hour)
	return &c
}

// sight is one kind of attempt that the table has a row for.
type sight struct {
	name   string
	facts  facts
	method string
	renew  bool
}

// sights are all that one attempt can show: each failure, each status, and the
// statuses that something beside them decides.
func sights() []sight {
	all := []sight{
		{name: "lost", facts: facts{failure: lost}},
		{name: "never connected", facts: facts{failure: neverConnected}},
		{name: "never trusted", facts: facts{failure: neverTrusted}},
		{name: "never sent", facts: facts{failure: neverSent}},
		{name: "never written", facts: facts{failure: neverWritten}},
		{name: "stream refused", facts: facts{failure: streamRefused}},
		{name: "200, body cut", facts: facts{status: 200, cut: true}},
		{name: "202, body cut", facts: facts{status: 202, cut: true}},
		{name: "401, credentials renewable", facts: facts{status: 401}, renew: true},
		{name: "409, Retry-After", facts: facts{status: 409, header: http.Header{"Retry-After": {"1"}}, body: []byte(`{"code":"exists"}`)}},
		{name: "409, code in progress", facts: facts{status: 409, body: []byte(`{"error":{"code":"request_in_progress"}}`)}},
		{name: "409, another code", facts: facts{status: 409, body: []byte(`{"code":"email_in_use"}`)}},
		{name: "410, DELETE", facts: facts{status: 410}, method: http.MethodDelete},
		{name: "503, Retry-After", facts: facts{status: 503, header: http.Header{"Retry-After": {"1"}}}},
	}
	for status := 100; status < 600; status++ {
		all = append(all, sight{name: strconv.Itoa(status), facts: facts{status: status}})
	}
	return all
}

func (s sight) judge(exposed bool, p protection) judgement {
	h := history{method: http.MethodPost, exposed: exposed, protection: p, renewable: s.renew}
	if s.method != "" {
		h.method = s.method
	}
	var c *Contract
	if p == keyed {
		c = plainContract()
	}
	return classify(s.facts, h, c, classifyNow)
}

// stated is the table of the design, written a second time: effect, settles,
// again, reason. A status that no row names is maybe, no, no, Unknown.
var stated = []struct{ seen, says string }{
	{"lost", "maybe no now Unknown"},
	{"never connected", "none no now NotSent"},
	{"never trusted", "none no later NotSent"},
	{"never sent|never written", "none no now NotSent"},
	{"stream refused", "none no now NotSent"},
	{"200-299", "done yes no -"},
	{"200, body cut|202, body cut", "done yes no -|keyed: done yes now -"},
	{"400 402 404-406 410 411 413-418 422 424 426 428 431 451", "none no no Refused"},
	{"501 505 506 508 510 511", "none no no Refused"},
	{"410, DELETE", "none no no Refused|exposed: done yes no -"},
	{"401 403 407", "none no no Unauthorized"},
	{"401, credentials renewable", "none no now Unauthorized"},
	{"421 425 429", "none no now Throttled"},
	{"408", "maybe no now Unknown"},
	{"409", "none no no Refused|keyed: maybe no now InProgress"},
	{"409, Retry-After|409, code in progress", "none no no Refused|keyed: maybe no now InProgress"},
	{"409, another code", "none no no Refused"},
	{"412 423", "none no no Refused"},
	{"300 304-308", "none no no Refused"},
	{"500 502-504 507 499 520-530 598 599", "maybe no now ServerError"},
	{"503, Retry-After", "maybe no now Throttled"},
}

func statedFor(name string, exposed bool, p protection) string {
	says := "maybe no no Unknown"
	for _, row := range stated {
		if listNames(row.seen, name) {
			says = row.says
		}
	}
	line, special, _ := strings.Cut(says, "|")
	when, other, _ := strings.Cut(special, ": ")
	if when == "keyed" && p == keyed || when == "exposed" && exposed {
		line = other
	}
	// Never repeated: what may have had an effect and has no protection.
	cells := strings.Fields(line)
	if p == unprotected && (exposed || cells[0] == "maybe") && cells[1] == "no" {
		cells[2] = "no"
	}
	state := "Pending"
	switch {
	case cells[0] == "done":
		state = "Confirmed"
	case cells[0] == "none" && cells[2] == "no" && !exposed:
		state = "Rejected"
	}
	return strings.Join(append(cells, state), " ")
}

// listNames reports whether a list of statuses, ranges and names holds one.
func listNames(list, name string) bool {
	n, err := strconv.Atoi(name)
	if err != nil {
		return slices.Contains(strings.Split(list, "|"), name)
	}
	return slices.ContainsFunc(strings.Fields(list), func(item string) bool {
		low, high, is := strings.Cut(item, "-")
		a, errA := strconv.Atoi(low)
		b, errB := strconv.Atoi(high)
		return errA == nil && (!is && a == n || is && errB == nil && a <= n && n <= b)
	})
}

func judgementCell(j judgement, exposed bool) string {
	reason := string(j.reason)
	if reason == "" {
		reason = "-"
	}
	settles := "no"
	if j.settles {
		settles = "yes"
	}
	return strings.Join([]string{effectNames[j.effect], settles, againNames[j.again], reason, j.state(exposed).String()}, " ")
}

func TestEveryAttemptIsJudgedAsTheDesignSays(t *testing.T) {
	t.Parallel()
	for _, s := range sights() {
		for _, exposed := range []bool{false, true} {
			for _, p := range []protection{keyed, idempotent, unprotected} {
				assert.Equal(t, statedFor(s.name, exposed, p), judgementCell(s.judge(exposed, p), exposed), "%s, exposed %v, %s", s.name, exposed, protectionNames[p])
			}
		}
	}
}

func TestTheTableOfJudgementsIsTheOneThatWasReviewed(t *testing.T) {
	t.Parallel()
	goldenFile(t, "testdata/classify.golden", judgementTable())
}

// judgementTable groups the sights that are judged alike.
func judgementTable() string {
	var order []string
	groups := map[string][]string{}
	for _, s := range sights() {
		rows := judgementRows(s)
		if groups[rows] == nil {
			order = append(order, rows)
		}
		groups[rows] = append(groups[rows], s.name)
	}
	var b strings.Builder
	b.WriteString("# What one attempt proves: effect, settles, again, reason, and the state it makes.\n# Every failure and every status from 100 to 599 is in one group.\n")
	for _, rows := range order {
		fmt.Fprintf(&b, "\n%s\n%s", strings.Join(statusRanges(groups[rows]), ", "), rows)
	}
	return b.String()
}

func judgementRows(s sight) string {
	var b strings.Builder
	for _, exposed := range []bool{false, true} {
		var last string
		var alike []string
		flush := func() {
			if alike != nil {
				if len(alike) == 3 {
					alike = []string{"any"}
				}
				c := strings.Fields(last)
				fmt.Fprintf(&b, "    %-12s %-24s %-6s %-4s %-6s %-13s %s\n", map[bool]string{false: "not exposed", true: "exposed"}[exposed],
					strings.Join(alike, " "), c[0], c[1], c[2], c[3], c[4])
			}
			alike = nil
		}
		for _, p := range []protection{keyed, idempotent, unprotected} {
			now := judgementCell(s.judge(exposed, p), exposed)
			if now != last {
				flush()
			}
			last = now
			alike = append(alike, protectionNames[p])
		}
		flush()
	}
	return b.String()
}

// statusRanges shortens runs of statuses.
func statusRanges(list []string) []string {
	var out []string
	first, last := 0, 0
	flush := func() {
		switch {
		case first == 0:
		case first == last:
			out = append(out, strconv.Itoa(first))
		default:
			out = append(out, fmt.Sprintf("%d-%d", first, last))
		}
		first = 0
	}
	for _, name := range list {
		n, err := strconv.Atoi(name)
		if err != nil {
			flush()
			out = append(out, name)
			continue
		}
		if first == 0 || n != last+1 {
			flush()
			first = n
		}
		last = n
	}
	flush()
	return out
}

// goldenFile compares text with a file, or writes it with -update.
func goldenFile(t *testing.T, path, text string) {
	t.Helper()
	if *updateGolden {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "if it is meant so, run the test with -update and review the difference")
}

func TestAContractsRulesComeBeforeTheTable(t *testing.T) {
	t.Parallel()
	json := func(code string) []byte { return []byte(`{"code":"` + code + `","id":"ch_1"}`) }
	replayed := http.Header{"Idempotent-Replayed": {"true"}}
	verdict := func(v Verdict) func(*Contract) {
		return func(c *Contract) {
			it := Answer{Codes: []string{"it"}, Verdict: v, Reference: "/id"}
			c.Answers = []Answer{it, it}
			c.Answers[0].Status = []int{200}
		}
	}
	origin := func(c *Contract) { c.Origin = Marker{Headers: []string{"X-Api"}} }
	eachItsMark := func(c *Contract) { c.Origin = Marker{At: []string{"/id", "/errors/*/extensions/code"}} }
	ignored := func(c *Contract) { c.Ignored = Marker{Headers: []string{"X-Key-Ignored"}} }
	repeats := func(c *Contract) { c.Repeats = true }
	settle := func(c *Contract) { c.Stored.Settle = time.Minute }
	refusals := func(c *Contract) { c.Stored.Refusals = true }
	except := func(c *Contract) { c.Stored.Refusals, c.Stored.Except = true, []int{404} }
	keeps := func(k Keeping) func(*Contract) { return func(c *Contract) { c.Stored.Failures = k } }
	own := http.Header{"X-Api": {"1"}}
	graphQL := func(v Verdict) func(*Contract) {
		return func(c *Contract) {
			c.Answers = []Answer{{Status: []int{200}, At: []string{"/errors/*/extensions/code"}, Codes: []string{"it"}, Verdict: v}}
		}
	}
	errors := []byte(`{"data":null,"errors":[{"extensions":{"code":"other"}},{"extensions":{"code":"it"}}]}`)
	running := func(c *Contract) { c.Answers = []Answer{{Status: []int{102, 429}, Verdict: VerdictInProgress}} }
	for _, c := range []struct {
		name     string
		contract func(*Contract)
		facts    facts
		history  history
		fresh    string // not exposed
		exposed  string
	}{
		{name: "marked 200", facts: facts{status: 200, header: replayed}, fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "marked 200, cut", facts: facts{status: 200, header: replayed, cut: true}, fresh: "done yes now - Confirmed", exposed: "done yes now - Confirmed"},
		{name: "marked 400", facts: facts{status: 400, header: replayed}, fresh: "none yes no Refused Rejected", exposed: "none yes no Refused Rejected"},
		{name: "marked 500", facts: facts{status: 500, header: replayed}, fresh: "maybe yes no StoredFailure Pending", exposed: "maybe yes no StoredFailure Pending"},
		{name: "marked 409", facts: facts{status: 409, header: replayed}, fresh: "maybe yes no InProgress Pending", exposed: "maybe yes no InProgress Pending"},
		{name: "marked 401, credentials renewable", history: history{renewable: true}, facts: facts{status: 401, header: replayed},
			fresh: "none yes no Unauthorized Rejected", exposed: "none yes no Unauthorized Rejected"},
		{name: "key ignored, 200", contract: ignored, facts: facts{status: 200, header: http.Header{"X-Key-Ignored": {"1"}}},
			fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "key ignored, 500", contract: ignored, facts: facts{status: 500, header: http.Header{"X-Key-Ignored": {"1"}}},
			fresh: "maybe no no ServerError Pending", exposed: "maybe no no ServerError Pending"},
		{name: "key ignored, 409", contract: ignored, facts: facts{status: 409, header: http.Header{"X-Key-Ignored": {"1"}}},
			fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "another's 200", contract: origin, facts: facts{status: 200}, fresh: "maybe no now Unknown Pending", exposed: "maybe no now Unknown Pending"},
		{name: "another's 404", contract: origin, facts: facts{status: 404}, fresh: "maybe no now Unknown Pending", exposed: "maybe no now Unknown Pending"},
		{name: "another's 502", contract: origin, facts: facts{status: 502}, fresh: "maybe no now ServerError Pending", exposed: "maybe no now ServerError Pending"},
		{name: "the API's own 404", contract: origin, facts: facts{status: 404, header: http.Header{"X-Api": {"1"}}},
			fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "verdict done", contract: verdict(VerdictDone), facts: facts{status: 409, body: json("it")}, fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "verdict in progress", contract: verdict(VerdictInProgress), facts: facts{status: 400, body: json("it")},
			fresh: "maybe no now InProgress Pending", exposed: "maybe no now InProgress Pending"},
		{name: "a fresh success after in progress", history: history{inProgress: true}, facts: facts{status: 201},
			fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "a marked success after in progress", history: history{inProgress: true}, facts: facts{status: 201, header: replayed},
			fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "verdict mismatch", contract: verdict(VerdictMismatch), facts: facts{status: 422, body: json("it")},
			fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "verdict key spent", contract: verdict(VerdictKeySpent), facts: facts{status: 400, body: json("it")},
			fresh: "none no no StoredFailure Rejected", exposed: "none no no StoredFailure Pending"},
		{name: "verdict key expired", contract: verdict(VerdictKeyExpired), facts: facts{status: 400, body: json("it")},
			fresh: "none no no KeyExpired Rejected", exposed: "none no no KeyExpired Pending"},
		{name: "verdict key ignored, 503", contract: verdict(VerdictKeyIgnored), facts: facts{status: 503, body: json("it")},
			fresh: "maybe no no ServerError Pending", exposed: "maybe no no ServerError Pending"},
		{name: "verdict key ignored, 200, cut", contract: verdict(VerdictKeyIgnored), facts: facts{status: 200, body: json("it"), cut: true},
			fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "a fresh success after in progress, cut", history: history{inProgress: true}, facts: facts{status: 201, cut: true},
			fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "verdict throttled", contract: verdict(VerdictThrottled), facts: facts{status: 400, body: json("it")},
			fresh: "none no now Throttled Pending", exposed: "none no now Throttled Pending"},
		{name: "verdict keys down", contract: verdict(VerdictKeysDown), facts: facts{status: 503, body: json("it")},
			fresh: "none no now Throttled Pending", exposed: "none no now Throttled Pending"},
		{name: "running, 102", contract: running, facts: facts{failure: lost, interim: 102}, fresh: "maybe no now InProgress Pending", exposed: "maybe no now InProgress Pending"},
		{name: "running, 429 with the mark of a replay", contract: running, facts: facts{status: 429, header: replayed},
			fresh: "maybe no now InProgress Pending", exposed: "maybe no now InProgress Pending"},
		{name: "running, 103", contract: running, facts: facts{failure: lost, interim: 103}, fresh: "maybe no now Unknown Pending", exposed: "maybe no now Unknown Pending"},
		{name: "102 that no rule knows", facts: facts{failure: lost, interim: 102}, fresh: "maybe no now Unknown Pending", exposed: "maybe no now Unknown Pending"},
		{name: "running, 429", contract: running, facts: facts{status: 429}, fresh: "maybe no now InProgress Pending", exposed: "maybe no now InProgress Pending"},
		{name: "GraphQL, in progress", contract: graphQL(VerdictInProgress), facts: facts{status: 200, body: errors},
			fresh: "maybe no now InProgress Pending", exposed: "maybe no now InProgress Pending"},
		{name: "GraphQL, mismatch", contract: graphQL(VerdictMismatch), facts: facts{status: 200, body: errors}, fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "GraphQL, key spent", contract: graphQL(VerdictKeySpent), facts: facts{status: 200, body: errors},
			fresh: "none no no StoredFailure Rejected", exposed: "none no no StoredFailure Pending"},
		{name: "GraphQL, refused", contract: graphQL(VerdictRefused), facts: facts{status: 200, body: errors}, fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "GraphQL, no error", contract: graphQL(VerdictRefused), facts: facts{status: 200, body: []byte(`{"data":{}}`)}, fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "GraphQL, cut", contract: graphQL(VerdictRefused), facts: facts{status: 200, body: errors[:20], cut: true},
			fresh: "maybe no now Unknown Pending", exposed: "maybe no now Unknown Pending"},
		{name: "GraphQL, long", contract: graphQL(VerdictRefused), facts: facts{status: 200, body: errors[:20], long: true},
			fresh: "maybe no no Unknown Pending", exposed: "maybe no no Unknown Pending"},
		{name: "GraphQL, compressed", contract: graphQL(VerdictRefused), facts: facts{status: 200, body: []byte{31, 139}, header: http.Header{"Content-Encoding": {"gzip"}}},
			fresh: "maybe no no Unknown Pending", exposed: "maybe no no Unknown Pending"},
		{name: "a refusal, compressed", contract: func(c *Contract) { verdict(VerdictDone)(c); c.Stored.Refusals = true },
			facts: facts{status: 400, body: []byte{31, 139}, header: http.Header{"Content-Encoding": {"gzip"}}},
			fresh: "maybe no no Unknown Pending", exposed: "maybe no no Unknown Pending"},
		{name: "a refusal that no rule reads, compressed", facts: facts{status: 400, body: []byte{31, 139}, header: http.Header{"Content-Encoding": {"br"}}},
			fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "a conflict, compressed", contract: verdict(VerdictDone), facts: facts{status: 409, body: []byte{31, 139}, header: http.Header{"Content-Encoding": {"gzip"}}},
			fresh: "maybe no now InProgress Pending", exposed: "maybe no now InProgress Pending"},
		{name: "forbidden, compressed", contract: verdict(VerdictDone), facts: facts{status: 403, body: []byte{31, 139}, header: http.Header{"Content-Encoding": {"gzip"}}},
			fresh: "maybe no no Unknown Pending", exposed: "maybe no no Unknown Pending"},
		{name: "throttled, compressed", contract: verdict(VerdictDone), facts: facts{status: 429, body: []byte{31, 139}, header: http.Header{"Content-Encoding": {"gzip"}}},
			fresh: "none no now Throttled Pending", exposed: "none no now Throttled Pending"},
		{name: "GraphQL, damaged", contract: graphQL(VerdictRefused), facts: facts{status: 200, body: []byte(`{"data":`), header: http.Header{"Content-Type": {"application/json"}}},
			fresh: "maybe no no Unknown Pending", exposed: "maybe no no Unknown Pending"},
		{name: "GraphQL, an event stream", contract: graphQL(VerdictRefused), facts: facts{status: 200, header: http.Header{"Content-Type": {"text/event-stream"}}},
			fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "GraphQL, another status, cut", contract: graphQL(VerdictRefused), facts: facts{status: 201, cut: true}, fresh: "done yes now - Confirmed", exposed: "done yes now - Confirmed"},
		{name: "a rule that would not doubt it, long", contract: graphQL(VerdictDone), facts: facts{status: 200, body: errors[:20], long: true},
			fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "no rule for it, long", facts: facts{status: 200, body: errors[:20], long: true}, fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "failures are kept, 500", contract: keeps(KeepingYes), facts: facts{status: 500}, fresh: "maybe no no StoredFailure Pending", exposed: "maybe no no StoredFailure Pending"},
		{name: "failures are kept, 502", contract: keeps(KeepingYes), facts: facts{status: 502}, fresh: "maybe no now ServerError Pending", exposed: "maybe no now ServerError Pending"},
		{name: "failures are kept, 503", contract: keeps(KeepingYes), facts: facts{status: 503}, fresh: "maybe no now ServerError Pending", exposed: "maybe no now ServerError Pending"},
		{name: "failures are kept, 520", contract: keeps(KeepingYes), facts: facts{status: 520}, fresh: "maybe no now ServerError Pending", exposed: "maybe no now ServerError Pending"},
		{name: "failures are kept, 501", contract: keeps(KeepingYes), facts: facts{status: 501}, fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "failures are kept but for this", contract: func(c *Contract) { c.Stored.Failures, c.Stored.Except = KeepingYes, []int{500} },
			facts: facts{status: 500}, fresh: "maybe no now ServerError Pending", exposed: "maybe no now ServerError Pending"},
		{name: "failures are kept, another's 500", contract: func(c *Contract) { origin(c); c.Stored.Failures = KeepingYes },
			facts: facts{status: 500}, fresh: "maybe no now ServerError Pending", exposed: "maybe no now ServerError Pending"},
		{name: "failures are kept, the API's own 500", contract: func(c *Contract) { origin(c); c.Stored.Failures = KeepingYes },
			facts: facts{status: 500, header: own}, fresh: "maybe no no StoredFailure Pending", exposed: "maybe no no StoredFailure Pending"},
		{name: "failures are kept, and a rule says otherwise", contract: func(c *Contract) { verdict(VerdictThrottled)(c); c.Stored.Failures = KeepingYes },
			facts: facts{status: 500, body: json("it")}, fresh: "none no now Throttled Pending", exposed: "none no now Throttled Pending"},
		{name: "failures are not kept", contract: keeps(KeepingNo), facts: facts{status: 500}, fresh: "maybe no now ServerError Pending", exposed: "maybe no now ServerError Pending"},
		{name: "the API's mark is too far down", contract: func(c *Contract) { c.Origin = Marker{At: []string{"/id"}} }, facts: facts{status: 200, body: errors[:20], long: true},
			fresh: "maybe no no Unknown Pending", exposed: "maybe no no Unknown Pending"},
		{name: "the API's mark of a success", contract: eachItsMark, facts: facts{status: 200, body: json("x")}, fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "the API's mark of an error", contract: eachItsMark, facts: facts{status: 400, body: errors}, fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "neither mark of the API's, 200", contract: eachItsMark, facts: facts{status: 200, body: []byte(`{"ok":true}`)},
			fresh: "maybe no now Unknown Pending", exposed: "maybe no now Unknown Pending"},
		{name: "neither mark of the API's, 404", contract: eachItsMark, facts: facts{status: 404, body: []byte(`{"message":"no route"}`)},
			fresh: "maybe no now Unknown Pending", exposed: "maybe no now Unknown Pending"},
		{name: "refusals are stored but for this", contract: except, facts: facts{status: 404}, fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "refusals are stored, this too", contract: except, facts: facts{status: 400}, fresh: "none yes no Refused Rejected", exposed: "none yes no Refused Rejected"},
		{name: "an error names what was made", contract: func(c *Contract) {
			c.Answers = []Answer{{Status: []int{409}, Verdict: VerdictDone, Reference: "/id"}}
			c.Stored.Repeat = RepeatError
		}, facts: facts{status: 409, body: json("exists"), cut: true}, fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
		{name: "verdict refused", contract: verdict(VerdictRefused), facts: facts{status: 500, body: json("it")},
			fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "verdict unknown", contract: verdict(VerdictUnknown), facts: facts{status: 200, body: json("it")},
			fresh: "maybe no no Unknown Pending", exposed: "maybe no no Unknown Pending"},
		{name: "verdict unknown, behind a byte order mark", contract: verdict(VerdictUnknown), facts: facts{status: 400, body: append([]byte("\ufeff"), json("it")...)},
			fresh: "maybe no no Unknown Pending", exposed: "maybe no no Unknown Pending"},
		{name: "no verdict", contract: verdict(VerdictDone), facts: facts{status: 409, body: json("other")}, fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "refusals are stored", contract: refusals, facts: facts{status: 404}, fresh: "none yes no Refused Rejected", exposed: "none yes no Refused Rejected"},
		{name: "refusals are stored, 501", contract: refusals, facts: facts{status: 501}, fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "refusals are stored, 429", contract: refusals, facts: facts{status: 429}, fresh: "none no now Throttled Pending", exposed: "none no now Throttled Pending"},
		{name: "refused again, late", contract: settle, history: history{refused: true, apart: time.Minute + 1}, facts: facts{status: 404},
			fresh: "none yes no Refused Rejected", exposed: "none yes no Refused Rejected"},
		{name: "refused again, early", contract: settle, history: history{refused: true, apart: time.Minute}, facts: facts{status: 404},
			fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "refused once, late", contract: settle, history: history{apart: time.Hour}, facts: facts{status: 404},
			fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "refused again, no settle time known", history: history{refused: true, apart: time.Hour}, facts: facts{status: 404},
			fresh: "none no no Refused Rejected", exposed: "none no no Refused Pending"},
		{name: "something repeats, 404", contract: repeats, facts: facts{status: 404}, fresh: "maybe no no Refused Pending", exposed: "maybe no no Refused Pending"},
		{name: "something repeats, 429", contract: repeats, facts: facts{status: 429}, fresh: "maybe no now Throttled Pending", exposed: "maybe no now Throttled Pending"},
		{name: "something repeats, marked 404", contract: repeats, facts: facts{status: 404, header: replayed}, fresh: "none yes no Refused Rejected", exposed: "none yes no Refused Rejected"},
		{name: "something repeats, never connected", contract: repeats, facts: facts{failure: neverConnected}, fresh: "none no now NotSent Pending", exposed: "none no now NotSent Pending"},
		{name: "a repeat brings no body", contract: func(c *Contract) { c.Stored.Repeat = RepeatEmpty }, facts: facts{status: 200, cut: true},
			fresh: "done yes no - Confirmed", exposed: "done yes no - Confirmed"},
	} {
		contract := plainContract()
		if c.contract != nil {
			c.contract(contract)
		}
		for _, exposed := range []bool{false, true} {
			h := c.history
			h.method, h.protection, h.exposed = http.MethodPost, keyed, exposed
			want := c.fresh
			if exposed {
				want = c.exposed
			}
			j := classify(c.facts, h, contract, classifyNow)
			assert.Equal(t, want, judgementCell(j, exposed), "%s, exposed %v", c.name, exposed)
			if c.name == "verdict done" {
				assert.Equal(t, "ch_1", j.reference)
			}
			contradicted := strings.Contains(c.name, "ignored") || strings.Contains(c.name, "fresh success")
			assert.Equal(t, contradicted, j.contradicts != "", c.name)
			assert.Equal(t, c.facts.status != 0 && strings.Contains(c.name, "marked"), j.replayed, c.name)
		}
	}
}

func TestAContractWithWeakFactsIsNoProtection(t *testing.T) {
	t.Parallel()
	for proof, want := range map[Proof]protection{ProofDeclared: keyed, ProofVendor: keyed, ProofSecondary: unprotected, ProofUnknown: unprotected} {
		c := plainContract()
		c.Proof = proof
		assert.Equal(t, want, record{Begun: begun{Wire: "k"}}.protection(policy{contract: c}), "proof %d", proof)
	}
	assert.Equal(t, unprotected, record{Begun: begun{Wire: "k"}}.protection(policy{}))
	assert.Equal(t, idempotent, record{Begun: begun{Wire: "k", Idempotent: true}}.protection(policy{}))
}

func TestTheServersWaitIsHeardOnEveryAnswer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 302, 307, 400, 401, 409, 429, 500, 503} {
		f := facts{status: status, header: http.Header{"Retry-After": {"7"}}}
		j := classify(f, history{method: http.MethodPost, protection: keyed}, plainContract(), classifyNow)
		assert.True(t, j.asked, status)
		assert.Equal(t, 7*time.Second, j.wait, status)
	}
}
