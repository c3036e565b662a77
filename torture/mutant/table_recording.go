package mutant

// recording are faults in the order of saving, sending and telling.
func recording() []Mutant {
	return []Mutant{{
		Name:    "send-before-save",
		Fault:   "a request leaves before the save that starts its attempt",
		Promise: recordedFirst,
		Edits: []Edit{{"intent.go", `	r.Attempts++
	m.save(now)
`, `	r.Attempts++
	m.call.sends++
	m.call.attempts++
	m.do(command{kind: cmdSend, record: *r, timeout: p.attempt})
`}},
		By: []Catcher{seeds(10, "every send has a save of its own before it"), unit("TestTheKeyIsOnDiskBeforeTheFirstByteAndNeverChanges")},
	}, {
		Name:    "send-after-a-failed-save",
		Fault:   "an attempt goes out though the save that starts it failed",
		Promise: journalFails,
		Edits: []Edit{{"intent.go", `			m.unsaved(e.kind == evSaveUnknown)
`, `			if m.next.Sending != nil && m.heard == nil {
				m.saved(read, p, now)
			} else {
				m.unsaved(e.kind == evSaveUnknown)
			}
`}},
		By: []Catcher{seeds(100, "every send has a save of its own before it"), unit("TestAnAttemptThatCannotBeRecordedIsNotMade")},
	}, {
		Name:    "failed-save-ignored",
		Fault:   "an outcome that the journal did not take is told as settled",
		Promise: durableFirst,
		Edits: []Edit{{"intent.go", `			m.unsaved(e.kind == evSaveUnknown)
`, `			if m.heard != nil {
				m.saved(read, p, now)
			} else {
				m.unsaved(e.kind == evSaveUnknown)
			}
`}},
		By: []Catcher{seeds(300, "an outcome is told once it is saved"), unit("TestAnAnswerThatCouldNotBeRecordedIsKeptUntilItIs")},
	}, {
		Name:    "told-before-saved",
		Fault:   "callers hear of an outcome while its save is under way",
		Promise: durableFirst,
		Edits: []Edit{{"client.go", `			e = c.save(f, cmd.record)
`, `			if cmd.record.State != Pending {
				c.tellAll(f, m, command{kind: cmdSettle, record: cmd.record})
			}
			e = c.save(f, cmd.record)
`}},
		By: []Catcher{unit("TestRoundTripTellsOnlyWhatIsRecorded")},
	}, {
		Name:    "outcome-never-saved",
		Fault:   "an outcome is told and not written",
		Promise: durableFirst,
		Edits: []Edit{{"intent.go", `	if m.dirty && !(begins && m.call.left) {
		m.save(now)
		return
	}
	m.do(command{kind: cmdSettle, record: m.rec})
`, `	if m.dirty && !(begins && m.call.left) && m.next.State == Pending {
		m.save(now)
		return
	}
	m.do(command{kind: cmdSettle, record: m.next})
`}},
		By: []Catcher{seeds(10, "an outcome is told once it is saved"), unit("TestAnActionThatSucceedsAtOnceCostsTwoCommits")},
	}, {
		Name:    "evidence-dropped-by-a-failed-save",
		Fault:   "an answer that the journal did not take is forgotten",
		Promise: journalFails,
		Edits: []Edit{{"perform.go", `	if m.heard != nil {
		c.kept[f.action] = &m`, `	if false {
		c.kept[f.action] = &m`}},
		By: []Catcher{seeds(300, "a success that was answered is on record once its process has closed"), unit("TestAnAnswerThatCouldNotBeRecordedIsKeptUntilItIs")},
	}, {
		Name:    "evidence-not-written-at-close",
		Fault:   "evidence that is kept in memory is dropped when the client closes",
		Promise: journalFails,
		Edits: []Edit{{"close.go", `	kept := c.kept
	c.kept = map[string]*machine{}
	c.mu.Unlock()
`, `	c.kept = map[string]*machine{}
	kept := c.kept
	c.mu.Unlock()
`}},
		By: []Catcher{seeds(300, "a success that was answered is on record once its process has closed"), unit("TestEvidenceThatACallTookOverIsWrittenWhenTheClientCloses")},
	}, {
		Name:    "attempt-uncounted",
		Fault:   "an attempt is saved without being counted",
		Promise: countedSends,
		Edits: []Edit{{"intent.go", `	r.Attempts++
`, ``}, {"intent.go", `		m.next.Attempts--
`, ``}},
		By: []Catcher{seeds(10, "attempts are not fewer than sends and requests"), unit("TestALostAnswerIsAskedForAgainUnderTheSameKey")},
	}, {
		Name:    "hop-unrecorded",
		Fault:   "a redirect is followed within the attempt, without a save",
		Promise: countedSends,
		Edits: []Edit{{"attempt.go", `	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, attemptKey{}, true))
	var timer`, `	outer := ctx
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, attemptKey{}, true))
	var timer`}, {"attempt.go", `	resp, err := a.base.RoundTrip(req)
`, `	resp, err := a.base.RoundTrip(req)
	if err == nil && resp != nil {
		if to := redirectTarget(req.URL, resp.StatusCode, resp.Header); to != "" {
			resp.Body.Close()
			next := req.Clone(context.WithValue(outer, attemptKey{}, true))
			next.URL, _ = req.URL.Parse(to)
			if len(body) > 0 {
				next.Body = io.NopCloser(bytes.NewReader(body))
			}
			resp, err = a.base.RoundTrip(next)
		}
	}
`}},
		By: []Catcher{seeds(100, "attempts are not fewer than sends and requests"), unit("TestAHopThatIsLostIsAskedForAgainWhereItBegan")},
	}, {
		Name:    "transport-resends",
		Fault:   "attempts keep GetBody, by which net/http sends them again by itself, and no guard stops it",
		Promise: countedSends,
		Edits: []Edit{{"attempt.go", `	req.GetBody = nil
`, `	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
`}, {"attempt.go", `				g.cancel(errResend)
`, ``}},
		By: []Catcher{seeds(100, "attempts are not fewer than sends and requests"), unit("TestTheTransportNeverResendsByItself")},
	}, {
		Name:    "guard-gone",
		Fault:   "a base that sends again by itself is not stopped",
		Promise: countedSends,
		Edits: []Edit{{"attempt.go", `				g.cancel(errResend)
`, ``}},
		By: []Catcher{unit("TestABaseThatResendsIsStoppedByTheGuard")},
	}, {
		Name:    "replayable-write",
		Fault:   "a body-less write keeps the header by which net/http takes it for replayable, and no guard stops it",
		Promise: countedSends,
		Edits: []Edit{{"attempt.go", `		hideReplayable(req)
`, ``}, {"attempt.go", `				g.cancel(errResend)
`, ``}},
		By: []Catcher{seeds(1500, "attempts are not fewer than sends and requests"), unit("TestTheTransportNeverResendsByItself")},
	}, {
		Name:    "two-drivers",
		Fault:   "every caller drives the intent by itself",
		Promise: oneDriver,
		Edits:   []Edit{{"perform.go", `	if f, ok := c.flights[action]; ok {`, `	if f, ok := c.flights[action]; ok && false {`}},
		By:      []Catcher{seeds(30, "one driver sends an action at a time"), unit("TestFiftyCallersOfOneActionMakeOneRequest")},
	}}
}
