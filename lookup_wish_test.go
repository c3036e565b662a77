package oncehttp_test

import (
	"io"
	"net/http"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// torn breaks off the body of an answer.
func torn(answer func(int, tilled) *http.Response) func(int, tilled) *http.Response {
	return func(n int, req tilled) *http.Response {
		resp := answer(n, req)
		resp.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
		return resp
	}
}

// Whatever answer carries Retry-After is heeded, whoever asks, and after a
// restart too.
func TestNoLookupIsAskedSoonerThanTheLastAnswerAsked(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(int, tilled) *http.Response{
		"to a 404":          always(404, `{}`, "Retry-After", "7200"),
		"to a 403":          always(403, `{}`, "Retry-After", "7200"),
		"to a 401":          always(401, `{}`, "Retry-After", "7200"),
		"to a 500":          always(500, `{}`, "Retry-After", "7200"),
		"to a 302":          always(302, ``, "Retry-After", "7200", "Location", "/login"),
		"to a 429":          always(429, `{}`, "Retry-After", "7200"),
		"to a 503":          always(503, `{}`, "Retry-After", "7200"),
		"to no list at all": always(200, `{}`, "Retry-After", "7200"),
		"to a torn 500":     torn(always(500, `{}`, "Retry-After", "7200")),
		"to a torn 429":     torn(always(429, `{}`, "Retry-After", "7200")),
		"to an empty list":  always(200, `{"data":[]}`, "Retry-After", "7200"),
	} {
		for _, restarted := range []bool{false, true} {
			for _, gateOff := range []bool{false, true} {
				api := &till{get: answer}
				c := keyless()
				c.Lookups = append(c.Lookups, oncehttp.Lookup{URL: "/other/{id}"})
				atTill(t, api, c, func(b *bench) {
					_, err := b.c.Do("pay-1", b.charge())
					require.Error(b, err)
					require.Len(b, api.gets, 1, "%s: the second lookup asks the same API", name)
					if restarted {
						b.reopen()
					}
					time.Sleep(time.Hour)
					o, err := b.c.Do("pay-1", b.charge())
					require.Error(b, err)
					require.Len(b, api.gets, 1, name)
					assert.False(b, o.RetryAt.Before(api.gets[0].at.Add(2*time.Hour)), name)
					b.runFor(4 * time.Hour)
					require.Greater(b, len(api.gets), 1, name)
					assert.GreaterOrEqual(b, api.gets[1].at.Sub(api.gets[0].at), 2*time.Hour, name)
					for i, post := range api.posts[1:] { // an empty list, twice, is proof
						assert.GreaterOrEqual(b, post.at.Sub(api.gets[len(api.gets)-1].at), 2*time.Hour, "%s: send %d", name, i+2)
					}
				}, func(cfg *oncehttp.Config) {
					cfg.Gate.Off = gateOff
					cfg.Authorize = func(*http.Request, bool) error { return nil }
				})
			}
		}
	}
}

// A contract's own header is heeded as in an answer to an attempt.
func TestALookupsAnswerMayAskByTheContractsHint(t *testing.T) {
	t.Parallel()
	api := &till{get: always(500, `{}`, "X-Pause", "7200")}
	c := keyless()
	c.Hints.Headers = []oncehttp.Hint{{Header: "X-Pause", Kind: oncehttp.HintSeconds}}
	atTill(t, api, c, func(b *bench) {
		for range 2 {
			_, err := b.c.Do("pay-1", b.charge())
			require.Error(b, err)
		}
		assert.Len(b, api.gets, 1)
	})
}

// An attempt's answer asks for the same.
func TestALookupWaitsForWhatTheAttemptsAnswerAsked(t *testing.T) {
	t.Parallel()
	api := &till{post: always(500, `{}`, "Retry-After", "7200"), get: always(200, `{"data":[]}`)}
	atTill(t, api, keyless(), func(b *bench) {
		o, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		assert.Empty(b, api.gets)
		assert.ErrorContains(b, o.Err, "left alone")
		assert.False(b, o.RetryAt.Before(api.posts[0].at.Add(2*time.Hour)))
		b.runFor(3 * time.Hour)
		require.NotEmpty(b, api.gets)
		assert.GreaterOrEqual(b, api.gets[0].at.Sub(api.posts[0].at), 2*time.Hour)
	})
}

// The application's own lookup may know without the API.
func TestTheConfigurationsLookupIsAskedWhileTheAPIWantsToBeLeftAlone(t *testing.T) {
	t.Parallel()
	api := &till{get: always(500, `{}`, "Retry-After", "7200")}
	asked := 0
	atTill(t, api, keyless(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		o, err := b.c.Do("pay-1", b.charge())
		require.NoError(b, err)
		assert.Equal(b, "ch_7", o.Reference)
		assert.Len(b, api.gets, 1)
	}, answers(&asked, oncehttp.Finding{}, oncehttp.Finding{Kind: oncehttp.Found, Reference: "ch_7"}))
}

// What the API wants is no wish of whoever else is asked.
func TestTheConfigurationsLookupKeepsItsScheduleWhateverAnAttemptsAnswerAsked(t *testing.T) {
	t.Parallel()
	api := &till{post: always(500, `{}`, "Retry-After", "7200")}
	asked := 0
	for name, c := range map[string]oncehttp.Contract{"with lookups": keyless(), "without": {Name: "legacy", Match: oncehttp.Match{Hosts: []string{"legacy.test"}}}} {
		asked = 0
		atTill(t, api, c, func(b *bench) {
			_, err := b.c.Do("pay-1", b.charge())
			require.Error(b, err)
			b.runFor(10 * time.Minute)
			assert.Equal(b, 2, asked, "%s: at once, and 5 minutes later", name)
			assert.Empty(b, api.gets)
		}, answers(&asked, oncehttp.Finding{}))
	}
}

// Rule 10: what is no 429 or 503 binds its intent alone, before and after a
// restart.
func TestWhatWasAskedOfOneIntentBindsNoOtherAfterARestart(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		api := &till{post: always(425, `{}`, "Retry-After", "7200")}
		atTill(t, api, keyedTill(), func(b *bench) {
			o, err := b.c.Do("pay-1", b.charge())
			require.Error(b, err)
			require.Equal(b, oncehttp.Throttled, o.Reason)
			if restarted {
				b.reopen()
			}
			api.post = always(201, `{"id":"ch_2"}`)
			o, err = b.c.Do("pay-2", b.charge())
			require.NoError(b, err, "restarted: %v", restarted)
			assert.Equal(b, oncehttp.Confirmed, o.State)
			_, err = b.c.Do("pay-1", b.charge())
			require.Error(b, err)
			assert.Len(b, api.posts, 2)
		})
	}
}

// A 429 to a lookup binds the host, after a restart too.
func TestWhatAHostAskedOfALookupBindsNewActionsAfterARestart(t *testing.T) {
	t.Parallel()
	api := &till{get: always(429, `{}`, "Retry-After", "7200")}
	atTill(t, api, keyless(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		require.Len(b, api.gets, 1)
		b.reopen()
		o, err := b.c.Do("pay-2", b.charge())
		require.Error(b, err)
		assert.Equal(b, oncehttp.GateClosed, o.Reason)
		assert.Len(b, api.posts, 1)
	})
}
