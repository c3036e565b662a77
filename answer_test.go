package oncehttp

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAMarkerMarksByHeaderOrByBody(t *testing.T) {
	t.Parallel()
	replayed := Marker{Headers: []string{"idempotent-replayed", "Idempotent-Replay"}, Values: []string{"true", "Replayed "}}
	present := Marker{Headers: []string{"X-Prior"}}
	inBody := Marker{At: []string{"/meta/replayed"}, Values: []string{"TRUE"}}
	anyInBody := Marker{At: []string{"/meta"}}
	oneOf := Marker{At: []string{"/token", "/errors/*/code", "/a/@id"}}
	sayOneOf := Marker{At: []string{"/data/*/type", "/type"}, Values: []string{"transfer", "transfer_error"}}
	both := Marker{Headers: []string{"X-Prior"}, At: []string{"/meta/replayed"}, Values: []string{"true"}}
	for _, tt := range []struct {
		name   string
		marker Marker
		header http.Header
		body   string
		want   bool
	}{
		{"nothing", replayed, nil, "", false},
		{"the value", replayed, http.Header{"Idempotent-Replayed": {"true"}}, "", true},
		{"case and space", replayed, http.Header{"Idempotent-Replay": {" TRUE "}}, "", true},
		{"another value that counts", replayed, http.Header{"Idempotent-Replay": {"replayed"}}, "", true},
		{"the second line", replayed, http.Header{"Idempotent-Replay": {"false", "true"}}, "", true},
		{"a value that does not count", replayed, http.Header{"Idempotent-Replayed": {"false"}}, "", false},
		{"no value", replayed, http.Header{"Idempotent-Replayed": {""}}, "", false},
		{"another header", replayed, http.Header{"X-Prior": {"true"}}, "", false},
		{"presence", present, http.Header{"X-Prior": {"2026-11-29T12:00:00Z"}}, "", true},
		{"presence without a value", present, http.Header{"X-Prior": {" "}}, "", false},
		{"a boolean in the body", inBody, nil, `{"meta":{"replayed":true}}`, true},
		{"a string in the body", inBody, nil, `{"meta":{"replayed":"True"}}`, true},
		{"false in the body", inBody, nil, `{"meta":{"replayed":false}}`, false},
		{"no JSON", inBody, nil, `{"meta":{"replayed":true}`, false},
		{"an object in the body", anyInBody, nil, `{"meta":{}}`, true},
		{"a number in the body", anyInBody, nil, `{"meta":0}`, true},
		{"null in the body", anyInBody, nil, `{"meta":null}`, false},
		{"an empty string in the body", anyInBody, nil, `{"meta":""}`, false},
		{"nothing in the body", anyInBody, nil, `{}`, false},
		{"the first place", oneOf, nil, `{"token":"t"}`, true},
		{"the second place", oneOf, nil, `{"token":null,"errors":[{},{"code":7}]}`, true},
		{"the third place", oneOf, nil, `<a id="1"/>`, true},
		{"no place", oneOf, nil, `{"token":"","errors":[{"code":null}],"code":"x"}`, false},
		{"a place in what is no object", oneOf, nil, `"token"`, false},
		{"a place in a body that was cut", oneOf, nil, `{"token":"t"`, false},
		{"a place without a body", oneOf, nil, ``, false},
		{"a value in the first place", sayOneOf, nil, `{"data":[{"type":"x"},{"type":"Transfer"}],"type":"list"}`, true},
		{"a value in the second place", sayOneOf, nil, `{"type":"transfer_error"}`, true},
		{"a value in neither place", sayOneOf, nil, `{"data":[{"type":"x"}],"type":"about:blank"}`, false},
		{"the header of both", both, http.Header{"X-Prior": {"true"}}, "", true},
		{"the body of both", both, nil, `{"meta":{"replayed":true}}`, true},
		{"neither of both", both, http.Header{"X-Prior": {"x"}}, `{"meta":{"replayed":1}}`, false},
		{"zero", Marker{}, http.Header{"": {"x"}}, `{"":1}`, false},
	} {
		assert.Equal(t, tt.want, tt.marker.marks(facts{header: tt.header, body: []byte(tt.body)}), tt.name)
	}
	assert.True(t, Marker{}.isZero())
	assert.True(t, Marker{Values: []string{"x"}}.isZero())
	assert.False(t, present.isZero())
	assert.False(t, inBody.isZero())
	assert.False(t, oneOf.isZero())
}

