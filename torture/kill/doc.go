// Package kill ends real processes with SIGKILL, client and server, at every
// named point of an action and of the journal's life ([ClientPoints], [ServerPoints]), in place of every
// system call by which the client can change its journal, at pairs of these, and
// at random moments. Each time a next life goes on with what is left, and all
// that was said is held against the server's ledger.
//
//	go test ./torture/kill                                              a share of it
//	go test ./torture/kill -run '^TestKills$' -kill.kills=2000 -v       a long run
//
// A SIGKILL ends a process and not the machine: what was handed to the kernel
// stays. Power cuts are the matter of another part.
package kill
