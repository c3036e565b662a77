package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/contracts"
)

const usage = `usage: oncehttp probe -contract NAME -url URL -body FILE -i-own HOST [flags]

Asks an API whether it treats idempotency keys as a contract says, by sending a
request of yours about a dozen times. EACH OF THEM MAY HAVE AN EFFECT: use a test
account, and a request whose effects do no harm. Nothing is sent unless -i-own
names the host of -url.

In the body {n} stands for a number that changes from check to check, so that
another body can be sent with a known key, and effects do not collide. With a body
without {n} the check of another body is left out.

It does not find out how long a key is remembered, nor what becomes of a request
that the API fails at (5xx): neither can be brought about from outside.

exit codes: 0 something agrees with the contract and nothing contradicts it,
1 something contradicts it, 2 nothing was sent because the flags are wrong,
3 the probe could not be carried out, or found nothing out

`

// mostBody is the most of a body, in bytes: of a request's that is sent, of an
// answer's that is looked at.
const mostBody = 1 << 20

// options are what the flags say.
type options struct {
	contract oncehttp.Contract
	template template
	pace     pace
	most     int
	dryRun   bool
	json     bool
	list     bool
}

// optionsOf reads the flags. The error says what is wrong with them.
func optionsOf(args []string, sh shell) (options, error) {
	var (
		o       options
		headers []string
	)
	flags := flag.NewFlagSet("oncehttp probe", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	name := flags.String("contract", "", "`name` of the contract: "+common+", or one of those that -list shows")
	target := flags.String("url", "", "where to send the requests; if the key travels in the path, with {key} in its place")
	own := flags.String("i-own", "", "the `host` of -url, with its port if it has one: says that you may have effects there")
	method := flags.String("method", http.MethodPost, "of the requests")
	body := flags.String("body", "", "`file` with the body, - for the standard input")
	bad := flags.String("bad-body", "", "`file` with a body that the API refuses, to see whether it keeps refusals under a key")
	flags.Func("header", "a header of the requests, as `'Name: value'`; may be given several times; for credentials use -auth-env", func(s string) error {
		headers = append(headers, s)
		return nil
	})
	auth := flags.String("auth-env", "", "environment `variable` that holds the credential, with Bearer in front if the API wants it")
	authHeader := flags.String("auth-header", "Authorization", "`name` of the header that takes the credential")
	id := flags.String("id", "", "JSON `pointer` to what an answer calls its effect, as /data/id (default: found by comparing answers)")
	first := flags.Int("n", 101, "the first number that is put in place of {n}")
	flags.IntVar(&o.most, "effects", mostRequests, "the most requests to send, since each may have an effect; if that is too few, the last checks are left out")
	flags.DurationVar(&o.pace.pause, "pause", time.Second, "between two requests")
	flags.DurationVar(&o.pace.timeout, "timeout", 30*time.Second, "of one request")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print what would be sent, and send nothing")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON")
	flags.BoolVar(&o.list, "list", false, "print the names of the contracts, and do nothing else")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(sh.stdout, usage)
			flags.SetOutput(sh.stdout)
			flags.PrintDefaults()
		}
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q; there are only flags", flags.Arg(0))
	}
	if o.list {
		return o, nil
	}
	var err error
	if o.contract, err = contractOf(*name); err != nil {
		return o, err
	}
	u, err := targetOf(*target)
	if err != nil {
		return o, err
	}
	if !o.dryRun && !strings.EqualFold(*own, u.Host) {
		return o, fmt.Errorf("nothing was sent: each request may have an effect at %s; say that you may have effects there with -i-own %[1]s, or see with -dry-run what would be sent", u.Host)
	}
	if o.most < firstRequests || o.most > mostRequests {
		return o, fmt.Errorf("-effects is %d; it takes %d requests to learn anything, and there are no more than %d", o.most, firstRequests, mostRequests)
	}
	if o.pace.pause < 0 || o.pace.timeout <= 0 {
		return o, errors.New("-pause is negative, or -timeout not positive")
	}
	if *id != "" && !strings.HasPrefix(*id, "/") {
		return o, fmt.Errorf("-id %q is no JSON pointer; write it as /data/id", *id)
	}
	o.template = template{method: *method, url: u, header: http.Header{"User-Agent": {"oncehttp-probe"}}, n: *first, id: *id}
	if err := o.template.setHeaders(headers, o.contract.Carrier); err != nil {
		return o, err
	}
	if *auth != "" {
		credential := strings.TrimSpace(sh.getenv(*auth))
		if credential == "" {
			return o, fmt.Errorf("-auth-env: the environment variable %s is not set, or empty", *auth)
		}
		o.template.header.Set(*authHeader, credential)
	}
	if o.template.body, err = bodyOf(*body, sh.stdin); err != nil {
		return o, fmt.Errorf("-body: %w", err)
	}
	if o.template.bad, err = bodyOf(*bad, sh.stdin); err != nil {
		return o, fmt.Errorf("-bad-body: %w", err)
	}
	if o.template.header.Get("Content-Type") == "" && len(o.template.body) > 0 {
		o.template.header.Set("Content-Type", "application/json")
	}
	return o, nil
}

// common is the name of the contract that most APIs keep.
const common = "idempotency-key"

// named are the contracts that -contract can name, sorted.
func named() []oncehttp.Contract {
	usual := oncehttp.IdempotencyKey("*", 24*time.Hour)
	usual.Name = common
	all := slices.Concat(contracts.All(), contracts.Hostless(), []oncehttp.Contract{usual})
	slices.SortFunc(all, func(a, b oncehttp.Contract) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func contractOf(name string) (oncehttp.Contract, error) {
	if name == "" {
		return oncehttp.Contract{}, errors.New("-contract is missing; -list shows the names")
	}
	for _, c := range named() {
		if c.Name == name {
			return c, probeable(c)
		}
	}
	return oncehttp.Contract{}, fmt.Errorf("no contract is named %q; -list shows the names", name)
}

// probeable says why there is nothing to find out about a contract.
func probeable(c oncehttp.Contract) error {
	if c.Carrier.Kind == oncehttp.CarrierNone || c.Match.Safe {
		return fmt.Errorf("contract %s promises nothing about keys: its requests carry none", c.Name)
	}
	return nil
}

func targetOf(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil: // its text holds the URL
		return nil, errors.New("-url cannot be read; write it as https://api.example.com/v1/things")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("-url is missing or names no host; write it as https://api.example.com/v1/things")
	case u.User != nil:
		return nil, errors.New("-url holds a password; use -auth-env, since other users of this machine can read the command line")
	}
	return u, nil
}

func bodyOf(file string, stdin io.Reader) ([]byte, error) {
	var in io.Reader
	switch file {
	case "":
		return nil, nil
	case "-":
		in = stdin
	default:
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, mostBody+1))
	if err == nil && len(text) > mostBody {
		err = fmt.Errorf("it is longer than %d bytes", mostBody)
	}
	return text, err
}
