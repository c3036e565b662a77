package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/contracts"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestNothingIsSentUnlessTheHostIsNamed(t *testing.T) {
	t.Parallel()
	g := target{contract: "idempotency-key", url: "http://api.example.com:8080/things", body: `{"amount":{n}}`}
	base := []string{"probe", "-contract", g.contract, "-url", g.url, "-body", "-"}
	for name, more := range map[string][]string{
		"no flag":        nil,
		"empty":          {"-i-own", ""},
		"another host":   {"-i-own", "api.example.org:8080"},
		"a domain above": {"-i-own", "example.com:8080"},
		"without a port": {"-i-own", "api.example.com"},
		"another port":   {"-i-own", "api.example.com:443"},
		"a pattern":      {"-i-own", "*"},
	} {
		r := play(t, mockserver.Config{}, g.body, append(base, more...))
		assert.Equal(t, exitUsage, r.code, name)
		assert.Contains(t, r.stderr, "nothing was sent", name)
		assert.Contains(t, r.stderr, "-i-own api.example.com:8080", name)
		assert.Zero(t, r.transported, name)
		assert.Empty(t, r.server.Requests(), name)
	}
	r := play(t, mockserver.Config{}, g.body, append(base, "-i-own", "API.example.com:8080"))
	assert.NotEmpty(t, r.server.Requests(), "a host has no case: %s", r.stderr)
}

func TestADryRunSendsNothingAndSaysWhatItWould(t *testing.T) {
	t.Parallel()
	g := stripeCharge()
	for _, own := range []string{"api.stripe.com", "example.com"} {
		r := play(t, mockserver.Config{}, g.body, g.args(t, "-dry-run", "-i-own", own))
		assert.Equal(t, exitAgrees, r.code)
		assert.Contains(t, r.stdout, "10 requests, each of which may have an effect: POST https://api.stripe.com/v1/charges, contract stripe-v1")
		assert.Zero(t, r.transported)
		assert.Empty(t, r.server.Requests())
	}
}

func TestWrongFlagsSendNothingAndSayWhatToDo(t *testing.T) {
	t.Parallel()
	g := plain()
	for says, args := range map[string][]string{
		"usage: oncehttp probe":             {},
		"-list shows the names":             {"probe", "-url", g.url},
		`no contract is named "nobody"`:     g.args(t, "-contract", "nobody"),
		"promises nothing about keys":       g.args(t, "-contract", "twilio-messages"),
		"names no host":                     g.args(t, "-url", "/things"),
		"holds a password":                  g.args(t, "-url", "https://me:hunter2@api.example.com/"),
		"holds a credential":                g.args(t, "-header", "Authorization: Bearer hunter2"),
		"sets Idempotency-Key":              g.args(t, "-header", "idempotency-key: k1"),
		"variable NOBODY is not set":        g.args(t, "-auth-env", "NOBODY"),
		"there are only flags":              g.args(t, "more"),
		"flag provided but not defined":     g.args(t, "-hunter2"),
		"-effects is 2":                     g.args(t, "-effects", "2"),
		"is no JSON pointer":                g.args(t, "-id", "data.id"),
		"does not speak of this request":    g.args(t, "-contract", "stripe-v1"),
		"no such file":                      g.args(t, "-bad-body", "/nowhere/at/all"),
		"-header wants":                     g.args(t, "-header", "Name"),
		"not that of JSON":                  append(target{contract: "mercury-transactions", url: "https://api.mercury.com/api/v1/account/a/transactions", media: "text/plain"}.args(t), "-dry-run"),
		"has a key already":                 append(target{contract: "mercury-transactions", url: "https://api.mercury.com/api/v1/account/a/transactions"}.args(t), "-body", textFile(t, `{"idempotencyKey":"mine"}`)),
		"-pause is negative":                g.args(t, "-pause", "-1s"),
		"cannot be read; write it as https": g.args(t, "-url", "https://api.example.com/%zz?hunter2"),
	} {
		r := play(t, mockserver.Config{}, g.body, args)
		assert.Equal(t, exitUsage, r.code, says)
		assert.Contains(t, r.stderr, says)
		assert.NotContains(t, strings.ReplaceAll(r.stderr, "defined: -hunter2", ""), "hunter2", says)
		assert.Zero(t, r.transported, says)
	}
}

