package mutant

// upkeep are faults in how the journal keeps what it was given.
func upkeep() []Mutant {
	return []Mutant{{
		Name:    "unresolved-pruned",
		Fault:   "retention takes what is not settled too",
		Promise: neverPruned,
		Edits: []Edit{{"retention.go", `	now := wallNow()
	n := 0
`, `	now := wallNow()
	n := 0
	for e, err := range c.journal.Open(ctx) {
		if r, bad := decodeRecord(e); err == nil && bad == nil && now.Sub(r.Seen) > keep.Records {
			if c.rewrite(ctx, r.tombstone()) == nil {
				pruned.Records++
			}
		}
	}
`}},
		By: []Catcher{unit("TestWhatIsNotSettledIsNeverPruned"), seeds(1000, "what may have executed is not forgotten")},
	}, {
		Name:    "poisoned-journal-goes-on",
		Fault:   "the journal takes writes after a sync that failed",
		Promise: journalFails,
		Edits:   []Edit{{"bolt_commit.go", `	j.stop(boltFailed(j.path, "is stopped, since it cannot tell whether`, `	_ = (boltFailed(j.path, "is stopped, since it cannot tell whether`}},
		By:      []Catcher{unit("TestAFailedSyncStopsTheJournal")},
	}, {
		Name:    "commits-not-synced",
		Fault:   "commits are not synced",
		Promise: recordedFirst,
		Edits: []Edit{{"bolt.go", `		NoFreelistSync: true,
`, `		NoFreelistSync: true,
		NoSync: true,
`}},
		By: []Catcher{unit("TestAFailedSyncStopsTheJournal")},
	}, {
		Name:    "replaced-file-unnoticed",
		Fault:   "a journal whose file was removed or replaced is written on",
		Promise: recordedFirst,
		Edits: []Edit{{"bolt_commit.go", `	if err := j.identity.at(j.path); err != nil {
		return j.stop(`, `	if err := j.identity.at(j.path); err != nil && false {
		return j.stop(`}, {"bolt_commit.go", `	if err := j.identity.at(j.path); err != nil {
		return j.lose(`, `	if err := j.identity.at(j.path); err != nil && false {
		return j.lose(`}},
		By: []Catcher{unit("TestARemovedOrReplacedFileIsNoticedAtTheNextWrite")},
	}, {
		Name:    "any-revision-written",
		Fault:   "a write does not look at what was written before it",
		Promise: oneDriver,
		Edits:   []Edit{{"bolt_write.go", `	case old.revision != w.entry.Revision, w.kind == writeDelete && old.open:`, `	case w.kind == writeDelete && old.open:`}},
		By:      []Catcher{unit("TestTheBoltJournalKeepsTheContract"), seeds(300, "what a person said stays so")},
	}, {
		Name:    "name-taken-twice",
		Fault:   "two intents may be begun under one action",
		Promise: onePayload,
		Edits: []Edit{{"bolt_write.go", `		if found {
			w.held = t.entry(holder, &held)`, `		if found && false {
			w.held = t.entry(holder, &held)`}},
		By: []Catcher{unit("TestTheBoltJournalKeepsTheContract")},
	}}
}
