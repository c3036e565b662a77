package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/oncehttp/oncehttp"
)

var cost = comparison{
	name:  "cost",
	claim: "The journal is shared by those who call at the same time.",
	how: "300 bytes a record, one file on this machine's disk, a transport in memory that answers at once. bbolt's rows make one commit a record; oncehttp makes two for each action, " +
		"and the request, the answer and the outcome are in them. \"none\" is a client without a journal: what the durability costs.",
	heads: []string{"1 caller, a second", "p50", "64 callers, a second", "p50", "256 callers, a second", "p50"},
	run: func(size scale) []row {
		lasts := map[scale]time.Duration{short: 100 * time.Millisecond, usual: time.Second, long: 5 * time.Second}[size]
		var rows []row
		for _, w := range writers() {
			r := row{peer: w.name}
			for _, callers := range []int{1, 64, 256} {
				p := w.pace(callers, lasts)
				r.cells = append(r.cells, fmt.Sprintf("%.0f", p.perSecond), fmt.Sprintf("%.2f ms", float64(p.p50.Microseconds())/1000))
			}
			rows = append(rows, r)
		}
		return rows
	},
}

// A writer makes the n-th record durable.
type writer struct {
	name string
	open func(dir string) (write func(n int64) error, done func())
}

func writers() []writer {
	record := make([]byte, 300)
	bolt := func(dir string) *bbolt.DB {
		db, err := bbolt.Open(filepath.Join(dir, "naive.db"), 0o600, nil)
		if err == nil {
			err = db.Update(func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("records"))
				return err
			})
		}
		if err != nil {
			panic(err)
		}
		return db
	}
	put := func(n int64) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("records")).Put(binary.BigEndian.AppendUint64(nil, uint64(n)), record)
		}
	}
	instant := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		io.Copy(io.Discard, req.Body)
		req.Body.Close()
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	})
	return []writer{
		{"none: net/http", func(string) (func(int64) error, func()) {
			c := &http.Client{Transport: instant}
			return func(int64) error {
				return finish(c.Do(upload(context.Background(), http.MethodPost, "https://api.example.com/", record)))
			}, nothing
		}},
		{"bbolt Update, one commit", func(dir string) (func(int64) error, func()) {
			db := bolt(dir)
			return func(n int64) error { return db.Update(put(n)) }, func() { db.Close() }
		}},
		{"bbolt Batch, one commit", func(dir string) (func(int64) error, func()) {
			db := bolt(dir)
			return func(n int64) error { return db.Batch(put(n)) }, func() { db.Close() }
		}},
		{ourName + ", an action", func(string) (func(int64) error, func()) {
			c, done := openOurs(oncehttp.Config{}, setup{base: instant})
			return func(n int64) error {
				_, err := c.Do(fmt.Sprintf("order-%012d/charge", n), upload(context.Background(), http.MethodPost, "https://api.example.com/", record))
				return err
			}, done
		}},
	}
}

type pace struct {
	perSecond float64
	p50       time.Duration
	count     int
}

func (w writer) pace(callers int, lasts time.Duration) pace {
	dir, err := os.MkdirTemp("", "oncehttp-benchmark-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	write, done := w.open(dir)
	defer done()
	var n atomic.Int64
	took := make([][]time.Duration, callers)
	start := time.Now()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for time.Since(start) < lasts {
				began := time.Now()
				if err := write(n.Add(1)); err != nil {
					panic(err)
				}
				took[i] = append(took[i], time.Since(began))
			}
		})
	}
	all.Wait()
	elapsed := time.Since(start)
	sorted := slices.Sorted(slices.Values(slices.Concat(took...)))
	return pace{float64(len(sorted)) / elapsed.Seconds(), sorted[len(sorted)/2], len(sorted)}
}
