package judge_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/torture/judge"
)

// A breach is a run that breaks one rule and no other.
type breach struct {
	rule, how string
	tell      func() *story
}

var broken = slices.Concat(brokenEffects, brokenSends, brokenContracts, brokenKinds, brokenTold)

func TestABrokenPromiseIsFoundByItsRuleAlone(t *testing.T) {
	t.Parallel()
	for _, c := range broken {
		t.Run(c.rule+", "+c.how, func(t *testing.T) {
			t.Parallel()
			found := judge.Check(c.tell().run())
			assert.Equal(t, []string{c.rule}, rulesOf(found), told(found))
		})
	}
}

func TestEveryRuleIsBrokenByARun(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range broken {
		seen[c.rule] = true
	}
	names := map[string]bool{}
	for _, rule := range judge.Rules {
		assert.True(t, seen[rule.Name], "no run breaks the rule %q", rule.Name)
		assert.False(t, names[rule.Name], "two rules are named %q", rule.Name)
		names[rule.Name] = true
		require.Less(t, rule.Promise, len(judge.Promises))
		assert.NotEmpty(t, judge.Promises[rule.Promise])
	}
}

// Every promise is watched by some rule.
func TestEveryPromiseHasARule(t *testing.T) {
	t.Parallel()
	watched := map[int]bool{}
	for _, rule := range judge.Rules {
		watched[rule.Promise] = true
	}
	for n := 1; n < len(judge.Promises); n++ {
		assert.True(t, watched[n], "no rule watches promise %d: %s", n, judge.Promises[n])
	}
}
