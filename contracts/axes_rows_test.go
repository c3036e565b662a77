package contracts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

type contract = oncehttp.Contract

// axes are the rows, in the order of [axisNames].
func axes() []axis {
	var rows []axis
	for i, of := range [][]axis{
		{{contract: StripeV2, field: "Match.Path", change: func(c *contract) { c.Match.Path = "" }, play: deletes,
			with: "DELETE /v1 without a key, DELETE /v2 with a key", without: "DELETE /v1 with a key, DELETE /v2 with a key"}},
		{{contract: MoneyHash, field: "Match.Methods", change: func(c *contract) { c.Match.Methods = nil }, cfg: lost(), play: deleted,
			with: "Confirmed, 2 requests, 1 effect", without: "Confirmed, 2 requests, 2 effects"}},
		carriers(),
		{
			{contract: AzureRooms, field: "Companions", change: withoutCompanions, cfg: lost(), play: stamped,
				with: "Confirmed, 2 requests, 1 effect, all with one stamp", without: "Pending Unknown, 2 requests, 0 effects, none with a stamp"},
			{contract: CourierV1, field: "Companions", change: withoutCompanions, cfg: lost(), play: stamped,
				with: "Confirmed, 2 requests, 1 effect, all with one stamp", without: "Pending Unknown, 2 requests, 0 effects, none with a stamp"},
		},
		{{contract: IETFIdempotencyKey, field: "Carrier.Quoted", change: func(c *contract) { c.Carrier.Quoted = false }, play: once(1),
			with: "Confirmed, 1 request, 1 effect", without: "Rejected Refused, 1 request, 0 effects"}},
		{
			{contract: AWSACM, field: "Key.Form", change: func(c *contract) { c.Key.Form = oncehttp.FormUUID }, play: opened,
				with: "opens", without: "refused when opened"},
			{contract: MangopayV2, field: "Key.Min", change: func(c *contract) { c.Key.Min = 0 }, play: ownKey("order-42"),
				with: "refused here, 0 requests, 0 effects", without: "Rejected Refused, 1 request, 0 effects"},
			{contract: Payroc, field: "Key.UUID", change: func(c *contract) { c.Key.UUID = oncehttp.UUIDNone }, play: ownKey("order-42-order-42-order-42-order-42-"),
				with: "refused here, 0 requests, 0 effects", without: "Rejected Refused, 1 request, 0 effects"},
		},
		{
			{contract: MoovTransfers, field: "Key.Form", change: func(c *contract) { c.Key.Form = oncehttp.FormUUID }, play: twoJournals,
				with: "2 requests, 1 effect", without: "2 requests, 2 effects"},
			{contract: Klarna, field: "Key.Form", change: func(c *contract) { c.Key.Form = oncehttp.FormUUID }, play: twoJournals,
				with: "2 requests, 1 effect", without: "2 requests, 2 effects"},
			{contract: AdyenCheckout, field: "Key.UUID", change: func(c *contract) { c.Key.UUID = oncehttp.UUIDNone }, play: ownKey("8f1f9a5e-1c2d-5e3f-8a4b-5c6d7e8f9a0b"),
				with: "refused here, 0 requests, 0 effects", without: "Rejected Refused, 1 request, 0 effects"},
		},
		{
			{contract: TwilioPayments, field: "Key.Need", change: func(c *contract) { c.Key.Need = oncehttp.NeedNone }, api: true, play: keyless,
				with: "without a key 400, by the client Confirmed, 2 requests, 1 effect", without: "without a key 201, by the client Confirmed, 2 requests, 2 effects"},
			{contract: PayPalVaultV3, field: "Key.Need", change: func(c *contract) { c.Key.Need = oncehttp.NeedNone }, api: true, play: keyless,
				with: "without a key 400, by the client Confirmed, 2 requests, 1 effect", without: "without a key 201, by the client Confirmed, 2 requests, 2 effects"},
		},
		{
			{contract: ModernTreasury, field: "Pin", change: func(c *contract) { c.Pin = 0 }, cfg: lost(), play: otherCredential,
				with: "Pending NeedsCredentials, 1 request, 1 effect", without: "Confirmed, 2 requests, 2 effects"},
			{contract: AdyenCheckout, field: "Pin", change: func(c *contract) { c.Pin = 0 }, play: otherHost,
				with: "another action, 2 requests, 2 effects", without: "mismatch, 1 request, 1 effect"},
		},
		{
			{contract: GoogleBigQueryQueries, field: "Compared.Except", change: func(c *contract) { c.Compared.Except = nil },
				play: again(func(r *http.Request) { setBody(r, `{"amount":12345678901234567890,"timeoutMs":10}`) }),
				with: "Confirmed, 1 request, 1 effect", without: "mismatch, 1 request, 1 effect"},
			{contract: Whop, field: "Compared.Headers", change: func(c *contract) { c.Compared.Headers = nil },
				play: again(func(r *http.Request) { r.Header.Set("Api-Version-Date", "2026-01-01") }),
				with: "mismatch, 1 request, 1 effect", without: "Confirmed, 1 request, 1 effect"},
		},
		{
			{contract: WorldlineDirect, field: "Compared.Mismatch", change: rejects, api: true, play: anotherPayload,
				with: "mismatch here; elsewhere Confirmed, 2 requests, 1 effect", without: "mismatch here; elsewhere Rejected Refused, 2 requests, 1 effect"},
			{contract: MonzoReceipts, field: "Compared.Mismatch", change: rejects, api: true, play: anotherPayload,
				with: "mismatch here; elsewhere Confirmed, 2 requests, 2 effects", without: "mismatch here; elsewhere Rejected Refused, 2 requests, 1 effect"},
			{contract: AWSSQSFIFO, field: "Compared.Mismatch", change: rejects, api: true, play: anotherPayload,
				with: "mismatch here; elsewhere Confirmed, 2 requests, 1 effect", without: "mismatch here; elsewhere Rejected Refused, 2 requests, 1 effect"},
		},
		{
			{contract: RevolutCards, field: "Answers", change: withoutAnswers, cfg: slow(), play: overlapping,
				with: "Pending InProgress, 1 effect", without: "Pending Throttled, 1 effect"},
			{contract: AWSDynamoDBTransactWriteItems, field: "Answers", change: withoutAnswers, cfg: slow(), play: overlapping,
				with: "Pending InProgress, 1 effect", without: "Rejected Refused, 1 effect"},
			{contract: AdyenCheckout, field: "Answers", change: withoutAnswers,
				cfg: script(says(422, `{"errorCode":"704"}`, "Transient-Error", "true").Committed()), play: once(1),
				with: "Pending InProgress, 1 request, 1 effect", without: "Pending Throttled, 1 request, 1 effect"},
		},
		{
			{contract: GoCardlessPro, field: "Answers", change: withoutAnswers, play: repeated,
				with: "Confirmed as effect-000001, 2 requests, 1 effect", without: "Pending InProgress, 5 requests, 1 effect"},
			{contract: AWSRoute53, field: "Answers", change: withoutAnswers, play: repeated,
				with: "Confirmed, 2 requests, 1 effect", without: "Pending InProgress, 5 requests, 1 effect"},
			{contract: PayPalOrdersV2, field: "Stored.Repeat", change: func(c *contract) { c.Stored.Repeat = oncehttp.RepeatStored }, api: true,
				cfg: lost(), play: answered, with: "Confirmed by the present state", without: "Confirmed by the first answer"},
		},
		{
			{contract: StripeV1, field: "Stored.Failures", change: func(c *contract) { c.Stored.Failures = oncehttp.KeepingUnknown },
				cfg: script(mockserver.Fault{Origin: true, Status: 500}), play: once(4),
				with: "Pending StoredFailure, 1 request, 0 effects", without: "Pending StoredFailure, 2 requests, 0 effects"},
			{contract: StripeV2, field: "Stored.Failures", change: func(c *contract) { c.Stored.Failures = oncehttp.KeepingYes }, api: true,
				cfg: script(mockserver.Fault{Origin: true, Status: 500}), play: once(4),
				with: "Confirmed, 2 requests, 1 effect", without: "Pending StoredFailure, 1 request, 0 effects"},
		},
		{
			{contract: AliyunRPA, field: "Window.Length", change: func(c *contract) { c.Window.Length = day }, cfg: lost(), play: later(10 * minute),
				with: "Pending KeyExpired, 1 request, 1 effect", without: "Confirmed, 2 requests, 2 effects"},
			{contract: Chargebee, field: "Window.Length", change: func(c *contract) { c.Window.Length = day }, cfg: lost(), play: later(hour),
				with: "Pending KeyExpired, 1 request, 1 effect", without: "Confirmed, 2 requests, 2 effects"},
		},
		{
			{contract: AWSDynamoDBTransactWriteItems, field: "Window.Anchor", change: func(c *contract) { c.Window.Anchor = oncehttp.AnchorFirst }, api: true,
				cfg: mockserver.Config{Work: 8 * minute}, play: fromTheEnd, with: "2 requests, 1 effect", without: "2 requests, 2 effects"},
			{contract: AzureRooms, field: "Window.Anchor", change: func(c *contract) { c.Window.Anchor = oncehttp.AnchorFirst },
				cfg: script(says(429, `{}`), mockserver.Lost()), play: fromTheStamp(4*minute, 2*minute),
				with: "Pending KeyExpired, 2 requests, 1 effect", without: "Pending KeyExpired, 3 requests, 1 effect"},
		},
		{{contract: BridgeV0, field: "Window.After", change: func(c *contract) { c.Window.After = oncehttp.ExpiryExecutes }, cfg: lost(), play: later(23 * hour),
			with: "Confirmed, 2 requests, 1 effect", without: "Pending KeyExpired, 1 request, 1 effect"}},
		{
			{contract: WorldlineConnect, field: "Replay", change: withoutReplay, cfg: lost(), play: marks, with: "Confirmed, a repeat", without: "Confirmed, not known as a repeat"},
			{contract: CircleWallets, field: "Replay", change: withoutReplay, cfg: lost(), play: marks, with: "Confirmed, a repeat", without: "Confirmed, not known as a repeat"},
			{contract: RecurlyV3, field: "Replay", change: withoutReplay, cfg: lost(), play: marks, with: "Confirmed, a repeat", without: "Confirmed, not known as a repeat"},
		},
		{{contract: Solidgate, field: "Ignored", change: func(c *contract) { c.Ignored = oncehttp.Marker{} },
			cfg:     script(mockserver.Fault{Origin: true, Commit: true, Status: 500}),
			profile: func(p *mockserver.Profile) { p.KeyIgnored = []string{"*"} }, play: ignored,
			with: "Pending ServerError, contradicted; the next action Pending Distrusted; 2 requests, 2 effects", without: "Confirmed; the next action Confirmed; 4 requests, 4 effects"}},
		{{contract: AdyenCheckout, field: "Answers", change: withoutAnswers, cfg: script(says(503, `{"errorCode":"703"}`, "Transient-Error", "true")), play: once(1),
			with: "Pending Throttled, 1 request, 0 effects", without: "Pending ServerError, 1 request, 0 effects"}},
		{
			{contract: StripeV1, field: "Hints", change: withoutHints, cfg: script(says(503, `{}`, "Request-Id", "req_1", "Stripe-Should-Retry", "false")), play: once(3),
				with: "Pending ServerError, 1 request, 0 effects", without: "Confirmed, 2 requests, 1 effect"},
			{contract: CheckoutPayments, field: "Hints", change: withoutHints, cfg: lost(), play: paused(minute / 2),
				with: "Confirmed, 30s later", without: "Confirmed, sooner than 30s"},
			{contract: PlaidWallet, field: "Hints", change: withoutHints, cfg: lost(), play: paused(minute),
				with: "Confirmed, 1m0s later", without: "Confirmed, sooner than 1m0s"},
		},
		{
			{contract: AWSDynamoDBTransactWriteItems, field: "Hints", change: withoutHints,
				cfg:  script(says(400, `{"__type":"ThrottlingException"}`, "X-Amzn-Requestid", "a1", "X-Amz-Retry-After", "90000")),
				play: paused(90 * time.Second), with: "Confirmed, 1m30s later", without: "Confirmed, sooner than 1m30s"},
			{contract: GoCardlessPro, field: "Hints", change: withoutHints,
				cfg:  script(says(429, `{}`, "RateLimit-Limit", "1000", "RateLimit-Reset", "Sat, 01 Jan 2000 00:01:00 GMT")), // a minute after a bubble begins
				play: paused(minute), with: "Confirmed, 1m0s later", without: "Confirmed, sooner than 1m0s"},
			{contract: hinted(), field: "Hints", change: withoutHints,
				cfg:  script(says(429, `{}`, "X-Reset", "946684920")), // two minutes after a bubble begins
				play: paused(2 * minute), with: "Confirmed, 2m0s later", without: "Confirmed, sooner than 2m0s"},
		},
		{
			{contract: IncreaseACHTransfers, field: "Lookups", change: withoutLookups, cfg: lost(), play: later(40 * day),
				with: "Confirmed, 1 request, 1 effect", without: "Pending KeyExpired, 1 request, 1 effect"},
			{contract: MarqetaUsers, field: "Lookups", change: withoutLookups, cfg: lost(), play: later(40 * day),
				with: "Confirmed, 1 request, 1 effect", without: "Pending KeyExpired, 1 request, 1 effect"},
			{contract: StripePaymentIntents, field: "Lookups", change: withoutLookups, cfg: lost(), play: later(40 * day),
				with: "Confirmed, 1 request, 1 effect", without: "Pending KeyExpired, 1 request, 1 effect"},
		},
		{{contract: OpenAIV1, field: "Carrier", change: func(c *contract) {
			c.Carrier, c.Window.Length = header("Idempotency-Key"), day
		}, cfg: lost(), play: once(2),
			with: "Pending Unknown, 1 request, 1 effect", without: "Confirmed, 2 requests, 2 effects"}},
	} {
		for _, a := range of {
			a.name = axisNames()[i]
			rows = append(rows, a)
		}
	}
	return rows
}

