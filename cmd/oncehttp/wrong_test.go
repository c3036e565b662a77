package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncehttp/oncehttp/mockserver"
)

// A wrong is an API that breaks one promise of a contract, and what must
// contradict for it: that and nothing else.
type wrong struct {
	name   string
	target target
	status int // of what refuses the bad body
	change func(*mockserver.Config)
	want   []string
	seen   string // of the first of them
}

func jsonAnswer(status int, body string) mockserver.Answer {
	return mockserver.Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

func wrongs() []wrong {
	profile := func(change func(*mockserver.Profile)) func(*mockserver.Config) {
		return func(cfg *mockserver.Config) { change(&cfg.Profile) }
	}
	stripe, usual := stripeCharge(), plain()
	named := func(contract, url string) target {
		return target{contract: contract, url: url, body: `{"amount":{n}}`}
	}
	return []wrong{
		{"ignores keys", stripe, 402, profile(func(p *mockserver.Profile) { p.KeyIgnored = []string{"*"} }),
			[]string{"after a refusal", "key too long", "same key again", "same key twice at once", "same key, other body"}, "402, then 201 for the good body: not kept"},
		{"ignores keys, and was to replay", named("modern-treasury", "https://app.moderntreasury.com/api/payment_orders"), 422,
			profile(func(p *mockserver.Profile) { p.KeyIgnored = []string{"*"} }),
			[]string{"same key again", "same key twice at once", "same key, other body"}, "201, another effect"},
		{"executes on mismatch", stripe, 400, profile(func(p *mockserver.Profile) { p.OnMismatch = mockserver.MismatchExecutes }),
			[]string{"same key, other body"}, "201, carried out: another effect"},
		{"replays on mismatch", stripe, 400, profile(func(p *mockserver.Profile) { p.OnMismatch = mockserver.MismatchIgnored }),
			[]string{"same key, other body"}, "201, the first effect's answer"},
		{"drops on mismatch", stripe, 400, profile(func(p *mockserver.Profile) {
			p.OnMismatch, p.Mismatch = mockserver.MismatchDrops, jsonAnswer(200, "{}")
		}), []string{"same key, other body"}, "200, a success that names no effect"},
		{"refuses a mismatch otherwise", stripe, 400, profile(func(p *mockserver.Profile) { p.Mismatch = jsonAnswer(409, `{"error":{"code":"duplicate"}}`) }),
			[]string{"same key, other body"}, "409, a refusal"},
		{"lacks the marker", stripe, 400, profile(func(p *mockserver.Profile) { p.Replayed, p.NoMarker = mockserver.Mark{}, true }),
			[]string{"replay mark, repeat"}, "absent"},
		{"marks first answers", usual, 422, profile(func(p *mockserver.Profile) { p.Origin = mockserver.Mark{Header: "Idempotent-Replayed"} }),
			[]string{"replay mark, first answer"}, "present"},
		{"keeps no refusals", stripe, 402, profile(func(p *mockserver.Profile) { p.Released = []string{"4xx"} }),
			[]string{"after a refusal"}, "402, then 201 for the good body: not kept"},
		{"keeps every refusal", stripe, 400, profile(func(p *mockserver.Profile) {
			p.Released, p.Mismatch = []string{}, jsonAnswer(400, `{"error":{"type":"idempotency_error"}}`)
		}), []string{"after a refusal"}, "400, then 400 for the good body: kept"},
		{"refuses what comes meanwhile", stripe, 400, profile(func(p *mockserver.Profile) { p.InFlight = jsonAnswer(409, `{"error":{"code":"resource_exists"}}`) }),
			[]string{"answer while the first runs"}, "409, a refusal"},
		{"says in progress otherwise", stripe, 400, profile(func(p *mockserver.Profile) { p.InFlight = jsonAnswer(409, `{"error":{"code":"request_in_progress"}}`) }),
			[]string{"answer while the first runs"}, "409, in progress"},
		{"carries out what comes meanwhile", stripe, 400, profile(func(p *mockserver.Profile) { p.InFlightExecutes = true }),
			[]string{"same key twice at once"}, "201 and 201"},
		{"tells the present state", stripe, 400, profile(func(p *mockserver.Profile) { p.RepeatCurrent = true }),
			[]string{"same key again"}, "201, the same effect, told otherwise (/state)"},
		{"answers repeats with an error", stripe, 400, profile(func(p *mockserver.Profile) { p.Repeat = jsonAnswer(409, `{"error":{"code":"exists"}}`) }),
			[]string{"same key again"}, "409, a refusal"},
		{"answers repeats with nothing", stripe, 400, profile(func(p *mockserver.Profile) { p.Repeat = jsonAnswer(200, "{}") }),
			[]string{"same key again"}, "200, a success that names no effect"},
		{"repeats where an error is declared", named("gocardless-pro", "https://api-sandbox.gocardless.com/payments"), 400,
			profile(func(p *mockserver.Profile) { p.Repeat = mockserver.Answer{} }), []string{"same key again"}, "201, the first answer again"},
		{"takes longer keys", stripe, 400, profile(func(p *mockserver.Profile) { p.KeyMax = 1000 }),
			[]string{"key too long"}, "201, accepted"},
		{"takes any byte", named("telnyx-v2", "https://api.telnyx.example/v2/messages"), 400,
			profile(func(p *mockserver.Profile) { p.KeyAlphabet = "" }), []string{"key outside alphabet"}, "201, accepted"},
		{"takes what is no UUID", named("wise-transfers", "https://api.wise-sandbox.com/v1/transfers"), 400,
			profile(func(p *mockserver.Profile) { p.KeyUUID = mockserver.UUIDNone }), []string{"key that is no UUID"}, "201, accepted"},
		{"needs no key", named("qonto-transfers", "https://thirdparty.qonto.com/v2/external_transfers"), 400,
			profile(func(p *mockserver.Profile) { p.KeyRequired = false }), []string{"no key"}, "201, accepted"},
		{"lacks the mark of its own", stripe, 400, profile(func(p *mockserver.Profile) { p.Origin = mockserver.Mark{} }),
			[]string{"mark of the API's own"}, "on 0 of 10 answers"},
	}
}

func TestAnAPIThatBreaksAPromiseContradictsThatOne(t *testing.T) {
	for _, w := range wrongs() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			cfg := mockserver.Config{Execute: refusing(w.status)}
			if w.target.contract != "idempotency-key" {
				cfg.Profile = profileOf(t, w.target.contract)
			}
			w.change(&cfg)
			r := play(t, cfg, w.target.body, w.target.args(t, "-json"))
			rep := r.report(t)
			assert.Equal(t, w.want, rep.contradicted(), "%+v", rep.Findings)
			assert.Equal(t, w.seen, rep.finding(t, w.want[0]).Seen)
			assert.Equal(t, exitContradicts, r.code)
		})
	}
}
