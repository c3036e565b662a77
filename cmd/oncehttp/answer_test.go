package main

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

func TestARuleOfTheContractIsKnownByItsAnswer(t *testing.T) {
	t.Parallel()
	c := oncehttp.Contract{Answers: []oncehttp.Answer{
		{Status: []int{400}, Codes: []string{"refused"}, Verdict: oncehttp.VerdictRefused},
		{Status: []int{400}, Verdict: oncehttp.VerdictMismatch},
		{Status: []int{409}, Codes: []string{"running"}, Verdict: oncehttp.VerdictInProgress},
		{Status: []int{409}, Header: "X-Done", Verdict: oncehttp.VerdictDone},
		{Status: []int{410}, Verdict: oncehttp.VerdictKeyExpired},
		{Status: []int{424}, Verdict: oncehttp.VerdictKeySpent},
		{Status: []int{429}, Verdict: oncehttp.VerdictThrottled},
	}}
	for _, s := range []struct {
		status int
		code   string
		want   oncehttp.Verdict
	}{
		{201, "", oncehttp.VerdictUnknown},
		{400, "refused", oncehttp.VerdictUnknown}, // and no mismatch
		{400, "other", oncehttp.VerdictMismatch},
		{409, "running", oncehttp.VerdictInProgress},
		{409, "other", oncehttp.VerdictUnknown},
		{410, "", oncehttp.VerdictKeyExpired},
		{424, "", oncehttp.VerdictKeySpent},
		{429, "", oncehttp.VerdictUnknown},
		{500, "", oncehttp.VerdictUnknown},
	} {
		a := answer{status: s.status, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(`{"code":"` + s.code + `"}`)}
		r, err := read(t.Context(), c, "key", a)
		require.NoError(t, err)
		assert.Equal(t, s.want, r.verdict, "%d %s", s.status, s.code)
	}
	r, err := read(t.Context(), c, "key", answer{status: 409, header: http.Header{"X-Done": {"1"}}})
	require.NoError(t, err)
	assert.Equal(t, oncehttp.VerdictDone, r.verdict)
}

func TestASuccessThatARuleTakesForARefusalIsNone(t *testing.T) {
	t.Parallel()
	c := oncehttp.Contract{Answers: []oncehttp.Answer{{Status: []int{200}, At: []string{"/error"}, Codes: []string{"*"}, Verdict: oncehttp.VerdictRefused}}}
	for body, want := range map[string]bool{`{"ok":true}`: true, `{"error":"no_funds"}`: false} {
		s := shot{answer: answer{status: 200, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)}}
		var err error
		s.reading, err = read(t.Context(), c, "key", s.answer)
		require.NoError(t, err)
		assert.Equal(t, want, s.success(), body)
	}
}

func TestAKeyInThePathTakesItsPlace(t *testing.T) {
	t.Parallel()
	u, err := targetOf("https://api.example.com/things/{key}?a=1")
	require.NoError(t, err)
	c := oncehttp.Contract{
		Match: oncehttp.Match{Hosts: []string{"*"}, Path: "/things", Methods: []string{"PUT"}}, Window: oncehttp.Window{Kind: oncehttp.WindowForever},
		Carrier: oncehttp.Carrier{Kind: oncehttp.CarrierPath, Name: "/things/{key}"},
	}
	f, err := (&template{method: "PUT", url: u, header: http.Header{}}).freeze(t.Context(), c, "k-1", []byte("{}"))
	require.NoError(t, err)
	assert.Equal(t, "https://api.example.com/things/k-1?a=1", f.url.String())
}

func TestALookupOfTheContractIsNotTakenForTheRequest(t *testing.T) {
	t.Parallel()
	u, err := url.Parse("https://api.example.com/things")
	require.NoError(t, err)
	c := contractNamed(t, common)
	c.Origin, c.Proof = oncehttp.Marker{Headers: []string{"Mine"}}, oncehttp.ProofUnknown // so that it is looked up
	c.Lookups = []oncehttp.Lookup{{URL: "/things", Items: "/data", Where: "/key"}}
	f, err := (&template{method: "POST", url: u, header: http.Header{}}).freeze(t.Context(), c, "", []byte("{}"))
	require.NoError(t, err)
	assert.Equal(t, "POST", f.method)
}

func TestAMarkIsSeenOnEveryAnswer(t *testing.T) {
	t.Parallel()
	c := oncehttp.Contract{
		Replay:  oncehttp.Marker{Headers: []string{"Replayed"}, Values: []string{"true"}},
		Origin:  oncehttp.Marker{At: []string{"/request_id"}},
		Ignored: oncehttp.Marker{Headers: []string{"Key-Used"}, Values: []string{"false"}},
	}
	for _, status := range []int{200, 201, 302, 400, 404, 409, 422, 429, 500, 503} {
		for _, marked := range []bool{true, false} {
			a := answer{status: status, header: http.Header{"Content-Type": {"application/json"}, "Replayed": {"false"}, "Key-Used": {"true"}}, body: []byte(`{}`)}
			if marked {
				a.header.Set("Replayed", "TRUE")
				a.header.Set("Key-Used", "false")
				a.body = []byte(`{"request_id":"r1"}`)
			}
			r, err := read(t.Context(), c, "key", a)
			require.NoError(t, err)
			assert.Equal(t, []bool{marked, marked, marked}, []bool{r.replayed, r.origin, r.ignored}, "%d, marked %v", status, marked)
		}
	}
	echo := oncehttp.Contract{Replay: oncehttp.Marker{Headers: []string{"Echo"}, Echo: true}}
	for key, want := range map[string]bool{"mine": true, "other": false} {
		r, err := read(t.Context(), echo, key, answer{status: 200, header: http.Header{"Echo": {"mine"}}})
		require.NoError(t, err)
		assert.Equal(t, want, r.replayed, key)
	}
}

func TestAKeyThatIsGivenIsTheOneThatTravels(t *testing.T) {
	t.Parallel()
	g, err := optionsOf([]string{"-contract", "mercury-transactions", "-url", "https://api.mercury.com/api/v1/account/a/transactions", "-dry-run"}, shell{})
	require.NoError(t, err)
	g.template.header.Set("Content-Type", "application/json")
	f, err := g.template.freeze(t.Context(), g.contract, "k-1", []byte(`{"amount":1}`))
	require.NoError(t, err)
	assert.Equal(t, "k-1", f.key)
	assert.JSONEq(t, `{"amount":1,"idempotencyKey":"k-1"}`, string(f.body))
	_, err = g.template.freeze(t.Context(), g.contract, "k-1", []byte(`{"idempotencyKey":"mine"}`))
	require.ErrorContains(t, err, "has a key already")
	f, err = g.template.freeze(t.Context(), keyless(g.contract), "", []byte(`{"amount":1}`))
	require.NoError(t, err)
	assert.Equal(t, `{"amount":1}`, string(f.body))
	assert.Empty(t, f.key)
}
