package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/oncehttp/oncehttp"
)

// A pace is how requests follow each other.
type pace struct {
	pause, timeout time.Duration
}

// A shot is one request and its answer.
type shot struct {
	answer
	reading
	key string
	err error
}

// success: the answer tells of an effect, and no rule of the contract says
// otherwise.
func (s shot) success() bool {
	return s.status/100 == 2 && s.state != oncehttp.Rejected && (s.verdict == oncehttp.VerdictUnknown || s.verdict == oncehttp.VerdictDone)
}

// A prober sends requests and remembers what came of them.
type prober struct {
	contract  oncehttp.Contract
	template  template
	pace      pace
	transport http.RoundTripper
	shots     []shot
}

// errThrottled: the API asks to be left alone, and so it is.
var errThrottled = errors.New("the API answered 429, too many requests: the probe stopped; run it again later, with a longer -pause")

// send sends the requests at once, each a single time, and returns their shots in
// the same order. After an error nothing more should be sent.
func (p *prober) send(ctx context.Context, requests ...frozen) ([]shot, error) {
	if len(p.shots) > 0 {
		select {
		case <-ctx.Done():
			return nil, errors.New(worded(ctx.Err()))
		case <-time.After(p.pace.pause):
		}
	}
	shots := make([]shot, len(requests))
	var sending sync.WaitGroup
	for i, f := range requests {
		sending.Go(func() {
			shots[i] = shot{key: f.key}
			shots[i].answer, shots[i].err = p.sendOne(ctx, f)
		})
	}
	sending.Wait()
	defer func() { p.shots = append(p.shots, shots...) }()
	for i := range shots {
		s := &shots[i]
		if neverSent(s.err) {
			return nil, fmt.Errorf("request %d was not sent: %s", len(p.shots)+i+1, worded(s.err))
		}
		if s.err != nil {
			return nil, fmt.Errorf("request %d had no answer, and may have had an effect: %s", len(p.shots)+i+1, worded(s.err))
		}
		var err error
		if s.reading, err = read(ctx, p.contract, s.key, s.answer); err != nil {
			return nil, err
		}
		if s.status == http.StatusTooManyRequests && s.verdict == oncehttp.VerdictUnknown {
			return nil, errThrottled
		}
	}
	return shots, nil
}

// sendOne sends a request once. It follows no redirect.
func (p *prober) sendOne(ctx context.Context, f frozen) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, p.pace.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, f.method, f.url.String(), bytes.NewReader(f.body))
	if err != nil {
		return answer{}, err
	}
	req.GetBody = nil // nothing below may send it again
	req.Header, req.Host = f.header.Clone(), f.host
	resp, err := p.transport.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBody))
	return answer{status: resp.StatusCode, header: resp.Header, body: body}, err
}

// neverSent: no connection was made.
func neverSent(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// worded says what happened to a request that got no answer. The text of other
// errors may quote what the server sent.
func worded(err error) string {
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "it timed out (-timeout)"
	case errors.Is(err, context.Canceled):
		return "the probe was interrupted"
	case errors.As(err, &network):
		return network.Error()
	case errors.As(err, &certificate):
		return certificate.Error()
	}
	return fmt.Sprintf("the connection broke, or what came is no answer (%T)", err)
}

// printOf names a key or a body without showing it. A key's is the one that package
// oncehttp logs.
func printOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}
