package oncehttp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// BenchmarkBoltIntent is the journal's share of one intent: a Create with its
// request, and the Update that records the answer and drops the request. The
// metrics, all medians or sums over the run:
//
//	intents/s
//	x-raw      intents/s ÷ (½ × bbolt commits of one put a second)
//	x-disk     intents/s ÷ (commits of four pages and a meta page a second, without bbolt)
//
// Both limits are measured on the same disk just before and just after.
func BenchmarkBoltIntent(b *testing.B) {
	body := bytes.Repeat([]byte("b"), 1024)
	answer := bytes.Repeat([]byte("a"), 200)
	record := bytes.Repeat([]byte("r"), 300)
	for _, names := range []string{"anonymous", "ascending", "random"} {
		for _, callers := range []int{1, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", names, callers), func(b *testing.B) {
				benchmarkBolt(b, callers, 0.5, func(j *boltJournal, n int) {
					e := Entry{ID: uuid.Must(uuid.NewV7()), Open: true, Record: record, Request: body}
					switch names {
					case "ascending":
						e.Names = []string{fmt.Sprintf("order-%s/charge", e.ID)}
					case "random":
						e.Names = []string{fmt.Sprintf("order-%s/charge", uuid.New())}
					}
					_, err := j.Create(b.Context(), e)
					require.NoError(b, err)
					e.Revision, e.Open, e.Request, e.Response = 1, false, []byte{}, answer
					require.NoError(b, j.Update(b.Context(), e))
				})
			})
		}
	}
}

// BenchmarkBoltWrite is one write of 200 bytes.
func BenchmarkBoltWrite(b *testing.B) {
	record := bytes.Repeat([]byte("r"), 200)
	for _, callers := range []int{1, 64, 1024} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			benchmarkBolt(b, callers, 1, func(j *boltJournal, n int) {
				_, err := j.Create(b.Context(), Entry{ID: uuid.Must(uuid.NewV7()), Record: record})
				require.NoError(b, err)
			})
		})
	}
}

// benchmarkBolt runs do from many callers at once, each again as soon as it
// returns; share is the part of a bbolt commit's rate that one do alone can
// reach.
func benchmarkBolt(b *testing.B, callers int, share float64, do func(j *boltJournal, n int)) {
	opened, err := openBolt(filepath.Join(b.TempDir(), "bench.db"), 0, nil)
	require.NoError(b, err)
	j := opened.(*boltJournal)
	defer j.Close()
	const slice = 150 * time.Millisecond
	each := max(1, 128/callers)
	round := func() {
		var wait sync.WaitGroup
		for range callers {
			wait.Go(func() {
				for n := range each {
					do(j, n)
				}
			})
		}
		wait.Wait()
	}
	round()
	raw, disk := rawPuts(b, slice), rawDisk(b, slice)
	commits := j.commits()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	for b.Loop() {
		round()
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	done := float64(b.N * callers * each)
	rate := done / b.Elapsed().Seconds()
	raw, disk = (raw+rawPuts(b, slice))/2, (disk+rawDisk(b, slice))/2
	b.ReportMetric(rate, "intents/s")
	b.ReportMetric(rate/(share*raw), "x-raw")
	b.ReportMetric(rate/disk, "x-disk")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/done, "allocs/intent")
	b.ReportMetric(float64(j.commits()-commits)/done, "commits/intent")
	b.ReportMetric(0, "ns/op")
}

// rawPuts is how many commits of one 200 byte put bbolt makes a second.
func rawPuts(b *testing.B, slice time.Duration) float64 {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	require.NoError(b, err)
	defer db.Close()
	val := make([]byte, 200)
	return ratePerSecond(slice, func(n int) {
		require.NoError(b, db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("raw"))
			if err != nil {
				return err
			}
			return bucket.Put(fmt.Appendf(nil, "%016d", n), val)
		}))
	})
}

// rawDisk is how many commits of bbolt's shape the disk takes a second: four
// pages written again, a sync, a meta page, a sync.
func rawDisk(b *testing.B, slice time.Duration) float64 {
	f, err := os.Create(filepath.Join(b.TempDir(), "disk"))
	require.NoError(b, err)
	defer f.Close()
	page := make([]byte, 4096)
	for n := range 64 {
		f.WriteAt(page, int64(n)*4096)
	}
	require.NoError(b, f.Sync())
	return ratePerSecond(slice, func(n int) {
		for p := range 4 {
			_, err := f.WriteAt(page, int64(2+(4*n+p)%60)*4096)
			require.NoError(b, err)
		}
		require.NoError(b, syscall.Fdatasync(int(f.Fd())))
		_, err := f.WriteAt(page, int64(n%2)*4096)
		require.NoError(b, err)
		require.NoError(b, syscall.Fdatasync(int(f.Fd())))
	})
}

func ratePerSecond(slice time.Duration, do func(n int)) float64 {
	start := time.Now()
	n := 0
	for ; time.Since(start) < slice; n++ {
		do(n)
	}
	return float64(n) / time.Since(start).Seconds()
}
