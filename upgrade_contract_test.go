package oncehttp_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// contractChange is what becomes of a contract between two runs, the first of
// which has sent a payment and lost its answer.
type contractChange struct {
	was, is func(*oncehttp.Contract) // was may be nil
	// after is how long after the first run the second is.
	after time.Duration
	// held is why the payment is not sent again. Empty: it is.
	held oncehttp.Reason
	// own is what the contract of today makes of the header that holds the
	// caller's own key.
	own ownHeader
}

type ownHeader uint8

const (
	ownKey     ownHeader = iota // a key
	ownRefused                  // a key that the API would refuse
	ownOther                    // no key
)

func contractChanges() map[string]contractChange {
	type change = func(*oncehttp.Contract)
	at := func(kind oncehttp.CarrierKind, name string) change {
		return func(c *oncehttp.Contract) { c.Carrier = oncehttp.Carrier{Kind: kind, Name: name} }
	}
	lasts := func(w time.Duration) change { return func(c *oncehttp.Contract) { c.Window.Length = w } }
	pins := func(p oncehttp.Pin) change { return func(c *oncehttp.Contract) { c.Pin = p } }
	named := func(name, path string) change {
		return func(c *oncehttp.Contract) { c.Name, c.Match.Path = name, path }
	}
	dated := func(c *oncehttp.Contract) {
		c.Companions = []oncehttp.Companion{{Kind: oncehttp.CarrierHeader, Name: "First-Sent", Value: oncehttp.CompanionSentIMF}}
	}
	both := func(f, g change) change { return func(c *oncehttp.Contract) { f(c); g(c) } }
	same := func(*oncehttp.Contract) {}
	const hour, everywhere = time.Hour, oncehttp.PinHost | oncehttp.PinMethod | oncehttp.PinPath
	return map[string]contractChange{
		"as it was":                     {nil, same, hour, "", ownKey},
		"another name":                  {nil, named("renamed", ""), hour, "", ownKey},
		"the name that its path makes":  {named("", ""), named("", "/payments"), hour, "", ownKey},
		"another spelling of a header":  {nil, at(oncehttp.CarrierHeader, "idempotency-key"), hour, "", ownKey},
		"another header":                {nil, at(oncehttp.CarrierHeader, "Request-Id"), hour, oncehttp.Unknown, ownOther},
		"a field of the body":           {nil, at(oncehttp.CarrierJSON, "/key"), hour, oncehttp.Unknown, ownOther},
		"quotes":                        {nil, func(c *oncehttp.Contract) { c.Carrier.Quoted = true }, hour, oncehttp.Unknown, ownRefused},
		"no key any more":               {nil, func(c *oncehttp.Contract) { *c = oncehttp.Contract{Name: c.Name, Match: c.Match} }, hour, oncehttp.Unknown, ownOther},
		"longer keys":                   {nil, func(c *oncehttp.Contract) { c.Key.Min, c.Key.Form = 64, oncehttp.FormLong }, hour, "", ownRefused},
		"keys that are UUIDs":           {nil, func(c *oncehttp.Contract) { c.Key.UUID = oncehttp.UUIDRandom }, hour, "", ownRefused},
		"a shorter window":              {nil, lasts(2 * hour), hour, "", ownKey},
		"a shorter window, over by now": {nil, lasts(2 * hour), 3 * hour, oncehttp.KeyExpired, ownKey},
		"a longer window, over by now":  {lasts(2 * hour), lasts(24 * hour), 3 * hour, oncehttp.KeyExpired, ownKey},
		"another path":                  {nil, named("test", "/v2"), hour, oncehttp.NoContract, ownOther},
		"another method":                {nil, func(c *oncehttp.Contract) { c.Match.Methods = []string{"PATCH"} }, hour, oncehttp.NoContract, ownOther},
		"another host":                  {nil, func(c *oncehttp.Contract) { c.Match.Hosts = []string{"other.test"} }, hour, oncehttp.NoContract, ownOther},
		"facts from somebody else":      {nil, func(c *oncehttp.Contract) { c.Proof = oncehttp.ProofSecondary }, hour, oncehttp.Unknown, ownKey},
		"pins":                          {nil, pins(everywhere | oncehttp.PinCredential), hour, "", ownKey},
		"fewer pins":                    {pins(everywhere), pins(oncehttp.PinMethod), hour, "", ownKey},
		"other pins":                    {pins(oncehttp.PinHost), pins(oncehttp.PinPath), hour, "", ownKey},
		"no pins":                       {pins(everywhere | oncehttp.PinCredential), pins(0), hour, "", ownKey},
		"no pins, and another name":     {pins(everywhere), both(pins(0), named("renamed", "")), hour, "", ownKey},
		"a companion":                   {nil, dated, hour, "", ownKey},
		"no companion":                  {dated, func(c *oncehttp.Contract) { c.Companions = nil }, hour, "", ownKey},
	}
}

