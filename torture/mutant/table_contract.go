package mutant

// contractTerms are faults in what contracts ask for beside a key and its window.
func contractTerms() []Mutant {
	return []Mutant{{
		Name:    "key-member-twice",
		Fault:   "a key is written beside the null that stands in its place",
		Promise: sameKey,
		Edits: []Edit{{"carrier_json.go", `		s.at, s.end, s.before, s.after = m.value.from, m.value.to, ` + "`\"`, `\"`" + `
`, ``}},
		By: []Catcher{unit("TestAKeyGoesIntoAJSONBodyAndNothingElseChanges")},
	}, {
		Name:    "key-fingerprinted",
		Fault:   "the key in a body counts as a part of the payload",
		Promise: onePayload,
		Edits: []Edit{{"request.go", `		body = s.erase(&b, body)
`, `		if s.kind == CarrierHeader {
			body = s.erase(&b, body)
		}
`}},
		By: []Catcher{unit("TestThePayloadIsTheSameWhateverItsKey")},
	}, {
		Name:    "body-key-not-adopted",
		Fault:   "the key that the caller has put into the body is sent, and another one recorded",
		Promise: sameKey,
		Edits:   []Edit{{"do.go", `		if t.adopted, err = contract`, `		if _, err = contract`}},
		By:      []Catcher{seeds(600, "one key"), unit("TestACallersKeyInTheRequestIsAdoptedAndNamesTheIntent")},
	}, {
		Name:    "companions-renewed",
		Fault:   "the time that goes with the key is that of each attempt",
		Promise: sameKey,
		Edits:   []Edit{{"client.go", `	if r.Begun.stamps() {`, `	if len(r.Begun.Companions) > 0 {`}},
		By:      []Catcher{seeds(300, "what goes with the key is the same at every attempt"), unit("TestCompanionsTellWhenTheFirstAttemptWasRecorded")},
	}, {
		Name:    "redirect-without-the-key",
		Fault:   "a redirect that loses the key in the URL is followed",
		Promise: sameKey,
		Edits:   []Edit{{"companion.go", `	if target == "" || b.Wire == "" {`, `	if true {`}},
		By:      []Catcher{unit("TestARedirectThatLosesTheKeyIsNotFollowed"), seeds(600, "one key")},
	}, {
		Name:    "planted-over",
		Fault:   "an id is planted over what the caller has written there",
		Promise: onePayload,
		Edits: []Edit{{"plant.go", `	if there, err := s.read(*b, body); err != nil || len(there) > 0 {`, `	if _, err := s.read(*b, body); err != nil {`},
			{"carrier.go", `	for n, at := range sites {
		if at.value == "" {`, `	for n, at := range sites {
		if true {`}},
		By: []Catcher{seeds(600, "another payload is a mismatch"), unit("TestAnIDIsPlantedWhereThereIsAPlaceForIt")},
	}, {
		Name:    "lookup-carries-the-key",
		Fault:   "a lookup has the key's header, as an attempt",
		Promise: lookupsAsk,
		Edits:   []Edit{{"ask.go", `		Method: http.MethodGet, URL: u, Host: r.Begun.Host, Header: http.Header{},`, `		Method: http.MethodGet, URL: u, Host: r.Begun.Host, Header: r.Begun.sentHeader(),`}},
		By:      []Catcher{seeds(2000, "a lookup carries no key where an attempt does"), unit("TestALookupHasTheCallsCredentialsAndNeitherKeyNorBody")},
	}, {
		Name:    "lookup-counted",
		Fault:   "a lookup counts as an attempt",
		Promise: lookupsAsk,
		Edits: []Edit{{"lookup.go", `		r.Looks++
`, `		r.Looks++
		r.Attempts++
`}},
		By: []Catcher{seeds(600, "attempts are not more than sends")},
	}, {
		Name:    "absence-without-proof",
		Fault:   "a lookup that is no proof is taken for one when it does not find the effect",
		Promise: unprotectedOne,
		Edits:   []Edit{{"inquiry.go", `	if !l.Proof || c.Proof > ProofVendor {`, `	if c.Proof > ProofVendor {`}},
		By:      []Catcher{seeds(600, "what may have executed is not sent again unprotected"), unit("TestWhatALookupsAnswerProves")},
	}, {
		Name:    "lookup-error-is-not-found",
		Fault:   "an error of a lookup counts as not found",
		Promise: rejectedOnly,
		Edits: []Edit{{"lookup.go", `	if err != nil {
		e.finding = Finding{}
	}
`, `	if err != nil {
		e.finding = Finding{Kind: NotFound}
	}
`}},
		By: []Catcher{unit("TestAnErrorOfALookupIsNeverNotFound")},
	}, {
		Name:    "lost-lookup-is-not-found",
		Fault:   "a contract's lookup whose answer is lost counts as not found",
		Promise: rejectedOnly,
		Edits: []Edit{{"ask.go", `		if err = failed; err == nil {
`, `		if err = failed; err != nil {
			e.finding, e.settle, e.unasked = Finding{Kind: NotFound}, l.settle(f.policy.contract), false
			return nil
		} else {
`}},
		By: []Catcher{unit("TestAnAPIThatCannotTellIsAskedAfterMinutesAnHourAndThenDaily")},
	}, {
		Name:    "any-404-is-not-found",
		Fault:   "a 404 that is no JSON, from something in between, counts as not found",
		Promise: rejectedOnly,
		Edits:   []Edit{{"inquiry.go", `	case isJSON && status == http.StatusNotFound && l.Items == "":`, `	case status == http.StatusNotFound && l.Items == "":`}},
		By:      []Catcher{unit("TestWhatALookupsAnswerProves")},
	}, {
		Name:    "absence-at-once",
		Fault:   "a lookup is believed before the effect can have come to show, and said once",
		Promise: rejectedOnly,
		Edits: []Edit{{"lookup.go", `	case kind == NotFound && e.asked.Before(settled):`, `	case false:`},
			{"lookup.go", `	case kind == NotFound && r.Absent.Before(settled):`, `	case false:`},
			{"lookup.go", `	case kind == NotFound && e.asked.Before(r.Absent.Add(settle)):`, `	case false:`}},
		By: []Catcher{seeds(600, "an unprotected action has at most one effect"), unit("TestProofOfAbsenceIsWorthAResendAfterTheSettleTimeTwice")},
	}, {
		Name:    "where-ignored",
		Fault:   "every item of a list counts as the effect that is asked for",
		Promise: confirmedOnly,
		Edits: []Edit{{"inquiry.go", `	if l.Where == "" {
		return true
	}
`, `	if l.Where != "/" {
		return true
	}
`}},
		By: []Catcher{seeds(600, "a reference names an effect of the action"), unit("TestWhatALookupsAnswerProves")},
	}, {
		Name:    "next-page-ignored",
		Fault:   "a list that has another page is taken for the whole",
		Promise: rejectedOnly,
		Edits:   []Edit{{"listing.go", `	case p.more:`, `	case false:`}},
		By:      []Catcher{unit("TestALinkToANextPageKeepsAListFromProvingAbsence")},
	}, {
		Name:    "silence-ends-a-list",
		Fault:   "a list of others that does not say that it ends is taken for the whole",
		Promise: rejectedOnly,
		Edits:   []Edit{{"listing.go", `	case items > 0 && !p.ends:`, `	case false:`}},
		By:      []Catcher{unit("TestAListOfOthersProvesAbsenceOnlyWhereItsEndIsSaid")},
	}, {
		Name:    "cached-absence",
		Fault:   "what a cache kept from before the attempt is taken for proof that it had no effect",
		Promise: rejectedOnly,
		Edits:   []Edit{{"inquiry.go", `ok && age > 0 {`, `ok && age < 0 {`}},
		By:      []Catcher{unit("TestAnAnswerOutOfACacheProvesNoAbsence")},
	}, {
		Name:    "absence-by-one-clock",
		Fault:   "two answers count as a settle time apart though the API's own dates say that they are not",
		Promise: rejectedOnly,
		Edits:   []Edit{{"lookup.go", `e.dated.Sub(r.AbsentDate) <= settle-time.Second:`, `false:`}},
		By:      []Catcher{unit("TestAbsenceIsSaidTwiceASettleTimeApartByTheAPIsClockToo")},
	}, {
		Name:    "lookup-wish-unheard",
		Fault:   "a lookup is asked sooner than the last answer asked",
		Promise: serversWish,
		Edits:   []Edit{{"ask.go", `	if r.Wish.After(e.asked) {`, `	if false {`}},
		By:      []Catcher{unit("TestNoLookupIsAskedSoonerThanTheLastAnswerAsked")},
	}, {
		Name:    "parked-for-ever",
		Fault:   "what was parked before anybody could be asked is taken up by no pass",
		Promise: honestPending,
		Edits: []Edit{{"client.go", `	c.learned.Store(true)
`, ``}},
		By: []Catcher{unit("TestWhatWasParkedBeforeAnybodyCouldBeAskedIsTakenUpOnceSomebodyCan")},
	}, {
		Name:    "pin-not-compared",
		Fault:   "what may have taken effect is sent again with other credentials, though the API knows a key only with the first",
		Promise: insideWindow,
		Edits:   []Edit{{"pin.go", `(r.Exposed || r.Incomplete) && first != "" && first != credential {`, `false && first != credential {`}},
		By:      []Catcher{seeds(300, "what may have executed is sent again only with the credentials that it had"), unit("TestWhatMayHaveExecutedIsNotSentWithOtherCredentials")},
	}, {
		Name:    "pin-not-compared-by-lookups",
		Fault:   "a lookup asks with other credentials than the key came with, and what those are shown counts",
		Promise: rejectedOnly,
		Edits: []Edit{{"ask.go", `	if _, err := r.credential(f.policy.contract, req); err != nil {
		return nil, err
	}
`, ``}},
		By: []Catcher{seeds(1500, "a keyed action has at most one effect"), unit("TestAPinnedKeyIsLookedUpOnlyWithTheCredentialsThatItHad")},
	}, {
		Name:    "hint-no-ignored",
		Fault:   "an answer that says not to ask again is asked for again",
		Promise: serversWish,
		Edits: []Edit{{"hint.go", `	case no:
`, `	case no && false:
`}},
		By: []Catcher{seeds(600, "no call asks again that was told not to"), unit("TestAHintIsWaitedForAndEndsTheAttempts")},
	}, {
		Name:    "hint-shortens-the-wish",
		Fault:   "a hint replaces Retry-After, though it asks for less",
		Promise: serversWish,
		Edits:   []Edit{{"hint.go", `		j.wait, j.asked = max(j.wait, wait), true`, `		j.wait, j.asked = wait, true`}},
		By:      []Catcher{seeds(1000, "no send sooner than the server asked of the action"), unit("TestTheFirstHintCountsAndNothingIsSentSoonerThanRetryAfter")},
	}, {
		Name:    "hint-unheard",
		Fault:   "the pause that a hint asks for is not waited",
		Promise: serversWish,
		Edits:   []Edit{{"hint.go", `	if wait, asked := hs.pause(f, j.reason, now); asked {`, `	if wait, asked := hs.pause(f, j.reason, now); asked && wait < 0 {`}},
		By:      []Catcher{seeds(600, "no send sooner than a hint of the contract asked"), unit("TestAHintIsWaitedForAndEndsTheAttempts")},
	}, {
		Name:    "least-pause-ignored",
		Fault:   "what may have arrived is repeated sooner than the contract's least pause",
		Promise: serversWish,
		Edits: []Edit{{"intent.go", `		wait = max(wait, least)
`, ``}},
		By: []Catcher{seeds(1000, "no repeat of what may have arrived sooner than the contract's least pause"), unit("TestWhatMayHaveArrivedIsNotRepeatedBeforeTheLeastPause")},
	}, {
		Name:    "running-for-ever",
		Fault:   "what says in progress is asked for again without an end",
		Promise: honestPending,
		Edits:   []Edit{{"intent.go", `	if j.reason == InProgress && r.stuck(p, now) {`, `	if j.reason == InProgress && r.stuck(p, now) && false {`}},
		By:      []Catcher{unit("TestAnAttemptThatNeverEndsIsNotAskedForForEver")},
	}, {
		Name:    "kept-failure-retried",
		Fault:   "a 500 that the contract says is kept is asked for again",
		Promise: honestPending,
		Edits:   []Edit{{"classify.go", `	case !r.ruled && contract.Stored.Failures == KeepingYes && kept`, `	case !r.ruled && contract.Stored.Failures > KeepingNo && kept`}},
		By:      []Catcher{seeds(2000, "a failure that the server has stored is not asked for again"), unit("TestAContractsRulesComeBeforeTheTable")},
	}, {
		Name:    "rule-on-a-cut-body-skipped",
		Fault:   "a success whose body was cut before a rule could read its code is Confirmed",
		Promise: confirmedOnly,
		Edits:   []Edit{{"answer.go", `			if !readable && f.bodyMissing() && (f.status/100 != 2 || a.Verdict != VerdictDone) {`, `			if !readable && f.bodyMissing() && f.status/100 != 2 {`}},
		By:      []Catcher{unit("TestAContractsRulesComeBeforeTheTable")},
	}, {
		Name:    "any-value-marks-a-replay",
		Fault:   "an answer counts as a replay though its mark says that it is none",
		Promise: rejectedOnly,
		Edits:   []Edit{{"answer.go", `		if anyLine(f.header, name, values) {`, `		if anyLine(f.header, name, nil) {`}},
		By:      []Catcher{unit("TestAMarkerMarksByHeaderOrByBody")},
	}, {
		Name:    "done-without-its-code",
		Fault:   "a 409 counts as done whatever its code, where a rule names the code of what exists",
		Promise: confirmedOnly,
		Edits:   []Edit{{"answer.go", `			if !readable || !a.namesCode(doc) {`, `			if (!readable || !a.namesCode(doc)) && a.Verdict != VerdictDone {`}},
		By:      []Catcher{unit("TestAContractsRulesComeBeforeTheTable")},
	}, {
		Name:    "methods-ignored",
		Fault:   "a contract that speaks of POST takes a PUT for keyed too",
		Promise: unprotectedOne,
		Edits:   []Edit{{"match.go", `	if !slices.Contains(m.Methods, method) {`, `	if !slices.Contains(m.Methods, method) && method != "PUT" {`}},
		By:      []Catcher{unit("TestRoutesByMethodBodyAndContext")},
	}}
}