// carriers has a row for each kind. No API of the package has the key in the
// path, so that one is of our own.
func carriers() []axis {
	path := contract{
		Name: "own-path", Match: oncehttp.Match{Methods: []string{http.MethodPost}},
		Carrier: oncehttp.Carrier{Kind: oncehttp.CarrierPath, Name: "/things/{key}"}, Window: oncehttp.Window{Length: day},
	}
	var rows []axis
	for _, c := range []struct {
		contract contract
		where    string
		needed   bool
	}{
		{StripeV1, "Idempotency-Key: KEY", false},
		{SquareTerminal, `"idempotency_key":"KEY"`, true},
		{ShopifyGraphQL, `"idempotencyKey":"KEY"`, false},
		{InngestEvents, `"id":"KEY-0"`, false},
		{AWSEC2, "ClientToken=KEY", false},
		{QuickBooks, "requestid=KEY", false},
		{path, "KEY", false},
		{AWSRoute53, "<CallerReference>KEY<", true},
	} {
		effects := "1 effect"
		if c.contract.Name == InngestEvents.Name {
			effects = "2 effects" // of two events
		}
		without := "Pending Unknown, 1 request, " + effects
		if c.needed {
			without = "Pending Unknown, 1 request, 0 effects"
		}
		rows = append(rows, axis{
			contract: c.contract, field: "Carrier",
			change: func(c *contract) { c.Carrier = oncehttp.Carrier{} },
			cfg:    lost(), play: carried,
			with: "Confirmed, 2 requests, " + effects + " in `" + c.where + "`", without: without,
		})
	}
	return rows
}

