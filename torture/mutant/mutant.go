// Package mutant proves that the tests can fail: it plants deliberate faults in
// the library, one at a time, and names the test that must catch each. From the
// repository's root, some minutes for all of them:
//
//	go test ./torture/mutant -run TestMutants -mutant.all -v -timeout 30m
package mutant

import "fmt"

// A Mutant is one deliberate fault. The library's sources stay as they are: the
// changed copies are given to the compiler by its -overlay.
type Mutant struct {
	// Name is short, and stays.
	Name string
	// Fault says what the library does wrong with it.
	Fault string
	// Promise is what it breaks.
	Promise string
	Edits   []Edit
	// By lists what catches it; the first is the one that every full run tries.
	By []Catcher
}

// An Edit replaces Old, which stands exactly once in File, by New.
type Edit struct {
	// File of the root package.
	File     string
	Old, New string
}

// A Catcher is a test that fails under a mutant.
type Catcher struct {
	// Part is the directory of the test's package, from the repository's root.
	Part string
	Test string
	// Seeds is how many of its seeds the simulation needs, from 0 on. Zero: the
	// test has none.
	Seeds int
	// Finding must stand in what the test prints: the name of the broken rule.
	// Empty: that the test fails says it.
	Finding string
}

// String names the test, and its seeds.
func (by Catcher) String() string {
	text := by.Test
	if by.Part != "." {
		text = by.Part + " " + text
	}
	if by.Seeds > 0 {
		text += fmt.Sprintf(" in %d seeds", by.Seeds)
	}
	if by.Finding != "" {
		text += fmt.Sprintf(" (%s)", by.Finding)
	}
	return text
}

// Table is every mutant, in the order in which the docs list them.
func Table() []Mutant {
	var all []Mutant
	for _, group := range [][]Mutant{
		identity(), recording(), exposure(), windows(), waits(), evidence(), answers(), contractTerms(), contractKinds(), upkeep(),
	} {
		all = append(all, group...)
	}
	return all
}

// seeds is the simulation, and the rule of the judge that is broken.
func seeds(n int, rule string) Catcher {
	return Catcher{Part: "torture/sim", Test: "TestTheClientKeepsItsPromisesUnderEveryPlan", Seeds: n, Finding: rule}
}

// unit is a test of the library itself.
func unit(test string) Catcher { return Catcher{Part: ".", Test: test} }
