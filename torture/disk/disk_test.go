package disk

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

var (
	imagesFlag = flag.Int("disk.images", 300, "TestImages: how many images to check, about")
	seedFlag   = flag.Uint64("disk.seed", 1, "TestImages: the first seed")
)

func TestImages(t *testing.T) {
	needStrace(t)
	for seed, done := *seedFlag, int64(0); done < int64(*imagesFlag); seed++ {
		s := newSurvey(fmt.Sprintf("go test ./torture/disk -run '^TestImages$' -disk.seed=%d -disk.images=1 -v", seed))
		s.powerRun(t, writeJob(seed))
		s.powerRun(t, clientJob(seed))
		s.tally.Print(os.Stdout)
		s.failures(t)
		done += s.tally["images"]
	}
}

func TestFaults(t *testing.T) {
	needStrace(t)
	s := newSurvey("")
	j := job{Kind: "write", Seed: *seedFlag, Writers: 1, Writes: 12}
	all := j.plannedFaults(t)
	fmt.Println(len(all))
	for _, f := range all[:60] {
		s.faultRun(t, j, f)
		fmt.Println(f, s.tally)
	}
	s.tally.Print(os.Stdout)
	s.failures(t)
}

func TestDamage(t *testing.T) {
	s := newSurvey("")
	for n := range uint64(6) {
		s.damageRun(t, *seedFlag+n, 300)
	}
	s.tally.Print(os.Stdout)
	s.failures(t)
}

func writeJob(seed uint64) job {
	random := rand.New(rand.NewPCG(seed, 3))
	return job{Kind: "write", Seed: seed, Writers: 1 + random.IntN(4), Writes: 24 + random.IntN(16)}
}

func clientJob(seed uint64) job {
	random := rand.New(rand.NewPCG(seed, 6))
	return job{Kind: "client", Seed: seed, Writers: 1 + random.IntN(3), Writes: 8 + random.IntN(8)}
}
