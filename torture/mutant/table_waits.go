package mutant

// waits are faults in when something is sent.
func waits() []Mutant {
	return []Mutant{{
		Name:    "retry-after-halved",
		Fault:   "half of what the server asked for is waited",
		Promise: serversWish,
		Edits: []Edit{{"intent.go", `	wait := j.wait
`, `	wait := j.wait / 2
`}},
		By: []Catcher{seeds(1000, "no send sooner than the server asked of the action")},
	}, {
		Name:    "retry-after-on-429-alone",
		Fault:   "Retry-After is heard on a 429 only",
		Promise: serversWish,
		Edits: []Edit{{"classify.go", `	if f.status != 0 {
		j.wait, j.asked = retryAfter(f.header, now)`, `	if f.status == http.StatusTooManyRequests {
		j.wait, j.asked = retryAfter(f.header, now)`}},
		By: []Catcher{seeds(300, "no send sooner than the server asked of the action")},
	}, {
		Name:    "retry-after-forgotten-at-restart",
		Fault:   "the floor of the next attempt is not written",
		Promise: serversWish,
		Edits:   []Edit{{"record.go", "`json:\"not_before,omitzero\"`", "`json:\"-\"`"}},
		By:      []Catcher{seeds(300, "no send sooner than the server asked of the host"), unit("TestALongWishIsKeptAndNotCutToTheBudget")},
	}, {
		Name:    "jitter-subtracts",
		Fault:   "jitter may shorten what the server asked for",
		Promise: serversWish,
		Edits: []Edit{{"intent.go", `	default:
		wait += e.delay
		r.Waits++
`, `	default:
		wait = max(0, wait-e.delay)
		r.Waits++
`}},
		By: []Catcher{seeds(1000, "no send sooner than the server asked of the action")},
	}, {
		Name:    "gate-ignored",
		Fault:   "a shut gate lets everybody go",
		Promise: hostsWish,
		Edits:   []Edit{{"gates.go", `	if h == nil || !h.gate.shut {`, `	if h == nil || !h.gate.shut || true {`}},
		By:      []Catcher{seeds(300, "no send sooner than the server asked of the host"), unit("TestAHostsWishBindsEveryRequestToIt")},
	}, {
		Name:    "503-does-not-bind-the-gate",
		Fault:   "Retry-After of a 503 binds its intent only",
		Promise: serversWish,
		Edits:   []Edit{{"classify.go", `(status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable)`, `status == http.StatusTooManyRequests`}},
		By:      []Catcher{seeds(600, "no send sooner than the server asked of the host"), unit("TestOnlyAThrottledOrUnavailableHostBindsItsGate")},
	}, {
		Name:    "probe-before-the-wish",
		Fault:   "a shut gate probes its host sooner than it asked",
		Promise: serversWish,
		Edits: []Edit{{"gate.go", `		from = g.wish
`, `		from = now
`}},
		By: []Catcher{seeds(300, "no send sooner than the server asked of the host"), unit("TestAWishBindsTheWholeHostAndJitterOnlyAddsToIt")},
	}, {
		Name:    "host-wish-forgotten-at-restart",
		Fault:   "what a host asked of an earlier process binds only the intent that was told",
		Promise: serversWish,
		Edits: []Edit{{"client.go", `	c.recallWishes()
`, ``}, {"perform.go", `			c.gates.recall(f.gate, r.Seen, r.HostWish)
`, `			_ = c.gates.recall
`}},
		By: []Catcher{seeds(300, "no send sooner than the server asked of the host"), unit("TestWhatAHostAskedForBindsNewActionsAfterARestart")},
	}, {
		Name:    "stored-failure-retried",
		Fault:   "a 5xx that the server replays is asked for again and again",
		Promise: honestPending,
		Edits: []Edit{{"classify.go", `effectMaybe, true, againNo, StoredFailure
`, `effectMaybe, true, againNow, StoredFailure
`}},
		By: []Catcher{seeds(1000, "a failure that the server has stored is not asked for again"), unit("TestAStoredFailureIsNotAskedForAgain")},
	}, {
		Name:    "budget-ignored",
		Fault:   "a call goes on after its time is up",
		Promise: honestPending,
		Edits:   []Edit{{"intent.go", `m.call.attempts >= p.maxAttempts && m.hop == "", r.NotBefore.After(m.call.until):`, `m.call.attempts >= p.maxAttempts && m.hop == "":`}},
		By:      []Catcher{seeds(300, "a call starts no attempt after its time is up"), unit("TestACallStartsNoAttemptAfterItsTimeIsUp")},
	}}
}
