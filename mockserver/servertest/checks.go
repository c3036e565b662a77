package servertest

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

func (a answer) String() string {
	if a.err != nil {
		return "the error " + a.err.Error()
	}
	return fmt.Sprintf("status %d, body %.200q", a.status, a.body)
}

type check struct {
	name string
	run  func(*subject)
}

var checks = []check{
	{"AnotherKeyIsAnotherAction", anotherKey},
	{"ARepeatGetsTheStoredAnswer", sameKeyTwice},
	{"ParallelRequestsMakeOneEffect", parallel},
	{"AnotherPayloadIsRefused", otherPayload},
	{"AKeySentTwiceIsRefused", keySentTwice},
	{"TenantsDoNotShareKeys", tenants},
	{"ARequestGoesOnWithoutItsClient", clientGone},
	{"AnErrorDoesNotBlockTheKey", afterError},
	{"ACrashMakesNoSecondEffect", afterCrash},
}

// anotherKey also shows that Effects counts.
func anotherKey(s *subject) {
	before := s.Effects()
	s.first(1, s.NewKey())
	s.first(1, s.NewKey())
	s.effects(before, 2, "Equal payloads under two keys are two actions, and the target's Effects must count both.")
}

func sameKeyTwice(s *subject) {
	before, key := s.Effects(), s.NewKey()
	first := s.first(1, key)
	again := s.repeat(1, key)
	if again.status != first.status || again.body != first.body {
		s.Errorf("the repeat got %s; the first got %s. Store status and body with the effect and return them: a client whose first answer was lost has only the repeat.", again, first)
	}
	s.effects(before, 1, "The same key twice executed twice.")
}

func parallel(s *subject) {
	const rounds, clients = 3, 16
	for round := range rounds {
		before, key := s.Effects(), s.NewKey()
		answers := make([]answer, clients)
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() { answers[i] = s.send(s.Context(), round, key) })
		}
		wg.Wait()
		settled := s.repeat(round, key)
		for _, a := range answers {
			switch {
			case a.inFlight:
			case !a.success():
				s.Errorf("one of %d parallel requests got %s. Answer that the first is in progress, or its answer.", clients, a)
			case a.body != settled.body:
				s.Errorf("parallel requests under one key got different answers: %s and %s.", a, settled)
			}
		}
		s.effects(before, 1, fmt.Sprintf("%d requests under one key ran at once: more than one passed the look-up before any claimed the key. Claim it in one atomic step (insert under a unique index), then execute.", clients))
		if s.Failed() {
			return
		}
	}
}

func otherPayload(s *subject) {
	before, key := s.Effects(), s.NewKey()
	s.first(1, key)
	other := s.repeat(2, key)
	switch {
	case other.success():
		s.Errorf("another payload under a known key got %s. Store a fingerprint of the request with the key and refuse (422): the client would take the answer for its own.", other)
	case other.err != nil || other.status < 400 || other.status > 499:
		s.Errorf("another payload under a known key got %s; want a 4xx that says so.", other)
	}
	if again := s.repeat(1, key); !again.success() {
		s.Errorf("after a mismatch the right payload got %s. A refused request must leave the record as it was.", again)
	}
	s.effects(before, 1, "Another payload under a known key executed.")
}

func keySentTwice(s *subject) {
	before, key := s.Effects(), s.NewKey()
	for shape, edit := range map[string]edit{
		"two lines":            func(r *http.Request) { r.Header.Add(s.KeyHeader, key) },
		"one line, two values": func(r *http.Request) { r.Header.Set(s.KeyHeader, key+", "+key) },
	} {
		if a := s.send(s.Context(), 1, key, edit); !a.refusal() {
			s.Errorf("the key in %s got %s; want 400. A hop that joins the two reads another key, and the honest repeat executes again.", shape, a)
		}
	}
	s.effects(before, 0, "A request with a doubled key executed.")
}

func tenants(s *subject) {
	if s.AsTenant == nil {
		s.Skip("no AsTenant hook")
	}
	as := func(tenant int) edit { return func(r *http.Request) { s.AsTenant(r, tenant) } }
	before, key := s.Effects(), s.NewKey()
	mine := s.first(1, key, as(0))
	yours := s.send(s.Context(), 1, key, as(1))
	switch {
	case !yours.success():
		s.Errorf("a second tenant's first request under the same key got %s. Keys are unique per tenant: a refusal tells that somebody else has used this one.", yours)
	case yours.body == mine.body:
		s.Errorf("a second tenant got the first one's stored answer. Look keys up under (tenant, key).")
	}
	s.effects(before, 2, "Two tenants under one key are two actions.")
}

func clientGone(s *subject) {
	for timeout := time.Millisecond; timeout <= 32*time.Millisecond && !s.Failed(); timeout *= 2 {
		before, key := s.Effects(), s.NewKey()
		ctx, cancel := context.WithTimeout(s.Context(), timeout)
		s.send(ctx, 1, key) // answered or not: nobody can tell
		cancel()
		if again := s.repeat(1, key); !again.success() {
			s.Errorf("a client went after %s and came again; its repeat got %s. Do not tie the execution to the connection.", timeout, again)
		}
		s.effects(before, 1, "A request whose client went, and its repeat, are one action.")
	}
}

func afterError(s *subject) {
	if s.FailNext == nil {
		s.Skip("no FailNext hook")
	}
	before, key := s.Effects(), s.NewKey()
	s.FailNext()
	failed := s.send(s.Context(), 1, key)
	if failed.err == nil && failed.status < 400 {
		s.Fatalf("FailNext was called and the request got %s", failed)
	}
	s.effects(before, 0, "FailNext must fail before the effect.")
	again := s.repeat(1, key)
	want, stored := 1, again.status == failed.status && again.body == failed.body
	if stored {
		want = 0
	}
	if !again.success() && !stored {
		s.Errorf("after %s the repeat got %s. Either the failure is stored and repeated, or the key is released and the repeat executes.", failed, again)
	}
	s.repeat(1, key)
	s.effects(before, want, "A failed request and its repeats are one action.")
}

func afterCrash(s *subject) {
	if s.CrashNext == nil {
		s.Skip("no CrashNext hook")
	}
	before, key := s.Effects(), s.NewKey()
	s.CrashNext()
	s.send(s.Context(), 1, key) // its answer is lost
	// Repeats may succeed, or be told that nobody knows; they must not execute
	// if the crashed request did.
	made := s.Effects() - before
	for range 3 {
		s.send(s.Context(), 1, key)
	}
	if got := s.Effects() - before; got > max(made, 1) {
		s.Errorf("%d effects after a crash and a repeat, want 1. Write the effect and its record in one transaction, or ask the system of record before executing a claim that a crash left open.", got)
	}
}
