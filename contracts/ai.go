package contracts

import "github.com/oncehttp/oncehttp"

func ai() []oncehttp.Contract {
	return []oncehttp.Contract{OpenAIV1, OpenAIBatches, OpenAIFineTuningJobs, AnthropicV1}
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
	Origin: oncehttp.Marker{Headers: []string{"X-Request-Id"}},
	Hints:  retryHints(),
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-11-30",
	Sources: []string{
		"github.com/openai/openai-python@e43b422412:src/openai/_base_client.py",
		"github.com/openai/openai-node@7b7d6ca711:src/client.ts",
		"github.com/openai/openai-go@4e5a07a6a2:internal/requestconfig/requestconfig.go",
		"https://developers.openai.com/api/reference/overview",
		"github.com/openai/openai-python@02cc689325:src/openai/_exceptions.py",
	},
}

// OpenAIBatches is the creation of batches, which can be looked up by their
// metadata. Only the newest hundred are looked through.
var OpenAIBatches = openAIJob("openai-batches", "/v1/batches",
	"github.com/openai/openai-python@74eae1ede6:src/openai/types/batch.py",
)

// OpenAIFineTuningJobs is the same for fine-tuning jobs.
var OpenAIFineTuningJobs = openAIJob("openai-fine-tuning-jobs", "/v1/fine_tuning/jobs",
	"github.com/openai/openai-go@0726287382:finetuningjob.go",
)

func openAIJob(name, path, source string) oncehttp.Contract {
	c := OpenAIV1
	c.Name = name
	c.Match.Path, c.Match.Paths, c.Match.Exact = path, nil, true
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"}
	c.Lookups = []oncehttp.Lookup{{URL: path + "?limit=100", Items: "/data", Where: "/metadata/oncehttp", Reference: "/id"}}
	c.Sources = append(c.Sources[:len(c.Sources):len(c.Sources)], source)
	return c
}

// AnthropicV1 is Anthropic's API for messages and batches of them, of which the same
// holds. A 413 comes from what stands before the API, without the API's mark; a
// request of that size was not taken.
var AnthropicV1 = oncehttp.Contract{
	Name:   "anthropic-v1",
	Match:  oncehttp.Match{Hosts: []string{"api.anthropic.com"}, Path: "/v1/messages", Methods: []string{"POST"}},
	Origin: oncehttp.Marker{Headers: []string{"Request-Id"}, Status: []int{413}},
	Hints:  retryHints(),
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-11-30",
	Sources: []string{
		"github.com/anthropics/anthropic-sdk-python@009b035305:src/anthropic/_base_client.py",
		"github.com/anthropics/anthropic-sdk-go@b43f0d7a32:internal/requestconfig/requestconfig.go",
		"https://docs.anthropic.com/de/api",
		"github.com/anthropics/anthropic-sdk-typescript@257bc1f56b:src/core/error.ts",
	},
}
