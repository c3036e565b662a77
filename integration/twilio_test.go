package integration

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	twilioclient "github.com/twilio/twilio-go/client"
	twilioapi "github.com/twilio/twilio-go/rest/api/v2010"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// newTwilio is the recipe. The library's calls take no context, so the name of
// the action comes in below it, and each action has a client of the library's:
// it is a few words of memory. No contract: messages and calls take no key. The
// header I-Twilio-Idempotency-Token is for Twilio's requests to you.
//
// What it returns is the Api of twilio.NewRestClientWithParams with
// ClientParams{Client: base}, without the sixty other services to compile.
func newTwilio(client *oncehttp.Client, action string) *twilioapi.ApiService {
	return twilioapi.NewApiServiceWithClient(newTwilioBase(client, action))
}

func newTwilioBase(client *oncehttp.Client, action string) *twilioclient.Client {
	base := &twilioclient.Client{
		Credentials: twilioclient.NewCredentials("AC00000000000000000000000000000000", "secret"),
		HTTPClient:  &http.Client{Transport: namedTransport{action, client}},
	}
	base.SetAccountSid("AC00000000000000000000000000000000")
	return base
}

// namedTransport names the action of all requests that go through it.
type namedTransport struct {
	action string
	http.RoundTripper
}

func (t namedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.RoundTripper.RoundTrip(req.WithContext(oncehttp.WithAction(req.Context(), t.action)))
}

func textMessage() *twilioapi.CreateMessageParams {
	params := &twilioapi.CreateMessageParams{}
	params.SetTo("+15005550006").SetFrom("+15005550001").SetBody("Your parcel is here.")
	return params
}

func startTwilio(t *testing.T) *mockserver.Server {
	t.Helper()
	return startAPI(t, mockserver.Config{
		Unkeyed: func(*http.Request) bool { return true },
		Execute: answers(201, `{"sid":"SM1","status":"queued"}`),
	})
}

func TestALostAnswerOfTwilioIsPendingAndSentOnce(t *testing.T) {
	t.Parallel()
	api := startTwilio(t)
	client := open(t, api, oncehttp.Config{})
	api.Script(mockserver.Lost())
	for range 2 {
		_, err := newTwilio(client, "parcel-9/text").CreateMessage(textMessage())
		outcome := pendingOf(t, err)
		require.True(t, outcome.MayHaveExecuted)
		require.True(t, outcome.RetryAt.IsZero(), "it is not sent again by itself")
	}
	require.Equal(t, 1, api.EffectsTotal())
	require.Len(t, api.Requests(), 1)

	for range 2 { // what has an answer has it again
		sent, err := newTwilio(client, "parcel-10/text").CreateMessage(textMessage())
		require.NoError(t, err)
		require.Equal(t, "SM1", *sent.Sid)
	}
	require.Equal(t, 2, api.EffectsTotal())
}

func TestTwilioSendsWhatWasNeverSentAgain(t *testing.T) {
	t.Parallel()
	api := startTwilio(t)
	client := open(t, api, oncehttp.Config{})
	api.RefuseDials(3)
	sent, err := newTwilio(client, "parcel-9/text").CreateMessage(textMessage())
	require.NoError(t, err)
	require.Equal(t, "SM1", *sent.Sid)
	require.Equal(t, 1, api.EffectsTotal())
}

func TestTwilioRefusalsKeepTheirType(t *testing.T) {
	t.Parallel()
	api := startTwilio(t)
	client := open(t, api, oncehttp.Config{})
	api.Script(refusal(400, `{"code":21211,"message":"Invalid 'To' Phone Number","more_info":"https://www.twilio.com/docs/errors/21211","status":400}`))
	_, err := newTwilio(client, "parcel-9/text").CreateMessage(textMessage())
	var refused *twilioclient.TwilioRestError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 21211, refused.Code)
	outcome, err := client.Outcome(t.Context(), "parcel-9/text") // the error has no answer to ask
	require.NoError(t, err)
	require.Equal(t, oncehttp.Rejected, outcome.State)
}

// A Pending outlives http.Client.Timeout, which is what the library's SetTimeout
// sets. On a machine that is overloaded http.Client may be quicker, and keeps our
// text only: then ask for the outcome.
func TestATimeOutAboveTwilioIsAPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := startTwilio(t)
		client := open(t, api, oncehttp.Config{})
		api.Script(mockserver.Fault{Commit: true, See: mockserver.SeeNothing})
		base := newTwilioBase(client, "parcel-9/text")
		base.SetTimeout(10 * time.Second)
		_, err := twilioapi.NewApiServiceWithClient(base).CreateMessage(textMessage())
		require.True(t, pendingOf(t, err).MayHaveExecuted)
	})
}