// What the first run left exposed keeps its key and its bytes, whatever its
// contract says in the second, and is sent again only where both allow it.
func TestAnIntentOutlivesAChangeOfItsContract(t *testing.T) {
	t.Parallel()
	for name, tt := range contractChanges() {
		for _, by := range []struct {
			what string
			// own: the request holds a key of the caller's, by which the intent is
			// found if it has no action.
			own, action, resumed bool
		}{
			{"by its action", false, true, false}, {"by its action, beside a key", true, true, false},
			{"by its key", true, false, false}, {"by Resume", false, true, true}, {"by Resume, with a key", true, false, true},
		} {
			t.Run(fmt.Sprintf("%s, %s", name, by.what), func(t *testing.T) {
				t.Parallel()
				inBubble(t, script(mockserver.Lost()), func(b *bench) {
					send := func() error {
						req := b.pay()
						if by.own {
							req.Header.Set("Idempotency-Key", "own-key-1")
						}
						if by.action {
							req = req.WithContext(oncehttp.WithAction(req.Context(), "pay-1"))
						}
						resp, err := b.c.RoundTrip(req)
						if err == nil {
							err = resp.Body.Close()
						}
						return err
					}
					var pending *oncehttp.PendingError
					require.ErrorAs(b, send(), &pending)
					action := pending.Outcome.Action
					time.Sleep(tt.after)
					b.reopen(func(cfg *oncehttp.Config) { tt.is(&cfg.Contracts[0]) })

					switch err := error(nil); {
					case by.resumed:
						b.resume()
					case by.own && tt.own == ownRefused:
						require.ErrorIs(b, send(), oncehttp.ErrInvalidRequest)
						require.Len(b, b.srv.Requests(), 1)
						b.resume()
					case !by.action && tt.own == ownOther:
						return // nothing tells that it is the same action
					default:
						if err = send(); tt.held != "" {
							require.ErrorAs(b, err, &pending)
							require.Equal(b, action, pending.Outcome.Action)
						} else {
							require.NoError(b, err)
						}
					}
					o, err := b.c.Outcome(b.Context(), action)
					require.NoError(b, err)
					assert.Equal(b, tt.held, o.Reason)
					assert.Equal(b, tt.held != "", o.MayHaveExecuted)
					if by.own {
						assert.Equal(b, "own-key-1", o.Key)
					}
					got := b.srv.Requests()
					if tt.held != "" {
						assert.Len(b, got, 1)
						return
					}
					require.Len(b, got, 2)
					assert.Empty(b, b.pending())
					assert.Equal(b, o.Key, b.oneKey())
					assert.Equal(b, got[0].Header, got[1].Header, "companions too")
				}, oneAttempt, func(cfg *oncehttp.Config) {
					cfg.Contracts[0].Name, cfg.MaxUnresolved = "test", 1 // no other is begun
					if tt.was != nil {
						tt.was(&cfg.Contracts[0])
					}
				})
			})
		}
	}
}

