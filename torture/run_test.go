//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/torture/tally"
)

// scripted runs parts that are shell scripts, the n-th with n as its argument
// after the flags of the test, as often as times says.
func scripted(t *testing.T, length, limit time.Duration, times uint64, scripts map[string]string) (*torturer, string) {
	t.Helper()
	dir := t.TempDir()
	var all []*part
	for name, script := range scripts {
		// A process forked meanwhile would keep the file open for writing.
		syscall.ForkLock.RLock()
		err := os.WriteFile(filepath.Join(dir, name+".test"), []byte("#!/bin/sh\n"+script+"\n"), 0o700)
		syscall.ForkLock.RUnlock()
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		all = append(all, &part{name: name, test: "TestX", weight: 1, limit: limit, args: func(n uint64) ([]string, bool) {
			return []string{fmt.Sprint(n)}, n < times
		}})
	}
	log := &tail{}
	tt := newTorturer(all, dir, dir, dir, 2, log)
	tt.run(t.Context(), time.Now().Add(length))
	return tt, log.String()
}

func TestWhatThePartsTellIsAddedUpUntilNothingIsLeft(t *testing.T) {
	t.Parallel()
	tt, log := scripted(t, time.Minute, time.Minute, 4, map[string]string{
		"a": `echo "tally: seeds=2 virtual_ms=5"; echo beside; echo "tally: seeds=1"`,
		"b": `echo "tally: kills=$3"`,
	})
	assert.Equal(t, tally.Tally{"seeds": 12, "virtual_ms": 20, "kills": 0 + 1 + 2 + 3}, tt.sum)
	assert.Empty(t, tt.bad)
	assert.Empty(t, log)
}

func TestABrokenPartIsCountedShownAndRepeatable(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		script string
		sum    tally.Tally
		shown  string
	}{
		"it tells what it found":            {`echo "what was seen"; echo "tally: seeds=1 lies=2"; exit 1`, tally.Tally{"seeds": 1, "lies": 2}, "what was seen"},
		"it tells, and ends well":           {`echo "tally: lost=1"`, tally.Tally{"lost": 1}, "go test"},
		"it dies without a word of a count": {`echo "tally: seeds=1"; echo "panic: oh" >&2; exit 2`, tally.Tally{"seeds": 1, "panics": 1}, "panic: oh"},
		"it hangs":                          {`exec sleep 60`, tally.Tally{"panics": 1}, "killed"},
		"a deliberate fault survived":       {`echo "tally: survivors=1"; exit 1`, tally.Tally{"survivors": 1}, "go test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if name == "it hangs" {
				limit = 2 * time.Second
			}
			tt, log := scripted(t, time.Minute, limit, 1, map[string]string{"a": row.script})
			assert.Equal(t, row.sum, tt.sum)
			assert.Equal(t, []string{"go test ./torture/a -run '^TestX$' 0"}, tt.bad)
			assert.Contains(t, log, row.shown)
		})
	}
}

func TestAPartThatThisMachineCannotRunIsTriedOnceAndSaid(t *testing.T) {
	t.Parallel()
	tt, log := scripted(t, time.Minute, time.Minute, 100, map[string]string{"a": `echo "no tracer"; echo "tally: skipped=1"`})
	assert.LessOrEqual(t, tt.begun["a"], uint64(2), "one a worker")
	assert.NotEmpty(t, tt.bad)
	assert.Contains(t, log, "no tracer")
}

func TestNothingBeginsAfterTheDeadlineAndAnInterruptEndsWhatRuns(t *testing.T) {
	t.Parallel()
	tt, _ := scripted(t, -time.Second, 5*time.Minute, 100, map[string]string{"a": `echo "tally: seeds=1"; exec sleep 300`})
	assert.Empty(t, tt.sum)

	ctx, interrupt := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		for seeds := int64(0); seeds < 2 && ctx.Err() == nil; time.Sleep(time.Millisecond) {
			tt.mu.Lock()
			seeds = tt.sum["seeds"]
			tt.mu.Unlock()
		}
		interrupt()
	})
	begun := time.Now()
	tt.run(ctx, begun.Add(time.Hour))
	assert.Less(t, time.Since(begun), 2*time.Minute, "nothing was left to end by itself")
	interrupt()
	watch.Wait()
	assert.Empty(t, tt.bad)
	assert.Equal(t, tally.Tally{"seeds": 2}, tt.sum, "one of each worker")
}

func TestEachPartGetsItsShareOfTheTime(t *testing.T) {
	t.Parallel()
	all := []*part{{name: "a", weight: 6}, {name: "b", weight: 3}, {name: "c", weight: 1}}
	spent, done := map[string]time.Duration{}, map[string]bool{}
	for range 1000 {
		spent[next(all, spent, done).name] += time.Second
	}
	assert.Equal(t, map[string]time.Duration{"a": 600 * time.Second, "b": 300 * time.Second, "c": 100 * time.Second}, spent)
	done["a"] = true
	assert.Equal(t, "b", next(all, spent, done).name)
	done["b"], done["c"] = true, true
	assert.Nil(t, next(all, spent, done))
}

func TestTheSummaryIsOneLineOfFields(t *testing.T) {
	t.Parallel()
	sum := tally.Tally{"seeds": 7, "virtual_ms": 3 * msPerYear / 2, "images": 3, "lies": 1, "faults": 9}
	assert.Equal(t, "seeds=7 virtual_years=1.5 kills=0 images=3 histories=0 mutants=0 duplicates=0 lost=0 lies=1 panics=0", summary(sum))
	line := progress(sum, time.Minute, 10*time.Minute)
	assert.True(t, strings.HasPrefix(line, "9m0s left, 7 seeds/min, seeds=7 "), line)
}
