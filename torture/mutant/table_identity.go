package mutant

// identity are faults in what travels: the key, the payload, the credentials.
func identity() []Mutant {
	return []Mutant{{
		Name:    "key-per-attempt",
		Fault:   "every attempt after the first has a key of its own",
		Promise: sameKey,
		Edits: []Edit{{"client.go", `	f.request = req
`, `	if r := cmd.record; r.Begun.Wire != "" && r.Attempts > 0 {
		req.Header.Set(r.Begun.Carrier.Name, uuid.NewString())
	}
	f.request = req
`}},
		By: []Catcher{seeds(10, "one key"), unit("TestManyCallersOfFewActionsMakeOneEffectEach")},
	}, {
		Name:    "key-lost-at-restart",
		Fault:   "an intent that is taken up from the journal gets a new key",
		Promise: sameKey,
		Edits: []Edit{{"perform.go", `	m := machine{rec: r, next: r}
`, `	if t.draft == nil && r.Begun.Wire != "" {
		r.Begun.Key = c.ids.new(wallNow()).String()
		r.Begun.Wire = r.Begun.Key
	}
	m := machine{rec: r, next: r}
`}},
		By: []Catcher{seeds(10, "one key")},
	}, {
		Name:    "later-payload-sent",
		Fault:   "a repeated call's bytes travel instead of the first call's",
		Promise: sameKey,
		Edits: []Edit{{"perform.go", `		f.drafted, f.live = true, t.draft.live
`, `		f.drafted, f.live, f.body = true, t.draft.live, t.draft.body
`}},
		By: []Catcher{seeds(300, "one payload"), unit("TestTheSamePayloadInAnotherSpellingIsTheSameIntent")},
	}, {
		Name:    "mismatch-ignored",
		Fault:   "an action that comes again with another payload is answered as if it were the same",
		Promise: onePayload,
		Edits: []Edit{{"perform.go", `	return print == r.Begun.Fingerprint
`, `	return print == r.Begun.Fingerprint || true
`}},
		By: []Catcher{seeds(30, "another payload is a mismatch")},
	}, {
		Name:    "credentials-journaled",
		Fault:   "the Authorization header is taken for an ordinary one",
		Promise: noSecrets,
		Edits:   []Edit{{"secrets.go", `"cookie", "authoriz", "authentic"`, `"cookie", "authentic"`}},
		By:      []Catcher{seeds(100, "no credential is in the journal"), unit("TestSecretsAreSentAndNeverSaidOrWritten")},
	}, {
		Name:    "userinfo-journaled",
		Fault:   "a URL's user and password stay in it",
		Promise: noSecrets,
		Edits:   []Edit{{"secrets.go", `	k.User, k.Fragment, k.RawFragment = nil, "", ""`, `	k.Fragment, k.RawFragment = "", ""`}},
		By:      []Catcher{unit("TestSecretsAreSentAndNeverSaidOrWritten"), seeds(600, "no credential is in the journal")},
	}, {
		Name:    "key-logged",
		Fault:   "events name the key itself instead of its print",
		Promise: noSecrets,
		Edits:   []Edit{{"event.go", `keyPrint(r.Begun.Key)`, `r.Begun.Key`}},
		By:      []Catcher{unit("TestTheKeyIsNeverSaidWhole")},
	}}
}
