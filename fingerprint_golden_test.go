package oncehttp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateFingerprints = flag.Bool("update-fingerprints", false, "fill in the fingerprints of new lines of testdata/fingerprint_v1.jsonl")

// goldenFingerprint is a line of the golden file.
type goldenFingerprint struct {
	Name        string      `json:"name"`
	Method      string      `json:"method"`
	URL         string      `json:"url"`
	Host        string      `json:"host,omitempty"`
	Header      http.Header `json:"header,omitempty"`
	Body        []byte      `json:"body,omitempty"`
	Ignore      []string    `json:"ignore,omitempty"`
	Significant []string    `json:"significant,omitempty"`
	Fingerprint string      `json:"fingerprint"`
}

func TestVersionOneOfTheFingerprintNeverChanges(t *testing.T) {
	t.Parallel()
	const path = "testdata/fingerprint_v1.jsonl"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var out bytes.Buffer
	lines := 0
	for scanner := bufio.NewScanner(bytes.NewReader(text)); scanner.Scan(); lines++ {
		var g goldenFingerprint
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &g))
		got := fingerprint(payload{g.Method, g.URL, g.Host, g.Header, g.Body}, identity{g.Ignore, g.Significant})
		if *updateFingerprints && g.Fingerprint == "" {
			g.Fingerprint = got
		}
		assert.Equal(t, g.Fingerprint, got, g.Name)
		line, err := json.Marshal(g)
		require.NoError(t, err)
		out.Write(append(line, '\n'))
	}
	require.Greater(t, lines, 20)
	if *updateFingerprints {
		require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	}
}

func BenchmarkFingerprint(b *testing.B) {
	var body strings.Builder
	body.WriteString(`{"amount":1250,"currency":"eur","customer":{"id":"cus_42","email":"a@example.com"},"lines":[`)
	for i := 0; body.Len() < 1000; i++ {
		if i > 0 {
			body.WriteByte(',')
		}
		body.WriteString(`{"sku":"A-17","quantity":2,"price":12.50,"note":"none \u00e9"}`)
	}
	body.WriteString(`]}`)
	p := jsonPayload(body.String())
	plain := p
	plain.Header = http.Header{"Content-Type": {"text/plain"}}
	large := plain
	large.Body = bytes.Repeat(p.Body, 1024)
	for _, c := range []struct {
		name string
		p    payload
	}{{"JSON1KiB", p}, {"Bytes1KiB", plain}, {"Bytes1MiB", large}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.p.Body)))
			b.ReportAllocs()
			for b.Loop() {
				fingerprint(c.p, identity{})
			}
		})
	}
}
