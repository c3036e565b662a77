package oncehttp

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAClientsContractSharesNoSliceWithTheCallers: what the caller writes into
// its own afterwards changes nothing.
func TestAClientsContractSharesNoSliceWithTheCallers(t *testing.T) {
	t.Parallel()
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		}
	}
	var shared func(at string, one, two reflect.Value)
	shared = func(at string, one, two reflect.Value) {
		switch one.Kind() {
		case reflect.Slice:
			require.Equal(t, one.Len(), two.Len(), at)
			assert.NotEqual(t, one.UnsafePointer(), two.UnsafePointer(), at)
			shared(at+"[0]", one.Index(0), two.Index(0))
		case reflect.Struct:
			for i := range one.NumField() {
				shared(at+"."+one.Type().Field(i).Name, one.Field(i), two.Field(i))
			}
		}
	}
	var c Contract
	fill(reflect.ValueOf(&c).Elem())
	shared("Contract", reflect.ValueOf(c), reflect.ValueOf(*c.clone()))
}

func TestAContractThatReadsAnswersInAWayThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want   string
		change func(*Contract)
	}{
		{"Answers[0].Status has an interim status (1xx)", func(c *Contract) { c.Answers = []Answer{{Status: []int{409, 102}, Verdict: VerdictDone}} }},
		{"Answers[0].Verdict is 10", func(c *Contract) { c.Answers = []Answer{{Status: []int{409}, Verdict: VerdictKeysDown + 1}} }},
		{"Replay.Echo and Replay.Values are both set", func(c *Contract) { c.Replay.Echo = true }},
		{"Replay.Echo is set and nothing says where", func(c *Contract) { c.Replay = Marker{Status: []int{208}, Echo: true} }},
		{"Origin.Echo is set and Carrier is not", func(c *Contract) {
			c.Origin, c.Carrier = Marker{Headers: []string{"X-Key"}, Echo: true}, Carrier{}
		}},
		{`Compared.Headers[0] "X-Api-Key" looks like a credential`, func(c *Contract) { c.Compared.Headers = []string{"X-Api-Key"} }},
		{"Compared.Except[1] names the whole body", func(c *Contract) { c.Compared.Except = []string{"/a", ""} }},
		{"Stored.Failures is 3", func(c *Contract) { c.Stored.Failures = KeepingNo + 1 }},
		{"Hints.Headers[0].Kind is 7", func(c *Contract) { c.Hints.Headers = []Hint{{Header: "X", Kind: HintRFC3339 + 1}} }},
		{"Hints.Headers[0].AbsentNo is set and Kind is not HintAgain", func(c *Contract) {
			c.Hints.Headers = []Hint{{Header: "X", Kind: HintSeconds, AbsentNo: true}}
		}},
		{"Hints.Least is -1s", func(c *Contract) { c.Hints.Least = -time.Second }},
		{"Hints.Running is -1s", func(c *Contract) { c.Hints.Running = -time.Second }},
		{"no companion tells a time", func(c *Contract) { c.Window.Anchor = AnchorStamp }},
	} {
		bad := IdempotencyKey("bad.test", time.Hour)
		tt.change(&bad)
		problems := checkContract(bad.clone(), 0)
		require.Len(t, problems, 1, tt.want)
		assert.ErrorContains(t, problems[0], tt.want)
	}
	good := IdempotencyKey("good.test", time.Hour)
	good.Replay = Marker{Headers: []string{"Idempotency-Key"}, At: []string{"/key", "/reply/@key"}, Echo: true, Status: []int{200}}
	good.Answers = []Answer{
		{Status: []int{102, 409}, Verdict: VerdictInProgress},
		{At: []string{"/errors/*/code", "/reply/error/@code"}, Codes: []string{"9"}, Verdict: VerdictKeysDown},
	}
	good.Hints = Hints{Headers: []Hint{{Header: "X-Should-Retry", AbsentNo: true}, {Header: "Retry-After-Ms", Kind: HintMillis}}, Least: time.Second, Running: time.Hour}
	assert.Empty(t, checkContract(good.clone(), 0))
}
