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
// A script lists one [Fault] a request, in the order in which requests are
// received; when it is used up the server is normal. A fault has two
// independent halves: whether the effect happens, and what the client sees. The
// ledger ([Server.Requests], [Server.EffectLog] and the counts) is what tests
// assert on.
//
// There are three ways to run it. [New] is an [http.Handler] for a listener of
// yours. [Start] listens on 127.0.0.1, where resets are real. [Memory] needs no
// sockets and runs under testing/synctest, where an hour passes in no time.
//
// What it cannot show: loss of packets, half-open connections, dial time-outs,
// TLS errors, the failure of name look-ups, and anything of a real API's
// behaviour that nobody has written into a [Profile].
package mockserver
