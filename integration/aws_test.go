package integration

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// dynamoTransactions is what DynamoDB promises for TransactWriteItems: with a
// ClientRequestToken, twice is as good as once, for ten minutes after the first
// has ended. The token is in the body, where the library puts one of its own.
func dynamoTransactions() oncehttp.Contract {
	return oncehttp.Contract{
		Name: "dynamodb-transactions",
		Match: oncehttp.Match{
			Hosts:  []string{"dynamodb.eu-central-1.amazonaws.com"},
			Header: "X-Amz-Target", HeaderValue: "DynamoDB_20120810.TransactWriteItems",
		},
		Carrier: oncehttp.Carrier{Kind: oncehttp.CarrierJSON, Name: "/ClientRequestToken"},
		Key:     oncehttp.KeyRule{Max: 36},
		Window:  oncehttp.Window{Length: 10 * time.Minute, Anchor: oncehttp.AnchorDone},
		// Of DynamoDB's 400s these are no refusals of the request: later, or signed
		// anew, it may pass.
		Answers: []oncehttp.Answer{
			dynamoCode(oncehttp.VerdictInProgress, "*TransactionInProgressException"),
			dynamoCode(oncehttp.VerdictMismatch, "*IdempotentParameterMismatchException"),
			dynamoCode(oncehttp.VerdictThrottled, "*ThrottlingException", "*ProvisionedThroughputExceededException", "*RequestLimitExceeded"),
			dynamoCode(oncehttp.VerdictThrottled, "*InvalidSignatureException", "*ExpiredTokenException", "*UnrecognizedClientException"),
		},
		Proof: oncehttp.ProofVendor,
		AsOf:  "2026-11-29",
		Sources: []string{
			"aws-sdk-go-v2/service/dynamodb v1.74.0: TransactWriteItemsInput.ClientRequestToken",
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html",
		},
	}
}

func dynamoCode(verdict oncehttp.Verdict, codes ...string) oncehttp.Answer {
	return oncehttp.Answer{Status: []int{http.StatusBadRequest}, At: []string{"/__type"}, Codes: codes, Verdict: verdict}
}

// newDynamo is the recipe, with signDynamo below it: the client of oncehttp, the
// library's own retries off, and no signature yet. What is signed here cannot be
// sent a second time later: the headers are frozen, the date among them.
func newDynamo(client *oncehttp.Client) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "eu-central-1",
		Credentials:  awsCredentials,
		HTTPClient:   client.HTTPClient(),
		Retryer:      aws.NopRetryer{},
		HTTPSignerV4: unsigned{},
	})
}

// unsigned leaves the signing to Config.Authorize.
type unsigned struct{}

func (unsigned) SignHTTP(context.Context, aws.Credentials, *http.Request, string, string, string, time.Time, ...func(*v4.SignerOptions)) error {
	return nil
}

// signDynamo is the Config.Authorize that goes with it: each attempt is signed
// when it is sent, after any wait and any restart. Its date and its signature are
// not in the journal.
func signDynamo(req *http.Request, _ bool) error { return signAt(req, time.Now()) }

func signAt(req *http.Request, at time.Time) error {
	body, err := req.GetBody()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	credentials, err := awsCredentials.Retrieve(req.Context())
	if err != nil {
		return err
	}
	return v4.NewSigner().SignHTTP(req.Context(), credentials, req, hex.EncodeToString(sum[:]), "dynamodb", "eu-central-1", at)
}

var awsCredentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "example", SessionToken: "session"}, nil
})

func transfer(token *string) *dynamodb.TransactWriteItemsInput {
	item := map[string]types.AttributeValue{}
	for _, name := range []string{"id", "from", "to", "amount", "currency"} {
		item[name] = &types.AttributeValueMemberS{Value: name}
	}
	return &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: token,
		TransactItems:      []types.TransactWriteItem{{Put: &types.Put{TableName: aws.String("transfers"), Item: item}}},
	}
}

// startDynamo checks signatures as DynamoDB does, and honours the token as its
// key: dynamoDoor carries it from the body to where the server looks for it.
func startDynamo(t *testing.T) (*mockserver.Server, http.RoundTripper) {
	t.Helper()
	api := startAPI(t, mockserver.Config{
		Profile: mockserver.Profile{NoMarker: true, TTL: 10 * time.Minute, Released: []string{"4xx", "5xx"}},
		Tenant:  func(*http.Request) string { return "account" }, // whatever the signature
		Execute: func(r *http.Request) mockserver.Answer {
			if !signedWell(r) {
				return answer(400, `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"The request signature we calculated does not match the signature you provided."}`)
			}
			return answer(200, `{}`)
		},
	})
	return api, dynamoDoor{api.Transport()}
}

type dynamoDoor struct{ http.RoundTripper }

