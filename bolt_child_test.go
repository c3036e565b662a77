package oncehttp

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// boltChildren are what this test binary can do as a process of its own, to be
// killed or limited: runBoltChild starts one.
var boltChildren = map[string]func(t *testing.T, path string){
	"write until killed":   writeUntilKilled,
	"hold the lock":        holdTheLock,
	"compact until killed": compactUntilKilled,
	"die in compaction":    dieInCompaction,
}

const boltChildEnv = "ONCEHTTP_TEST_BOLT_CHILD"

func TestBoltChild(t *testing.T) {
	job, path, _ := strings.Cut(os.Getenv(boltChildEnv), "|")
	if job == "" {
		t.Skip("runs only as a child of another test")
	}
	boltChildren[job](t, path)
}

func boltChild(t *testing.T, job, path string) *exec.Cmd {
	t.Helper()
	require.Contains(t, boltChildren, job)
	exe, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), exe, "-test.run=^TestBoltChild$", "-test.v", "-test.timeout=60s")
	c.Env = append(os.Environ(), boltChildEnv+"="+job+"|"+path)
	return c
}

// writeUntilKilled prints "id revision" for each write that was acknowledged.
// The record and both bodies say the revision too.
func writeUntilKilled(t *testing.T, path string) {
	writeOn(t, openTestBolt(t, path))
}

func writeOn(t *testing.T, j *boltJournal) {
	fmt.Println("open")
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for {
				e := Entry{ID: uuid.Must(uuid.NewV7()), Open: true}
				e.Names = []string{e.ID.String()}
				killedEntry(&e, 1)
				_, err := j.Create(t.Context(), e)
				require.NoError(t, err)
				fmt.Println(e.ID, 1)
				for range rand.IntN(4) {
					e.Revision++
					killedEntry(&e, e.Revision+1)
					require.NoError(t, j.Update(t.Context(), e))
					fmt.Println(e.ID, e.Revision+1)
				}
			}
		})
	}
	wait.Wait()
}

// killedEntry gives e what it holds at a revision; e.Revision stays one behind
// for Update.
func killedEntry(e *Entry, revision uint64) {
	e.Revision = revision - 1
	e.Open = revision < 3
	e.Record = fmt.Appendf(nil, "%s %d", e.ID, revision)
	e.Request = []byte(strings.Repeat(fmt.Sprint("q", revision), int(e.ID[15])*8))
	e.Response = []byte(strings.Repeat(fmt.Sprint("a", revision), int(e.ID[14])))
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	surviveKills(t, "write until killed", 40)
}

// surviveKills runs processes on one journal that are killed at any time, and
// checks that what they said they had written is there. It returns after how
// many kills another file lay beside the journal.
func surviveKills(t *testing.T, job string, kills int) (besides int) {
	t.Helper()
	const seed = 7
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(t.TempDir(), "intents.db")
	acknowledged := map[uuid.UUID]uint64{}
	for range kills {
		c := boltChild(t, job, path)
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		lines := bufio.NewScanner(out)
		for open := false; !open && lines.Scan(); open = lines.Text() == "open" {
		}
		kill := time.AfterFunc(time.Duration(random.IntN(60_000))*time.Microsecond, func() { c.Process.Kill() })
		for lines.Scan() {
			var id string
			var revision uint64
			if n, _ := fmt.Sscan(lines.Text(), &id, &revision); n == 2 {
				if id, err := uuid.Parse(id); err == nil {
					acknowledged[id] = max(acknowledged[id], revision)
				}
			}
		}
		require.Error(t, c.Wait(), "the child was killed")
		kill.Stop()
		if len(besideJournal(t, path)) > 0 {
			besides++
		}
	}
	require.Greater(t, len(acknowledged), kills)
	t.Logf("%d entries acknowledged", len(acknowledged))

	checkBolt(t, path)
	j := openTestBolt(t, path)
	for id, revision := range acknowledged {
		got, err := j.Get(t.Context(), id)
		require.NoError(t, err)
		// The last write may have been stored and not reported.
		require.GreaterOrEqual(t, got.Revision, revision)
		require.LessOrEqual(t, got.Revision, revision+1)
		want := Entry{ID: id, Names: []string{id.String()}}
		killedEntry(&want, got.Revision)
		want.Revision = got.Revision
		require.NoError(t, wrongEntry(t, j, want))
	}
	return besides
}

func holdTheLock(t *testing.T, path string) {
	openTestBolt(t, path)
	fmt.Println("open")
	time.Sleep(time.Minute) // until killed
}
