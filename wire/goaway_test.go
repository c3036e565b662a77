package wire

import (
	"testing"

	"golang.org/x/net/http2"
)

// goesAway sends GOAWAY as soon as a request's header is there: the last
// stream is as far below the request's as said.
func goesAway(below uint32, code http2.ErrCode) func(*conn, request) {
	return func(c *conn, r request) { c.goAway(r.id-min(below, r.id), code) }
}

// alone makes each connection carry one stream at a time, so that idle ones
// can be many.
var alone = []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 1}}

// net/http follows GOAWAY above the last stream without a limit, and x/net
// eight times. One call of either is one send here. T3
func TestGoAwayIsFollowedByNobodyButTheJournal(t *testing.T) {
	above := goesAway(1000, http2.ErrCodeNo)
	each(t, ways, map[string]row{
		"no stream, for ever":                      {script: script{head: above}, want: unknown},
		"no stream, for ever, one idle":            {script: script{head: above}, idle: 1, want: unknown},
		"no stream, for ever, ten idle":            {script: script{head: above, settings: alone}, idle: 10, want: unknown},
		"no stream, for ever, ten streams on one":  {script: script{head: above}, idle: 10, want: unknown},
		"no stream, for ever, a hundred idle":      {script: script{head: above, settings: alone}, idle: 100, ways: ways[1:2], want: unknown},
		"no stream, once the request is whole":     {script: script{whole: above}, want: unknown},
		"streams below ours":                       {script: script{head: goesAway(2, http2.ErrCodeNo)}, idle: 3, want: unknown},
		"no stream, and be calm":                   {script: script{head: goesAway(1000, http2.ErrCodeEnhanceYourCalm)}, want: unknown},
		"no stream, for a broken protocol":         {script: script{head: goesAway(1000, http2.ErrCodeProtocol)}, want: unknown},
		"no stream, once":                          {script: script{head: firstThenAnswer(above), whole: answerAfterFirst}, idle: 1, want: second},
		"no stream, then closed":                   {script: script{whole: also(above, (*conn).hangUp)}, want: unknown},
		"no stream, then reset":                    {script: script{whole: also(above, (*conn).abort)}, want: unknown},
		"ours included, then closed":               {script: script{whole: also(goesAway(0, http2.ErrCodeNo), (*conn).hangUp)}, want: unknown},
		"ours included, then answered":             {script: script{whole: also(goesAway(0, http2.ErrCodeNo), (*conn).answer)}, want: confirmed},
		"every stream there can be, then answered": {script: script{whole: func(c *conn, r request) { c.goAway(1<<31-1, 0); c.answer(r) }}, want: confirmed},
		"ours included, within the answer": {script: script{whole: func(c *conn, r request) {
			c.begin(r, 2)
			c.goAway(r.id, http2.ErrCodeNo)
			c.data(r.id, true, "{}")
		}}, want: confirmed},
		"no stream, within the answer": {script: script{whole: func(c *conn, r request) {
			c.begin(r, 2)
			c.goAway(0, http2.ErrCodeNo)
		}}, want: cutOff},
		"no stream, after the answer": {script: script{whole: func(c *conn, r request) {
			c.answer(r)
			c.goAway(0, http2.ErrCodeNo)
		}}, want: confirmed},
		// It may come before the request's header is written, or after.
		"no stream, at once, for ever": {script: script{hello: func(c *conn) {
			c.goAway(0, http2.ErrCodeNo)
			hangUp(c.Conn)
		}}, timeout: short, want: perhapsSent},
	})
}

// also does one after the other.
func also(all ...func(*conn, request)) func(*conn, request) {
	return func(c *conn, r request) {
		for _, f := range all {
			f(c, r)
		}
	}
}

// firstThenAnswer does f to the first send only; answerAfterFirst answers the
// others.
func firstThenAnswer(f func(*conn, request)) func(*conn, request) {
	return func(c *conn, r request) {
		if r.nth == 1 {
			f(c, r)
		}
	}
}

func answerAfterFirst(c *conn, r request) {
	if r.nth > 1 {
		c.answer(r)
	}
}
