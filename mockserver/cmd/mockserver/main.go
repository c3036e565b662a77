// Command mockserver runs the mock server by hand: an HTTP API that honours
// idempotency keys and fails as scripted.
//
//	mockserver -script script.json
//	curl -i -H 'Idempotency-Key: k1' -d '{"amount":500}' http://127.0.0.1:8080/charges
//
// A script is a JSON array of faults, one a request, with the fields of
// mockserver.Fault:
//
//	[{"commit": true, "see": "reset"}, {"status": 503, "header": {"Retry-After": "2"}}]
//
// With -profile the server plays a public API, by what is known of how it treats
// keys, or one that a JSON file describes with the fields of mockserver.Profile:
//
//	mockserver -profiles
//	mockserver -profile stripe-v1
//
// What was received and what took effect is shown at /.mockserver/, and as JSON
// at /.mockserver/ledger.json; requests to paths below it are not counted. The
// command listens on this machine only unless -addr says otherwise.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oncehttp/oncehttp/mockserver"
)

const usage = `usage: mockserver [flags]

An HTTP API that honours idempotency keys and fails as scripted. A script holds one
fault per request, with the fields of mockserver.Fault, their first letter small;
this one loses an answer after the effect, then refuses once:

    [{"commit": true, "see": "reset"}, {"status": 503, "header": {"Retry-After": "2"}}]

What was received and what took effect is shown at /.mockserver/ and, as JSON, at
/.mockserver/ledger.json.

`

// grace is how long requests under way may take to end when the command stops.
const grace = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("mockserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8080", "address to listen on; port 0 picks one")
	script := flags.String("script", "", "file with a JSON array of faults, one a request")
	seed := flags.Uint64("seed", 0, "seed of 1,000 random faults after the script; 0: none")
	ttl := flags.Duration("ttl", 0, "how long a key is remembered (default: the profile's, else 24h)")
	work := flags.Duration("work", 0, "how long an execution takes")
	profile := flags.String("profile", "", "name of a profile (see -profiles) or a JSON file with one")
	list := flags.Bool("profiles", false, "list the names of the profiles and their sources, and do nothing else")
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("mockserver: unknown argument %q; flags only", flags.Arg(0))
	}
	if *list {
		for _, p := range mockserver.Profiles() {
			fmt.Fprintf(stdout, "%s\t%s\n", p.Name, p.Source)
		}
		return nil
	}

	cfg := mockserver.Config{TTL: *ttl, Work: *work}
	var err error
	if *script != "" {
		data, err := os.ReadFile(*script)
		if err != nil {
			return fmt.Errorf("mockserver: -script: %w", err)
		}
		if cfg.Script, err = mockserver.ParseScript(data); err != nil {
			return fmt.Errorf("%s: %w", *script, err)
		}
	}
	if *seed != 0 {
		cfg.Script = append(cfg.Script, mockserver.Random(*seed, 1000)...)
		fmt.Fprintf(stdout, "random faults of seed %d\n", *seed)
	}
	if cfg.Profile, err = readProfile(*profile); err != nil {
		return err
	}
	return serve(ctx, *addr, mockserver.New(cfg), stdout)
}

func serve(ctx context.Context, addr string, mock *mockserver.Server, stdout io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("mockserver: %w", err)
	}
	server := &http.Server{Handler: withView(mock), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(stdout, "listening on http://%s, ledger at http://%s%s\n", listener.Addr(), listener.Addr(), viewPath)

	select {
	case err = <-served:
	case <-ctx.Done():
		limited, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if server.Shutdown(limited) != nil { // some request takes too long
			_ = server.Close()
		}
		err = <-served
	}
	mock.Close()
	fmt.Fprintf(stdout, "%d requests, %d effects\n", len(mock.Requests()), mock.EffectsTotal())
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func readProfile(name string) (mockserver.Profile, error) {
	if name == "" {
		return mockserver.Profile{}, nil
	}
	if known, ok := mockserver.ProfileNamed(name); ok {
		return known, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return mockserver.Profile{}, fmt.Errorf("mockserver: profile %q is none of those that -profiles lists, and no file that can be read: %w", name, err)
	}
	p, err := mockserver.ParseProfile(data)
	if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
