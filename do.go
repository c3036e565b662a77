package oncehttp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// An Intent is an action in the journal.
type Intent struct {
	client  *Client
	outcome *Outcome
	ticket  ticket
}

// Action is the application's name of the intent.
func (in *Intent) Action() string { return in.outcome.Action }

// Key is the idempotency key it travels under. Empty where the API takes none.
func (in *Intent) Key() string { return in.outcome.Key }

// Outcome is what was known when the Intent was made; [Client.Outcome] knows
// what is known now.
func (in *Intent) Outcome() *Outcome { return in.outcome }

// Do drives the intent until it settles or the budget is spent. Its error
// follows the rule of [Client.Do].
func (in *Intent) Do(ctx context.Context) (*Outcome, error) {
	t := in.ticket
	t.action = in.Action()
	told := in.client.perform(ctx, t)
	return told.outcome, told.err
}

// String is a line for logs.
func (in *Intent) String() string { return in.outcome.String() }

// GoString keeps the key out of %#v.
func (in *Intent) GoString() string { return in.String() }

// A ticket is what a caller brings.
type ticket struct {
	action string
	// draft is the caller's request; nil when an intent of the journal is taken
	// up without one.
	draft *draft
	// adopted is the key that the caller's request held.
	adopted    string
	principal  string
	contract   *Contract
	options    actionOptions
	reworded   bool // the draft's payload is not the first one
	anonymous  bool
	recordOnly bool
	takesLive  bool
	cancel     <-chan struct{} // req.Cancel
}

// Do sends the request as the given action, or takes the action up if the
// journal has it, and drives it until it settles or the budget of Config.Retry
// is spent. The request's context bounds the call, not the attempt: an attempt
// under way when the context ends is finished and recorded by the client.
// Give it a deadline: an attempt that no other may follow has no time-out of its
// own (Retry.AttemptTimeout).
//
// The error is nil when the outcome is Confirmed or Rejected. A [*PendingError]
// means that the server may have acted or still may: do not begin the action
// under another name. Any other error means that this call sent nothing; a
// [*MismatchError] says that the action is recorded with another payload.
// Whenever a record exists the outcome is returned beside the error.
//
// The request's body is read once and closed; the request is not changed.
func (c *Client) Do(action string, req *http.Request, opts ...ActionOption) (*Outcome, error) {
	t, err := c.ticket(action, req, opts)
	if err != nil {
		return nil, err
	}
	told := c.perform(req.Context(), t)
	return told.outcome, told.err
}

// Begin records the action and sends nothing: [Intent.Do] or [Client.Resume]
// does. An action that the journal has already is returned as it is.
func (c *Client) Begin(action string, req *http.Request, opts ...ActionOption) (*Intent, error) {
	t, err := c.ticket(action, req, opts)
	if err != nil {
		return nil, err
	}
	t.recordOnly = true
	told := c.perform(req.Context(), t)
	var pending *PendingError
	if told.err != nil && (!errors.As(told.err, &pending) || pending.Outcome.Reason == NotRecorded) {
		return nil, told.err
	}
	t.recordOnly = false
	return &Intent{client: c, outcome: told.outcome, ticket: t}, nil
}

// ticket freezes a caller's request.
func (c *Client) ticket(action string, req *http.Request, opts []ActionOption) (ticket, error) {
	err := checkAction(action)
	if err == nil {
		err = checkRequest(req)
	}
	if err == nil {
		err = c.closedErr()
	}
	if err != nil {
		closeBody(req)
		return ticket{}, err
	}
	req, contract, err := c.claim(req)
	if err != nil {
		return ticket{}, err
	}
	return c.freeze(action, req, contract, opts)
}

func (c *Client) freeze(action string, req *http.Request, contract *Contract, opts []ActionOption) (ticket, error) {
	t := ticket{action: action, contract: contract}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		opt(&t.options)
	}
	if contract != nil {
		key, ok, err := contract.adopted(req.Header)
		if err != nil {
			closeBody(req)
			return ticket{}, err
		}
		if ok {
			t.adopted = key
		}
	}
	d, err := freeze(req.Context(), req, contract, c.cfg.MaxRequestBody)
	if err != nil {
		return ticket{}, err
	}
	if d.begun.Carrier.spot().inBody() || d.begun.Carrier.spot().inURL() {
		if t.adopted, err = contract.adoptedWithin(d.begun, d.body); err != nil {
			return ticket{}, err
		}
	}
	if c.cfg.Principal != nil {
		t.principal = c.cfg.Principal(req)
	}
	d.begun.Fingerprint = fingerprint(d.begun.payload(d.body), c.identity.under(contract))
	t.draft = &d
	return t, nil
}

