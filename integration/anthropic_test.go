package integration

import (
	"context"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// newAnthropic is the whole recipe: the client of oncehttp, and the library's
// own retries off. No contract: the API takes no key, and the library sends none.
func newAnthropic(client *oncehttp.Client, opts ...option.RequestOption) *anthropic.Client {
	ai := anthropic.NewClient(append([]option.RequestOption{
		option.WithHTTPClient(client.HTTPClient()),
		option.WithAPIKey("sk-ant-test"),
		option.WithMaxRetries(0),
	}, opts...)...)
	return &ai
}

const anthropicAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":2}}`

func anthropicStream() mockserver.Fault {
	return mockserver.Fault{
		Commit: true, Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: `event: message_start` + "\n" + `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}` + "\n\n" +
			`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
			`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}` + "\n\n" +
			`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo."}}` + "\n\n" +
			`event: message_stop` + "\n" + `data: {"type":"message_stop"}` + "\n\n",
	}
}

func startAnthropic(t *testing.T) *mockserver.Server {
	t.Helper()
	return startAPI(t, mockserver.Config{
		Unkeyed: func(*http.Request) bool { return true },
		Execute: answers(200, anthropicAnswer),
	})
}

func anthropicParams() anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     anthropic.ModelClaudeOpus5,
		MaxTokens: 100,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Say hello."))},
	}
}

// Without a key nobody can tell a repeat from a second request: a lost answer is
// Pending, and the tokens are paid once.
func TestALostAnswerOfAnthropicIsPendingAndPaidOnce(t *testing.T) {
	t.Parallel()
	api := startAnthropic(t)
	client := open(t, api, oncehttp.Config{})
	ai := newAnthropic(client)

	api.Script(mockserver.Lost())
	ctx := oncehttp.WithAction(t.Context(), "run-7/step-3/draft")
	_, err := ai.Messages.New(ctx, anthropicParams())
	outcome := pendingOf(t, err)
	require.True(t, outcome.MayHaveExecuted)
	require.True(t, outcome.RetryAt.IsZero(), "it is not sent again by itself")

	_, err = ai.Messages.New(ctx, anthropicParams())
	pendingOf(t, err)
	require.Equal(t, 1, api.EffectsTotal())
	require.Len(t, api.Requests(), 1)

	// The next step's answer arrives, and stays: a run from the top pays nothing.
	ctx = oncehttp.WithAction(t.Context(), "run-7/step-4/draft")
	for range 2 {
		made, err := ai.Messages.New(ctx, anthropicParams())
		require.NoError(t, err)
		require.Equal(t, "Hello.", made.Content[0].Text)
	}
	require.Len(t, api.Requests(), 2)
}

// Where paying twice is better than waiting, say so with a contract: a message
// changes nothing but the bill. Then a lost answer is asked for again, within the
// call only. Batches and what the beta creates are not in its path.
func TestAMessageOfAnthropicMayBeDeclaredRepeatable(t *testing.T) {
	t.Parallel()
	api := startAnthropic(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{
		{Match: oncehttp.Match{Hosts: []string{"api.anthropic.com"}, Path: "/v1/messages", Idempotent: oncehttp.IdempotentYes}},
		{Match: oncehttp.Match{Hosts: []string{"api.anthropic.com"}, Path: "/v1/messages/batches"}},
	}})
	ai := newAnthropic(client)
	api.Script(mockserver.Lost())
	made, err := ai.Messages.New(oncehttp.WithAction(t.Context(), "run-7/step-3/draft"), anthropicParams())
	require.NoError(t, err)
	require.Equal(t, "Hello.", made.Content[0].Text)
	require.Equal(t, 2, api.EffectsTotal(), "paid twice")

	api.Script(mockserver.Lost())
	_, err = ai.Messages.Batches.New(oncehttp.WithAction(t.Context(), "run-7/batch"), anthropicBatch())
	require.True(t, pendingOf(t, err).MayHaveExecuted)
	require.Equal(t, 3, api.EffectsTotal())
}

func anthropicBatch() anthropic.MessageBatchNewParams {
	return anthropic.MessageBatchNewParams{Requests: []anthropic.MessageBatchNewParamsRequest{{
		CustomID: "1",
		Params: anthropic.MessageBatchNewParamsRequestParams{
			Model: anthropic.ModelClaudeOpus5, MaxTokens: 100, Messages: anthropicParams().Messages,
		},
	}}}
}

