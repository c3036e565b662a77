package integration

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// newOpenAI is the whole recipe: the client of oncehttp, and the library's own
// retries off. No contract: the API takes no key for completions, and the
// library sends none.
func newOpenAI(client *oncehttp.Client, opts ...option.RequestOption) *openai.Client {
	ai := openai.NewClient(append([]option.RequestOption{
		option.WithHTTPClient(client.HTTPClient()),
		option.WithAPIKey("sk-test"),
		option.WithMaxRetries(0),
	}, opts...)...)
	return &ai
}

const openaiAnswer = `{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello."}}]}`

// openaiStream is the answer to a streaming request.
func openaiStream() mockserver.Fault {
	return mockserver.Fault{
		Commit: true, Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}]}` + "\n\n" +
			`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"lo."}}]}` + "\n\n" +
			"data: [DONE]\n\n",
	}
}

func startOpenAI(t *testing.T) *mockserver.Server {
	t.Helper()
	return startAPI(t, mockserver.Config{
		Unkeyed: func(r *http.Request) bool { return r.URL.Path == "/v1/chat/completions" },
		Execute: answers(200, openaiAnswer),
	})
}

func openaiParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "gpt-test",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say hello.")},
	}
}

// Without a key nobody can tell a repeat from a second request: a lost answer is
// Pending, and the tokens are paid once.
func TestALostAnswerOfOpenAIIsPendingAndPaidOnce(t *testing.T) {
	t.Parallel()
	api := startOpenAI(t)
	client := open(t, api, oncehttp.Config{})
	ai := newOpenAI(client)

	api.Script(mockserver.Lost())
	ctx := oncehttp.WithAction(t.Context(), "run-7/step-3/draft")
	_, err := ai.Chat.Completions.New(ctx, openaiParams())
	outcome := pendingOf(t, err)
	require.True(t, outcome.MayHaveExecuted)
	require.True(t, outcome.RetryAt.IsZero(), "it is not sent again by itself")

	_, err = ai.Chat.Completions.New(ctx, openaiParams())
	pendingOf(t, err)
	require.Equal(t, 1, api.EffectsTotal())
	require.Len(t, api.Requests(), 1)

	// The next step's answer arrives, and stays: a run from the top pays nothing.
	ctx = oncehttp.WithAction(t.Context(), "run-7/step-4/draft")
	for range 2 {
		made, err := ai.Chat.Completions.New(ctx, openaiParams())
		require.NoError(t, err)
		require.Equal(t, "Hello.", made.Choices[0].Message.Content)
	}
	require.Len(t, api.Requests(), 2)
}

// Where paying twice is better than waiting, say so with a contract: a completion
// changes nothing but the bill. Then a lost answer is asked for again, within the
// call only.
func TestACompletionOfOpenAIMayBeDeclaredRepeatable(t *testing.T) {
	t.Parallel()
	api := startOpenAI(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{{
		Match: oncehttp.Match{
			Hosts: []string{"api.openai.com"}, Path: "/v1/chat/completions",
			Idempotent: oncehttp.IdempotentYes,
		},
	}}})
	api.Script(mockserver.Lost())
	made, err := newOpenAI(client).Chat.Completions.New(oncehttp.WithAction(t.Context(), "run-7/step-3/draft"), openaiParams())
	require.NoError(t, err)
	require.Equal(t, "Hello.", made.Choices[0].Message.Content)
	require.Equal(t, 2, api.EffectsTotal(), "paid twice")
}

func TestOpenAIRefusalsKeepTheirType(t *testing.T) {
	t.Parallel()
	api := startOpenAI(t)
	client := open(t, api, oncehttp.Config{})
	api.Script(refusal(400, `{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`))

	_, err := newOpenAI(client).Chat.Completions.New(oncehttp.WithAction(t.Context(), "run-7/step-3/draft"), openaiParams())
	var refused *openai.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusBadRequest, refused.StatusCode)
	require.Equal(t, "context_length_exceeded", refused.Code)
	outcome, ok := oncehttp.OutcomeOf(refused.Response)
	require.True(t, ok)
	require.Equal(t, oncehttp.Rejected, outcome.State)
}

// Left on, the library's retries send the same request again. The name in the
// context makes them one action; without it each is an action of its own.
func TestOpenAIOwnRetriesJoinTheActionThatIsNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		name func(context.Context) context.Context
		paid int
	}{
		"named": {func(ctx context.Context) context.Context {
			return oncehttp.WithAction(ctx, "run-7/step-3/draft")
		}, 1},
		"not named": {func(ctx context.Context) context.Context { return ctx }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := startOpenAI(t)
			client := open(t, api, oncehttp.Config{})
			api.Script(mockserver.Lost().Always())
			ai := newOpenAI(client, option.WithMaxRetries(1))
			_, err := ai.Chat.Completions.New(test.name(t.Context()), openaiParams())
			pendingOf(t, err)
			require.Equal(t, test.paid, api.EffectsTotal())
		})
	}
}

func TestOpenAIStreamsLiveAndOnce(t *testing.T) {
	t.Parallel()
	api := startOpenAI(t)
	client := open(t, api, oncehttp.Config{})
	ai := newOpenAI(client)
	read := func(ctx context.Context) (text string, err error) {
		stream := ai.Chat.Completions.NewStreaming(ctx, openaiParams())
		defer stream.Close()
		for stream.Next() {
			text += stream.Current().Choices[0].Delta.Content
		}
		return text, stream.Err()
	}

	api.Script(openaiStream())
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

func TestOpenAIHidesAPendingBehindTheEndOfAContext(t *testing.T) {
	t.Parallel()
	api, ctx := startLeft(t)
	client := open(t, api, oncehttp.Config{})
	_, err := newOpenAI(client).Chat.Completions.New(oncehttp.WithAction(ctx, "run-7/step-3/draft"), openaiParams())
	requireHidden(t, err, client, "run-7/step-3/draft")
}

// So does the library's own time-out, though the caller's context goes on.
func TestOpenAIHidesAPendingBehindItsOwnTimeOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := startOpenAI(t)
		client := open(t, api, oncehttp.Config{})
		api.Script(mockserver.Fault{Commit: true, See: mockserver.SeeNothing})
		ctx := oncehttp.WithAction(t.Context(), "run-7/step-3/draft")
		_, err := newOpenAI(client, option.WithRequestTimeout(10*time.Second)).Chat.Completions.New(ctx, openaiParams())
		requireHidden(t, err, client, "run-7/step-3/draft")
	})
}

// Some operations of the agents' beta take Idempotency-Key, as a parameter of the
// library. How long a key is remembered is not published.
func TestAKeyThatOpenAITakesIsAdopted(t *testing.T) {
	t.Parallel()
	api := startOpenAI(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{{
		Match:   oncehttp.Match{Hosts: []string{"api.openai.com"}, Path: "/v1/agents/environments"},
		Carrier: oncehttp.Carrier{Kind: oncehttp.CarrierHeader, Name: "Idempotency-Key"},
		Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
		AsOf:    "2026-11-29",
		Sources: []string{"openai-go v3.99.0: betaagentenvironment.go"},
	}}})
	api.Script(mockserver.Lost())
	_, err := newOpenAI(client).Beta.Agents.Environments.New(t.Context(), openai.BetaAgentEnvironmentNewParams{
		IdempotencyKey: openai.String("order-42-environment"),
	})
	require.NoError(t, err)
	require.Equal(t, 1, api.Effects("order-42-environment"))
	require.Len(t, api.Requests(), 2)
}