func hinted() contract {
	c := oncehttp.IdempotencyKey("api.example.com", day)
	c.Name = "own-reset"
	c.Hints.Headers = []oncehttp.Hint{{Header: "X-Reset", Kind: oncehttp.HintUnix}}
	return c
}

func lost() mockserver.Config { return script(mockserver.Lost()) }

func slow() mockserver.Config { return mockserver.Config{Work: 3 * time.Second} }

func script(faults ...mockserver.Fault) mockserver.Config { return mockserver.Config{Script: faults} }

func withoutAnswers(c *contract) { c.Answers, c.Stored.Repeat = nil, oncehttp.RepeatEmpty }

func withoutCompanions(c *contract) { c.Companions, c.Window.Anchor = nil, oncehttp.AnchorFirst }

func withoutReplay(c *contract) { c.Replay = oncehttp.Marker{} }

func withoutHints(c *contract) { c.Hints = oncehttp.Hints{} }

func withoutLookups(c *contract) { c.Lookups = nil }

func rejects(c *contract) { c.Compared.Mismatch = oncehttp.MismatchRejects }

func setBody(r *http.Request, body string) {
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body)), nil
}

// deletes sends a DELETE under each version, to a client with both contracts.
func deletes(w *world) string {
	c := w.open("a", func(cfg *oncehttp.Config) { cfg.Contracts = append(cfg.Contracts, StripeV1) })
	defer c.Close()
	var tells []string
	for i, version := range []string{"/v1", "/v2"} {
		req, err := http.NewRequestWithContext(w.t.Context(), http.MethodDelete, "https://api.stripe.com"+version+"/things/x1", nil)
		require.NoError(w.t, err)
		_, err = c.Do(version, req)
		require.NoError(w.t, err)
		key := "without a key"
		if w.server.Requests()[i].Key != "" {
			key = "with a key"
		}
		tells = append(tells, "DELETE "+version+" "+key)
	}
	return strings.Join(tells, ", ")
}

