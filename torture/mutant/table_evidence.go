package mutant

// evidence are faults in how what is learned is merged with what is known.
func evidence() []Mutant {
	return []Mutant{{
		Name:    "settled-overwritten",
		Fault:   "later evidence replaces a settled state instead of standing beside it",
		Promise: settledStays,
		Edits: []Edit{{"record.go", `		r.Reason, r.Rival = Conflict, state
		return
`, `		r.State, r.Reason = state, ""
`}},
		By: []Catcher{seeds(300, "what a person said stays so"), unit("TestANoWhileAnAttemptMayStillArriveNeedsForce")},
	}, {
		Name:    "late-success-dropped",
		Fault:   "a success that comes after the intent was settled otherwise is ignored",
		Promise: settledStays,
		Edits: []Edit{{"intent.go", `	r := &m.next
	s := r.Sending
	if s == nil || s.ID != e.attempt {
`, `	r := &m.next
	s := r.Sending
	if r.State == Rejected {
		m.decide(p, now)
		return
	}
	if s == nil || s.ID != e.attempt {
`}},
		By: []Catcher{seeds(600, "a success that was answered is on record once its process has closed"), unit("TestANoWhileAnAttemptMayStillArriveNeedsForce")},
	}, {
		Name:    "overtaken-answer-dropped",
		Fault:   "an answer is forgotten when another write came between",
		Promise: settledStays,
		Edits:   []Edit{{"intent.go", `if heard := m.heard; heard != nil {`, `if heard := m.heard; heard != nil && false {`}},
		By:      []Catcher{unit("TestANoWhileAnAttemptMayStillArriveNeedsForce")},
	}, {
		Name:    "conflict-unlisted",
		Fault:   "an intent in conflict is not open any more",
		Promise: settledStays,
		Edits:   []Edit{{"record.go", `func (r record) open() bool { return r.State == Pending || r.Reason == Conflict }`, `func (r record) open() bool { return r.State == Pending }`}},
		By:      []Catcher{seeds(600, "what is unresolved is listed"), unit("TestANoWhileAnAttemptMayStillArriveNeedsForce")},
	}, {
		Name:    "refusal-begun-again",
		Fault:   "a new Do begins any refused action again",
		Promise: settledStays,
		Edits:   []Edit{{"record.go", `	return r.State == Rejected && r.Reason == Unauthorized && r.First.IsZero()`, `	return r.State == Rejected && r.First.IsZero()`}},
		By:      []Catcher{seeds(100, "what is settled stays so"), unit("TestARunThatIsReplayedGetsTheFirstAnswerFromTheJournal")},
	}, {
		Name:    "rejected-while-in-flight",
		Fault:   "a person's no is taken while an attempt may still arrive",
		Promise: rejectedOnly,
		Edits:   []Edit{{"resolve.go", `	if w.State == Rejected && (r.Sending != nil ||`, `	if w.State == Rejected && (`}},
		By:      []Catcher{seeds(600, "what may still arrive is not declared Rejected"), unit("TestANoWhileAnAttemptMayStillArriveNeedsForce")},
	}, {
		Name:    "refusal-after-a-lost-answer",
		Fault:   "an unmarked refusal rejects an intent whose earlier attempt may have taken effect",
		Promise: rejectedOnly,
		Edits:   []Edit{{"classify.go", `	case j.effect == effectNone && j.again == againNo && (!exposed || j.settles):`, `	case j.effect == effectNone && j.again == againNo:`}},
		By:      []Catcher{seeds(300, "Rejected has no effect, then or later"), unit("TestARefusalAfterALostAnswerLeavesTheIntentPending")},
	}, {
		Name:    "unmarked-refusal-settles",
		Fault:   "under a contract a refusal settles without the replay marker",
		Promise: rejectedOnly,
		Edits:   []Edit{{"classify.go", `	case j.refusal && contract.Stored.Refusals && kept && h.protection == keyed && j.contradicts == "":`, `	case j.refusal:`}},
		By:      []Catcher{unit("TestARefusalAfterALostAnswerLeavesTheIntentPending"), seeds(1500, "Rejected has no effect, then or later")},
	}, {
		Name:    "not-found-at-once",
		Fault:   "one lookup that does not find the effect is taken for proof",
		Promise: rejectedOnly,
		Edits: []Edit{{"lookup.go", `	case kind == NotFound && r.Absent.Before(settled):
`, `	case kind == NotFound && r.Absent.Before(settled) && false:
`}, {"lookup.go", `	case kind == NotFound && e.asked.Before(r.Absent.Add(settle)):
`, `	case kind == NotFound && e.asked.Before(r.Absent.Add(settle)) && false:
`}},
		By: []Catcher{unit("TestNotFoundIsProofOnlyWhenItIsSaidTwiceASettleTimeApart")},
	}}
}
