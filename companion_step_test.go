package oncehttp

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATimeThatNobodyWasToldIsTakenBack(t *testing.T) {
	t.Parallel()
	started := func() *script {
		s := newScript(t, keyed)
		s.step(event{kind: evReadied, attempt: "1", stamped: s.now})
		s.want(cmdSave)
		require.Equal(t, s.now, s.cmd.record.Begun.Stamped, "it is on disk before it is told")
		return s
	}
	s := started()
	s.step(event{kind: evCancelled})
	s.step(event{kind: evSaved})
	require.Zero(t, s.m.next.Attempts)
	require.Zero(t, s.m.next.Begun.Stamped, "withdrawn before it was sent")

	s = started()
	s.step(event{kind: evSaved})
	s.answer(facts{failure: neverConnected})
	require.Zero(t, s.m.rec.Begun.Stamped)

	s = started()
	s.step(event{kind: evSaved})
	s.answer(facts{status: 429, header: http.Header{}})
	require.Equal(t, stepStart, s.m.rec.Begun.Stamped, "the API was told")
	s.now = s.now.Add(time.Minute)
	s.restart()
	s.send("2")
	s.answer(facts{failure: neverConnected})
	require.Equal(t, stepStart, s.m.rec.Begun.Stamped, "by the first attempt")

	s = started()
	s.step(event{kind: evSaved})
	s.now = s.now.Add(time.Minute)
	s.restart()
	require.Equal(t, stepStart, s.m.next.Begun.Stamped, "a crash leaves an attempt that may have told it")
}

func TestACallersTimeIsNoLaterThanNow(t *testing.T) {
	t.Parallel()
	for value, text := range map[CompanionValue]string{
		CompanionSentIMF: "Sun, 01 Mar 2026 13:00:00 GMT", CompanionSentMicros: "1772370000000000", CompanionUntil: "2026-03-01T14:00:00Z",
	} {
		m := Companion{Kind: CarrierHeader, Name: "At", Value: value}
		for _, now := range []time.Time{stepStart, stepStart.Add(time.Hour), stepStart.Add(2 * time.Hour)} {
			b := begun{Header: http.Header{"At": {text}}, Companions: []Companion{m}, Window: Window{Length: time.Hour}}
			_, err := b.accompany(nil, now)
			require.NoError(t, err)
			assert.Equal(t, earlier(stepStart.Add(time.Hour), now), b.Stamped)
			assert.Equal(t, text, m.text(stepStart.Add(time.Hour), b.Window))
		}
	}
}

func TestARefererIsDroppedWhereItHasAKey(t *testing.T) {
	t.Parallel()
	c := &Client{contracts: &contractSet{byName: map[string]*Contract{
		"query": {Carrier: Carrier{Kind: CarrierQuery, Name: "key"}}, "path": {Carrier: Carrier{Kind: CarrierPath, Name: "/v1/*/{key}"}},
		"body": {Carrier: Carrier{Kind: CarrierJSON, Name: "/key"}}, "none": {},
	}}}
	for referer, drops := range map[string]bool{
		"https://a.test/x?a=1&key=k":       true,
		"https://a.test/x?key=k&key=l":     true,
		"https://a.test/v1/b/k":            true,
		"https://a.test/v1/b/k/c?a":        true,
		"https://a.test/v1/b/%7Bkey%7D":    false,
		"https://a.test/v1/b":              false,
		"https://a.test":                   false,
		"https://a.test/x?a=1&key=&b=keys": false,
		"":                                 false,
		"x":                                false,
		"://":                              false,
		"mailto:k":                         false,
		"/v1/b/k":                          false,
		"//a.test/v1":                      false,
	} {
		req := &http.Request{Response: &http.Response{}, Header: http.Header{"Referer": {referer}}}
		require.Equal(t, drops, c.withoutKey(req).Header["Referer"] == nil, referer)
	}
}
