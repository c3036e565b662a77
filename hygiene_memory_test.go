package oncehttp_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// The tests here measure the memory of the whole process, so none is parallel.

const mib = 1 << 20

// An upload is held once, and once more in the pages of the commit that records
// it; while the journal's file grows, bbolt copies what it is about to write.
func TestAnUploadThatNeedsNoRetryIsHeldOnce(t *testing.T) {
	const size = 64 * mib
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n != size {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer srv.Close()
	c := open(t, journalPath(t), oncehttp.Config{MaxRequestBody: size})
	body := make([]byte, size)
	for _, tt := range []struct {
		journal string
		copies  float64
	}{{"grows", 3}, {"has grown", 2}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, io.NopCloser(bytes.NewReader(body)))
		require.NoError(t, err)
		req.ContentLength = size
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o, err := c.Do("upload into a journal that "+tt.journal, req)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Equal(t, oncehttp.Confirmed, o.State)
		require.Equal(t, 1, o.Attempts)
		copies := float64(after.TotalAlloc-before.TotalAlloc) / size
		t.Logf("into a journal that %s: %.2f times the body", tt.journal, copies)
		assert.Less(t, copies, tt.copies+0.25)
	}
}

// What is longer than MaxResponseBody passes through, whatever its length.
func TestALongAnswerPassesThroughConstantMemory(t *testing.T) {
	sizes := map[string]int64{http.MethodGet: 1 << 30, http.MethodPost: 1 << 28}
	if testing.Short() {
		sizes[http.MethodGet] = 1 << 27
	}
	piece := make([]byte, 64<<10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := sizes[r.Method]
		w.Header().Set("Content-Length", fmt.Sprint(size))
		for range size / int64(len(piece)) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	c := open(t, journalPath(t), oncehttp.Config{})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for method, size := range sizes {
		runtime.GC()
		before, top := heap(), uint64(0)
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL, nil)
		require.NoError(t, err)
		resp, err := c.RoundTrip(req)
		require.NoError(t, err)
		read := int64(0)
		for read < size {
			n, err := io.CopyN(io.Discard, resp.Body, min(16*mib, size-read))
			require.NoError(t, err)
			read += n
			top = max(top, heap())
		}
		n, err := resp.Body.Read(piece)
		require.ErrorIs(t, err, io.EOF)
		require.Zero(t, n)
		require.NoError(t, resp.Body.Close())
		t.Logf("%s: %d MiB read, the heap was at most %.1f MiB larger", method, read/mib, float64(top)/mib-float64(before)/mib)
		assert.Less(t, top, before+16*mib)
	}
}