func TestNothingThatIsPrintedHoldsACredentialAKeyOrABody(t *testing.T) {
	t.Parallel()
	g := stripeCharge()
	g.url += "?secret=in-the-query"
	g.body += "&note=text-of-the-body"
	g.header = []string{"X-Account: an-account"}
	for name, fault := range map[string]mockserver.Fault{
		"to the end": {}, "lost": mockserver.Lost(), "refused": mockserver.Code(401, "text-of-an-answer"), "throttled": mockserver.Status(429),
		"garbage": {See: mockserver.SeeRaw, Body: "text-of-an-answer text-of-an-answer"},
	} {
		for _, form := range [][]string{nil, {"-json"}} {
			cfg := mockserver.Config{Profile: profileOf(t, g.contract), Execute: refusing(402), Script: []mockserver.Fault{{}, {}, fault}}
			r := play(t, cfg, g.body, g.args(t, form...))
			all := r.stdout + r.stderr
			for _, q := range r.server.Requests() {
				assert.Equal(t, credential, q.Header.Get("Authorization"))
				if q.Key != "" {
					assert.NotContains(t, all, q.Key[:min(len(q.Key), 12)], name)
				}
			}
			for _, secret := range []string{"sk_test_51", "in-the-query", "text-of-the-body", "amount=", "an-account", "text-of-an-answer", `"state":"new"`} {
				assert.NotContains(t, all, secret, name)
			}
		}
	}
}

func TestTheProbeStopsWhereItShould(t *testing.T) {
	t.Parallel()
	g := plain()
	for name, c := range map[string]struct {
		script   []mockserver.Fault
		requests int
		says     string
	}{
		"throttled":                  {[]mockserver.Fault{{}, mockserver.Status(429)}, 2, "429, too many requests"},
		"throttled at once":          {[]mockserver.Fault{mockserver.Status(429)}, 1, "429, too many requests"},
		"an answer is lost":          {[]mockserver.Fault{{}, {}, mockserver.Lost()}, 3, "request 3 had no answer, and may have had an effect"},
		"no answer in time":          {[]mockserver.Fault{{See: mockserver.SeeNothing}}, 1, "request 1 had no answer, and may have had an effect: it timed out"},
		"a truncated answer":         {[]mockserver.Fault{{}, {See: mockserver.SeeTruncated, Keep: 3}}, 2, "request 2 had no answer"},
		"the request is refused":     {[]mockserver.Fault{mockserver.Code(422, "bad")}, 1, "answered the request itself with 422"},
		"the request is redirected":  {[]mockserver.Fault{mockserver.Redirect(307, "/elsewhere")}, 1, "answered the request itself with 307"},
		"the credential is no good":  {[]mockserver.Fault{mockserver.Status(401)}, 1, "answered the request itself with 401"},
		"the API is down":            {[]mockserver.Fault{mockserver.Status(503)}, 1, "answered the request itself with 503"},
		"throttled in a later check": {[]mockserver.Fault{{}, {}, {}, {}, mockserver.Status(429)}, 5, "429, too many requests"},
	} {
		r := play(t, mockserver.Config{Script: c.script}, g.body, g.args(t, "-json"))
		assert.Equal(t, exitNotDone, r.code, name)
		rep := r.report(t)
		assert.Contains(t, rep.Stopped, c.says, name)
		assert.Empty(t, rep.contradicted(), name)
		assert.Len(t, r.server.Requests(), c.requests, name)
		assert.Len(t, rep.Requests, c.requests, name)
	}
}

func TestARequestThatFoundNoConnectionIsToldAsNotSent(t *testing.T) {
	t.Parallel()
	server := mockserver.Memory(mockserver.Config{})
	defer server.Close()
	server.RefuseDials(-1)
	_, err := (&prober{transport: server.Transport(), pace: pace{timeout: time.Minute}}).send(t.Context(),
		frozen{method: "POST", header: http.Header{}, url: &url.URL{Scheme: "http", Host: "api.example.com"}})
	require.ErrorContains(t, err, "request 1 was not sent: dial")
}