func TestAMarkerMarksByTheKeyAndByTheStatus(t *testing.T) {
	t.Parallel()
	echoed := Marker{Headers: []string{"Idempotency-Key"}, At: []string{"/meta/keys/*"}, Echo: true}
	again := Marker{Status: []int{200}}
	either := Marker{Status: []int{208}, Headers: []string{"X-Replay"}, Values: []string{"1"}}
	key := func(line string) http.Header { return http.Header{"Idempotency-Key": {line}} }
	for _, tt := range []struct {
		name   string
		marker Marker
		facts  facts
		want   bool
	}{
		{"the key", echoed, facts{status: 201, wire: "k-1", header: key(" K-1 ")}, true},
		{"the key of a quoted carrier", echoed, facts{status: 201, wire: `"k-1"`, header: key("k-1")}, true},
		{"a quoted key", echoed, facts{status: 201, wire: `"k-1"`, header: key(`"k-1"`)}, true},
		{"another key", echoed, facts{status: 201, wire: "k-1", header: key("k-2")}, false},
		{"no key was sent", echoed, facts{status: 201, header: key("")}, false},
		{"no key was sent, and one is there", echoed, facts{status: 201, header: key("k-1")}, false},
		{"the key in the body", echoed, facts{status: 201, wire: "k-1", body: []byte(`{"meta":{"keys":["x","k-1"]}}`)}, true},
		{"another key in the body", echoed, facts{status: 201, wire: "k-1", body: []byte(`{"meta":{"keys":["x"]}}`)}, false},
		{"the key in an XML body", Marker{At: []string{"/reply/@key"}, Echo: true}, facts{wire: "k-1", body: []byte(`<reply key="k-1"/>`)}, true},
		{"the status", again, facts{status: 200}, true},
		{"another status", again, facts{status: 201}, false},
		{"no answer", again, facts{}, false},
		{"the status of either", either, facts{status: 208}, true},
		{"the header of either", either, facts{status: 200, header: http.Header{"X-Replay": {"1"}}}, true},
		{"none of either", either, facts{status: 200, header: http.Header{"X-Replay": {"0"}}}, false},
		{"any value in an XML body", Marker{At: []string{"/r/replayed"}}, facts{body: []byte(`<r><replayed/><replayed>y</replayed></r>`)}, true},
		{"no value in an XML body", Marker{At: []string{"/r/replayed"}}, facts{body: []byte(`<r><replayed/></r>`)}, false},
	} {
		assert.Equal(t, tt.want, tt.marker.marks(tt.facts), tt.name)
	}
	assert.False(t, again.isZero())
}

