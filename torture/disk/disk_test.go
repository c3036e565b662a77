//go:build linux

package disk

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	imagesFlag = flag.Int64("disk.images", 0, "TestImages: how many distinct images to check, about")
	seedFlag   = flag.Uint64("disk.seed", 1, "TestImages: the first seed")
)

// faultsARound is how many faults of one history a round of TestImages has. So
// many rounds of seeds in a row have them all, and then comes another history.
const faultsARound, roundsAHistory = 10, 64

// TestImages is the long test. It makes rounds of one seed each until it has
// checked so many images, and prints what each has done.
func TestImages(t *testing.T) {
	if *imagesFlag == 0 {
		t.Skip("runs with -disk.images only")
	}
	needStrace(t)
	for seed, done := *seedFlag, int64(0); done < *imagesFlag; seed++ {
		fmt.Printf("disk: seed %d\n", seed)
		s := newSurvey(fmt.Sprintf("go test ./torture/disk -run '^TestImages$' -disk.seed=%d -disk.images=1 -v", seed))
		s.powerRun(t, writeJob(seed))
		s.powerRun(t, clientJob(seed))
		history := faultJob(1 + seed/roundsAHistory)
		all := history.plannedFaults(t)
		for n := range faultsARound {
			s.faultRun(t, history, all[(int(seed%roundsAHistory)*faultsARound+n)%len(all)])
		}
		history.Limit = 16<<10 + seed*1300%(96<<10)
		s.faultRun(t, history, fault{})
		lone := clientJob(seed)
		lone.Writers = 1
		s.faultRun(t, lone, fault{call: "fdatasync", with: "error=EIO", when: 1 + int(seed%8)})
		s.faultRun(t, lone, fault{call: "pwrite64", with: "error=ENOSPC", when: 1 + int(seed%24)})
		s.damageRun(t, seed, 40)
		require.NoError(t, s.tally.Print(os.Stdout))
		s.failures(t)
		done += s.tally["images"]
	}
}

// writeJob is a history of a journal with a few writers.
func writeJob(seed uint64) job {
	random := rand.New(rand.NewPCG(seed, 3))
	return job{Kind: "write", Seed: seed, Writers: 1 + random.IntN(4), Writes: 24 + random.IntN(16)}
}

// clientJob is a history of a client with a few callers.
func clientJob(seed uint64) job {
	random := rand.New(rand.NewPCG(seed, 6))
	return job{Kind: "client", Seed: seed, Writers: 1 + random.IntN(3), Writes: 8 + random.IntN(8)}
}

// faultJob is a short history with one writer.
func faultJob(seed uint64) job { return job{Kind: "write", Seed: seed, Writers: 1, Writes: 12} }

func TestWhatAJournalAcknowledgedSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	needStrace(t)
	s := newSurvey("go test ./torture/disk -run " + t.Name())
	s.powerRun(t, job{Kind: "write", Seed: 1, Writers: 3, Writes: 16})
	require.Greater(t, s.tally["images"], int64(100))
	s.failures(t)
}

func TestWhatAClientToldAndSentSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	needStrace(t)
	s := newSurvey("go test ./torture/disk -run " + t.Name())
	s.powerRun(t, job{Kind: "client", Seed: 3, Writers: 2, Writes: 6})
	require.Greater(t, s.tally["images"], int64(50))
	s.failures(t)
}

func TestAFailedCallLosesNothingAndIsToldAsTheJournalPromises(t *testing.T) {
	t.Parallel()
	needStrace(t)
	s := newSurvey("go test ./torture/disk -run " + t.Name())
	j := faultJob(2)
	for _, f := range j.plannedFaults(t)[:24] {
		s.faultRun(t, j, f)
	}
	require.Greater(t, s.tally["faults"], int64(12))
	s.failures(t)
}

func TestAWriteCutShortRollsBack(t *testing.T) {
	t.Parallel()
	needStrace(t)
	s := newSurvey("go test ./torture/disk -run " + t.Name())
	j := faultJob(3)
	for _, limit := range []uint64{17_000, 29_000, 45_100} {
		j.Limit = limit
		s.faultRun(t, j, fault{})
	}
	require.Positive(t, s.tally["faults"])
	s.failures(t)
}

func TestAClientSendsNothingAfterASyncHasFailed(t *testing.T) {
	t.Parallel()
	needStrace(t)
	s := newSurvey("go test ./torture/disk -run " + t.Name())
	j := job{Kind: "client", Seed: 3, Writers: 1, Writes: 6}
	for when := range 4 {
		require.True(t, s.faultRun(t, j, fault{call: "fdatasync", with: "error=EIO", when: 1 + when}))
	}
	s.failures(t)
}

func TestADamagedJournalIsRefusedOrRight(t *testing.T) {
	t.Parallel()
	s := newSurvey("go test ./torture/disk -run " + t.Name())
	for seed := range uint64(8) {
		s.damageRun(t, seed, 100)
	}
	require.EqualValues(t, 800, s.tally["faults"])
	s.failures(t)
}