func TestAContradictionIsToldThoughTheProbeStoppedLater(t *testing.T) {
	t.Parallel()
	g := plain()
	r := play(t, mockserver.Config{Profile: mockserver.Profile{KeyIgnored: []string{"*"}}, Script: []mockserver.Fault{{}, {}, {}, mockserver.Status(429)}}, g.body, g.args(t, "-json"))
	rep := r.report(t)
	assert.Equal(t, exitContradicts, r.code)
	assert.Equal(t, []string{"same key again"}, rep.contradicted())
	assert.NotEmpty(t, rep.Stopped)
}

func TestNoMoreRequestsAreSentThanAllowed(t *testing.T) {
	t.Parallel()
	g := stripeCharge()
	for most := firstRequests; most <= mostRequests; most++ {
		r := play(t, mockserver.Config{Profile: profileOf(t, g.contract), Execute: refusing(402)}, g.body, g.args(t, "-effects", strconv.Itoa(most)))
		assert.Equal(t, exitAgrees, r.code, "%d: %s", most, r.stdout)
		sent := len(r.server.Requests())
		assert.LessOrEqual(t, sent, most)
		assert.Contains(t, r.stdout, strconv.Itoa(sent)+" requests, each of which may have an effect", "what is said beforehand")
		assert.LessOrEqual(t, len(r.server.EffectLog()), sent)
	}
}

func TestRequestsAreSpaced(t *testing.T) {
	t.Parallel()
	g := plain()
	synctest.Test(t, func(t *testing.T) {
		r := ran{server: mockserver.Memory(mockserver.Config{Work: time.Second})}
		defer r.server.Close()
		r.command(t.Context(), g.body, g.args(t, "-pause", "7s"), r.server.Transport())
		requests := r.server.Requests()
		require.Len(t, requests, 9)
		near := 0
		for i, q := range requests[1:] {
			if gap := q.Time.Sub(requests[i].Time); gap < 7*time.Second {
				near++
			}
		}
		assert.Equal(t, 1, near, "the two at once, and no others")
	})
}

func TestAnInterruptStopsTheProbe(t *testing.T) {
	t.Parallel()
	g := plain()
	synctest.Test(t, func(t *testing.T) {
		r := ran{server: mockserver.Memory(mockserver.Config{})}
		defer r.server.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		r.command(ctx, g.body, g.args(t, "-json"), r.server.Transport())
		assert.Equal(t, exitNotDone, r.code)
		assert.Len(t, r.server.Requests(), 2)
	})
}

func TestABodyWithoutANumberLeavesOutWhatNeedsAnother(t *testing.T) {
	t.Parallel()
	g := plain()
	g.body, g.bad = `{"amount":1}`, ""
	r := play(t, mockserver.Config{}, g.body, g.args(t, "-json"))
	rep := r.report(t)
	assert.Equal(t, exitAgrees, r.code)
	assert.Contains(t, rep.finding(t, "same key, other body").Note, "no {n}")
	assert.Len(t, r.server.Requests(), 6)
}

func TestTheListNamesWhatCanBeProbed(t *testing.T) {
	t.Parallel()
	r := play(t, mockserver.Config{}, "", []string{"probe", "-list"})
	assert.Equal(t, exitAgrees, r.code)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	seen := map[string]bool{}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "\t")
		assert.False(t, seen[name], "%s stands there twice", name)
		seen[name] = true
		assert.NoError(t, probeable(contractNamed(t, name)))
	}
	for _, c := range slices.Concat(contracts.All(), contracts.Hostless()) {
		assert.Equal(t, probeable(c) == nil, seen[c.Name], c.Name)
	}
	assert.Greater(t, len(lines), 100)
	assert.True(t, seen[common])
}

func TestHelpExplainsItself(t *testing.T) {
	t.Parallel()
	r := play(t, mockserver.Config{}, "", []string{"probe", "-h"})
	assert.Equal(t, exitAgrees, r.code)
	for _, says := range []string{"MAY HAVE AN EFFECT", "{n}", "exit codes", "-i-own"} {
		assert.Contains(t, r.stdout, says)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	g := plain()
	r := play(t, mockserver.Config{Script: []mockserver.Fault{{}, mockserver.Redirect(http.StatusTemporaryRedirect, "https://elsewhere.example.com/")}}, g.body, g.args(t, "-json"))
	for _, q := range r.server.Requests() {
		assert.Equal(t, "api.example.com", q.Host)
	}
	assert.Equal(t, cannotTell, r.report(t).finding(t, "same key again").Verdict)
}
