// Package sim runs the real client, on the real journal and over the real
// net/http, against the mock server on a network in memory, in virtual time and
// under faults that a seed decides: a [Plan].
//
// A run is a few processes of the client one after the other. Callers begin,
// send, read, list and resolve actions; requests and answers are lost, late, cut
// and forged; the server, the journal and the client's process fail; hours and
// days pass. A last process without faults then takes up what is left, reads
// every action and lists what is unresolved. Everything that could be seen from
// outside goes to package judge.
//
// A process that dies is one whose journal takes no further write, whose
// requests reach no network, and whose calls return to nobody. The write at which
// it died is in the file or not, as the plan says; that a file survives a crash in
// the middle of a write is for others to show.
//
// Half of all plans have [Terms]: the key travels elsewhere than in a header, or
// the contract has companions, lookups, hints or pins.
//
// Some plans are scenes: a few steps set at the moments that chance seldom finds
// together, such as a save that outlasts a key's window, a person's word while an
// attempt runs, or a journal restored from a backup.
//
// # What a plan may do to whom
//
// The server is honest where the plan does not say otherwise: it remembers a key
// for exactly the window of the contract, a late request arrives before that
// ends, and an effect shows within the settle time, to lookups too. What comes
// from something in between is never a plain lie: a 2xx, or a refusal after an
// effect, comes only where the contract has a marker that tells it from the API's
// own answers.
//
// # Seeds
//
// A seed always gives the same plan. A run is repeatable as far as the scheduler
// and the runtime's own chance (select, timers of one time, the gate's jitter)
// let it be: on one processor, 165 of 200 seeds gave the same ledger twice. The
// command that is printed with a finding repeats the run many times.
package sim