// Contracts that share a URL have keys of their own there.
func TestAKeyIsAnotherUnderAnotherContractOfTheSameUrl(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for _, kind := range []string{"a", "b", "a"} {
			req := b.pay()
			req.Header.Set("Idempotency-Key", "own-key-1")
			req.Header.Set("Kind", kind)
			resp, err := b.c.RoundTrip(req)
			require.NoError(b, err)
			require.NoError(b, resp.Body.Close())
		}
		require.Len(b, b.srv.Requests(), 2)
	}, func(cfg *oncehttp.Config) {
		first := &cfg.Contracts[0]
		first.Name, first.Match.Header, first.Match.HeaderValue = "a", "Kind", "a"
		second := *first
		second.Name, second.Match.HeaderValue = "b", "b"
		cfg.Contracts = append(cfg.Contracts, second)
	})
}

// A PUT may be repeated by its method, until a contract says that it acts again.
func TestAPutIsNotRepeatedOnceAContractSaysThatItMovesMoney(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		is   oncehttp.Idempotence
		want int
	}{"it does": {oncehttp.IdempotentNo, 1}, "it says nothing": {oncehttp.IdempotentByMethod, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(mockserver.Lost()), func(b *bench) {
				_, err := b.c.Begin("pay-1", b.request("PUT", "/payments/1", payment))
				require.NoError(b, err)
				b.reopen(func(cfg *oncehttp.Config) {
					cfg.Contracts = []oncehttp.Contract{{Name: "put", Match: oncehttp.Match{Hosts: []string{"*"}, Methods: []string{"PUT"}, Idempotent: tt.is}}}
				})
				o, err := b.c.Do("pay-1", b.request("PUT", "/payments/1", payment))
				b.ruled(o, err)
				assert.Len(b, b.srv.Requests(), tt.want)
			}, unprotected)
		})
	}
}

func TestAPromiseThatIsTakenBackProtectsNoRepeat(t *testing.T) {
	t.Parallel()
	promise := func(i oncehttp.Idempotence) func(*oncehttp.Config) {
		return func(cfg *oncehttp.Config) {
			cfg.Contracts = []oncehttp.Contract{{Name: "plain", Match: oncehttp.Match{Hosts: []string{"*"}, Idempotent: i}}}
		}
	}
	for name, tt := range map[string]struct {
		edit     func(*oncehttp.Config)
		attempts int
	}{
		"kept":        {promise(oncehttp.IdempotentYes), 4},
		"left out":    {promise(oncehttp.IdempotentByMethod), 1},
		"turned":      {promise(oncehttp.IdempotentNo), 1},
		"no contract": {unprotected, 1},
	} {
		inBubble(t, script(mockserver.Lost().Always()), func(b *bench) {
			_, err := b.c.Begin("pay-1", b.pay())
			require.NoError(b, err)
			b.reopen(tt.edit)
			want{oncehttp.Pending, oncehttp.Unknown, tt.attempts, true, false}.check(b, b.do())
			assert.Len(b, b.srv.Requests(), tt.attempts, name)
		}, promise(oncehttp.IdempotentYes))
	}
}

// What is told of the window is what is kept to: the smaller one of then and now.
func TestTheEndOfTheWindowThatIsToldIsThatOfTodaysContractToo(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Lost()), func(b *bench) {
		begun := time.Now()
		b.do()
		b.reopen(window(time.Hour))
		want := begun.Add(time.Hour*9/10 - b.cfg.Retry.AttemptTimeout).UTC()
		assert.Equal(b, want, b.known().SafeUntil.UTC())
		time.Sleep(time.Hour)
		o := b.do()
		assert.Equal(b, oncehttp.KeyExpired, o.Reason)
		assert.Equal(b, want, o.SafeUntil.UTC())
	}, oneAttempt)
}
