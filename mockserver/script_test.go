package mockserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

func TestAScriptIsReadWithTheNamesOfTheFields(t *testing.T) {
	t.Parallel()
	faults, err := mockserver.ParseScript([]byte(`[
		{"commit": true, "see": "reset"},
		{"status": 503, "header": {"retry-after": "2", "X-Two": ["a", "b"]}, "times": -1},
		{"before": "1.5s", "late": "1h", "see": "close", "commit": true, "informational": [103]},
		{}
	]`))
	require.NoError(t, err)
	assert.Equal(t, []mockserver.Fault{
		mockserver.Lost(),
		mockserver.Status(503).With("Retry-After", "2").With("X-Two", "a").With("X-Two", "b").Always(),
		{Before: 1500 * time.Millisecond, Late: time.Hour, See: mockserver.SeeClose, Commit: true, Informational: []int{103}},
		{},
	}, faults)
}

func TestABadScriptIsRefusedWithThePlace(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"":                                   "want a JSON array",
		`{"status": 503}`:                    "want a JSON array",
		"[{},\n\n{\"stat\": 1}]":             `fault 2, at line 3: json: unknown field "stat"`,
		`[{"see": "explode"}]`:               `fault 1, at line 1: see: there is no "explode"`,
		`[{"framing": "x"}]`:                 `framing: there is no "x"`,
		`[{"crash": "x"}]`:                   `crash: there is no "x"`,
		`[{"status": 103}]`:                  "103 is no final status",
		`[{"informational": [101]}]`:         "101 is no 1xx answer",
		`[{"after": 5}]`:                     "after",
		`[{"after": "-5s"}]`:                 "negative",
		`[{"before": "-5s"}]`:                "negative",
		`[{"late": "-5s"}]`:                  "negative",
		`[{"every": "-5s"}]`:                 "negative",
		`[{"keep": -1}]`:                     "never negative",
		`[{"header": {"A": 1}}]`:             "header A: want a string",
		`[{"late": "1s", "see": "close"}]`:   "set commit",
		`[{"late": "1s"}]`:                   "set see or status",
		`[{"see": "early", "commit": true}]`: "early",
		`[{"origin": true}]`:                 "needs a status",
		`[{"body": "x"}]`:                    "set status too",
		`[{}`:                                "does not end",
		`[{}] []`:                            "more after the array",
		`[{}, 5]`:                            "fault 2",
	} {
		_, err := mockserver.ParseScript([]byte(script))
		assert.ErrorContains(t, err, want, script)
	}
}

func TestScriptPanicsOnWhatCannotBePlayed(t *testing.T) {
	t.Parallel()
	s := mockserver.New(mockserver.Config{})
	assert.PanicsWithValue(t, `mockserver: see: there is no "x" (it takes reset, close, nothing, truncated, early, endless, drip, raw, goaway, refused) in {"see":"x"}`, func() { s.Script(mockserver.Fault{See: "x"}) })
	assert.Panics(t, func() { s.ScriptKey("k", mockserver.Fault{See: "x"}) })
	assert.Panics(t, func() { s.ScriptPath("/", mockserver.Fault{See: "x"}) })
	assert.Panics(t, func() { s.ScriptEachKey(mockserver.Fault{See: "x"}) })
	assert.Panics(t, func() { mockserver.New(mockserver.Config{Script: []mockserver.Fault{{See: "x"}}}) })
}

func TestRandomFaultsAreTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	one := mockserver.Random(1, 200)
	assert.Equal(t, one, mockserver.Random(1, 200))
	assert.NotEqual(t, one, mockserver.Random(2, 200))
	normal := 0
	for _, f := range one {
		if f.String() == "{}" {
			normal++
		}
	}
	assert.Greater(t, normal, 60)
	assert.Less(t, normal, 140)
}

// A stubborn client gets every action through any random script, once.
func TestRandomFaultsNeverMakeASecondEffect(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	onBothNetworks(t, func(t *testing.T, start func(mockserver.Config) *mockserver.Server) {
		s := start(mockserver.Config{Script: mockserver.Random(seed, 200)})
		for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
			for range 60 {
				if got := pay(t, s, key, `{}`); got.status == 201 && got.cut == nil {
					break
				}
			}
			assert.Equal(t, 1, s.Effects(key))
		}
	})
}
