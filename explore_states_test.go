package oncehttp

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The diagram of states: what an intent's record on disk may become, and why.
// It is drawn from what the exploration has seen.

var conditions = []struct{ name, means string }{
	{"", ""},
	{"Recorded", "Pending: no attempt has had an effect"},
	{"Sending", "Pending: an attempt has started and is not judged yet"},
	{"Exposed", "Pending: an attempt may have had an effect; sent again while that is safe"},
	{"Parked", "Pending: the same, and not sent again by itself"},
	{"Confirmed", "it took effect"},
	{"Rejected", "nothing took effect, and nothing will"},
	{"Conflict", "there is evidence of both; a person decides"},
}

const (
	condNew = iota
	condRecorded
	condSending
	condExposed
	condParked
	condConfirmed
	condRejected
	condConflict
)

func conditionOf(r *record) int {
	switch {
	case r == nil:
		return condNew
	case r.Reason == Conflict:
		return condConflict
	case r.State == Confirmed:
		return condConfirmed
	case r.State == Rejected:
		return condRejected
	case r.Sending != nil:
		return condSending
	case r.Exposed && r.Due.IsZero():
		return condParked
	case r.Exposed:
		return condExposed
	}
	return condRecorded
}

// stateChanges names what changes a record, in the order in which it is told.
var stateChanges = []string{
	"Begin", "an attempt starts", "begun again by Do", "answer: no effect", "answer: maybe an effect", "answer: done", "answer: refused",
	"evidence against it", "a crash", "a crash, and the next attempt", "withdrawn before it was sent", "no longer safe to send",
	"credentials are missing", "a late success", "a person's word",
}

// transitions has the reasons of each change from one condition to another.
type transitions map[[2]int]map[string]bool

func (ts transitions) add(from, to *world, mv move) {
	if from.disk == to.disk {
		return
	}
	change := [2]int{conditionOf(from.disk), conditionOf(to.disk)}
	if change[0] == change[1] && change[0] != condSending {
		return
	}
	if ts[change] == nil {
		ts[change] = map[string]bool{}
	}
	ts[change][reasonOf(from, to.disk, mv)] = true
}

// reasonOf says why a move wrote r over the disk of w.
func reasonOf(w *world, r *record, mv move) string {
	old := w.disk
	switch {
	case mv.kind == mvWord:
		return "a person's word"
	case r.Reason == Conflict:
		return "evidence against it"
	case mv.kind == mvLateAnswer:
		return "a late success"
	case w.m.heard != nil:
		switch judged := w.m.heard.judged; {
		case judged.effect == effectDone:
			return "answer: done"
		case judged.effect == effectMaybe:
			return "answer: maybe an effect"
		case r.State == Rejected:
			return "answer: refused"
		}
		return "answer: no effect"
	case old == nil && r.Sending == nil:
		return "Begin"
	case old != nil && old.State == Rejected:
		return "begun again by Do"
	case old != nil && old.Sending != nil && r.Sending != nil:
		return "a crash, and the next attempt"
	case r.Sending != nil:
		return "an attempt starts"
	case old.Sending != nil && r.Attempts < old.Attempts:
		return "withdrawn before it was sent"
	case old.Sending != nil:
		return "a crash"
	case r.Reason == NeedsCredentials:
		return "credentials are missing"
	}
	return "no longer safe to send"
}

func drawStates(all []transitions) string {
	var b strings.Builder
	for _, c := range conditions[1:] {
		fmt.Fprintf(&b, "%-10s %s\n", c.name, c.means)
	}
	b.WriteString("\n")
	for i := range conditions {
		name := conditions[i].name
		if i == condNew {
			name = "(new)"
		}
		for j := range conditions {
			var told []string
			for _, reason := range stateChanges {
				if slices.ContainsFunc(all, func(ts transitions) bool { return ts[[2]int{i, j}][reason] }) {
					told = append(told, reason)
				}
			}
			if told != nil {
				fmt.Fprintf(&b, "%-10s --> %-10s %s\n", name, conditions[j].name, strings.Join(told, "; "))
				name = ""
			}
		}
	}
	return b.String()
}

// TestTheDocsShowTheDiagramOfStates reads what stands between the marks
// states:begin and states:end, without comment signs, indents and code fences.
func TestTheDocsShowTheDiagramOfStates(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/states.golden")
	require.NoError(t, err)
	for _, file := range []string{"doc.go", "README.md"} {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		shown, found := betweenMarks(string(text), "states:begin", "states:end")
		require.True(t, found, "%s has no marks states:begin and states:end", file)
		require.Equal(t, plainLines(string(want)), plainLines(shown), file)
	}
}

// betweenMarks is the text between the lines of two marks.
func betweenMarks(text, begin, end string) (string, bool) {
	_, rest, ok := strings.Cut(text, begin)
	_, rest, okLine := strings.Cut(rest, "\n")
	shown, _, okEnd := strings.Cut(rest, end)
	return shown[:strings.LastIndex("\n"+shown, "\n")], ok && okLine && okEnd
}

func plainLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		if line != "" && !strings.HasPrefix(line, "```") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	return lines
}

func TestTheDiagramIsFoundInWhateverTheDocsWrapItIn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"// states:begin\n//\n//\tA  --> B x\n//\t   --> C\n//\n// states:end\n",
		"<!-- states:begin -->\n```\nA  --> B x\n   --> C\n```\n<!-- states:end -->\n",
	} {
		shown, found := betweenMarks(text, "states:begin", "states:end")
		require.True(t, found)
		require.Equal(t, []string{"A --> B x", "--> C"}, plainLines(shown))
	}
	_, found := betweenMarks("states:begin", "states:begin", "states:end")
	require.False(t, found)
}
