//go:build linux

package oncehttp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/oncehttp/oncehttp"
)

// BenchmarkHappy measures actions that succeed at once. Absolute figures are
// the machine's; compare the ratios, each to what was measured just before and
// just after in the same run:
//
//	/half-put   intents a second to half of bbolt's rate of one put a commit
//	/disk       intents a second to the disk's rate of bbolt-shaped commits
//	/bare       requests a second to those of the bare transport
//	cpu-µs/op   of the whole process, the server's share too where it is in it
//
// Run it with
//
//	go test -run '^$' -bench Happy -benchmem .
func BenchmarkHappy(b *testing.B) {
	b.Run("limit/disk commit", func(b *testing.B) {
		commit := diskCommits(b)
		for b.Loop() {
			commit()
		}
		perSecond(b, "commits/s")
	})
	b.Run("limit/bbolt put", func(b *testing.B) {
		put := boltPuts(b)
		for b.Loop() {
			put()
		}
		perSecond(b, "commits/s")
	})

	stub := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			io.Copy(io.Discard, req.Body)
			req.Body.Close()
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	})
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		client := benchClient(b, oncehttp.Config{Transport: stub})
		for name, transport := range map[string]http.RoundTripper{"bare": stub, "passed through": client} {
			b.Run("stub/"+method+" "+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					trip(b, transport, benchRequest(method, "https://api.example.com/", ""))
				}
			})
		}
	}
	for _, callers := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("stub/POST journaled/%d callers", callers), func(b *testing.B) {
			client := benchClient(b, oncehttp.Config{Transport: stub})
			journaled(b, client, callers, "https://api.example.com/", ascending)
		})
	}
	b.Run("stub/POST journaled, random names/64 callers", func(b *testing.B) {
		client := benchClient(b, oncehttp.Config{Transport: stub})
		journaled(b, client, 64, "https://api.example.com/", random)
	})

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, `{"id":"ch_1"}`)
	}))
	b.Cleanup(server.Close)
	for _, callers := range []int{1, 16, 256} {
		transport := &http.Transport{MaxIdleConnsPerHost: callers}
		b.Cleanup(transport.CloseIdleConnections)
		b.Run(fmt.Sprintf("loopback/POST bare/%d callers", callers), func(b *testing.B) {
			b.ReportAllocs()
			crowd(b, callers, func(int64) { trip(b, transport, benchRequest(http.MethodPost, server.URL, "key")) })
			perSecond(b, "requests/s")
		})
		b.Run(fmt.Sprintf("loopback/POST journaled/%d callers", callers), func(b *testing.B) {
			client := benchClient(b, oncehttp.Config{Transport: transport})
			bareRate := beside(func() {
				trip(b, transport, benchRequest(http.MethodPost, server.URL, "key"))
			}, callers)
			rate := journaled(b, client, callers, server.URL, ascending)
			b.ReportMetric(rate/((bareRate()+bareRate())/2), "/bare")
		})
	}
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// benchBody is 1 KiB of JSON.
var benchBody = fmt.Appendf(nil, `{"amount":500,"note":"%0*d"}`, 1024-len(`{"amount":500,"note":""}`), 0)

func benchRequest(method, url, key string) *http.Request {
	var body io.Reader
	if method != http.MethodGet {
		body = bytes.NewReader(benchBody)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, url, body)
	if err != nil {
		panic(err) // the arguments are ours
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return req
}

func trip(b *testing.B, t http.RoundTripper, req *http.Request) {
	resp, err := t.RoundTrip(req)
	if err != nil {
		b.Error(err)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

func benchClient(b *testing.B, cfg oncehttp.Config) *oncehttp.Client {
	cfg.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("*", 24*time.Hour)}
	c, err := oncehttp.Open(filepath.Join(b.TempDir(), "intents.db"), cfg)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, c.Close()) })
	return c
}

func ascending(n int64) string { return fmt.Sprintf("order-%012d/charge", n) }

func random(int64) string { return fmt.Sprintf("order-%016x/charge", rand.Uint64()) }

// journaled measures actions, with the limits before and after, and returns
// their rate.
func journaled(b *testing.B, c *oncehttp.Client, callers int, url string, name func(int64) string) float64 {
	putRate, diskRate := beside(boltPuts(b), 1), beside(diskCommits(b), 1)
	puts, disk := putRate(), diskRate()
	b.ReportAllocs()
	b.ResetTimer()
	crowd(b, callers, func(n int64) {
		o, err := c.Do(name(n), benchRequest(http.MethodPost, url, ""))
		if err != nil || o.State != oncehttp.Confirmed {
			b.Errorf("%v: %v", o, err)
		}
	})
	b.StopTimer()
	puts, disk = (puts+putRate())/2, (disk+diskRate())/2
	rate := perSecond(b, "intents/s")
	b.ReportMetric(rate/(puts/2), "/half-put")
	b.ReportMetric(rate/disk, "/disk")
	return rate
}

// crowd does b.N things, by so many callers that each does one after the other.
func crowd(b *testing.B, callers int, do func(int64)) {
	var next atomic.Int64
	var all sync.WaitGroup
	before := cpuTime(b)
	for range callers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N) && !b.Failed(); i = next.Add(1) {
				do(i)
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// beside measures how often a second something is done, in 100 ms.
func beside(do func(), callers int) func() float64 {
	return func() float64 {
		var count atomic.Int64
		var all sync.WaitGroup
		start := time.Now()
		for range callers {
			all.Go(func() {
				for time.Since(start) < 100*time.Millisecond {
					do()
					count.Add(1)
				}
			})
		}
		all.Wait()
		return float64(count.Load()) / time.Since(start).Seconds()
	}
}

func perSecond(b *testing.B, unit string) float64 {
	rate := float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, unit)
	return rate
}

// boltPuts is a put of 200 bytes in a transaction of its own, by bbolt as it
// comes.
func boltPuts(b *testing.B) func() {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "put.db"), 0o600, nil)
	require.NoError(b, err)
	b.Cleanup(func() { db.Close() })
	value, n := make([]byte, 200), uint64(0)
	return func() {
		n++
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("bucket"))
			if err != nil {
				return err
			}
			return bucket.Put(binary.BigEndian.AppendUint64(nil, n), value)
		})
		if err != nil {
			b.Error(err)
		}
	}
}

// diskCommits is what a bbolt commit of one small put writes at best: four
// pages, a sync, one of two meta pages, a sync.
func diskCommits(b *testing.B) func() {
	f, err := os.Create(filepath.Join(b.TempDir(), "disk"))
	require.NoError(b, err)
	b.Cleanup(func() { f.Close() })
	page, n := make([]byte, 4096), 0
	write := func(at int) {
		if _, err := f.WriteAt(page, int64(at)*int64(len(page))); err != nil {
			b.Error(err)
		}
	}
	sync := func() {
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			b.Error(err)
		}
	}
	for at := range 18 {
		write(at)
	}
	sync()
	return func() {
		for k := range 4 {
			write(2 + (n*4+k)%16)
		}
		sync()
		write(n % 2)
		sync()
		n++
	}
}
