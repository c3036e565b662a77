package mutant

// exposure are faults in what is known of attempts that may have had an effect,
// and in what may be sent again after them.
func exposure() []Mutant {
	return []Mutant{{
		Name:    "exposure-forgotten",
		Fault:   "a lost answer leaves no trace in the record",
		Promise: honestPending,
		Edits: []Edit{{"intent.go", `			m.call.exposedHere = true
		}
		r.expose(s.At)
`, `			m.call.exposedHere = true
		}
`}},
		By: []Catcher{seeds(30, "what is told not to have executed has not"), unit("TestAnAttemptWithoutAStatusMayHaveExecuted")},
	}, {
		Name:    "exposure-forgotten-at-restart",
		Fault:   "an attempt that a crash cut off counts as never sent",
		Promise: honestPending,
		Edits: []Edit{{"intent.go", `		r.Sending, r.Last, r.Ended = nil, s.At, now
		r.expose(s.At)
		if r.State == Pending {
			r.Reason,`, `		r.Sending, r.Last, r.Ended = nil, s.At, now
		if r.State == Pending {
			r.Reason,`}},
		By: []Catcher{seeds(300, "what may have executed is not sent again unprotected"), unit("TestWithoutAContractACrashInMidAttemptIsForAPerson")},
	}, {
		Name:    "lost-answer-never-sent",
		Fault:   "an error after the connection was got counts as never sent",
		Promise: honestPending,
		Edits: []Edit{
			{"attempt.go", `	if !g.asked || !g.plain && (g.bodyHit || !hasBody) {`, `	if !g.asked {`},
			{"attempt.go", `		if !s.seal() {`, `		if !s.seal() && false {`},
			{"attempt.go", `	if len(g.got) == 0 && g.bodyHit {`, `	if len(g.got) == 0 && g.bodyHit && false {`},
		},
		By: []Catcher{seeds(100, "what is told not to have executed has not"), unit("TestAnAttemptWithoutAStatusMayHaveExecuted")},
	}, {
		Name:    "may-have-executed-denied",
		Fault:   "the outcome of an exposed intent says that nothing can have happened",
		Promise: honestPending,
		Edits: []Edit{{"record.go", `	return r.State == Pending && (r.Exposed || r.Sending != nil)
`, `	return r.State == Pending && r.Sending != nil
`}},
		By: []Catcher{seeds(30, "what is told not to have executed has not"), unit("TestAnOpenOutcomeSaysWhatIsKnownAndWhatToDo")},
	}, {
		Name:    "exposed-told-not-sent",
		Fault:   "an intent that may have taken effect is told as NotSent when a later attempt was refused a connection",
		Promise: honestPending,
		Edits:   []Edit{{"intent.go", `		if r.Exposed && (r.Reason == NotSent || r.Reason == Refused) {`, `		if false {`}},
		By:      []Catcher{seeds(600, "an outcome makes sense")},
	}, {
		Name:    "repeat-untold",
		Fault:   "MayHaveRepeated is never set",
		Promise: honestPending,
		Edits: []Edit{{"intent.go", `		r.Repeated = true
`, `		r.Repeated = false
`}},
		By: []Catcher{seeds(300, "a second effect that the answers betray is told"), unit("TestAnAnswerThatContradictsTheContractIsAnEvent")},
	}, {
		Name:    "unprotected-resent",
		Fault:   "a POST without a contract is sent again after a lost answer",
		Promise: unprotectedOne,
		Edits: []Edit{{"classify.go", `ambiguous && !j.settles && !protects {`, `ambiguous && !j.settles && !protects && j.contradicts != "" {`},
			{"intent.go", `(protection == unprotected || protection == idempotent && !m.call.exposedHere)`, `(protection != keyed && !m.call.exposedHere)`}},
		By: []Catcher{seeds(300, "what may have executed is not sent again unprotected")},
	}, {
		Name:    "server-error-resent",
		Fault:   "a POST without a contract is sent again after a 5xx, as one that did nothing",
		Promise: unprotectedOne,
		Edits: []Edit{{"classify.go", `		return judgement{effect: effectMaybe, again: againNow, reason: ServerError}
`, `		return judgement{effect: effectNone, again: againNow, reason: ServerError}
`}},
		By: []Catcher{seeds(300, "what may have executed is not sent again unprotected")},
	}, {
		Name:    "unprotected-resumed",
		Fault:   "a POST without a contract that a crash cut off is sent again by Resume",
		Promise: unprotectedOne,
		Edits:   []Edit{{"intent.go", `(protection == unprotected || protection == idempotent && !m.call.exposedHere)`, `(protection == unprotected && m.call.exposedHere || protection == idempotent && !m.call.exposedHere)`}},
		By:      []Catcher{seeds(100, "what may have executed is not sent again unprotected")},
	}, {
		Name:    "put-resumed",
		Fault:   "an exposed PUT without a contract is sent again by Resume",
		Promise: unprotectedOne,
		Edits:   []Edit{{"intent.go", `(protection == unprotected || protection == idempotent && !m.call.exposedHere)`, `protection == unprotected`}},
		By:      []Catcher{seeds(100, "what may have executed is sent again without a key only by the same call")},
	}, {
		Name:    "pass-through-retried",
		Fault:   "a POST that passes through unjournaled is retried like a GET",
		Promise: unprotectedOne,
		Edits: []Edit{{"roundtrip.go", `	case c.cfg.Unmatched == PassThrough:
		return routeOnce
`, `	case c.cfg.Unmatched == PassThrough:
		return routeRetry
`}},
		By: []Catcher{unit("TestRoutesByMethodBodyAndContext")},
	}, {
		Name:    "contract-gone-sent",
		Fault:   "an intent whose contract is gone is sent as before",
		Promise: insideWindow,
		Edits: []Edit{{"intent.go", `	if r.Begun.Wire != "" && p.contract == nil {`, `	if false {`},
			{"protection.go", `	case r.Begun.Wire != "" && !p.distrusted && p.contract.keyed():`, `	case r.Begun.Wire != "":`}},
		By: []Catcher{unit("TestAnIntentWhoseContractIsGoneIsNotSent"), seeds(1500, "what may have executed is not sent without a contract of today")},
	}, {
		Name:    "distrust-forgotten",
		Fault:   "a contract that an answer has contradicted is trusted on",
		Promise: contractKept,
		Edits: []Edit{{"classify.go", `	protects := h.protection != unprotected && j.contradicts == ""
`, `	protects := h.protection != unprotected
`}, {"perform.go", `	return c.distrusted[contract.Name]
`, `	return false
`}, {"classify.go", `		if h.protection == keyed {
			h.protection = unprotected
		}
`, ``}},
		By: []Catcher{seeds(300, "a contract that was contradicted is not relied on"), unit("TestAFreshSuccessAfterInProgressEndsTheTrustInTheContract")},
	}, {
		Name:    "copy-adopts-itself",
		Fault:   "a copied journal sends as if the original were gone",
		Promise: copiesWait,
		Edits:   []Edit{{"client.go", `	if cfg.AdoptCopy {`, `	if true {`}},
		By:      []Catcher{seeds(300, "a copied journal sends nothing until it is adopted"), unit("TestACopiedJournalSendsNothingUntilItIsAdopted")},
	}, {
		Name:    "copy-unexposed",
		Fault:   "what was unresolved in a copied journal counts as never sent",
		Promise: copiesWait,
		Edits:   []Edit{{"record.go", `	if !r.copied || r.State != Pending {`, `	if true {`}},
		By:      []Catcher{seeds(300, "what was unresolved in a copy is not sent again without a contract"), unit("TestWhatWasUnresolvedInACopyCountsAsSentSinceItWasBegun")},
	}}
}
