package wire

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// TestMain lets many rows wait at a time, and sees to it that none leaves a
// goroutine behind.
func TestMain(m *testing.M) {
	flag.Parse()
	log.SetOutput(io.Discard) // net/http tells there what these servers do
	flag.Set("test.parallel", "16")
	before := runtime.NumGoroutine()
	code := m.Run()
	for deadline := time.Now().Add(timely); code == 0 && runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			fmt.Fprintln(os.Stderr, "goroutines are left:")
			pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			code = 1
		}
	}
	os.Exit(code)
}
