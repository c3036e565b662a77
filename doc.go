// Package oncehttp sends each logical action over HTTP effectively once.
//
// A time-out says nothing about whether the work was done. A client that
// retries blindly charges twice; one that gives up tells its user "failed" when
// the card was charged. This package gives each action one idempotency key,
// writes it with the exact request to a local journal before the first byte
// leaves, repeats that request under that key for as long as that is safe, stops
// when it is not, and says [Confirmed], [Rejected] or [Pending], never a guess.
// What is pending survives a crash and is taken up again after it.
//
// # Use
//
// [Open] a client on a file, with a [Contract] for each API that honours
// idempotency keys: [IdempotencyKey] is the common one, and package contracts has
// those of many APIs, contracts.All() all of them. Take up what the last run left
// with [Client.Resume], or keep doing so with [Client.Run]. Send each action with
// [Client.Do], or through [Client.HTTPClient] with its name in the context
// ([WithAction]). What does not settle by itself is listed by [Client.Pending] and
// settled by a person's or a webhook's word with [Client.Resolve].
//
// # Words
//
//   - An action is the application's own durable name for one operation, as
//     "order-42/charge". Equal payloads may be two actions; one action never has
//     two payloads ([MismatchError]). It never leaves the journal, which keeps
//     it in the clear: keep personal data out of it. A request's id that is
//     new on every try is no action.
//   - An intent is the journal's record of an action: its key, the exact
//     request, and what is known so far.
//   - An attempt is one sending of the request.
//   - A contract is what the receiving API promises about keys: where the key
//     travels, how long it is remembered, what its answers mean.
//   - The window is how long the API remembers the key, counted from before the
//     first attempt that may have taken effect. Its usable part is
//     Config.WindowShare of it, less the time-out of one attempt.
//   - An intent is exposed when an attempt may have taken effect and nothing
//     has settled it.
//
// # The promise
//
// Effectively once against an API that honours the key for as long as its
// contract says; at most once, and an honest Pending, against one that does not.
//
//   - No byte leaves before the key and the exact request are on disk.
//   - Every attempt, before and after any restart, carries the same key and the
//     same payload.
//   - Confirmed is told on positive evidence only: the API's own success, a
//     lookup that found the effect ([Config].Lookup, [Contract].Lookups), or the
//     word given to Resolve. Rejected only when no attempt can have taken effect.
//     All else is Pending, with a [Reason] and [Outcome].MayHaveExecuted.
//   - An outcome is on disk before it is told. Confirmed and Rejected do not
//     change, except by Resolve, and except that a refusal of credentials
//     ([Unauthorized]) of an intent that was never exposed is tried again by a new
//     Do of the same action.
//   - An exposed intent is sent again only inside the usable window of its key.
//     Without a contract it is sent again only under an idempotent method (RFC
//     9110 section 9.2.2), and only by the call whose attempt exposed it.
//   - No attempt starts sooner than the server asked (Retry-After).
//   - Credentials in headers, query parameters and userinfo are sent and not
//     written; [Config].Authorize brings them back after a restart.
//   - When the journal cannot record, nothing is sent.
//
// # The limits
//
//   - Nobody can promise delivery exactly once. An API that forgets the key
//     early, or ignores it, can act twice. What shows of that is told as
//     MayHaveRepeated, and stops automatic resends under that contract until
//     [Client.Trust].
//   - It speaks of the attempts of one journal. Of another journal's attempts at
//     the same action, or another client's, it knows nothing; [DerivedKeys] gives
//     several journals the same keys, no more.
//   - A journal is one file on one machine, used by one client at a time
//     ([ErrJournalLocked]). It is as durable as that disk's fsync.
//   - Bodies of requests and answers are in the journal, which is made with mode
//     0600: in the clear, unless [Config].Sealer encrypts them. Actions, URLs and
//     headers that are no credentials are always in the clear.
//   - Confirmed by a 202 means that the request was accepted, no more.
//   - What is settled is pruned as [Retention] says; what is not settled never is.
//     The file shrinks by [Client.Compact] only.
//
// # States
//
// A crash leaves an intent where the last save put it. An attempt that was
// started and not judged counts as one that may have been sent.
//
//	states:begin
//
//	Recorded   Pending: no attempt has had an effect
//	Sending    Pending: an attempt has started and is not judged yet
//	Exposed    Pending: an attempt may have had an effect; sent again while that is safe
//	Parked     Pending: the same, and not sent again by itself
//	Confirmed  it took effect
//	Rejected   nothing took effect, and nothing will
//	Conflict   there is evidence of both; a person decides
//
//	(new)      --> Recorded   Begin
//	           --> Sending    an attempt starts
//	Recorded   --> Sending    an attempt starts
//	           --> Confirmed  a person's word
//	           --> Rejected   a person's word
//	Sending    --> Recorded   answer: no effect; withdrawn before it was sent
//	           --> Sending    a crash, and the next attempt
//	           --> Exposed    answer: no effect; answer: maybe an effect; a crash; withdrawn before it was sent
//	           --> Parked     answer: no effect; answer: maybe an effect; a crash; withdrawn before it was sent
//	           --> Confirmed  answer: done; a person's word
//	           --> Rejected   answer: refused; a person's word
//	Exposed    --> Sending    an attempt starts
//	           --> Parked     no longer safe to send
//	           --> Confirmed  a late success; a person's word
//	           --> Rejected   a person's word
//	Parked     --> Sending    an attempt starts
//	           --> Confirmed  a late success; a person's word
//	           --> Rejected   a person's word
//	Confirmed  --> Rejected   a person's word
//	           --> Conflict   evidence against it
//	Rejected   --> Recorded   begun again by Do
//	           --> Sending    begun again by Do
//	           --> Confirmed  a person's word
//	           --> Conflict   evidence against it
//	Conflict   --> Confirmed  a person's word
//	           --> Rejected   a person's word
//
//	states:end
//
// # Errors
//
// One rule for [Client.Do], [Intent.Do] and [Client.RoundTrip]:
//
//   - nil: the action is settled, as Confirmed or Rejected.
//   - a [*PendingError]: the server may have acted, or still may. Do not begin the
//     action under another name. Its Outcome says why, and
//     [Outcome.Explain] says it in words.
//   - of RoundTrip alone, a [*NoAnswerError]: the action is settled, by a lookup, a
//     person or long ago, and there is no answer to hand back.
//   - any other error: this call sent nothing.
//
// Whenever a record exists, Do returns the Outcome beside the error. A caller
// whose context ends leaves alone: the attempt under way goes on under the
// client's care and is recorded.
//
// # Compatibility
//
// The journal's file and its records are of format version 1. Every later
// version of this module with the same major version reads what this one
// wrote; a newer format is refused with an error that says so, and the file is
// left as it is.
package oncehttp
