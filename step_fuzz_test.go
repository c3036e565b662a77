package oncehttp

import (
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A stepped drives one machine from a decoded record and checks every step by
// rules of its own.
type stepped struct {
	t   *testing.T
	m   machine
	p   policy
	now time.Time
}

// steppedPolicy is what one of 1<<16 clients decides by.
func steppedPolicy(settings uint16, now time.Time) policy {
	bit := func(n int) bool { return settings>>n&1 == 1 }
	p := policy{maxAttempts: 1 + int(settings>>12&3), attempt: 30 * time.Second, share: 0.9, copied: bit(0) && bit(1), distrusted: bit(2) && bit(3), lookup: bit(4)}
	if bit(5) {
		p.share = 1
	}
	if bit(6) {
		p.latest = now.Add(time.Duration(settings>>14) * time.Minute)
	}
	c := plainContract()
	switch settings >> 7 & 7 {
	case 0:
		return p // and no contract
	case 1:
		c.Proof = ProofSecondary
	case 2:
		c.Window = Window{Kind: WindowUnknown}
	case 3:
		c.Window = Window{Kind: WindowForever}
	case 4:
		c.Stored.Settle = 2 * time.Minute
	case 5:
		c.Stored.Refusals = true
	case 6:
		c.Carrier = Carrier{}
	}
	if bit(10) {
		c.Hints.Least = time.Minute
	}
	if bit(11) {
		c.Hints.Running, c.Pin = 2*time.Minute, PinCredential
	}
	p.contract = c
	return p
}

// event is one of a kind, with what a shell would put into it.
func (s *stepped) event(kind eventKind, arg byte) event {
	e := event{kind: kind, attempt: "stray"}
	r := s.m.next
	switch kind {
	case evTaken, evJoined:
		e.call = call{until: s.now.Add(time.Duration(arg>>2) * time.Minute), resume: arg&1 == 1, recordOnly: arg&3 == 2}
	case evReadied:
		e.attempt = strconv.Itoa(r.Attempts + 1)
		e.stripped, e.credential = []string{"header Authorization"}, string('a'+arg&1)
	case evShut:
		e.again = s.now.Add(time.Minute)
	case evAnswered:
		saw := sightings[int(arg)%len(sightings)]
		h := history{method: r.Begun.Method, exposed: r.Exposed, protection: r.protection(s.p), renewable: arg >= 128,
			refused: r.RefusedStatus != 0 && r.RefusedStatus == saw.facts.status, apart: s.now.Sub(r.Last), inProgress: r.Reason == InProgress}
		e.judged, e.delay, e.stop = classify(saw.facts, h, s.p.contract, s.now), saw.delay, arg == 255
		if saw.facts.status != 0 {
			e.answer = &answer{Status: saw.facts.status, At: s.now}
		}
		if saw.facts.status == 307 && arg&16 == 0 {
			e.location = "https://api.test/elsewhere"
		}
		if r.Sending != nil && arg&64 == 0 {
			e.attempt = r.Sending.ID
		} else if r.Last.IsZero() {
			e.kind = evLooked // nothing was sent that could be answered late
		}
	case evUnready:
		e.cause = "no credentials"
	case evOvertaken, evRead:
		stored := s.m.rec
		stored.Revision += uint64(arg & 3)
		switch arg >> 2 & 3 {
		case 0:
			stored.attest(word{At: s.now, To: Confirmed, By: "ada"})
		case 1:
			stored.attest(word{At: s.now, To: Rejected, By: "ada"})
		case 2:
			stored.expose(s.now)
		}
		e.stored = &stored
	case evResolved:
		e.word = word{At: s.now, To: Confirmed + State(arg&1), By: "ada"}
	case evLookedUp:
		e.asked, e.finding = s.now, Finding{Kind: FindingKind(arg & 3), Reference: "ch_1"}
	}
	return e
}

// fitting are the events that each command waits for, the natural one first.
var fitting = map[commandKind][]eventKind{
	cmdSettle: {evTaken, evResolved, evAnswered, evLookedUp},
	cmdAsk:    {evAdmitted, evShut},
	cmdReady:  {evReadied, evUnready},
	cmdSave:   {evSaved, evSaveFailed, evSaveUnknown, evOvertaken},
	cmdSend:   {evAnswered},
	cmdWait:   {evWoke},
	cmdLookUp: {evLookedUp},
}

// step takes the event and holds what comes of it against the rules.
func (s *stepped) step(e event) {
	t, was := s.t, s.m
	var cmd command
	s.m, cmd = s.m.step(e, s.p, s.now)
	is := s.m
	require.Equal(t, is.out.kind, cmd.kind)
	require.Equal(t, was.rec.Begun.Wire, is.next.Begun.Wire, "the key never changes")
	if was.next.Exposed && is.next.Exposed && e.kind != evOvertaken && e.kind != evRead && was.read == nil && e.kind != evSaveFailed && e.kind != evSaveUnknown {
		require.Equal(t, was.next.Begun.Credential, is.next.Begun.Credential, "the credentials of what may have had an effect are kept")
	}
	comes := slices.Contains([]eventKind{evCancelled, evJoined, evRead}, e.kind) // at any time
	if !comes && !slices.Contains(fitting[was.out.kind], e.kind) {
		require.True(t, reflect.DeepEqual(was, is), "event %d does not fit command %d and changed something", e.kind, was.out.kind)
		return
	}

	foreign := e.kind == evOvertaken || e.kind == evRead || was.read != nil
	person := e.kind == evResolved || was.heard != nil && was.heard.kind == evResolved
	if !foreign && e.kind != evSaved {
		require.True(t, reflect.DeepEqual(was.rec, is.rec), "what is on disk changes by a save")
	}
	if was.rec.State != Pending && is.rec.State != was.rec.State {
		require.True(t, foreign || person || was.rec.again(), "%s became %s", was.rec.State, is.rec.State)
	}
	if was.next.Exposed && is.next.State != Confirmed && !is.next.Exposed && !foreign && !person {
		undone := e.kind == evSaveFailed || e.kind == evSaveUnknown || e.kind == evLookedUp && e.finding.Kind == NotFound
		require.True(t, undone || e.kind == evAnswered && e.judged.settles || is.next.State == was.next.State && is.next.State != Pending, "exposure is forgotten")
	}

	switch cmd.kind {
	case cmdWait:
		stands := was.out.kind == cmdWait && cmd.until.Equal(was.out.until)
		require.True(t, stands || cmd.until.After(s.now))
	case cmdSettle:
		if !cmd.notRecorded && is.rec.Revision > 0 {
			require.True(t, reflect.DeepEqual(is.rec, cmd.record), "told is not what is on disk")
		}
	case cmdSend:
		if was.out.kind != cmdSend {
			require.Equal(t, evSaved, e.kind, "sent without a save")
			require.True(t, reflect.DeepEqual(is.rec, cmd.record), "sent is not what is on disk")
			require.Empty(t, s.unsafe(cmd))
		}
	}
}

// unsafe says why the attempt must not be sent; "" if it may.
func (s *stepped) unsafe(cmd command) string {
	r, p, now := cmd.record, s.p, s.now
	repeats := r.Exposed || r.Incomplete
	underKey := r.Begun.Wire != "" && p.contract != nil && p.contract.Carrier.Kind == CarrierHeader && p.contract.Proof < ProofSecondary && !p.distrusted
	switch {
	case p.copied:
		return "the original of this copy may send it"
	case r.Sending == nil:
		return "the attempt is not on disk"
	case r.State == Rejected, r.State == Confirmed && !r.Incomplete:
		return "it is settled"
	case now.Before(r.NotBefore):
		return "the server asked for a later time"
	case r.Begun.Wire != "" && p.contract == nil:
		return "there is no contract for its key any more"
	case repeats && !underKey && !(r.Begun.Idempotent && s.m.call.exposedHere):
		return "nothing protects the repeat"
	case repeats && cmd.timeout != p.attempt:
		return "an exposed attempt has no time-out"
	case !repeats && r.Begun.Born.IsZero():
		return ""
	case now.Before(r.Seen), now.Before(p.latest):
		return "the clock has gone back"
	case r.Begun.Wire == "":
		return ""
	}
	since := r.First
	if since.IsZero() {
		since = r.Sending.At
	}
	if !r.Begun.Born.IsZero() {
		since = r.Begun.Born
	}
	for _, w := range []Window{r.Begun.Window, p.contract.Window} {
		length := w.Length
		switch w.Kind {
		case WindowForever:
			continue
		case WindowUnknown:
			length = 5 * time.Minute
		}
		seconds := p.share*max(0, length.Seconds()) - p.attempt.Seconds()
		const slack = 1e-3 // of floats, and a hundred years in them
		if float64(now.Unix()-since.Unix()) > max(0, seconds)+1+slack {
			return "the window is over"
		}
		if cmd.until.IsZero() || float64(cmd.until.Unix()-since.Unix()) > max(0, seconds)+1+slack {
			return "nothing stops it when the window ends"
		}
	}
	return ""
}

// FuzzStep drives a decoded record by a program, two bytes a step: what happens
// and when. In each state it tries every kind of event.
func FuzzStep(f *testing.F) {
	const natural = 31
	straight := slices.Repeat([]byte{natural, 16}, 8)
	addRecords(f, func(text []byte) {
		f.Add(text, false, uint16(7<<7), straight)
		f.Add(text, false, uint16(3<<12|7<<7|3<<10), straight)
		f.Add(text, false, uint16(3<<14|7<<7|1<<6), slices.Repeat([]byte{1<<5 | natural, 16}, 10)) // the clock is behind
		f.Add(text, false, uint16(2<<7), slices.Repeat([]byte{1<<5 | natural, 252}, 10))           // the window ends
		f.Add(text, true, uint16(1<<4), []byte{natural, 17, byte(evRead), 2, natural, 1, byte(evCancelled), 0})
		f.Add(text, false, uint16(3<<12|4<<7|1<<4), []byte{natural, 16, natural, 0, natural, 0, natural, 0, natural, 8, natural, 0, natural, 200})
	})
	f.Fuzz(func(t *testing.T, text []byte, copied bool, settings uint16, program []byte) {
		if len(text) > 8<<10 || len(program) > 64 {
			t.Skip("longer ones show nothing new")
		}
		r, err := decodeRecord(Entry{ID: uuid.UUID{7}, Revision: uint64(settings & 1), Record: text, Copied: copied})
		if err != nil || r.Begun.At.IsZero() || r.aged() && r.First.IsZero() {
			return // nothing writes a record without the time of its beginning, nor an exposed one without that of its exposure
		}
		s := &stepped{t: t, m: machine{rec: r, next: r, out: command{record: r}}, now: stepStart}
		s.p = steppedPolicy(settings, s.now)
		for ; len(program) >= 2; program = program[2:] {
			what, arg := program[0], program[1]
			for kind := range evRead + 1 {
				probe := *s
				probe.step(probe.event(kind, arg))
			}
			kind := eventKind(what & natural)
			if kind > evRead {
				kind = fitting[s.m.out.kind][0]
			}
			s.step(s.event(kind, arg))
			s.now = s.now.Add(time.Duration(what>>5) * time.Duration(what>>5) * 30 * time.Second)
			if s.m.out.kind == cmdWait && what>>5 == 1 {
				s.now = s.m.out.until
			}
		}
	})
}
