package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/oncehttp/oncehttp"
)

const (
	firstRequests = 3  // of the first check, on which the others build
	mostRequests  = 12 // of all checks

	mostKeyLength = 4096 // bytes of a key that is tried
)

// A check is some requests and what they show.
type check struct {
	name     string
	requests int
	what     string
	// skip says why it is left out; empty: it is not.
	skip string
	run  func(ctx context.Context, p *prober, s *state) ([]finding, error)
}

// state is what the first check leaves to the others.
type state struct {
	evidence      evidence
	first, repeat shot
}

// plan lists the checks of a contract, and which of them are left out.
func plan(o options) []check {
	c := o.contract
	checks := []check{
		{name: "same key again", requests: firstRequests, what: "a request, the same once more, and one with another body and key", run: again},
		{name: "same key twice at once", requests: 2, what: "two equal requests at once, with a key of their own", run: together},
		{name: "same key, other body", requests: 1, what: "another body with the first key", run: otherBody},
		{name: "after a refusal", requests: 2, what: "the bad body, and a good one with the same key", run: afterRefusal},
	}
	if c.Key.Max > 0 && c.Key.Max <= mostKeyLength {
		checks = append(checks, check{name: "key too long", requests: 1, what: "a key one byte longer than allowed", run: badKey("key too long", tooLong)})
	}
	if strange(c.Key.Alphabet) != 0 {
		checks = append(checks, check{name: "key outside alphabet", requests: 1, what: "a key with a byte that is not allowed", run: badKey("key outside alphabet", outside)})
	}
	if c.Key.UUID != oncehttp.UUIDNone {
		checks = append(checks, check{name: "key that is no UUID", requests: 1, what: "a key that is nearly a UUID", run: badKey("key that is no UUID", noUUID)})
	}
	if c.Carrier.Kind != oncehttp.CarrierPath {
		checks = append(checks, check{name: "no key", requests: 1, what: "a request without a key", run: noKey})
	}
	room := o.most
	for i := range checks {
		k := &checks[i]
		switch {
		case k.name == "same key, other body" && !o.template.numbered():
			k.skip = "the body holds no {n}, so that it cannot be another"
		case k.name == "after a refusal" && len(o.template.bad) == 0:
			k.skip = "no -bad-body is given"
		case k.requests > room:
			k.skip = fmt.Sprintf("-effects %d leaves no room for it", o.most)
		}
		if k.skip == "" {
			room -= k.requests
		}
	}
	return checks
}

// probe is the subcommand.
func probe(ctx context.Context, args []string, sh shell) int {
	o, err := optionsOf(args, sh)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitAgrees
	case err != nil:
		fmt.Fprintf(sh.stderr, "oncehttp probe: %v\n", err)
		return exitUsage
	case o.list:
		for _, c := range named() {
			if probeable(c) == nil {
				fmt.Fprintf(sh.stdout, "%s\t%s\n", c.Name, strings.Join(c.Match.Hosts, " "))
			}
		}
		return exitAgrees
	}
	checks := plan(o)
	if err := o.template.tryOut(ctx, o.contract); err != nil {
		fmt.Fprintf(sh.stderr, "oncehttp probe: %v\n", err)
		return exitUsage
	}
	printPlan(sh, o, checks)
	if o.dryRun {
		return exitAgrees
	}
	p := &prober{contract: o.contract, template: o.template, pace: o.pace, transport: sh.transport}
	r := p.probe(ctx, checks)
	r.Host = o.template.url.Host
	r.print(sh.stdout, o.json)
	return r.exit()
}

// probe runs the checks one after the other. Those that come after an error are
// left out.
func (p *prober) probe(ctx context.Context, checks []check) report {
	r := report{Contract: p.contract.Name}
	var s state
	var stopped error
	for _, k := range checks {
		var found []finding
		skip := k.skip
		if stopped != nil {
			skip = "the probe had stopped"
		}
		if skip == "" {
			found, stopped = k.run(ctx, p, &s)
		}
		switch {
		case skip != "":
			found = []finding{{Check: k.name, Seen: "not tried", Verdict: cannotTell, Note: skip}}
		case stopped != nil:
			r.Stopped = stopped.Error()
			found = []finding{{Check: k.name, Seen: "not to its end", Verdict: cannotTell, Note: "the probe stopped"}}
		}
		r.Findings = append(r.Findings, found...)
	}
	if len(p.shots) > 0 {
		r.Findings = append(r.Findings, judgeOrigin(p.contract, p.shots))
	}
	r.Requests = sentLines(s.evidence, p.shots)
	return r
}