func (d dynamoDoor) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return nil, err
	}
	var sent struct{ ClientRequestToken string }
	if err := json.Unmarshal(text, &sent); err != nil {
		return nil, err
	}
	clone := req.Clone(req.Context())
	clone.Body = io.NopCloser(bytes.NewReader(text))
	clone.Header.Set("Idempotency-Key", sent.ClientRequestToken)
	return d.RoundTripper.RoundTrip(clone)
}

// signedWell signs the request again, as of the date that it carries.
func signedWell(r *http.Request) bool {
	given := r.Header.Get("Authorization")
	_, rest, _ := strings.Cut(given, "SignedHeaders=")
	names, _, _ := strings.Cut(rest, ",")
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return false
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	again := &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: http.Header{}}
	for name := range strings.SplitSeq(names, ";") {
		switch name {
		case "host":
		case "content-length":
			again.ContentLength = int64(len(text))
		default:
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(text)
	credentials, _ := awsCredentials(r.Context())
	err = v4.NewSigner().SignHTTP(r.Context(), credentials, again, hex.EncodeToString(sum[:]), "dynamodb", "eu-central-1", at)
	return err == nil && again.Header.Get("Authorization") == given
}

func TestDynamoDBWritesOnceWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	api, door := startDynamo(t)
	client := open(t, api, oncehttp.Config{
		Transport: door, Authorize: signDynamo,
		Contracts: []oncehttp.Contract{dynamoTransactions()},
	})
	db := newDynamo(client)

	api.Script(mockserver.Lost())
	ctx := oncehttp.WithAction(t.Context(), "order-42/transfer")
	_, err := db.TransactWriteItems(ctx, transfer(nil))
	require.NoError(t, err)
	require.Equal(t, 1, api.EffectsTotal())
	require.Len(t, api.Requests(), 2)
	require.Len(t, keysSent(api), 1)

	// The library mints another token for each call, and the order of the item's
	// attributes changes: it is the same payload, under the first call's token.
	for range 10 {
		_, err = db.TransactWriteItems(ctx, transfer(nil))
		require.NoError(t, err)
	}
	require.Len(t, api.Requests(), 2)
}

func TestDynamoDBRefusalsKeepTheirType(t *testing.T) {
	t.Parallel()
	api, door := startDynamo(t)
	client := open(t, api, oncehttp.Config{Transport: door, Authorize: signDynamo, Contracts: []oncehttp.Contract{dynamoTransactions()}})
	api.Script(refusal(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled","CancellationReasons":[{"Code":"ConditionalCheckFailed"}]}`))

	_, err := newDynamo(client).TransactWriteItems(oncehttp.WithAction(t.Context(), "order-42/transfer"), transfer(nil))
	var refused *types.TransactionCanceledException
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "ConditionalCheckFailed", *refused.CancellationReasons[0].Code)
	outcome, err := client.Outcome(t.Context(), "order-42/transfer")
	require.NoError(t, err)
	require.Equal(t, oncehttp.Rejected, outcome.State)
}

func TestDynamoDBs400sThatAreNoRefusalAreSentAgain(t *testing.T) {
	t.Parallel()
	api, door := startDynamo(t)
	client := open(t, api, oncehttp.Config{Transport: door, Authorize: signDynamo, Contracts: []oncehttp.Contract{dynamoTransactions()}})
	api.Script(
		refusal(400, `{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"The security token included in the request is expired"}`),
		refusal(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionInProgressException","Message":"The transaction with the given request token is already in progress."}`),
	)
	_, err := newDynamo(client).TransactWriteItems(oncehttp.WithAction(t.Context(), "order-42/transfer"), transfer(nil))
	require.NoError(t, err)
	require.Equal(t, 1, api.EffectsTotal())
}

// Resume too repeats what may have taken effect, under the first call's token and
// within its ten minutes.
func TestDynamoDBsPendingIsRepeatedLater(t *testing.T) {
	t.Parallel()
	api, door := startDynamo(t)
	client := open(t, api, oncehttp.Config{Transport: door, Authorize: signDynamo, Contracts: []oncehttp.Contract{dynamoTransactions()}})
	api.Script(mockserver.Lost(), mockserver.Lost(), mockserver.Lost(), mockserver.Lost())
	ctx := oncehttp.WithAction(t.Context(), "order-42/transfer")
	_, err := newDynamo(client).TransactWriteItems(ctx, transfer(nil))
	outcome := pendingOf(t, err)
	require.True(t, outcome.MayHaveExecuted)
	require.Equal(t, 4, outcome.Attempts)

	told := resumed(t, client)
	require.Equal(t, oncehttp.Confirmed, told[0].State)
	require.Equal(t, []string{outcome.Key}, keysSent(api))
	require.Equal(t, 1, api.EffectsTotal())
}

func TestDynamoDBHidesAPendingBehindTheEndOfAContext(t *testing.T) {
	t.Parallel()
	api, ctx := startLeft(t)
	client := open(t, api, oncehttp.Config{Authorize: signDynamo, Contracts: []oncehttp.Contract{dynamoTransactions()}})
	_, err := newDynamo(client).TransactWriteItems(oncehttp.WithAction(ctx, "order-42/transfer"), transfer(nil))
	requireHidden(t, err, client, "order-42/transfer")
}

// Left on, the library's retries keep their token, and take up the action that is
// named: three calls of four attempts each, under one key.
func TestDynamoDBOwnRetriesJoinTheActionThatIsNamed(t *testing.T) {
	t.Parallel()
	api, door := startDynamo(t)
	client := open(t, api, oncehttp.Config{Transport: door, Authorize: signDynamo, Contracts: []oncehttp.Contract{dynamoTransactions()}})
	db := newDynamo(client)
	api.Script(mockserver.Lost().Always())
	_, err := db.TransactWriteItems(oncehttp.WithAction(t.Context(), "order-42/transfer"), transfer(nil), func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 3, time.Millisecond })
	})
	require.Equal(t, 12, pendingOf(t, err).Attempts)
	require.Equal(t, 1, api.EffectsTotal())
	require.Len(t, api.Requests(), 12)
	require.Len(t, keysSent(api), 1)
}

