package wire

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// informs sends 1xx answers, and then goes on.
func informs(n int, then func(*conn, request)) func(*conn, request) {
	return func(c *conn, r request) {
		c.beside(func() {
			for range n {
				if c.header(r.id, false, ":status", "103", "link", "</style.css>") != nil {
					return
				}
			}
			then(c, r)
		})
	}
}

// floods sends a header block over many frames, which may have an end.
func floods(fields int, ends bool) func(*conn, request) {
	return func(c *conn, r request) {
		c.beside(func() {
			c.s.success()
			c.mu.Lock()
			defer c.mu.Unlock()
			block := c.block([]string{":status", "201"})
			if c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: block, EndStream: ends}) != nil {
				return
			}
			for i := range fields {
				block := c.block([]string{"x-flood", strings.Repeat("x", 1000)})
				if c.framer.WriteContinuation(r.id, ends && i == fields-1, block) != nil {
					return
				}
			}
		})
	}
}

// drips sends a byte of a body at a time, until nobody takes it.
func drips(c *conn, r request) {
	c.beside(func() {
		for c.data(r.id, false, "x") == nil {
			select {
			case <-c.ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
}

// A status decides as soon as its header block has come whole, and nothing
// less does. T7, T10, T11, T16
func TestAStatusDecidesOnceItsHeaderIsWhole(t *testing.T) {
	type then = func(*conn, request)
	begins := func(length int, more ...then) then {
		return func(c *conn, r request) {
			c.begin(r, length)
			also(more...)(c, r)
		}
	}
	says := func(end bool, text string) then {
		return func(c *conn, r request) { c.data(r.id, end, text) }
	}
	status := func(fields ...string) then {
		return func(c *conn, r request) { c.header(r.id, true, fields...) }
	}
	large := strings.Repeat("x", 200<<10)
	each(t, ways[:2], map[string]row{
		"a success":                  {script: script{whole: (*conn).answer}, want: confirmed},
		"a success of no body":       {script: script{whole: status(":status", "204", "x-empty", "1")}, want: confirmed},
		"a refusal":                  {script: script{whole: func(c *conn, r request) { c.reply(r, "422") }}, want: rejected},
		"trailers":                   {script: script{whole: begins(2, says(false, "{}"), status("x-sum", "1"))}, want: confirmed},
		"trailers that change it":    {script: script{whole: begins(2, says(false, "{}"), status(":status", "500"))}, want: cutOff},
		"ten times 103":              {script: script{whole: informs(10, (*conn).answer)}, want: confirmed},
		"103 ten thousand times":     {script: script{whole: informs(10_000, (*conn).answer)}, want: unknown},
		"103, and a reset":           {script: script{whole: informs(1, resets(http2.ErrCodeInternal))}, want: unknown},
		"103, and closed":            {script: script{whole: informs(1, (*conn).hangUp)}, want: unknown},
		"103 that ends the stream":   {script: script{whole: status(":status", "103")}, want: unknown},
		"101":                        {script: script{whole: status(":status", "101")}, want: unknown},
		"no status":                  {script: script{whole: status("x-a", "b")}, want: unknown},
		"half a status":              {script: script{whole: status(":status", "20")}, want: hopeless},
		"a status of letters":        {script: script{whole: status(":status", "abc")}, want: unknown},
		"two statuses":               {script: script{whole: status(":status", "201", ":status", "500")}, want: unknown},
		"a status too late":          {script: script{whole: status("x-a", "b", ":status", "201")}, want: unknown},
		"a field in capitals":        {script: script{whole: status(":status", "201", "X-A", "b")}, want: unknown},
		"many fields":                {script: script{whole: floods(20, true)}, want: confirmed},
		"fields over the limit":      {script: script{whole: floods(200, true)}, want: unknown},
		"CONTINUATION without end":   {script: script{whole: floods(20_000, false)}, want: unknown},
		"no END_STREAM":              {script: script{whole: begins(-1, says(false, "{}"))}, timeout: brief, want: left(cutOff)},
		"no END_STREAM, length said": {script: script{whole: begins(2, says(false, "{}"))}, timeout: brief, want: left(cutOff)},
		"a body without end":         {script: script{whole: begins(-1, storms(5000, func(f *http2.Framer, r request) error { return f.WriteData(r.id, false, make([]byte, 1000)) }, nothing))}, want: tooLong},
		"a body that drips":          {script: script{whole: begins(1000, drips)}, timeout: brief, want: left(cutOff)},
		"a length too long":          {script: script{whole: begins(10, says(true, "{}"))}, want: cutOff},
		"a length too short":         {script: script{whole: begins(2, says(true, "{}{}{}"))}, want: cutOff},
		"two lengths": {script: script{whole: also(func(c *conn, r request) {
			c.header(r.id, false, ":status", "201", "content-length", "2", "content-length", "3")
		}, says(true, "{}"))}, want: confirmed},
		"early success":               {script: script{head: (*conn).answer}, body: large, want: confirmed},
		"early success, NO_ERROR":     {script: script{head: also((*conn).answer, resets(http2.ErrCodeNo))}, body: large, want: confirmed},
		"early refusal":               {script: script{head: func(c *conn, r request) { c.reply(r, "413") }, stingy: true}, body: large, want: rejected},
		"early refusal, NO_ERROR":     {script: script{head: also(func(c *conn, r request) { c.reply(r, "413") }, resets(http2.ErrCodeNo)), stingy: true}, body: large, want: rejected},
		"early refusal, an error":     {script: script{head: also(func(c *conn, r request) { c.reply(r, "413") }, resets(http2.ErrCodeCancel)), stingy: true}, body: large, want: rejected},
		"early header, no more":       {script: script{head: begins(2), stingy: true}, body: large, timeout: brief, want: left(cutOff)},
		"early success, then closed":  {script: script{head: also((*conn).answer, (*conn).hangUp)}, body: large, want: confirmed},
		"early header, then NO_ERROR": {script: script{head: begins(2, resets(http2.ErrCodeNo))}, body: large, want: cutOff},
	})
}
