package oncehttp_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/contracts"
)

// likeContracts are 130 contracts in the shape of package contracts: most have a
// host of their own and a path or a few, one cloud has many under patterns of
// hosts and by operation.
func likeContracts() (cs []oncehttp.Contract) {
	add := func(m oncehttp.Match) {
		cs = append(cs, oncehttp.Contract{Name: fmt.Sprint("c", len(cs)), Match: m})
	}
	for i := range 50 {
		host := []string{fmt.Sprintf("api%d.example.com", i), fmt.Sprintf("sandbox%d.example.com", i)}
		add(oncehttp.Match{Hosts: host, Path: "/v1"})
		add(oncehttp.Match{Hosts: host, Paths: []string{"/v1/charges", "/v1/charges/*/capture", "/v1/refunds"}, Exact: true})
	}
	for _, service := range []string{"sqs", "sns", "ecs", "states", "lambda", "acm", "secretsmanager", "kinesis", "elasticfilesystem", "batch"} {
		add(oncehttp.Match{Hosts: []string{service + ".*.amazonaws.com"}})
		add(oncehttp.Match{Hosts: []string{service + ".*.amazonaws.com"}, Header: "X-Amz-Target", HeaderValue: service + ".Run*"})
	}
	for _, action := range []string{"RunInstances", "CreateVolume", "CreateStack"} {
		add(oncehttp.Match{Hosts: []string{"ec2.*.amazonaws.com", "ec2.amazonaws.com"}, Operation: oncehttp.Operation{Kind: oncehttp.OperationForm, At: "Action", Names: []string{action}}})
	}
	for _, target := range []string{"TransactWriteItems", "ImportTable", "ExportTableToPointInTime"} {
		add(oncehttp.Match{Hosts: []string{"dynamodb.*.amazonaws.com"}, Header: "X-Amz-Target", HeaderValue: "DynamoDB_20120810." + target})
	}
	add(oncehttp.Match{Hosts: []string{"*.myshopify.com"}, Path: "/admin/api/*/graphql.json", Operation: oncehttp.Operation{Kind: oncehttp.OperationGraphQL, Names: []string{"@idempotent"}}})
	add(oncehttp.Match{Hosts: []string{"*.myshopify.com"}, Path: "/admin/api"})
	add(oncehttp.Match{Hosts: []string{"*-checkout-live.adyenpayments.com", "checkout-test.adyen.com"}})
	add(oncehttp.Match{Hosts: []string{"*"}, Path: "/open-banking"})
	return cs
}

// matchSets are what a client may hold, and requests to it.
func matchSets() map[string][]oncehttp.Contract {
	sets := map[string][]oncehttp.Contract{"a set like it": likeContracts()}
	if all := contracts.All(); len(all) > 0 {
		sets["package contracts"] = all
	}
	return sets
}

var matchTargets = map[string]struct{ target, header string }{
	"host":             {"https://api48.example.com/v1/charges/ch_1/capture", ""},
	"host of contract": {"https://api.stripe.com/v1/charges", ""},
	"pattern":          {"https://dynamodb.eu-central-1.amazonaws.com/", "DynamoDB_20120810.TransactWriteItems"},
	"pattern, missed":  {"https://dynamodb.eu-central-1.amazonaws.com/", "DynamoDB_20120810.PutItem"},
	"other service":    {"https://translate.eu-central-1.amazonaws.com/", ""},
	"other host":       {"https://api.nobody.test/v1/charges", ""},
}

func matchRequest(tb testing.TB, name string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, matchTargets[name].target, nil)
	require.NoError(tb, err)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	if h := matchTargets[name].header; h != "" {
		req.Header.Set("X-Amz-Target", h)
	}
	return req
}

func TestMatchingAllocatesNothing(t *testing.T) {
	for of, cs := range matchSets() {
		s, err := oncehttp.NewContractSet(cs)
		require.NoError(t, err, of)
		for name := range matchTargets {
			req := matchRequest(t, name)
			assert.Zero(t, testing.AllocsPerRun(100, func() { s.Match(req, nil) }), "%s of %s", name, of)
		}
	}
	s, err := oncehttp.NewContractSet(likeContracts())
	require.NoError(t, err)
	assert.Len(t, likeContracts(), 130)
	for name, hit := range map[string]bool{"host": true, "pattern": true, "pattern, missed": false, "other service": false, "other host": false} {
		assert.Equal(t, hit, s.Match(matchRequest(t, name), nil) != nil, name)
	}
}

func BenchmarkMatch(b *testing.B) {
	for of, cs := range matchSets() {
		s, err := oncehttp.NewContractSet(cs)
		require.NoError(b, err, of)
		for name := range matchTargets {
			b.Run(name+"/"+of, func(b *testing.B) {
				req := matchRequest(b, name)
				b.ReportAllocs()
				for b.Loop() {
					s.Match(req, nil)
				}
			})
		}
	}
}
