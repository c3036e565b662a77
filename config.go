package oncehttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Config says how a client works. The zero value works. It is checked once,
// when the client is opened.
//
// Attempts outlive their callers, so they run in goroutines of the client's: a
// panic in Transport, Authorize, Lookup or OnEvent ends the process, and leaves
// the journal as any crash does.
type Config struct {
	// Transport sends the attempts. Nil: a transport of the client's own, with
	// http.DefaultTransport's settings.
	Transport http.RoundTripper
	// FreshTransport sends the attempts that no other may follow: of a POST or
	// PATCH without a key that protects it. Over a connection that was kept alive,
	// and that the server closes at that moment, such a request is lost and its
	// outcome unknown; so make FreshTransport like Transport, with
	// [http.Transport].DisableKeepAlives. Nil: where Transport is nil, one of the
	// client's own, which makes a connection for each; else Transport.
	FreshTransport http.RoundTripper
	// Contracts are the APIs that honour idempotency keys; package contracts has
	// those of many. None: nothing that may have taken effect is ever sent again
	// under a method that is not idempotent.
	Contracts []Contract
	// Unmatched says what RoundTrip does with a POST or PATCH that no contract
	// matches and no action names. Default JournalOnce.
	Unmatched Unmatched
	// PassThrough names requests that RoundTrip hands to Transport as they are.
	PassThrough func(*http.Request) bool
	// Retry is the budget of one call.
	Retry Retry
	// Gate is what is done about a host that fails: by default its requests
	// wait while one at a time probes it.
	Gate Gate
	// Authorize puts credentials into the request of an attempt, or of a
	// contract's lookup, which is a GET with neither key nor body. It runs on
	// every attempt, after the wait and before the save that starts it, with the
	// key in place. stale: the last credentials were refused. It may add headers
	// and credential parameters; it must not change anything else. The request's
	// context has the caller's values, and ends after Retry.AttemptTimeout and at
	// Close; what is sent under it through this client is passed through.
	Authorize func(req *http.Request, stale bool) error
	// Lookup asks the system of record what became of an intent that may have
	// taken effect and is not sent again. Where it cannot tell, or is nil, the
	// lookups of the intent's contract are asked; without any nobody is. See
	// [Finding].
	Lookup func(ctx context.Context, in *Intent) (Finding, error)
	// Plant writes an id of its own into each new intent's request, in the field that
	// its contract names (Contract.Plant), so that the contract's lookups can ask
	// for it later. It changes what the API gets, by that one header or field; the
	// rest of the body stays as it is, byte for byte, and the fingerprint is that
	// of the request without it. A field that the caller has set stays as it is,
	// and a request that is signed, is longer than MaxRequestBody with it, or has
	// no place for it goes out without: then no lookup asks for the id. Default:
	// nothing is planted.
	Plant bool
	// Principal says whose action a request is, from credentials say. Another
	// principal that comes with the same action gets ErrPrincipal, neither the
	// stored answer nor a share in the call. Nil: all are one.
	Principal func(*http.Request) string
	// Sealer encrypts the bodies in the journal. Nil: they are plain. An intent
	// whose body cannot be opened stays Pending.
	Sealer Sealer
	// IgnoreFields are JSON pointers (RFC 6901) outside the fingerprint: parts
	// of a body that change from try to try.
	IgnoreFields []string
	// SignificantHeaders are headers inside the fingerprint.
	SignificantHeaders []string
	// MaxRequestBody is the most bytes of a request's body. Default 8 MiB.
	MaxRequestBody int64
	// MaxResponseBody is the most bytes of an answer that are kept. A longer
	// answer is judged by its status. Default 1 MiB.
	MaxResponseBody int64
	// MaxUnresolved is the most intents that may be unresolved at a time; a new
	// action beyond it is ErrTooMany, and nothing of it is recorded or sent. It
	// keeps an outage from filling the disk. Default 0: no limit.
	MaxUnresolved int
	// Concurrency is how many intents Resume sends at a time; what waits is not
	// counted. Default 8.
	Concurrency int
	// Retention says how long what is settled is kept. See there for defaults.
	Retention Retention
	// AdoptCopy says that the journal which Open finds is a copy, or a restored
	// backup, and that nobody uses the original any more. Set it for that one
	// start: with it the next copy is taken for an original too. What was
	// unresolved in the copy counts from then on as sent when it was begun, since
	// the original may have sent it. No effect on what is not a copy. Default: a
	// copy begins and sends nothing, and says [Copied] and [ErrCopied].
	AdoptCopy bool
	// LockTimeout is how long Open waits for the journal's lock. Default 1 s.
	LockTimeout time.Duration
	// NewKey makes the key of an action that has a name; [DerivedKeys] is one.
	// Default: a random UUIDv4 in the contract's form. The contract's key rules
	// are checked, and a UUID is respelled to fit them.
	NewKey func(action string) (string, error)
	// WindowShare is the share of a contract's window that is used, less one
	// attempt's time-out. Default 0.9.
	WindowShare float64
	// Logger gets what OnEvent gets. Nil: silent.
	Logger *slog.Logger
	// OnEvent is told of what happens, in the goroutine in which it happens: it
	// must not block.
	OnEvent func(Event)
}

