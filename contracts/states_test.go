package contracts

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// undone are the states in which what a lookup finds is there, and what was asked
// for was not done, or was undone, or waits for somebody; by the contract.
var undone = map[string][]string{
	StripePaymentIntents.Name:              {"canceled", "requires_payment_method", "requires_confirmation", "requires_action"},
	StripeCharges.Name:                     {"failed"},
	StripeRefunds.Name:                     {"failed", "canceled", "requires_action"},
	StripePayouts.Name:                     {"failed", "canceled"},
	StripeTopUps.Name:                      {"failed", "canceled", "reversed"},
	StripeSubscriptions.Name:               {"incomplete", "incomplete_expired", "canceled"},
	CheckoutPayments.Name:                  {"Declined", "Canceled", "Expired", "Voided", "Refunded", "Requested", "Retry Scheduled"},
	MolliePayments.Name:                    {"failed", "canceled", "expired"},
	MercadoPagoPayments.Name:               {"rejected", "cancelled", "refunded", "charged_back"},
	PaystackTransfers.Name:                 {"failed", "reversed", "otp", "abandoned", "blocked", "rejected", "received"},
	PaystackCharges.Name:                   {"failed", "abandoned", "reversed"},
	IncreaseV1.Name:                        {"canceled", "rejected", "requires_attention", "failed"},
	IncreaseACHTransfers.Name:              {"canceled", "rejected", "requires_attention", "returned"},
	IncreaseWireTransfers.Name:             {"canceled", "rejected", "requires_attention", "reversed"},
	IncreaseCheckTransfers.Name:            {"canceled", "rejected", "requires_attention", "stopped", "returned"},
	IncreaseAccountTransfers.Name:          {"canceled"},
	IncreaseRealTimePaymentsTransfers.Name: {"canceled", "rejected", "requires_attention"},
	WiseTransfers.Name:                     {"cancelled", "bounced_back", "charged_back", "funds_refunded", "unknown", "waiting_recipient_input_to_proceed"},
	ColumnTransfers.Name:                   {"canceled", "rejected", "returned", "manual_review"},
	RevolutPay.Name:                        {"declined", "failed", "reverted"},
	RevolutTransfers.Name:                  {"declined", "failed", "reverted"},
	RevolutPayoutLinks.Name:                {"failed", "cancelled", "expired"},
	GoCardlessPayments.Name:                {"failed", "cancelled", "customer_approval_denied", "charged_back"},
	GoCardlessRefunds.Name:                 {"cancelled", "bounced", "funds_returned"},
	GoCardlessSubscriptions.Name:           {"cancelled", "customer_approval_denied"},
	ModernTreasuryPaymentOrders.Name:       {"cancelled", "denied", "failed", "held", "returned", "reversed", "stopped"},
	MangopayV2.Name:                        {"400", "500"},
	MangopayTransfers.Name:                 {"FAILED"},
	LithicPayments.Name:                    {"DECLINED", "RETURNED", "REVERSED", "CANCELED"},
	LithicExternalPayments.Name:            {"DECLINED", "RETURNED", "REVERSED", "CANCELED"},
	LithicBookTransfers.Name:               {"DECLINED", "REVERSED"},
	MarqetaGPAOrders.Name:                  {"DECLINED", "ERROR"},
	CircleWalletTransactions.Name:          {"FAILED", "CANCELLED", "DENIED"},
	CoinbasePrime.Name:                     {"TRANSACTION_CANCELLED", "TRANSACTION_REJECTED", "TRANSACTION_FAILED", "TRANSACTION_EXPIRED"},
	CoinbasePrimeStaking.Name:              {"TRANSACTION_CANCELLED", "TRANSACTION_REJECTED", "TRANSACTION_FAILED", "TRANSACTION_EXPIRED"},
	AWSEFS.Name:                            {"error", "deleting", "deleted"},
	MollieRefunds.Name:                     {"failed", "canceled"},
	Finix.Name:                             {"FAILED", "CANCELED"},
	FinixAuthorizations.Name:               {"FAILED", "CANCELED"},
	TossPaymentsConfirm.Name:               {"CANCELED", "ABORTED", "EXPIRED"},
	RazorpayTransfers.Name:                 {"failed", "reversed"},
	RazorpayRefunds.Name:                   {"failed"},
	ZuoraOrders.Name:                       {"false"},
	RecurlyPurchases.Name:                  {"failed"},
	RecurlySubscriptions.Name:              {"canceled", "expired", "failed"},
	ShopifyRESTPayments.Name:               {"failure"},
	ShippoTransactions.Name:                {"ERROR", "QUEUED", "WAITING"},
	EasyPostBuy.Name:                       {"Shipment"},
	DropboxSignSend.Name:                   {"true"},
	AzureEmailOperations.Name:              {"Failed", "Canceled", "Running"},
	DoorDashDrive.Name:                     {"quote", "cancelled", "enroute_to_return", "returned"},
}