func TestAnthropicRefusalsKeepTheirType(t *testing.T) {
	t.Parallel()
	api := startAnthropic(t)
	client := open(t, api, oncehttp.Config{})
	api.Script(refusal(400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: too large"}}`))

	_, err := newAnthropic(client).Messages.New(oncehttp.WithAction(t.Context(), "run-7/step-3/draft"), anthropicParams())
	var refused *anthropic.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusBadRequest, refused.StatusCode)
	require.Equal(t, anthropic.ErrorTypeInvalidRequestError, refused.Type())
	outcome, ok := oncehttp.OutcomeOf(refused.Response)
	require.True(t, ok)
	require.Equal(t, oncehttp.Rejected, outcome.State)
}

// Left on, the library's retries send the same request again. The name in the
// context makes them one action; without it each is an action of its own.
func TestAnthropicOwnRetriesJoinTheActionThatIsNamed(t *testing.T) {
	t.Parallel()
	named := func(ctx context.Context) context.Context { return oncehttp.WithAction(ctx, "run-7/step-3/draft") }
	notNamed := func(ctx context.Context) context.Context { return ctx }
	message := func(ctx context.Context, ai *anthropic.Client) error {
		_, err := ai.Messages.New(ctx, anthropicParams())
		return err
	}
	batch := func(ctx context.Context, ai *anthropic.Client) error {
		_, err := ai.Messages.Batches.New(ctx, anthropicBatch())
		return err
	}
	for name, test := range map[string]struct {
		name   func(context.Context) context.Context
		call   func(context.Context, *anthropic.Client) error
		effect int
	}{
		"a message that is named":     {named, message, 1},
		"a message that is not named": {notNamed, message, 2},
		"a batch that is named":       {named, batch, 1},
		// The library repeats a batch only where its trace of the connection proves
		// that nothing was sent. Below oncehttp it sees no connection and no proof.
		"a batch that is not named": {notNamed, batch, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := startAnthropic(t)
			client := open(t, api, oncehttp.Config{})
			api.Script(mockserver.Lost().Always())
			err := test.call(test.name(t.Context()), newAnthropic(client, option.WithMaxRetries(1)))
			pendingOf(t, err)
			require.Equal(t, test.effect, api.EffectsTotal())
		})
	}
}

// An answer that breaks off is a Confirmed: the message was made and is paid. The
// library asks again; the journal has the same half, and nothing is paid twice.
func TestAnAnswerOfAnthropicThatBreaksOffIsNotPaidAgain(t *testing.T) {
	t.Parallel()
	api := startAnthropic(t)
	client := open(t, api, oncehttp.Config{})
	api.Script(mockserver.Fault{Commit: true, See: mockserver.SeeTruncated, Keep: 40})
	ctx := oncehttp.WithAction(t.Context(), "run-7/step-3/draft")
	_, err := newAnthropic(client, option.WithMaxRetries(1)).Messages.New(ctx, anthropicParams())
	require.Error(t, err)
	outcome, err := client.Outcome(t.Context(), "run-7/step-3/draft")
	require.NoError(t, err)
	require.Equal(t, oncehttp.Confirmed, outcome.State)
	require.True(t, outcome.Response.BodyIncomplete)
	require.Len(t, api.Requests(), 1)
}

func TestAnthropicStreamsLiveAndOnce(t *testing.T) {
	t.Parallel()
	api := startAnthropic(t)
	client := open(t, api, oncehttp.Config{})
	ai := newAnthropic(client)
	read := func(ctx context.Context) (text string, err error) {
		stream := ai.Messages.NewStreaming(ctx, anthropicParams())
		defer stream.Close()
		for stream.Next() {
			text += stream.Current().Delta.Text
		}
		return text, stream.Err()
	}

	api.Script(anthropicStream())
	ctx := oncehttp.WithAction(t.Context(), "run-7/step-3/draft")
	text, err := read(ctx)
	require.NoError(t, err)
	require.Equal(t, "Hello.", text)

	// A stream is confirmed by its header, and not kept: again there is no text,
	// and no second request.
	text, err = read(ctx)
	require.Error(t, err)
	require.Empty(t, text)
	require.Len(t, api.Requests(), 1)
	outcome, err := client.Outcome(t.Context(), "run-7/step-3/draft")
	require.NoError(t, err)
	require.Equal(t, oncehttp.Confirmed, outcome.State)

	// One whose first byte never came is Pending.
	api.Script(mockserver.Lost())
	_, err = read(oncehttp.WithAction(t.Context(), "run-7/step-4/draft"))
	require.True(t, pendingOf(t, err).MayHaveExecuted)
}

func TestAnthropicHidesAPendingBehindTheEndOfAContext(t *testing.T) {
	t.Parallel()
	api, ctx := startLeft(t)
	client := open(t, api, oncehttp.Config{})
	_, err := newAnthropic(client).Messages.New(oncehttp.WithAction(ctx, "run-7/step-3/draft"), anthropicParams())
	requireHidden(t, err, client, "run-7/step-3/draft")
}
