package oncehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// A Client sends actions, each effectively once. It may be used by many
// goroutines. It is an [http.RoundTripper].
type Client struct {
	cfg       Config
	journal   Journal
	base      http.RoundTripper
	fresh     http.RoundTripper // for what may be sent once
	owned     *http.Transport   // base, when it is ours
	contracts *contractSet
	identity  identity
	sealing   sealing

	// ctx ends when attempts must: at Close, or when Shutdown's time is up.
	ctx    context.Context
	cancel context.CancelCauseFunc
	drives sync.WaitGroup
	slots  chan struct{} // one for each intent that Resume drives and that does not wait
	loose  chan struct{} // one for each that waits
	gates  *gates
	ids    ids
	// unresolved counts the open intents, from what the journal had at the start
	// if there is a limit to them, and those about to be recorded.
	unresolved atomic.Int64
	// learned: what earlier clients, or this one, have parked was not looked
	// through since this one began or trusts a contract again.
	learned atomic.Bool
	// latest is the highest wall time seen, in nanoseconds since 1970.
	latest atomic.Int64
	// release runs once, however often the client is closed.
	release func() error

	mu      sync.Mutex // guards what follows
	closed  bool
	flights map[string]*flight  // by action: the intents that are driven
	kept    map[string]*machine // evidence that the journal could not take
	// distrusted holds the contracts, by name, that an answer has contradicted.
	distrusted map[string]bool
	// pruning: a step of retention runs. The next one goes on from pruneFrom;
	// a new walk begins at pruneAt.
	pruning            bool
	pruneFrom, pruneAt time.Time
}

// Open opens the journal at path, which is created if there is none, and
// returns a client on it. A path serves one client at a time: ErrJournalLocked.
// ErrJournalCorrupt says that the file is damaged; it is left as it is. A copy,
// or a restored backup, opens and tells what it has; see Config.AdoptCopy.
func Open(path string, cfg Config) (*Client, error) {
	checked, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if _, err := newContractSet(cfg.Contracts); err != nil {
		return nil, err
	}
	j, err := OpenBolt(path, checked.LockTimeout, cfg.Logger)
	if err != nil {
		return nil, err
	}
	if cfg.AdoptCopy {
		err = j.(*boltJournal).adopt()
	}
	var c *Client
	if err == nil {
		c, err = New(j, cfg)
	}
	if err != nil {
		j.Close()
	}
	return c, err
}

// New returns a client on any journal. The client closes it.
func New(j Journal, cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	contracts, err := newContractSet(cfg.Contracts)
	if err != nil {
		return nil, err
	}
	sealing, err := newSealing(cfg.Sealer)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, errors.New("oncehttp: New needs a journal; Open makes one in a file")
	}
	c := &Client{
		cfg: cfg, journal: j, base: cfg.Transport, contracts: contracts, sealing: sealing,
		identity: identity{ignore: cfg.IgnoreFields, significant: cfg.SignificantHeaders},
		slots:    make(chan struct{}, cfg.Concurrency),
		loose:    make(chan struct{}, maxParked),
		flights:  map[string]*flight{}, kept: map[string]*machine{}, distrusted: map[string]bool{},
	}
	if c.base == nil {
		c.owned = newTransport()
		c.base = c.owned
	}
	switch {
	case cfg.FreshTransport != nil:
		c.fresh = cfg.FreshTransport
	case c.owned != nil:
		c.fresh = freshLike(c.owned)
	default:
		c.fresh = c.base
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.gates = newGates(cfg, c.emit)
	c.release = sync.OnceValue(c.giveBack)
	if cfg.MaxUnresolved > 0 {
		for _, err := range j.Open(c.ctx) {
			if err != nil {
				return nil, err
			}
			c.unresolved.Add(1)
		}
	}
	c.recallWishes()
	c.learned.Store(true)
	c.warn()
	return c, nil
}

// wallNow is the time without its monotonic reading: keys age while a machine
// sleeps.
func wallNow() time.Time { return time.Now().Round(0) }

// drive is the loop: it does what the machine commands and tells it what
// happened, until the call ends. Nothing else decides.
func (c *Client) drive(f *flight, m machine, e event) {
	landed := false
	defer func() {
		c.freeSlot(f)
		if !landed {
			c.ditch(f, m)
		}
	}()
	for {
		before, saved := m.rec, m.out.record
		var cmd command
		f.policy.copied, f.policy.latest = c.standing()
		f.policy.distrusted = c.distrusts(f.policy.contract)
		f.policy.shut = c.gates.shutSince(f.pass)
		m, cmd = f.advance(m, e)
		if e.kind == evSaved {
			f.counted = false
			c.tell(before, saved) // another who has written since tells of that
		}
		if cmd.kind == cmdWait || cmd.kind == cmdSettle || cmd.kind == cmdAsk && f.policy.shut {
			c.leaveGate(f)
		}
		switch cmd.kind {
		case cmdAsk:
			e = c.ask(f, cmd)
		case cmdReady:
			e = c.ready(f, cmd)
		case cmdSave:
			e = c.save(f, cmd.record)
		case cmdSend:
			e = c.send(f, cmd)
		case cmdWait:
			e = c.wait(f, cmd)
		case cmdLookUp:
			e = c.lookUp(f, cmd)
		case cmdSettle:
			c.land(f, m, cmd)
			landed = true
			return
		}
	}
}

