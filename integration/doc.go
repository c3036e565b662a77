// Package integration holds oncehttp below vendors' own client libraries,
// unchanged and with their own base URLs: what to set, what a lost answer, a
// refusal and a Pending look like above the library, and what becomes of keys
// that it sets itself. There is a test file for each library, to be read as its
// recipe; docs/sdks.md is their summary.
//
// It has tests only, and is a module and a workspace of its own: the libraries
// need a newer Go than oncehttp does, and their requirements must not raise
// those that oncehttp is tested with. Run go test ./... in this folder.
package integration
