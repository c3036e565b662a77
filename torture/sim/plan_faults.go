package sim

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp/mockserver"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// A fault is a kind of mishap that a plan switches on or leaves off.
type fault uint8

const (
	// Of one request.
	faultDrop fault = iota // lost on its way
	faultLost              // its answer is lost after the effect
	faultSilent
	faultLate // arrives after its loss was seen
	faultSlow // on its way, or its answer
	faultCut  // the answer's body
	faultGarbage
	faultDrip
	faultEndless
	faultEarly // answered before it was read
	faultInformational
	faultGateway // 5xx from something in between, done or not
	faultThrottled
	faultRedirect
	faultMoved  // 302
	faultPortal // 4xx from something in between
	faultSpoof  // 2xx from something in between, without the API's marker
	faultOwn5xx // stored by the API, done or not
	faultForget
	faultServerCrash
	faultScene // what a scene needs
	// Of the server.
	faultRestart
	faultDials
	faultShortMemory
	faultRefused // the API says no
	faultAtFirst // the API says no, then yes
	// Of the client's process and its journal.
	faultCrash
	faultCrashWrite
	faultFull
	faultUnknown
	faultClock
	faultNoContract // one life without it
	faultClose
	// Of callers and hooks.
	faultPatience
	faultReworded
	faultBorn
	faultPerson
	faultForce
	faultLookup
	faultLookupFails
	faultAuthorize
	// Of time.
	faultLong // sleeps

	faultCount
)

var faultNames = [faultCount]string{
	"drop", "lost", "silent", "late", "slow", "cut", "garbage", "drip", "endless", "early", "informational", "gateway",
	"throttled", "redirect", "moved", "portal", "spoof", "own5xx", "forget", "servercrash", "scene",
	"restart", "dials", "shortmemory", "refused", "atfirst",
	"crash", "crashwrite", "full", "unknown", "clock", "nocontract", "close",
	"patience", "reworded", "born", "person", "force", "lookup", "lookupfails", "authorize",
	"long",
}

func (f fault) String() string { return faultNames[f] }

// faults is a set of them.
type faults uint64

func (s faults) has(f fault) bool { return s>>f&1 == 1 }

func (s faults) String() string {
	var on []string
	for f := range faultCount {
		if s.has(f) {
			on = append(on, f.String())
		}
	}
	return strings.Join(on, " ")
}

// newFaults draws a random subset: some runs have nearly all faults, some only
// a few, so that none hides behind another.
func newFaults(d dice) (s faults) {
	share := pick(d, 0.1, 0.3, 0.3, 0.6)
	for f := range faultCount {
		if f == faultScene {
			continue
		}
		p := share
		switch f {
		case faultForget, faultShortMemory: // they take a promise of the server back
			p /= 4
		case faultLost, faultCrash, faultCrashWrite:
			p = min(1, 2*p)
		}
		if d.chance(p) {
			s |= 1 << f
		}
	}
	return s
}

