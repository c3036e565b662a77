package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func google() []oncehttp.Contract {
	return []oncehttp.Contract{
		GoogleAIP155, GoogleComputeV1, GoogleBigQueryQueries, GoogleChatMessages, GoogleChatSpaces, GoogleChatSpaceSetup,
	}
}

// GoogleAIP155 is the request id of Google's API rules, in the query as most
// services take it: [On] sets the service's host. Most promise an hour, some two
// or a day, and the rule leaves it open: a copy with the service's own Window is
// better. A repeat may show the present state of what was made.
var GoogleAIP155 = oncehttp.Contract{
	Name:    "google-aip-155",
	Match:   oncehttp.Match{Methods: []string{http.MethodPost, http.MethodPatch, http.MethodDelete}},
	Carrier: query("requestId"),
	Key:     oncehttp.KeyRule{Max: 36, UUID: oncehttp.UUIDAny},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{
		"https://github.com/aip-dev/google.aip.dev@126bed45b6:aip/general/0155.md",
		"https://github.com/googleapis/googleapis@f8291d2b89:google/cloud/alloydb/v1/service.proto",
	},
}

// GoogleComputeV1 creates zonal, regional and global resources of Compute
// Engine. Nobody says for how long a request id is remembered, but the operation
// that a request began is listed with it for two weeks. That it began says, as the
// answer does, not that it ends well.
var GoogleComputeV1 = oncehttp.Contract{
	Name: "google-compute-v1",
	Match: oncehttp.Match{
		Hosts: []string{"compute.googleapis.com"},
		Paths: []string{
			"/compute/v1/projects/*/zones/*/*",
			"/compute/v1/projects/*/regions/*/*",
			"/compute/v1/projects/*/global/*",
			"/compute/v1/projects/*/zones/*/instances/bulkInsert",
		},
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: query("requestId"),
	Key:     oncehttp.KeyRule{Min: 36, Max: 36, UUID: oncehttp.UUIDAny},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Lookups: []oncehttp.Lookup{
		googleOperation("/compute/v1/projects/{path.4}/{path.5}/{path.6}"),
		googleOperation("/compute/v1/projects/{path.4}/global"),
	},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://github.com/googleapis/googleapis@f8291d2b89:google/cloud/compute/v1/compute.proto",
		"https://cloud.google.com/compute/docs/reference/rest/v1/globalOperations/list",
		"https://cloud.google.com/compute/docs/reference/rest/v1/regionOperations/list",
		"https://cloud.google.com/sdk/gcloud/reference/alpha/compute/operations/list",
	},
}

// googleOperation looks for an operation of a zone, a region or the project by the
// request id that began it.
func googleOperation(of string) oncehttp.Lookup {
	return oncehttp.Lookup{
		URL:       of + "/operations?filter=clientOperationId%3D%22{key}%22",
		Items:     "/items",
		Where:     "/clientOperationId",
		Reference: "/name",
	}
}

// GoogleBigQueryQueries runs a query. The id counts for 15 minutes and only with
// the same query: another one under it is carried out. While the first still
// runs, a repeat waits for it instead of being told so. Dry runs take no part.
var GoogleBigQueryQueries = oncehttp.Contract{
	Name: "google-bigquery-queries",
	Match: oncehttp.Match{
		Hosts:   []string{"bigquery.googleapis.com"},
		Path:    "/bigquery/v2/projects/*/queries",
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: jsonField("/requestId"),
	Key:     oncehttp.KeyRule{Max: 36},
	Compared: oncehttp.Compared{
		Parts:    oncehttp.PartBody,
		Except:   []string{"/timeoutMs"},
		Mismatch: oncehttp.MismatchExecutes,
	},
	Window:  oncehttp.Window{Length: 15 * minute, Kind: oncehttp.WindowExact},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://github.com/googleapis/googleapis@f8291d2b89:google/cloud/bigquery/v2/job.proto"},
}

// googleChat is what creating things in Google Chat has in common: a known id
// returns what was made under it.
func googleChat(name, path string, carrier oncehttp.Carrier) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"chat.googleapis.com"},
			Path:    path,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: carrier,
		Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-10-06",
		Sources: []string{
			"https://github.com/googleapis/googleapis@f8291d2b89:google/chat/v1/message.proto",
			"https://github.com/googleapis/googleapis@f8291d2b89:google/chat/v1/space.proto",
		},
	}
}

// GoogleChatMessages sends a message to a space. One that the caller has named, by
// messageId, can be asked for by that name, which a space knows only once.
var GoogleChatMessages = func() oncehttp.Contract {
	c := googleChat("google-chat-messages", "/v1/spaces/*/messages", query("requestId"))
	c.Lookups = []oncehttp.Lookup{{URL: "/v1/spaces/{path.3}/messages/{query.messageId}", Reference: "/name"}}
	c.AsOf = "2026-11-30"
	c.Sources = append(c.Sources,
		"https://developers.google.com/chat/reference/rest/v1/spaces.messages/create",
		"https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/get")
	return c
}()

// GoogleChatSpaces creates a space. The id belongs to the user it was created
// for: another user's repeat is refused.
var GoogleChatSpaces = googleChat("google-chat-spaces", "/v1/spaces", query("requestId"))

// GoogleChatSpaceSetup creates a space with its members. Here the id is in the
// body, since the whole request is.
var GoogleChatSpaceSetup = googleChat("google-chat-space-setup", "/v1/spaces:setup", jsonField("/requestId"))