// made are the contracts whose lookups find what is there only where it was made,
// whatever became of it afterwards: that it should be made is all that was asked.
// Those of Stripe's ask for events that say so, of transfers, which have no states,
// and Square's and Razorpay's leave out what was declined by themselves.
var made = []string{
	StripePaymentIntentActions.Name, StripeTransfers.Name, StripeCustomers.Name, SquarePayments.Name, RazorpayPayouts.Name,
	PaystackTransactions.Name, MonzoReceipts.Name, ModernTreasuryExpectedPayments.Name, ModernTreasuryCounterparties.Name,
	LithicCards.Name, MarqetaUsers.Name, MarqetaBusinesses.Name, MarqetaCards.Name, MarqetaPeerTransfers.Name, MarqetaCardTransitions.Name,
	AWSLambdaDurable.Name, ChargebeeCustomers.Name, ChargebeeSubscriptions.Name, CheckoutPaymentActions.Name, CourierSend.Name,
	DocuSignEnvelopes.Name, EasyPostShipments.Name, GoogleChatMessages.Name, GoogleComputeV1.Name, KlarnaCaptures.Name,
	KlarnaRefunds.Name, KnockTrigger.Name, LobMail.Name, OpenAIBatches.Name, OpenAIFineTuningJobs.Name,
	SendGridMail.Name, SquareCards.Name, SquareCustomers.Name, StripeCreditNotes.Name, StripeInvoiceItems.Name,
	StripeInvoicePay.Name, StripeInvoices.Name,
	CoinbaseCommerce.Name, CoinbaseBusinessCheckouts.Name, PostmarkEmail.Name,
}

// TestWhatALookupFindsIsBelievedOnlyInAStateThatProvesTheEffect plays each lookup
// that reads a state alone, long after the key was forgotten.
func TestWhatALookupFindsIsBelievedOnlyInAStateThatProvesTheEffect(t *testing.T) {
	t.Parallel()
	for _, c := range every() {
		for _, l := range c.Lookups {
			if l.State == "" {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				c := c // a contract may have several
				c.Lookups = []oncehttp.Lookup{l}
				for _, state := range undone[c.Name] {
					assert.NotEqual(t, done, foundIn(t, c, state), state)
				}
				for _, state := range statesOf(l) {
					assert.Equal(t, done, foundIn(t, c, state), state)
				}
			})
		}
	}
}

// foundIn is what is told of an action whose answer was lost, and whose effect is
// in the state.
func foundIn(t *testing.T, c oncehttp.Contract, state string) string {
	t.Helper()
	var said string
	inWorldWith(t, c, mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}}, func(p *mockserver.Profile) { p.Finds[0].Says = state },
		func(w *world) { said = told(w.restarted(40*day, nil)) })
	return said
}

func TestNoLookupIsForgottenThatMayFindWhatWasNotDone(t *testing.T) {
	t.Parallel()
	for _, c := range every() {
		reads := false
		for _, l := range c.Lookups {
			reads = reads || l.State != ""
		}
		row := len(undone[c.Name]) > 0
		assert.Equal(t, reads, row, "%s: undone has its states where a lookup reads them, and only there", c.Name)
		if len(c.Lookups) > 0 && !row {
			assert.Contains(t, made, c.Name, "say in undone which states are no effect, or why there are none")
		}
	}
}