func TestARuleReadsEveryErrorOfAListAndOfXML(t *testing.T) {
	t.Parallel()
	c := &Contract{Answers: []Answer{
		{Status: []int{200}, At: []string{"/data/*/userErrors/*/code", "/errors/*/extensions/code"}, Codes: []string{"IN_PROGRESS"}, Verdict: VerdictInProgress},
		{Status: []int{200}, At: []string{"/reply/error/@code"}, Codes: []string{"9"}, Verdict: VerdictInProgress},
		{Status: []int{200}, At: []string{"/reply/error"}, Codes: []string{"*duplicate*"}, Verdict: VerdictDone, Reference: "/reply/order/@id"},
		{Codes: []string{"Idempotent*"}, Verdict: VerdictMismatch},
		{Status: []int{102, 202}, Verdict: VerdictUnknown},
	}}
	for _, tt := range []struct {
		facts facts
		rule  int // -1: none
	}{
		{facts{status: 200, body: []byte(`{"data":[{"userErrors":[]},{"userErrors":[{"code":"X"},{"code":"in_progress"}]}]}`)}, 0},
		{facts{status: 200, body: []byte(`{"errors":[{"extensions":{}},{"extensions":{"code":"IN_PROGRESS"}}]}`)}, 0},
		{facts{status: 200, body: []byte(`{"data":[{"userErrors":[{"code":"X"}]}]}`)}, -1},
		{facts{status: 200, body: []byte(`<reply><error code="5"/><error code="9">Request in progress</error></reply>`)}, 1},
		{facts{status: 200, body: []byte(`<reply><order id="A-1"/><error code="5">A duplicate of A-1</error></reply>`)}, 2},
		{facts{status: 400, body: []byte(`<ErrorResponse><Error><Code>IdempotentParameterMismatch</Code></Error></ErrorResponse>`)}, 3},
		{facts{status: 400, body: []byte(`<Response><Errors><Error><Code>IdempotentInstanceCountExhausted</Code></Error></Errors></Response>`)}, 3},
		{facts{status: 200, body: []byte(`<reply><error code="8"/></reply>`)}, -1},
		{facts{status: 202}, 4},
		{facts{failure: lost, interim: 102}, 4},
		{facts{failure: lost, interim: 103}, -1},
		{facts{failure: lost}, -1},
		{facts{status: 500, interim: 102}, -1}, // an answer came after it
	} {
		a, ok := c.rule(tt.facts)
		assert.Equal(t, tt.rule >= 0, ok, "%d %s", tt.facts.status, tt.facts.body)
		if ok && tt.rule >= 0 {
			assert.Equal(t, c.Answers[tt.rule], a, "%d %s", tt.facts.status, tt.facts.body)
		}
		if tt.rule == 2 {
			assert.Equal(t, "A-1", a.reference(tt.facts.body))
		}
	}
}

func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	t.Parallel()
	c := &Contract{Answers: []Answer{
		{Status: []int{409}, Codes: []string{"in_progress"}, Verdict: VerdictInProgress},
		{Status: []int{409}, Codes: []string{"exists"}, Verdict: VerdictDone, Reference: "/error/id"},
		{Status: []int{409}, Header: "Transient-Error", HeaderValue: "true", Verdict: VerdictThrottled},
		{Status: []int{409, 422}, Codes: []string{"*mismatch*", "reused*", "*key"}, Verdict: VerdictMismatch},
		{Codes: []string{"704"}, At: []string{"/n", "/m/0"}, Verdict: VerdictKeySpent},
		{Header: "X-Expired", Verdict: VerdictKeyExpired},
		{Status: []int{429}, Codes: []string{"Insufficient_Quota"}, Verdict: VerdictRefused},
		{Status: []int{402}, Verdict: VerdictRefused},
		{Status: []int{299}, Codes: []string{"*"}, Verdict: VerdictKeyIgnored},
	}}
	const none = Verdict(255)
	for _, tt := range []struct {
		status int
		header http.Header
		body   string
		want   Verdict
	}{
		{409, nil, `{"code":"in_progress"}`, VerdictInProgress},
		{409, nil, `{"error":{"code":"IN_PROGRESS"}}`, VerdictInProgress},
		{409, nil, `{"code":"other","error":{"type":" in_progress "}}`, VerdictInProgress},
		{409, http.Header{"Transient-Error": {"true"}}, `{"code":"in_progress"}`, VerdictInProgress},
		{408, nil, `{"code":"in_progress"}`, none},
		{201, http.Header{"X-Expired": {"x"}}, ``, none}, // a rule without a status is about errors
		{409, nil, `{"error":{"code":"exists","id":"ch_1"}}`, VerdictDone},
		{409, http.Header{"Transient-Error": {"TRUE"}}, ``, VerdictThrottled},
		{409, http.Header{"Transient-Error": {"false"}}, `x`, none},
		{422, nil, `{"error":"key_mismatched"}`, VerdictMismatch},
		{422, nil, `{"type":"https://errors.test/key"}`, VerdictMismatch},
		{422, nil, `{"code":"reused-key-x"}`, VerdictMismatch},
		{422, nil, `{"code":"unreused"}`, none},
		{422, nil, `{"code":"keys"}`, none},
		{409, nil, `{"errors":[{"code":"mismatch"}]}`, VerdictMismatch},
		{500, nil, `{"n":704}`, VerdictKeySpent},
		{500, nil, `{"n":1,"m":["704"]}`, VerdictKeySpent},
		{500, nil, `{"n":704`, none},
		{500, nil, `{"code":704}`, none},
		{401, http.Header{"X-Expired": {"x"}}, ``, VerdictKeyExpired},
		{429, nil, `{"error":{"code":"insufficient_quota"}}`, VerdictRefused},
		{429, nil, `{"error":{"code":"rate_limited"}}`, none},
		{402, nil, ``, VerdictRefused},
		{299, nil, `{"code":"x"}`, VerdictKeyIgnored},
		{299, nil, `{"code":{}}`, none},
		{200, nil, ``, none},
	} {
		a, ok := c.rule(facts{status: tt.status, header: tt.header, body: []byte(tt.body)})
		if !ok {
			a.Verdict = none
		}
		assert.Equal(t, tt.want, a.Verdict, "%d %v %s", tt.status, tt.header, tt.body)
	}
	_, ok := (*Contract)(nil).rule(facts{status: 409})
	assert.False(t, ok, "no contract has no rules")
}

