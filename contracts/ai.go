package contracts

import "github.com/oncehttp/oncehttp"

func ai() []oncehttp.Contract {
	return []oncehttp.Contract{OpenAIV1, AnthropicV1}
}

// retryHints are what the generated clients of several vendors read from an answer.
func retryHints() oncehttp.Hints {
	return oncehttp.Hints{Headers: []oncehttp.Hint{
		{Header: "X-Should-Retry", Kind: oncehttp.HintAgain},
		{Header: "Retry-After-Ms", Kind: oncehttp.HintMillis},
	}}
}

// OpenAIV1 is what OpenAI's API runs and is paid for. Its clients have a place for
// a key and leave it empty, and nothing says that a header put there would be
// looked at: a repeat is a second run.
var OpenAIV1 = oncehttp.Contract{
	Name: "openai-v1",
	Match: oncehttp.Match{
		Hosts: []string{"api.openai.com"},
		Paths: []string{
			"/v1/chat/completions", "/v1/responses", "/v1/completions", "/v1/embeddings",
			"/v1/images", "/v1/audio/speech", "/v1/batches", "/v1/fine_tuning",
		},
		Methods: []string{"POST"},
	},
	Hints: retryHints(),
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"github.com/openai/openai-python@e43b422412:src/openai/_base_client.py",
		"github.com/openai/openai-node@7b7d6ca711:src/client.ts",
		"github.com/openai/openai-go@4e5a07a6a2:internal/requestconfig/requestconfig.go",
	},
}

// AnthropicV1 is Anthropic's API for messages and batches of them, of which the same
// holds.
var AnthropicV1 = oncehttp.Contract{
	Name:  "anthropic-v1",
	Match: oncehttp.Match{Hosts: []string{"api.anthropic.com"}, Path: "/v1/messages", Methods: []string{"POST"}},
	Hints: retryHints(),
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"github.com/anthropics/anthropic-sdk-python@009b035305:src/anthropic/_base_client.py",
		"github.com/anthropics/anthropic-sdk-go@b43f0d7a32:internal/requestconfig/requestconfig.go",
	},
}