func deleted(w *world) string {
	w.sample.method = http.MethodDelete
	return once(2)(w)
}

// stamped tells whether every request has the same companion, before and after a
// restart.
func stamped(w *world) string {
	told := later(minute)(w)
	stamps := map[string]bool{}
	for _, r := range w.server.Requests() {
		if m := r.Header.Get("Repeatability-First-Sent") + r.Header.Get("X-Idempotency-Expiration"); m != "" {
			stamps[m] = true
		}
	}
	switch len(stamps) {
	case 0:
		return told + ", none with a stamp"
	case 1:
		return told + ", all with one stamp"
	}
	return told + fmt.Sprintf(", with %d stamps", len(stamps))
}

func opened(w *world) string {
	c, err := oncehttp.Open(w.dir+"/a", oncehttp.Config{Contracts: []contract{w.contract}})
	if err != nil {
		require.ErrorContains(w.t, err, w.contract.Name)
		return "refused when opened"
	}
	require.NoError(w.t, c.Close())
	return "opens"
}

// twoJournals do the same action, and know nothing of each other.
func twoJournals(w *world) string {
	for _, name := range []string{"a", "b"} {
		c := w.open(name, nil)
		w.do(c, w.request(""))
		require.NoError(w.t, c.Close())
	}
	return w.happened()
}