// newRecord is the record of an action that the journal does not have, and the
// body that is sent.
func (c *Client) newRecord(t ticket, now time.Time) (record, []byte, error) {
	if c.journal.Standing().Copied {
		return record{}, nil, ErrCopied
	}
	id, err := uuid.Parse(strings.TrimPrefix(t.action, anonymousPrefix))
	if !t.anonymous || err != nil {
		id = c.ids.new(now)
	}
	r := record{ID: id, Action: t.action, Begun: t.draft.begun, Reason: NotSent, Due: now, Seen: now}
	b := &r.Begun
	b.At = now
	b.Fingerprint, b.Sealed = c.sealing.fingerprint(b.Fingerprint), c.sealing.sealer != nil
	b.Principal = principalDigest(id, t.principal)
	if born := t.options.born.Round(0).UTC(); !born.IsZero() {
		b.Born = earlier(born, now)
	}
	contract, body := t.contract, t.draft.body
	b.Idempotent = contract.repeatable(b.Method)
	if contract == nil || contract.Carrier.Kind == CarrierNone {
		return r, body, nil
	}
	switch {
	case t.adopted != "":
		b.Key, _, _ = strings.Cut(t.adopted, "\x00")
		b.Adopted = true
	case c.cfg.NewKey != nil && !t.anonymous:
		if b.Key, err = c.cfg.NewKey(r.Action); err != nil {
			return record{}, nil, fmt.Errorf("oncehttp: Config.NewKey gave action %s no key: %w", quoteAction(r.Action), newCause(err))
		}
		if id, err := uuid.Parse(b.Key); err == nil && contract.checkKey(b.Key) != nil {
			b.Key = contract.mint(id) // the same bits, as this API spells them
		}
	case contract.Key.Form == FormDerived && !t.anonymous:
		b.Key = derivedKey(contract.Name, r.Action)
	default:
		b.Key = contract.mint(uuid.New())
	}
	if err := contract.checkKey(b.Key); err != nil {
		return record{}, nil, fmt.Errorf("%w: contract %q: %w", ErrInvalidRequest, contract.Name, err)
	}
	b.Wire, b.Window = contract.wire(b.Key), contract.Window
	if body, err = contract.fill(b, body, now); err != nil {
		return record{}, nil, err
	}
	if b.Size = len(body); int64(b.Size) > c.cfg.MaxRequestBody {
		return record{}, nil, fmt.Errorf("%w (with the key it has %d bytes)", ErrBodyTooLarge, b.Size)
	}
	return r, body, c.signatureHolds(t, *b, body)
}

// signatureHolds refuses to send what is not what the caller has signed.
func (c *Client) signatureHolds(t ticket, b begun, body []byte) error {
	by := t.draft.signed
	if by.by == "" || !by.kept && c.cfg.Authorize != nil { // which signs anew
		return nil
	}
	if b.sentURL("") == t.draft.begun.URL && bytes.Equal(body, t.draft.body) {
		return nil
	}
	return fmt.Errorf("%w: it was signed (%s) before contract %q had its key in the %s: put a key there before you sign, at every call the same, or sign in Config.Authorize, which sees the request as it is sent", ErrInvalidRequest, by.by, b.Contract, b.Carrier.spot())
}

// anonymousPrefix starts the action of an intent that nobody named. Its record
// is found by its ID, without an index entry.
const anonymousPrefix = "anonymous/"

// names are what the journal finds a new intent by. NUL is in no action.
func (t ticket) names(r record) []string {
	var names []string
	if !t.anonymous {
		names = append(names, r.Action)
	}
	if t.adopted != "" {
		names = append(names, t.adoptedName(), t.placeName())
	}
	return names
}

// adoptedName is what the caller's key is known by, together with what the
// contract pins. No key has a NUL in it, or is empty.
func (t ticket) adoptedName() string {
	return t.bareName() + t.draft.begun.pinned(t.contract.Pin)
}

// placeName is what the caller's key is known by where it was sent, however the
// contract is called, and whatever it pins, at another time. Contracts that select
// by more than the URL may share a place, and so have names of their own in it.
func (t ticket) placeName() string {
	name := "place\x00"
	if m := t.contract.Match; m.Header != "" || m.Operation.Kind != OperationAny {
		name += t.contract.Name
	}
	return name + "\x00" + t.adopted + t.draft.begun.pinned(PinHost|PinMethod|PinPath)
}

func (t ticket) bareName() string { return "key\x00" + t.contract.Name + "\x00" + t.adopted }

