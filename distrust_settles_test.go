package oncehttp

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// That refusals are kept under the key says nothing of earlier attempts where the
// key does not count.
func TestARefusalSettlesNothingWhereTheKeyDoesNotCount(t *testing.T) {
	t.Parallel()
	c := plainContract()
	c.Stored.Refusals = true
	c.Answers = []Answer{{Status: []int{400}, Codes: []string{"key_not_supported"}, Verdict: VerdictKeyIgnored}}
	exposed := func(p protection) history { return history{method: http.MethodPut, exposed: true, protection: p} }
	no := facts{status: 422}
	assert.Equal(t, Rejected, classify(no, exposed(keyed), c, stepStart).state(true))
	assert.Equal(t, Pending, classify(no, exposed(idempotent), c, stepStart).state(true), "distrusted, moved, or of weak proof")
	ignored := facts{status: 400, body: []byte(`{"code":"key_not_supported"}`)}
	j := classify(ignored, exposed(keyed), c, stepStart)
	assert.NotEmpty(t, j.contradicts)
	assert.Equal(t, Pending, j.state(true), "it says of itself that it looked no key up")
}