// keyless sends the request by hand, and then by the client.
func keyless(w *world) string {
	resp, err := (&http.Client{Transport: w.server.Transport()}).Do(w.request(""))
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
	return fmt.Sprintf("without a key %d, by the client %s", resp.StatusCode, once(1)(w))
}

func otherCredential(w *world) string {
	return w.sum(w.restarted(minute, func(cfg *oncehttp.Config) {
		cfg.Authorize = func(r *http.Request, _ bool) error {
			r.Header.Set("Authorization", "Bearer another")
			return nil
		}
	}))
}

// otherHost sends the caller's own key to two hosts of the API.
func otherHost(w *world) string {
	c := w.open("a", nil)
	defer c.Close()
	for i, host := range []string{"checkout-test.adyen.com", "pal-test.adyen.com"} {
		req := w.request("8f1f9a5e-1c2d-4e3f-8a4b-5c6d7e8f9a0b")
		req.URL.Host, req.Host = host, host
		resp, err := c.RoundTrip(req)
		if i == 1 && errors.Is(err, oncehttp.ErrMismatch) {
			return "mismatch, " + w.happened()
		}
		require.NoError(w.t, err)
		require.NoError(w.t, resp.Body.Close())
	}
	return "another action, " + w.happened()
}

// anotherPayload comes again under the action, and then from another journal under
// its key.
func anotherPayload(w *world) string {
	elsewhere := w.after(func(b *oncehttp.Client, key string) *oncehttp.Outcome {
		w.sample = w.sample.withAmount(7)
		return w.do(b, w.request(key))
	})
	c := w.open("a", nil)
	defer c.Close()
	_, err := c.Do(action, w.request(""))
	require.ErrorIs(w.t, err, oncehttp.ErrMismatch)
	return "mismatch here; elsewhere " + w.sum(elsewhere)
}

