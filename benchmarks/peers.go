package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/PuerkitoBio/rehttp"
	"github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v4"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/go-resty/resty/v2"
	"github.com/gojek/heimdall/v7"
	"github.com/gojek/heimdall/v7/httpclient"
	"github.com/hashicorp/go-retryablehttp"
)

// A setup is what a peer is opened with.
type setup struct {
	base http.RoundTripper
	// quick replaces the peer's waits by a few milliseconds, in comparisons
	// where they change no count.
	quick bool
	// log gets what the peer logs by default.
	log io.Writer
}

// A sender sends one request, with the retries of its peer.
type sender func(*http.Request) (*http.Response, error)

// A peer is a client that retries, set up as its documentation shows: three or
// four tries where it wants a number, its defaults otherwise.
type peer struct {
	name, module string
	open         func(setup) (send sender, done func())
	// wrap makes a transport of it; nil: it cannot be one.
	wrap func(setup) http.RoundTripper
}

func (p peer) String() string {
	if v := version(p.module); v != "" {
		return p.name + " " + v
	}
	return p.name
}

// version of a module that is built into this program.
func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok || module == "" {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return ""
}

// peers are those that send requests. What only computes delays is in
// delays.go.
func peers() []peer {
	return []peer{
		{name: "net/http", open: func(s setup) (sender, func()) {
			return (&http.Client{Transport: s.base}).Do, nothing
		}},
		transportPeer("go-retryablehttp", "github.com/hashicorp/go-retryablehttp", func(s setup) http.RoundTripper {
			return &retryablehttp.RoundTripper{Client: openRetryable(s)}
		}),
		transportPeer("failsafehttp", "github.com/failsafe-go/failsafe-go", func(s setup) http.RoundTripper {
			return failsafehttp.NewRoundTripper(s.base, failsafehttp.NewRetryPolicyBuilder().Build())
		}),
		transportPeer("rehttp", "github.com/PuerkitoBio/rehttp", func(s setup) http.RoundTripper {
			delay := rehttpWait()
			if s.quick {
				delay = rehttp.ConstDelay(time.Millisecond)
			}
			return rehttp.NewTransport(s.base, rehttp.RetryAll(rehttp.RetryMaxRetries(3), rehttp.RetryAny(
				rehttp.RetryStatusInterval(500, 600),
				rehttp.RetryIsErr(func(err error) bool { return err != nil }),
			)), delay)
		}),
		{name: "heimdall", module: "github.com/gojek/heimdall/v7", open: openHeimdall},
		{name: "resty", module: "github.com/go-resty/resty/v2", open: openResty},
		{name: "retry-go", module: "github.com/avast/retry-go/v5", open: openRetryGo},
		{name: "cenkalti/backoff", module: "github.com/cenkalti/backoff/v4", open: openBackoff},
		{name: "azcore", module: "github.com/Azure/azure-sdk-for-go/sdk/azcore", open: openAzcore},
	}
}

func nothing() {}

// Neither of these two has a default: the intervals are a choice of ours, in
// the middle of the others' defaults.
func rehttpWait() rehttp.DelayFn { return rehttp.ExpJitterDelay(time.Second, 10*time.Second) }

func heimdallWait() heimdall.Backoff {
	return heimdall.NewExponentialBackoff(500*time.Millisecond, 10*time.Second, 2, 100*time.Millisecond)
}

func transportPeer(name, module string, wrap func(setup) http.RoundTripper) peer {
	return peer{name: name, module: module, wrap: wrap, open: func(s setup) (sender, func()) {
		return (&http.Client{Transport: wrap(s)}).Do, nothing
	}}
}

func openRetryable(s setup) *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.HTTPClient = &http.Client{Transport: s.base}
	c.Logger = log.New(orDiscard(s.log), "", log.LstdFlags)
	if s.quick {
		c.RetryWaitMin, c.RetryWaitMax = time.Millisecond, 5*time.Millisecond
	}
	return c
}

func openHeimdall(s setup) (sender, func()) {
	wait := heimdallWait()
	if s.quick {
		wait = heimdall.NewConstantBackoff(time.Millisecond, time.Millisecond)
	}
	c := httpclient.NewClient(httpclient.WithHTTPClient(&http.Client{Transport: s.base}),
		httpclient.WithRetrier(heimdall.NewRetrier(wait)), httpclient.WithRetryCount(3))
	return c.Do, nothing
}