// Begun while nothing can be sent, and sent by the next start, whenever that is.
func TestResumeSignsADynamoDBCallAnew(t *testing.T) {
	t.Parallel()
	api, _ := startDynamo(t)
	cfg := oncehttp.Config{Authorize: signDynamo, Contracts: []oncehttp.Contract{dynamoTransactions()}}
	path := filepath.Join(t.TempDir(), "intents.db")
	before := openAt(t, path, api, cfg)
	api.RefuseDials(4)
	_, err := newDynamo(before).TransactWriteItems(oncehttp.WithAction(t.Context(), "order-42/transfer"), transfer(nil))
	require.Equal(t, oncehttp.NotSent, pendingOf(t, err).Reason)
	require.NoError(t, before.Close())

	told := resumed(t, openAt(t, path, api, cfg))
	require.Len(t, told, 1)
	require.Equal(t, oncehttp.Confirmed, told[0].State)
	require.Equal(t, 1, api.EffectsTotal())
}

// Signed by the library, above oncehttp, a request is good for the call and for
// as long as AWS takes the signature. After that it can be neither resumed nor
// signed anew.
func TestASignatureFromAboveServesOneCall(t *testing.T) {
	t.Parallel()
	api, door := startDynamo(t)
	signing := func(client *oncehttp.Client) *dynamodb.Client {
		return dynamodb.New(dynamodb.Options{
			Region: "eu-central-1", Credentials: awsCredentials, HTTPClient: client.HTTPClient(), Retryer: aws.NopRetryer{},
		})
	}
	client := open(t, api, oncehttp.Config{Transport: door, Contracts: []oncehttp.Contract{dynamoTransactions()}})
	api.Script(mockserver.Lost())
	_, err := signing(client).TransactWriteItems(oncehttp.WithAction(t.Context(), "order-42/transfer"), transfer(nil))
	require.NoError(t, err)
	require.Len(t, api.Requests(), 2)
	require.Equal(t, 1, api.EffectsTotal())

	cfg := oncehttp.Config{Contracts: []oncehttp.Contract{dynamoTransactions()}}
	token := aws.String("order-43-transfer")
	path := filepath.Join(t.TempDir(), "intents.db")
	before := openAt(t, path, api, cfg)
	api.RefuseDials(4)
	_, err = signing(before).TransactWriteItems(oncehttp.WithAction(t.Context(), "order-43/transfer"), transfer(token))
	require.Equal(t, oncehttp.NotSent, pendingOf(t, err).Reason)
	require.NoError(t, before.Close())

	// The signature is a credential and is not kept.
	bare := openAt(t, path, api, cfg)
	told := resumed(t, bare)
	require.Len(t, told, 1)
	require.Equal(t, oncehttp.NeedsCredentials, told[0].Reason)
	require.NoError(t, bare.Close())

	// A new call of the library has one, for a date, an invocation and a token of its
	// own. What would be sent are the first call's.
	again := openAt(t, path, api, cfg)
	ctx := oncehttp.WithAction(t.Context(), "order-43/transfer")
	_, err = signing(again).TransactWriteItems(ctx, transfer(nil))
	require.ErrorIs(t, err, oncehttp.ErrInvalidRequest)
	require.ErrorContains(t, err, "it was signed (header Authorization)")
	require.NoError(t, again.Close())

	// And Authorize cannot sign for another date: the first is frozen.
	cfg.Authorize = func(req *http.Request, _ bool) error { return signAt(req, time.Now().Add(time.Minute)) }
	after := openAt(t, path, api, cfg)
	told = resumed(t, after)
	require.Len(t, told, 1)
	require.Equal(t, oncehttp.Pending, told[0].State)
	require.ErrorContains(t, told[0].Err, "Authorize changed header X-Amz-Date")
	require.Equal(t, 1, api.EffectsTotal())
}
