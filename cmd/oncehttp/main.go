// Command oncehttp has one subcommand so far: probe asks an API whether it treats
// idempotency keys as a contract of package oncehttp says.
//
// A client that repeats a request after a time-out relies on what the API does
// with a key that it has seen before. Documentation is silent or wrong on much of
// it. The probe sends a request of yours about a dozen times: with the same key
// twice in a row, twice at once, with another body, and after a refusal; with a key
// that is too long; and without a key. It prints what the contract declares, what
// was seen, and whether the two agree:
//
//	oncehttp probe -contract stripe-v1 \
//		-url https://api.stripe.com/v1/customers -body customer.form \
//		-header 'Content-Type: application/x-www-form-urlencoded' \
//		-auth-env STRIPE_TEST_AUTHORIZATION -i-own api.stripe.com
//
// Every one of these requests may have an effect: use a test account. Nothing is
// sent unless -i-own names the host, and -dry-run shows what would be.
//
// The requests are written, and the answers read, by package oncehttp itself, so
// that what is printed is what a client with this contract would do.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitAgrees      = 0 // something agrees, and nothing contradicts
	exitContradicts = 1
	exitUsage       = 2 // nothing was sent
	exitNotDone     = 3 // it could not be carried out
)

// A shell is what a command has of the world.
type shell struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	transport      http.RoundTripper
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], shell{os.Stdin, os.Stdout, os.Stderr, os.Getenv, freshTransport()})
	stop()
	os.Exit(code)
}

// freshTransport makes a connection for each request, so that none is sent twice
// because the connection it was sent on had been closed.
func freshTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = true
	return t
}

func run(ctx context.Context, args []string, sh shell) int {
	if len(args) > 0 && args[0] != "probe" && !strings.HasPrefix(args[0], "-") {
		fmt.Fprintf(sh.stderr, "oncehttp: there is no command %q\n\n", args[0])
	}
	if len(args) == 0 || args[0] != "probe" {
		fmt.Fprintln(sh.stderr, "usage: oncehttp probe [flags]\n\nIt asks an API whether it keeps to a contract about idempotency keys;\noncehttp probe -h lists the flags.")
		return exitUsage
	}
	return probe(ctx, args[1:], sh)
}