// ready makes the request of the next attempt.
func (c *Client) ready(f *flight, cmd command) event {
	unready := func(err error) event {
		f.err = err
		return event{kind: evUnready, cause: newCause(err).Error()}
	}
	body, err := c.requestBody(f, cmd.record)
	if err != nil {
		return unready(err)
	}
	r := cmd.record
	var stamped time.Time
	if r.Begun.stamps() {
		stamped = wallNow()
		r.Begun.Stamped = stamped
	}
	req, err := r.request(body, f.live, cmd.hop)
	if err != nil {
		return unready(err)
	}
	if c.cfg.Authorize != nil {
		// The caller who began may leave; those who joined still need it. What
		// Authorize sends through this client passes through.
		ctx, cancel := context.WithTimeout(context.WithValue(f.ctx, attemptKey{}, true), c.cfg.Retry.AttemptTimeout)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		req = req.WithContext(ctx)
		if err := c.cfg.Authorize(req, cmd.stale); err != nil {
			return unready(err)
		}
		if fault := headerFault(req.Header); fault != "" {
			return unready(&ownError{text: fmt.Sprintf("oncehttp: what Authorize made of action %s cannot be sent: %s", quoteAction(r.Action), fault)})
		}
	}
	stripped, missing, err := r.authorized(req, cmd.hop)
	if err != nil {
		return unready(err)
	}
	if missing != "" {
		return unready(&ownError{text: fmt.Sprintf("oncehttp: %s is not kept and was not brought back; set Config.Authorize, or repeat Do with it", missing)})
	}
	credential, err := cmd.record.credential(f.policy.contract, req)
	if err != nil {
		return unready(err)
	}
	f.request = req
	return event{kind: evReadied, attempt: uuid.NewString(), stripped: stripped, stamped: stamped, credential: credential}
}

// requestBody is the frozen body: the caller's at first, then the journal's.
func (c *Client) requestBody(f *flight, r record) ([]byte, error) {
	if r.Begun.Size == 0 || len(f.body) == r.Begun.Size {
		return f.body, nil
	}
	body, err := c.body(f.ctx, r, RequestBody)
	if err != nil {
		return nil, err
	}
	if len(body) != r.Begun.Size {
		return nil, &ownError{fmt.Sprintf("oncehttp: the request body of action %s is not there whole", quoteAction(r.Action)), ErrJournalCorrupt}
	}
	f.body = body
	return body, nil
}

// save makes the record durable. A crash before it returns leaves the record
// as it was, or as it is here: for one with an attempt, an attempt that may
// have been sent.
func (c *Client) save(f *flight, r record) event {
	ctx := f.ctx
	e, err := r.entry()
	if err == nil && r.Revision == 0 {
		e.Names, e.Request = f.names, c.sealing.seal(f.body, r.ID, RequestBody)
		e, err = c.journal.Create(ctx, e)
		if errors.Is(err, ErrExists) {
			return c.exists(f, e)
		}
	} else if err == nil {
		if r.State != Pending && !r.Incomplete && !r.again() && r.Begun.Size > keptRequest {
			e.Request = []byte{} // it will not be sent any more
		}
		if r.Answer != nil && r.Answer.body != nil {
			e.Response = r.Answer.body
			if r.Begun.Sealed {
				e.Response = c.sealing.seal(e.Response, r.ID, ResponseBody)
			}
		}
		err = c.journal.Update(ctx, e)
		if errors.Is(err, ErrConflict) {
			stored, err := c.load(ctx, r.ID)
			if err == nil {
				return event{kind: evOvertaken, stored: &stored}
			}
			f.journalErr = err
			return event{kind: evSaveFailed}
		}
	}
	if f.journalErr = err; err == nil {
		c.writeKept(ctx)
		return event{kind: evSaved}
	}
	if errors.Is(err, ErrFateUnknown) {
		return event{kind: evSaveUnknown}
	}
	return event{kind: evSaveFailed}
}

// exists is for an intent that was new a moment ago: another process has begun
// the action, or the caller's key belongs to another action. Whose it is, what it
// holds, and whether an attempt is under way, is looked at when the call begins
// anew.
func (c *Client) exists(f *flight, e Entry) event {
	stored, err := decodeRecord(e)
	switch {
	case err != nil:
		f.journalErr = err
	case stored.Action != f.action:
		f.elsewhere = stored.Action
	default:
		f.again = true
	}
	return event{kind: evSaveFailed}
}

// keptRequest is the longest request body that a settled intent keeps, so that
// a mismatch can still name what differs.
const keptRequest = 1 << 10

// tell emits what became durable. A new record was counted when it was made.
func (c *Client) tell(before, after record) {
	was, is := before.Revision == 0 || before.open(), after.open()
	if is && !was {
		c.unresolved.Add(1)
	} else if was && !is {
		c.unresolved.Add(-1)
	}
	switch {
	case before.Revision == 0:
		c.emit(c.event(EventBegun, after))
	case after.Reason == Conflict && before.Reason != Conflict:
		c.emit(c.event(EventConflict, after))
	case after.State != Pending && (after.State != before.State || before.Reason == Conflict && after.Reason != Conflict):
		c.emit(c.event(EventSettled, after))
	}
}

func (c *Client) load(ctx context.Context, id uuid.UUID) (record, error) {
	e, err := c.journal.Get(ctx, id)
	if err != nil {
		return record{}, err
	}
	return decodeRecord(e)
}
