package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/oncehttp/oncehttp"
)

// A template is what the requests are made of.
type template struct {
	method    string
	url       *url.URL
	header    http.Header
	body, bad []byte
	// n stands for {n} in the next body.
	n int
	// id is where answers name their effect, if the user has said so.
	id string
}

// numbered: bodies can be made to differ.
func (t *template) numbered() bool { return bytes.Contains(t.body, []byte("{n}")) }

// next is a body of its own.
func (t *template) next() []byte {
	body := bytes.ReplaceAll(t.body, []byte("{n}"), strconv.AppendInt(nil, int64(t.n), 10))
	t.n++
	return body
}

// setHeaders takes headers as 'Name: value'. Those that hold credentials are
// refused, and so is the one that the key travels in.
func (t *template) setHeaders(lines []string, carrier oncehttp.Carrier) error {
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case !ok || name == "":
			return errors.New("-header wants 'Name: value'")
		case slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie"}, name):
			return fmt.Errorf("-header holds a credential (%s); use -auth-env, since other users of this machine can read the command line", name)
		case carrier.Kind == oncehttp.CarrierHeader && strings.EqualFold(name, carrier.Name):
			return fmt.Errorf("-header sets %s, in which the key travels; leave it to the probe", name)
		}
		t.header.Add(name, value)
	}
	return nil
}

// A frozen request is one that can be sent as often as needed, byte for byte.
type frozen struct {
	key    string
	method string
	url    *url.URL
	host   string
	header http.Header
	body   []byte
}

// freeze lets package oncehttp write the key and what travels with it into the
// request. An empty key lets it mint one.
func (t *template) freeze(ctx context.Context, c oncehttp.Contract, key string, body []byte) (frozen, error) {
	var out frozen
	cfg := oncehttp.Config{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		out = frozen{method: req.Method, url: req.URL, host: req.Host, header: req.Header.Clone()}
		if req.Body != nil {
			out.body, _ = io.ReadAll(req.Body) // of bytes in memory
		}
		return answer{status: http.StatusOK}.response(req), nil
	})}
	if key != "" {
		cfg.NewKey = func(string) (string, error) { return key, nil }
	}
	req, err := http.NewRequestWithContext(ctx, t.method, t.url.String(), bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header = t.header.Clone()
	c.Match.Hosts, c.Plant, c.Lookups = []string{"*"}, oncehttp.Plant{}, nil
	if strings.EqualFold(c.Match.Header, c.Carrier.Name) { // it asks for a key of the caller's
		c.Match.Header, c.Match.HeaderValue = "", ""
	}
	o, err := consult(cfg, c, req)
	if err != nil {
		return out, err
	}
	out.key = o.Key
	if c.Carrier.Kind != oncehttp.CarrierNone && (o.Key == "" || key != "" && o.Key != key) {
		return out, fmt.Errorf("contract %s does not speak of this request (method, path, headers or what its body asks for), or it has a key already", c.Name)
	}
	return out, nil
}

// tryOut says what keeps the requests from being made, before any is sent.
func (t template) tryOut(ctx context.Context, c oncehttp.Contract) error {
	one, err := t.freeze(ctx, c, "", t.next())
	if err != nil {
		return err
	}
	two, err := t.freeze(ctx, c, "", t.next())
	if err != nil {
		return err
	}
	if one.key == two.key {
		return errors.New("the request has a key already; leave the key to the probe")
	}
	if len(t.bad) > 0 {
		_, err = t.freeze(ctx, c, "", t.bad)
	}
	return err
}

// keyless is the contract of the same request without a key.
func keyless(c oncehttp.Contract) oncehttp.Contract {
	return oncehttp.Contract{Name: c.Name, Match: c.Match}
}

// anyKey is the contract without its rules for keys.
func anyKey(c oncehttp.Contract) oncehttp.Contract {
	c.Key = oncehttp.KeyRule{Max: 2 * mostKeyLength}
	return c
}

// consult does an action with a client that has nothing but the contract and
// a journal of its own, and returns what it makes of the one answer it gets.
func consult(cfg oncehttp.Config, c oncehttp.Contract, req *http.Request) (*oncehttp.Outcome, error) {
	dir, err := os.MkdirTemp("", "oncehttp-probe")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cfg.Contracts = []oncehttp.Contract{c}
	cfg.Retry.MaxAttempts = 1
	client, err := oncehttp.Open(filepath.Join(dir, "journal"), cfg)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	o, err := client.Do("probe-"+uuid.NewString(), req)
	if o != nil {
		return o, nil // pending, or settled
	}
	return nil, err
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
