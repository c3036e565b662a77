package contracts

import (
	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// disguises are the words of every API whose contract has a rule for a success, a
// running attempt or an error that does not look like one, and, beside each, the
// words that must not be taken for it.
func disguises() []disguise {
	of := func(c ...oncehttp.Contract) []oncehttp.Contract { return c }
	plain := says(422, `{"code":"card_declined"}`)
	return []disguise{
		{of(stripe()...), []worded{
			{"in use", says(409, `{"error":{"type":"invalid_request_error","code":"idempotency_key_in_use"}}`, "Request-Id", "req_1"), running, running, ""},
			{"in use, says a proxy", says(409, `{"error":{"code":"idempotency_key_in_use"}}`), unknown, unknown, ""},
			{"another 409", says(409, `{"error":{"type":"invalid_request_error","code":"resource_already_exists"}}`, "Request-Id", "req_1"), refused, unknown, ""},
			{"mismatch", says(400, `{"error":{"type":"idempotency_error"}}`, "Request-Id", "req_1"), refused, unknown, ""},
		}},
		{of(PayPalOrdersV2, PayPalOrdersV1, PayPalPaymentsV2, PayPalPaymentsV1, PayPalPayoutsV1, PayPalSubscriptionsV1, PayPalVaultV3, PayPalWebProfilesV1), []worded{
			{"in progress", says(409, `{"name":"RESOURCE_CONFLICT","details":[{"issue":"PREVIOUS_REQUEST_IN_PROGRESS"}]}`, "PayPal-Debug-Id", "d1"), running, running, ""},
			{"in progress, says a proxy", says(409, `{"details":[{"issue":"PREVIOUS_REQUEST_IN_PROGRESS"}]}`), unknown, unknown, ""},
			{"another issue", says(422, `{"name":"UNPROCESSABLE_ENTITY","details":[{"issue":"ORDER_ALREADY_CAPTURED"}]}`, "PayPal-Debug-Id", "d1"), refused, unknown, ""},
			{"mismatch", says(409, `{"name":"DUPLICATE_REQUEST_ID"}`, "PayPal-Debug-Id", "d1"), refused, unknown, ""},
		}},
		{of(Braintree), []worded{
			{"validation", says(200, `{"errors":[{"message":"no","extensions":{"errorClass":"VALIDATION"}}],"data":null,"extensions":{"requestId":"r1"}}`), refused, "", ""},
			{"a key at work", says(200, `{"errors":[{"message":"A previous request with this ApiRequestKey is still in-flight.","extensions":{"errorClass":"VALIDATION","legacyCode":"915233"}}],"data":null,"extensions":{"requestId":"r1"}}`), unknown, "", ""},
			{"another legacy code", says(200, `{"errors":[{"message":"no","extensions":{"errorClass":"VALIDATION","legacyCode":"91565"}}],"data":null,"extensions":{"requestId":"r1"}}`), refused, "", ""},
			{"limit", says(200, `{"errors":[{"message":"slow","extensions":{"errorClass":"RESOURCE_LIMIT"}}],"data":null,"extensions":{"requestId":"r1"}}`), throttled, "", ""},
			{"internal", says(200, `{"errors":[{"message":"oops","extensions":{"errorClass":"INTERNAL"}}],"data":null,"extensions":{"requestId":"r1"}}`), unknown, "", ""},
			{"an error without a class", says(200, `{"errors":[{"message":"oops"}],"extensions":{"requestId":"r1"}}`), unknown, "", ""},
			{"no error", says(200, `{"data":{"act":{"id":"t1"}},"extensions":{"requestId":"r1"}}`), done, "", ""},
			{"no error, says a proxy", says(200, `{"data":{"act":{"id":"t1"}}}`), unknown, "", ""},
		}},
		{of(SquarePayments, SquareRefunds, SquareTerminal, SquareOrders, SquareCommerce, SquareBookings, SquareCustomers, SquareCards, SquarePeople), []worded{
			{"try the key again", says(500, `{"errors":[{"category":"API_ERROR","code":"TEMPORARY_ERROR"}]}`), running, running, ""},
			{"another 500", says(500, `{"errors":[{"category":"API_ERROR","code":"INTERNAL_SERVER_ERROR"}]}`), failing, failing, ""},
			{"mismatch", says(400, `{"errors":[{"category":"INVALID_REQUEST_ERROR","code":"IDEMPOTENCY_KEY_REUSED"}]}`, "Square-Version", "2026-10-15"), refused, unknown, ""},
			{"mismatch, by its category alone", says(400, `{"errors":[{"category":"INVALID_REQUEST_ERROR","code":"IDEMPOTENCY_KEY_REUSED"}]}`), refused, "", ""},
		}},
		{of(AdyenCheckout, AdyenTransfers), []worded{
			{"704 in a 422", says(422, `{"status":422,"errorCode":"704"}`, "Transient-Error", "true"), running, running, ""},
			{"704 in a 409", says(409, `{"status":409,"errorCode":"704"}`, "Transient-Error", "true"), running, running, ""},
			{"another 422", says(422, `{"status":422,"errorCode":"14_030"}`), refused, unknown, ""},
			{"keys are down", says(503, `{"status":503,"errorCode":"703"}`, "Transient-Error", "true"), throttled, throttled, ""},
		}},
		{of(CheckoutPayments, CheckoutPaymentActions, CheckoutActions), []worded{
			{"conflict", says(409, ``, "Cko-Request-Id", "r1"), running, running, ""},
			{"a conflict without its mark", says(409, ``), unknown, unknown, ""},
			{"refusal", says(422, `{"error_codes":["amount_invalid"]}`, "Cko-Request-Id", "r1"), refused, unknown, ""},
		}},
		{of(WorldpayWPG), []worded{
			{"9 in a 200", says(200, `<paymentService><reply><orderStatus><error code="9">Request in progress</error></orderStatus></reply></paymentService>`), running, running, ""},
			{"9 with another text", says(200, `<paymentService><reply><error code="9">Service not enabled</error></reply></paymentService>`), refused, unknown, ""},
			{"another error", says(200, `<paymentService><reply><error code="1">Internal error</error></reply></paymentService>`), unknown, unknown, ""},
			{"no error", says(200, `<paymentService><reply><orderStatus orderCode="o1"/></reply></paymentService>`), done, done, ""},
		}},
		{of(WorldlineConnect, WorldlineDirect), []worded{
			{"1409", says(409, `{"errors":[{"errorCode":"1409"}]}`), running, running, ""},
			{"another 409", says(409, `{"errors":[{"errorCode":"300"}]}`), refused, unknown, ""},
			{"a 409 without a code", says(409, `{}`), running, running, ""},
		}},
		{of(Yuno), []worded{
			{"conflict", says(409, `{}`), running, running, ""},
			{"duplicated", says(400, `{"code":"IDEMPOTENCY_DUPLICATED"}`), unknown, unknown, ""},
			{"another code", says(400, `{"code":"INVALID_REQUEST"}`), refused, unknown, ""},
		}},
		{of(Whop), []worded{
			{"in progress", says(409, `{"error":{"code":"idempotency_request_in_progress"}}`), running, running, ""},
			{"another 409", says(409, `{"error":{"code":"resource_conflict"}}`), refused, unknown, ""},
			{"mismatch", says(400, `{"error":{"code":"idempotency_key_mismatch"}}`), refused, unknown, ""},
		}},
		{of(PPRO, RazorpayTransfers, DwollaV2), []worded{
			{"conflict", says(409, `{}`), running, running, ""},
			{"refusal", plain, refused, unknown, ""},
		}},
		{of(RazorpayRefunds), []worded{
			{"conflict", says(409, `{}`), running, running, ""},
			{"mismatch", says(400, `{"error":{"code":"BAD_REQUEST_ERROR","description":"Different request with the same idempotency key has already been processed."}}`), refused, unknown, ""},
			{"refusal", plain, refused, unknown, ""},
		}},
		{of(RazorpayPayouts), []worded{
			{"conflict", says(409, `{}`), running, running, ""},
			{"failed, in a 200", says(200, `{"id":"pout_1","status":"failed"}`), "Rejected StoredFailure", spent, ""},
			{"processing, in a 200", says(200, `{"id":"pout_1","status":"processing"}`), done, done, ""},
		}},
		{of(AliyunRPA), []worded{
			{"a call that failed, in a 200", says(200, `{"success":false,"code":10}`), unknown, unknown, ""},
			{"no error", says(200, `{"success":true,"code":0,"data":{}}`), done, done, ""},
		}},
		{of(ZuoraREST, ZuoraOrders), []worded{
			{"failure, in a 200", says(200, `{"success":false,"reasons":[{"code":53100060},{"code":53100020}]}`, "Zuora-Request-Id", "z1"), unknown, unknown, ""},
			{"another kind, in a 200", says(200, `{"success":false,"reasons":[{"code":90000001}]}`, "Zuora-Request-Id", "z1"), unknown, unknown, ""},
			{"an object that was not made", says(200, `{"Success":false,"Errors":[{"Code":"INVALID_VALUE"}]}`, "Zuora-Request-Id", "z1"), unknown, unknown, ""},
			{"no error", says(200, `{"success":true,"orderNumber":"O-1"}`, "Zuora-Request-Id", "z1"), done, done, ""},
			{"conflict", says(409, `{}`, "Zuora-Request-Id", "z1"), running, running, ""},
			{"mismatch", says(422, `{}`, "Zuora-Request-Id", "z1"), refused, unknown, ""},
			{"refusal, in a 200", says(200, `{"success":false,"reasons":[{"code":53100320,"message":"no"}]}`, "Zuora-Request-Id", "z1"), refused, unknown, ""},
			{"locked, in a 200", says(200, `{"success":false,"reasons":[{"code":58730050,"message":"later"}]}`, "Zuora-Request-Id", "z1"), unknown, unknown, ""},
			{"internal, in a 200", says(200, `{"success":false,"reasons":[{"code":50000060,"message":"oops"}]}`, "Zuora-Request-Id", "z1"), unknown, unknown, ""},
			{"no reason, in a 200", says(200, `{"success":false}`, "Zuora-Request-Id", "z1"), unknown, unknown, ""},
			{"one of two, in a 200", says(200, `[{"Success":true,"Id":"a1"},{"Success":false,"Errors":[]}]`, "Zuora-Request-Id", "z1"), unknown, unknown, ""},
			{"success, says a proxy", says(200, `{"success":true}`), unknown, unknown, ""},
		}},
		{of(BlueSnap), []worded{
			{"60102", says(409, `{"message":[{"errorName":"IDEMPOTENCY","code":"60102"}]}`), running, running, ""},
			{"60101", says(422, `{"message":[{"code":"60101"}]}`), refused, unknown, ""},
			{"60106", says(503, `{"message":[{"code":"60106"}]}`), throttled, throttled, ""},
			{"another code", says(400, `{"message":[{"code":"10001"}]}`), refused, unknown, ""},
		}},
		{of(TossPayments, TossPaymentsConfirm), []worded{
			{"processing", says(409, `{"code":"IDEMPOTENT_REQUEST_PROCESSING"}`), running, running, ""},
			{"another code", says(409, `{"code":"ALREADY_CANCELED_PAYMENT"}`), refused, unknown, ""},
		}},
		{of(DOKU), []worded{
			{"the first answer in a 409", says(409, `{"message":["SUCCESS"],"response":{"order":{"invoice_number":"INV-1"}}}`), done, done, "INV-1"},
			{"an account in a 409", says(409, `{"virtual_account_info":{"virtual_account_number":"88890001"}}`), done, done, "88890001"},
			{"a failure in a 409", says(409, `{"message":["FAILED"]}`), unknown, unknown, ""},
		}},
		{of(PaystackTransactions), []worded{
			{"duplicate", says(400, `{"status":false,"code":"duplicate_reference"}`), done, done, ""},
			{"another code", says(400, `{"status":false,"code":"invalid_params"}`), refused, unknown, ""},
		}},
		{of(PaystackTransfers), []worded{
			{"duplicate", says(400, `{"status":false,"code":"duplicate_reference"}`), unknown, unknown, ""},
		}},
		{of(PaystackCharges), []worded{
			{"duplicate", says(400, `{"status":false,"code":"duplicate_reference"}`), unknown, unknown, ""},
			{"another code", says(400, `{"status":false,"code":"invalid_params"}`), refused, unknown, ""},
		}},
		{of(MercuryTransactions), []worded{
			{"the transaction in a 409", says(409, `{"id":"tx-1","status":"pending"}`), done, done, "tx-1"},
			{"another 409", says(409, `{"errors":{"message":"conflict"}}`), running, running, ""},
			{"refusal", plain, refused, unknown, ""},
		}},
		{of(RevolutPay), []worded{
			{"duplicate", says(400, `{"code":3020,"message":"Duplicate request"}`), unknown, unknown, ""},
			{"another code", says(400, `{"code":3000}`), refused, unknown, ""},
		}},
		{of(RevolutCards), []worded{
			{"3162 in a 429", says(429, `{"code":3162}`), running, running, ""},
			{"a 429 that is one", says(429, `{"code":9000}`), throttled, throttled, ""},
			{"spent", says(422, `{"code":33009}`), "Rejected StoredFailure", spent, ""},
		}},
		{of(goCardless()...), []worded{
			{"conflict that names it", says(409, `{"error":{"type":"invalid_state","request_id":"r1","errors":[{"reason":"idempotent_creation_conflict","links":{"conflicting_resource_id":"PM123"}}]}}`), done, done, "PM123"},
			{"the same without its marks", says(409, `{"error":{"errors":[{"reason":"idempotent_creation_conflict","links":{"conflicting_resource_id":"PM123"}}]}}`), unknown, unknown, ""},
			{"another reason", says(409, `{"error":{"type":"invalid_state","errors":[{"reason":"bank_account_disabled","links":{"conflicting_resource_id":"BA1"}}]}}`, "RateLimit-Limit", "1000"), refused, unknown, ""},
		}},
		{of(TrueLayerV3), []worded{
			{"concurrent", says(409, `{"type":"https://docs.truelayer.com/docs/error-types#idempotency-key-concurrency-conflict"}`, "Tl-Trace-Id", "t1"), running, running, ""},
			{"concurrent, says a proxy", says(409, `{"type":"https://docs.truelayer.com/docs/error-types#idempotency-key-concurrency-conflict"}`), unknown, unknown, ""},
			{"another conflict", says(409, `{"type":"https://docs.truelayer.com/docs/error-types#conflict"}`, "Tl-Trace-Id", "t1"), throttled, throttled, ""},
			{"reuse", says(422, `{"type":"https://docs.truelayer.com/docs/error-types#idempotency-key-reuse"}`, "Tl-Trace-Id", "t1"), refused, unknown, ""},
		}},
		{of(MoovTransfers), []worded{
			{"the transfer in a 409", says(409, `{"transferID":"tr-1"}`, "X-Request-Id", "m1"), done, done, "tr-1"},
			{"the same without its mark", says(409, `{"transferID":"tr-1"}`), unknown, unknown, ""},
			{"a 409 without one", says(409, `{"error":"conflict"}`, "X-Request-Id", "m1"), unknown, unknown, ""},
		}},
		{of(MoovRefunds), []worded{{"conflict", says(409, `{"refundID":"re-1"}`, "X-Request-Id", "m1"), unknown, unknown, ""}}},
		{of(MangopayV2), []worded{
			{"known key", says(409, `{"Type":"idempotent_creation_conflict"}`, "X-RateLimit", "1,1,1,1"), unknown, unknown, ""},
			{"another 409", says(409, `{"Type":"other_conflict","Id":"e1"}`), running, running, ""},
			{"another 409 without its marks", says(409, `{"Type":"other_conflict"}`), unknown, unknown, ""},
		}},
		{of(MangopayTransfers), []worded{
			{"known key", says(409, `{"Type":"idempotent_creation_conflict"}`, "X-RateLimit", "1,1,1,1"), unknown, unknown, ""},
			{"failed, in a 200", says(200, `{"Id":"wt_1","Status":"FAILED","ResultCode":"001001"}`, "X-RateLimit", "1,1,1,1"), "Rejected StoredFailure", spent, ""},
			{"failed, says a proxy", says(200, `{"Status":"FAILED"}`), unknown, unknown, ""},
			{"succeeded", says(200, `{"Id":"wt_1","Status":"SUCCEEDED"}`), done, done, ""},
		}},
		{of(MarqetaGPAOrders, MarqetaPeerTransfers), []worded{
			{"mismatch", says(409, `{"error_code":"409001"}`), refused, unknown, ""},
			{"declined by the source of funds", says(422, `{"error_code":"422001"}`), refused, unknown, ""},
		}},
		{of(LithicBookTransfers), []worded{
			{"declined, in a 200", says(200, `{"token":"t1","status":"DECLINED"}`), "Rejected StoredFailure", spent, ""},
			{"settled", says(200, `{"token":"t1","status":"SETTLED"}`), done, done, ""},
		}},
		{of(Interchecks), []worded{
			{"102, and nothing more", mockserver.Fault{Informational: []int{102}, See: mockserver.SeeClose}, running, running, ""},
			{"103, and nothing more", mockserver.Fault{Informational: []int{103}, See: mockserver.SeeClose}, unknown, unknown, ""},
			{"the first answer in a 409", says(409, `{"id":"p-1"}`), unknown, unknown, ""},
		}},
		{of(NiumTravel), []worded{
			{"no use", says(500, `{"retryable":false}`), unknown, "", ""},
			{"another 500", says(500, `{"retryable":true}`), failing, "", ""},
		}},
		{of(AWSDynamoDBTransactWriteItems, AWSDynamoDBExecuteTransaction), []worded{
			{"in progress, in a 400", says(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionInProgressException"}`, "X-Amzn-Requestid", "a1"), running, running, ""},
			{"the same without its mark", says(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionInProgressException"}`), unknown, unknown, ""},
			{"canceled, in a 400", says(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException"}`, "X-Amzn-Requestid", "a1"), refused, unknown, ""},
			{"throttled, in a 400", says(400, `{"__type":"com.amazon.coral.availability#ThrottlingException"}`, "X-Amzn-Requestid", "a1"), throttled, throttled, ""},
		}},
		{of(AWSEFS), []worded{
			{"exists", says(409, `{"ErrorCode":"FileSystemAlreadyExists","FileSystemId":"fs-1"}`, "X-Amzn-Requestid", "a1"), done, done, "fs-1"},
			{"another 409", says(409, `{"ErrorCode":"FileSystemInUse","FileSystemId":"fs-1"}`, "X-Amzn-Requestid", "a1"), running, running, ""},
			{"limit", says(403, `{"ErrorCode":"FileSystemLimitExceeded"}`, "X-Amzn-Requestid", "a1"), "Rejected Unauthorized", "Pending Unauthorized", ""},
		}},
		{of(AWSRoute53), []worded{
			{"exists", says(409, `<ErrorResponse><Error><Code>HostedZoneAlreadyExists</Code></Error></ErrorResponse>`, "X-Amzn-Requestid", "a1"), done, done, ""},
			{"another code", says(400, `<ErrorResponse><Error><Code>ConflictingDomainExists</Code></Error></ErrorResponse>`, "X-Amzn-Requestid", "a1"), refused, unknown, ""},
			{"another 409", says(409, `<ErrorResponse><Error><Code>PriorRequestNotComplete</Code></Error></ErrorResponse>`, "X-Amzn-Requestid", "a1"), running, running, ""},
			{"exists, with its id in the body", says(409, `<ErrorResponse><Error><Code>HostedZoneAlreadyExists</Code></Error><RequestId>a1</RequestId></ErrorResponse>`), done, done, ""},
			{"exists, says a proxy", says(409, `<ErrorResponse><Error><Code>HostedZoneAlreadyExists</Code></Error></ErrorResponse>`), unknown, unknown, ""},
		}},
		{of(AzureEmail), []worded{
			{"conflict", says(409, `{"error":{"code":"Conflict"}}`), running, running, ""},
			{"rejected", says(400, `{}`, "Repeatability-Result", "rejected"), refused, unknown, ""},
		}},
		{of(ResendEmails), []worded{
			{"concurrent", says(409, `{"name":"concurrent_idempotent_requests"}`), running, running, ""},
			{"mismatch", says(409, `{"name":"invalid_idempotent_request"}`), refused, unknown, ""},
		}},
		{of(SlackPostMessage), []worded{
			{"an error in a 200", says(200, `{"ok":false,"error":"channel_not_found"}`), refused, "", ""},
			{"a failure in a 200", says(200, `{"ok":false,"error":"internal_error"}`), unknown, "", ""},
			{"a limit in a 200", says(200, `{"ok":false,"error":"ratelimited"}`), throttled, "", ""},
			{"a 200 that is one", says(200, `{"ok":true,"ts":"1.2"}`), done, "", ""},
		}},
		{of(ShippoTransactions), []worded{
			{"not bought, in a 201", says(201, `{"object_id":"t1","status":"ERROR","messages":[{"text":"no answer from the carrier"}]}`), unknown, "", ""},
			{"bought", says(201, `{"object_id":"t1","status":"SUCCESS"}`), done, "", ""},
			{"taken on", says(201, `{"object_id":"t1","status":"QUEUED"}`), done, "", ""},
		}},
		{of(ShopifyGraphQL), []worded{
			{"concurrent, in a 200", says(200, `{"data":{"refundCreate":{"userErrors":[{"code":"IDEMPOTENCY_CONCURRENT_REQUEST","message":"wait"}]}}}`, "X-Request-Id", "s1"), running, running, ""},
			{"spent, in a 200", says(200, `{"data":{"refundCreate":{"userErrors":[{"code":"IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED","message":"no"}]}}}`, "X-Request-Id", "s1"), "Rejected StoredFailure", spent, ""},
			{"refusal, in a 200", says(200, `{"data":{"refundCreate":{"userErrors":[{"message":"too much"}]}}}`, "X-Request-Id", "s1"), refused, unknown, ""},
			{"throttled, in a 200", says(200, `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}]}`, "X-Request-Id", "s1"), throttled, throttled, ""},
			{"another error, in a 200", says(200, `{"errors":[{"message":"Internal error"}]}`, "X-Request-Id", "s1"), unknown, unknown, ""},
			{"no error", says(200, `{"data":{"refundCreate":{"refund":{"id":"r1"},"userErrors":[]}}}`, "X-Request-Id", "s1"), done, done, ""},
		}},
	}
}
