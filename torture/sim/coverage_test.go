package sim

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var covered = flag.Uint64("sim.covered", 2500, "how many seeds everything must have happened in")

// expected are the names of what has to happen.
func expected() (names []string) {
	for f := faultDrop; f <= faultServerCrash; f++ {
		names = append(names, "fault "+f.String())
	}
	for _, end := range []End{EndShutdown, EndQuiet, EndClose, EndCrash} {
		names = append(names, "end "+string(end))
	}
	for _, f := range []JournalFault{JournalFull, JournalLost, JournalKept, JournalCrashBefore, JournalCrashAfter} {
		names = append(names, "journal "+string(f))
	}
	for _, s := range slices.Concat(scenes, termsScenes, []scene{sceneTold}) {
		names = append(names, "scene "+string(s))
	}
	for name := range errorNames {
		names = append(names, "told "+name)
	}
	return append(names,
		"told Confirmed ", "told Confirmed Conflict", "told Rejected Refused", "told Rejected Unauthorized", "told Rejected Conflict",
		"told Pending NotSent", "told Pending Unknown", "told Pending InProgress", "told Pending Throttled", "told Pending ServerError",
		"told Pending StoredFailure", "told Pending KeyExpired", "told Pending Distrusted", "told Pending NoContract", "told Pending Unauthorized",
		"told Pending NeedsCredentials", "told Pending NotRecorded", "told Pending GateClosed", "told Pending Redirected", "told Pending Copied",
		"told of a second effect", "told of the first wording",
		"slow save", "slow connection", "copied journal", "pruned", "a word that may be wrong",
		"life with its clock behind", "server restart", "authorize failed",
		"key in a header", "key in JSON", "key in a form", "key in the query", "key in the path",
		"an id planted in a header", "an id planted in JSON", "an id planted in a form", "a companion",
		"a repeat is marked", "a repeat is marked by status", "a repeat is marked by echo",
		"a hint says true", "a hint says false", "a hint asks for a pause", "a stored failure", "not the credentials that it had",
		"key in XML", "keys in a batch", "UUIDs in a batch", "a caller's keys in a batch", "the window's end with the key",
		"a key of form UUID", "a key of form hex", "a key of form long", "a key of form derived", "a key that must be random", "one key is two",
		"a pause in milliseconds", "a pause in seconds", "a pause in words", "a pause to a date", "a pause to a second", "a pause to a time",
		"a hint is missing, which says false", "an answer marked by header", "an answer marked by pointer", "an answer marked by echo",
		"a repeat is marked by pointer", "a refusal that is not kept", "pinned to more than credentials",
		"found by one", "found by list", "found by since", "found by body", "found by path", "found by day", "found in its state",
		"shown in another state", "proved after a lookup's own settle time",
		"the end of a window at least", "the end of a window unknown", "the end of a window exact", "the end of a window of an account",
		"the end of a window that a companion began", "the end of a window that a companion told", "the end of a window that the API tells",
		"a contract's lookup", "a contract's lookup found it", "a contract's lookup proved that there is none",
		"lookup found", "lookup not found", "lookup too early", "lookup failed",
		"op do", "op do cut off", "op begin", "op resume", "op run", "op read", "op resolve", "op pending")
}

// It also shows, with -v, how often.
func TestEverythingThatIsPlannedHappens(t *testing.T) {
	dir := scratchDir(t)
	happened := map[string]int{}
	missing := expected()
	seed := uint64(0)
	for ; seed < *covered && (len(missing) > 0 || seed < *seeds); seed++ {
		for name, n := range runSeed(t, NewPlan(seed), dir).Happened {
			happened[name] += n
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return happened[name] > 0 })
	}
	t.Logf("in %d seeds:", seed)
	for _, name := range slices.Sorted(maps.Keys(happened)) {
		t.Logf("%6d %s", happened[name], name)
	}
	assert.Empty(t, missing, "planned, and never happened")
}

func TestASeedAlwaysGivesTheSamePlan(t *testing.T) {
	plans := map[string]uint64{}
	for seed := range uint64(200) {
		text := NewPlan(seed).String()
		require.Equal(t, text, NewPlan(seed).String())
		other, known := plans[text]
		require.False(t, known, "seeds %d and %d have one plan", seed, other)
		plans[text] = seed
	}
}

// It also shows, with -v, how often a seed repeats itself: what nobody can seed
// is the choice of select among what is ready, and the order of timers of one
// time.
func TestMostRunsOfASeedAreTheSame(t *testing.T) {
	dir := scratchDir(t)
	same, all := 0, 0
	for seed := range uint64(200) {
		ledger := func() string { return fmt.Sprint(runSeed(t, NewPlan(seed), dir).ledger()) }
		all++
		if once, again := ledger(), ledger(); once == again {
			same++
		}
	}
	t.Logf("%d of %d seeds gave the same ledger twice", same, all)
	assert.Greater(t, same, all/2)
}

// ledger is what the server saw, without what no two runs have in common.
func (r Result) ledger() (lines []string) {
	for _, q := range r.Run.Requests {
		lines = append(lines, fmt.Sprintln(q.Time.Sub(begins), q.Method, q.Path, q.Key, q.Status, q.Effect, q.Replayed))
	}
	return lines
}
