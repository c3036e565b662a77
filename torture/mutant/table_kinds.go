package mutant

// contractKinds are faults in the less usual kinds of what contracts say.
func contractKinds() []Mutant {
	return []Mutant{{
		Name:    "told-end-ignored",
		Fault:   "the window counts from the first attempt that may have had an effect, though one before it told the API when the key ends",
		Promise: insideWindow,
		Edits:   []Edit{{"companion.go", `	if slices.ContainsFunc(b.Companions, func(m Companion) bool { return m.Value == CompanionUntil }) {`, `	if false {`}},
		By:      []Catcher{seeds(1500, "a keyed action has at most one effect"), unit("TestAWindowEndsWhenACompanionToldThatItDoes")},
	}, {
		Name:    "told-time-ignored",
		Fault:   "the same, where the API counts from the time that was told",
		Promise: insideWindow,
		Edits:   []Edit{{"companion.go", `	if w.Anchor == AnchorStamp {`, `	if false {`}},
		By:      []Catcher{seeds(3000, "a keyed action has at most one effect"), unit("TestAWindowCountsFromTheTimeThatACompanionTold")},
	}, {
		Name:    "unknown-window-long",
		Fault:   "a window that nobody tells is taken for a day",
		Promise: insideWindow,
		Edits:   []Edit{{"window.go", `		length = unknownWindow`, `		length = 24 * time.Hour`}},
		By:      []Catcher{seeds(2000, "what may have executed is sent again only inside the window")},
	}, {
		Name:    "items-share-a-key",
		Fault:   "the items of a batch have one key",
		Promise: sameKey,
		Edits:   []Edit{{"carrier.go", `	return value + "-" + strconv.Itoa(n)`, `	return value`}},
		By:      []Catcher{seeds(600, "each item of a batch has a key of its own")},
	}, {
		Name:    "form-ignored",
		Fault:   "a key is a UUID where the contract asks for hexadecimal digits",
		Promise: sameKey,
		Edits: []Edit{{"key.go", `	case FormHex:
		return digits
`, ``}},
		By: []Catcher{seeds(600, "a key has the form that the contract asks for")},
	}, {
		Name:    "pin-ignored-by-name",
		Fault:   "one key at two hosts or paths is taken for one, though the contract says that it is two",
		Promise: onePayload,
		Edits:   []Edit{{"do.go", `	return t.bareName() + t.draft.begun.pinned(t.contract.Pin)`, `	return t.bareName()`}},
		By:      []Catcher{unit("TestAPinnedKeyIsAnotherKeyElsewhere"), seeds(3000, "another payload is a mismatch")},
	}, {
		Name:    "exception-ignored",
		Fault:   "a refusal that the API does not keep settles what was sent before",
		Promise: rejectedOnly,
		Edits:   []Edit{{"classify.go", `	kept := !slices.Contains(contract.Stored.Except, f.status)`, `	kept := true`}},
		By:      []Catcher{seeds(3000, "Rejected has no effect, then or later"), unit("TestAContractsRulesComeBeforeTheTable")},
	}, {
		Name:    "state-ignored",
		Fault:   "an effect that a lookup shows in another state counts as done",
		Promise: confirmedOnly,
		Edits:   []Edit{{"inquiry.go", `	if l.State == "" {`, `	if l.State != "-" {`}},
		By:      []Catcher{seeds(600, "what a lookup shows in another state is no effect"), unit("TestWhatALookupsAnswerProves")},
	}, {
		Name:    "nameless-list-proves",
		Fault:   "a list in which nothing could name the action is taken for proof that it had no effect",
		Promise: insideWindow,
		Edits:   []Edit{{"listing.go", `	case !l.mayName(c, r):`, `	case !l.mayName(c, r) && l.Where == "":`}},
		By:      []Catcher{unit("TestAListProvesNothingOfARecordThatItCannotName")},
	}, {
		Name:    "missing-hint-ignored",
		Fault:   "an error without the header by which the API asks for another attempt is asked for again",
		Promise: serversWish,
		Edits:   []Edit{{"hint.go", `		if len(lines) == 0 && hint.AbsentNo && f.status >= 400 && !ruled {`, `		if false {`}},
		By:      []Catcher{seeds(1500, "no call asks again that was told not to")},
	}, {
		Name:    "gone-caller-begins",
		Fault:   "who waits with another payload keeps alive what its caller was told not to have begun",
		Promise: onePayload,
		Edits: []Edit{{"perform.go", `			if waited, err := f.awaitRecord(ctx, t.cancel); waited {
`, `			f.sit(&seating{recordOnly: true}, ownBegin, time.Time{})
			if waited, err := f.awaitRecord(ctx, t.cancel); waited {
`}},
		By: []Catcher{unit("TestACallerWithAnotherPayloadDoesNotSendTheFirstOnesInItsPlace")},
	}}
}
