package oncehttp_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C075: the same action with new arguments and a new tool-call id.
func TestAReplannedActionIsNotASecondOne(t *testing.T) {
	t.Parallel()
	call := func(b *bench, id, body string) (*oncehttp.Outcome, error) {
		req := post(b.T, b.srv.URL+"/payments", body)
		req.Header.Set("X-Tool-Call-Id", id)
		return b.c.Do("invoice-42", req)
	}
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		first, err := call(b, "c1", `{"amount":500,"memo":"Invoice 42"}`)
		b.ruled(first, err)
		want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, first)
		for id, tt := range map[string]struct{ body, differs string }{
			"c2": {`{"amount":500,"memo":"Payment for invoice #42"}`, "/memo"},
			"c3": {`{"amount":550,"memo":"Invoice 42"}`, "/amount"},
		} {
			o, err := call(b, id, tt.body)
			var mismatch *oncehttp.MismatchError
			require.ErrorAs(b, err, &mismatch)
			assert.Equal(b, []string{tt.differs}, mismatch.Differs)
			assert.True(b, o.MayHaveExecuted)
			assert.Equal(b, first.Key, o.Key)
		}
		assert.Len(b, b.srv.Requests(), 1)
		sleepUntil(first.RetryAt)
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Confirmed, "", 2, false, true}.check(b, outcomes[0])
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
		again, err := call(b, "c4", `{"amount":500,"memo":"Invoice 42"}`)
		b.ruled(again, err)
		assert.True(b, again.FromJournal, "a tool call's id plays no part")
	}, oneAttempt)
}

// C076
func TestARunThatIsReplayedGetsTheFirstAnswerFromTheJournal(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{TTL: 24 * time.Hour}, func(b *bench) {
		first := b.do()
		want{oncehttp.Confirmed, "", 1, false, false}.check(b, first)
		assert.False(b, first.FromJournal)
		for _, later := range []time.Duration{0, 30 * 24 * time.Hour} {
			b.reopen()
			time.Sleep(later)
			again := b.do()
			want{oncehttp.Confirmed, "", 1, false, false}.check(b, again)
			assert.True(b, again.FromJournal)
			assert.Equal(b, first.Response.StatusCode, again.Response.StatusCode)
			assert.Equal(b, first.Response.Body, again.Response.Body)
			assert.Equal(b, first.Key, again.Key)
		}
		assert.Len(b, b.srv.Requests(), 1)
	})
	// A definite no is as final.
	inBubble(t, script(mockserver.Code(402, "card_declined")), func(b *bench) {
		first := b.do()
		want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, first)
		b.reopen()
		again := b.do()
		want{oncehttp.Rejected, oncehttp.Refused, 1, false, false}.check(b, again)
		assert.Equal(b, first.Response.Body, again.Response.Body)
		assert.Len(b, b.srv.Requests(), 1)
	})
}

// C077
func TestAnOpenOutcomeSaysWhatIsKnownAndWhatToDo(t *testing.T) {
	t.Parallel()
	late := mockserver.Fault{Commit: true, After: 5 * time.Second}
	inBubble(t, script(late, late), func(b *bench) {
		o := b.do()
		want{oncehttp.Pending, oncehttp.Unknown, 2, true, false}.check(b, o)
		assert.Equal(b, "pay-1", o.Action)
		assert.NotEmpty(b, o.Key)
		pending := &oncehttp.PendingError{Outcome: o}
		for _, text := range []string{pending.Error(), o.Explain()} {
			assert.Contains(b, text, "pay-1")
			assert.Contains(b, text, "unknown")
			assert.NotContains(b, text, "failed")
			assert.NotContains(b, text, "not executed")
			assert.NotContains(b, text, o.Key)
		}
		assert.Contains(b, o.Explain(), "Do not begin it under another name")
		assert.Contains(b, o.Explain(), "Resume")
		text, err := json.Marshal(o)
		require.NoError(b, err)
		var read map[string]any
		require.NoError(b, json.Unmarshal(text, &read))
		assert.Equal(b, "Pending", read["State"])
		assert.Equal(b, true, read["MayHaveExecuted"])
		sleepUntil(o.RetryAt)
		b.resume()
		assert.Equal(b, oncehttp.Confirmed, b.known().State)
		assert.Equal(b, 1, b.srv.EffectsTotal())
	}, func(cfg *oncehttp.Config) {
		cfg.Retry.AttemptTimeout, cfg.Retry.MaxAttempts, cfg.Retry.MaxElapsed = 100*time.Millisecond, 2, time.Second
	})
}
