package oncehttp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// C074, within one process: the journal takes no more writes from a point on,
// and a new client opens it.
func TestWhereverTheClientDiesTheActionTakesEffectOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault mockserver.Fault
		dies  string
	}{
		"before the first commit":               {mockserver.Fault{}, "create"},
		"after it, before the server committed": {mockserver.Fault{See: mockserver.SeeReset}, "update"},
		"after the server committed":            {mockserver.Lost(), "update"},
		"after the answer, before its record":   {mockserver.Fault{}, "update"},
		"after the record":                      {mockserver.Fault{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(tt.fault), func(b *bench) {
				die := func(at string) func(oncehttp.Entry) error {
					return func(oncehttp.Entry) error {
						if at == tt.dies {
							return oncehttp.ErrJournal
						}
						return nil
					}
				}
				b.hook(&hookedJournal{create: die("create"), update: die("update")})
				_, err := b.c.Do("pay-1", b.pay())
				assert.Equal(b, tt.dies != "", err != nil)
				if tt.dies == "create" {
					assert.Empty(b, b.srv.Requests())
				}
				if err := b.c.Close(); tt.dies == "update" {
					require.ErrorIs(b, err, oncehttp.ErrJournal)
				} else {
					require.NoError(b, err)
				}
				time.Sleep(time.Minute)
				b.open()
				for in, err := range b.c.Pending(b.Context()) {
					require.NoError(b, err)
					assert.True(b, in.Outcome().MayHaveExecuted, "a crash after the commit and one after the send look alike")
				}
				for o, err := range b.c.Resume(b.Context()) {
					require.NoError(b, err)
					assert.Equal(b, oncehttp.Confirmed, o.State)
				}
				assert.Equal(b, oncehttp.Confirmed, b.do().State)
				assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
				assert.Equal(b, 1, b.srv.EffectsTotal())
			})
		})
	}
}

// Rule 9: without a contract, what may have been sent is never sent again by
// Resume, nor by a later call.
func TestWithoutAContractACrashInMidAttemptIsForAPerson(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		inBubble(t, mockserver.Config{}, func(b *bench) {
			b.hook(&hookedJournal{update: func(oncehttp.Entry) error { return oncehttp.ErrJournal }})
			_, err := b.c.Do("pay-1", b.request(method, "/payments", payment))
			require.Error(b, err)
			require.ErrorIs(b, b.c.Close(), oncehttp.ErrJournal)
			b.open()
			outcomes := b.resume()
			require.Len(b, outcomes, 1)
			want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, outcomes[0])
			o, err := b.c.Do("pay-1", b.request(method, "/payments", payment))
			b.ruled(o, err)
			want{oncehttp.Pending, oncehttp.Unknown, 1, true, false}.check(b, o)
			assert.Contains(b, o.Explain(), "Resolve")
			assert.Len(b, b.srv.Requests(), 1)
		}, unprotected)
	}
}

// Rule 9, the other half: within the call that exposed it, an idempotent method
// may be repeated.
func TestWithoutAContractOnlyIdempotentMethodsAreRepeatedWithinTheCall(t *testing.T) {
	t.Parallel()
	for method, requests := range map[string]int{"POST": 1, "PATCH": 1, "PUT": 4, "DELETE": 4} {
		inBubble(t, script(mockserver.Status(502).Always()), func(b *bench) {
			o, err := b.c.Do("pay-1", b.request(method, "/payments", payment))
			b.ruled(o, err)
			assert.True(b, o.MayHaveExecuted)
			assert.Len(b, b.srv.Requests(), requests, method)
			time.Sleep(time.Hour)
			b.resume()
			o, err = b.c.Do("pay-1", b.request(method, "/payments", payment))
			b.ruled(o, err)
			assert.Len(b, b.srv.Requests(), requests, method)
		}, unprotected)
	}
}
