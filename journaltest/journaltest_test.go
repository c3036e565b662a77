package journaltest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/journaltest"
)

func place(fault string) func(t *testing.T) func() (oncehttp.Journal, error) {
	return func(t *testing.T) func() (oncehttp.Journal, error) { return newMemory(fault).open }
}

func TestARightJournalPasses(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, place(""))
}

// caught is, for each fault planted in memory, a rule that finds it.
var caught = map[string]string{
	"Create writes over a taken ID":                          "Create with a taken ID is ErrConflict",
	"Create writes over a taken name":                        "Create under a taken name stores nothing",
	"a refused Create does not return the holder":            "Create under a taken name stores nothing",
	"a refused Create keeps its names":                       "Create under a taken name stores nothing",
	"the check and the taking of a name are apart":           "A name is taken once",
	"the revision starts at zero":                            "Create stores an entry with both bodies at revision 1",
	"Due is rounded down":                                    "Due is kept to the microsecond and rounded up",
	"a record passed in is kept":                             "What is passed in is not kept",
	"a returned record is the stored one":                    "What is returned belongs to the caller",
	"Update does not compare the revision":                   "Update at another revision is ErrConflict",
	"Update does not grow the revision":                      "Update replaces the entry and the revision grows by one",
	"Update changes names":                                   "Update never changes names",
	"Update leaves the due time":                             "Due follows an entry that is updated",
	"Update loses a body that it is not given":               "Update with a nil body leaves the stored one",
	"an empty body does not remove the stored one":           "Update with a nil body leaves the stored one",
	"Delete removes an open entry":                           "Delete of an open entry is ErrConflict",
	"Delete leaves the names":                                "Delete removes an entry with its names",
	"a list yields an entry twice":                           "Open lists all open entries",
	"Due is in the order of creation":                        "Due lists open entries by due time",
	"Due lists what is never due by itself":                  "Due lists open entries by due time",
	"Open leaves out what is not due by itself":              "Open lists all open entries",
	"Open holds a lock while it yields":                      "The loop over a list may write",
	"Settled includes its limit":                             "Settled lists what is not open and created before",
	"Settled begins too early":                               "Settled lists what is not open and created before",
	"calls after Close go on":                                "After Close every call is ErrClosed",
	"a second Close is an error":                             "After Close every call is ErrClosed",
	"a journal opened again is empty":                        "What was written is there when the journal is opened again",
	"every entry is of a copy":                               "Create stores an entry with both bodies at revision 1",
	"every journal is a copy":                                "A journal that was not copied is no copy",
	"the clock is not kept":                                  "Standing has the time of the last write",
	"the clock is ahead":                                     "Standing has the time of the last write",
	"Compact loses what is settled":                          "Compact keeps every entry as it is",
	"Compact does not heed its context":                      "Compact keeps every entry as it is",
	"a refusal for an ended context is written all the same": "A context that has ended refuses a write or does it whole",
}

const faultEnv = "ONCEHTTP_TEST_JOURNAL_FAULT"

// TestAWrongJournal fails, in a process of its own.
func TestAWrongJournal(t *testing.T) {
	fault := os.Getenv(faultEnv)
	if fault == "" {
		t.Skip("runs only as a child of TestEveryPlantedFaultIsCaught")
	}
	journaltest.Run(t, place(fault))
}

func TestEveryPlantedFaultIsCaught(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	require.NoError(t, err)
	for fault, rule := range caught {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), exe, "-test.run=^TestAWrongJournal$", "-test.timeout=30s")
			c.Env = append(os.Environ(), faultEnv+"="+fault)
			out, err := c.CombinedOutput()
			require.Error(t, err, "the suite passes a wrong journal")
			assert.Contains(t, string(out), "--- FAIL: TestAWrongJournal/"+strings.ReplaceAll(rule, " ", "_"))
		})
	}
}