func TestARuleReadsTheReferenceOfTheEffect(t *testing.T) {
	t.Parallel()
	a := Answer{Verdict: VerdictDone, Reference: "/error/links/conflicting_id"}
	assert.Equal(t, "PM123", a.reference([]byte(`{"error":{"links":{"conflicting_id":"PM123"}}}`)))
	assert.Equal(t, "17", a.reference([]byte(`{"error":{"links":{"conflicting_id":17}}}`)))
	assert.Empty(t, a.reference([]byte(`{"error":{}}`)))
	assert.Empty(t, a.reference([]byte(`<html>`)))
	assert.Empty(t, Answer{}.reference([]byte(`"text"`)))
}

func TestIdempotencyKeyReadsTheAnswersOfThatHeader(t *testing.T) {
	t.Parallel()
	c := IdempotencyKey("api.test", time.Hour)
	for _, code := range []string{
		`{"code":"idempotency_key_reused"}`, `{"error":{"type":"idempotency_error"}}`, `{"error":"IDEMPOTENCY_MISMATCH"}`,
		`{"type":"https://api.test/problems/idempotency-key-already-used"}`, `{"__type":"x#IdempotentParameterMismatchException"}`,
	} {
		a, ok := c.rule(facts{status: 422, body: []byte(code)})
		assert.True(t, ok, code)
		assert.Equal(t, VerdictMismatch, a.Verdict, code)
		_, ok = c.rule(facts{status: 409, body: []byte(code)})
		assert.False(t, ok, code)
	}
	_, ok := c.rule(facts{status: 422, body: []byte(`{"code":"invalid_amount"}`)})
	assert.False(t, ok)
	assert.True(t, c.Replay.marks(facts{header: http.Header{"Idempotent-Replayed": {"true"}}}))
	assert.True(t, c.Replay.marks(facts{header: http.Header{"Idempotent-Replay": {"True"}}}))
	assert.False(t, c.Replay.marks(facts{header: http.Header{"Idempotent-Replayed": {"false"}}}))
	assert.True(t, c.keyed())
	assert.Equal(t, Stored{}, c.Stored, "what is stored is unknown")
	for _, bad := range []Contract{IdempotencyKey("", time.Hour), IdempotencyKey("a.test", 0), IdempotencyKey("a.test", -time.Hour)} {
		_, err := newContractSet([]Contract{bad})
		assert.Error(t, err)
	}
}

