package mutant

// answers are faults in what an answer is taken to prove.
func answers() []Mutant {
	return []Mutant{{
		Name:    "login-page-confirms",
		Fault:   "a redirect to another page counts as success",
		Promise: confirmedOnly,
		Edits: []Edit{{"classify.go", `	case s/100 == 2:
`, `	case s/100 == 2, s == http.StatusFound, s == http.StatusSeeOther:
`}},
		By: []Catcher{seeds(300, "Confirmed has an effect"), unit("TestARedirectThatChangesTheMethodIsNeverFollowed")},
	}, {
		Name:    "portal-believed",
		Fault:   "answers without the API's own mark are taken for the API's",
		Promise: confirmedOnly,
		Edits:   []Edit{{"classify.go", `	if r.foreign && (f.status/100 == 2 || f.status/100 == 4) {`, `	if false {`}},
		By:      []Catcher{seeds(300, "Confirmed has an effect"), unit("TestAContractsRulesComeBeforeTheTable")},
	}, {
		Name:    "portal-refusal-believed",
		Fault:   "a 4xx without the API's own mark is taken for the API's",
		Promise: rejectedOnly,
		Edits:   []Edit{{"classify.go", `	if r.foreign && (f.status/100 == 2 || f.status/100 == 4) {`, `	if r.foreign && f.status/100 == 2 {`}},
		By:      []Catcher{unit("TestAContractsRulesComeBeforeTheTable"), seeds(1500, "Rejected has no effect, then or later")},
	}, {
		Name:    "server-error-refused",
		Fault:   "a 5xx counts as a definite no",
		Promise: rejectedOnly,
		Edits: []Edit{{"classify.go", `		return judgement{effect: effectMaybe, again: againNow, reason: ServerError}
`, `		return judgement{effect: effectNone, again: againNo, reason: Refused}
`}},
		By: []Catcher{seeds(300, "Rejected has no effect, then or later")},
	}, {
		Name:    "timeout-answer-refused",
		Fault:   "a 408 counts as a definite no",
		Promise: rejectedOnly,
		Edits: []Edit{{"classify.go", `	case s == http.StatusRequestTimeout:
		return judgement{effect: effectMaybe, again: againNow, reason: Unknown}
`, `	case s == http.StatusRequestTimeout:
		return judgement{reason: Refused, refusal: true}
`}},
		By: []Catcher{unit("TestEveryAttemptIsJudgedAsTheDesignSays"), seeds(1500, "Rejected has no effect, then or later")},
	}, {
		Name:    "in-progress-refused",
		Fault:   "a 409 that says in progress counts as a definite no",
		Promise: rejectedOnly,
		Edits: []Edit{{"classify.go", `			return judgement{effect: effectMaybe, again: againNow, reason: InProgress}
		}
`, `			return judgement{reason: Refused, refusal: true}
		}
`}, {"classify.go", `	case VerdictInProgress:
		return judgement{effect: effectMaybe, again: againNow, reason: InProgress}
`, `	case VerdictInProgress:
		return judgement{reason: Refused, refusal: true}
`}},
		By: []Catcher{unit("TestAConflictIsReadByWhatItSays"), seeds(1500, "Rejected has no effect, then or later")},
	}, {
		Name:    "cut-answer-whole",
		Fault:   "an answer that did not arrive whole is told as whole",
		Promise: honestPending,
		Edits: []Edit{{"attempt.go", `	case err != nil:
		s.facts.cut, s.err = true, err
`, `	case err != nil && s.facts.status == 0:
		s.facts.cut, s.err = true, err
`}},
		By: []Catcher{unit("TestACutOffSuccessIsConfirmedAndItsBodyIsAskedFor")},
	}, {
		Name:    "redirect-to-anywhere",
		Fault:   "a redirect to another origin is followed",
		Promise: rejectedOnly,
		Edits:   []Edit{{"request.go", `	if err != nil || to.User != nil || to.Scheme != from.Scheme || !strings.EqualFold(authority(to), authority(from)) {`, `	if err != nil || to.User != nil {`}},
		By:      []Catcher{unit("TestARedirectIsFollowedOnlyToTheSameOrigin")},
	}}
}