func openResty(s setup) (sender, func()) {
	c := resty.New().SetTransport(s.base).SetRetryCount(3).SetLogger(restyLog{orDiscard(s.log)}).
		AddRetryCondition(func(r *resty.Response, err error) bool {
			return err != nil || r.StatusCode() >= 500 || r.StatusCode() == 429
		})
	if s.quick {
		c.SetRetryWaitTime(time.Millisecond).SetRetryMaxWaitTime(5 * time.Millisecond)
	}
	return func(req *http.Request) (*http.Response, error) {
		r := c.R().SetContext(req.Context())
		r.Header = req.Header.Clone()
		if body := rawBody(req); body != nil {
			r.SetBody(body)
		}
		resp, err := r.Execute(req.Method, req.URL.String())
		if err != nil {
			return nil, err
		}
		raw := resp.RawResponse
		raw.Body = io.NopCloser(bytes.NewReader(resp.Body())) // it has read and closed the other
		return raw, nil
	}, nothing
}

type restyLog struct{ io.Writer }

func (l restyLog) Errorf(format string, v ...any) { fmt.Fprintf(l, format+"\n", v...) }
func (l restyLog) Warnf(format string, v ...any)  { fmt.Fprintf(l, format+"\n", v...) }
func (l restyLog) Debugf(format string, v ...any) {}

// errStatus makes a loop that knows only errors go round once more.
var errStatus = errors.New("the server answered with an error status")

// once is the function that is handed to a loop: one try, with a fresh body.
func once(c *http.Client, req *http.Request) (*http.Response, error) {
	try := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		try.Body = body
	}
	resp, err := c.Do(try)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		resp.Body.Close()
		return nil, errStatus
	}
	return resp, nil
}

func openRetryGo(s setup) (sender, func()) {
	c := &http.Client{Transport: s.base}
	return func(req *http.Request) (*http.Response, error) {
		opts := []retry.Option{retry.Context(req.Context()), retry.Attempts(4)}
		if s.quick {
			opts = append(opts, retry.Delay(time.Millisecond), retry.MaxJitter(time.Millisecond))
		}
		return retry.NewWithData[*http.Response](opts...).Do(func() (*http.Response, error) { return once(c, req) })
	}, nothing
}

func openBackoff(s setup) (sender, func()) {
	c := &http.Client{Transport: s.base}
	return func(req *http.Request) (*http.Response, error) {
		wait := backoff.NewExponentialBackOff()
		if s.quick {
			wait.InitialInterval, wait.MaxInterval = time.Millisecond, 5*time.Millisecond
		}
		return backoff.RetryWithData(func() (*http.Response, error) { return once(c, req) },
			backoff.WithContext(backoff.WithMaxRetries(wait, 3), req.Context()))
	}, nothing
}

func openAzcore(s setup) (sender, func()) {
	options := policy.ClientOptions{Transport: &http.Client{Transport: s.base}}
	if s.quick {
		options.Retry.RetryDelay = time.Millisecond
	}
	pipeline := azruntime.NewPipeline("benchmarks", "v0.0.0", azruntime.PipelineOptions{}, &options)
	return func(req *http.Request) (*http.Response, error) {
		r, err := azruntime.NewRequest(req.Context(), req.Method, req.URL.String())
		if err != nil {
			return nil, err
		}
		azruntime.SkipBodyDownload(r)
		if body := rawBody(req); body != nil {
			if err = r.SetBody(readSeekNopCloser{bytes.NewReader(body)}, req.Header.Get("Content-Type")); err != nil {
				return nil, err
			}
		}
		for name, values := range req.Header {
			r.Raw().Header[name] = values
		}
		return pipeline.Do(r)
	}, nothing
}

type readSeekNopCloser struct{ io.ReadSeeker }

func (readSeekNopCloser) Close() error { return nil }

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// post is a keyless POST with a body that can be read again.
func post(ctx context.Context, url, body string) *http.Request {
	return upload(ctx, http.MethodPost, url, []byte(body))
}

func upload(ctx context.Context, method, url string, body []byte) *http.Request {
	ctx = context.WithValue(ctx, bodyOf{}, body)
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		panic(err) // the arguments are ours
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// bodyOf is where the clients with requests of their own find the body as the
// application has it, without a copy.
type bodyOf struct{}

func rawBody(req *http.Request) []byte {
	body, _ := req.Context().Value(bodyOf{}).([]byte)
	return body
}

// finish reads an answer to its end.
func finish(resp *http.Response, err error) error {
	if err != nil {
		if resp != nil && resp.Body != nil {
			resp.Body.Close()
		}
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