// pinned is what a pin makes of a request.
func (b begun) pinned(pin Pin) (text string) {
	if pin&PinHost != 0 {
		_, host := normalURL(b.URL, b.Host)
		text += "\x00\x00host " + host
	}
	if pin&PinMethod != 0 {
		text += "\x00\x00method " + b.Method
	}
	if pin&PinPath != 0 {
		path := ""
		if u, err := url.Parse(b.URL); err == nil {
			path = u.EscapedPath()
		}
		text += "\x00\x00path " + cmp.Or(path, "/")
	}
	return text
}

// keyHolder is the intent that the caller's key belongs to. One that was begun
// while the contract pinned nothing is known by the key alone; while it had another
// name, or pinned something else, by its place.
func (c *Client) keyHolder(ctx context.Context, t ticket) (record, error) {
	for _, name := range slices.Compact([]string{t.adoptedName(), t.bareName(), t.placeName()}) {
		e, err := c.journal.Find(ctx, name)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		var r record
		if err == nil {
			r, err = decodeRecord(e)
		}
		if err != nil || r.Tombstone || r.Begun.pinned(t.contract.Pin) == t.draft.begun.pinned(t.contract.Pin) {
			return r, err
		}
	}
	return record{}, ErrNotFound
}

// find reads the record of an action, by name or by the ID in it.
func (c *Client) find(ctx context.Context, action string) (record, error) {
	if text, ok := strings.CutPrefix(action, anonymousPrefix); ok {
		if id, err := uuid.Parse(text); err == nil {
			if r, err := c.load(ctx, id); err == nil && r.Action == action {
				return r, nil
			}
		}
	}
	e, err := c.journal.Find(ctx, action)
	if err != nil {
		return record{}, err
	}
	return decodeRecord(e)
}

// withBody adds the answer's body, which the journal keeps apart.
func (c *Client) withBody(ctx context.Context, r record) (record, error) {
	if r.Answer == nil || r.Answer.body != nil {
		return r, nil
	}
	a := *r.Answer
	body, err := c.body(ctx, r, ResponseBody)
	switch {
	case errors.Is(err, errSealed):
		a.Incomplete, r.Cause = true, err.Error()
	case err != nil && !errors.Is(err, ErrNotFound):
		return r, err
	}
	a.body = body
	r.Answer = &a
	return r, nil
}

// body reads one body of a record.
func (c *Client) body(ctx context.Context, r record, which Body) ([]byte, error) {
	body, err := c.journal.Body(ctx, r.ID, which)
	if err == nil && r.Begun.Sealed {
		return c.sealing.open(body, r.ID, which)
	}
	return body, err
}

// Outcome says what is known of an action now. It sends nothing, and its error
// is nil whatever the state; ErrNotFound when the journal does not have it.
func (c *Client) Outcome(ctx context.Context, action string) (*Outcome, error) {
	if err := checkAction(action); err != nil {
		return nil, err
	}
	r, err := c.find(ctx, action)
	if err == nil {
		r, err = c.withBody(ctx, r)
	}
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, quoteAction(action))
	}
	if err != nil {
		return nil, err
	}
	return c.known(r), nil
}

// known is the outcome of a record that nobody waits for.
func (c *Client) known(r record) *Outcome {
	contract := c.contracts.byName[r.Begun.Contract]
	o := r.outcome(contract, c.cfg.WindowShare, c.cfg.Retry.AttemptTimeout)
	o.FromJournal = true
	o.InFlight = c.driven(r.Action)
	switch copied := c.journal.Standing().Copied; {
	case copied && r.State == Pending:
		o.Reason, o.RetryAt = Copied, time.Time{}
	case o.Reason == Copied: // before it was adopted
		o.Reason = Unknown
	case o.Reason == Distrusted && contract != nil && !c.distrusts(contract): // any more
		o.Reason, o.RetryAt = Unknown, later(wallNow(), r.NotBefore)
	}
	return o
}

func (c *Client) driven(action string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.flights[action]
	return ok
}

// Pending yields the intents that are not settled and those in conflict,
// oldest first; an error in the place of a record that cannot be read, behind
// which it goes on, and one of the journal, which ends it. The loop may call any
// method of the client.
func (c *Client) Pending(ctx context.Context) iter.Seq2[*Intent, error] {
	return func(yield func(*Intent, error) bool) {
		for e, err := range c.journal.Open(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			var in *Intent
			r, err := decodeRecord(e)
			if err == nil {
				in = &Intent{client: c, outcome: c.known(r)}
			}
			if !yield(in, err) {
				return
			}
		}
	}
}

func (c *Client) closedErr() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	return nil
}

func idempotentMethod(method string) bool {
	return safeMethod(method) || method == http.MethodPut || method == http.MethodDelete
}

// safeMethod is RFC 9110 section 9.2.1.
func safeMethod(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
