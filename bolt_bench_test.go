//go:build linux

package oncehttp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// BenchmarkBoltIntent is the journal's share of one intent: a Create with its
// request, and the Update that records the answer and drops the request. Each
// turn of the loop measures the journal and then its limits on the same disk,
// so that the ratios hold on a busy machine too. The metrics are medians over
// the turns:
//
//	intents/s
//	x-raw      intents/s ÷ (½ × bbolt commits of one put a second)
//	x-disk     intents/s ÷ (commits of four pages and a meta page a second, without bbolt)
func BenchmarkBoltIntent(b *testing.B) {
	body := bytes.Repeat([]byte("b"), 1024)
	answer := bytes.Repeat([]byte("a"), 200)
	record := bytes.Repeat([]byte("r"), 300)
	for _, names := range []string{"anonymous", "ascending", "random"} {
		for _, callers := range []int{1, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", names, callers), func(b *testing.B) {
				benchmarkBolt(b, callers, 0.5, func(j *boltJournal) {
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
			benchmarkBolt(b, callers, 1, func(j *boltJournal) {
				_, err := j.Create(b.Context(), Entry{ID: uuid.Must(uuid.NewV7()), Record: record})
				require.NoError(b, err)
			})
		})
	}
}

// benchmarkBolt runs do from many callers at once, each again as soon as it
// returns; share is the part of a bbolt commit's rate that one do alone can
// reach.
func benchmarkBolt(b *testing.B, callers int, share float64, do func(j *boltJournal)) {
	const slice = 40 * time.Millisecond
	opened, err := OpenBolt(filepath.Join(b.TempDir(), "bench.db"), 0, nil)
	require.NoError(b, err)
	j := opened.(*boltJournal)
	defer j.Close()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	require.NoError(b, err)
	defer db.Close()
	f, err := os.Create(filepath.Join(b.TempDir(), "disk"))
	require.NoError(b, err)
	defer f.Close()
	_, err = f.Write(make([]byte, 64*4096))
	require.NoError(b, err)
	require.NoError(b, f.Sync())

	var done, commits int64
	var mallocs uint64
	var rates, perRaw, perDisk []float64
	for b.Loop() {
		raw := perSecond(1, slice, func(n int) { rawPut(b, db, n) })
		disk := perSecond(1, slice, func(n int) { rawCommit(b, f, n) })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		startCommits, count := j.commits(), atomic.Int64{}
		rate := perSecond(callers, 2*slice, func(int) { do(j); count.Add(1) })
		runtime.ReadMemStats(&after)
		done, commits, mallocs = done+count.Load(), commits+j.commits()-startCommits, mallocs+after.Mallocs-before.Mallocs
		raw = (raw + perSecond(1, slice, func(n int) { rawPut(b, db, n) })) / 2
		disk = (disk + perSecond(1, slice, func(n int) { rawCommit(b, f, n) })) / 2
		rates, perRaw, perDisk = append(rates, rate), append(perRaw, rate/(share*raw)), append(perDisk, rate/disk)
	}
	median := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
	b.ReportMetric(median(rates), "intents/s")
	b.ReportMetric(median(perRaw), "x-raw")
	b.ReportMetric(median(perDisk), "x-disk")
	b.ReportMetric(float64(mallocs)/float64(done), "allocs/intent")
	b.ReportMetric(float64(commits)/float64(done), "commits/intent")
	b.ReportMetric(0, "ns/op")
}

// perSecond is how often do returns in a second, called by so many at once.
func perSecond(callers int, slice time.Duration, do func(n int)) float64 {
	start := time.Now()
	var total atomic.Int64
	var wait sync.WaitGroup
	for range callers {
		wait.Go(func() {
			for time.Since(start) < slice {
				do(int(total.Add(1)))
			}
		})
	}
	wait.Wait()
	return float64(total.Load()) / time.Since(start).Seconds()
}

// rawPut is a bbolt commit of one put of 200 bytes.
func rawPut(b *testing.B, db *bbolt.DB, n int) {
	require.NoError(b, db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists([]byte("raw"))
		if err != nil {
			return err
		}
		return bucket.Put(fmt.Appendf(nil, "%016d", n), make([]byte, 200))
	}))
}

// rawCommit writes what a bbolt commit writes at best: four pages that were
// written before, a sync, a meta page, a sync.
func rawCommit(b *testing.B, f *os.File, n int) {
	var page [4096]byte
	for p := range 4 {
		_, err := f.WriteAt(page[:], int64(2+(4*n+p)%60)*4096)
		require.NoError(b, err)
	}
	require.NoError(b, syscall.Fdatasync(int(f.Fd())))
	_, err := f.WriteAt(page[:], int64(n%2)*4096)
	require.NoError(b, err)
	require.NoError(b, syscall.Fdatasync(int(f.Fd())))
}