// fire freezes a body with a key, or with one that is minted, and sends it.
func (p *prober) fire(ctx context.Context, c oncehttp.Contract, key string, body []byte) (frozen, shot, error) {
	f, err := p.template.freeze(ctx, c, key, body)
	if err != nil {
		return f, shot{}, err
	}
	shots, err := p.send(ctx, f)
	if err != nil {
		return f, shot{}, err
	}
	return f, shots[0], nil
}

func again(ctx context.Context, p *prober, s *state) ([]finding, error) {
	f, first, err := p.fire(ctx, p.contract, "", p.template.next())
	if err != nil {
		return nil, err
	}
	if !first.success() {
		return nil, fmt.Errorf("the API answered the request itself with %d, so that there is nothing to repeat; send one that succeeds", first.status)
	}
	repeats, err := p.send(ctx, f)
	if err != nil {
		return nil, err
	}
	_, another, err := p.fire(ctx, p.contract, "", p.template.next())
	if err != nil {
		return nil, err
	}
	*s = state{evidenceOf(p.contract, first, another, p.template.id), first, repeats[0]}
	return append([]finding{judgeRepeat(s.evidence, first, repeats[0])}, judgeMarks(s.evidence, first, repeats[0])...), nil
}

func together(ctx context.Context, p *prober, s *state) ([]finding, error) {
	f, err := p.template.freeze(ctx, p.contract, "", p.template.next())
	if err != nil {
		return nil, err
	}
	shots, err := p.send(ctx, f, f)
	if err != nil {
		return nil, err
	}
	return judgeTogether(s.evidence, shots[0], shots[1]), nil
}

func otherBody(ctx context.Context, p *prober, s *state) ([]finding, error) {
	_, other, err := p.fire(ctx, p.contract, s.first.key, p.template.next())
	if err != nil {
		return nil, err
	}
	return []finding{judgeOtherBody(s.evidence, s.first, s.repeat, other)}, nil
}

func afterRefusal(ctx context.Context, p *prober, _ *state) ([]finding, error) {
	f, bad, err := p.fire(ctx, p.contract, "", p.template.bad)
	if err != nil {
		return nil, err
	}
	_, good, err := p.fire(ctx, p.contract, f.key, p.template.next())
	if err != nil {
		return nil, err
	}
	return []finding{judgeRefusal(p.contract, bad, good)}, nil
}

func noKey(ctx context.Context, p *prober, _ *state) ([]finding, error) {
	_, s, err := p.fire(ctx, keyless(p.contract), "", p.template.next())
	if err != nil {
		return nil, err
	}
	return []finding{judgeKeyless(p.contract.Key.Need, s)}, nil
}

// badKey tries a key that is spoilt.
func badKey(name string, spoil func(key string, r oncehttp.KeyRule) (spoilt, declared string)) func(context.Context, *prober, *state) ([]finding, error) {
	return func(ctx context.Context, p *prober, _ *state) ([]finding, error) {
		body := p.template.next()
		f, err := p.template.freeze(ctx, p.contract, "", body)
		if err != nil {
			return nil, err
		}
		key, declared := spoil(f.key, p.contract.Key)
		_, s, err := p.fire(ctx, anyKey(p.contract), key, body)
		if err != nil {
			return nil, err
		}
		return []finding{judgeKey(name, declared, s)}, nil
	}
}

func tooLong(key string, r oncehttp.KeyRule) (string, string) {
	return key + strings.Repeat(key[len(key)-1:], r.Max+1-len(key)), fmt.Sprintf("refused above %d bytes", r.Max)
}

func outside(key string, r oncehttp.KeyRule) (string, string) {
	return key[:len(key)-1] + string(strange(r.Alphabet)), "refused"
}

func noUUID(key string, _ oncehttp.KeyRule) (string, string) {
	return "g" + key[1:], "refused"
}

// strange is a letter, digit or sign that an alphabet lacks, and that every
// carrier takes as it is; 0: it lacks none.
func strange(alphabet string) byte {
	if alphabet == "" {
		return 0
	}
	for _, c := range []byte("~_.-gZ") {
		if strings.IndexByte(alphabet, c) < 0 {
			return c
		}
	}
	return 0
}