// Unmatched is what RoundTrip does with a POST or PATCH that no contract matches
// and no action names. One that is named is sent as JournalOnce says.
type Unmatched uint8

const (
	// JournalOnce journals it, and sends it again only while it is proved that
	// no attempt had an effect.
	JournalOnce Unmatched = iota
	// PassThrough hands it to the transport as it is.
	PassThrough
	// Refuse returns ErrUnmatched.
	Refuse
)

// Retry is the budget of one call. The backoff's index and RetryAt go on over
// calls and restarts.
type Retry struct {
	// MaxAttempts of one call, the first included. Default 4.
	MaxAttempts int
	// MaxElapsed is how long a call goes on starting attempts. Default 1 min.
	MaxElapsed time.Duration
	// AttemptTimeout bounds one attempt, its answer's body included. It applies
	// to an exposed intent, and where another attempt could follow; never to an
	// attempt that no other may follow. Default 30 s.
	AttemptTimeout time.Duration
	// Base and Cap of full jitter: the n-th wait, n from 0, is uniform in
	// [0, min(Cap, Base·2ⁿ)]. Default 200 ms and 20 s.
	Base, Cap time.Duration
	// BackOff replaces full jitter. A new one is made for every wait and stepped
	// to its index; backoff.Stop ends the call.
	BackOff func() backoff.BackOff
}

const (
	defaultMaxRequestBody  = 8 << 20
	defaultMaxResponseBody = 1 << 20
)

// withDefaults fills in what is zero and checks the rest.
func (cfg Config) withDefaults() (Config, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("oncehttp: Config."+format, args...)) }
	setDuration := func(d *time.Duration, name string, def time.Duration) {
		if *d < 0 {
			bad("%s is negative (%v): want a positive duration, or zero for %v", name, *d, def)
		}
		if *d == 0 {
			*d = def
		}
	}
	setInt := func(n *int64, name string, def int64) {
		if *n < 0 {
			bad("%s is negative (%d): want a positive number, or zero for %d", name, *n, def)
		}
		if *n == 0 {
			*n = def
		}
	}
	setDuration(&cfg.Retry.MaxElapsed, "Retry.MaxElapsed", time.Minute)
	setDuration(&cfg.Retry.AttemptTimeout, "Retry.AttemptTimeout", 30*time.Second)
	setDuration(&cfg.Retry.Base, "Retry.Base", 200*time.Millisecond)
	setDuration(&cfg.Retry.Cap, "Retry.Cap", 20*time.Second)
	setDuration(&cfg.LockTimeout, "LockTimeout", time.Second)
	setInt(&cfg.MaxRequestBody, "MaxRequestBody", defaultMaxRequestBody)
	setInt(&cfg.MaxResponseBody, "MaxResponseBody", defaultMaxResponseBody)
	attempts, concurrency, failures := int64(cfg.Retry.MaxAttempts), int64(cfg.Concurrency), int64(cfg.Gate.Failures)
	setInt(&attempts, "Retry.MaxAttempts", 4)
	setInt(&failures, "Gate.Failures", 3)
	setInt(&concurrency, "Concurrency", 8)
	if cfg.MaxUnresolved < 0 {
		bad("MaxUnresolved is negative (%d): want a positive number, or zero for no limit", cfg.MaxUnresolved)
	}
	cfg.Retry.MaxAttempts, cfg.Concurrency, cfg.Gate.Failures = int(attempts), int(concurrency), int(failures)
	if cfg.Retry.Base > cfg.Retry.Cap {
		bad("Retry.Base (%v) is above Retry.Cap (%v): lower the one or raise the other", cfg.Retry.Base, cfg.Retry.Cap)
	}
	if cfg.WindowShare == 0 {
		cfg.WindowShare = 0.9
	}
	if !(cfg.WindowShare > 0 && cfg.WindowShare <= 1) {
		bad("WindowShare is %v: want more than 0 and at most 1", cfg.WindowShare)
	}
	if cfg.Unmatched > Refuse {
		bad("Unmatched is %d: want JournalOnce, PassThrough or Refuse", cfg.Unmatched)
	}
	if err := validIgnore(cfg.IgnoreFields); err != nil {
		bad("IgnoreFields: %w", err)
	}
	for _, name := range cfg.SignificantHeaders {
		if !isToken(name) {
			bad("SignificantHeaders: %.64q is not a header name", name)
		} else if secretHeader(name) {
			bad("SignificantHeaders: %q looks like a credential, which is never recorded; use another header", name)
		}
	}
	cfg.Retention = cfg.Retention.withDefaults()
	return cfg, errors.Join(errs...)
}
