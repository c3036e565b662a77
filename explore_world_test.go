package oncehttp

import (
	"strconv"
	"time"
)

// A world is one state of everything that the two machines touch: the clock,
// the disk, the process, the network, the server, and what callers were told.
// It is a value; what it points to never changes.
type world struct {
	// real is the true time in minutes; back: the clock shows a minute before
	// the worldStart until the true time moves on.
	real int8
	back bool

	disk *record // nil: none
	// was is the disk before the last three writes of which the driver has not
	// heard: a call that overlaps them may still tell it.
	was [3]*record
	// spoiled: the journal takes no writes until it is opened again.
	spoiled bool

	closed bool
	// m is the driver's machine, nil: no flight. result is what its command has
	// brought and it has not heard yet; beside is what came meanwhile.
	m      *machine
	result *event
	beside []event
	owners owners
	shown  record // what those who leave are told
	kept   *machine
	seats  [3]worldSeat

	wire attempted
	// late counts the requests in the network that nobody waits for, sent in
	// this minute and in the last.
	late [2]int8

	// effects and requests of the server; keyAt is when it first saw key.
	effects, requests int8
	key               string
	keyAt             int8

	left worldBudget
	// Ghosts: what the checks remember. sentKey is the key on the first request;
	// asked is the server's wish, as heard and as recorded; words counts those
	// of persons; exposedIn is the flight, counted, of the first ambiguous send, and
	// exposedAt its minute.
	sentKey                       string
	asked, askedOnDisk, exposedAt int8
	words                         int8
	flights, exposedIn            int8
	resuming, restarted           bool
}

// worldSeat is one seat: two callers, and a pass of Resume.
type worldSeat struct {
	seated, leaving bool
	until           time.Time
}

const (
	callerA = iota
	callerB
	resumer
)

// attempted is the attempt under way.
type attempted struct {
	phase wirePhase
	id    string
	key   string
	at    int8 // when its first byte left
}

type wirePhase uint8

const (
	wireIdle    wirePhase = iota
	wireConnect           // it waits for a connection
	wireSent              // on its way
	wireReached           // the server has handled it
	wireStopped           // something in between has answered
)

// worldBudget bounds a world: how often each thing may still happen.
type worldBudget struct {
	calls                                                   [3]int8
	faults, crashes, back, words, closes                    int8
	saveFaults, unready, lateAnswers, leaves, begins, shuts int8
}

// worldStart is when every world begins. The usable part of the window ends two and
// a half minutes after the first attempt; the server remembers for three.
var worldStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	exploredWindow   = 3 * time.Minute
	exploredTimeout  = 30 * time.Second
	exploredAttempts = 3
)

func worldAt(minute int8) time.Time { return worldStart.Add(time.Duration(minute) * time.Minute) }

func (w *world) now() time.Time {
	if w.back {
		return worldAt(-1)
	}
	return worldAt(w.real)
}

func (w *world) said(kind commandKind) bool {
	return w.m != nil && w.result == nil && w.m.out.kind == kind
}

// mayArrive: a request may still have an effect.
func (w *world) mayArrive() bool {
	return w.late[0]+w.late[1] > 0 || w.wire.phase == wireSent
}

// loose: an earlier attempt has had an effect or may still have one.
func (w *world) loose() bool { return w.effects > 0 || w.late[0]+w.late[1] > 0 }

func (w *world) revision() uint64 {
	if w.disk == nil {
		return 0
	}
	return w.disk.Revision
}

// sinceExposed counts the flights since the ambiguous send; -1: there was none.
func (w *world) sinceExposed() int8 {
	if w.exposedIn == 0 {
		return -1
	}
	return min(1, w.flights-w.exposedIn)
}

// nextMinute: minutes 0 and 1 are inside the window of an attempt of minute 0,
// minute 3 is outside.
func nextMinute(m int8) int8 {
	if m == 1 {
		return 3
	}
	return m + 1
}

// wait lets time pass. A request is lost for good when it has not arrived by the
// next minute.
func (w *world) wait() {
	w.real = nextMinute(w.real)
	w.back = false
	w.late[1], w.late[0] = w.late[0], 0
	if w.wire.phase == wireSent && w.real > nextMinute(w.wire.at) {
		w.wire.phase = wireStopped
	}
}

// arrive is the server's side: one effect for a key while it remembers it.
func (w *world) arrive(key string) {
	if key != "" && key == w.key && time.Duration(w.real-w.keyAt)*time.Minute <= exploredWindow {
		return
	}
	w.effects++
	w.key, w.keyAt = key, w.real
}

// stray makes the request under way one that nobody waits for.
func (w *world) stray() {
	if w.wire.phase == wireSent {
		w.late[min(1, w.real-w.wire.at)]++
	}
	w.wire = attempted{}
}

// crash loses the volatile half.
func (w *world) crash() {
	w.stray()
	w.m, w.result, w.beside, w.kept = nil, nil, nil, nil
	w.owners, w.shown, w.seats = owners{}, record{}, [3]worldSeat{}
	w.was, w.spoiled, w.closed, w.resuming = [3]*record{}, false, false, false
	w.asked = w.askedOnDisk
	w.restarted = true
}