func TestTheCodeOfAnErrorIsFoundWhereAPIsPutIt(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"code":"sku_sold_out"}`: "sku_sold_out",
		`{"error":{"code":"idempotency_key_in_use","type":"invalid_request"}}`:               "idempotency_key_in_use",
		`{"error":{"type":"idempotency_error","message":"Keys for idempotent requests..."}}`: "idempotency_error",
		`{"error":"insufficient_funds"}`:                                                     "insufficient_funds",
		`{"type":"https://errors.test/in-progress","title":"T","status":409}`:                "https://errors.test/in-progress",
		`{"type":"urn:problem:key-in-use","status":409}`:                                     "urn:problem:key-in-use",
		`{"errors":[{"code":"CONFLICT_X"},{"code":"other"}]}`:                                "CONFLICT_X",
		`{"errors":[{"extensions":{"code":"IN_PROGRESS"}}]}`:                                 "IN_PROGRESS",
		`{"errorCode":"704","status":422}`:                                                   "704",
		`{"error_code":704}`:                                                                 "704",
		`{"error":{"code":409,"status":"ALREADY_EXISTS","message":"m"}}`:                     "ALREADY_EXISTS",
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionInProgressException"}`:       "com.amazonaws.dynamodb.v20120810#TransactionInProgressException",
		`{"type":"error","error":{"type":"overloaded_error"}}`:                               "overloaded_error",

		// The status again, prose, or nothing.
		`{"code":409}`:   "",
		`{"code":"409"}`: "",
		`{"error":"Conflict","statusCode":409,"message":"m"}`:                               "",
		`{"error":"Too Many Requests"}`:                                                     "",
		`{"type":"about:blank","status":409}`:                                               "",
		`{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.10","title":"Conflict"}`: "",
		`{"type":"https://httpstatuses.com/409"}`:                                           "",
		`{"error":"a request with this key is in progress"}`:                                "",
		`{"error":true}`:                              "",
		`{"error":null,"code":{},"errors":[]}`:        "",
		`{"code":"` + strings.Repeat("x", 257) + `"}`: "",
		`{"code":"a\u0000b"}`:                         "",
		`{"code":""}`:                                 "",
		`{}`:                                          "",
		`[]`:                                          "",
		`"code"`:                                      "",
		``:                                            "",
		`<html>conflict</html>`:                       "",
		`{"code":"x"`:                                 "",
		`{"code":"x","pad":"` + strings.Repeat("x", longestCodeBody) + `"}`: "",
		strings.Repeat("[", 100_000):                                        "",
	} {
		assert.Equal(t, want, errorCode([]byte(body)), "%.80s", body)
	}
}

func TestACodeSaysThatTheRequestStillRuns(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"in_progress", "IN_PROGRESS", "in-progress", "inProgress", "InProgress", "inprogress", "idempotency_in_progress", "request_in_progress",
		"idempotencyKeyInProgress", "IdempotentRequestInProgressException", "payment_in_progress", "REQUEST_IN_FLIGHT", "inflight", "request-inflight",
		"com.amazonaws.dynamodb.v20120810#TransactionInProgressException", "https://errors.test/idempotency/in-progress/", "urn:problem:in_flight",
		"processing", "request_processing", "already_processing", "still_processing", "being_processed", "request.is.being.processed", "order_still_running",
		"still_running", "already_running", "operation_pending", "pending", "request_pending", "locked", "idempotency_key_locked", "IdempotencyKeyLockedException",
		"idempotency_key_in_use", "key_in_use", "in_use", "concurrent_request", "concurrent_requests", "CONCURRENT_IDEMPOTENT_REQUEST", "ConcurrentRequestError",
		"concurrency_conflict", "idempotency_concurrent_use", "duplicate_request_in_progress",
	} {
		assert.True(t, saysInProgress(code), code)
	}
	for _, code := range []string{
		"", "key_already_used", "duplicate_request", "sku_sold_out", "conflict", "idempotency_error", "idempotency_key_reused", "idempotency_mismatch",
		"idempotency_key_already_used", "already_processed", "request_already_processed", "already_exists", "ALREADY_EXISTS", "resource_exists", "email_in_use",
		"name_in_use", "address_already_in_use", "api_key_in_use", "account_locked", "user_locked", "payment_pending", "pending_approval", "processing_error",
		"concurrent_modification", "ConcurrentModificationException", "concurrent_update", "version_conflict", "not_in_progress", "no_request_in_progress",
		"no_longer_in_progress", "progress", "flight_full", "in_stock", "unprocessable", "running_low", "704", "expired", "concurrency_limit_reached", "///", "#",
	} {
		assert.False(t, saysInProgress(code), code)
	}
}
