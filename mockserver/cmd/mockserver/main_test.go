package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.json")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestTheCommandServesAScriptAndStopsOnASignal(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "mockserver")
	out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))

	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, binary, "-addr", "127.0.0.1:0", "-work", "10ms", "-ttl", "1h",
			"-script", write(t, `[{"commit": true, "see": "reset"}]`))
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewReader(stdout)
		first, err := lines.ReadString('\n')
		require.NoError(t, err)
		url := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(first)

		charge := func() (*http.Response, error) {
			req, err := http.NewRequest("POST", url+"/charges", io.NopCloser(strings.NewReader(`{}`)))
			require.NoError(t, err)
			req.Header.Set("Idempotency-Key", "k")
			req.Header.Set("Authorization", "Bearer s3cr3t")
			return http.DefaultClient.Do(req)
		}
		_, err = charge()
		require.Error(t, err)
		resp, err := charge()
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, "true", resp.Header.Get("Idempotent-Replayed"))

		resp, err = http.Get(url + "/.mockserver/ledger.json")
		require.NoError(t, err)
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		var l ledger
		require.NoError(t, json.Unmarshal(raw, &l))
		assert.Len(t, l.Requests, 2)
		assert.Len(t, l.Effects, 1)
		assert.NotContains(t, string(raw), "s3cr3t")
		resp, err = http.Get(url + "/.mockserver/")
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Contains(t, string(body), "2 requests, 1 effects")

		require.NoError(t, cmd.Process.Signal(signal))
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait())
		assert.Equal(t, "2 requests, 1 effects\n", string(rest))
	}
}

func TestTheCommandSaysWhatIsWrongWithItsArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-script", write(t, "[{},\n{\"sttus\": 503}]")}, `fault 2, at line 2: json: unknown field "sttus"`},
		{[]string{"-script", "absent.json"}, "no such file"},
		{[]string{"-profile", "nobody"}, `profile "nobody" is none of those that -profiles lists`},
		{[]string{"-profile", write(t, `{"keyMni": 3}`)}, `unknown field "keyMni"`},
		{[]string{"-addr", "127.0.0.1:99999"}, "invalid port"},
		{[]string{"extra"}, `unknown argument "extra"`},
	} {
		err := run(t.Context(), c.args, io.Discard, io.Discard)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestTheCommandListsTheProfiles(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-profiles"}, &out, io.Discard))
	assert.Contains(t, out.String(), "stripe-v1\thttps://docs.stripe.com/")
}

func TestTheCommandTakesProfilesAndSeeds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	require.NoError(t, run(ctx, []string{"-addr", "127.0.0.1:0", "-seed", "7", "-profile", "stripe-v1"}, &out, io.Discard))
	assert.Contains(t, out.String(), "random faults of seed 7")
	assert.Contains(t, out.String(), "0 requests, 0 effects")
	require.NoError(t, run(ctx, []string{"-addr", "127.0.0.1:0", "-profile", write(t, `{"ttl": "1h"}`)}, io.Discard, io.Discard))
}
