// Package kill ends real processes with SIGKILL, client and server, at every
// named point of an action and of the journal's life (Points), at every system
// call by which the client changes its journal, and at random moments; then it
// starts them again and holds what they said against the server's ledger.
//
// A SIGKILL ends a process and not the machine: what was handed to the kernel
// stays. Power cuts are the matter of another part.
package kill
