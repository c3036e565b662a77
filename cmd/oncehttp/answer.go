package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/oncehttp/oncehttp"
)

// An answer is what the API said, whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// response plays the answer to a client.
func (a answer) response(req *http.Request) *http.Response {
	header := a.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		ContentLength: int64(len(a.body)), Body: io.NopCloser(bytes.NewReader(a.body)), Request: req,
	}
}

// refusal: a 4xx that speaks of the request, and not of the moment or of who
// sends it.
func (a answer) refusal() bool {
	return a.status/100 == 4 && !slices.Contains([]int{401, 403, 407, 408, 421, 425, 429}, a.status)
}

// A reading is what a client makes of an answer under the contract.
type reading struct {
	// verdict of the first of the contract's rules that knows the answer;
	// VerdictUnknown where none does.
	verdict oncehttp.Verdict
	state   oncehttp.State
	reason  oncehttp.Reason
	// The marks that it carries, of those that the contract has.
	replayed, origin, ignored bool
}

// read lets package oncehttp read an answer to a request with the key.
func read(ctx context.Context, c oncehttp.Contract, key string, a answer) (r reading, err error) {
	o, err := replay(ctx, c, key, a)
	if err != nil {
		return r, err
	}
	r.state, r.reason = o.State, o.Reason
	if r.verdict, err = verdictOf(ctx, c, key, a); err != nil {
		return r, err
	}
	for mark, there := range map[*oncehttp.Marker]*bool{&c.Replay: &r.replayed, &c.Origin: &r.origin, &c.Ignored: &r.ignored} {
		if *there, err = carries(ctx, *mark, key, a); err != nil {
			return r, err
		}
	}
	return r, nil
}

// told are the verdicts that a client with no other evidence tells apart by what
// it says afterwards.
var told = map[oncehttp.Verdict]oncehttp.Reason{
	oncehttp.VerdictDone:       "", // Confirmed
	oncehttp.VerdictInProgress: oncehttp.InProgress,
	oncehttp.VerdictMismatch:   oncehttp.Refused,
	oncehttp.VerdictKeySpent:   oncehttp.StoredFailure,
	oncehttp.VerdictKeyExpired: oncehttp.KeyExpired,
}

// verdictOf finds the rule that knows the answer. Rules whose verdicts are not
// told apart keep their place and say that nobody knows, as does a last one.
func verdictOf(ctx context.Context, c oncehttp.Contract, key string, a answer) (oncehttp.Verdict, error) {
	rules := slices.Clone(c.Answers)
	for i := range rules {
		if _, ok := told[rules[i].Verdict]; !ok {
			rules[i].Verdict, rules[i].Reference = oncehttp.VerdictUnknown, ""
		}
	}
	o, err := replay(ctx, oncehttp.Contract{Answers: append(rules, oncehttp.Answer{Status: []int{a.status}, Verdict: oncehttp.VerdictUnknown})}, key, a)
	if err != nil {
		return oncehttp.VerdictUnknown, err
	}
	for verdict, reason := range told {
		if o.Reason == reason {
			return verdict, nil
		}
	}
	return oncehttp.VerdictUnknown, nil
}

// carries reports whether an answer carries a mark: whether a client for which
// this answer is a success takes it for a replayed one.
func carries(ctx context.Context, m oncehttp.Marker, key string, a answer) (bool, error) {
	if isZero(m) {
		return false, nil
	}
	o, err := replay(ctx, oncehttp.Contract{Replay: m, Answers: []oncehttp.Answer{{Status: []int{a.status}, Verdict: oncehttp.VerdictDone}}}, key, a)
	if err != nil {
		return false, err
	}
	return o.Reason == oncehttp.StoredFailure || o.Response != nil && o.Response.Replayed, nil
}

// replay lets a client get the answer to a POST of its own. Of the contract only
// what it says of answers counts.
func replay(ctx context.Context, c oncehttp.Contract, key string, a answer) (*oncehttp.Outcome, error) {
	c = oncehttp.Contract{
		Name: "reading", Match: oncehttp.Match{Hosts: []string{"*"}},
		Carrier: oncehttp.Carrier{Kind: oncehttp.CarrierHeader, Name: "Idempotency-Key"},
		Key:     oncehttp.KeyRule{Max: 2 * mostKeyLength}, Window: oncehttp.Window{Kind: oncehttp.WindowForever},
		Origin: c.Origin, Replay: c.Replay, Ignored: c.Ignored, Answers: c.Answers, Stored: c.Stored, Repeats: c.Repeats,
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://reading.invalid/", nil)
	if err != nil {
		return nil, err
	}
	cfg := oncehttp.Config{Transport: roundTrip(func(req *http.Request) (*http.Response, error) { return a.response(req), nil })}
	if key != "" {
		cfg.NewKey = func(string) (string, error) { return key, nil }
	}
	return consult(cfg, c, req)
}
