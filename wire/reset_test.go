package wire

import (
	"fmt"
	"testing"

	"golang.org/x/net/http2"
)

func resets(code http2.ErrCode) func(*conn, request) {
	return func(c *conn, r request) { c.reset(r.id, code) }
}

// A transport that sends a refused stream again waits seconds, and does so
// eight times; one call of it is one send here. Through a transport nobody can
// tell the refusal by its type, so it proves nothing. T3, T20
func TestARefusedStreamIsSentAgainByNobodyButTheJournal(t *testing.T) {
	refusal := resets(http2.ErrCodeRefusedStream)
	each(t, ways, map[string]row{
		"before the body, for ever":   {script: script{head: refusal}, want: unknown},
		"before the body, ten idle":   {script: script{head: refusal, settings: alone}, idle: 10, want: unknown},
		"after the body, for ever":    {script: script{whole: refusal}, want: unknown},
		"before the body, once":       {script: script{head: firstThenAnswer(refusal), whole: answerAfterFirst}, want: second},
		"after the body, once":        {script: script{whole: also(firstThenAnswer(refusal), answerAfterFirst)}, idle: 1, want: second},
		"within the answer":           {script: script{whole: func(c *conn, r request) { c.begin(r, 2); refusal(c, r) }}, want: cutOff},
		"and GOAWAY with it":          {script: script{head: also(refusal, goesAway(0, http2.ErrCodeNo))}, want: unknown},
		"the stream after it as well": {script: script{whole: func(c *conn, r request) { refusal(c, r); c.reset(r.id+2, http2.ErrCodeRefusedStream) }}, want: perhapsSent},
	})
}

// Every code there is, and one that there is not: none proves anything before
// the status, nor takes anything from a status that has come. T10
func TestAResetProvesNothingAndTakesNothingBack(t *testing.T) {
	rows := map[string]row{}
	for code := range http2.ErrCode(0xf) {
		if code == 0xe {
			code = 0x77
		}
		rows[fmt.Sprintf("%v after the request", code)] = row{script: script{whole: resets(code)}, want: unknown}
		rows[fmt.Sprintf("%v after the answer's header", code)] = row{script: script{whole: func(c *conn, r request) {
			c.begin(r, 2)
			c.reset(r.id, code)
		}}, want: cutOff}
		rows[fmt.Sprintf("%v in the answer's body", code)] = row{script: script{whole: func(c *conn, r request) {
			c.begin(r, 2)
			c.data(r.id, false, "{")
			c.reset(r.id, code)
		}}, want: cutOff}
		rows[fmt.Sprintf("%v after the answer", code)] = row{script: script{whole: func(c *conn, r request) {
			c.answer(r)
			c.reset(r.id, code)
		}}, want: confirmed}
	}
	each(t, ways[:1], rows) // what is read is read by the same code
}
