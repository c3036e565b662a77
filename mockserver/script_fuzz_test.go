package mockserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

// FuzzScript: a script that is taken is written and read again as it was, and
// can be played to its end, with one effect for its one key.
func FuzzScript(f *testing.F) {
	for _, script := range []string{
		`[{"commit": true, "see": "reset"}, {"status": 503, "header": {"Retry-After": "2", "A": []}}]`,
		`[{"before": "1h", "late": "5us", "behind": 2, "crash": "between", "gzip": true, "keep": 3, "framing": "chunked"}]`,
		`[{"informational": [103, 102], "see": "drip", "every": "1ms", "times": -1}]`,
		`[{"commit": true, "see": "close", "late": "2540400h"}, {"commit": true, "see": "nothing", "behind": 1}, {}]`,
		`[{"see": "truncated", "keep": 4, "framing": "close"}, {"see": "early", "read": 1}, {"see": "endless", "status": 200, "body": "x"}]`,
		`[{"see": "raw", "body": "HTTP/1.1 20"}, {"see": "goaway"}, {"see": "refused", "commit": true}, {"origin": true, "status": 422, "commit": true}]`,
		`[{"status": 304, "body": "none"}, {"status": 204}, {"status": 307, "header": {"Location": "/x"}}, {"forget": true, "crash": "after"}, {"token": "t"}, {"keysDown": true}]`,
		`[{"see": "truncated", "keep": -1}]`, `[{"status": 42}]`, `[{"status": 103}]`, `[{"see": "early", "read": -1}]`, `[{"see": "truncated", "keep": 9223372036854775807, "gzip": true}]`,
		"[{},\n{\"x\": 1}]",
	} {
		f.Add([]byte(script), false)
		f.Add([]byte(script), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, http2 bool) {
		if len(data) > 4<<10 {
			t.Skip("longer ones show nothing new")
		}
		faults, err := mockserver.ParseScript(data)
		if err != nil {
			return
		}
		once, err := json.Marshal(faults)
		require.NoError(t, err)
		again, err := mockserver.ParseScript(once)
		require.NoError(t, err, string(once))
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		synctest.Test(t, func(t *testing.T) { play(t, faults, http2) })
	})
}

// play makes a request for each of the first faults, and two more.
func play(t *testing.T, faults []mockserver.Fault, http2 bool) {
	var complaints bytes.Buffer
	s := mockserver.Memory(mockserver.Config{Script: faults, TTL: -1, HTTP2: http2, ErrorLog: log.New(&complaints, "", 0)})
	for range min(len(faults), 6) + 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/payments", strings.NewReader(`{"amount":500}`))
		require.NoError(t, err)
		r.GetBody = nil
		r.Header.Set("Idempotency-Key", "k")
		if resp, err := s.Client().Do(r); err == nil {
			_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
			resp.Body.Close()
		}
		cancel()
	}
	s.Close()
	assert.NotContains(t, complaints.String(), "panic")
	again := slices.ContainsFunc(faults, func(f mockserver.Fault) bool { return f.Forget || f.Crash != mockserver.NoCrash })
	assert.True(t, again || s.Effects("k") <= 1, "%d effects of one key", s.Effects("k"))
}
