// Package mockserver is an HTTP API that keeps the server's side of the bargain
// about idempotency keys, fails in every way that is scripted, and counts what
// really happened. Test your client against a lost answer:
//
//	server := mockserver.Start(mockserver.Config{})
//	defer server.Close()
//	server.Script(mockserver.Lost()) // the effect happens, its answer is lost
//
//	yourClient(server.URL) // sends, retries
//
//	if n := server.EffectsTotal(); n != 1 {
//		t.Errorf("charged %d times", n)
//	}
//
// # Faults
//
// A script lists one [Fault] a request, in the order in which requests are
// received; when it is used up the server is normal. A fault has two
// independent halves: whether the effect happens, and what the client sees.
//
//	Fault{Commit: true, See: SeeReset}         it happened, the connection broke: Lost()
//	Fault{See: SeeClose}                       it did not, and looks nearly the same
//	Gateway(502), Gateway(502).Committed()     something in between answers
//	Status(429).With("Retry-After", "2")       not now
//	Fault{See: SeeTruncated, Keep: 8}          a success whose body breaks off
//	Fault{Commit: true, See: SeeNothing}       the client's own time-out
//	Fault{After: time.Minute}                  a slow answer to a quick effect
//	Fault{Commit: true, See: SeeReset, Behind: 1}   arrives after the next request
//	Fault{Crash: CrashBetween}                 effect made, record lost
//	Fault{Forget: true}                        the key's memory is shorter than promised
//	Fault{KeysDown: true}                      keys cannot be looked up
//
// [ParseScript] reads the same from JSON, [Random] makes scripts from a seed.
//
// # Profiles
//
// A [Profile] says where keys travel and which are accepted, what is compared,
// how long a key is known, and how repeats are answered, marked and found: what
// real APIs promise differs in each. [Profiles] has those of public APIs
// ([ProfileNamed] one of them), and the zero value is the IETF draft's.
//
//	mockserver.Config{Profile: mockserver.Profile{
//		Carrier:    mockserver.Carrier{Kind: mockserver.CarrierJSON, Name: "/idempotency_key"},
//		Repeat:     mockserver.Answer{Status: 409, Body: `{"exists":"{id}"}`},
//		OnMismatch: mockserver.MismatchIgnored,
//	}}
//
// # The ledger
//
// Tests assert on [Server.Requests], [Server.EffectLog] and the counts. An effect
// and its count are one step: what [Server.Effects] says has happened.
// [Server.WaitIdle] waits for what goes on without its client.
//
// # Three ways to run it
//
// [New] is an [http.Handler] for a listener of yours. [Start] listens on
// 127.0.0.1: resets are real, and may overtake the bytes sent before them.
// [Memory] needs no sockets and runs under testing/synctest, where an hour
// passes in no time: a reset is ECONNRESET and a close EOF, but nothing in
// flight is ever lost.
//
// # What it promises, and what it cannot show
//
// Under one tenant, operation and key there is one effect within the TTL,
// whatever arrives at once, unless the script says Forget or the profile says
// otherwise. A repeat gets the stored bytes.
//
// It cannot show loss of packets, half-open connections, dial time-outs, TLS
// errors or the failure of name look-ups, nor anything of a real API's behaviour
// that nobody has written into a [Profile]. Package servertest turns its checks
// on your own endpoint.
package mockserver
