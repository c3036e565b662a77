package mutant

// windows are faults in how long a key is trusted.
func windows() []Mutant {
	return []Mutant{{
		Name:    "window-unchecked",
		Fault:   "keys are trusted for ever",
		Promise: insideWindow,
		Edits: []Edit{{"intent.go", `			if now.After(until) || r.NotBefore.After(until) {`, `			if until.IsZero() {`},
			{"intent.go", `			c.until = until
`, `			_ = until
`}},
		By: []Catcher{seeds(100, "what may have executed is sent again only inside the window")},
	}, {
		Name:    "window-not-read-after-the-save",
		Fault:   "after the save the window is not looked at again",
		Promise: insideWindow,
		Edits: []Edit{{"intent.go", `	if h := m.hold(p, now); h.held || p.shut || m.rec.State != Pending && !m.rec.Incomplete {
`, `	if h := m.hold(p, now); h.held && h.reason != KeyExpired || p.shut || m.rec.State != Pending && !m.rec.Incomplete {
`}},
		By: []Catcher{seeds(300, "what may have executed is sent again only inside the window"), unit("TestASaveThatOutlastsTheWindowIsFollowedByNoAttempt")},
	}, {
		Name:    "window-not-read-at-the-connection",
		Fault:   "a connection that comes after the window is used",
		Promise: insideWindow,
		Edits:   []Edit{{"attempt.go", `			if !g.notAfter.IsZero() && wallNow().After(g.notAfter) {`, `			if false {`}},
		By:      []Catcher{seeds(300, "what may have executed reaches nobody after the window"), unit("TestAConnectionGotAfterTheWindowCarriesNothing")},
	}, {
		Name:    "window-of-the-last-attempt",
		Fault:   "the window counts from the last attempt instead of the first",
		Promise: insideWindow,
		Edits: []Edit{{"protection.go", `	r.Exposed = r.State == Pending
	if r.First.IsZero() {
		r.First = at
	}
`, `	r.Exposed = r.State == Pending
	r.First = at
`}},
		By: []Catcher{seeds(100, "what may have executed is sent again only inside the window"), unit("TestTheWindowCountsFromTheFirstAttemptThatMayHaveExecuted")},
	}, {
		Name:    "window-of-the-answer",
		Fault:   "the window counts from the end of the first attempt instead of its start",
		Promise: insideWindow,
		Edits: []Edit{{"intent.go", `			m.call.exposedHere = true
		}
		r.expose(s.At)
`, `			m.call.exposedHere = true
		}
		r.expose(now)
`}},
		By: []Catcher{seeds(300, "what may have executed is sent again only inside the window"), unit("TestTheWindowCountsFromTheStartOfAnAttemptThatTakesLong")},
	}, {
		Name:    "window-whole",
		Fault:   "the whole window is used, without a share or an attempt's time left at its end",
		Promise: insideWindow,
		Edits: []Edit{{"window.go", `	return max(0, length-max(0, attempt)), false
`, `	return w.Length, false
`}},
		By: []Catcher{seeds(300, "what may have executed is sent again only inside the window")},
	}, {
		Name:    "window-of-today",
		Fault:   "the present contract's window counts though the intent was begun under a smaller one",
		Promise: insideWindow,
		Edits: []Edit{{"protection.go", `	if ever || !forever && mine <= today {
		return w
	}
`, `	_, _, _, _ = mine, forever, today, ever
`}},
		By: []Catcher{seeds(600, "what may have executed is sent again only inside the window"), unit("TestTheSmallerOfTwoWindowsCounts")},
	}, {
		Name:    "birth-ignored",
		Fault:   "an action born elsewhere counts its window from its own first attempt",
		Promise: insideWindow,
		Edits: []Edit{{"protection.go", `	if !r.Begun.Born.IsZero() {
		anchor = r.Begun.Born
	}
`, ``}},
		By: []Catcher{seeds(600, "what was begun elsewhere is sent only inside the window from then on"), unit("TestAWindowCountsFromTheBirthOfTheAction")},
	}, {
		Name:    "clock-behind-trusted",
		Fault:   "ages are computed though the clock is behind the journal",
		Promise: insideWindow,
		Edits:   []Edit{{"intent.go", `		if now.Before(later(r.Seen, p.latest)) {`, `		if false {`}},
		By:      []Catcher{seeds(100, "what may have executed is not sent while the clock is behind")},
	}}
}
