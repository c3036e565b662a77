// Package wire holds no code, only tests: oncehttp over net/http's transports
// and golang.org/x/net/http2's, on real sockets, against servers that write
// HTTP/2 frames and HTTP/1 bytes by hand, as no well-meant server does. Each
// server keeps a ledger of the requests it saw, and each test compares it with
// what the journal counted and what the caller was told.
package wire
