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

// plain is the common contract; its facts are the user's own word.
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
	{"never sent", "none no now NotSent"},
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
		if names(row.seen, name) {
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

// names reports whether a list of statuses, ranges and names holds one.
func names(list, name string) bool {
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

func cell(j judgement, exposed bool) string {
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
				assert.Equal(t, statedFor(s.name, exposed, p), cell(s.judge(exposed, p), exposed), "%s, exposed %v, %s", s.name, exposed, protectionNames[p])
			}
		}
	}
}

func TestTheTableOfJudgementsIsTheOneThatWasReviewed(t *testing.T) {
	t.Parallel()
	golden(t, "testdata/classify.golden", judgementTable())
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
		fmt.Fprintf(&b, "\n%s\n%s", strings.Join(ranges(groups[rows]), ", "), rows)
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
			now := cell(s.judge(exposed, p), exposed)
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

// ranges shortens runs of statuses.
func ranges(list []string) []string {
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

// golden compares text with a file, or writes it with -update.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if *updateGolden {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "if it is meant so, run the test with -update and review the difference")
}
