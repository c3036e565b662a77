package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// These hold our side of each comparison's claim. None asserts on a time but in
// whole seconds, or on a rate.

func TestTheServerGetsAsManyRequestsAsTheClientCounts(t *testing.T) {
	for _, idle := range []int{0, 1, 10, 100} {
		n := executions(ours(), idle)
		assert.Equal(t, counts{4, 4}, n, "%d idle connections", idle)
	}
	n := goAways(ours())
	assert.Positive(t, n.server)
	assert.Equal(t, n.client, n.server)
}

func TestLostAnswersNeitherRepeatAnEffectNorMakeAFailureOfOne(t *testing.T) {
	const n = 1000
	k := chargeOurs(n)
	assert.Equal(t, n, k.effects)
	assert.Zero(t, k.repeated)
	assert.Zero(t, k.falseFailures)
	assert.Equal(t, n, k.confirmed+k.pending)
	assert.LessOrEqual(t, k.left, k.pending)
}

func TestAKilledProcessChargesOnce(t *testing.T) {
	assert.Equal(t, killed{kills: 20, effects: 20}, kill(lifeOurs, 20))
}

func TestAServerThatIsDownIsProbed(t *testing.T) {
	l := sufferOutage(ours(), 4*time.Second)
	assert.GreaterOrEqual(t, l.requests, 3, "the gate shuts after three")
	// All may be on their way when the first answers come; then it is one probe
	// at a time, of which full jitter from 200 ms makes a few a second.
	assert.LessOrEqual(t, l.requests, 64+40)
	assert.LessOrEqual(t, l.perCall(), 1.7)
}

func TestAHerdIsSpreadOverTheWholeInterval(t *testing.T) {
	all := delayed()
	mine := all[len(all)-1]
	require.Equal(t, ourName, mine.name)
	h := stampede(mine, 10_000)
	// 10,000 over the first 200 ms are 500 in each 10 ms, and over 20 s 5.
	assert.Less(t, h.first, 1000)
	assert.Less(t, h.atCap, 30)
	assert.Less(t, h.from, 2*time.Second)
	assert.Greater(t, h.to, 18*time.Second)
}

func TestNoRequestComesSoonerThanTheServerAsked(t *testing.T) {
	p := ours()
	for i, f := range forms {
		t.Run(retryAfter.heads[i], func(t *testing.T) {
			t.Parallel()
			r := askToWait(p, f)
			assert.False(t, r.early, r.String())
			assert.False(t, r.held, r.String())
			longer := len(forms) - 3 // from here on they do not fit into seven seconds
			if i < longer {
				assert.True(t, r.again, r.String())
				return
			}
			assert.False(t, r.again)
			require.NotNil(t, r.outcome)
			if i == longer {
				assert.Greater(t, time.Until(r.outcome.RetryAt), 100*time.Second)
			} else {
				assert.Equal(t, oncehttp.KeyExpired, r.outcome.Reason, "years after the key is forgotten")
			}
		})
	}
}

func TestABodyIsClosedAndAPutIsNotCopied(t *testing.T) {
	b := bodies(ours(), 0)
	assert.Equal(t, 3, b.opened)
	assert.Equal(t, b.opened, b.closed)
	assert.False(t, bodies(ours(), 1).stuck)
	bare := allocated(peers()[0], 16)
	assert.Less(t, allocated(ours(), 16), bare+1)
}

func TestEveryUploadArrivesWhole(t *testing.T) {
	t.Parallel()
	assert.Equal(t, arrived{whole: 3}, earlyAnswers(ours(), 3, false))
	assert.Equal(t, arrived{whole: 3}, earlyAnswers(ours(), 3, true))
}

func TestAnUntrustedCertificateIsAskedForOnce(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 1, handshakes(ours()))
}

func TestTwoLayersTryNoMoreThanOne(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 4, nested(ours(), 1))
	assert.Equal(t, 4, nested(ours(), 2))
}

func TestCallersShareTheCommits(t *testing.T) {
	w := writers()
	mine := w[len(w)-1]
	require.Contains(t, mine.name, ourName)
	assert.Positive(t, mine.pace(1, 200*time.Millisecond).count)
	assert.Positive(t, mine.pace(64, 200*time.Millisecond).count)
}

func TestACallerWhoGivesUpIsLetGoAndTheActionIsPending(t *testing.T) {
	for _, ph := range phases {
		t.Run(string(ph), func(t *testing.T) {
			t.Parallel()
			r := giveUp(ours(), ph)
			require.False(t, r.endedBefore)
			// Four seconds are far above what it takes, and below the five that
			// the server holds on.
			assert.Less(t, r.after, 4*time.Second)
			require.NotNil(t, r.outcome)
			if ph != reading { // its status may have told all
				assert.Equal(t, oncehttp.Pending, r.outcome.State)
			}
			assert.LessOrEqual(t, r.requests, r.outcome.Attempts)
			assert.True(t, r.outcome.MayHaveExecuted || r.outcome.InFlight)
		})
	}
}

func TestNoCredentialIsInAnErrorOrALog(t *testing.T) {
	t.Parallel()
	text, logged := ourLeaks()
	assert.Equal(t, "none", text)
	assert.Equal(t, "none", logged)
}