// newFault is what happens to the n-th request of an action.
func (p *Plan) newFault(d dice, a Action, n int) (f mockserver.Fault, kind fault, ok bool) {
	var on []fault
	for f := faultDrop; f <= faultServerCrash; f++ {
		if p.On.has(f) {
			on = append(on, f)
		}
	}
	if len(on) == 0 {
		return f, kind, false
	}
	kind = pick(d, on...)
	keyed := a.Protection == judge.Keyed
	marked := keyed && p.API.Origin
	// Where the contract lets a refusal speak of earlier attempts, only the API's
	// marker tells it from that of something in between.
	believed := !keyed || marked || !p.API.Refusals && p.API.Settle == 0
	switch kind {
	case faultDrop:
		f.See = pick(d, mockserver.SeeReset, mockserver.SeeClose)
	case faultLost:
		f = mockserver.Fault{Commit: true, See: pick(d, mockserver.SeeReset, mockserver.SeeClose)}
	case faultSilent:
		// Longer than any attempt's time-out. It ends, because nothing of ours ends the
		// wait of an attempt that is unprotected, or whose contract is distrusted.
		f = mockserver.Fault{Commit: d.chance(0.5), See: mockserver.SeeClose, After: time.Minute}
	case faultLate:
		f = mockserver.Fault{Commit: true, See: pick(d, mockserver.SeeReset, mockserver.SeeClose), Late: d.upTo(p.API.Arrives)}
		if f.Late == 0 {
			return f, kind, false
		}
		if d.chance(0.3) {
			f.See, f.Status = mockserver.SeeAnswer, pick(d, 408, 500, 502, 503, 504)
		}
	case faultSlow:
		if d.chance(0.5) {
			f.Before = d.upTo(p.API.Arrives)
		} else {
			f.After = d.upTo(2 * p.Client.Retry.AttemptTimeout)
		}
	case faultCut:
		f = mockserver.Fault{See: mockserver.SeeTruncated, Keep: d.IntN(20), Gzip: d.chance(0.2),
			Framing: pick(d, mockserver.FramingLength, mockserver.FramingChunked, mockserver.FramingClose)}
	case faultGarbage:
		f = mockserver.Fault{Commit: d.chance(0.5), See: mockserver.SeeRaw, Body: pick(d, "HTTP/1.1 20", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le")}
	case faultDrip:
		f = mockserver.Fault{See: mockserver.SeeDrip, Every: d.upTo(p.Client.Retry.AttemptTimeout / 4)}
	case faultEndless:
		// What the workflow says is not looked at, so it must be a yes.
		if n > 0 || !a.Effective() || len(a.First) > 0 {
			return f, kind, false
		}
		f = p.own(mockserver.Fault{Commit: true, See: mockserver.SeeEndless, Status: 200})
	case faultEarly:
		f = mockserver.Fault{See: mockserver.SeeEarly, Status: 503, Read: d.IntN(4)}
		if believed && d.chance(0.7) {
			f.Status = 413
		}
	case faultInformational:
		f.Informational = []int{100, 103}[d.IntN(2):]
	case faultGateway:
		f = mockserver.Gateway(pick(d, 500, 502, 503, 504, 507, 499, 520, 599, 408))
		f.Commit = d.chance(0.5)
	case faultThrottled:
		f = p.wished(d, mockserver.Status(pick(d, 429, 503, 429, 503, 425, 421)))
	case faultRedirect:
		f = mockserver.Redirect(pick(d, 307, 308), pick(d, "/"+a.Name, "/"+a.Name, "http://elsewhere.test/"))
		if d.chance(0.2) {
			f = p.wished(d, f)
		}
	case faultMoved:
		f = mockserver.Redirect(pick(d, 301, 302, 303), "/login")
		f.Commit = d.chance(0.5)
	case faultPortal:
		if !believed {
			return f, kind, false
		}
		f = mockserver.Gateway(pick(d, 401, 403, 404, 407, 409, 451, 511))
		f.Commit = marked && f.Status < 500 && d.chance(0.5)
	case faultSpoof:
		if !marked {
			return f, kind, false
		}
		f = mockserver.Gateway(pick(d, 200, 202))
		f.Commit = d.chance(0.3)
	case faultOwn5xx:
		f = p.own(mockserver.Code(pick(d, 500, 503), "internal_error"))
		f.Origin, f.Commit = true, a.Effective() && d.chance(0.5)
	case faultForget:
		f.Forget = true
	case faultServerCrash:
		f.Crash = pick(d, mockserver.CrashBefore, mockserver.CrashBetween, mockserver.CrashAfter)
	}
	if kind != faultForget && p.On.has(faultForget) && d.chance(0.1) {
		f.Forget = true
	}
	return f, kind, true
}

// wished adds what the server asks for: seconds, a date, or what no one can read.
func (p *Plan) wished(d dice, f mockserver.Fault) mockserver.Fault {
	switch d.IntN(5) {
	case 0:
		return f
	case 1:
		return f.With("Retry-After", begins.Add(d.upTo(24*time.Hour)).Format(http.TimeFormat))
	case 2:
		return f.With("Retry-After", pick(d, "soon", "-1", "1.5", ""))
	}
	return f.With("Retry-After", strconv.Itoa(int(d.upTo(2*time.Hour)/time.Second)))
}

// marker is on the API's own answers.
const marker = "X-Api"

// own marks an answer as the API's own.
func (p *Plan) own(f mockserver.Fault) mockserver.Fault {
	switch {
	case !p.API.Origin || p.API.Terms.Own == ownEcho: // it does not look at the key
		return f
	case p.API.Terms.Own == ownHeader:
		return f.With(marker, "1")
	case f.Body == "" && f.See == mockserver.SeeAnswer:
		f = f.With("Content-Type", "application/json")
		f.Body = "{}"
	}
	if rest, ok := strings.CutPrefix(f.Body, "{"); ok {
		f.Body = strings.Replace(`{"`+markField+`":"1",`+rest, ",}", "}", 1)
	}
	return f
}
