// Package contracts has the facts of many APIs on idempotency keys, as
// [oncehttp.Contract] literals, each with its source and the day it was read.
//
// A contract whose Proof is ProofSecondary or ProofUnknown is here so that its
// requests are recorded and told honestly; it never causes an automatic resend.
// An API that takes no key has a contract without a carrier: what is ambiguous is
// Pending and never sent again.
//
// What each says of the key, how long the API remembers it, and how well that is
// proved:
//
//	contract
package contracts
