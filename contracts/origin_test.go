package contracts

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(req *http.Request) (*http.Response, error) { return a(req), nil }

// TestAnAnswerIsTheAPIsOwnByAnyOfItsMarks: a mark that a genuine answer may lack
// would leave every action open.
func TestAnAnswerIsTheAPIsOwnByAnyOfItsMarks(t *testing.T) {
	t.Parallel()
	const ec2Error = `<?xml version="1.0"?><Response><Errors><Error><Code>InvalidAMIID.NotFound</Code></Error></Errors><RequestID>9d17</RequestID></Response>`
	const snsError = `<ErrorResponse><Error><Code>NotFound</Code></Error><RequestId>9d17</RequestId></ErrorResponse>`
	for _, c := range []struct {
		name           string
		contract       oncehttp.Contract
		url, kind, req string
		status         int
		header         string
		body           string
		want           oncehttp.State
	}{
		{"EC2 by the body of an error", AWSEC2, "https://ec2.eu-west-1.amazonaws.com/", "application/x-www-form-urlencoded", "Action=RunInstances", 400, "", ec2Error, oncehttp.Rejected},
		{"EC2 by the header", AWSEC2, "https://ec2.eu-west-1.amazonaws.com/", "application/x-www-form-urlencoded", "Action=RunInstances", 200, "X-Amz-Request-Id", "<RunInstancesResponse/>", oncehttp.Confirmed},
		{"EC2 by nothing", AWSEC2, "https://ec2.eu-west-1.amazonaws.com/", "application/x-www-form-urlencoded", "Action=RunInstances", 400, "", "<html/>", oncehttp.Pending},
		{"CloudFormation by the body of an error", AWSCloudFormation, "https://cloudformation.eu-west-1.amazonaws.com/", "application/x-www-form-urlencoded", "Action=CreateStack", 400, "", snsError, oncehttp.Rejected},
		{"Checkout.com by the links", CheckoutPayments, "https://api.checkout.com/payments", "application/json", `{"amount":1}`, 201, "", `{"id":"pay_1","_links":{}}`, oncehttp.Confirmed},
		{"Checkout.com by the header", CheckoutPayments, "https://api.checkout.com/payments", "application/json", `{"amount":1}`, 422, "Cko-Request-Id", `{"error_type":"request_invalid"}`, oncehttp.Rejected},
		{"Anthropic by the status that its front answers with", AnthropicV1, "https://api.anthropic.com/v1/messages", "application/json", `{"model":"m"}`, 413, "", "<html/>", oncehttp.Rejected},
		{"Anthropic by nothing", AnthropicV1, "https://api.anthropic.com/v1/messages", "application/json", `{"model":"m"}`, 403, "", "<html/>", oncehttp.Pending},
		{"Twilio by the status of a message", TwilioMessages, "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json", "application/x-www-form-urlencoded", "To=1", 201, "", `{"sid":"SM1","status":"queued"}`, oncehttp.Confirmed},
		{"Twilio by the header alone, in XML", TwilioMessages, "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages", "application/x-www-form-urlencoded", "To=1", 400, "Twilio-Request-Id", "<TwilioResponse/>", oncehttp.Rejected},
		{"Slack by nothing", SlackPostMessage, "https://slack.com/api/chat.postMessage", "application/json", `{"text":"x"}`, 200, "", "<html/>", oncehttp.Pending},
		{"Square by the version of a success", SquareRefunds, "https://connect.squareup.com/v2/refunds", "application/json", `{"idempotency_key":"k1"}`, 200, "Square-Version", `{"refund":{"id":"r1"}}`, oncehttp.Confirmed},
		{"Square by the category of an error", SquareRefunds, "https://connect.squareup.com/v2/refunds", "application/json", `{"idempotency_key":"k1"}`, 400, "", `{"errors":[{"category":"INVALID_REQUEST_ERROR","code":"BAD_REQUEST"}]}`, oncehttp.Rejected},
		{"Square by nothing", SquareRefunds, "https://connect.squareup.com/v2/refunds", "application/json", `{"idempotency_key":"k1"}`, 200, "", `{"refund":{"id":"r1"}}`, oncehttp.Pending},
		{"Mollie by the links of an error", MolliePayments, "https://api.mollie.com/v2/payments", "application/json", `{"amount":1}`, 422, "", `{"status":422,"_links":{"documentation":{}}}`, oncehttp.Rejected},
		{"Checkout.com by nothing", CheckoutPayments, "https://api.checkout.com/payments", "application/json", `{"amount":1}`, 200, "", "<html/>", oncehttp.Pending},
		{"GoCardless by the calls left", GoCardlessPayments, "https://api.gocardless.com/payments", "application/json", `{"payments":{}}`, 201, "RateLimit-Limit", `{"payments":{"id":"PM1"}}`, oncehttp.Confirmed},
		{"GoCardless by the request that an error names", GoCardlessPro, "https://api.gocardless.com/customers", "application/json", `{"customers":{}}`, 422, "", `{"error":{"request_id":"r1","type":"validation_failed"}}`, oncehttp.Rejected},
		{"GoCardless by nothing", GoCardlessPro, "https://api.gocardless.com/customers", "application/json", `{"customers":{}}`, 201, "", `{"customers":{"id":"CU1"}}`, oncehttp.Pending},
		{"Mangopay by the id of an object", MangopayV2, "https://api.mangopay.com/v2.01/c/transfers", "application/json", `{"Tag":"x"}`, 200, "", `{"Id":"wt_1"}`, oncehttp.Confirmed},
		{"Mangopay by nothing", MangopayV2, "https://api.mangopay.com/v2.01/c/transfers", "application/json", `{"Tag":"x"}`, 400, "", `{"Message":"no"}`, oncehttp.Pending},
		{"Akahu by the word in a success", AkahuPayments, "https://api.akahu.io/v1/payments", "application/json", `{"amount":1}`, 200, "", `{"success":true,"item_id":"payment_1"}`, oncehttp.Confirmed},
		{"Akahu by the word in an error", AkahuPayments, "https://api.akahu.io/v1/payments", "application/json", `{"amount":1}`, 400, "", `{"success":false,"message":"no"}`, oncehttp.Rejected},
		{"Circle by the header", CircleMint, "https://api.circle.com/v1/payouts", "application/json", `{"amount":1}`, 201, "X-Request-Id", `{"data":{"id":"1"}}`, oncehttp.Confirmed},
		{"Circle by the code of an error", CircleMint, "https://api.circle.com/v1/payouts", "application/json", `{"amount":1}`, 400, "", `{"code":2,"message":"API parameter invalid"}`, oncehttp.Rejected},
		{"Circle by nothing", CircleMint, "https://api.circle.com/v1/payouts", "application/json", `{"amount":1}`, 201, "", `{"data":{"id":"1"}}`, oncehttp.Pending},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, err := oncehttp.Open(filepath.Join(t.TempDir(), "intents.db"), oncehttp.Config{
				Contracts: []oncehttp.Contract{c.contract},
				Retry:     oncehttp.Retry{MaxAttempts: 1},
				Transport: answers(func(req *http.Request) *http.Response {
					h := http.Header{"Content-Type": {"text/xml"}}
					if strings.HasPrefix(c.body, "{") {
						h.Set("Content-Type", "application/json")
					}
					if c.header != "" {
						h.Set(c.header, "9d17")
					}
					io.Copy(io.Discard, req.Body)
					req.Body.Close()
					return &http.Response{StatusCode: c.status, Header: h, Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: int64(len(c.body)), Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
				}),
			})
			require.NoError(t, err)
			defer client.Close()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(c.req))
			require.NoError(t, err)
			req.Header.Set("Content-Type", c.kind)
			o, _ := client.Do(action, req)
			require.NotNil(t, o)
			assert.Equal(t, c.want, o.State, "%s", o.Reason)
		})
	}
}
