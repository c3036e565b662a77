// Package contracts has the facts of many APIs on idempotency keys, as
// [oncehttp.Contract] literals, each with its source and the day it was read.
//
// A contract whose Proof is ProofSecondary or ProofUnknown is here so that its
// requests are recorded and reported honestly; it never causes an automatic resend.
// An API that takes no key has a contract without a carrier: what is ambiguous is
// Pending and never sent again.
//
// [All] returns those that name their hosts, [For] those of one host. A contract
// names no host where it is of a standard, where the API tells each customer a host
// of their own, or where it would promise too much at the API's own host: the
// contract's variable says which, and [On] sets the hosts of a copy.
//
// The table says where each contract's key travels, how long the API remembers it,
// and how well that is proved. Where an API does not say how long, a key is trusted
// for five minutes:
//
//	contract                               key                                    window    proof
//	stripe-v1                              Idempotency-Key                        24 h      vendor
//	stripe-v2                              Idempotency-Key                        30 days   vendor
//	stripe-payment-intents                 Idempotency-Key                        24 h      vendor
//	stripe-payment-intent-actions          Idempotency-Key                        24 h      vendor
//	stripe-charges                         Idempotency-Key                        24 h      vendor
//	stripe-refunds                         Idempotency-Key                        24 h      vendor
//	stripe-transfers                       Idempotency-Key                        24 h      vendor
//	stripe-payouts                         Idempotency-Key                        24 h      vendor
//	stripe-topups                          Idempotency-Key                        24 h      vendor
//	stripe-customers                       Idempotency-Key                        24 h      vendor
//	stripe-subscriptions                   Idempotency-Key                        24 h      vendor
//	stripe-invoices                        Idempotency-Key                        24 h      vendor
//	stripe-invoice-pay                     Idempotency-Key                        24 h      vendor
//	stripe-invoice-items                   Idempotency-Key                        24 h      vendor
//	stripe-credit-notes                    Idempotency-Key                        24 h      vendor
//	paypal-orders-v2                       PayPal-Request-Id                      6 h       vendor
//	paypal-orders-v1                       PayPal-Request-Id                      for ever  vendor
//	paypal-payments-v2                     PayPal-Request-Id                      45 days   vendor
//	paypal-payments-v1                     PayPal-Request-Id                      30 days   vendor
//	paypal-payouts-v1                      PayPal-Request-Id                      30 days   vendor
//	paypal-subscriptions-v1                PayPal-Request-Id                      3 days    vendor
//	paypal-vault-v3                        PayPal-Request-Id                      3 h       vendor
//	paypal-web-profiles-v1                 PayPal-Request-Id                      3 h       vendor
//	braintree                              none                                             secondary
//	braintree-queries                      none                                             vendor
//	braintree-gateway                      none                                             secondary
//	braintree-gateway-searches             none                                             vendor
//	square-payments                        JSON /idempotency_key                  not said  vendor
//	square-refunds                         JSON /idempotency_key                  not said  vendor
//	square-terminal                        JSON /idempotency_key                  not said  vendor
//	square-orders                          JSON /idempotency_key                  not said  vendor
//	square-commerce                        JSON /idempotency_key                  not said  vendor
//	square-bookings                        JSON /idempotency_key                  not said  vendor
//	square-customers                       JSON /idempotency_key                  not said  vendor
//	square-cards                           JSON /idempotency_key                  not said  vendor
//	square-people                          JSON /idempotency_key                  not said  vendor
//	adyen-checkout                         Idempotency-Key                        7 days    vendor
//	adyen-transfers                        Idempotency-Key                        7 days    vendor
//	checkout-payments                      Cko-Idempotency-Key                    24 h      vendor
//	checkout-payment-actions               Cko-Idempotency-Key                    24 h      vendor
//	checkout-actions                       Cko-Idempotency-Key                    24 h      vendor
//	mollie-payments                        Idempotency-Key                        1 h       vendor
//	mollie-refunds                         Idempotency-Key                        1 h       vendor
//	mollie-v2                              Idempotency-Key                        1 h       vendor
//	worldpay-wpg                           Idempotency-Key                        24 h      vendor, no host
//	worldline-connect                      X-GCS-Idempotence-Key                  24 h      vendor, no host
//	worldline-direct                       X-GCS-Idempotence-Key                  24 h      vendor
//	ppro                                   Request-Idempotency-Key                24 h      vendor
//	bluesnap                               Idempotency-Key                        not said  vendor
//	payroc                                 Idempotency-Key                        not said  vendor
//	finix                                  JSON /idempotency_id                   not said  vendor
//	finix-authorizations                   JSON /idempotency_id                   not said  vendor
//	epay                                   Idempotency-Key                        24 h      vendor, no host
//	yuno                                   X-Idempotency-Key                      24 h      vendor
//	moneyhash                              X-Idempotency-Key                      24 h      vendor, no host
//	solidgate-v2                           Idempotency-Key                        not said  vendor, no host
//	solidgate-v2-lists                     none                                             vendor
//	klarna                                 Klarna-Idempotency-Key                 24 h      vendor
//	klarna-captures                        Klarna-Idempotency-Key                 24 h      vendor
//	klarna-refunds                         Klarna-Idempotency-Key                 24 h      vendor
//	affirm                                 Idempotency-Key                        not said  vendor
//	whop                                   Idempotency-Key                        24 h      vendor
//	toss-payments                          Idempotency-Key                        15 days   vendor
//	toss-payments-confirm                  Idempotency-Key                        15 days   vendor
//	mercadopago-payments                   X-Idempotency-Key                      not said  vendor
//	mercadopago-refunds                    X-Idempotency-Key                      not said  vendor
//	doku                                   Request-Id                             not said  vendor
//	razorpay-payouts                       X-Payout-Idempotency                   not said  vendor
//	razorpay-transfers                     X-Transfer-Idempotency                 not said  vendor
//	razorpay-refunds                       X-Refund-Idempotency                   not said  vendor
//	paystack-transactions                  JSON /reference                        not said  vendor
//	paystack-transfers                     JSON /reference                        not said  vendor
//	paystack-charges                       JSON /reference                        not said  vendor
//	flutterwave-v4                         X-Idempotency-Key                      not said  vendor
//	fintoc                                 Idempotency-Key                        24 h      vendor
//	increase-v1                            Idempotency-Key                        not said  vendor
//	increase-ach-transfers                 Idempotency-Key                        not said  vendor
//	increase-wire-transfers                Idempotency-Key                        not said  vendor
//	increase-check-transfers               Idempotency-Key                        not said  vendor
//	increase-account-transfers             Idempotency-Key                        not said  vendor
//	increase-real-time-payments-transfers  Idempotency-Key                        not said  vendor
//	mercury-transactions                   JSON /idempotencyKey                   not said  vendor
//	wise-transfers                         JSON /customerTransactionId            not said  vendor
//	wise-balances                          X-Idempotence-Uuid                     not said  vendor
//	wise-profiles                          X-Idempotence-Uuid                     not said  vendor
//	monzo-pots                             form dedupe_id                         not said  vendor
//	monzo-receipts                         JSON /external_id                      not said  vendor
//	brex-v1                                Idempotency-Key                        not said  vendor
//	ramp-v1                                none                                             unsure
//	column-v1                              Idempotency-Key                        30 days   vendor
//	column-transfers                       Idempotency-Key                        30 days   vendor
//	qonto-transfers                        X-Qonto-Idempotency-Key                30 min    vendor
//	qonto-transfer-batch                   JSON /external_transfers/*/idempotency_key not said  unsure
//	open-banking-uk                        X-Idempotency-Key                      24 h      secondary, no host
//	revolut-pay                            JSON /request_id                       14 days   vendor
//	revolut-transfers                      JSON /request_id                       not said  vendor
//	revolut-payout-links                   JSON /request_id                       not said  vendor
//	revolut-cards                          JSON /request_id                       24 h      vendor
//	revolut-merchant-subscriptions         Idempotency-Key                        not said  vendor
//	gocardless-pro                         Idempotency-Key                        not said  vendor
//	gocardless-payments                    Idempotency-Key                        not said  vendor
//	gocardless-refunds                     Idempotency-Key                        not said  vendor
//	gocardless-subscriptions               Idempotency-Key                        not said  vendor
//	plaid-transfer-authorization           JSON /idempotency_key                  2 days    vendor
//	plaid-transfer-create                  JSON /authorization_id                 not said  vendor
//	plaid-transfer-ledger                  JSON /idempotency_key                  not said  vendor
//	plaid-consent-payment                  JSON /idempotency_key                  2 days    vendor
//	plaid-wallet                           JSON /idempotency_key                  24 h      vendor
//	plaid-bank-transfer                    JSON /idempotency_key                  7 days    vendor
//	dwolla-v2                              Idempotency-Key                        24 h      vendor
//	modern-treasury                        Idempotency-Key                        24 h      vendor
//	modern-treasury-payment-orders         Idempotency-Key                        24 h      vendor
//	modern-treasury-expected-payments      Idempotency-Key                        24 h      vendor
//	modern-treasury-counterparties         Idempotency-Key                        24 h      vendor
//	bridge-v0                              Idempotency-Key                        24 h      vendor
//	akahu-payments                         Idempotency-Key                        24 h      vendor
//	truelayer-v3                           Idempotency-Key                        30 days   vendor
//	moov-transfers                         X-Idempotency-Key                      for ever  vendor
//	moov-refunds                           X-Idempotency-Key                      for ever  vendor
//	mangopay-v2                            Idempotency-Key                        24 h      vendor
//	mangopay-transfers                     Idempotency-Key                        24 h      vendor
//	bvnk-v1                                X-Idempotency-Key                      not said  vendor
//	bvnk-v2                                Idempotency-Key                        not said  vendor
//	interchecks                            Idempotency-Key                        24 h      vendor, no host
//	integrated-finance                     X-Idempotency-Key                      not said  vendor
//	checkbook-v3                           Idempotency-Key                        3 min     vendor
//	nium                                   Idempotency-Key                        24 h      unsure
//	nium-travel                            X-Request-Id                           not said  unsure, no host
//	lithic-v1                              Idempotency-Key                        24 h      vendor
//	lithic-cards                           Idempotency-Key                        24 h      vendor
//	lithic-payments                        JSON /token                            not said  vendor
//	lithic-external-payments               JSON /token                            not said  vendor
//	lithic-book-transfers                  JSON /token                            not said  vendor
//	marqeta-users                          JSON /token                            not said  vendor
//	marqeta-businesses                     JSON /token                            not said  vendor
//	marqeta-cards                          JSON /token                            not said  vendor
//	marqeta-gpa-orders                     JSON /token                            not said  vendor
//	marqeta-peer-transfers                 JSON /token                            not said  vendor
//	marqeta-card-transitions               JSON /token                            not said  vendor
//	enfuce-issuer                          X-Idempotency-Key                      24 h      vendor, no host
//	solid-v1                               Sd-Idempotency-Key                     24 h      vendor
//	solid-v2                               Idempotency-Key                        24 h      vendor
//	circle-mint                            JSON /idempotencyKey                   not said  vendor
//	circle-wallets                         JSON /idempotencyKey                   not said  vendor
//	circle-wallet-transactions             JSON /idempotencyKey                   not said  vendor
//	coinbase-cdp-v2                        X-Idempotency-Key                      24 h      vendor
//	coinbase-prime                         JSON /idempotency_key                  not said  vendor
//	coinbase-prime-staking                 JSON /idempotency_key                  not said  vendor
//	coinbase-prime-wallets                 JSON /idempotency_key                  not said  vendor
//	coinbase-commerce                      none                                             vendor
//	coinbase-business-checkouts            X-Idempotency-Key                      not said  vendor
//	aws-ec2                                form ClientToken                       not said  vendor
//	aws-dynamodb-transact-write-items      JSON /ClientRequestToken               10 min    vendor
//	aws-dynamodb-execute-transaction       JSON /ClientRequestToken               10 min    vendor
//	aws-dynamodb-import-table              JSON /ClientToken                      8 h       vendor
//	aws-dynamodb-export-table              JSON /ClientToken                      8 h       vendor
//	aws-sqs-fifo                           JSON /MessageDeduplicationId           5 min     vendor, no host
//	aws-sns-fifo                           form MessageDeduplicationId            5 min     vendor, no host
//	aws-ecs-run-task                       JSON /clientToken                      1 h       vendor
//	aws-step-functions                     JSON /name                             90 days   vendor, no host
//	aws-lambda-durable                     X-Amz-Durable-Execution-Name           not said  vendor
//	aws-secretsmanager-create-secret       JSON /ClientRequestToken               not said  vendor
//	aws-secretsmanager-put-secret-value    JSON /ClientRequestToken               not said  vendor
//	aws-secretsmanager-update-secret       JSON /ClientRequestToken               not said  vendor
//	aws-secretsmanager-rotate-secret       JSON /ClientRequestToken               not said  vendor
//	aws-acm-request-certificate            JSON /IdempotencyToken                 1 h       vendor
//	aws-efs-create-file-system             JSON /CreationToken                    not said  vendor
//	aws-route53-create-hosted-zone         XML /CreateHostedZoneRequest/CallerReference not said  vendor
//	aws-cloudformation-create-stack        form ClientRequestToken                not said  vendor
//	google-aip-155                         query requestId                        not said  vendor, no host
//	google-compute-v1                      query requestId                        not said  vendor
//	google-bigquery-queries                JSON /requestId                        15 min    vendor
//	google-chat-messages                   query requestId                        not said  vendor
//	google-chat-spaces                     query requestId                        not said  vendor
//	google-chat-space-setup                JSON /requestId                        not said  vendor
//	azure-communication-email              Repeatability-Request-Id               5 min     vendor, no host
//	azure-communication-email-operations   none                                             vendor
//	azure-communication-rooms              Repeatability-Request-Id               5 min     vendor
//	twilio-payments                        form IdempotencyKey                    not said  vendor
//	twilio-user-defined-messages           form IdempotencyKey                    not said  vendor
//	twilio-messages                        none                                             vendor
//	sendgrid-mail                          none                                             vendor
//	postmark-email                         none                                             vendor
//	postmark-batch                         none                                             vendor
//	mailgun-messages                       none                                             unsure
//	resend-emails                          Idempotency-Key                        24 h      vendor
//	slack-post-message                     none                                             unsure
//	courier-v1                             Idempotency-Key                        3 days    vendor
//	courier-send                           Idempotency-Key                        3 days    vendor
//	knock-trigger                          Idempotency-Key                        24 h      vendor
//	customerio-send                        none                                             secondary
//	telnyx-v2                              Idempotency-Key                        not said  vendor, no host
//	openai-v1                              none                                             vendor
//	openai-batches                         none                                             vendor
//	openai-fine-tuning-jobs                none                                             vendor
//	anthropic-v1                           none                                             vendor
//	shopify-graphql                        JSON /variables/idempotencyKey         24 h      vendor
//	shopify-rest-payments                  JSON /payment/unique_token             not said  vendor
//	xero                                   Idempotency-Key                        not said  vendor
//	quickbooks-v3                          query requestid                        not said  vendor
//	quickbooks-v3-batch                    query requestid                        not said  vendor
//	quickbooks-v3-query                    none                                             vendor
//	zuora-rest                             Idempotency-Key                        24 h      vendor
//	zuora-orders                           Idempotency-Key                        24 h      vendor
//	recurly-v3                             Idempotency-Key                        not said  vendor
//	recurly-purchases                      Idempotency-Key                        not said  vendor
//	recurly-subscriptions                  Idempotency-Key                        not said  vendor
//	chargebee                              Chargebee-Idempotency-Key              30 min    vendor
//	chargebee-customers                    Chargebee-Idempotency-Key              30 min    vendor
//	chargebee-subscriptions                Chargebee-Idempotency-Key              30 min    vendor
//	chargebee-estimates                    none                                             vendor
//	stigg-rest                             Idempotency-Key                        24 h      vendor
//	doordash-drive                         JSON /external_delivery_id             not said  vendor
//	uber-direct                            JSON /idempotency_key                  1 h       secondary
//	shippo-automations                     Idempotency-Key                        not said  vendor
//	shippo-rest                            none                                             unsure
//	shippo-transactions                    none                                             unsure
//	easypost-v2                            none                                             unsure
//	easypost-shipments                     none                                             unsure
//	easypost-buy                           none                                             unsure
//	easyship                               Idempotency-Key                        24 h      vendor
//	lob-mail                               Idempotency-Key                        24 h      vendor
//	docusign-envelopes                     none                                             vendor
//	workos-audit-logs                      Idempotency-Key                        24 h      vendor
//	inngest-event                          JSON /id                               24 h      vendor, no host
//	inngest-events                         JSON /*/id                             24 h      vendor, no host
//	check-payroll                          X-Idempotency-Key                      24 h      vendor
//	fullstory-v2                           Idempotency-Key                        24 h      vendor
//	deel-v2                                Idempotency-Key                        24 h      vendor
//	merge-unified                          Idempotency-Key                        24 h      vendor, no host
//	dropbox-sign-v3                        Idempotency-Key                        24 h      vendor
//	dropbox-sign-send                      Idempotency-Key                        24 h      vendor
//	aliyun-rpa-create-task                 X-Idempotent-Request-ID                3 min     vendor
//	ietf-idempotency-key                   Idempotency-Key, quoted                not said  vendor, no host
//	oasis-repeatable-requests              Repeatability-Request-ID               5 min     vendor, no host
package contracts