func answered(w *world) string {
	c := w.open("a", patient(2))
	defer c.Close()
	o := w.do(c, w.request(""))
	if strings.Contains(string(o.Response.Body), `"changed"`) {
		return told(o) + " by the present state"
	}
	return told(o) + " by the first answer"
}

// fromTheEnd sends a request whose work takes eight minutes, and again a quarter of
// an hour after it came. The library itself counts from the first attempt, which is
// never later.
func fromTheEnd(w *world) string {
	client := &http.Client{Transport: w.server.Transport()}
	for range 2 {
		resp, err := client.Do(w.request("8f1f9a5e-1c2d-4e3f-8a4b-5c6d7e8f9a0b"))
		require.NoError(w.t, err)
		require.NoError(w.t, resp.Body.Close())
		time.Sleep(7 * minute)
	}
	return w.happened()
}

// fromTheStamp is throttled at first, and a while later an answer is lost: the
// stamp is as old as the first of the two.
func fromTheStamp(throttled, lost time.Duration) func(*world) string {
	return func(w *world) string {
		c := w.open("a", patient(1))
		defer c.Close()
		w.do(c, w.request(""))
		time.Sleep(throttled)
		w.do(c, w.request(""))
		time.Sleep(lost)
		return w.sum(w.run(c, minute))
	}
}

// TestNothingIsSentAgainAfterTheEndThatTheAPIWasTold: it was told three days from
// an attempt that was throttled, and the one whose answer is lost comes later.
func TestNothingIsSentAgainAfterTheEndThatTheAPIWasTold(t *testing.T) {
	a := axis{contract: CourierV1, cfg: script(says(429, `{}`), mockserver.Lost()), play: fromTheStamp(70*hour, 4*hour)}
	assert.Equal(t, "Pending KeyExpired, 2 requests, 1 effect", a.played(t, CourierV1, CourierV1))
}

func marks(w *world) string {
	c := w.open("a", patient(2))
	defer c.Close()
	o := w.do(c, w.request(""))
	if o.Response.Replayed {
		return told(o) + ", a repeat"
	}
	return told(o) + ", not known as a repeat"
}

// ignored goes on, under the same contract, to an action whose answer is lost.
func ignored(w *world) string {
	contradicted := ""
	c := w.open("a", func(cfg *oncehttp.Config) {
		patient(2)(cfg)
		cfg.OnEvent = func(e oncehttp.Event) {
			if e.Kind == oncehttp.EventContradicted {
				contradicted = ", contradicted"
			}
		}
	})
	defer c.Close()
	first := w.do(c, w.request(""))
	w.server.Script(mockserver.Lost())
	next, err := c.Do("order-43/charge", w.request(""))
	if !errors.As(err, new(*oncehttp.PendingError)) {
		require.NoError(w.t, err)
	}
	return fmt.Sprintf("%s%s; the next action %s; %s", told(first), contradicted, told(next), w.happened())
}
