package oncehttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

func TestAnOutcomeLogsWhatItPrints(t *testing.T) {
	t.Parallel()
	o := &oncehttp.Outcome{
		Action: "order-42/charge", Key: "a key", Contract: "shop-orders", Reason: oncehttp.Unknown, Attempts: 2, MayHaveExecuted: true, MayHaveRepeated: true,
		Response: &oncehttp.Response{StatusCode: 201}, Reference: "ch_1001", Err: errors.New("a cause"),
	}
	printed := o.String()
	names := map[string]bool{}
	for _, a := range o.LogValue().Group() {
		names[a.Key] = true
		value := a.Value.String()
		if strings.Contains(printed, a.Key+`="`) {
			value = fmt.Sprintf("%q", value)
		}
		assert.Contains(t, printed+" ", a.Key+"="+value+" ")
	}
	for field := range strings.FieldsSeq(strings.ReplaceAll(printed, "a cause", "cause")) {
		name, _, _ := strings.Cut(field, "=")
		assert.True(t, names[name], "%s is printed and not logged", name)
	}
	assert.NotContains(t, printed, "a key")
}

func TestExplainSaysWhatIsSafeToDo(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 1, time.UTC)
	pending := func(o oncehttp.Outcome) oncehttp.Outcome {
		o.Action, o.Key, o.MayHaveExecuted, o.Attempts, o.SafeUntil = "a", "a key", true, 2, at
		return o
	}
	first := "action \"a\" is pending: the outcome is unknown after 2 attempts; it may have taken effect (%s)\nDo not begin it under another name.\n"
	cases := map[string]struct {
		o    oncehttp.Outcome
		want string
	}{
		"sent again by itself": {
			pending(oncehttp.Outcome{Reason: oncehttp.ServerError, RetryAt: at}), first +
				"Resume takes it up again from 2026-11-30T12:00:01Z.\nNothing is sent after the key's usable window, which ends at 2026-11-30T12:00:00Z.",
		},
		"not sent again by itself": {
			pending(oncehttp.Outcome{Reason: oncehttp.Unknown}), first +
				"It is not sent again by itself: look the effect up, then Resolve.\nNothing is sent after the key's usable window, which ends at 2026-11-30T12:00:00Z.",
		},
		"refused credentials": {
			pending(oncehttp.Outcome{Reason: oncehttp.Unauthorized, RetryAt: at}), first +
				"The credentials were refused: mend them.\nResume takes it up again from 2026-11-30T12:00:01Z.\nNothing is sent after the key's usable window, which ends at 2026-11-30T12:00:00Z.",
		},
		"a stored failure": {
			pending(oncehttp.Outcome{Reason: oncehttp.StoredFailure}), first +
				"The server keeps its failure under this key, so asking again is futile: look the effect up, then Resolve.\nNothing is sent after the key's usable window, which ends at 2026-11-30T12:00:00Z.",
		},
		"no contract": {
			pending(oncehttp.Outcome{Reason: oncehttp.NoContract, Contract: "shop"}), first +
				"No contract of this client matches it any more; it was begun under \"shop\": put that back, or look the effect up, then Resolve.\nNothing is sent after the key's usable window, which ends at 2026-11-30T12:00:00Z.",
		},
		"distrusted": {
			pending(oncehttp.Outcome{Reason: oncehttp.Distrusted, Contract: "shop"}), first +
				"An answer has contradicted its contract, so it is not sent again under it: look the effect up, then Resolve; or, if the API does honour keys, Client.Trust(\"shop\").\nNothing is sent after the key's usable window, which ends at 2026-11-30T12:00:00Z.",
		},
		"under way": {
			pending(oncehttp.Outcome{Reason: oncehttp.Unknown, RetryAt: at, InFlight: true}), first +
				"The client is at work on it, and records what comes of it.",
		},
		"cut off": {
			pending(oncehttp.Outcome{Reason: oncehttp.Unknown, RetryAt: at, InFlight: true, Err: oncehttp.ErrClosed}), first +
				"Resume takes it up again from 2026-11-30T12:00:01Z.\nNothing is sent after the key's usable window, which ends at 2026-11-30T12:00:00Z.\nLast cause: oncehttp: client is closed.",
		},
		"without a key": {
			oncehttp.Outcome{Action: "a", MayHaveExecuted: true, Attempts: 2, Reason: oncehttp.Unknown}, first +
				"It was sent without a key, so it is not sent again by itself: look the effect up, then Resolve.",
		},
		"with a reference": {
			oncehttp.Outcome{Action: "a", State: oncehttp.Confirmed, Reference: "ch_1", Response: &oncehttp.Response{StatusCode: 201}},
			`action "a" is confirmed: it took effect (status 201), as "ch_1"`,
		},
	}
	for name, c := range cases {
		want := c.want
		if strings.Contains(want, "%s") {
			want = fmt.Sprintf(want, c.o.Reason)
		}
		assert.Equal(t, want, c.o.Explain(), name)
	}
}

func TestAPendingOutcomeSaysWhyAnAnswerDidNotSettleIt(t *testing.T) {
	t.Parallel()
	refused := mockserver.Status(http.StatusNotFound).With("X-Request-Id", "r-1")
	for want, faults := range map[string][]mockserver.Fault{
		"the server answered 404, which says nothing of earlier attempts.":           {mockserver.Lost(), refused},
		"the server answered 404 without the mark that the API's own answers carry,": {mockserver.Status(http.StatusNotFound).Always()},
		"the server answered 200 without the mark that the API's own answers carry,": {mockserver.Gateway(http.StatusOK).Always()},
	} {
		inBubble(t, script(faults...), func(b *bench) {
			_, err := b.c.Do("pay-1", b.pay())
			var pending *oncehttp.PendingError
			require.ErrorAs(b, err, &pending)
			assert.Contains(b, pending.Outcome.Explain(), "Last cause: "+want)
		}, func(cfg *oncehttp.Config) { cfg.Contracts[0].Origin.Headers = []string{"X-Request-Id"} })
	}
}

func TestAnAnswerThatIsWholeAtLastHasNoCause(t *testing.T) {
	t.Parallel()
	cut := mockserver.Fault{Commit: true, See: mockserver.SeeTruncated, Keep: 3}
	inBubble(t, script(cut), func(b *bench) {
		o, err := b.c.Do("pay-1", b.pay())
		require.NoError(b, err)
		require.Equal(b, 2, o.Attempts)
		require.False(b, o.Response.BodyIncomplete)
		assert.NoError(b, o.Err)
	})
}

func TestALookupThatDoesNotFindTheEffectSaysSo(t *testing.T) {
	t.Parallel()
	for kind, want := range map[oncehttp.FindingKind]string{
		oncehttp.NotFound: "the effect was not found", oncehttp.TooEarly: "the effect may not show yet",
	} {
		var causes []string
		inBubble(t, script(mockserver.Lost()), func(b *bench) {
			_, err := b.c.Do("pay-1", b.pay())
			require.Error(b, err)
		}, unprotected, func(cfg *oncehttp.Config) {
			cfg.Lookup = func(context.Context, *oncehttp.Intent) (oncehttp.Finding, error) {
				return oncehttp.Finding{Kind: kind}, nil
			}
			cfg.OnEvent = func(e oncehttp.Event) {
				if e.Kind == oncehttp.EventLookedUp {
					causes = append(causes, e.Cause)
				}
			}
		})
		assert.Equal(t, []string{want}, causes)
	}
}