// encode is equal for two worlds that behave alike: it leaves out what no rule
// and no check looks at any more. Attempts and revisions count from the disk's.
func (w *world) encode(b []byte) []byte {
	c := encoder{b: b, revision: w.revision(), past: w.left.back > 0 || w.back}
	if w.disk != nil {
		c.attempts = w.disk.Attempts
	}
	c.bits(w.back, w.spoiled, w.closed, w.resuming, w.restarted)
	c.bytes(w.real, w.late[0], w.late[1], w.effects, int8(c.attempts)-w.requests, max(0, w.asked-w.real), max(0, w.askedOnDisk-w.real),
		min(1, w.words), w.sinceExposed(), int8(w.wire.phase), w.wire.at)
	if w.loose() {
		c.bytes(w.exposedAt, w.keyAt)
	}
	l := w.left
	c.bytes(l.calls[0], l.calls[1], l.calls[2], l.faults, l.crashes, l.back, l.words, l.closes, l.saveFaults, l.unready, l.lateAnswers, l.leaves, l.begins, l.shuts)
	c.attempt(w.wire.id)
	c.texts(w.wire.key, w.key, w.sentKey)
	c.record(w.disk)
	for _, r := range w.was {
		c.record(r)
	}
	c.machine(w.m)
	c.machine(w.kept)
	c.event(w.result)
	for i := range w.beside {
		c.event(&w.beside[i])
	}
	c.bits(w.owners.driving, w.owners.done, w.owners.closed)
	for _, s := range w.owners.seats {
		c.bytes(int8(s.id))
	}
	if w.m != nil {
		c.record(&w.shown)
	}
	for _, s := range w.seats {
		c.bits(s.seated, s.leaving)
		c.time(s.until)
	}
	return c.b
}

type encoder struct {
	b        []byte
	revision uint64
	attempts int
	past     bool // the clock may go back: what has passed matters
}

func (c *encoder) bytes(values ...int8) {
	for _, v := range values {
		c.b = append(c.b, byte(v))
	}
}

func (c *encoder) bits(values ...bool) {
	var sum byte
	for i, v := range values {
		if i%8 == 0 && i > 0 {
			c.b, sum = append(c.b, sum), 0
		}
		if v {
			sum |= 1 << (i % 8)
		}
	}
	c.b = append(c.b, sum)
}

func (c *encoder) texts(parts ...string) {
	for _, s := range parts {
		c.b = append(append(c.b, s...), 0)
	}
}

// time in half minutes from the start.
func (c *encoder) time(t time.Time) {
	if t.IsZero() {
		c.b = append(c.b, 0x80)
		return
	}
	c.b = append(c.b, byte(int8(t.Sub(worldStart)/(30*time.Second))))
}

// attempt counts an attempt's ID from the disk's.
func (c *encoder) attempt(id string) {
	n, err := strconv.Atoi(id)
	if err != nil {
		n = c.attempts - 100
	}
	c.bytes(int8(n - c.attempts))
}

func (c *encoder) record(r *record) {
	if r == nil {
		c.b = append(c.b, 0xff)
		return
	}
	c.bytes(int8(int64(r.Revision)-int64(c.revision)), int8(r.State), int8(r.Rival), int8(r.Attempts-c.attempts), int8(min(1, len(r.Words))))
	c.bits(r.Exposed, r.Incomplete, r.Repeated, r.Answer != nil, r.Sending != nil)
	c.time(r.First)
	if r.First.IsZero() {
		c.time(r.Last)
	}
	c.time(r.NotBefore)
	c.time(r.Due)
	if c.past {
		c.time(r.Seen)
	}
	c.texts(string(r.Reason), r.Begun.Wire)
	if r.Sending != nil {
		c.attempt(r.Sending.ID)
		c.time(r.Sending.At)
	}
}

func (c *encoder) machine(m *machine) {
	if m == nil {
		c.b = append(c.b, 0xff)
		return
	}
	c.record(&m.rec)
	c.bits(m.dirty, m.out.timeout > 0, m.out.stale, m.out.notRecorded, m.call.recordOnly, m.call.resume,
		m.call.exposedHere, m.call.renewed, m.call.stopped, m.call.left, m.call.sends > 0)
	if m.dirty {
		c.record(&m.next)
	}
	c.bytes(int8(m.out.kind), int8(m.call.attempts), int8(m.call.hops))
	c.time(m.out.until)
	c.time(m.call.until)
	c.texts(m.hop, m.out.hop)
	if m.out.kind == cmdSettle {
		c.record(&m.out.record)
	}
	c.event(m.heard)
	c.record(m.read)
}

func (c *encoder) event(e *event) {
	if e == nil {
		c.b = append(c.b, 0xff)
		return
	}
	j := e.judged
	c.bytes(int8(e.kind), int8(e.delay/time.Minute), int8(j.effect), int8(j.again), int8(j.wait/time.Minute), int8(e.word.To))
	c.bits(e.call.recordOnly, e.call.resume, e.stop, e.answer != nil, j.settles, j.asked, j.incomplete, j.renew, j.refusal)
	c.time(e.call.until)
	c.texts(string(j.reason), e.location)
	c.attempt(e.attempt)
	if e.stored != nil && e.stored.Revision > 0 {
		c.record(e.stored)
	}
}
