package oncehttp

import (
	"context"
	"log/slog"
	"time"
)

// EventKind is what an [Event] tells of.
type EventKind string

const (
	// EventBegun: an intent was recorded.
	EventBegun EventKind = "begun"
	// EventAttempt: an attempt starts; it is on disk. Sets Attempt, AttemptID.
	EventAttempt EventKind = "attempt started"
	// EventAnswered: an attempt ended. Sets Attempt, AttemptID, and Status or
	// Cause.
	EventAnswered EventKind = "answered"
	// EventWaiting: the next attempt will start after Delay; not before it where
	// the Reason is GateClosed.
	EventWaiting EventKind = "waiting"
	// EventLookedUp: the system of record was asked. Sets Reference or Cause.
	EventLookedUp EventKind = "looked up"
	// EventGateClosed: a host fails, and its requests wait. Sets Host, and Delay
	// until the first probe. EventGateOpened: it works again.
	EventGateClosed EventKind = "gate closed"
	EventGateOpened EventKind = "gate opened"
	// EventSettled: the intent became Confirmed or Rejected.
	EventSettled EventKind = "settled"
	// EventPending: a call ended without settling the intent.
	EventPending EventKind = "pending"
	// EventConflict: there is evidence of an effect and of none.
	EventConflict EventKind = "conflict"
	// EventMismatch: an action came again with another payload.
	EventMismatch EventKind = "mismatch"
	// EventContradicted: an answer contradicts its contract, which is not trusted
	// until [Client.Trust] says so. Sets Contract and Cause.
	EventContradicted EventKind = "contract contradicted"
)

// An Event tells of one thing that happened. It holds no key, header or body.
type Event struct {
	Kind   EventKind
	Time   time.Time
	Action string
	// KeyPrint names the key without showing it: the first 8 hexadecimal digits
	// of its SHA-256.
	KeyPrint string
	// Host the attempt goes to, and the contract it travels under.
	Host     string
	Contract string
	// Attempt counts from 1 over all calls and restarts; AttemptID names one.
	Attempt   int
	AttemptID string
	// Status of the answer; 0: none.
	Status int
	// Delay before the next attempt.
	Delay     time.Duration
	State     State
	Reason    Reason
	Reference string
	// Cause in our words.
	Cause string
}

func (c *Client) tells() bool { return c.cfg.OnEvent != nil || c.cfg.Logger != nil }

// emit tells the logger and the hook. The attributes have the same names on
// every surface.
func (c *Client) emit(e Event) {
	if !c.tells() {
		return
	}
	e.Time = time.Now()
	if c.cfg.OnEvent != nil {
		c.cfg.OnEvent(e)
	}
	if c.cfg.Logger == nil {
		return
	}
	level := slog.LevelDebug
	switch e.Kind {
	case EventSettled, EventGateOpened:
		level = slog.LevelInfo
	case EventPending, EventGateClosed, EventConflict, EventMismatch, EventContradicted:
		level = slog.LevelWarn
	}
	var attrs []slog.Attr
	add := func(a slog.Attr) { attrs = append(attrs, a) }
	if e.Action != "" {
		add(slog.String("action", e.Action))
		add(slog.String("key_print", e.KeyPrint))
	}
	if e.Host != "" {
		add(slog.String("host", e.Host))
	}
	if e.Kind == EventContradicted {
		add(slog.String("contract", e.Contract))
	}
	if e.Attempt != 0 {
		add(slog.Int("attempt", e.Attempt))
	}
	if e.AttemptID != "" {
		add(slog.String("attempt_id", e.AttemptID))
	}
	if e.Status != 0 {
		add(slog.Int("status", e.Status))
	}
	if e.Kind == EventWaiting || e.Kind == EventGateClosed {
		add(slog.Duration("delay", e.Delay))
	}
	if e.Kind == EventSettled || e.Kind == EventPending || e.Kind == EventConflict {
		add(slog.String("state", e.State.String()))
	}
	if e.Reason != "" {
		add(slog.String("reason", string(e.Reason)))
	}
	if e.Reference != "" {
		add(slog.String("reference", e.Reference))
	}
	if e.Cause != "" {
		add(slog.String("cause", e.Cause))
	}
	c.cfg.Logger.LogAttrs(context.Background(), level, "oncehttp: "+string(e.Kind), attrs...)
}

// event starts an event about a record. It costs nothing when nobody listens.
func (c *Client) event(kind EventKind, r record) Event {
	if !c.tells() {
		return Event{}
	}
	e := Event{Kind: kind, Action: r.Action, Host: r.Begun.Host, Contract: r.Begun.Contract, Attempt: r.Attempts, State: r.State, Reason: r.Reason, Reference: r.Reference, Cause: r.Cause}
	if r.Begun.Key != "" {
		e.KeyPrint = keyPrint(r.Begun.Key)
	}
	if r.Sending != nil {
		e.AttemptID = r.Sending.ID
	}
	return e
}
