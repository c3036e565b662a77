package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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
			return nil, ctx.Err()
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
	p.shots = append(p.shots, shots...)
	for i := range shots {
		if shots[i].err != nil {
			return nil, fmt.Errorf("request %d had no answer, and may have had an effect: %w", len(p.shots)-len(shots)+i+1, shots[i].err)
		}
		if shots[i].status == http.StatusTooManyRequests {
			return nil, errThrottled
		}
		var err error
		if shots[i].reading, err = read(ctx, p.contract, shots[i].key, shots[i].answer); err != nil {
			return nil, err
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

// print names a key or a body without showing it. A key's is the one that package
// oncehttp logs.
func print(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}
