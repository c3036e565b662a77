package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

const form = "application/x-www-form-urlencoded"

// They differ in where the key travels, what a repeat gets, what is compared and
// what keys must be.
func targets() []target {
	return []target{
		plain(),
		stripeCharge(),
		{contract: "stripe-v2", url: "https://api.stripe.com/v2/core/accounts", body: `{"amount":{n}}`, bad: `{"amount":"BAD"}`},
		{contract: "stripe-payouts", url: "https://api.stripe.com/v1/payouts", media: form, body: "amount={n}"}, // which can be looked up
		{contract: "modern-treasury", url: "https://app.moderntreasury.com/api/payment_orders", body: `{"amount":{n}}`, bad: `{"amount":"BAD"}`},
		{contract: "qonto-transfers", url: "https://thirdparty.qonto.com/v2/external_transfers", body: `{"amount":{n}}`},
		{contract: "qonto-transfer-batch", url: "https://thirdparty.qonto.com/v2/external_transfers/checkout", body: `{"external_transfers":[{"amount":{n}},{"amount":2}]}`},
		{contract: "telnyx-v2", url: "https://api.telnyx.example/v2/messages", body: `{"amount":{n}}`, bad: `{"amount":"BAD"}`},
		{contract: "increase-v1", url: "https://sandbox.increase.com/accounts", body: `{"amount":{n}}`, bad: `{"amount":"BAD"}`},
		{contract: "gocardless-pro", url: "https://api-sandbox.gocardless.com/payments", body: `{"amount":{n}}`, bad: `{"amount":"BAD"}`},
		{contract: "mercury-transactions", url: "https://api.mercury.com/api/v1/account/a1/transactions", body: `{"amount":{n}}`},
		{contract: "wise-transfers", url: "https://api.wise-sandbox.com/v1/transfers", body: `{"amount":{n}}`},
		{contract: "monzo-pots", method: "PUT", url: "https://api.monzo.com/pots/p1/deposit", media: form, body: "amount={n}"},
		{contract: "google-compute-v1", url: "https://compute.googleapis.com/compute/v1/projects/p/zones/z/disks", body: `{"sizeGb":{n}}`},
		{contract: "aws-route53-create-hosted-zone", url: "https://route53.amazonaws.com/2013-04-01/hostedzone", media: "application/xml",
			body: `<CreateHostedZoneRequest><Name>z{n}.example</Name></CreateHostedZoneRequest>`},
		{contract: "aws-lambda-durable", url: "https://lambda.eu-west-1.amazonaws.com/2015-03-31/functions/f/invocations", body: `{"amount":{n}}`},
		{contract: "oasis-repeatable-requests", url: "https://api.example.com/things", body: `{"amount":{n}}`},
		{contract: "ietf-idempotency-key", url: "https://api.example.com/things", body: `{"amount":{n}}`},
		{contract: "resend-emails", url: "https://api.resend.com/emails", body: `{"amount":{n}}`},
		{contract: "paypal-orders-v2", url: "https://api-m.sandbox.paypal.com/v2/checkout/orders", body: `{"amount":{n}}`},
		{contract: "shopify-graphql", url: "https://x1.myshopify.com/admin/api/2026-10/graphql.json",
			body: `{"query":"mutation M($k: String!) { refundCreate @idempotent(key: $k) { id } }","variables":{"amount":{n}}}`},
	}
}

func TestTheAPIThatAContractDescribesAgreesWithIt(t *testing.T) {
	for _, g := range targets() {
		t.Run(g.contract, func(t *testing.T) {
			t.Parallel()
			cfg := mockserver.Config{}
			if g.contract != "idempotency-key" {
				cfg.Profile = profileOf(t, g.contract)
			}
			if g.bad != "" {
				cfg.Execute = refusing(422)
			}
			r := play(t, cfg, g.body, g.args(t, "-json"))
			rep := r.report(t)
			require.Equal(t, exitAgrees, r.code, "%+v\n%s", rep, r.stderr)
			assert.Equal(t, agrees, rep.finding(t, "same key again").Verdict)
			assert.Equal(t, agrees, rep.finding(t, "same key twice at once").Verdict)
			assert.Equal(t, "", rep.Stopped)
			for _, f := range rep.Findings {
				assert.False(t, f.Verdict == cannotTell && f.Seen != "not tried", "%+v", f)
			}

			// The ledger knows what was sent.
			requests := r.server.Requests()
			require.Len(t, requests, len(rep.Requests))
			assert.Len(t, requests, r.transported)
			assert.LessOrEqual(t, len(requests), mostRequests)
			first, again, another := requests[0], requests[1], requests[2]
			assert.NotEmpty(t, first.Key)
			assert.Equal(t, first.Key, again.Key)
			assert.Equal(t, first.BodySHA256, again.BodySHA256)
			assert.Equal(t, first.Path, again.Path)
			assert.NotEqual(t, first.Key, another.Key)
			assert.Equal(t, credential, first.Header.Get("Authorization"))
			for _, e := range r.server.EffectLog() { // of a batch the answer names one
				assert.True(t, strings.HasPrefix(e.ID, rep.Requests[e.Request-1].Effect), "%+v", e)
			}
		})
	}
}

// A refusal that is kept, and one that is not, are told apart.
func TestWhatIsKeptAfterARefusalIsFoundOut(t *testing.T) {
	t.Parallel()
	g := stripeCharge()
	for status, declared := range map[int]string{402: "a 402 is kept under the key", 400: "a 400 is not kept under the key"} {
		r := play(t, mockserver.Config{Profile: profileOf(t, g.contract), Execute: refusing(status)}, g.body, g.args(t, "-json"))
		f := r.report(t).finding(t, "after a refusal")
		assert.Equal(t, declared, f.Declared)
		assert.Equal(t, agrees, f.Verdict, "%+v", f)
	}
}

// Over sockets, and as the command sends.
func TestTheProbeRunsOverTheNetwork(t *testing.T) {
	t.Parallel()
	server := mockserver.Start(mockserver.Config{Profile: profileOf(t, "stripe-v1"), Work: 200_000_000})
	defer server.Close()
	g := stripeCharge()
	g.url, g.bad = server.URL+"/v1/charges", ""
	r := ran{server: server}
	r.command(t.Context(), g.body, g.args(t, "-json", "-pause", "0"), freshTransport())
	rep := r.report(t)
	assert.Equal(t, exitAgrees, r.code, "%+v", rep)
	assert.Len(t, server.Requests(), 8)
	connections := map[int]bool{}
	for _, q := range server.Requests() {
		connections[q.Conn] = true
	}
	assert.Len(t, connections, 8, "a connection for each request")
}
