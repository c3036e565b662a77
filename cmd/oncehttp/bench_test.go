package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// Journals are in memory where the system has a place for it: here nothing hangs
// on the disk.
func TestMain(m *testing.M) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		os.Setenv("TMPDIR", "/dev/shm")
	}
	os.Exit(m.Run())
}

const credential = "Bearer sk_test_51"

// A target is a request that a contract speaks of.
type target struct {
	contract string
	method   string
	url      string
	media    string
	header   []string
	body     string
	bad      string // body that is refused
}

func (g target) args(t *testing.T, more ...string) []string {
	u, err := url.Parse(g.url)
	require.NoError(t, err)
	args := []string{"probe", "-contract", g.contract, "-url", g.url, "-body", "-", "-auth-env", "CREDENTIAL", "-i-own", u.Host}
	if g.method != "" {
		args = append(args, "-method", g.method)
	}
	if g.media != "" {
		args = append(args, "-header", "Content-Type: "+g.media)
	}
	for _, h := range g.header {
		args = append(args, "-header", h)
	}
	if g.bad != "" {
		args = append(args, "-bad-body", textFile(t, g.bad))
	}
	return append(args, more...)
}

func textFile(t *testing.T, text string) string {
	path := t.TempDir() + "/body"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A run is what a run of the command left behind.
type ran struct {
	code        int
	stdout      string
	stderr      string
	server      *mockserver.Server
	transported int
}

// report is what -json prints.
func (r ran) report(t *testing.T) report {
	t.Helper()
	var out report
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &out), "%s%s", r.stdout, r.stderr)
	return out
}

// contradicted are the checks that contradict, sorted.
func (r report) contradicted() []string {
	var names []string
	for _, f := range r.Findings {
		if f.Verdict == contradicts {
			names = append(names, f.Check)
		}
	}
	slices.Sort(names)
	return names
}

func (r report) finding(t *testing.T, check string) finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	require.Failf(t, "no such check", "%s in %+v", check, r.Findings)
	return finding{}
}

// play runs the command against a mock server in memory and in virtual time. The
// server works for a while, so that two requests at once meet.
func play(t *testing.T, cfg mockserver.Config, stdin string, args []string) (r ran) {
	t.Helper()
	if cfg.Work == 0 {
		cfg.Work = 400 * time.Millisecond
	}
	synctest.Test(t, func(t *testing.T) {
		r.server = mockserver.Memory(cfg)
		defer r.server.Close()
		r.command(t.Context(), stdin, args, r.server.Transport())
	})
	return r
}

func (r *ran) command(ctx context.Context, stdin string, args []string, transport http.RoundTripper) {
	var stdout, stderr bytes.Buffer
	var sent atomic.Int64
	r.code = run(ctx, args, shell{
		stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr,
		getenv: func(name string) string { return map[string]string{"CREDENTIAL": credential}[name] },
		transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			sent.Add(1)
			return transport.RoundTrip(req)
		}),
	})
	r.stdout, r.stderr, r.transported = stdout.String(), stderr.String(), int(sent.Load())
}

// profileOf is the profile of the API that a contract describes.
func profileOf(t *testing.T, name string) mockserver.Profile {
	t.Helper()
	p, ok := mockserver.ProfileNamed(name)
	require.True(t, ok, "there is no profile %s", name)
	return p
}

// refusing carries out what it is asked for, and refuses what holds the text BAD.
func refusing(status int) func(*http.Request) mockserver.Answer {
	var made atomic.Int64
	header := http.Header{"Content-Type": {"application/json"}}
	return func(r *http.Request) mockserver.Answer {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body) // whole, from memory
		if bytes.Contains(body.Bytes(), []byte("BAD")) {
			return mockserver.Answer{Status: status, Header: header, Body: `{"error":{"code":"amount_invalid"}}`}
		}
		return mockserver.Answer{Status: 201, Header: header, Body: `{"id":"made-` + strconv.FormatInt(made.Add(1), 10) + `","state":"new"}`}
	}
}

// plain is the target of most tests.
func plain() target {
	return target{contract: "idempotency-key", url: "https://api.example.com/things", body: `{"amount":{n}}`, bad: `{"amount":"BAD"}`}
}

func stripeCharge() target {
	return target{
		contract: "stripe-v1", url: "https://api.stripe.com/v1/charges", media: "application/x-www-form-urlencoded",
		body: "amount={n}&currency=eur", bad: "amount=BAD",
	}
}

func contractNamed(t *testing.T, name string) oncehttp.Contract {
	c, err := contractOf(name)
	require.NoError(t, err)
	return c
}
